"""The rows that a model is judged on, in blocks that know their place."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from elmband.engines import engine
from elmband.engines.progress import Bar
from elmband.ground.arrays import Array, Labels, to_numpy
from elmband.report.axes import Axis
from elmband.report.groups import Groups, Pair, all_along
from elmband.sources.stream import Scan


class Block(NamedTuple):
    """Some rows: inputs X (n, d), targets y (n,), the number of the first one, and their groups."""

    X: Array
    y: Labels
    first: int
    groups: tuple[Labels, ...] = ()

    @property
    def n(self) -> int:
        """Number of rows."""
        return len(self.y)

    @property
    def numbers(self) -> np.ndarray[Any, np.dtype[np.int64]]:
        """Row numbers, counted from 0."""
        return self.first + np.arange(self.n)


@dataclass(frozen=True, eq=False)
class LabelledRows:
    """Rows with known targets, which can be read several times.

    Attributes
    ----------
    source : Scan or pair of arrays
        Where X and y come from.
    decode : callable
        Turns targets of a scan into what is counted with.
    axes : tuple of Axis
        What can be looked along.
    target : str
        Name of the target.
    groups : tuple of Groups
        What rows are split by, each in its own way.
    """

    source: Any
    decode: Callable[[Labels], Labels]
    axes: tuple[Axis, ...]
    target: str
    groups: tuple[Groups, ...] = ()

    @property
    def n_rows(self) -> int | None:
        """Number of rows; None where no pass has counted them yet."""
        return self.source.n_rows if isinstance(self.source, Scan) else len(self.source[1])

    @property
    def names_of_groups(self) -> list[str]:
        """What each grouping is called."""
        return [one.name for one in self.groups]

    @property
    def nbytes(self) -> int | None:
        """Size of the files."""
        return self.source.nbytes if isinstance(self.source, Scan) else None

    @property
    def n_dropped(self) -> int:
        """Number of rows that a scan leaves out because they have no target."""
        return (self.source.n_dropped or 0) if isinstance(self.source, Scan) else 0

    def __iter__(self) -> Iterator[Block]:
        first = 0
        for X, y, labels in all_along(self.groups, self._pairs()):
            yield Block(X, y, first, labels)
            first += len(y)

    def _pairs(self) -> Iterator[Pair]:
        if isinstance(self.source, Scan):
            for X, Y, *_ in self.source.chunks(engine.BLOCK_ROWS):
                yield X, self.decode(to_numpy(Y)[:, 0])
            return
        X, y = self.source
        for part in block_slices(len(y)):
            yield X[part, :], y[part]


def block_slices(n_rows: int) -> Iterator[slice]:
    """Cut rows into blocks, the same ones as those of a scan."""
    size = engine.BLOCK_ROWS
    return (slice(start, min(start + size, n_rows)) for start in range(0, n_rows, size))


def total(
    rows: LabelledRows, block_map: Callable[[Block], Any], bar: Bar | None, label: str
) -> Any:
    """Add up what `block_map` makes of every block, and show how far it is."""
    if bar is None:
        return engine.reduced(engine.on_chunks(block_map, rows))
    bar.begin(label, rows.n_rows)
    sized = engine.on_chunks(lambda block: (block.n, block_map(block)), rows)
    return engine.reduced(_advancing(bar, sized))


def _advancing(bar: Bar, results: Iterable[tuple[int, Any]]) -> Iterator[Any]:
    for n, result in results:
        bar.advance(n)
        yield result
