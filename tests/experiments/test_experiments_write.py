"""Folders, pages and the command."""

import csv
import json
import re
import sys
from dataclasses import replace
from io import StringIO

import numpy as np
import pytest
from rich.console import Console
from typer.testing import CliRunner

from elmband.cli import app
from elmband.display import new_figure
from elmband_experiments.cli.reproduce import _Bar
from elmband_experiments.datasets import catalogue
from elmband_experiments.datasets.sources import Direct
from elmband_experiments.paper import (
    EXPERIMENTS,
    GROUPS,
    Experiment,
    Result,
    Settings,
    chosen,
    reproduce,
)
from elmband_experiments.paper.clock import Clock

ROWS = [
    {"mode": "<b>", "picp": 92.6312, "picp_quartiles": [90.0, 95.0], "rate": float("nan")},
    {"mode": "b", "picp": 1.0, "picp_quartiles": [0.5, 2.0], "rate": None},
]


def names(folder):
    return sorted(path.name for path in folder.iterdir())


def found(_):
    figure = new_figure(2, 2)
    figure.subplots().plot([0, 1])
    return Result({"some": ROWS}, {"some": figure}, ("It is <i>so</i>.",))


def broken(_):
    raise ValueError("this one breaks")


def experiment(run=found, need=None, name="some"):
    return Experiment(name, "figures", f"Title of {name}", "They said.", "Because.", run, need)


def test_every_file_is_written_and_the_page_names_them(tmp_path):
    (done,) = reproduce([experiment()], Settings(seed=7), tmp_path / "new" / "out")
    out = tmp_path / "new" / "out"
    assert names(out) == ["index.html", "results.json", "some.csv", "some.png"]
    assert done.files == ["some.png", "some.csv"]
    assert (out / "some.png").read_bytes().startswith(b"\x89PNG")
    facts = json.loads((out / "results.json").read_text("utf-8"))
    assert facts["seed"] == 7
    assert facts["experiments"][0]["tables"]["some"][0]["rate"] is None
    with (out / "some.csv").open(encoding="utf-8") as file:
        first, second = csv.DictReader(file)
    assert (first["picp_quartiles_low"], first["picp_quartiles_high"]) == ("90.0", "95.0")
    assert (first["rate"], second["rate"]) == ("nan", "")
    page = (out / "index.html").read_text("utf-8")
    assert "&lt;i&gt;so" in page
    assert "<i>so" not in page
    assert "92.63" in page
    for name in re.findall(r'(?:src|href)="([^"#]+)"', page):
        assert (out / name).is_file()


def test_what_lacks_its_data_is_left_out_with_a_sentence(tmp_path):
    experiments = [experiment(), experiment(broken, "data", "real")]
    told = []
    begun = []
    settings = Settings(data=tmp_path / "no")
    reproduce(experiments, settings, tmp_path, begun.append, told.append)
    assert begun == [0, 1]
    assert told[0].skipped is None
    assert "no is not a folder; name the folder with the real data" in told[1].skipped
    assert "--data or ELMBAND_DATA" in (tmp_path / "index.html").read_text("utf-8")
    with pytest.raises(ValueError, match="Nothing can be run: name a folder"):
        reproduce([experiment(broken, "photos")], Settings(), tmp_path / "other")
    assert not (tmp_path / "other").exists()


def test_a_failure_leaves_no_half_page(tmp_path):
    with pytest.raises(ValueError, match="this one breaks"):
        reproduce([experiment(), experiment(broken, name="b")], Settings(), tmp_path)
    assert names(tmp_path) == ["some.csv", "some.png"]


def test_the_paper_has_nine_experiments():
    assert len(EXPERIMENTS) == len({e.name for e in EXPERIMENTS}) == 9
    assert chosen(GROUPS) == list(EXPERIMENTS)
    assert [e.name for e in chosen(["tables"])] == ["table", "uniform"]
    for one in EXPERIMENTS:
        assert one.title
        assert one.published
        assert one.why


def test_the_command_runs_what_needs_no_data(paper):
    facts = paper.said
    assert list(facts["skipped"]) == ["table", "uniform", "skin"]
    run = ["kinds", "truth", "sizes", "constant", "thirty", "runtime"]
    assert [name for name in facts["seconds"] if name not in facts["skipped"]] == run
    assert {f"{name}.png" for name in run} <= set(names(paper.folder))
    assert paper.results["seed"] == 0
    assert paper.results["quick"] is True


@pytest.fixture
def no_data(tmp_path, monkeypatch):
    monkeypatch.delenv("ELMBAND_DATA", raising=False)
    monkeypatch.setenv("ELMBAND_CACHE", str(tmp_path / "no cache"))


@pytest.mark.usefixtures("no_data")
def test_the_command_says_what_is_missing(tmp_path):
    for what, words in (
        ("tables", "--data or ELMBAND_DATA, or let --download"),
        ("skin", "--photo"),
    ):
        said = CliRunner().invoke(app, ["reproduce", what, "-o", str(tmp_path / "out")])
        assert isinstance(said.exception, ValueError)
        assert words in str(said.exception)
    assert not (tmp_path / "out").exists()


@pytest.mark.usefixtures("no_data")
def test_a_folder_that_lacks_a_set_is_told_before_any_work(tmp_path):
    (tmp_path / "plasma").mkdir()
    (tmp_path / "plasma" / "plasma.csv").write_text("age\n1\n", "utf-8")
    said = Settings(data=tmp_path).missing("data")
    assert said.startswith("Not at hand: concrete, powerplant; name the folder")
    for given in ({"args": ["--data", str(tmp_path)]}, {"env": {"ELMBAND_DATA": str(tmp_path)}}):
        arguments = ["reproduce", "tables", "-o", str(tmp_path / "out"), *given.get("args", [])]
        ended = CliRunner().invoke(app, arguments, env=given.get("env"))
        assert said in str(ended.exception)


@pytest.mark.usefixtures("no_data")
def test_a_download_that_fails_is_told(monkeypatch):
    broken = replace(catalogue.CONCRETE, source=Direct("http://127.0.0.1:9/concrete.arff"))
    monkeypatch.setattr("elmband_experiments.paper.base.CONCRETE", broken)
    said = Settings(download=True).missing("data")
    assert said.startswith("http://127.0.0.1:9/concrete.arff could not be downloaded: ")


def test_a_clone_without_pooch_leaves_out_what_needs_data(monkeypatch):
    for name in ("ELMBAND_DATA", "ELMBAND_CACHE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setitem(sys.modules, "pooch", None)
    assert Settings().missing("data").endswith("need pooch: pip install pooch")


def test_run_times_have_a_factor(paper):
    rows = paper.tables["runtime"]
    plain = rows[0]["fit_seconds"] + rows[0]["predict_seconds"]
    for row in rows:
        assert row["factor"] == pytest.approx((row["fit_seconds"] + row["predict_seconds"]) / plain)
    # (2 · 12 + 2 · 25 + 8 + 32) / (12 + 8): what the paper calls about 5.
    assert [row["published_factor"] for row in rows[:2]] == [1.0, 5.7]
    assert np.isfinite([row["factor"] for row in rows]).all()
    assert [row["method"] for row in rows][1::3] == ["published mode", "elmband's defaults"]


def test_time_left_follows_the_pace():
    now = [0.0]
    clock = Clock([10.0, 30.0, 0.0], now=lambda: now[0])
    assert clock.left() == 40.0
    now[0] = 20.0
    clock.reach(0, 0.5)
    # 5 of 40 seconds of work took 20: with the prior of 3 the pace is 23 / 8.
    pace = 23 / 8
    assert clock.left() == pytest.approx(35 * pace)
    assert clock.done == pytest.approx(5 / 40)
    now[0] = 30.0
    assert clock.left() == pytest.approx(35 * pace - 10)
    # The first takes longer than thought: those that have not begun are still to come.
    now[0] = 1000.0
    assert clock.left() == pytest.approx(30 * pace)
    clock.reach(2, 1.0)
    assert (clock.left(), clock.done) == (0.0, 1.0)


def test_nothing_to_do_is_done_at_once():
    clock = Clock([0.0])
    clock.reach(0, 0.0)
    assert (clock.left(), clock.done) == (0.0, 1.0)


def test_a_terminal_sees_the_time_left():
    told = StringIO()
    console = Console(file=told, force_terminal=True, width=160, force_interactive=True)
    settings = Settings(quick=True, photos=None)
    experiments = chosen(["figures", "skin"])
    with _Bar(console, experiments, settings) as bar:
        bar.begin(3)
        bar.part("some [part]", 0.5)
        bar._progress.refresh()
    text = told.getvalue()
    assert "4 of 6, Noise that is the same everywhere: some [part]" in text
    assert "left" in text or "nearly done" in text


def test_every_experiment_says_how_long_it_takes():
    for one in EXPERIMENTS:
        if one.name != "truth":
            assert one.seconds(Settings(quick=True)) > 0
        assert one.seconds(Settings()) >= one.seconds(Settings(quick=True))
