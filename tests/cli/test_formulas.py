"""Text that a spreadsheet would compute, in CSV that commands write."""

import csv
import io

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from typer.testing import CliRunner

from elmband.cli import app
from elmband.sources.stream.write._csv import CsvWriter

pa = pytest.importorskip("pyarrow")

FORMULAS = ["=1+1", "+cmd|' /C calc'!A0", "-2+3", "@SUM(A1)", "\t=1", "\r=1", "\n=1", "-", "+",
            '=HYPERLINK("x","y")', "-5\n=1", "-1,5", "--5", "+e5", "-.", "-0x1F"]  # fmt: skip
NUMBERS = ["-5", "+1.5e3", "-.5", "+5.", "-1E-07", "-inf", "+NaN", "-0"]
OTHERS = ["", "a=1", "'=1", " =1", "2024-01-05", "007", "é", "a\n=1"]
NAMES = ["=name", "-5", "@x", "plain"]


def written(table, **how):
    stream = io.BytesIO()
    CsvWriter(stream, table.schema, **how).write(table)
    return list(csv.reader(io.StringIO(stream.getvalue().decode(), newline="")))


@pytest.mark.parametrize("kind", [pa.string(), pa.large_string(), pa.binary()])
def test_formulas_get_a_mark_and_the_rest_stays(kind):
    cells = FORMULAS + NUMBERS + OTHERS
    table = pa.table({"=n": pa.array(cells).cast(kind), "k": range(len(cells))})
    wanted = ["'=n", *(f"'{cell}" for cell in FORMULAS), *NUMBERS, *OTHERS]
    assert [row[0] for row in written(table, escape_formulas=True)] == wanted
    assert [row[0] for row in written(table)] == ["=n", *cells]


def test_levels_kept_as_numbers_are_text():
    table = pa.table({"a": pa.array(["=1", None, "-1"]).dictionary_encode(), "b": [1, 2, 3]})
    assert written(table, escape_formulas=True)[1:] == [["'=1", "1"], ["", "2"], ["-1", "3"]]


def test_columns_of_numbers_stay():
    numbers = [-1.5, -1e-300, -np.inf, np.nan]
    table = pa.table({"a": numbers, "b": pa.array([-1, -2, -3, None])})
    assert written(table, escape_formulas=True) == written(table)


text = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=4)


@given(st.lists(st.one_of(text, st.text("=+-@\t\r\n1.e'", max_size=5)), min_size=1))
def test_no_cell_begins_as_a_formula_and_none_is_lost(cells):
    read = written(pa.table({"a": cells, "b": range(len(cells))}), escape_formulas=True)
    for (found, _), cell in zip(read[1:], cells, strict=True):
        assert found in {cell, f"'{cell}"}
        if found.startswith(tuple("=+-@\t\r\n")):
            float(found)


@pytest.fixture(scope="module")
def where(tmp_path_factory):
    folder = tmp_path_factory.mktemp("formulas")
    rng = np.random.default_rng(0)
    table = pd.DataFrame({"x": rng.normal(size=60)})
    table["y"] = table["x"] + rng.normal(size=60)
    table["=class"] = np.where(table["y"] > 0, "=yes", "-1")
    cells = FORMULAS + NUMBERS + OTHERS
    for name in NAMES:
        table[name] = (cells * 60)[:60]
    table.to_csv(folder / "t.csv", index=False, quoting=csv.QUOTE_NONNUMERIC)
    for target, model in (("y", "m.st"), ("=class", "c.st")):
        elmband("fit", folder / "t.csv", "-t", target, "--feature", "x", "--neurons", 5,
                "-o", folder / model)  # fmt: skip
    return folder


def elmband(*arguments, code=0):
    result = CliRunner().invoke(app, [*map(str, arguments)], env={"COLUMNS": "300"})
    assert result.exit_code == code, result.output
    return result.output


def rows_of(path):
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.reader(file))


def escaped(cell):
    return f"'{cell}" if cell in {*FORMULAS, "=name", "@x", "=class", "=yes"} else cell


@pytest.mark.slow
def test_copies_differ_from_the_table_by_the_marks_alone(where, tmp_path):
    given_rows = rows_of(where / "t.csv")
    command = ("predict", where / "m.st", where / "t.csv", "--keep-all")
    for more, change in (((), str), (("--escape-formulas",), escaped)):
        elmband(*command, "-o", tmp_path / "p.csv", *more)
        found = [row[: len(given_rows[0])] for row in rows_of(tmp_path / "p.csv")]
        assert found == [[change(cell) for cell in row] for row in given_rows]


def test_triage_marks_both_files_and_leaves_parquet(where, tmp_path):
    parquet = pytest.importorskip("pyarrow.parquet")
    model, data = where / "m.st", where / "t.csv"
    elmband("predict", model, data, "-o", tmp_path / "p.csv")
    bounds = pd.read_csv(tmp_path / "p.csv")
    width = (bounds["upper_0.95"] - bounds["lower_0.95"]).median()
    command = ("triage", model, data, "--max-width", width, "--escape-formulas")
    outputs = [tmp_path / name for name in ("a.csv", "b.csv", "b.parquet")]
    elmband(*command, "-o", outputs[0], "--review", outputs[1])
    parts = [rows_of(path) for path in outputs[:2]]
    assert all(len(part) > 1 for part in parts)
    n_columns = len(rows_of(data)[0])
    found = [tuple(row[2:n_columns]) for part in parts for row in part[1:]]
    wanted = [tuple(map(escaped, row[2:])) for row in rows_of(data)[1:]]
    assert sorted(found) == sorted(wanted)
    elmband(*command, "-o", outputs[0], "--review", outputs[2])
    assert "=name" in parquet.read_table(outputs[2]).column_names


def test_labels_are_text_of_the_training_rows(where, tmp_path):
    out = tmp_path / "p.csv"
    elmband("predict", where / "c.st", where / "t.csv", "-o", out, "--escape-formulas")
    labels = {cell for row in rows_of(out)[1:] for cell in row if "yes" in cell}
    assert labels == {"'=yes"}


@pytest.mark.parametrize("name", ["p.parquet", "p.arrow", "p.npy"])
def test_other_formats_are_refused(where, tmp_path, name):
    data = where / "t.csv" if name != "p.npy" else tmp_path / "x.npy"
    said = elmband("predict", where / "m.st", data, "-o", tmp_path / name, "--escape-formulas",
                   code=2)  # fmt: skip
    assert "--escape-formulas is for CSV" in said
    assert not (tmp_path / name).exists()
