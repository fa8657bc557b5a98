"""Commands read CSV as people have it, and say so where it is not with commas, as UTF-8."""

import numpy as np
import pandas as pd
import pytest
from forked import run

from packed import PACKED

pytest.importorskip("pyarrow")

pytestmark = pytest.mark.slow

NOTE = "Note: {} is read as CSV with cells separated by {}, decimal {}, text in {}.\n"


def written(table, delimiter=",", decimal=".", encoding="utf-8", packed=""):
    text = table.to_csv(index=False, sep=delimiter, decimal=decimal)
    return PACKED[packed](text.encode(encoding))


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(0)
    table = pd.DataFrame(
        {
            "km": rng.gamma(3, 60, 200).round(2),
            "zip": rng.choice(["00501", "07030", "10001"], 200),
            "town": rng.choice(["Åbo", "-", "none; at all", "a|b"], 200),
        }
    )
    table["hours"] = (10 + table["km"] / 15 + rng.normal(size=200)).round(2)
    return table


@pytest.fixture(scope="module")
def where(table, tmp_path_factory):
    """A model of a table as most write it, and what it predicts."""
    folder = tmp_path_factory.mktemp("dialects")
    (folder / "plain.csv").write_bytes(written(table))
    _, complained = run("fit", "plain.csv", "-t", "hours", "--neurons", 20, "-o", "m.st",
                        cwd=folder)  # fmt: skip
    assert complained == (
        "Note: Column 'zip' of plain.csv has whole numbers that begin with zeros, and is read as "
        "text: --types zip=number if they are amounts.\n"
    )
    _, complained = run("predict", "m.st", "plain.csv", "-o", "plain.out.csv", cwd=folder)
    assert complained == ""
    return folder


@pytest.mark.parametrize(
    ("name", "dialect", "options", "words"),
    [
        ("a.csv", {"delimiter": ";", "decimal": ","}, [], ("semicolons", "commas", "UTF-8")),
        ("b.tsv", {"delimiter": "\t", "decimal": ","}, [], ("tabs", "commas", "UTF-8")),
        ("c.csv", {"encoding": "utf-16"}, [], ("commas", "points", "UTF-16")),
        ("d.csv", {"encoding": "utf-8-sig"}, [], None),
        ("e.csv.zip", {"packed": ".zip"}, [], None),
        (
            "f.csv.xz",
            {"delimiter": "|", "encoding": "cp1252", "packed": ".xz"},
            ["--encoding", "cp1252"],
            ("bars", "points", "CP1252"),
        ),
        (
            "g.csv.zst",
            {"delimiter": "\t", "decimal": ",", "packed": ".zst"},
            ["--delimiter", "tab", "--decimal", ","],
            None,
        ),
        ("h.csv.bz2", {"decimal": ",", "packed": ".bz2"}, ["--decimal", ","], None),
    ],
)
def test_the_same_table_gives_the_same_predictions(
    where, tmp_path, table, name, dialect, options, words
):
    (tmp_path / name).write_bytes(written(table, **dialect))
    fit = ("fit", name, "-t", "hours", "--neurons", 20, "-o", "m.st", *options)
    _, complained = run(*fit, cwd=tmp_path)
    told = "" if words is None else NOTE.format(name, *words)
    assert complained.startswith(f"{told}Note: Column 'zip'")
    assert complained.count("\n") == 1 + bool(told)
    predict = ("predict", "m.st", name, "-o", "out.csv", *options)
    _, complained = run(*predict, cwd=tmp_path)
    assert complained == told
    wanted = (where / "plain.out.csv").read_bytes()
    assert (tmp_path / "out.csv").read_bytes() == wanted
    given = (tmp_path / name).read_bytes()
    said, complained = run("predict", "m.st", "-", "-o", "-", *options, given=given, cwd=tmp_path)
    assert said.encode() == wanted
    assert told.replace(name, "standard input") in complained


def test_every_command_that_reads_tables_takes_the_options(where, tmp_path, table):
    (tmp_path / "t.csv").write_bytes(written(table, ";", ",", "latin-1"))
    model, how = where / "m.st", ("--delimiter", ";", "--decimal", ",", "--encoding", "latin-1")
    (tmp_path / "later.csv").write_bytes(written(table[:150], ";", ",", "latin-1"))
    for command in (
        ("evaluate", model, "t.csv", "-t", "hours"),
        ("report", model, "t.csv", "-t", "hours", "-o", "r.html"),
        ("triage", model, "t.csv", "-o", "a.csv", "--review", "b.csv", "--max-width", 9),
        ("fit", "t.csv", "-t", "hours", "--neurons", 5, "--calibrate", "later.csv", "-o", "c.st"),
    ):
        _, complained = run(*command, *how, cwd=tmp_path)
        assert "is read as CSV with" not in complained
        _, complained = run(*command, cwd=tmp_path, code=1)
        assert "name its encoding" in complained


def test_options_that_cannot_be(where, tmp_path, table):
    command = ("predict", where / "m.st", where / "plain.csv", "-o", "o.csv")
    _, complained = run(*command, "--delimiter", "ab", cwd=tmp_path, code=2)
    assert "--delimiter must be one character" in complained
    table.to_parquet(tmp_path / "t.parquet")
    command = ("predict", where / "m.st", "t.parquet", "-o", "o.csv")
    _, complained = run(*command, "--decimal", ",", cwd=tmp_path, code=1)
    assert complained.endswith(
        "decimal= (--decimal) is for CSV files, and t.parquet is none; leave it out.\n"
    )


def test_cells_are_copied_as_they_are_written(where, tmp_path, table):
    (tmp_path / "t.csv").write_bytes(written(table, ";", ","))
    run("predict", where / "m.st", "t.csv", "--keep-all", "-o", "p.csv", cwd=tmp_path)
    copied = pd.read_csv(tmp_path / "p.csv", dtype=str, keep_default_na=False)
    wanted = pd.read_csv(tmp_path / "t.csv", dtype=str, keep_default_na=False, sep=";")
    pd.testing.assert_frame_equal(copied[wanted.columns], wanted)
    run("predict", where / "m.st", "t.csv", "--keep-all", "-o", "p.parquet", cwd=tmp_path)
    copied = pd.read_parquet(tmp_path / "p.parquet")
    pd.testing.assert_frame_equal(copied[table.columns], table, check_dtype=False)


def test_marks_among_numbers_do_not_make_text_of_them(tmp_path, table):
    odd = table.astype(str)
    odd.loc[::9, "km"] = "-"
    odd.loc[3, "km"] = " N/A"
    odd.to_csv(tmp_path / "t.csv", index=False)
    run("fit", "t.csv", "-t", "hours", "--neurons", 5, "-o", "m.st", cwd=tmp_path)
    said, _ = run("info", "m.st", cwd=tmp_path)
    assert "km    numbers  value, missing" in said
    assert "town  text     4 of 4 levels" in said
    # Copies keep them.
    run("predict", "m.st", "t.csv", "--keep", "km", "-o", "p.csv", cwd=tmp_path)
    copied = pd.read_csv(tmp_path / "p.csv", dtype=str, keep_default_na=False)
    assert copied["km"].tolist() == odd["km"].tolist()


def test_numbers_that_are_read_as_text_are_told_of(tmp_path):
    lines = [f'"1,{k:03}",{k % 7},{k}' for k in range(100)]
    (tmp_path / "t.csv").write_text("\n".join(["price,n,y", *lines]))
    fit = ("fit", "t.csv", "--neurons", 5, "-o", "m.st")
    _, complained = run(*fit, "-t", "y", cwd=tmp_path)
    assert "Note: 'price' has numbers such as 1,000 and is read as text" in complained
    _, complained = run(*fit, "-t", "price", cwd=tmp_path, code=1)
    assert complained.startswith("Error: t.csv has numbers such as 1,000 in its target column")
    run(*fit, "-t", "price", "--decimal", ",", cwd=tmp_path)


def test_a_table_that_could_be_split_in_two_ways_is_told_of(tmp_path):
    lines = [f"{k};{k % 3},{k}" for k in range(50)]
    (tmp_path / "t.csv").write_text("\n".join(["a;b,y", *lines]))
    fit = ("fit", "t.csv", "-t", "y", "--neurons", 5, "-o", "m.st")
    _, complained = run(*fit, cwd=tmp_path, code=1)
    assert "No column is left" in complained
    assert "semicolons would split its lines as evenly, and --delimiter ';' does so." in complained


def test_a_decimal_comma_far_down_is_told_of_with_the_option(where, tmp_path):
    lines = "km;zip;town\n" + "1;10001;Rome\n" * 100_000 + "1,5;10001;Rome\n"
    (tmp_path / "t.csv").write_text(lines)
    predict = ("predict", where / "m.st", "t.csv", "-o", "p.csv")
    _, complained = run(*predict, cwd=tmp_path, code=1)
    assert complained.endswith(
        "t.csv, row 100000: column 'km' holds '1,5', which is not a number; name the decimal point "
        "with decimal=',' (--decimal ,).\n"
    )
    run(*predict, "--decimal", ",", cwd=tmp_path)


def test_workers_read_what_was_named(where, tmp_path, table):
    pytest.importorskip("distributed")
    (tmp_path / "t.csv").write_bytes(written(table, ";", ",", "latin-1"))
    predict = ("predict", where / "m.st", "t.csv", "-o", "p.parquet", "--workers", 1)
    run(*predict, "--encoding", "latin-1", cwd=tmp_path)
    wanted = pd.read_csv(where / "plain.out.csv")
    pd.testing.assert_frame_equal(pd.read_parquet(tmp_path / "p.parquet"), wanted)
