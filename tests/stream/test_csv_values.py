"""What stands in cells of CSV files: marks of absence, names made of digits, stray words."""

import numpy as np
import pyarrow as pa
import pytest

from elmband import scan
from elmband.sources.encode import TableEncoder
from elmband.sources.encode.written import ABSENT_MARKS
from elmband.sources.stream.csv_dialect import CsvDialect
from elmband.sources.stream.csv_open import csv_columns, open_csv
from elmband.sources.stream.csv_sniff import dialect_of

USUAL = CsvDialect(",", ".", "utf-8")
# More than the first block, by which types are chosen.
MANY = 150_000


def rows_of(path, text, **how):
    path.write_text(text, encoding="utf-8")
    return scan(path, target="y", **how)


@pytest.fixture
def path(tmp_path):
    return tmp_path / "rows.csv"


MARKS = [*sorted(ABSENT_MARKS), "N/A", "None", "NULL", " - ", "NaN", "Na ", " " * 9 + "-"]


@pytest.mark.parametrize(
    ("mark", "before"), [*((mark, 2) for mark in MARKS), ("-", MANY), (" N/A", MANY)]
)
def test_marks_among_numbers_are_missing_values(path, mark, before):
    rows = rows_of(path, "a,b,y\n" + "1.5,1,2\n2.5,2,2\n" * before + f"{mark},{mark},3\n",
                   encoder=TableEncoder())  # fmt: skip
    assert rows.feature_names == ("a", "a=missing", "b", "b=missing")
    *_, last = rows
    assert last.X[-1].tolist() == [2, 1, 1.5, 1]


def test_a_target_with_marks_among_numbers_has_gaps(path):
    rows = rows_of(path, "a,y\n1,2\n2,-\n3,?\n4,5\n", missing_target="drop")
    assert np.concatenate([chunk.Y for chunk in rows]).ravel().tolist() == [2, 5]
    assert rows.n_dropped == 2
    with pytest.raises(ValueError, match="column 'y' holds 2 missing values"):
        list(scan(path, target="y"))


@pytest.mark.parametrize("before", [1, MANY], ids=["first block", "later"])
def test_classes_may_be_named_by_such_marks(path, before):
    lines = "1,+\n" * before + "2,-\n3,none\n4,?\n5,NA\n6,\n7,.\n"
    rows = rows_of(path, "a,y\n" + lines, encoder=TableEncoder(), missing_target="drop")
    targets = np.concatenate([chunk.Y for chunk in rows]).ravel()
    assert rows.encoder.target_levels_.tolist() == ["+", "-", ".", "?", "none"]
    assert targets[-5:].tolist() == [0, 1, 4, 3, 2]
    assert rows.n_dropped == 2


def test_a_column_that_begins_with_marks_alone_is_text(path):
    lines = "1,none\n" * MANY + "2,some\n" * MANY
    rows = rows_of(path, "y,a\n" + lines, encoder=TableEncoder())
    assert rows.feature_names == ("a=none", "a=some")


def test_what_is_missing_in_text_is_what_was(path):
    """Marks are levels; empty cells and the words that Arrow and pandas know are missing."""
    path.write_text('a,b,y\nx,"",1\nNA,u,2\n-,null,3\nnone,u,4\n"NaN",u,5\nx,N/A,6\n')
    types = {"a": pa.dictionary(pa.int32(), pa.string()), "b": pa.string()}
    wanted = {"a": ["x", None, "-", "none", None, "x"], "b": [None, "u", None, "u", "u", None]}
    with open_csv(path, USUAL, types) as (_, batches):
        (batch,) = batches
    batch.validate(full=True)
    assert {name: batch.column(name).to_pylist() for name in wanted} == wanted
    assert set(batch.column("a").dictionary.to_pylist()) == {"x", "-", "none"}
    with open_csv(path, USUAL, types, gaps=False) as (_, batches):
        (batch,) = batches
    assert batch.column("a").to_pylist() == ["x", "NA", "-", "none", "NaN", "x"]


def test_numbers_that_begin_with_zeros_are_names(path):
    text = "zip,n,half,y\n00501,10,0.5,01\n10001,0,-0.5,02\n00501,-3,0.25,03\n"
    rows = rows_of(path, text, encoder=TableEncoder(min_count=1))
    assert rows.feature_names == ("zip=00501", "zip=10001", "n", "half")
    # What is to be predicted stays a number, and weights do; so do numbers without an encoder.
    assert next(iter(rows)).Y.ravel().tolist() == [1, 2, 3]
    weighed = scan(path, target=1, weight=-1, encoder=TableEncoder(min_count=1))
    assert next(iter(weighed)).s.tolist() == [1, 2, 3]
    assert next(iter(scan(path, target="y"))).X[:, 0].tolist() == [501, 10001, 501]


def test_what_was_text_in_the_fit_is_so_later_and_what_was_a_number_too(path):
    text = "zip,y\n00501,1\n10001,2\n00501,3\n"
    encoder = rows_of(path, text, encoder=TableEncoder(min_count=1)).encoder
    names = scan(path, target="y", encoder=encoder).feature_names
    rows = rows_of(path, text.replace("00501", "20002"), encoder=encoder)
    assert rows.feature_names == names == ("zip=00501", "zip=10001")
    assert next(iter(rows)).X[1].tolist() == [0, 1]
    numbers = rows_of(path, text.replace("00501", "20002"), encoder=TableEncoder())
    assert numbers.feature_names == ("zip",)
    rows = rows_of(path, text, encoder=numbers.encoder)
    assert next(iter(rows)).X.ravel().tolist() == [501, 10001, 501]


def test_one_file_of_several_with_such_numbers_makes_all_text(tmp_path):
    (tmp_path / "a.csv").write_text("zip,y\n10501,1\n10001,2\n")
    (tmp_path / "b.csv").write_text("zip,y\n00501,1\n10001,2\n")
    rows = scan(tmp_path, target="y", encoder=TableEncoder(min_count=1))
    assert set(rows.feature_names) == {"zip=00501", "zip=10001", "zip=10501"}


@pytest.mark.parametrize(
    ("column", "first", "bad", "words"),
    [
        ("a", "1", "abc", "not a number"),
        ("a b", "2020-01-01", "soon", "not a date"),
        ("a", "true", "maybe", "neither true nor false"),
    ],
)
def test_a_stray_word_is_told_of_with_both_ways_on(path, column, first, bad, words):
    text = f"{column},y\n" + f"{first},2\n" * (2 * MANY) + f"{bad},2\n"
    option = f"'{column}=text'" if " " in column else f"{column}=text"
    with pytest.raises(ValueError, match=words) as caught:
        list(rows_of(path, text, encoder=TableEncoder()))
    assert str(caught.value) == (
        f"{path}, row {2 * MANY}: column {column!r} holds {bad!r}, which is {words}; mend that "
        f"value, or take the column as text with types={{{column!r}: 'text'}} (--types {option})."
    )


@pytest.mark.slow
@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("a b,c;d,y\r\n1,2,3\r\n4,5,6\r\n\r\n\r\n", ["a b", "c;d", "y"]),
        ('"a",y\n"1","2"\n"3","4"', ["a", "y"]),
        ("\ufeffa;y\n1,5;2\n", ["a", "y"]),
        (",".join(f"{j}{'-' * 50}" for j in range(3000)) + ",y\n" + "1," * 3000 + "2\n", None),
    ],
    ids=["crlf, blank lines, blanks", "quoted numbers", "mark of order", "long lines"],
)
def test_odd_files_are_read(path, text, names):
    rows = rows_of(path, text)
    assert names is None or [*rows.feature_names, "y"] == names
    chunk = next(iter(rows))
    assert chunk.X.dtype.kind == "f"
    assert len(chunk.X) == text.strip().count("\n")


@pytest.mark.parametrize(
    ("text", "line"), [("a;b;y\n1;2;3\n1;2\n1;2;3\n", 3), ("a,y\n1,2\n1,2\n1,2,3\n", 4)]
)
def test_ragged_lines_are_named(path, text, line):
    with pytest.raises(ValueError, match=f"line {line} has another number of cells"):
        list(rows_of(path, text))


def test_columns_of_two_names_are_refused_as_such(path):
    path.write_text("a,a,y\n01,2,3\n")
    assert csv_columns(path, dialect_of(path, CsvDialect())).padded == frozenset()
    with pytest.raises(ValueError, match="two columns named 'a'"):
        scan(path)


@pytest.mark.parametrize("cell", [" 2024-01-03", "2024-01-03 "])
def test_days_with_blanks_around_them_are_dates(path, cell):
    text = f"d,y\n{cell},1\n2025-07-01,2\n2023-03-05,3\n"
    blank = next(iter(rows_of(path, text, encoder=TableEncoder()))).X
    plain = next(iter(rows_of(path, text.replace(" ", ""), encoder=TableEncoder()))).X
    np.testing.assert_array_equal(blank, plain)


def test_late_bytes_that_are_no_text_are_told_of_in_our_words(path):
    lines = [b"name,y", *[b"abcdefghij,1"] * MANY, b"k\xff,2"]
    path.write_bytes(b"\n".join(lines))
    with pytest.raises(ValueError, match="holds bytes that are no text in UTF-8; mend that value"):
        sum(len(chunk.X) for chunk in scan(path, target="y", encoder=TableEncoder()))
