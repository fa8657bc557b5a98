"""How far a call walks through the source, as somebody does who reads along.

    python tools/walk.py [--above FLOOR] [--until FUNCTION]

Every call of a function of elmband is a step into the file where the function stands. Counted are
the distinct files, the switches from one file to another (entering the first one is a switch), and
those of the switches that return to a file left before. Functions of one file that call each other
cost nothing, and neither does what Python does by itself: loading modules, comprehensions, taking
the next value of a generator. Once for readers who look a function up when it is called first, and
once for every call, loops included.

Measured on 120 rows, when the same call has been made once, so that all modules are loaded. Other
threads are not followed.
"""

import argparse
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator
from contextlib import redirect_stderr, redirect_stdout
from functools import partial
from inspect import CO_GENERATOR
from io import StringIO
from itertools import groupby
from pathlib import Path
from types import FrameType
from typing import Any, NamedTuple
from unittest.mock import patch

import numpy as np

import elmband
from elmband import ELMIntervalRegressor
from elmband.cli import main as command
from elmband.datasets import make_heteroscedastic

ROOT = Path(__file__).parent.parent
SOURCE = Path(elmband.__file__).parent
sys.path.insert(0, str(ROOT / "docs" / "_ext"))

from rooms import floors  # noqa: E402 - the floors are those of the map

N_ROWS = 120
# Nobody looks these up.
_NAMELESS = {"<module>", "<genexpr>", "<listcomp>", "<setcomp>", "<dictcomp>"}


class Step(NamedTuple):
    """A function that was called, by its name and first line, and the file it stands in."""

    file: str
    function: str
    line: int


class Walk(NamedTuple):
    """Distinct files, switches between files, and switches to a file that was left before."""

    files: int
    switches: int
    returns: int


def count(steps: Iterable[Step]) -> Walk:
    """Count the files of a walk, its switches and its returns."""
    entered = [file for file, _ in groupby(step.file for step in steps)]
    n_files = len(set(entered))
    return Walk(n_files, len(entered), len(entered) - n_files)


def each_once(steps: Iterable[Step]) -> list[Step]:
    """Return the first call of every function."""
    return list(dict.fromkeys(steps))


class _Follower:
    """Notes every function of a package that is called, for ``sys.setprofile``."""

    def __init__(self, package: Path, until: Iterable[str]) -> None:
        self.steps: list[Step] = []
        self._package, self._until = package.resolve(), set(until)
        self._names: dict[str, str | None] = {}
        self._generators: dict[int, FrameType] = {}
        self._skipping = 0

    def __call__(self, frame: FrameType, event: str, _: Any) -> None:
        code = frame.f_code
        name = self._within(code.co_filename) if event in {"call", "return"} else None
        if name is None or code.co_name in _NAMELESS:
            return
        if event == "return":
            self._skipping -= code.co_name in self._until
            return
        if not self._skipping and not self._goes_on(frame):
            self.steps.append(Step(name, code.co_name, code.co_firstlineno))
        self._skipping += code.co_name in self._until

    def _within(self, path: str) -> str | None:
        """Return the name of a file in the package, or None for files of others."""
        if path not in self._names:
            whole = Path(path).resolve()
            inside = whole.is_relative_to(self._package)
            self._names[path] = whole.relative_to(self._package).as_posix() if inside else None
        return self._names[path]

    def _goes_on(self, frame: FrameType) -> bool:
        """Tell whether this is a generator that was called before."""
        if not frame.f_code.co_flags & CO_GENERATOR:
            return False
        again = id(frame) in self._generators
        # Kept alive, so that no later frame has the same id.
        self._generators[id(frame)] = frame
        return again


def follow(call: Callable[[], object], package: Path, until: Iterable[str] = ()) -> list[Step]:
    """Return every function of a package that a call leads to, in order.

    What a function named in `until` calls is left out: the reader stops there.
    """
    follower = _Follower(package, until)
    sys.setprofile(follower)
    try:
        call()
    finally:
        sys.setprofile(None)
    return follower.steps


def _quietly(*arguments: object) -> None:
    """Run the command ``elmband`` in this process."""
    with (
        patch.object(sys, "argv", ["elmband", *map(str, arguments)]),
        redirect_stdout(StringIO()),
        redirect_stderr(StringIO()) as complaint,
    ):
        try:
            command()
        except SystemExit as ended:
            if ended.code:
                raise RuntimeError(complaint.getvalue()) from ended


def calls(folder: Path) -> Iterator[tuple[str, Callable[[], object]]]:
    """Yield calls to follow, by name; files are written to the folder."""
    data = make_heteroscedastic(N_ROWS, random_state=0)
    fit = partial(ELMIntervalRegressor(random_state=0).fit, data.X, data.y)
    yield "fit", fit
    yield "predict_interval", partial(fit().predict_interval, data.X)
    table, model = folder / "rows.csv", folder / "model.safetensors"
    names = [*(f"x{k}" for k in range(data.X.shape[1])), "y"]
    np.savetxt(table, np.c_[data.X, data.y], delimiter=",", header=",".join(names), comments="")
    _quietly("fit", table, "--target", "y", "-o", model)
    out = ("-o", folder / "sure.csv", "--review", folder / "review.csv", "--max-width", "1")
    yield "elmband triage", partial(_quietly, "triage", model, table, *out)


def floors_of_the_map() -> tuple[list[str], dict[str, int]]:
    """Return the names of the floors, the ground first, and the floor of every folder."""
    there = floors((ROOT / "docs" / "map.md").read_text(encoding="utf-8"))
    levels = {folder: k for k, floor in enumerate(there) for folder in floor.folders}
    return [floor.name for floor in there], levels


def table(above: Iterable[str], until: Iterable[str]) -> Iterator[str]:
    """Yield the lines of a table: every call in all, then what is above floors."""
    names, levels = floors_of_the_map()
    cuts = {"in all": -1} | {f"above {floor}": names.index(floor) for floor in above}
    yield f"{'':46}{'each function once':>20}{'every call':>20}"
    both = f"{'switches':>12}{'returns':>8}"
    yield f"{'call':<38}{'files':>8}{both}{both}"
    with tempfile.TemporaryDirectory() as folder:
        for name, call in calls(Path(folder)):
            call()
            walked = follow(call, SOURCE, until)
            for cut, floor in cuts.items():
                # A file of no room is the door of the package.
                seen = [s for s in walked if levels.get(s.file.split("/")[0], len(names)) > floor]
                once, every = count(each_once(seen)), count(seen)
                figures = f"{once.files:>8}{once.switches:>12}{once.returns:>8}"
                yield f"{name:<18}{cut:<20}{figures}{every.switches:>12}{every.returns:>8}"


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument(
        "--above", action="append", choices=floors_of_the_map()[0], help="by default Engines"
    )
    parser.add_argument(
        "--until", action="append", default=[], metavar="FUNCTION", help="what it calls is left out"
    )
    asked = parser.parse_args()
    for line in table(asked.above or ["Engines"], asked.until):
        print(line)


if __name__ == "__main__":
    main()
