"""Changed model files by the hundred thousand, in limited processes that are used again.

``python -m benchmarks.faults.model_files --times 100000`` goes on where it was ended: what became
of every file so far stands in FOLDER, and what is not as promised is listed there with its number.
"""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import asdict
from pathlib import Path
from select import select
from typing import Annotated, Any, NamedTuple

import typer
from benchmarks.faults.counts import Counts

ROOT = Path(__file__).parents[2]
# Seconds on the clock, for a process that waits for something; the processor's are fewer.
_PATIENCE = 300.0
# Files between two visits to the disk, and between two processes.
_STEP, _TRIALS = 200, 5000


class Files(NamedTuple):
    """Files to be changed: their name, what makes them, and the module that tries them."""

    name: str
    make: Callable[[Path], None]
    module: str


def run(times: int, seed: int, folder: Path, files: Files | None = None) -> Counts:
    """Change files so many times, those done before included, and count what became of them.

    Each of the originals has its turn; these are the models of `tests/models/zoo.py`.
    """
    files = files or Files("model-files", make_originals, "benchmarks.faults.model_trial")
    folder.mkdir(parents=True, exist_ok=True)
    files.make(folder / "originals")
    state, findings = (folder / f"{files.name}-{seed}.{end}" for end in ("json", "jsonl"))
    done = json.loads(state.read_text()) if state.exists() else {"number": 0, "counts": {}}
    number, counts = int(done["number"]), Counts(**done["counts"])
    process = Process(folder, seed, files.module)
    try:
        while number < times:
            found = []
            for k in range(number, min(number + _STEP, times)):
                outcome, why = process.outcome(k)
                counts += Counts.of(outcome)
                if outcome not in {"right", "refused"}:
                    found.append({"number": k, "outcome": outcome, "why": why})
            number = min(number + _STEP, times)
            with findings.open("a", encoding="utf-8") as file:
                file.writelines(json.dumps(one) + "\n" for one in found)
            _replace(state, {"number": number, "counts": asdict(counts)})
    finally:
        process.end()
    return counts


def _replace(path: Path, content: Any) -> None:
    temporary = path.with_suffix(".partial")
    temporary.write_text(json.dumps(content), encoding="utf-8")
    temporary.replace(path)


class Process:
    """A process that tries changed files; another one takes its place when it dies."""

    def __init__(
        self, folder: Path, seed: int, module: str = "benchmarks.faults.model_trial"
    ) -> None:
        self._command = [sys.executable, "-m", module]
        self._command += [str(folder.resolve()), str(seed)]
        self._running: subprocess.Popen[str] | None = None
        self._tried = 0

    def outcome(self, number: int) -> tuple[str, str]:
        """Return what became of the changed file of this number, and why."""
        process = self._started()
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(f"{number}\n")
        process.stdin.flush()
        if not select([process.stdout], [], [], _PATIENCE)[0]:
            self.end()
            return "hung", f"number {number}: no answer"
        line = process.stdout.readline()
        self._tried += 1
        if line:
            outcome, why = json.loads(line)
            return outcome, why
        status = process.wait()
        self.end()
        if status == -signal.SIGXCPU:
            return "hung", f"number {number}: too much time of the processor"
        return "crashed", f"number {number}: the process ended with {status}"

    def _started(self) -> "subprocess.Popen[str]":
        if self._running is None or self._tried >= _TRIALS:
            self.end()
            path = os.pathsep.join([str(ROOT), str(ROOT / "src"), os.environ.get("PYTHONPATH", "")])
            environment = os.environ | {"PYTHONPATH": path, "OPENBLAS_NUM_THREADS": "1"}
            self._tried = 0
            self._running = subprocess.Popen(
                self._command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                text=True,
                env=environment,
                cwd=ROOT,
            )
        return self._running

    def end(self) -> None:
        """End the process, if there is one."""
        if self._running is None:
            return
        self._running.kill()
        self._running.communicate()
        self._running = None


_MAKE = """
import sys, warnings
from pathlib import Path
import numpy as np
from models import zoo

warnings.simplefilter("ignore")
folder, names = Path(sys.argv[1]), sys.argv[2:] or zoo.MODELS
for number, name in enumerate(names):
    words = "".join(letter if letter.isalnum() else "-" for letter in name)
    zoo.fitted(name).save(folder / f"{number:02d}-{words}.safetensors")
np.save(folder / "rows.npy", np.vstack([zoo.X[:8], 1e3 * zoo.X[:2]]))
"""


def make_originals(folder: Path, names: Sequence[str] = ()) -> None:
    """Save models of these names, or one of every kind, once, and rows to ask about."""
    if (folder / "rows.npy").exists():
        return
    folder.mkdir(parents=True, exist_ok=True)
    path = os.pathsep.join([str(ROOT / "src"), str(ROOT / "tests")])
    command = [sys.executable, "-c", _MAKE, str(folder), *names]
    subprocess.run(command, env=os.environ | {"PYTHONPATH": path}, check=True)


def main(
    *,
    folder: Annotated[Path, typer.Option(help="Folder for results.")] = Path("results/faults"),
    times: Annotated[int, typer.Option(min=1, help="Changed files.")] = 100_000,
    seed: Annotated[int, typer.Option(min=0, help="Seed of what is left to chance.")] = 0,
) -> None:
    """Change model files and count what became of them."""
    tell(run(times, seed, folder))


def tell(counts: Counts) -> None:
    """Print counts, and end with a status that is 0 only if all is as promised."""
    print(json.dumps({"injected": counts.injected, **asdict(counts)}))
    if not counts.is_clean:
        raise typer.Exit(1)


if __name__ == "__main__":
    typer.run(main)
