"""The model remembers its target, its columns and its promises."""

import json

import numpy as np
import pandas as pd
import pytest

from elmband import ELMClassifier, ELMIntervalRegressor, ELMRegressor
from elmband.cli import app

pytest.importorskip("pyarrow")


@pytest.fixture
def here(tmp_path, monkeypatch):
    rng = np.random.default_rng(0)
    table = pd.DataFrame({"x": rng.normal(size=120), "town": np.tile(["Rome", "Oslo"], 60)})
    table["patient"], table["often"] = np.arange(120) // 6, 1.0 + np.arange(120) % 3
    table["y"] = table["x"] + 0.1 * rng.normal(size=120)
    table["kind"] = np.where(table["x"] > 0, "up", "down")
    table.to_csv(tmp_path / "t.csv", index=False)
    table.rename(columns={"y": "z", "kind": "sort"}).to_csv(tmp_path / "renamed.csv", index=False)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def command(*parts):
    app([str(part) for part in parts], standalone_mode=False)


def facts(capsys, *parts):
    capsys.readouterr()
    command(*parts, "--json")
    return json.loads(capsys.readouterr().out)


def fitted(target, *others):
    command("fit", "t.csv", "-t", target, "--feature", "x", "--neurons", "5", "-o", "m.st", *others)


@pytest.mark.slow
@pytest.mark.parametrize(("target", "other"), [("y", "z"), ("kind", "sort")])
@pytest.mark.usefixtures("here")
def test_no_target_need_be_named(target, other, capsys):
    fitted(target)
    for asked in (("evaluate", "m.st"), ("report", "m.st")):
        once = facts(capsys, *asked, "t.csv")
        again = facts(capsys, *asked, "t.csv", "-t", target)
        assert once | {"seconds": 0, "bytes": 0} == again | {"seconds": 0, "bytes": 0}
        with pytest.raises(ValueError, match=rf"renamed.csv has no column '{target}', which the"):
            command(*asked, "renamed.csv")
        told = facts(capsys, *asked, "renamed.csv", "--target", other)
        assert told.get("rows", told.get("n")) == 120


@pytest.mark.parametrize("asked", ["evaluate", "report"])
@pytest.mark.usefixtures("here")
def test_models_that_do_not_know_their_target_ask_for_it(asked, capsys):
    table = pd.read_csv("t.csv")
    ELMIntervalRegressor(5).fit(table[["x"]], table["y"].to_numpy()).save("m.st")
    with pytest.raises(ValueError, match=r"does not know the name of its target.*with --target"):
        command(asked, "m.st", "t.csv")
    table[["x", "y"]].to_csv("xy.csv", index=False)
    told = facts(capsys, asked, "m.st", "xy.csv", "--target", "y")
    assert told.get("rows", told.get("n")) == 120


@pytest.mark.parametrize("kind", [ELMRegressor, ELMClassifier])
@pytest.mark.usefixtures("here")
def test_models_without_intervals_are_not_evaluated(kind):
    """Before, there was a traceback of a missing attribute."""
    table = pd.read_csv("t.csv")
    kind(5).fit(table[["x"]], table["kind" if kind is ELMClassifier else "y"]).save("m.st")
    with pytest.raises(ValueError, match=f"this is an {kind.__name__}"):
        command("evaluate", "m.st", "t.csv")


@pytest.mark.usefixtures("here")
def test_levels_are_for_numbers():
    fitted("kind")
    with pytest.raises(ValueError, match="--level is for intervals of numbers"):
        command("evaluate", "m.st", "t.csv", "--level", "0.9")


@pytest.mark.usefixtures("here")
def test_info_tells_columns_and_roles(capsys):
    fitted("y", "--groups", "patient", "--weight", "often")
    told = facts(capsys, "info", "m.st")
    assert (told["target"], told["weight"], told["groups_column"]) == ("y", "often", "patient")
    assert (told["groups"], told["columns"]) == (20, {"x": "numbers"})
    command("info", "m.st")
    lines = dict(line.split(None, 1) for line in capsys.readouterr().out.splitlines() if line)
    assert (lines["target"], lines["weights"]) == ("y", "often")
    assert lines["groups"].startswith("20 of patient, each left out as a whole")


@pytest.mark.usefixtures("here")
def test_info_tells_estimates_from_guarantees(capsys):
    fitted("y")
    assert facts(capsys, "info", "m.st")["promise"]["kind"] == "estimate"
    command("info", "m.st")
    assert "intervals   an estimate, from training rows left out" in capsys.readouterr().out
    fitted("y", "--published")
    assert facts(capsys, "info", "m.st")["promise"] == {
        "kind": "estimate",
        "from": "normal distribution",
    }
    pd.read_csv("t.csv").head(30).to_csv("held.csv", index=False)
    fitted("y", "--calibrate", "held.csv", "--symmetric", "yes")
    promise = facts(capsys, "info", "m.st")["promise"]
    assert promise == {
        "kind": "guarantee",
        "from": "rows held out",
        "rows": 30,
        "highest_level": 30 / 31,
    }
    command("info", "m.st")
    said = capsys.readouterr().out
    assert "guaranteed by 30 rows held out: intervals cover at least their level" in said
    assert "up to 96.7 %" in said


@pytest.mark.usefixtures("here")
def test_info_tells_what_classes_promise(capsys):
    fitted("kind")
    assert "promise" not in facts(capsys, "info", "m.st")
    fitted("kind", "--max-error", "0.1")
    promise = facts(capsys, "info", "m.st")["promise"]
    assert promise["kind"] == "estimate"
    assert promise["statement"].startswith("Estimated, not promised")
    pd.read_csv("t.csv").to_csv("held.csv", index=False)
    fitted("kind", "--max-error", "0.1", "--calibrate", "held.csv")
    promise = facts(capsys, "info", "m.st")["promise"]
    assert promise["kind"] == "guarantee"
    assert promise["statement"].startswith("Promised with 95 %")
