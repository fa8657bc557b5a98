"""Commands in processes that may be killed, may crash, and may not take for ever."""

import json
import os
import select
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from benchmarks.faults.shim import Fault

SECONDS = 60
"""A command that takes longer hangs: the slowest takes a quarter of that."""
MEMORY = 4 * 2**30
"""Bytes of address space of a command; a damaged file may not ask for more."""
_ROOT = Path(__file__).parents[2]


@dataclass(frozen=True)
class Ended:
    """How a command ended: its status, negative for a signal, None where it hung, and its words."""

    status: int | None
    said: str
    complained: str
    seconds: float
    calls: int = 0

    @property
    def is_one_sentence(self) -> bool:
        """Whether the command said in one sentence what is wrong; notes may come before it."""
        lines = self.complained.rstrip("\n").split("\n")
        notes = [line for line in lines[:-1] if not line.startswith("Note: ")]
        last = lines[-1]
        # A wrong option is explained by Typer, in a box.
        return last.startswith("Error: ") and not notes and last.rstrip().endswith((".", "!"))

    @property
    def has_traceback(self) -> bool:
        """Whether people see the inside of the program."""
        return "Traceback" in self.complained or "Exception ignored" in self.complained


@dataclass
class Server:
    """A process that forks commands; started when it is first needed, and again if it is lost."""

    logs: Path
    library: Path | None = None
    _process: Any = field(default=None, repr=False)
    _answers: Any = field(default=None, repr=False)

    def run(
        self,
        arguments: Sequence[str],
        folder: Path,
        *,
        fault: Fault | None = None,
        kill: tuple[float, int] | None = None,
        limits: dict[str, int] | None = None,
    ) -> Ended:
        """Run a command in a folder, and send it a signal after some seconds if that is asked."""
        self._begin([self._asked(arguments, folder, fault)], limits)
        return self._followed(1, kill)[0]

    def run_many(
        self, commands: Sequence[tuple[Sequence[str], Path]], limits: dict[str, int]
    ) -> list[Ended]:
        """Run commands in one process, or in as many as it takes where one of them ends it."""
        ended: list[Ended] = []
        while len(ended) < len(commands):
            rest = [self._asked(*command, None, k) for k, command in enumerate(commands)]
            self._begin(rest[len(ended) :], limits)
            ended += self._followed(len(commands) - len(ended), None, len(ended))
        return ended

    def _asked(
        self, arguments: Sequence[str], folder: Path, fault: Fault | None, number: int = 0
    ) -> dict[str, Any]:
        return {
            "arguments": [str(argument) for argument in arguments],
            "folder": str(folder),
            "out": str(self.logs / f"out-{number}"),
            "err": str(self.logs / f"err-{number}"),
            "fault": None if fault is None else asdict(fault),
        }

    def _begin(self, commands: list[dict[str, Any]], limits: dict[str, int] | None) -> None:
        self._start()
        request = {"commands": commands, "limits": limits or {}}
        self._process.stdin.write(json.dumps(request).encode() + b"\n")
        self._process.stdin.flush()

    def _followed(self, count: int, kill: tuple[float, int] | None, first: int = 0) -> list[Ended]:
        """Wait for the ends of commands, which may be brought about."""
        ended: list[Ended] = []
        begun, child, hung = time.perf_counter(), 0, False
        while True:
            passed = time.perf_counter() - begun
            if child and kill is not None and passed >= kill[0]:
                _send(child, kill[1])
                kill = None
            if child and not hung and passed > SECONDS:
                hung = True
                _send(child, signal.SIGKILL)
            wait = 0.5 if kill is None else max(0.0, kill[0] - passed)
            if not select.select([self._answers], [], [], min(wait, 0.5))[0]:
                continue
            answer = json.loads(self._answers.readline())
            child = answer.get("pid", child)
            if "ended" in answer:
                ended.append(self._told(first + len(ended), answer["ended"], passed, answer))
                begun = time.perf_counter()
            if "status" in answer:
                if len(ended) < count:
                    status = None if hung else answer["status"]
                    ended.append(self._told(first + len(ended), status, passed, {}))
                return ended

    def _told(
        self, number: int, status: int | None, seconds: float, answer: dict[str, Any]
    ) -> Ended:
        texts = [
            (self.logs / f"{name}-{number}").read_text("utf-8", "replace")
            for name in ("out", "err")
        ]
        return Ended(status, *texts, seconds, answer.get("calls", 0))

    def _start(self) -> None:
        if self._process is not None and self._process.poll() is None:
            return
        self.logs.mkdir(parents=True, exist_ok=True)
        reader, writer = os.pipe()
        places = [str(_ROOT), str(_ROOT / "src"), os.environ.get("PYTHONPATH", "")]
        environment = {
            **os.environ,
            "PYTHONPATH": os.pathsep.join(filter(None, places)),
            "OPENBLAS_NUM_THREADS": "1",
            "OMP_NUM_THREADS": "1",
            "COLUMNS": "200",
            "NO_COLOR": "1",
        }
        if self.library is not None:
            environment["LD_PRELOAD"] = str(self.library)
        with (self.logs / "server").open("ab") as log:
            self._process = subprocess.Popen(
                [sys.executable, "-m", "benchmarks.faults.server", str(writer)],
                stdin=subprocess.PIPE,
                stdout=log,
                stderr=log,
                pass_fds=[writer],
                env=environment,
            )
        os.close(writer)
        self._answers = os.fdopen(reader, "rb", buffering=0)
        if not self._answers.readline():
            raise RuntimeError(f"the server did not start, see {self.logs / 'server'}")

    def close(self) -> None:
        """End the process."""
        if self._process is not None:
            self._process.stdin.close()
            self._process.wait()
            self._answers.close()
            self._process = None


def start(arguments: Sequence[str], folder: Path) -> "subprocess.Popen[str]":
    """Start a command from nothing, in a process of its own."""
    return subprocess.Popen(
        [sys.executable, "-m", "elmband", *arguments],
        cwd=folder,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env={**os.environ, "NO_COLOR": "1", "COLUMNS": "200"},
        text=True,
    )


def await_end(process: "subprocess.Popen[str]", begun: float) -> Ended:
    """Wait for a command that was begun at this time, for as long as one may take."""
    status: int | None
    try:
        said, complained = process.communicate(timeout=SECONDS)
        status = process.returncode
    except subprocess.TimeoutExpired:
        process.kill()
        said, complained = process.communicate()
        status = None
    return Ended(status, said, complained, time.perf_counter() - begun)


def _send(child: int, number: int) -> None:
    with suppress(ProcessLookupError):
        os.kill(child, number)
