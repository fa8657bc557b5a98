"""Rows without a target: refused by the name of the option that leaves them out, and counted."""

import json

import numpy as np
import pandas as pd
import pytest

from elmband import load
from elmband.cli import app

pytest.importorskip("pyarrow")

FIT = ("fit", "gaps.csv", "--neurons", "5", "--feature", "x", "-o", "m.st")
DROP = "--drop-missing-targets"


@pytest.fixture
def here(tmp_path, monkeypatch):
    rng = np.random.default_rng(0)
    table = pd.DataFrame({"x": rng.normal(size=90), "patient": np.arange(90) // 6})
    table["often"] = 1.0 + np.arange(90) % 3
    table["y"] = table["x"] + 0.1 * rng.normal(size=90)
    table["kind"] = np.where(table["x"] > 0, "up", "down")
    table.loc[::9, ["y", "kind"]] = None
    table.loc[::9, "patient"] = None
    table.to_csv(tmp_path / "gaps.csv", index=False)
    table.dropna().to_csv(tmp_path / "whole.csv", index=False)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def command(*parts):
    app([str(part) for part in parts], standalone_mode=False)


def facts(capsys, *parts):
    command(*parts, "--json")
    return json.loads(capsys.readouterr().out)


@pytest.mark.parametrize("target", ["y", "kind"])
@pytest.mark.usefixtures("here")
def test_the_refusal_names_the_option(target):
    with pytest.raises(ValueError, match="10 missing values; fill them in, or leave out") as error:
        command(*FIT, "-t", target)
    assert str(error.value).endswith(f"leave out these rows with {DROP}.")
    command(*FIT, "-t", target, DROP)
    for asked in (("evaluate",), ("report",)):
        with pytest.raises(ValueError, match=f"these rows with {DROP}"):
            command(*asked, "m.st", "gaps.csv")


@pytest.mark.parametrize("others", [(), ("--weight", "often"), ("--groups", "patient")])
@pytest.mark.parametrize("target", ["y", "kind"])
def test_a_fit_is_that_of_the_other_rows(here, target, others, capsys):
    told = facts(capsys, *FIT, "-t", target, DROP, *others)
    assert (told["rows"], told["dropped_rows"]) == (80, 10)
    command("fit", "whole.csv", *FIT[2:-1], "other.st", "-t", target, *others)
    one, other = (load(here / name) for name in ("m.st", "other.st"))
    X = pd.read_csv("whole.csv")[["x"]]
    ask = "predict_proba" if target == "kind" else "predict_interval"
    np.testing.assert_allclose(getattr(one, ask)(X), getattr(other, ask)(X), rtol=1e-6)


@pytest.mark.parametrize("target", ["y", "kind"])
@pytest.mark.usefixtures("here")
def test_people_and_programs_are_told_how_many(target, capsys):
    command(*FIT, "-t", target, DROP)
    said = capsys.readouterr().out
    assert said.startswith("80 rows, 1 feature: ")
    assert "10 rows without a target left out." in said
    command("evaluate", "m.st", "gaps.csv", DROP)
    assert "10 rows without a target left out." in capsys.readouterr().out
    told = facts(capsys, "evaluate", "m.st", "gaps.csv", DROP)
    assert (told["n"], told["dropped_rows"]) == (80, 10)
    assert facts(capsys, "evaluate", "m.st", "whole.csv", DROP)["dropped_rows"] == 0
    told = facts(capsys, "report", "m.st", "gaps.csv", DROP)
    assert (told["rows"], told["dropped_rows"]) == (80, 10)


@pytest.mark.usefixtures("here")
def test_rows_held_out_may_lack_targets_as_well(capsys):
    told = facts(capsys, *FIT[:1], "whole.csv", *FIT[2:], "-t", "y", DROP,
                 "--calibrate", "gaps.csv", "--groups", "patient")  # fmt: skip
    assert told["dropped_rows"] == 0
    held_out = told["calibration"]
    assert (held_out["rows"], held_out["dropped_rows"], held_out["groups"]) == (80, 10, 15)
    command(*FIT[:1], "whole.csv", *FIT[2:], "-t", "y", DROP, "--calibrate", "gaps.csv")
    said = capsys.readouterr().out
    assert "Of the rows held out, 10 rows without a target left out." in said


@pytest.mark.slow
@pytest.mark.usefixtures("here")
def test_workers_count_them_too(capsys):
    pytest.importorskip("distributed")
    pd.read_csv("gaps.csv").to_parquet("gaps.parquet")
    with pytest.raises(ValueError, match=f"leave out these rows with {DROP}"):
        command("fit", "gaps.parquet", *FIT[2:], "-t", "y", "--workers", "1")
    told = facts(capsys, "fit", "gaps.parquet", *FIT[2:], "-t", "y", DROP, "--workers", "1")
    assert (told["rows"], told["dropped_rows"]) == (80, 10)
    told = facts(capsys, "evaluate", "m.st", "gaps.parquet", DROP, "--workers", "1")
    assert (told["n"], told["dropped_rows"]) == (80, 10)
