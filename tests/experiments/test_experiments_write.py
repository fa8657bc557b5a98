"""Folders, pages and the command."""

import csv
import json
import re

import numpy as np
import pytest
from typer.testing import CliRunner

from elmband.cli import app
from elmband.display import new_figure
from elmband.experiments import EXPERIMENTS, GROUPS, Experiment, Result, Settings, chosen, reproduce

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
    reproduce(experiments, Settings(data=tmp_path / "no"), tmp_path, on_done=told.append)
    assert told[0].skipped is None
    assert "no is not a folder; let ELMBAND_DATA name" in told[1].skipped
    assert "let ELMBAND_DATA name" in (tmp_path / "index.html").read_text("utf-8")
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


def test_the_command_draws_figures_without_any_data(tmp_path):
    out = tmp_path / "paper"
    arguments = ["reproduce", "figures", "--quick", "-o", str(out), "--seed", "3", "--json"]
    said = CliRunner().invoke(app, arguments, catch_exceptions=False)
    assert said.exit_code == 0
    facts = json.loads(said.stdout)
    assert facts["skipped"] == {}
    assert list(facts["seconds"]) == ["kinds", "truth", "sizes", "constant", "thirty"]
    assert {f"{name}.png" for name in facts["seconds"]} <= set(names(out))
    assert json.loads((out / "results.json").read_text("utf-8"))["seed"] == 3


def test_the_command_says_what_is_missing(tmp_path, monkeypatch):
    monkeypatch.delenv("ELMBAND_DATA", raising=False)
    for what, words in (("tables", "ELMBAND_DATA"), ("skin", "--photos")):
        said = CliRunner().invoke(app, ["reproduce", what, "-o", str(tmp_path / "out")])
        assert isinstance(said.exception, ValueError)
        assert words in str(said.exception)
    assert not (tmp_path / "out").exists()


def test_run_times_have_a_factor(tmp_path):
    (done,) = reproduce(chosen(["runtime"]), Settings(quick=True), tmp_path)
    rows = done.result.tables["runtime"]
    plain = rows[0]["fit_seconds"] + rows[0]["predict_seconds"]
    for row in rows:
        assert row["factor"] == pytest.approx((row["fit_seconds"] + row["predict_seconds"]) / plain)
    # (2 · 12 + 2 · 25 + 8 + 32) / (12 + 8): what the paper calls about 5.
    assert [row["published_factor"] for row in rows[:2]] == [1.0, 5.7]
    assert np.isfinite([row["factor"] for row in rows]).all()
