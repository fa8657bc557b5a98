"""Notes of ``elmband predict`` on rows unlike those of the training."""

import json

import numpy as np
import pandas as pd
import pytest
from forked import run

pytest.importorskip("pyarrow")

pytestmark = pytest.mark.slow


@pytest.fixture
def patients(folder):
    return pd.read_csv(folder / "patients.csv")


def test_rows_as_in_training_are_predicted_without_a_note(folder, tmp_path):
    command = (
        "predict",
        "patients.safetensors",
        "patients.csv",
        "-o",
        tmp_path / "p.csv",
        "--json",
    )
    said, complained = run(*command, cwd=folder)
    assert complained == ""
    assert (json.loads(said)["beyond"], json.loads(said)["unseen"]) == ({}, {})


def test_rows_beyond_the_training_rows_and_new_levels_are_counted(folder, tmp_path, patients):
    odd = patients[:60].copy()
    odd.loc[:19, "age"] = 7.0
    odd.loc[10:24, "bp"] = -9.0
    odd.to_csv(tmp_path / "odd rows é.csv", index=False)
    out = ("-o", tmp_path / "p.csv", "--json")
    command = ("predict", folder / "patients.safetensors", "odd rows é.csv", *out)
    said, complained = run(*command, cwd=tmp_path)
    assert complained == (
        "Note: 25 of 60 rows lie beyond the training rows, in age (20), bp (15): intervals say "
        "little there.\n"
    )
    assert json.loads(said)["beyond"] == {"age": 20, "bp": 15}


def test_the_total_counts_what_the_list_names(tmp_path):
    """Before, rows with gaps in numbers, which have a note of their own, were in the total."""
    table = pd.DataFrame({"x": range(30), "c": ["a", "b"] * 15, "y": range(30)})
    table.to_csv(tmp_path / "t.csv", index=False)
    run("fit", "t.csv", "-t", "y", "--neurons", 5, "-o", "m.st", cwd=tmp_path)
    pd.DataFrame({"x": [1, None, None], "c": ["d", "a", "e"]}).to_csv(tmp_path / "new.csv")
    complained = run("predict", "m.st", "new.csv", "-o", "-", cwd=tmp_path)[1]
    assert (
        "Note: 2 of 3 rows have values that the training rows had none of, in c (2)" in complained
    )


def test_levels_that_training_did_not_see_are_counted(tmp_path, patients):
    full = patients.dropna(subset=["town"])
    full.to_csv(tmp_path / "full.csv", index=False)
    run("fit", "full.csv", "-t", "progress", "--neurons", 5, "-o", "m.st", cwd=tmp_path)
    odd = full[:50].copy()
    odd.loc[odd.index[:7], "town"] = "Åbo"
    odd.to_csv(tmp_path / "odd.csv", index=False)
    said, complained = run("predict", "m.st", "odd.csv", "-o", "-", cwd=tmp_path)
    assert len(said.splitlines()) == 51
    first, second = complained.splitlines()
    assert "Note: 7 of 50 rows have values that the training rows had none of, in town (7)" in first
    assert "50 rows predicted" in second
    run("predict", "m.st", "odd.csv", "-o", "p.parquet", "--workers", 1, cwd=tmp_path)
    assert pd.read_parquet(tmp_path / "p.parquet").shape[0] == 50


@pytest.fixture(scope="module")
def shops(tmp_path_factory):
    """Eight shops that differ by ten times the noise, a model of their sales, and a new shop."""
    folder, rng = tmp_path_factory.mktemp("shops"), np.random.default_rng(0)
    table = pd.DataFrame({"x": rng.normal(size=400), "shop": np.arange(400) % 8})
    sales = table["x"] + 5 * np.array([0, 3, 1, 6, 2, 7, 4, 5])[table["shop"]]
    table = table.assign(shop="shop " + table["shop"].astype(str))
    table.assign(y=sales + rng.normal(size=400)).to_csv(folder / "t.csv", index=False)
    table[:8].assign(shop=["new", *table["shop"][1:8]]).to_csv(folder / "new.csv", index=False)
    run("fit", "t.csv", "-t", "y", "--neurons", 20, "-o", "m.st", cwd=folder)
    run("fit", "t.csv", "-t", "y", "--published", "-o", "p.st", cwd=folder)
    return folder


def test_intervals_of_a_new_level_are_as_wide_as_levels_differ(shops):
    complained = run("predict", "m.st", "new.csv", "-o", "p.csv", cwd=shops)[1]
    assert "in shop (1): intervals allow for as much as the known levels differ." in complained
    widths = pd.read_csv(shops / "p.csv").filter(regex="lower|upper").diff(axis=1).iloc[:, -1].abs()
    assert widths[0] > 5 * widths[1:].max()


def test_a_new_level_is_for_people(shops):
    options = ("--max-width", 20, "-o", "yes.csv", "--review", "no.csv")
    run("triage", "m.st", "new.csv", *options, cwd=shops)
    assert pd.read_csv(shops / "no.csv")["shop"].tolist() == ["new"]
    assert len(pd.read_csv(shops / "yes.csv")) == 7


def test_the_published_model_says_that_its_intervals_are_too_narrow(shops):
    complained = run("predict", "p.st", "new.csv", "-o", "q.csv", cwd=shops)[1]
    assert "in shop (1): means stand for them, so that intervals are too narrow." in complained
