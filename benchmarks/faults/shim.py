"""The n-th write, rename, sync or open of a process fails, or ends it.

``shim.c`` is compiled where there is a compiler, and loaded before all other libraries. Elsewhere
functions of Python are replaced, which Arrow, HDF5 and safetensors do not call.
"""

import builtins
import ctypes
import io
import os
import shutil
import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

WRITE, RENAME, SYNC, OPEN = 1, 2, 4, 8
CALLS = {"write": WRITE, "rename": RENAME, "sync": SYNC, "open": OPEN}
ALL = WRITE | RENAME | SYNC | OPEN
_SOURCE = Path(__file__).with_name("shim.c")


@dataclass(frozen=True)
class Fault:
    """The `nth` of some `calls` on files below `folder` fails with an `error`, or sees a `signal`.

    Where it is `onward`, so do all later writes and opens, as on a full disk. The 0-th never
    comes: the calls are only counted.
    """

    folder: str
    calls: int = ALL
    nth: int = 0
    error: int = 0
    signal: int = 0
    onward: bool = False


def compiled(folder: Path) -> Path | None:
    """Return the library, compiled into a folder; None where no compiler is found."""
    compiler = shutil.which("gcc") or shutil.which("cc")
    library = folder / "shim.so"
    if compiler is None:
        return None
    if not library.exists() or library.stat().st_mtime < _SOURCE.stat().st_mtime:
        built = [compiler, "-shared", "-fPIC", "-O1", "-o", str(library), str(_SOURCE), "-ldl"]
        if subprocess.run(built, capture_output=True, check=False).returncode:
            return None
    return library


def arm(fault: Fault) -> Callable[[], int]:
    """Begin to watch the calls of this process; return what tells how many there were."""
    library = ctypes.CDLL(None)
    if hasattr(library, "fault_arm"):
        library.fault_seen.restype = ctypes.c_long
        library.fault_arm(
            fault.folder.encode(),
            fault.calls,
            ctypes.c_long(fault.nth),
            fault.error,
            fault.signal,
            int(fault.onward),
        )
        return lambda: int(library.fault_seen())
    return _Replaced(fault).seen


class _Replaced:
    """Functions of Python in the place of the system's calls."""

    def __init__(self, fault: Fault) -> None:
        self._fault, self._seen = fault, 0
        watched = {"replace": (RENAME, 1), "rename": (RENAME, 1), "fsync": (SYNC, 0)}
        for name, how in watched.items():
            setattr(os, name, self._watching(getattr(os, name), *how))
        opened = self._watching(io.open, OPEN, 0)
        builtins.open = io.open = opened

    def seen(self) -> int:
        """Return how many calls there were."""
        return self._seen

    def _watching(self, function: Callable[..., Any], call: int, place: int) -> Callable[..., Any]:
        def called(*given: Any, **named: Any) -> Any:
            reads = call == OPEN and not set("wax+") & set(str([*given, *named.values()][1:2]))
            if self._fault.calls & call and not reads and self._lies_there(given[place]):
                self._count(call)
            return function(*given, **named)

        return called

    def _lies_there(self, path: Any) -> bool:
        if isinstance(path, int):
            path = Path(f"/proc/self/fd/{path}").readlink()
        return Path(path).absolute().is_relative_to(self._fault.folder)

    def _count(self, call: int) -> None:
        self._seen += 1
        fault = self._fault
        later = fault.onward and 0 < fault.nth < self._seen and call & (WRITE | OPEN)
        if self._seen != fault.nth and not later:
            return
        if fault.signal:
            os.kill(os.getpid(), fault.signal)
            return
        raise OSError(fault.error, os.strerror(fault.error))
