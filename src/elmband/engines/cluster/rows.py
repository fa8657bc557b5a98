"""Rows that lie on a cluster: partitions that workers read, of which only sums come back."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeAlias

from elmband.engines.checkpoint import Pass
from elmband.engines.cluster.begun import summed_in_rounds
from elmband.engines.cluster.work import Counted, Partition, Work
from elmband.ground.arrays import Array
from elmband.sums.moments import Chunk, Count
from elmband.sums.rows import ArrayRows, Rows, RowScaling
from elmband.sums.sample import SampledRows

Advance = Callable[[int], None]


# Adds up all partitions in their order, on Dask or under any executor: takes the work, the
# partitions, a label for people, and what to tell of rows that are done.
Runner: TypeAlias = Callable[[Work, Sequence[Partition], str, Advance | None], Counted]


@dataclass
class Tally:
    """The number of rows, once a pass has counted them."""

    n_rows: int | None = None


@dataclass(frozen=True, eq=False)
class ClusterRows:
    """Rows that are read on workers, anew for every pass.

    Chunks are made ready by `prepare`, then targets and weights by `scaling` where it is known.
    If there turn out to be at most `few` rows, they are fetched once and kept: few rows allow what
    many do not.
    """

    partitions: Sequence[Partition]
    run: Runner
    like: Array
    dtype: Any
    prepare: Callable[[Chunk], Chunk]
    chunk_size: int
    few: int = 0
    scaling: RowScaling | None = None
    tally: Tally = field(default_factory=Tally)

    @property
    def in_memory(self) -> bool:
        """These are not."""
        return False

    @property
    def known_length(self) -> int | None:
        """Number of rows, or None where no pass has counted them yet."""
        return self.tally.n_rows

    def __len__(self) -> int:
        if self.tally.n_rows is None:
            self.summed(lambda chunk: Count(chunk.n), "rows")
        assert self.tally.n_rows is not None
        return self.tally.n_rows

    def __iter__(self) -> Iterator[Chunk]:
        return self.chunks()

    def chunks(self, start: int = 0) -> Iterator[Chunk]:
        """Refuse: nobody but the workers reads these rows."""
        del start
        raise ValueError("Rows on a cluster are added up there and cannot be had chunk by chunk.")

    def summed(
        self,
        chunk_map: Callable[[Chunk], Any],
        label: str,
        advance: Advance | None = None,
        kept: Pass | None = None,
    ) -> Any:
        """Add up what `chunk_map` makes of every chunk, where the chunks are.

        Sums of some partitions are `kept` meanwhile, and those that were are gone on from.
        """
        work = Work(chunk_map, self.prepare, self.scaling, self.dtype, self.chunk_size)

        def run(partitions: Sequence[Partition]) -> Counted:
            return self.run(work, partitions, label, advance)

        if kept is None:
            found = run(self.partitions)
        else:
            found = summed_in_rounds(run, self.partitions, kept)
        n_rows, sums = found.n_rows, found.sums
        if sums is None:
            raise ValueError(
                f"The {len(self.partitions)} partitions to learn from have no rows at all."
            )
        if self.tally.n_rows not in (None, n_rows):
            raise ValueError(
                f"The rows changed between two passes: there were {self.tally.n_rows}, now there "
                f"are {n_rows}; every pass must give the same rows."
            )
        self.tally.n_rows = n_rows
        return sums

    def scaled(self, scaling: RowScaling, dtype: Any) -> Rows:
        """Return the same rows with scaled targets and weights in `dtype`."""
        if len(self) <= self.few:
            return ArrayRows.of(self._fetched(), self.chunk_size).scaled(scaling, dtype)
        return replace(self, scaling=scaling, dtype=dtype)

    def _fetched(self) -> Chunk:
        """Return all rows, which are few."""
        rows: Chunk = self.summed(lambda chunk: SampledRows((chunk,)), "rows").joined()
        if int(rows.X.shape[0]) < 2:
            raise ValueError(f"There is {rows.X.shape[0]} row on the cluster; training needs 2.")
        return rows

    def whole(self) -> Chunk:
        """Refuse: there may be more rows than memory."""
        raise ValueError(
            f"{len(self)} rows on a cluster cannot be had as a whole, which more neurons than "
            "rows would need; take fewer neurons."
        )

    def __getstate__(self) -> dict[str, Any]:
        # A chunk map may hold its model, and so these rows: they travel without their partitions.
        empty: tuple[Partition, ...] = ()
        return {**vars(self), "partitions": empty, "run": _nowhere, "prepare": as_it_is}


def _nowhere(*_: object) -> Counted:
    raise ValueError("Rows on a cluster are added up from where the fit was begun.")


def as_it_is(chunk: Chunk) -> Chunk:
    """Return rows that need no preparation."""
    return chunk
