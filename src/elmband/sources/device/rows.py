"""Rows on another device: sent once where they fit, else chunk by chunk for every pass."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Self

from elmband.ground.arrays import Array
from elmband.sources.device.finite import LateCheck, check_finite
from elmband.sources.device.where import room
from elmband.sources.device.wire import Sender, moved, next_sent
from elmband.sums.moments import Chunk
from elmband.sums.rows import ArrayRows, Rows, RowScaling, StreamRows


class Resident:
    """Chunks that stay on the device after they were sent, as many as there is room for."""

    def __init__(self, room: float) -> None:
        self.chunks: list[Chunk] = []
        self._room = room

    def offer(self, place: int, chunk: Chunk) -> None:
        """Keep a chunk if it is the next one and fits."""
        size = sum(a.nbytes for a in chunk if a is not None)
        if place == len(self.chunks) and size <= self._room:
            self.chunks.append(chunk)
            self._room -= size


@dataclass(frozen=True, eq=False)
class DeviceRows:
    """Rows that are read and sent elsewhere: once where they fit there, else for every pass."""

    rows: Rows
    device: Any
    like: Array
    dtype: Any
    resident: Resident
    scaling: RowScaling | None = None

    @property
    def in_memory(self) -> bool:
        """These are too many, or not in memory at all."""
        return False

    @property
    def chunk_size(self) -> int:
        """As that of the rows."""
        return self.rows.chunk_size

    def __len__(self) -> int:
        return len(self.rows)

    def __iter__(self) -> Iterator[Chunk]:
        return self.chunks()

    def chunks(self, start: int = 0) -> Iterator[Chunk]:
        """Hand out chunks that are there; read the others and send them over, one ahead."""
        place = start
        for chunk in self.resident.chunks[start:]:
            yield self._ready(chunk)
            place += 1
        # A last pass over rows that are all there reads nothing.
        if 0 < place == len(self.resident.chunks) and self._all_there():
            return
        with ThreadPoolExecutor(1) as reader:
            chunks = self.rows.chunks(place)
            sender, late = Sender(self.device), LateCheck()
            ahead = reader.submit(next_sent, chunks, sender)
            while (chunk := ahead.result()) is not None:
                ahead = reader.submit(next_sent, chunks, sender)
                there = sender.received(chunk)
                late.ask(there.X, partial(self._refuse, place))
                self.resident.offer(place, there)
                yield self._ready(there)
                place += 1
            late.settle()

    def _all_there(self) -> bool:
        """Whether no row is missing of those that a complete pass has counted."""
        try:
            n = len(self.rows)
        except TypeError:
            return False
        return n == sum(int(chunk.X.shape[0]) for chunk in self.resident.chunks)

    def _ready(self, chunk: Chunk) -> Chunk:
        return chunk if self.scaling is None else self.scaling(chunk, self.dtype)

    def _refuse(self, place: int) -> None:
        """Read a chunk that is not finite once more, with the check that knows file and rows."""
        if isinstance(self.rows, StreamRows):
            next(replace(self.rows, lent=False).chunks(place))

    def scaled(self, scaling: RowScaling, dtype: Any) -> Self:
        """Return the same rows with scaled targets and weights in `dtype`."""
        return replace(self, scaling=scaling, dtype=dtype)

    def whole(self) -> Chunk:
        """Refuse: there may be more rows than memory."""
        return self.rows.whole()


def on_device(rows: Rows, device: Any, dtype: Any, size: int) -> tuple[Rows, Any]:
    """Return rows on the device, and the dtype of products there.

    Arrays that fit are moved as a whole; others, and rows that are read, travel in every pass.
    Chunks of arrays have `size` rows.
    """
    import torch  # noqa: PLC0415

    kind = torch.float32 if "float32" in str(dtype) else torch.float64
    like = torch.empty((0, int(rows.like.shape[1])), dtype=kind, device=device)
    if isinstance(rows, ArrayRows):
        if rows.X.nbytes <= room(device):
            there = Chunk(*(None if a is None else moved(a, device) for a in rows.whole()))
            check_finite(there.X)
            return ArrayRows.of(there, size), kind
        rows = replace(rows, chunk_size=size)
    elif isinstance(rows, StreamRows):
        rows = replace(rows, chunk_size=size, lent=True)
    # Where the device is the processor itself, nothing is gained by a copy that stays.
    resident = Resident(room(device) if device.type == "cuda" else 0)
    return DeviceRows(rows, device, like, kind, resident), kind


def sent(blocks: Iterator[Any], device: Any) -> Iterator[Any]:
    """Yield blocks of NumPy rows on the device, one ahead of the one that is worked on."""
    with ThreadPoolExecutor(1) as reader:
        sender, late = Sender(device), LateCheck()
        chunks = (Chunk(block, None, None) for block in blocks)
        ahead = reader.submit(next_sent, chunks, sender)
        while (chunk := ahead.result()) is not None:
            ahead = reader.submit(next_sent, chunks, sender)
            X = sender.received(chunk).X
            late.ask(X, lambda: None)
            yield X
        late.settle()
