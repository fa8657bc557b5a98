"""Every command and method refuses an output that cannot be before it reads anything.

Models and data of the commands are files that nobody can read: a command that looks at them before
its output complains of them instead.
"""

import numpy as np
import pytest
import typer

from elmband import ELMIntervalRegressor, ELMSelectiveClassifier, scan
from elmband.cli import app, demo
from elmband_experiments.paper import write

COMMANDS = {
    "fit": (["fit", "bad.csv", "-t", "y", "-o"], ".st"),
    "fit numbers": (["fit", "bad.npy", "-t", "0", "-o"], ".st"),
    "predict": (["predict", "bad.st", "bad.csv", "-o"], ".csv"),
    "predict numbers": (["predict", "bad.st", "bad.npy", "-o"], ".npy"),
    "triage": (["triage", "bad.st", "bad.csv", "--review", "r.csv", "-o"], ".csv"),
    "review": (["triage", "bad.st", "bad.csv", "-o", "a.csv", "--review"], ".parquet"),
    "report": (["report", "bad.st", "bad.csv", "-t", "y", "-o"], ".html"),
    "export": (["export", "bad.st", "-o"], ".onnx"),
    "pixels": (["pixels", "nowhere", "nowhere", "-o"], ".csv"),
    "second pixels": (
        ["pixels", "nowhere", "nowhere", "--split", "0.5", "-o", "a.csv", "--test-out"],
        ".h5",
    ),
    "demo": (["demo", "-o"], ".png"),
}
KINDS = {
    "missing folder": ("none/o{}", "The output folder none does not exist; make it first"),
    "below a file": ("file/o{}", "The output folder file does not exist; make it first"),
    "folder": ("folder{}", "is a folder"),
    "too long": (300 * "o" + "{}", "File name too long"),
    "NUL": ("o\0{}", "cannot be the name of a file"),
    "read-only": ("old{}", "is there already and read-only"),
}
SUFFIXES = {
    "predict": "none of the endings that tables are written to",
    "predict numbers": "none of the endings that tables are written to",
    "triage": "none of the endings that tables are written to",
    "review": "none of the endings that tables are written to",
    "report": "is no name for a page",
    "pixels": "none of the known extensions",
    "second pixels": "none of the known extensions",
    "demo": "does not end in .png",
}


@pytest.fixture
def here(tmp_path, monkeypatch):
    """A folder to be in, with inputs that cannot be read."""
    monkeypatch.chdir(tmp_path)
    for name in ("bad.csv", "bad.npy", "bad.st"):
        (tmp_path / name).write_bytes(b"\xff\0\xff")
    (tmp_path / "file").write_text("kept")
    return tmp_path


def make(here, ending):
    """Make what stands in the way of some outputs."""
    (here / f"folder{ending}").mkdir()
    (here / f"old{ending}").write_text("kept")
    (here / f"old{ending}").chmod(0o444)


def refused(*command):
    with pytest.raises((OSError, ValueError, typer.BadParameter)) as caught:
        app([*command], standalone_mode=False)
    said = str(caught.value)
    assert "\n" not in said
    return said


def unwanted(*_, **__):
    raise AssertionError("work was done for an output that cannot be")


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("command", COMMANDS)
def test_no_command_works_for_an_impossible_output(here, monkeypatch, command, kind):
    pytest.importorskip("pyarrow")
    monkeypatch.setattr(demo, "artificial_task", unwanted)
    (arguments, ending), (name, words) = COMMANDS[command], KINDS[kind]
    if (command, kind) == ("second pixels", "NUL"):
        words = "null byte"  # in the words of the library that reads the options
    make(here, ending)
    before = sorted(here.rglob("*"))
    assert words in refused(*arguments, name.format(ending))
    assert sorted(here.rglob("*")) == before


@pytest.mark.parametrize("command", SUFFIXES)
def test_no_command_works_for_a_format_that_it_does_not_have(here, command):
    assert SUFFIXES[command] in refused(*COMMANDS[command][0], "o.xyz")
    assert not list(here.glob("o*"))


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("file", "file could not be written"),
        ("file/o", "could not be written"),
        (300 * "o", "File name too long"),
        ("page", "index.html is there already and read-only"),
        ("numbers", "results.json is there already and read-only"),
    ],
)
@pytest.mark.usefixtures("here")
def test_no_experiment_is_run_for_an_impossible_folder(tmp_path, monkeypatch, name, words):
    monkeypatch.setattr(write, "_run", unwanted)
    for folder, file in (("page", "index.html"), ("numbers", "results.json")):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / file).touch(0o444)
    assert words in refused("reproduce", "figures", "-o", name)


@pytest.mark.usefixtures("here")
def test_no_table_is_loaded_for_an_impossible_folder(monkeypatch):
    monkeypatch.setattr("elmband.cli._demo_task.load_diabetes", unwanted)
    for name in ("none", "file", 300 * "a"):
        refused("demo", "--tables", name)


RNG = np.random.default_rng(0)
X = RNG.normal(size=(60, 2))
Y = X[:, 0] + RNG.normal(size=60)
METHODS = {
    "predict": lambda number, _, rows, out: number.predict(rows, out=out),
    "predict_interval": lambda number, _, rows, out: number.predict_interval(rows, 0.9, out=out),
    "predict_proba": lambda _, kind, rows, out: kind.predict_proba(rows, out=out),
    "confidence": lambda _, kind, rows, out: kind.confidence(rows, out=out),
    "triage": lambda _, kind, rows, out: kind.triage(rows, out=out),
    "accept": lambda number, _, rows, out: number.accept(rows, max_width=1, out=out),
}


@pytest.fixture(scope="module")
def models():
    number = ELMIntervalRegressor(5, random_state=0).fit(X, Y)
    kind = ELMSelectiveClassifier(5, coverage=0.8, random_state=0).fit(X, (Y > 0).astype(int))
    return number, kind


@pytest.mark.parametrize("kind", [*KINDS, "format"])
@pytest.mark.parametrize("method", METHODS)
def test_no_row_is_read_for_an_impossible_file(here, models, method, kind):
    name, words = KINDS.get(kind, ("o.xyz", "none of the known extensions"))
    make(here, ".npy")
    np.save("rows.npy", X)
    rows = scan("rows.npy")
    (here / "rows.npy").write_bytes(b"read")
    with pytest.raises((OSError, ValueError), match=words):
        METHODS[method](*models, rows, name.format(".npy"))


@pytest.mark.parametrize("kind", KINDS)
def test_no_model_is_packed_for_an_impossible_file(here, models, monkeypatch, kind):
    monkeypatch.setattr("elmband.estimators._model.packed", unwanted)
    make(here, ".st")
    with pytest.raises(OSError, match=KINDS[kind][1]):
        models[0].save(KINDS[kind][0].format(".st"))
