"""Columns that commands copy beside predictions: nothing in them changes."""

import csv
import io

import pandas as pd
import pytest
from forked import run
from hypothesis import given
from hypothesis import strategies as st
from running import is_one_sentence

from elmband import load, scan
from elmband.sources.encode import TableEncoder
from elmband.sources.stream.write._csv import CsvWriter

pa = pytest.importorskip("pyarrow")
parquet = pytest.importorskip("pyarrow.parquet")

# What a type would make another value of: zeros in front, digits beyond a float, words for "none".
STRANGE = {
    "code": ["007", "1e5", "0x10", "+4", "-0", "1_000", " 5", "TRUE", "True", "2024-1-2"],
    "note": ["NA", "null", "", 'say "x"', "a,b", "two\nlines", "tab\t", " edge ", "#N/A", "nan"],
    "serial": [str(2**70 + k) for k in range(10)],
    "price": ["1.50", "2.00", "3.10", "4", "5", "6", "7", "8", "9", "10.0"],
    "when": ["2024-01-05T10:00:00Z"] * 10,
}


@pytest.fixture(scope="module")
def strange(folder, tmp_path_factory):
    """A table that types would change, and a model of `bmi`, `town` and `serial` in it."""
    where = tmp_path_factory.mktemp("strange")
    table = pd.read_csv(folder / "patients.csv", dtype=str, keep_default_na=False)
    table["town"] = table["town"].replace("", "NA")
    repeated = {name: (values * len(table))[: len(table)] for name, values in STRANGE.items()}
    table.assign(**repeated).to_csv(where / "t.csv", index=False)
    run("fit", "t.csv", "-t", "progress", "--feature", "bmi", "--feature", "town",
        "--feature", "serial", "--neurons", 20, "-o", "m.safetensors", cwd=where)  # fmt: skip
    return where


def cells(path):
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


@pytest.mark.slow
def test_cells_are_copied_from_csv_to_csv_as_they_are_written(strange, tmp_path):
    out = tmp_path / "p.csv"
    run("predict", "m.safetensors", "t.csv", "--keep-all", "-o", out, cwd=strange)
    for before, after in zip(cells(strange / "t.csv"), cells(out), strict=True):
        assert {name: after[name] for name in before} == before


@pytest.mark.slow
def test_triage_copies_in_the_same_way(strange, tmp_path):
    outputs = tmp_path / "a.csv", tmp_path / "b.csv"
    run("triage", "m.safetensors", "t.csv", "-o", outputs[0], "--review", outputs[1],
        "--max-width", 250, cwd=strange)  # fmt: skip
    found = [tuple(row[name] for name in STRANGE) for path in outputs for row in cells(path)]
    given_rows = [tuple(row[name] for name in STRANGE) for row in cells(strange / "t.csv")]
    assert sorted(found) == sorted(given_rows)
    assert all(map(cells, outputs))


@pytest.mark.slow
def test_what_is_missing_for_a_copy_is_not_so_for_the_model(strange, tmp_path):
    """The model sees text as it did in training, whatever columns are copied and where to."""
    outs = [tmp_path / name for name in ("all.csv", "none.csv", "all.parquet")]
    for out, more in zip(outs, (["--keep-all"], [], ["--keep-all"]), strict=True):
        run("predict", "m.safetensors", "t.csv", *more, "-o", out, cwd=strange)
    wanted = load(strange / "m.safetensors").predict(
        scan(strange / "t.csv", features=["bmi", "town", "serial"], encoder=TableEncoder())
    )
    for out in outs:
        read = pd.read_csv if out.suffix == ".csv" else pd.read_parquet
        assert read(out)["mean"].to_list() == pytest.approx(list(wanted), rel=1e-12)


@pytest.mark.slow
def test_tables_with_types_keep_words_and_miss_what_is_empty(strange, tmp_path):
    out = tmp_path / "p.parquet"
    run("predict", "m.safetensors", "t.csv", "--keep-all", "-o", out, cwd=strange)
    table = parquet.read_table(out)
    assert table["note"].to_pylist()[:10] == [text or None for text in STRANGE["note"]]
    assert table["town"].to_pylist()[0] == "NA"
    assert table["price"].to_pylist()[0] == 1.5


@pytest.mark.slow
def test_what_csv_cannot_hold_is_named(folder, tmp_path):
    table = parquet.read_table(folder / "patients.parquet")
    lists = pa.array([[1, 2]] * len(table))
    parquet.write_table(table.append_column("path", lists), tmp_path / "t.parquet")
    command = ("predict", folder / "patients.safetensors", "t.parquet", "--keep-all", "-o", "p.csv")
    _, complained = run(*command, cwd=tmp_path, code=1)
    assert is_one_sentence(complained)
    assert "Column 'path' is of the type list<" in complained
    assert not (tmp_path / "p.csv").exists()


text = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\r\0"), max_size=5)


@given(st.integers(1, 3).flatmap(lambda k: st.lists(st.tuples(*[text] * k), max_size=5)))
def test_lines_are_read_back_as_they_were(rows):
    names = ["a, b", 'c"', "d"][: len(rows[0]) if rows else 1]
    columns = list(zip(*rows, strict=True)) if rows else [()]
    table = pa.table({n: pa.array(c, pa.string()) for n, c in zip(names, columns, strict=True)})
    stream = io.BytesIO()
    CsvWriter(stream, table.schema).write(table)
    read = list(csv.reader(io.StringIO(stream.getvalue().decode(), newline="")))
    assert read == [names, *map(list, rows)]


@pytest.mark.slow
def test_a_column_named_twice_is_copied_once(strange):
    run("predict", "m.safetensors", "t.csv", "--keep", "bmi", "--keep", "bmi", "-o", "twice.csv",
        cwd=strange)  # fmt: skip
    header = (strange / "twice.csv").read_text().splitlines()[0]
    assert header.split(",")[:2] == ["bmi", "mean"]
