"""Names from data give a terminal no orders, and no style to what is printed."""

import contextlib
import csv
import io
import json
import re
import sys

import numpy as np
import pandas as pd
import pytest
from rich.console import Console

from elmband.cli import main
from elmband.engines.progress import Bar
from elmband.ground.printable import on_one_line, printable

pytest.importorskip("pyarrow")

TITLE, CLEAR, BACK, TURNED = "\x1b]0;x\x07", "\x1b[2J", "\r", "\u202e"
# A window's title; the screen cleared; written over; turned round; a second line; Rich's words.
TOWN = f"town{TITLE}[bold]"
INCOME = f"in\ncome{CLEAR}{BACK}{TURNED}[red]:warning:"
TARGET = f"y{TITLE}{CLEAR}{BACK}{TURNED}[bold]"
CLASSES = f"no{CLEAR}[red]", f"yes{TITLE}{TURNED}"
FOLDER = f"a[bold]{CLEAR}{TITLE}{TURNED}\r\nx"
OBEYED = re.compile("[\x00-\x09\x0b-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069]")


@pytest.fixture(scope="module")
def elmband():
    """The command, run here; returns what it printed on both streams."""

    def run(*arguments, code=0):
        streams = [io.TextIOWrapper(io.BytesIO(), "utf-8", newline="") for _ in range(2)]
        patch.setattr(sys, "argv", ["elmband", *map(str, arguments)])
        with contextlib.redirect_stdout(streams[0]), contextlib.redirect_stderr(streams[1]):
            with pytest.raises(SystemExit) as exit_:
                main()
            texts = []
            for stream in streams:
                stream.flush()
                texts.append(stream.buffer.getvalue().decode())
        assert exit_.value.code == code, texts
        return texts

    with pytest.MonkeyPatch.context() as patch:
        for name in ("FORCE_COLOR", "GITHUB_ACTIONS", "PY_COLORS", "TTY_COMPATIBLE"):
            patch.delenv(name, raising=False)
        patch.setenv("COLUMNS", "300")
        yield run


@pytest.fixture(scope="module")
def where(elmband, tmp_path_factory):
    """A table with such names in a folder of such a name, two models, and what fit said."""
    try:
        folder = tmp_path_factory.mktemp("printable") / FOLDER
        folder.mkdir()
    except OSError:
        pytest.skip("this file system has no such names")
    rng = np.random.default_rng(0)
    table = pd.DataFrame({INCOME: rng.normal(size=60), TOWN: rng.choice(["Oslo", "Rome"], 60)})
    table[f"same{CLEAR}"] = 1.0
    table[TARGET] = table[INCOME] + rng.normal(size=60)
    table["class"] = np.where(table[TARGET] > 0, *CLASSES)
    table.to_csv(folder / "t.csv", index=False, quoting=csv.QUOTE_NONNUMERIC)
    fit = ("fit", folder / "t.csv", "--neurons", 5)
    said = elmband(*fit, "-t", TARGET, "--exclude", "class", "-o", folder / "m.st")
    more = elmband(
        *fit, "-t", "class", "--exclude", TARGET, "--positive", CLASSES[1], "--max-fpr", 0.9,
        "-o", folder / "c.st",
    )  # fmt: skip
    return folder, [*said, *more]


def assert_harmless(texts):
    for text in texts:
        assert OBEYED.findall(text) == []


@pytest.mark.slow
def test_fit_names_the_target_and_what_it_left_out(where):
    assert_harmless(where[1])
    learned, left_out = where[1][0].splitlines()[:2]
    assert r"learned y\x1b]0;x\x07\x1b[2J\r\u202e[bold] in" in learned
    assert r"a[bold]\x1b[2J\x1b]0;x\x07\u202e\r\nx" in learned
    assert r"same\x1b[2J" in left_out


def test_info_shows_columns_and_classes_a_line_each(elmband, where):
    said = elmband("info", where[0] / "m.st")
    assert_harmless(said)
    assert re.search(r"^town\\x1b\]0;x\\x07\[bold\] ", said[0], re.MULTILINE)
    assert re.search(r"^in\\ncome\\x1b\[2J\\r\\u202e\[red\]:warning:  num", said[0], re.MULTILINE)
    said = elmband("info", where[0] / "c.st")
    assert_harmless(said)
    assert r"no\x1b[2J[red], yes\x1b]0;x\x07\u202e" in said[0]


def test_predict_and_triage_say_where_rows_went(elmband, where, tmp_path):
    folder, _ = where
    table = pd.read_csv(folder / "t.csv")
    table[INCOME] += 100
    table.loc[0, TOWN] = f"Turku{TITLE}"
    table.to_csv(tmp_path / "far.csv", index=False, quoting=csv.QUOTE_NONNUMERIC)
    said = elmband("predict", folder / "m.st", tmp_path / "far.csv", "-o", folder / "p.csv")
    assert_harmless(said)
    assert r"in\ncome\x1b[2J\r\u202e[red]:warning: (60)" in said[1]
    outputs = ("-o", folder / "a.csv", "--review", folder / "b.csv", "--max-width", 3)
    said = elmband("triage", folder / "m.st", folder / "t.csv", *outputs)
    assert_harmless(said)
    assert len(said[0].splitlines()) == 2
    assert_harmless(elmband("evaluate", folder / "m.st", folder / "t.csv", "-t", TARGET))
    assert_harmless(elmband("evaluate", folder / "c.st", folder / "t.csv", "-t", "class"))


def test_data_on_standard_output_stay_data(elmband, where):
    folder, _ = where
    said, _ = elmband("predict", folder / "m.st", folder / "t.csv", "--keep-all", "-o", "-")
    read = pd.read_csv(io.StringIO(said, newline=""))
    assert list(read.columns)[:2] == [INCOME, TOWN]
    assert f"no{CLEAR}[red]" in set(read["class"])


def test_errors_are_one_line(elmband, where):
    folder, _ = where
    for wrong in (
        ("predict", folder / "m.st", folder / "none.csv", "-o", folder / "p.csv"),
        ("predict", folder / "m.st", folder / "t.csv", "-o", folder / "p.csv", "--keep", CLEAR),
        ("evaluate", folder / "m.st", folder / "t.csv", "-t", TOWN),
        ("info", folder / "t.csv"),
    ):
        said = elmband(*wrong, code=1)
        assert_harmless(said)
        assert said[1].startswith("Error: ")
        assert said[1].count("\n") == 1
        assert "[bold]" in said[1]


@pytest.mark.parametrize(
    "wrong",
    [
        (f"--{TITLE}",),
        (f"[bold]{CLEAR}",),
        ("info", "m", f"more{CLEAR}[bold]"),
        ("predict", "m", "d", "-o", f"x{CLEAR}{TURNED}.[bold]"),
    ],
)
def test_wrong_usage_is_quoted_as_it_can_be_printed(elmband, wrong):
    said = elmband(*wrong, code=2)
    assert_harmless(said)
    assert r"\x1b" in said[1]
    assert "[bold]" in said[1] or "[bold]" not in "".join(wrong)


def test_json_stays_json_with_the_names_as_they_are(elmband, where, tmp_path):
    output = tmp_path / f"del\x7f{CLEAR}.csv"
    said = elmband("predict", where[0] / "m.st", where[0] / "t.csv", "-o", output, "--json")
    assert_harmless(said)
    assert json.loads(said[0])["output"] == str(output)


def test_a_bar_shows_its_label_as_it_is():
    file = io.StringIO()
    bar = Bar(Console(file=file, force_terminal=True, color_system=None, width=120), None)
    bar.begin(f"[bold]x{CLEAR}", 10)
    bar._progress.start()
    bar.end()
    assert r"pass 1: [bold]x\x1b[2J" in file.getvalue()


def test_other_text_is_left_alone():
    text = "Ålesund, 東京, עברית\n\\x1b [bold] \u200d👩\u200d🔬"
    assert printable(text) == text
    assert on_one_line("a\nb\tc\x7f\x9b\u2066\udc9b") == r"a\nb\tc\x7f\x9b\u2066\udc9b"
