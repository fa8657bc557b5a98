"""What ``fit --calibrate`` made of rows held out, in words and for programs."""

import json
import math

import numpy as np
import pandas as pd
import pytest
from forked import run

from elmband import load
from elmband.cli import app

pytest.importorskip("pyarrow")


@pytest.fixture
def here(tmp_path, monkeypatch):
    rng = np.random.default_rng(0)
    table = pd.DataFrame({"x": rng.normal(size=300), "patient": np.arange(300) // 6})
    table["often"] = 1.0 + np.arange(300) % 3
    table["y"] = table["x"] + 0.1 * rng.normal(size=300)
    table["kind"] = np.where(table["x"] + 0.1 * rng.normal(size=300) > 0, "up", "down")
    table.iloc[:150].to_csv(tmp_path / "t.csv", index=False)
    for n in (8, 18, 19, 60, 150):
        table.iloc[150 : 150 + n].to_csv(tmp_path / f"held{n}.csv", index=False)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def command(*parts):
    app([str(part) for part in parts], standalone_mode=False)


def both(capsys, *parts):
    """Return words and facts of a fit."""
    fit = ("fit", "t.csv", "--feature", "x", "--neurons", "5", "-o", "m.st", *parts)
    capsys.readouterr()
    command(*fit)
    said = capsys.readouterr().out
    command(*fit, "--json")
    return said, json.loads(capsys.readouterr().out)


@pytest.mark.parametrize("n", [8, 18, 19, 60])
@pytest.mark.usefixtures("here")
def test_levels_are_finite_where_there_are_rows_for_them(n, capsys):
    said, told = both(capsys, "-t", "y", "--symmetric", "yes", "--calibrate", f"held{n}.csv")
    found = told["calibration"]
    assert (found["data"], found["rows"]) == (f"held{n}.csv", n)
    assert found["highest_level"] == pytest.approx(n / (n + 1))
    for level in found["levels"]:
        assert level["finite"] == (math.ceil((n + 1) * level["confidence_level"] - 1e-9) <= n)
        assert (level["width_factor"] is None) == (not level["finite"])
    assert f"Calibrated on {n} rows of held{n}.csv: intervals of up to" in said
    assert ("those of 95 % are infinite, 19 rows are the least for them" in said) == (n == 18)
    assert ("those of 90 % are infinite, 9 rows are the least for them" in said) == (n == 8)


@pytest.mark.usefixtures("here")
def test_tails_of_their_own_need_more_rows(capsys):
    said, told = both(capsys, "-t", "y", "--symmetric", "no", "--calibrate", "held19.csv")
    assert told["calibration"]["highest_level"] == pytest.approx(18 / 20)
    assert [level["finite"] for level in told["calibration"]["levels"]] == [True, True, False]
    assert "those of 95 % are infinite, 39 rows are the least for them" in said


@pytest.mark.usefixtures("here")
def test_widths_change_as_they_say(here, capsys):
    _, told = both(capsys, "-t", "y", "--symmetric", "yes", "--calibrate", "held60.csv")
    after = load(here / "m.st")
    both(capsys, "-t", "y", "--symmetric", "yes")
    before = load(here / "m.st")
    X = pd.read_csv("t.csv")[["x"]]
    for level in told["calibration"]["levels"]:
        new, old = (np.ptp(m.predict_interval(X, level["confidence_level"]), axis=1) for m in
                    (after, before))  # fmt: skip
        np.testing.assert_allclose(new / old, level["width_factor"], rtol=1e-6)


@pytest.mark.slow
def test_groups_count_once(here, capsys):
    said, told = both(capsys, "-t", "y", "--symmetric", "yes", "--calibrate", "held60.csv",
                      "--groups", "patient")  # fmt: skip
    assert (told["calibration"]["rows"], told["calibration"]["groups"]) == (60, 10)
    assert told["calibration"]["highest_level"] == pytest.approx(10 / 11)
    assert "Calibrated on 10 groups (60 rows) of held60.csv" not in said
    assert "Calibrated on 10 groups (60 rows of held60.csv): intervals of up to 90.9 %" in said
    assert "on average over a row of a new group" in said
    assert load(here / "m.st").calibration_.unit == "groups"


@pytest.mark.usefixtures("here")
def test_rows_held_out_have_weights_too(here, capsys):
    """Before, weights were for training rows only: the guarantee was for other rows."""
    _, told = both(capsys, "-t", "y", "--symmetric", "yes", "--weight", "often",
                   "--calibrate", "held60.csv")  # fmt: skip
    s = pd.read_csv("held60.csv")["often"]
    n = s.sum() ** 2 / (s**2).sum()
    assert load(here / "m.st").calibration_.outputs[0].both.n == pytest.approx(n)
    assert told["calibration"]["highest_level"] == pytest.approx(n / (n + 1))
    pd.read_csv("held60.csv").drop(columns="often").to_csv("bare.csv", index=False)
    with pytest.raises(ValueError, match=r"bare.csv has no column 'often'"):
        both(capsys, "-t", "y", "--weight", "often", "--calibrate", "bare.csv")


@pytest.mark.usefixtures("here")
def test_classes_are_told_what_rows_held_out_are_for(capsys):
    said, told = both(capsys, "-t", "kind", "--calibrate", "held150.csv")
    assert "Calibrated on 150 rows of held150.csv, kept in the model: what triage" in said
    assert told["calibration"] == {"data": "held150.csv", "rows": 150}
    said, told = both(capsys, "-t", "kind", "--max-error", "0.1", "--calibrate", "held150.csv")
    assert "Calibrated on 150 rows of held150.csv." in said
    assert "Promised with 95 % confidence" in said
    said, told = both(capsys, "-t", "kind", "--coverage", "0.5", "--calibrate", "held150.csv",
                      "--groups", "patient")  # fmt: skip
    assert "Calibrated on 25 groups (150 rows of held150.csv)." in said


def test_a_note_that_two_questions_meet_is_told_once(here):
    """Before, triage said it of the intervals that it wrote and of those that it judged by."""
    fit = ("fit", "t.csv", "-t", "y", "--feature", "x", "--neurons", "5", "-o", "m.st")
    run(*fit, "--symmetric", "yes", "--calibrate", "held8.csv", cwd=here)
    outputs = ("-o", "a.csv", "--review", "b.csv", "--max-width", 1)
    _, told = run("triage", "m.st", "t.csv", *outputs, cwd=here)
    assert told.count("calibration rows are too few for a guarantee") == 1
