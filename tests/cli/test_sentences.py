"""Tables and names that cannot be used, told of in one sentence that says what to do."""

import os
import sys

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from pyarrow import parquet

from elmband import ELMIntervalRegressor
from elmband.cli import app

NO_TEXT = b"k\xff"


@pytest.fixture
def here(tmp_path, monkeypatch):
    """A folder to be in, with a table and a model of it."""
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    table = pd.DataFrame(rng.normal(size=(60, 2)), columns=["a", "b"])
    ELMIntervalRegressor(5, random_state=0).fit(table, table["a"]).save("m.st")
    table.assign(y=table["a"]).to_csv("rows.csv", index=False)
    return tmp_path


def told(*arguments):
    with pytest.raises(ValueError, match=r"[^.]\.$") as caught:
        app(list(arguments), standalone_mode=False)
    return str(caught.value)


@pytest.mark.parametrize("command", ["fit", "predict"])
def test_text_in_another_encoding_is_told_of_with_the_option_that_names_it(here, command):
    table = pd.read_csv("rows.csv").assign(ö="ü")
    table.to_csv(here / "rows.csv", index=False, encoding="latin-1")
    fit = ["fit", "rows.csv", "-t", "y", "-o", "o.st"]
    predict = ["predict", "m.st", "rows.csv", "-o", "o.csv"]
    found = told(*(fit if command == "fit" else predict))
    assert found == (
        "rows.csv is not text in UTF-8; name its encoding, as in encoding='latin-1' (--encoding "
        "latin-1), or save it as CSV in UTF-8."
    )


@pytest.mark.usefixtures("here")
@pytest.mark.parametrize("more", [["--keep", "a"], ["--keep-all"]])
def test_an_unknown_ending_is_told_of_whatever_is_kept(here, more):
    (here / "rows.csv").rename(here / "rows.txt")
    sentence = told("predict", "m.st", "rows.txt", "-o", "o.csv", *more)
    assert sentence.startswith("rows.txt has none of the endings that can be read: ")
    sentence = told("triage", "m.st", "rows.txt", "-o", "o.csv", "--review", "r.csv",
                    "--max-width", "1")  # fmt: skip
    assert sentence.startswith("rows.txt has none of the endings that can be read: ")


@pytest.mark.usefixtures("here")
@pytest.mark.parametrize("ending", ["parquet", "arrow"])
def test_two_columns_of_one_name_are_named(ending):
    table = pa.table([[1.0, 2.0]] * 3, ["a", "a", "y"])
    if ending == "parquet":
        parquet.write_table(table, "twice.parquet")
    else:
        with pa.ipc.new_file("twice.arrow", table.schema) as file:
            file.write(table)
    for command in (
        ["fit", f"twice.{ending}", "-t", "y", "-o", "o.st"],
        ["predict", "m.st", f"twice.{ending}", "-o", "o.csv"],
    ):
        sentence = told(*command)
        assert sentence == f"twice.{ending} has two columns named 'a'; rename one of them."


@pytest.mark.usefixtures("here")
@pytest.mark.parametrize(
    ("more", "roles"),
    [
        (["--feature", "y", "--feature", "a"], "as a feature and a target; name it once."),
        (["--weight", "y"], "as a target and the weight; name it once."),
    ],
)
def test_a_column_of_two_roles_is_told_of_with_both(more, roles):
    found = told("fit", "rows.csv", "-t", "y", "-o", "o.st", *more)
    assert found == f"rows.csv: column 'y' is chosen twice, {roles}"


@pytest.mark.skipif(sys.platform != "linux", reason="other systems have no such names")
def test_names_that_are_not_in_utf_8(here):
    name = os.fsdecode(NO_TEXT)
    os.link(here / "rows.csv", here / f"{name}.csv")
    found = told("predict", "m.st", f"{name}.csv", "-o", "o.csv")
    assert "has a name that is not in UTF-8" in found
    assert found.endswith("rename it.")
    app(["predict", "m.st", "rows.csv", "-o", f"{name}.parquet"], standalone_mode=False)
    with (here / f"{name}.parquet").open("rb") as file:
        assert parquet.read_table(file).num_rows == 60


def test_passes_of_a_checkpoint_without_its_job_are_told_of(here):
    (here / "kept").mkdir()
    (here / "kept" / "pass-01.safetensors").touch()
    found = told("fit", "rows.csv", "-t", "y", "-o", "o.st", "--checkpoint", "kept")
    assert found.startswith("kept holds pass-01.safetensors but no job.json")


@pytest.mark.parametrize("command", ["predict", "triage"])
@pytest.mark.parametrize(
    ("value", "reason"),
    [
        ("oops", "row 7: column 'a' holds 'oops', which is not a number; the model was trained"),
        ("2024-01-03", "rows 0 to 59: column 'a' holds dates; the model was trained on numbers"),
    ],
)
def test_models_of_plain_numbers_tell_of_columns_that_hold_none(here, command, value, reason):
    table = pd.read_csv("rows.csv").astype({"a": object})
    table.loc[7 if value == "oops" else slice(None), "a"] = value
    table.to_csv("odd.csv", index=False)
    outputs = ["-o", "o.csv"]
    if command == "triage":
        outputs += ["--review", "r.csv", "--max-width", "3"]
    assert told(command, "m.st", "odd.csv", *outputs).startswith(f"odd.csv, {reason}")
    assert not (here / "o.csv").exists()


def test_models_of_plain_numbers_are_evaluated_where_a_column_is_constant(here, capsys):
    pd.read_csv(here / "rows.csv").assign(b=1.0).to_csv("same.csv", index=False)
    app(["evaluate", "m.st", "same.csv", "-t", "y"], standalone_mode=False)
    assert "coverage" in capsys.readouterr().out


def test_late_text_in_numbers_is_told_of_without_an_option_that_predict_does_not_have(here):
    table = pd.DataFrame({"a": np.arange(150_000) / 7, "b": 0.5}).astype({"a": object})
    table.loc[140_000, "a"] = "oops"
    table.to_csv(here / "late.csv", index=False)
    assert told("predict", "m.st", "late.csv", "-o", "o.csv") == (
        "late.csv, row 140000: column 'a' holds 'oops', which is not a number; mend that value, or "
        "make it empty."
    )
