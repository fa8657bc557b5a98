"""What a process has sent through its sockets, and the most memory it has taken; run on workers."""

from pathlib import Path
from typing import Any

from distributed.comm.tcp import TCP

_sent = [0]


def count_bytes() -> None:
    """Count what this process writes into sockets of Dask, from now on."""
    if hasattr(TCP.write, "counts"):
        return
    write = TCP.write

    async def counting(self: TCP, *args: Any, **kwargs: Any) -> int:
        count = await write(self, *args, **kwargs)
        _sent[0] += count
        return int(count)

    counting.counts = True  # type: ignore[attr-defined]
    TCP.write = counting


def written() -> int:
    """Return the bytes that this process has written so far."""
    return _sent[0]


def peak_memory() -> int:
    """Return the most bytes that this process ever had in memory.

    `getrusage` would tell of the process that started it, where that had more.
    """
    status = Path("/proc/self/status").read_text(encoding="ascii")
    return 1024 * int(status.split("VmHWM:")[1].split()[0])
