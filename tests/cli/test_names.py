"""Names of files and columns that could be taken for something else."""

import json

import numpy as np
import pandas as pd
import pytest
from forked import run
from running import is_one_sentence

pytestmark = pytest.mark.slow

pytest.importorskip("pyarrow")


@pytest.fixture(scope="module")
def where(tmp_path_factory):
    """A table with a flag, a class that is a flag, and a model of it."""
    folder = tmp_path_factory.mktemp("names")
    rng = np.random.default_rng(0)
    table = pd.DataFrame({"x": rng.normal(size=120), "flag": rng.random(120) < 0.5})
    table["y"] = table["x"] + table["flag"] + rng.normal(size=120)
    table["sick"] = table["x"] > 0
    table.to_csv(folder / "t.csv", index=False)
    run("fit", "t.csv", "-t", "y", "--neurons", 10, "--exclude", "sick", "-o", "m.st", cwd=folder)
    return folder


def test_flags_of_a_csv_file_are_predicted_as_they_were_learned(where, tmp_path):
    run("predict", "m.st", "t.csv", "-o", tmp_path / "p.csv", cwd=where)
    assert len(pd.read_csv(tmp_path / "p.csv")) == 120


@pytest.mark.parametrize("name", ["True", "true", "FALSE"])
def test_the_positive_class_of_flags(where, tmp_path, name):
    out = tmp_path / "m.st"
    run("fit", "t.csv", "-t", "sick", "--neurons", 5, "--positive", name, "-o", out, cwd=where)


def test_a_file_whose_name_looks_like_a_pattern(where, tmp_path):
    table = pd.read_csv(where / "t.csv")
    table.to_csv(tmp_path / "data [1].csv", index=False)
    table[:1].to_csv(tmp_path / "data 1.csv", index=False)
    command = ("predict", where / "m.st", "data [1].csv", "-o", "p.csv", "--json")
    assert json.loads(run(*command, cwd=tmp_path)[0])["rows"] == 120


def test_columns_whose_names_are_numbers(tmp_path):
    rng = np.random.default_rng(0)
    table = pd.DataFrame({"2": rng.normal(size=50), "0": rng.normal(size=50)})
    table["g"] = rng.normal(size=50)
    table["2024"] = 3 * table["2"] + rng.normal(size=50)
    table.to_csv(tmp_path / "t.csv", index=False)
    for name, others in (("2024", 3), ("0", 3)):
        command = ("fit", "t.csv", "-t", name, "--neurons", 5, "-o", f"{name}.st", "--json")
        assert json.loads(run(*command, cwd=tmp_path)[0])["features"] == others
    told = run("info", "0.st", cwd=tmp_path)[0]
    assert "2024" in told
    run("fit", "t.csv", "-t", "1", "--exclude", "2", "--neurons", 5, "-o", "1.st", cwd=tmp_path)


def test_files_of_a_table_must_have_the_columns_of_the_model(where, tmp_path):
    table = pd.read_csv(where / "t.csv")
    (tmp_path / "parts").mkdir()
    table.to_csv(tmp_path / "parts" / "1.csv", index=False)
    table.drop(columns="x").to_csv(tmp_path / "parts" / "2.csv", index=False)
    command = ("predict", where / "m.st", "parts", "-o", "p.csv")
    _, complained = run(*command, cwd=tmp_path, code=1)
    assert is_one_sentence(complained)
    assert "2.csv has no column 'x', which the model was trained on" in complained
    table.assign(more=1).to_csv(tmp_path / "parts" / "2.csv", index=False)
    run(*command, cwd=tmp_path)
    _, complained = run(*command, "--keep-all", cwd=tmp_path, code=1)
    assert "'more' is in one of them only" in complained


def test_a_renamed_column_is_asked_for_by_its_new_name(where, tmp_path):
    renamed = pd.read_csv(where / "t.csv").rename(columns={"x": "x_"})
    renamed.to_csv(tmp_path / "t.csv", index=False)
    _, complained = run("predict", where / "m.st", "t.csv", "-o", "p.csv", cwd=tmp_path, code=1)
    assert "'x', which the model was trained on; did you mean 'x_'?" in complained


def test_two_names_of_one_file_are_one_file(where, tmp_path):
    outputs = ("-o", "./a.csv", "--review", "a.csv")
    command = ("triage", where / "m.st", where / "t.csv", *outputs, "--max-width", 4)
    assert "cannot both go to" in run(*command, cwd=tmp_path, code=2)[1]
    held = ("--calibrate", "../" + where.name + "/t.csv")
    _, complained = run("fit", "t.csv", "-t", "y", *held, "-o", "c.st", cwd=where, code=1)
    assert "is what the model is trained on" in complained
