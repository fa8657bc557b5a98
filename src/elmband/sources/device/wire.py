"""From the memory of the host to that of a device, through pinned buffers.

While one buffer is being copied over the wire, the other is being filled. Rows that are in pinned
memory already are sent from there.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np

from elmband.sums.moments import Chunk

# Bytes copied at once.
_PIECE_BYTES = 2**26


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

        event = torch.cuda.Event()
        event.record(torch.cuda.current_stream(self._device))
        self._events[self._turn] = event


class Sender:
    """Sends chunks on a stream of its own."""

    def __init__(self, device: Any) -> None:
        import torch  # noqa: PLC0415

        self._device = device
        cuda = device.type == "cuda"
        self._stream = torch.cuda.Stream(device) if cuda else None
        self._pinned = [_Pinned(device) for _ in Chunk._fields]

    def send(self, chunk: Chunk) -> Any:
        """Begin to move a chunk; return it with the event of its arrival."""
        import torch  # noqa: PLC0415

        if self._stream is None:
            parts = [None if a is None else torch.from_numpy(np.array(a)) for a in chunk]
            return Chunk(*parts), None
        pairs = zip(self._pinned, chunk, strict=True)
        with torch.cuda.stream(self._stream):
            parts = [None if a is None else self._begun(pinned, a) for pinned, a in pairs]
            event = torch.cuda.Event()
            event.record(self._stream)
        if torch.from_numpy(_writeable(chunk.X)).is_pinned():
            # Sent from where they are: whoever made these rows may then write others there.
            event.synchronize()
        return Chunk(*parts), event

    def _begun(self, pinned: _Pinned, array: Any) -> Any:
        """Begin to move an array, by way of pinned memory unless it is there."""
        import torch  # noqa: PLC0415

        host = torch.from_numpy(_writeable(array))
        if host.is_pinned():
            return host.to(self._device, non_blocking=True)
        there = pinned.filled(host).to(self._device, non_blocking=True)
        pinned.sent()
        return there

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


def next_sent(chunks: Iterator[Chunk], sender: Sender) -> Any:
    """Ask for the next chunk and begin to move it; None where there is none."""
    chunk = next(chunks, None)
    return None if chunk is None else sender.send(chunk)
