import re
import subprocess
import sys
import tempfile
from importlib import import_module

import numpy as np
import pytest
from PIL import Image
from typer.testing import CliRunner

import elmband
from elmband.cli import app, main
from elmband.datasets import make_heteroscedastic

DEMO = import_module("elmband.cli.demo")

ROW = re.compile(
    r"^ *(?P<kind>uniform|confidence|per-sample)\D* +(?P<picp>[\d.]+) % +(?P<nmpiw>[\d.]+)"
    r" +(?P<score>[\d.]+) +(?P<noisiest>[\d.]+) % +(?P<quietest>[\d.]+) % +(?P<seconds>[\d.]+) *$",
    re.MULTILINE,
)


@pytest.fixture(autouse=True, scope="module")
def no_terminal():
    with pytest.MonkeyPatch.context() as patch:
        for name in ("FORCE_COLOR", "GITHUB_ACTIONS", "PY_COLORS", "TTY_COMPATIBLE"):
            patch.delenv(name, raising=False)
        patch.setenv("COLUMNS", "80")
        yield


def run(*arguments, folder):
    return subprocess.run(
        [sys.executable, "-m", "elmband", *arguments],
        cwd=folder,
        capture_output=True,
        encoding="utf-8",
        check=False,
        timeout=120,
    )


def tables(text):
    """Numbers of each printed table: one dict per data set, by kind of interval."""
    rows = [match.groupdict() for match in ROW.finditer(text)]
    assert [row["kind"] for row in rows] == ["uniform", "confidence", "per-sample"] * 2
    numbers = [{key: float(row[key]) for key in row if key != "kind"} for row in rows]
    kinds = [row["kind"] for row in rows[:3]]
    return [dict(zip(kinds, part, strict=True)) for part in (numbers[:3], numbers[3:])]


def sentence(text):
    """Text without colours, boxes and the line breaks of a narrow terminal."""
    plain = re.sub(r"\x1b\[[\d;]*m", "", text)
    return " ".join(re.sub(r"[│╭╮╰╯─]", " ", plain).split())


def invoke(*arguments):
    return CliRunner().invoke(app, ["demo", *map(str, arguments)])


def in_process(monkeypatch, capsys, *arguments):
    """Run `main` here, and return its exit status and what it printed."""
    monkeypatch.setattr(sys, "argv", ["elmband", *map(str, arguments)])
    with pytest.raises(SystemExit) as exit_:
        main()
    return exit_.value.code, capsys.readouterr()


@pytest.fixture(scope="module")
def finished(tmp_path_factory, no_terminal):  # noqa: ARG001 (must come first)
    folder = tmp_path_factory.mktemp("demo")
    return run("demo", "--rows", "400", folder=folder), folder


@pytest.mark.slow
def test_demo_succeeds_quietly(finished):
    result, _ = finished
    assert result.returncode == 0
    assert not result.stderr


@pytest.mark.slow
def test_demo_writes_one_png_and_says_where(finished):
    result, folder = finished
    (path,) = folder.iterdir()
    assert path.name == "elmband-demo.png"
    assert path.read_bytes().startswith(b"\x89PNG\r\n\x1a\n")
    assert 20_000 < path.stat().st_size < 2_000_000
    with Image.open(path) as image:
        width, height = image.size
        assert width > 3 * height > 1000
        assert len(image.convert("RGB").getcolors(maxcolors=10**6)) > 100
    assert str(path.resolve()) in result.stdout


@pytest.mark.slow
def test_tables_fit_80_columns_and_have_no_escape_codes(finished):
    result, folder = finished
    table = result.stdout.replace(str(folder.resolve()), "")
    assert max(map(len, table.splitlines())) <= 80
    assert "\x1b" not in result.stdout


@pytest.mark.slow
def test_tables_name_data_level_and_grouping(finished):
    words = sentence(finished[0].stdout)
    assert "Artificial data, 400 training rows: intervals at nominal 95 %" in words
    assert "2,000 test rows; noisiest and quietest fifth by true noise." in words
    assert "Diabetes data, 331 training rows: intervals at nominal 95 %" in words
    assert "111 test rows; noisiest and quietest fifth by predicted variance." in words


@pytest.mark.slow
def test_per_sample_intervals_win_on_artificial_data(finished):
    artificial, diabetes = tables(finished[0].stdout)
    assert artificial["per-sample"]["score"] < 0.9 * artificial["uniform"]["score"]
    # A uniform interval is too narrow where noise is large, too wide where it is small.
    assert artificial["uniform"]["noisiest"] < 85 < artificial["per-sample"]["noisiest"]
    assert artificial["uniform"]["quietest"] > 99 > artificial["per-sample"]["quietest"]
    for table in (artificial, diabetes):
        assert table["confidence"]["picp"] < 60
        assert table["confidence"]["nmpiw"] < table["per-sample"]["nmpiw"]
        assert 80 < table["per-sample"]["picp"] <= 100
        assert all(row["seconds"] > 0 for row in table.values())


@pytest.mark.slow
def test_uniform_row_by_hand(finished):
    data = make_heteroscedastic(2400, random_state=0)
    X, y, X_test, y_test = data.X[:400], data.y[:400], data.X[400:], data.y[400:]
    model = elmband.ELMRegressor(random_state=0).fit(X, y)
    half = 1.959963984540054 * np.sqrt(np.mean((y - model.predict(X)) ** 2))
    error = np.abs(y_test - model.predict(X_test))
    row = tables(finished[0].stdout)[0]["uniform"]
    # Half a unit of the last printed digit.
    assert row["picp"] == pytest.approx(100 * np.mean(error <= half), abs=0.05)
    assert row["nmpiw"] == pytest.approx(2 * half / np.ptp(y_test), abs=0.0005)
    score = np.mean(2 * half + 2 / 0.05 * np.maximum(error - half, 0))
    assert row["score"] == pytest.approx(score, abs=0.0005)
    order = np.argsort(data.std[400:])
    assert row["quietest"] == pytest.approx(100 * np.mean(error[order[:400]] <= half), abs=0.05)
    assert row["noisiest"] == pytest.approx(100 * np.mean(error[order[-400:]] <= half), abs=0.05)


@pytest.mark.slow
def test_options_reach_the_computation(tmp_path):
    arguments = ("--rows", 40, "--confidence-level", 0.8, "-o", tmp_path / "a.PNG")
    first = invoke(*arguments, "--seed", 1)
    assert "40 training rows: intervals at nominal 80 %" in sentence(first.output)
    coverage = tables(first.output)[1]["uniform"]["picp"]
    assert 65 < coverage < 93
    assert [path.name for path in tmp_path.iterdir()] == ["a.PNG"]
    again, other = invoke(*arguments, "--seed", 1), invoke(*arguments, "--seed", 2)
    scores = [
        [row["score"] for table in tables(result.output) for row in table.values()]
        for result in (first, again, other)
    ]
    assert scores[0] == scores[1] != scores[2]


@pytest.mark.slow
def test_fewest_rows(tmp_path):
    result = invoke("--rows", 30, "-o", tmp_path / "few.png")
    assert result.exit_code == 0
    assert (tmp_path / "few.png").exists()


@pytest.mark.slow
def test_an_earlier_figure_is_replaced(tmp_path):
    path = tmp_path / "figure.png"
    path.write_bytes(b"old")
    assert invoke("--rows", 30, "-o", path).exit_code == 0
    assert path.stat().st_size > 20_000


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--confidence-level", "95"], "95 does not lie between 0 and 1, as 0.95 does."),
        (["--confidence-level", "nan"], "nan does not lie between 0 and 1"),
        (["--confidence-level", "high"], "--confidence-level"),
        (["--rows", "29"], "--rows"),
        (["--seed", "-1"], "--seed"),
        (["--output", "figure.pdf"], "figure.pdf does not end in .png"),
        (["--colour", "red"], "No such option"),
    ],
)
def test_wrong_usage_is_one_sentence_and_exit_2(arguments, words, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    code, printed = in_process(monkeypatch, capsys, "demo", *arguments)
    assert code == 2
    assert words in sentence(printed.err)
    assert not printed.out
    assert not list(tmp_path.iterdir())


@pytest.mark.slow
def test_missing_folder_is_one_sentence_and_exit_1(tmp_path):
    result = run("demo", "-o", "nowhere/figure.png", folder=tmp_path)
    assert result.returncode == 1
    assert result.stderr == "Error: The output folder nowhere does not exist; make it first.\n"
    assert not result.stdout


def test_output_that_is_a_folder(tmp_path, monkeypatch, capsys):
    (tmp_path / "folder.png").mkdir()
    code, printed = in_process(monkeypatch, capsys, "demo", "-o", tmp_path / "folder.png")
    assert code == 1
    assert printed.err.endswith("is a folder; the output needs the name of a file.\n")


def test_read_only_folder_is_found_before_training(tmp_path, monkeypatch, capsys):
    def refuse(**_):
        raise PermissionError(13, "Permission denied")

    # Not by the rights of a real folder: root may write to any.
    monkeypatch.setattr(tempfile, "TemporaryFile", refuse)
    monkeypatch.setattr(DEMO, "compare", pytest.fail)
    code, printed = in_process(monkeypatch, capsys, "demo", "-o", tmp_path / "figure.png")
    assert code == 1
    assert printed.err.endswith("cannot be written to: Permission denied.\n")
    assert printed.err.count("\n") == 1


@pytest.mark.slow
def test_missing_matplotlib_still_prints_the_tables(tmp_path, monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    arguments = ("demo", "--rows", 30, "-o", tmp_path / "figure.png")
    code, printed = in_process(monkeypatch, capsys, *arguments)
    assert code == 1
    assert len(tables(printed.out)) == 2
    assert printed.err == "Error: drawing needs matplotlib: pip install 'elmband[plot]'\n"
    assert not list(tmp_path.iterdir())


@pytest.mark.slow
def test_failed_write_leaves_the_old_figure_and_nothing_else(tmp_path, monkeypatch, capsys):
    class Broken:
        def savefig(self, file, **_):
            file.write(b"half")
            raise OSError(28, "No space left on device")

    monkeypatch.setattr(DEMO, "draw", lambda *_: Broken())
    path = tmp_path / "figure.png"
    path.write_bytes(b"old")
    code, printed = in_process(monkeypatch, capsys, "demo", "--rows", 30, "-o", path)
    assert code == 1
    assert "No space left on device" in printed.err
    assert path.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [path]


def test_ctrl_c_is_exit_130_without_traceback(tmp_path, monkeypatch, capsys):
    def interrupt(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(DEMO, "compare", interrupt)
    code, printed = in_process(monkeypatch, capsys, "demo", "-o", tmp_path / "figure.png")
    assert code == 130
    assert "Traceback" not in printed.err + printed.out
    assert not list(tmp_path.iterdir())


def test_unexpected_errors_keep_their_traceback(tmp_path, monkeypatch):
    def crash(*_):
        raise ZeroDivisionError

    monkeypatch.setattr(DEMO, "compare", crash)
    monkeypatch.setattr(sys, "argv", ["elmband", "demo", "-o", str(tmp_path / "figure.png")])
    with pytest.raises(ZeroDivisionError):
        main()


@pytest.mark.slow
def test_version_and_help(tmp_path):
    version = run("--version", folder=tmp_path)
    assert version.stdout == f"elmband {elmband.__version__}\n"
    help_ = run("--help", folder=tmp_path)
    assert help_.returncode == 0
    assert "Example: elmband fit trips.parquet --target delay" in sentence(help_.stdout)
    assert "Usage: elmband [OPTIONS]" in sentence(help_.stdout)


@pytest.mark.slow
def test_help_of_demo_names_every_option(tmp_path):
    words = run("demo", "--help", folder=tmp_path).stdout
    for option in ("--output", "-o", "--rows", "--confidence-level", "--seed"):
        assert option in words
