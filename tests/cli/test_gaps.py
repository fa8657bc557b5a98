"""Values that training has not seen: they are told of, and left to people."""

import numpy as np
import pandas as pd
import pytest
from forked import run

pytestmark = pytest.mark.slow

pytest.importorskip("pyarrow")


@pytest.fixture(scope="module")
def where(tmp_path_factory):
    """A model of a number and a level, none of which was ever missing."""
    folder = tmp_path_factory.mktemp("gaps")
    rng = np.random.default_rng(0)
    table = pd.DataFrame({"x": rng.normal(size=300), "code": rng.choice(["1", "2", "A"], 300)})
    table["y"] = 3 * table["x"] + 0.3 * rng.normal(size=300)
    table[:200].to_csv(folder / "train.csv", index=False)
    table[200:].to_csv(folder / "test.csv", index=False)
    run("fit", "train.csv", "-t", "y", "--neurons", 20, "-o", "m.st", cwd=folder)
    return folder


def test_gaps_where_training_had_none_are_for_people(where, tmp_path):
    table = pd.read_csv(where / "test.csv")
    table.loc[::2, "x"] = np.nan
    table.to_csv(tmp_path / "t.csv", index=False)
    command = ("triage", where / "m.st", "t.csv", "-o", "a.csv", "--review", "b.csv")
    _, complained = run(*command, "--max-width", 100, cwd=tmp_path)
    assert complained.startswith("Note: Column 'x' has missing values, and had none in training")
    assert complained.count("\n") == 1
    accepted, review = (pd.read_csv(tmp_path / name) for name in ("a.csv", "b.csv"))
    assert accepted["x"].notna().all()
    assert review["x"].isna().all()
    assert set(review["reason"]) == {"unlike training rows"}
    assert len(accepted) == len(review) == 50


def test_levels_that_training_has_not_seen_are_for_people(where, tmp_path):
    table = pd.read_csv(where / "test.csv")
    table.loc[:9, "code"] = "B"
    table.to_csv(tmp_path / "t.csv", index=False)
    command = ("triage", where / "m.st", "t.csv", "-o", "a.csv", "--review", "b.csv")
    run(*command, "--max-width", 100, cwd=tmp_path)
    assert set(pd.read_csv(tmp_path / "b.csv")["code"]) == {"B"}
    assert len(pd.read_csv(tmp_path / "b.csv")) == 10


def test_levels_that_look_like_numbers_stay_levels(where, tmp_path):
    table = pd.read_csv(where / "test.csv")
    table[table["code"] != "A"].to_csv(tmp_path / "t.csv", index=False)
    for command in ("evaluate", "predict"):
        more = ("-t", "y") if command == "evaluate" else ("-o", "p.csv")
        run(command, where / "m.st", "t.csv", *more, cwd=tmp_path)


def test_a_note_is_said_once_however_often_rows_are_read(where, tmp_path):
    pytest.importorskip("vl_convert")
    table = pd.read_csv(where / "test.csv")
    table.loc[::2, "x"] = np.nan
    table.to_csv(tmp_path / "t.csv", index=False)
    _, complained = run("report", where / "m.st", "t.csv", "--by", "code", cwd=tmp_path)
    assert complained.count("has missing values, and had none in training") == 1
