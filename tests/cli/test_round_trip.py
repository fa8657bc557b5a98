"""A model that the command has fitted answers tables in Python, and the other way round."""

import json

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.csv
import pytest
from forked import run

import elmband


def read(path):
    """Read a file as the command does: pandas itself may round the last digit of a number."""
    return pa.csv.read_csv(path, convert_options=pa.csv.ConvertOptions(strings_can_be_null=True))


READERS = {
    "arrow": read,
    "pandas": lambda path: read(path).to_pandas(),
    "polars": lambda path: pl.read_csv(path, try_parse_dates=True),
}


@pytest.mark.parametrize("library", list(READERS))
def test_python_answers_a_table_as_the_command_does_to_the_last_bit(folder, tmp_path, library):
    path = folder / "patients.csv"
    run(
        "predict",
        folder / "patients.safetensors",
        path,
        "-o",
        "p.parquet",
        "--level",
        "0.9",
        cwd=tmp_path,
    )
    expected = pd.read_parquet(tmp_path / "p.parquet")
    model = elmband.load(folder / "patients.safetensors")
    table = READERS[library](path)
    mean, interval = model.predict(table, confidence_level=0.9)
    np.testing.assert_array_equal(mean, expected["mean"])
    np.testing.assert_array_equal(interval, expected[["lower_0.9", "upper_0.9"]])
    assert model.evaluate(table, table["progress"]).r2 > 0.2


def test_classes_and_what_is_accepted_are_the_same(folder, tmp_path):
    path = folder / "iris.csv"
    run("predict", folder / "iris.safetensors", path, "-o", "p.parquet", cwd=tmp_path)
    expected = pd.read_parquet(tmp_path / "p.parquet")
    model = elmband.load(folder / "iris.safetensors")
    table = read(path).to_pandas()
    assert model.predict(table).tolist() == expected["label"].tolist()
    names = [f"probability_{label}" for label in model.classes_]
    np.testing.assert_array_equal(model.predict_proba(table), expected[names])
    np.testing.assert_array_equal(model.confidence(table), expected["confidence"])
    assert model.score(table, table["species"]) > 0.9


def test_the_note_of_the_command_is_the_warning_of_python(folder, tmp_path):
    table = pd.read_csv(folder / "patients.csv", parse_dates=["day"]).drop(columns="progress")
    table.loc[0, "town"] = "Bergen"
    table.loc[1, "bp"] = 100.0
    table.to_csv(tmp_path / "new.csv", index=False)
    model = folder / "patients.safetensors"
    _, told = run("predict", model, "new.csv", "-o", "p.csv", cwd=tmp_path)
    with pytest.warns(UserWarning, match="Bergen|town") as caught:
        elmband.load(model).predict(table)
    assert told.replace("Note: ", "").split("\n")[:2] == [
        sentence + "." for sentence in str(caught[0].message).removesuffix(".").split(". ")
    ]


@pytest.mark.slow
def test_the_command_takes_a_model_that_was_fitted_to_a_table(folder, tmp_path):
    table = read(folder / "patients.csv").to_pandas()
    X = table.drop(columns="progress")
    model = elmband.ELMIntervalRegressor(30, random_state=0).fit(X, table["progress"])
    path = model.save(tmp_path / "m.safetensors")
    run("predict", path, folder / "patients.csv", "-o", "p.parquet", cwd=tmp_path)
    found = pd.read_parquet(tmp_path / "p.parquet")
    np.testing.assert_array_equal(found["mean"], model.predict(X))
    said, _ = run("info", path)
    assert "6 columns to" in said
    run(
        "report",
        path,
        folder / "patients.csv",
        "--target",
        "progress",
        "-o",
        "r.html",
        cwd=tmp_path,
    )
    assert "town" in (tmp_path / "r.html").read_text("utf-8")


def test_an_encoder_is_no_model(folder, tmp_path):
    elmband.load(folder / "iris.safetensors").encoder_.save(tmp_path / "e.safetensors")
    for command in (("info",), ("predict", folder / "iris.csv", "-o", "p.csv")):
        _, complained = run(command[0], "e.safetensors", *command[1:], cwd=tmp_path, code=1)
        assert complained.startswith("Error: e.safetensors holds an encoder of tables and no model")


def test_the_command_judges_models_of_tables_by_the_columns_that_they_know(folder, tmp_path):
    table = read(folder / "iris.csv").to_pandas()
    known = [name for name in table if name.startswith("petal")][:2]
    y = table["species"]
    for k, X in enumerate([table[known], table[known].assign(text=np.resize(["a", "b"], len(y)))]):
        model = elmband.ELMSelectiveClassifier(10, coverage=0.6, random_state=0).fit(X, y)
        path = model.save(tmp_path / f"{k}.safetensors")
        table.assign(text="a").to_csv(tmp_path / "more.csv", index=False)
        told, _ = run("evaluate", path, "more.csv", "--json", cwd=tmp_path)
        assert json.loads(told)["n"] == len(table)
