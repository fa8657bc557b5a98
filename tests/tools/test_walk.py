"""The walk of a call through the source is counted as a reader would count it."""

import importlib
import importlib.util
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("sphinx", reason="floors are read with the extension that draws the map")
TOOL = Path(__file__).parents[2] / "tools" / "walk.py"

# start → first → deep, back to second, and first again; then a generator of deep, twice gone on.
MADE_UP = {
    "__init__.py": "",
    "top.py": """
from made_up.middle import first, second

def start():
    first()
    second()
    return [first() for _ in range(1)]
""",
    "middle.py": """
from made_up.inner.deep import deep, values

def first():
    deep()

def second():
    for _ in values():
        deep()
""",
    "inner/__init__.py": "",
    "inner/deep.py": """
def deep():
    return sorted([2, 1], key=lambda value: value)

def values():
    yield 1
    yield 2
""",
}
TOP, MIDDLE, DEEP = "top.py", "middle.py", "inner/deep.py"


@pytest.fixture(scope="module")
def walk():
    spec = importlib.util.spec_from_file_location("walk", TOOL)
    module = importlib.util.module_from_spec(spec)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "path", list(sys.path))
        spec.loader.exec_module(module)
    return module


@pytest.fixture
def made_up(tmp_path, monkeypatch):
    package = tmp_path / "made_up"
    for name, text in MADE_UP.items():
        (package / name).parent.mkdir(exist_ok=True)
        (package / name).write_text(text, encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    yield package
    for name in [name for name in sys.modules if name.split(".")[0] == "made_up"]:
        del sys.modules[name]


def files(steps):
    return [step.file for step in steps if step.function != "<lambda>"]


def test_every_call_of_a_function_is_a_step(walk, made_up):
    top = importlib.import_module("made_up.top")
    # One step for the generator, though it is gone on with twice, and none for the comprehension.
    second = [MIDDLE, DEEP, DEEP, DEEP]
    expected = [TOP, MIDDLE, DEEP, *second, MIDDLE, DEEP]
    assert files(walk.follow(top.start, made_up)) == expected


def test_modules_that_are_loaded_are_no_steps(walk, made_up):
    def load():
        importlib.import_module("made_up.top").start()

    first = files(walk.follow(load, made_up))
    assert first == files(walk.follow(load, made_up))


def test_the_walk_ends_at_functions_that_are_named(walk, made_up):
    top = importlib.import_module("made_up.top")
    steps = walk.follow(top.start, made_up, until=["second"])
    assert files(steps) == [TOP, MIDDLE, DEEP, MIDDLE, MIDDLE, DEEP]


def test_a_function_that_fails_ends_the_walk_in_it(walk, made_up):
    (made_up / "top.py").write_text(
        "from made_up.middle import first\n\ndef broken():\n    raise KeyError\n\ndef start():\n"
        "    try:\n        broken()\n    except KeyError:\n        first()\n",
        encoding="utf-8",
    )
    top = importlib.import_module("made_up.top")
    assert files(walk.follow(top.start, made_up, until=["broken"])) == [TOP, TOP, MIDDLE, DEEP]
    assert sys.getprofile() is None


def test_files_switches_and_returns_are_counted(walk, made_up):
    walked = [walk.Step(file, "f", k) for k, file in enumerate("aabcbba")]
    # a, b, c, then back to b, and to a.
    assert walk.count(walked) == (3, 5, 2)
    assert walk.count([]) == (0, 0, 0)
    top = importlib.import_module("made_up.top")
    steps = walk.follow(top.start, made_up)
    assert walk.count(steps) == (3, 7, 4)
    # top, middle, deep; second, and what it calls for the first time.
    assert walk.count(walk.each_once(steps)) == (3, 5, 2)


@pytest.mark.slow
def test_the_table_has_calls_in_all_and_above_the_engines():
    result = subprocess.run(
        [sys.executable, str(TOOL)], capture_output=True, text=True, check=True, timeout=120
    )
    rows = [line for line in result.stdout.splitlines() if line[-1:].isdigit()]
    names = [line[:38].split("  ")[0] for line in rows]
    assert names == [n for n in ("fit", "predict_interval", "elmband triage") for _ in range(2)]
    figures = np.array([line[38:].split() for line in rows], dtype=int)
    n_files, once, returns, every, returns_of_every = figures.T
    np.testing.assert_array_equal(once - returns, n_files)
    np.testing.assert_array_equal(every - returns_of_every, n_files)
    assert (every >= once).all()
    assert (figures[1::2] < figures[::2]).all()
