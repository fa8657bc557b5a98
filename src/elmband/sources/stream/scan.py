"""Tables that are read chunk by chunk, again and again, and never held as a whole."""

from collections.abc import Collection, Iterator
from dataclasses import astuple, replace
from itertools import islice
from pathlib import Path
from typing import Any, Literal
from zlib import crc32

import numpy as np

from elmband.ground.arrays import Array
from elmband.ground.files import lies_in
from elmband.sources.encode import TableEncoder
from elmband.sources.encode.raw import RawRows
from elmband.sources.stream.blocks import Reader, kept, kept_rows
from elmband.sources.stream.checks import whole
from elmband.sources.stream.chosen import ChosenColumns
from elmband.sources.stream.columns import fields_of, named
from elmband.sources.stream.encoded import RawReader, described_features
from elmband.sources.stream.fields import Part
from elmband.sources.stream.files import covers
from elmband.sources.stream.fingerprint import describe_part, describe_selection, digest
from elmband.sources.stream.grouped import group_numbers
from elmband.sources.stream.ranges import Reading, RowRange, cut
from elmband.sources.stream.selection import check_dtype, check_part
from elmband.sources.stream.sources import PartFunction, PartList
from elmband.sources.stream.stamps import check_unchanged
from elmband.sums.moments import Chunk


class Scan(ChosenColumns):
    """Rows of files, arrays or a function as chunks, which can be iterated again and again.

    Made by :func:`scan`, which describes the parameters. It holds no rows.
    """

    def __init__(
        self,
        source: PartList | PartFunction,
        *,
        target: Any = None,
        features: Any = None,
        weight: Any = None,
        chunk_size: int | None = None,
        encoder: TableEncoder | None = None,
        missing_target: Literal["refuse", "drop"] = "refuse",
    ) -> None:
        self._given = source
        self._chosen = (target, features, weight)
        links = named(*self._chosen)
        source = source.map(lambda part: part.with_links(links))
        if encoder is not None:
            texts = self._text_of(encoder)
            source = source.map(lambda part: part.with_text(texts))
        self._source = source
        self._chunk_size = None if chunk_size is None else whole(chunk_size, "chunk_size", 1)
        self._encoder, self._missing_target = encoder, missing_target
        self._n_rows: int | None = None
        self._n_dropped: int | None = None
        self._checksum: int | None = None
        if source.parts:
            self._n_rows = self._count()

    def _text_of(self, encoder: TableEncoder) -> Collection[str]:
        """Return the columns that an encoder reads as text, where a file does not tell types."""
        known = encoder.text_columns
        padded = self._given.padded
        if not padded or hasattr(encoder, "state_"):
            return known
        # Numbers such as 00501 are names, but not where they are to be predicted or weigh rows.
        target, _, weight = self._chosen
        goals = fields_of(self._given.parts[0].layout, target, weight)
        return known | (padded - goals)

    def _count(self) -> int | None:
        """Check all parts, and add up their rows where they are known."""
        counts = []
        for part in self._source.parts:
            check_part(part.layout, self._selection)
            counts.append(part.layout.rows(self._selection.fields))
        known = [count for count in counts if count is not None]
        if len(known) < len(counts):
            return None
        if sum(known) == 0:
            raise ValueError(f"{self._source.title} has no rows; there is nothing to read.")
        return sum(known)

    def with_encoder(self, encoder: TableEncoder | None) -> "Scan":
        """Return a scan of the same columns with another encoder."""
        return self.with_features(self._chosen[1], encoder)

    def with_features(self, features: Any, encoder: TableEncoder | None) -> "Scan":
        """Return a scan of the same rows with other columns; None takes all."""
        target, _, weight = self._chosen
        return Scan(
            self._given,
            target=target,
            features=features,
            weight=weight,
            chunk_size=self._chunk_size,
            encoder=encoder,
            missing_target=self._missing_target,
        )

    @property
    def leaves_rows_out(self) -> bool:
        """Whether chunks may lack rows: those of weight 0, and those without a target."""
        return self.has_weights or self._drops

    @property
    def _drops(self) -> bool:
        return self._missing_target == "drop" and self.n_outputs > 0

    @property
    def n_rows(self) -> int | None:
        """Number of rows, those of weight 0 included; None where no pass has counted them yet."""
        return self._n_rows

    def counted(self, n_rows: int) -> None:
        """Take over the number of rows from a pass that need not be repeated."""
        self._check_count(n_rows)
        self._n_rows = n_rows

    @property
    def n_dropped(self) -> int | None:
        """Number of rows left out for want of a target; None where no pass has counted them."""
        return self._n_dropped if self._drops else 0

    @property
    def nbytes(self) -> int | None:
        """Size of the files or arrays in bytes; None for a function."""
        sizes = [part.nbytes or 0 for part in self._source.parts]
        return sum(sizes) if sizes else None

    def __iter__(self) -> Iterator[Chunk]:
        return self.chunks()

    def __len__(self) -> int:
        if self.n_rows is None:
            raise TypeError(
                f"{self._source.title} must be read once before its number of rows is known."
            )
        return self.n_rows

    def __repr__(self) -> str:
        source = self._source
        if not source.parts and "_selection" not in vars(self):
            return f"Scan({source.title}, not read yet)"
        rows = "rows not counted yet" if self.n_rows is None else f"{self.n_rows:,} rows"
        files = f"{len(source.parts)} parts, " if len(source.parts) > 1 else ""
        goals = ", ".join(self._selection.layout.column(key) for key in self._selection.targets)
        dropped = f", {self._n_dropped:,} without target" if self._n_dropped else ""
        features = described_features(len(self._selection.features), self._encoder)
        title = f"{source.title}, {files}{rows}{dropped}"
        return f"Scan({title}, {features}, target: {goals or 'none'})"

    def chunks(
        self, chunk_size: int | None = None, start: int = 0, *, lent: bool = False
    ) -> Iterator[Chunk]:
        """Read the rows once, in order.

        Chunks are the same whenever and wherever reading begins: they depend on the source and on
        `chunk_size` only. Rows of weight 0 are left out of their chunk, so are rows without a
        target where `missing_target` says so, and chunks that have no others.

        Parameters
        ----------
        chunk_size : int, default=None
            Rows of a chunk; the last one may have fewer.
        start : int, default=0
            Number of chunks to skip. Files other than CSV are not read up to there.
        lent : bool, default=False
            Whether chunks are valid until the next one only, and X may hold values that are not
            finite: who moves them elsewhere at once copies them once, and checks them there.

        Yields
        ------
        Chunk
            X (n, n_features) in `dtype`, Y (n, n_outputs) in float64, and weights (n,) or None.
        """
        size = self.chunk_size if chunk_size is None else whole(chunk_size, "chunk_size", 1)
        return self._chunks(size, whole(start, "start", 0), lent=lent)

    def _chunks(self, size: int, start: int, *, lent: bool) -> Iterator[Chunk]:
        self.check_unchanged()
        if not self.leaves_rows_out:
            skip, drop = start, 0
        elif self._source.parts:
            skip, drop = self._place(size, start), 0
        else:
            skip, drop = 0, start
        reader = self._reading.reader(lent=lent)
        filled = kept_rows(reader.chunks(self._parts(), size, skip * size))
        empty, checksum = start == 0, 0
        for chunk in islice(filled, drop, None):
            empty = False
            if not self._source.parts:
                checksum = crc32(np.asarray(chunk.Y).tobytes(), checksum)
            yield chunk
        self._check_end(reader, empty=empty, complete=start == 0)
        if start == 0 and not self._source.parts:
            self._check_targets(checksum)

    @property
    def _reading(self) -> Reading:
        return Reading(self._selection, self.dtype, self._state, self._drops)

    def _place(self, size: int, start: int) -> int:
        """Return how many chunks to skip to leave out `start` that have rows to be read."""
        if start == 0:
            return 0
        reader = self._reading.reader(self._selection.only(targets=self._drops))
        marks = enumerate(reader.chunks(self._parts(), size, 0), start=1)
        filled = (k for k, (_, Y, s) in marks if kept(Y, s).any())
        place = next(islice(filled, start - 1, None), None)
        return -(-reader.n_rows // size) if place is None else place

    def ranges(self, step: int, *, features: bool = True) -> list[RowRange]:
        """Cut the rows into ranges of `step` rows of one file, which others may read by themselves.

        A file whose rows only reading can count is one range. Without `features`, only targets and
        weights are read. The rows of a function, or in the memory of this process, are refused:
        others could not read them.
        """
        parts = self._source.parts
        if not parts or not all(part.stamps for part in parts):
            raise ValueError(
                f"{self!r} is not made of files; workers need files that they can read "
                "themselves, or a Dask collection."
            )
        reading = self._reading
        if not features:
            reading = replace(reading, selection=self._selection.only(targets=True))
        return list(cut(parts, reading, whole(step, "step", 1)))

    def raw_rows(self) -> Iterator[RawRows]:
        """Read the rows once with their columns as they are, which is what encoders learn from."""
        self.check_unchanged()
        reader = RawReader(self._selection, gaps=self._drops)
        yield from reader.rows(self._parts())
        self._check_end(reader, empty=reader.n_rows == 0, complete=True)

    def groups(self, column: str | int) -> Array:
        """Return numbers of groups, (n,): rows with equal values in a column have the same.

        A row of weight 0 has none. The column need not be a feature; rows without a value are
        refused.

        Examples
        --------
        >>> import polars as pl
        >>> from elmband import scan
        >>> table = pl.DataFrame({"x": [1, 5, 2], "y": [2, 4, 3], "town": ["Rome", "Bari", "Rome"]})
        >>> scan(table, target="y", features="x").groups("town")
        array([1, 0, 1])
        """
        names = [column] if isinstance(column, str) else None
        rows = self.with_features([column], TableEncoder(categorical=names))
        return group_numbers(rows.raw_rows(), str(column))

    def _parts(self) -> Iterator[Part]:
        """Yield the parts; those that a function makes are checked one by one."""
        for part in self._source:
            if not self._source.parts:
                check_part(part.layout, self._selection)
                if self._encoder is None:
                    check_dtype(part.layout, self._selection, self.dtype)
            yield part

    def _check_end(self, reader: Reader, *, empty: bool, complete: bool) -> None:
        self.check_unchanged()
        title, n_rows = self._source.title, reader.n_rows
        self._check_count(n_rows)
        if empty:
            what = "no rows with a weight above 0" if self.has_weights else "no rows with a target"
            what = what if n_rows else "no rows"
            raise ValueError(f"{title} has {what}; there is nothing to read.")
        self._n_rows = n_rows
        if complete:
            self._n_dropped = reader.n_gaps

    def _check_count(self, n_rows: int) -> None:
        if self._n_rows is not None and n_rows != self._n_rows:
            raise ValueError(
                f"{self._source.title} changed while it was being read: it had {self._n_rows} rows "
                f"before, now it has {n_rows}; every pass must give the same rows."
            )

    def _check_targets(self, checksum: int) -> None:
        """Refuse a function that gave other targets before: files have times of change instead."""
        if self._checksum not in {None, checksum}:
            raise ValueError(
                f"{self._source.title} gave other targets than in the pass before; every pass must "
                "give the same rows in the same order, random ones from the same seed."
            )
        self._checksum = checksum

    def reads(self, path: Path) -> bool:
        """Tell whether a path, under whatever name, is what is read, or would be once it exists."""
        parts = self._source.parts
        named = {part.source for part in parts if part.source is not None}
        own = (file for part in parts for file in part.stamps)
        return lies_in(path, own) or any(covers(source, path) for source in named)

    def check_unchanged(self) -> None:
        """Refuse files that are not what they were at first."""
        for part in self._source.parts:
            check_unchanged(part.stamps)

    def fingerprint(self) -> str:
        """Return a hexadecimal text that differs for other files, values or columns.

        It is made of the names of files without their folder, their sizes, times of change and
        4 MiB of blocks spread over each of them, of the chosen columns and their types, of what the
        encoder has learned, and of some values of arrays in memory. Of a function the name is
        known, and some values of its first piece.
        """
        state = self._state
        # All of it: what a state shows of itself is short.
        more = repr([None if state is None else astuple(state), self._missing_target])
        if isinstance(self._source, PartFunction):
            first = [describe_part(part, self._selection) for part in islice(self._parts(), 1)]
            return digest([self._source.name, repr(self._chosen), first, more])
        parts = [describe_part(part, self._selection) for part in self._source]
        return digest([describe_selection(self._selection), parts, more])
