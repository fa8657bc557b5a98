"""Answers that workers write: every partition to a Parquet file of its own, which appears whole.

Names of files are numbers in the order of the rows. A task that runs again, since its worker died,
puts the same file in the place of the first: there are no halves and no doubles.
"""

import shutil
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

from elmband.engines.cluster.executor import runner_of
from elmband.engines.cluster.rows import Advance, as_it_is
from elmband.engines.cluster.work import Counted, Partition, Work
from elmband.ground.files import appearing_whole, check_writable, hidden_name, take_names
from elmband.sources.stream.errors import needed
from elmband.sums.moments import Chunk

# Rows that are gathered to one group of a file.
_GROUP_ROWS = 65_536


class Answers(NamedTuple):
    """Arrow tables of the rows of a chunk, one for each folder, and what they add to sums."""

    tables: tuple[Any, ...]
    sums: Any


@dataclass(frozen=True, eq=False)
class Numbered:
    """A partition and its place among all."""

    rows: Partition
    number: int

    @property
    def label(self) -> str:
        """Name of the partition in error sentences."""
        return self.rows.label

    def chunks(self, size: int) -> Iterator[Chunk]:
        """Read all rows once."""
        return self.rows.chunks(size)


@dataclass(frozen=True, eq=False)
class Writing(Work):
    """A pass whose chunk map gives `Answers`, written to one file a partition in each folder."""

    folders: tuple[Path, ...] = ()

    def parts(self, partition: Partition) -> Iterator[tuple[int, Any]]:
        """Write the answers to a partition; one without rows has no file."""
        assert isinstance(partition, Numbered)
        answers = map(self.chunk_map, partition.chunks(self.chunk_size))
        first = next(answers, None)
        if first is None:
            return
        name = f"part-{partition.number:06d}.parquet"
        with ExitStack() as stack:
            files = [
                stack.enter_context(_part(folder / name, table.schema))
                for folder, table in zip(self.folders, first.tables, strict=True)
            ]
            for answer in chain([first], answers):
                for write, table in zip(files, answer.tables, strict=True):
                    write(table)
                yield sum(table.num_rows for table in answer.tables), answer.sums


@contextmanager
def _part(path: Path, schema: Any) -> Iterator[Callable[[Any], None]]:
    """Open one file for Arrow tables."""
    arrow, parquet = (needed(name, "Parquet") for name in ("pyarrow", "pyarrow.parquet"))
    held: list[Any] = []

    with (
        appearing_whole(path) as temporary,
        parquet.ParquetWriter(temporary, schema, compression="zstd") as file,
    ):

        def flush() -> None:
            if held:
                file.write_table(arrow.concat_tables(held), row_group_size=_GROUP_ROWS)
            held.clear()

        def write(table: Any) -> None:
            held.append(table)
            if sum(part.num_rows for part in held) >= _GROUP_ROWS:
                flush()

        yield write
        flush()


def check_folder(path: Path) -> None:
    """Make sure that workers can write a new folder, before any work is done for it."""
    if path.exists():
        raise FileExistsError(f"{path} is there already; name a new folder for the results.")
    check_writable(path)


@contextmanager
def appearing_folders(paths: Sequence[Path]) -> Iterator[tuple[Path, ...]]:
    """Give new folders under hidden names, which are renamed to `paths` at the end or removed."""
    pairs = [(hidden_name(path, "partial"), path) for path in paths]
    for path in paths:
        check_folder(path)
    try:
        for folder, _ in pairs:
            folder.mkdir()
        yield tuple(folder for folder, _ in pairs)
        for folder, _ in pairs:
            # Unfinished files of workers that were killed.
            for left in folder.glob(".*.partial"):
                left.unlink(missing_ok=True)
        take_names(pairs)
    finally:
        for folder, _ in pairs:
            shutil.rmtree(folder, ignore_errors=True)


def write_parts(
    client: Any,
    partitions: Sequence[Partition],
    answer: Callable[[Any], Answers],
    out: Sequence[Path],
    *,
    chunk_size: int,
    advance: Advance | None = None,
) -> Counted:
    """Let workers write what `answer` makes of every chunk, and return the sums of all.

    Every path of `out` becomes a folder, which all workers must be able to write to.
    """
    run = runner_of(client)
    with appearing_folders([path.absolute() for path in out]) as folders:
        work = Writing(answer, as_it_is, None, None, chunk_size, folders)
        numbered = [Numbered(rows, number) for number, rows in enumerate(partitions)]
        found = run(work, numbered, "answers", advance)
        if found.sums is None:
            raise ValueError("There are no rows at all to answer.")
    return found
