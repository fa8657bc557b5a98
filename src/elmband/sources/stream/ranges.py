"""Ranges of rows of a scan, each of which can be read by itself, here or elsewhere."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from elmband.ground.arrays import Array
from elmband.sources.encode import EncoderState
from elmband.sources.stream.blocks import Reader, kept_rows
from elmband.sources.stream.encoded import EncodedReader
from elmband.sources.stream.fields import Part
from elmband.sources.stream.layout import DType
from elmband.sources.stream.selection import Selection
from elmband.sources.stream.stamps import check_unchanged
from elmband.sums.moments import Chunk


@dataclass(frozen=True, eq=False)
class Reading:
    """How the rows of all parts are read: columns, types, an encoder or None, and gaps."""

    selection: Selection
    dtype: DType
    state: EncoderState | None
    gaps: bool

    def reader(self, selection: Selection | None = None, *, lent: bool = False) -> Reader:
        """Return a reader of all columns, or of these."""
        chosen = self.selection if selection is None else selection
        if self.state is None:
            return Reader(chosen, self.dtype, gaps=self.gaps, lent=lent)
        return EncodedReader(chosen, self.state, gaps=self.gaps)


@dataclass(frozen=True, eq=False)
class RowRange:
    """Rows `first` to `stop` of one part of a scan; all of them where `stop` is None."""

    reading: Reading
    part: Part
    first: int
    stop: int | None

    @property
    def label(self) -> str:
        """File and rows, for sentences."""
        rows = "" if self.stop is None else f", rows {self.first} to {self.stop - 1}"
        return f"{self.part.layout.label}{rows}"

    def chunks(self, size: int) -> Iterator[Chunk]:
        """Read the rows once, `size` at a time; errors name the file."""
        check_unchanged(self.part.stamps)
        chunks = self.reading.reader().chunks([self.part], size, self.first)
        yield from kept_rows(self._cut(chunks))
        check_unchanged(self.part.stamps)

    def _cut(self, chunks: Iterator[list[Array]]) -> Iterator[list[Array]]:
        """End where the next range begins."""
        left = None if self.stop is None else self.stop - self.first
        for arrays in chunks:
            if left is not None and len(arrays[0]) >= left:
                yield [a[:left] for a in arrays]
                return
            yield arrays
            left = None if left is None else left - len(arrays[0])


def cut(parts: Iterable[Part], reading: Reading, step: int) -> Iterator[RowRange]:
    """Yield ranges of `step` rows; a part that cannot tell its rows is one range."""
    for part in parts:
        n_rows = part.layout.rows(reading.selection.fields)
        for first in [0] if n_rows is None else range(0, n_rows, step):
            stop = None if n_rows is None else min(first + step, n_rows)
            yield RowRange(reading, part, first, stop)
