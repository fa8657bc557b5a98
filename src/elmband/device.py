"""Rows on another device: moved once where they fit, else chunk by chunk for every pass.

NumPy rows and scans travel through two pinned buffers: while one is being copied over the wire,
the other is being filled. What is computed there is the same as everywhere: chunk maps know the
array library of a chunk, not where it came from.
"""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np

from elmband._arrays import Array, namespace
from elmband.moments import Chunk
from elmband.rows import ArrayRows, Rows
from elmband.scaling import Scaling

# Rows mapped at once, far more than on a processor: a device wants large work.
DEVICE_ROWS = 131_072
# Rows that take more than this share of the free memory stay where they are.
_SHARE = 0.4
# Rows copied at once.
_PIECE_BYTES = 2**26


def resolve(device: str | None) -> Any:
    """Return the device of a name: None is where the rows are, "auto" a GPU if there is one."""
    if device is None:
        return None
    try:
        import torch  # noqa: PLC0415 (an optional dependency)
    except ImportError as error:
        if device == "auto":
            return None
        raise ImportError(
            f"device={device!r} needs PyTorch: pip install 'elmband[torch]'", name="torch"
        ) from error
    if device == "auto":
        return torch.device("cuda") if torch.cuda.is_available() else None
    try:
        found = torch.device(device)
        torch.empty(1, device=found)
    except (RuntimeError, AssertionError, TypeError, NotImplementedError) as error:
        reason = str(error).partition("\n")[0]
        raise ValueError(
            f"device={device!r} cannot be used: {reason} Choose device='auto' to run on the "
            "processor where there is no such device."
        ) from error
    return found


def fits(nbytes: int, device: Any) -> bool:
    """Whether so many bytes can stay on the device beside the work."""
    if device.type != "cuda":
        return True
    import torch  # noqa: PLC0415

    free, _ = torch.cuda.mem_get_info(device)
    return nbytes <= _SHARE * free


def moved(array: Any, device: Any) -> Any:
    """Return a NumPy array on the device, copied through pinned buffers."""
    import torch  # noqa: PLC0415

    host = torch.from_numpy(_writeable(array))
    if device.type != "cuda" or host.nbytes <= _PIECE_BYTES or host.is_pinned():
        return host.to(device, non_blocking=True)
    out = torch.empty(host.shape, dtype=host.dtype, device=device)
    step = max(_PIECE_BYTES // max(host.nbytes // len(host), 1), 1)
    pinned = _Pinned(device)
    for start in range(0, len(host), step):
        part = host[start : start + step]
        out[start : start + step].copy_(pinned.filled(part), non_blocking=True)
        pinned.sent()
    torch.cuda.current_stream(device).synchronize()
    return out


def _writeable(array: Any) -> Any:
    """Return an array that PyTorch takes without a warning: contiguous, and not read-only."""
    whole = np.ascontiguousarray(array)
    return whole if whole.flags.writeable else whole.copy()


class _Pinned:
    """Two buffers of pinned memory in turn, each filled again once it has been sent."""

    def __init__(self, device: Any) -> None:
        self._device = device
        self._buffers: list[Any] = [None, None]
        self._events: list[Any] = [None, None]
        self._turn = 0

    def filled(self, part: Any) -> Any:
        """Return the values in pinned memory, once that is free."""
        import torch  # noqa: PLC0415

        self._turn = 1 - self._turn
        event, buffer = self._events[self._turn], self._buffers[self._turn]
        if event is not None:
            event.synchronize()
        if buffer is None or buffer.numel() < part.numel() or buffer.dtype != part.dtype:
            buffer = torch.empty(part.numel(), dtype=part.dtype, pin_memory=True)
            self._buffers[self._turn] = buffer
        view = buffer[: part.numel()].view(part.shape)
        view.copy_(part)
        return view

    def sent(self) -> None:
        """Note that the buffer in turn is on its way."""
        import torch  # noqa: PLC0415

        event = torch.cuda.Event()  # type: ignore[no-untyped-call]
        event.record(torch.cuda.current_stream(self._device))
        self._events[self._turn] = event


@dataclass(frozen=True, eq=False)
class DeviceRows:
    """Rows that are read anew for every pass and worked on elsewhere."""

    rows: Rows
    device: Any
    like: Array
    dtype: Any

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
        """Read chunks and send them over, one ahead of the one that is worked on."""
        with ThreadPoolExecutor(1) as reader:
            chunks = self.rows.chunks(start)
            sender = _Sender(self.device)
            ahead = reader.submit(_next_sent, chunks, sender)
            while (chunk := ahead.result()) is not None:
                ahead = reader.submit(_next_sent, chunks, sender)
                there = sender.received(chunk)
                check_finite(there.X)
                yield there

    def scaled(self, targets: Scaling, dtype: Any) -> Self:
        """Return the same rows with standardised targets and weights in `dtype`."""
        host = Scaling(*(np.asarray(a.cpu()) for a in (targets.mean, targets.scale)))
        plain = np.float32 if str(dtype).endswith("32") else np.float64
        return replace(self, rows=self.rows.scaled(host, plain), dtype=dtype)

    def whole(self) -> Chunk:
        """Refuse: there may be more rows than memory."""
        return self.rows.whole()


def _next_sent(chunks: Iterator[Chunk], sender: "_Sender") -> Any:
    chunk = next(chunks, None)
    return None if chunk is None else sender.send(chunk)


class _Sender:
    """Sends chunks on a stream of its own."""

    def __init__(self, device: Any) -> None:
        import torch  # noqa: PLC0415

        self._device = device
        cuda = device.type == "cuda"
        self._stream = torch.cuda.Stream(device) if cuda else None  # type: ignore[no-untyped-call]
        self._pinned = [_Pinned(device) for _ in range(3)]

    def send(self, chunk: Chunk) -> Any:
        """Begin to move a chunk; return it with the event of its arrival."""
        import torch  # noqa: PLC0415

        if self._stream is None:
            parts = [None if a is None else torch.from_numpy(np.array(a)) for a in chunk]
            return Chunk(*parts), None
        with torch.cuda.stream(self._stream):
            parts = []
            for pinned, array in zip(self._pinned, chunk, strict=True):
                if array is None:
                    parts.append(None)
                    continue
                host = pinned.filled(torch.from_numpy(_writeable(array)))
                parts.append(host.to(self._device, non_blocking=True))
                pinned.sent()
            event = torch.cuda.Event()  # type: ignore[no-untyped-call]
            event.record(self._stream)
        return Chunk(*parts), event

    def received(self, sent: Any) -> Chunk:
        """Return a chunk once it is there, as far as the device is concerned."""
        import torch  # noqa: PLC0415

        chunk, event = sent
        if event is not None:
            stream = torch.cuda.current_stream(self._device)
            stream.wait_event(event)
            for array in chunk:
                if array is not None:
                    array.record_stream(stream)
        return Chunk(*chunk)


def on_device(rows: Rows, device: Any, dtype: Any) -> tuple[Rows, Any]:
    """Return rows on the device, and the dtype of products there.

    Arrays that fit are moved as a whole; others, and rows that are read, travel in every pass.
    """
    import torch  # noqa: PLC0415

    kind = torch.float32 if "float32" in str(dtype) else torch.float64
    like = torch.empty((0, int(rows.like.shape[1])), dtype=kind, device=device)
    if isinstance(rows, ArrayRows):
        if fits(rows.X.nbytes, device):
            X, Y, s = (None if a is None else moved(a, device) for a in rows.whole())
            check_finite(X)
            return ArrayRows(X, Y, s, max(rows.chunk_size, DEVICE_ROWS)), kind
        rows = replace(rows, chunk_size=max(rows.chunk_size, DEVICE_ROWS))
    return DeviceRows(rows, device, like, kind), kind


def sent(blocks: Iterator[Any], device: Any) -> Iterator[Any]:
    """Yield blocks of NumPy rows on the device, one ahead of the one that is worked on."""
    with ThreadPoolExecutor(1) as reader:
        sender = _Sender(device)
        chunks = (Chunk(block, None, None) for block in blocks)
        ahead = reader.submit(_next_sent, chunks, sender)
        while (chunk := ahead.result()) is not None:
            ahead = reader.submit(_next_sent, chunks, sender)
            X = sender.received(chunk).X
            check_finite(X)
            yield X


def check_finite(X: Any) -> None:
    """Refuse rows with missing or infinite values, in the words of scikit-learn."""
    xp = namespace(X)
    if bool(xp.isfinite(xp.sum(X))) or bool(xp.all(xp.isfinite(X))):
        return
    what = "NaN" if bool(xp.any(xp.isnan(X))) else "infinity or a value too large for its dtype"
    raise ValueError(f"Input X contains {what}.")


def check_movable(like: Any) -> None:
    """Refuse rows of another library: they are on a device already."""
    if not isinstance(like, np.ndarray):
        raise ValueError(
            "device= moves NumPy arrays and scans; arrays of other libraries are worked on where "
            "they are: leave device=None."
        )
