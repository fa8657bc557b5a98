"""Text that is numbers becomes numbers, and text among numbers is told of."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from mixed import write_csv

from elmband.sources.encode import LevelsColumn, NumberColumn, TableEncoder
from elmband.sources.encode.notes import ColumnWarning
from elmband.sources.encode.written import ABSENT_MARKS, is_number
from elmband.sources.stream import scan

ODD = ["1_0", "\u0661", "1.", "+.5e-3", "0x10"]
N = 40
NUMBERS = [str(v) for v in np.random.default_rng(0).integers(40, 230, N)]
LIBRARIES = {
    "pandas": pd.DataFrame,
    "objects": lambda columns: pd.DataFrame(columns, dtype=object),
    "polars": pl.DataFrame,
    "arrow": pa.table,
}


def with_values(**values):
    """Numbers as text, but for some rows, and a number beside them."""
    hp = list(NUMBERS)
    for row, value in values.items():
        hp[int(row[1:])] = value
    return {"hp": hp, "k": list(range(N))}


def column(table, **parameters):
    return TableEncoder(**parameters).fit(table).state_.columns[0]


@pytest.mark.slow
@given(
    st.text() | st.floats().map(str) | st.integers().map(str) | st.sampled_from(["1_0", "\u0661"])
)
def test_a_number_is_what_python_takes_for_one_in_plain_digits(text):
    try:
        expected = bool(np.isfinite(float(text)) and text.isascii() and "_" not in text)
    except ValueError:
        expected = False
    # Blanks of other alphabets and separators of lines are none of ASCII.
    if not set(text) & set("\x1c\x1d\x1e\x1f"):
        assert is_number(text) == expected


@pytest.mark.parametrize("make", LIBRARIES.values(), ids=LIBRARIES)
@pytest.mark.parametrize("mark", ["-", ".", "?", " N/A ", "#N/A", "None", "null", "NaN", ""])
def test_marks_of_absence_among_numbers_are_missing(make, mark):
    table = make(with_values(r3=mark, r7=" 51.5 ", r9=None))
    encoder = TableEncoder().fit(table)
    found = encoder.state_.columns[0]
    assert isinstance(found, NumberColumn)
    assert found.gaps
    values = pd.to_numeric(pd.Series(with_values(r3=None, r7="51.5", r9=None)["hp"]))
    assert TableEncoder().fit(pd.DataFrame({"hp": values, "k": range(N)})).state_ == encoder.state_
    X = encoder.transform(table)
    assert X[:, 1].nonzero()[0].tolist() == [3, 9]
    np.testing.assert_array_equal(X[:, 0], values.fillna(values.mean()))
    assert "hp  numbers  value, missing; text that is numbers; marks of absence in 1 rows" in (
        encoder.summary()
    )


def test_every_mark_is_one_and_no_number():
    for mark in ABSENT_MARKS:
        assert not is_number(mark)
        assert isinstance(column(with_table(mark)), NumberColumn)


def with_table(mark):
    return pl.DataFrame(with_values(r3=mark.upper()))


def test_numbers_that_somebody_made_text_stay_text():
    table = pd.DataFrame({"zip": ["8001", "3000"] * 20, "k": range(N)})
    assert isinstance(column(table), LevelsColumn)
    assert "2 of 2 levels; numbers, but as text" in TableEncoder().fit(table).summary()


CHOSEN = {
    "pandas": lambda values: pd.DataFrame({"hp": pd.Categorical(values), "k": range(N)}),
    "polars": lambda values: pl.DataFrame({"hp": values, "k": range(N)}).with_columns(
        pl.col("hp").cast(pl.Categorical)
    ),
    "enum": lambda values: pl.DataFrame({"hp": values, "k": range(N)}).with_columns(
        pl.col("hp").cast(pl.Enum(sorted(set(values))))
    ),
    "arrow": lambda values: pa.table(
        {"hp": pa.array(values).dictionary_encode(), "k": list(range(N))}
    ),
}


@pytest.mark.parametrize("make", CHOSEN.values(), ids=CHOSEN)
def test_categories_that_somebody_chose_stay_text(make, tmp_path):
    table = make(["1", "2", "-", "3"] * 10)
    assert isinstance(column(table), LevelsColumn)
    rows = scan(table, target="k", encoder=TableEncoder())
    assert isinstance(rows.encoder.fit(rows).state_.columns[0], LevelsColumn)
    if hasattr(table, "to_parquet"):
        table.to_parquet(tmp_path / "rows.parquet")
        rows = scan(tmp_path / "rows.parquet", target="k", encoder=TableEncoder())
        assert isinstance(rows.encoder.fit(rows).state_.columns[0], LevelsColumn)


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_text_of_files_is_looked_at_though_it_comes_as_a_dictionary(tmp_path, ending):
    path, table = tmp_path / f"rows.{ending}", pd.DataFrame(with_values(r3="-", r5="?"))
    table.to_csv(path, index=False) if ending == "csv" else table.to_parquet(path)
    rows = scan(path, target="k", encoder=TableEncoder(), chunk_size=7)
    assert rows.feature_names == ("hp", "hp=missing")
    X = np.concatenate([chunk.X for chunk in rows])
    np.testing.assert_array_equal(X, TableEncoder().fit_transform(table)[:, :2])


def test_a_few_words_among_numbers_are_refused_with_their_rows(tmp_path):
    sentence = (
        r"^X: column 'hp' holds numbers in 37 rows and text in 3, such as 'soon' \(row 4\), "
        r"'12 hp' \(row 30\), 'x' \(row 33\): mend these, or say what the column is by "
        r"types={'hp': 'number'} \(text is missing then\), 'text' or 'ignore' "
        r"\(--types hp=number\).$"
    )
    table = with_values(r4="soon", r30="12 hp", r33="x")
    for make in (pd.DataFrame, pl.DataFrame, pa.table):
        with pytest.raises(ValueError, match=sentence):
            TableEncoder().fit(make(table))
    rows = scan(write_csv(tmp_path / "rows.csv", table), target="k", encoder=TableEncoder())
    with pytest.raises(ValueError, match=r"rows.csv: column 'hp' holds numbers in 37 rows and te"):
        rows.n_features  # noqa: B018 - it is learned here


def test_half_words_are_text_and_the_summary_tells_of_numbers():
    table = pl.DataFrame({"grade": ["1", "2", "good", "bad"] * 10, "k": range(N)})
    encoder = TableEncoder().fit(table)
    assert isinstance(encoder.state_.columns[0], LevelsColumn)
    assert "4 of 4 levels; holds numbers in 20 rows" in encoder.summary()


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame, pa.table])
def test_words_are_missing_where_a_user_says_so_and_how_many_is_told(make):
    table = make(with_values(r4="soon", r30="12 hp", r33="-"))
    encoder = TableEncoder(types={"hp": "number"})
    with pytest.warns(ColumnWarning, match=r"'hp' is to be numbers, and holds text in 2 rows, su"):
        encoder.fit(table)
    with pytest.warns(UserWarning, match="Text that is no number, such as 'soon', is taken for mi"):
        X = encoder.transform(table)
    assert X[:, 1].nonzero()[0].tolist() == [4, 30, 33]
    assert "value, missing; text in 2 rows is missing" in encoder.summary()


def test_objects_may_be_numbers_and_marks():
    values = [1.5, "-", None, 2, "3"] * 4
    table = pd.DataFrame({"hp": pd.Series(values, dtype=object), "k": range(20)})
    encoder = TableEncoder().fit(table)
    assert encoder.state_.columns[0].mean == 6.5 / 3
    table["hp"] = pd.Series(["x", *values[1:]], dtype=object)
    with pytest.warns(ColumnWarning, match="holds text in 1 row, such as 'x'"):
        found = TableEncoder(types={"hp": "number"}).fit(table).state_.columns[0]
    assert found.mean == (1.5 * 3 + 2 * 4 + 3 * 4) / 11


def test_new_rows_may_be_numbers_or_text_of_them():
    encoder = TableEncoder().fit(pd.DataFrame(with_values(r3="-")))
    expected = [[51, 0], [encoder.state_.columns[0].mean, 1], [60.5, 0]]
    for values in ([51, None, 60.5], ["51", "?", "60.5"], ["51", None, " 60.5"]):
        new = pd.DataFrame({"hp": values, "k": [0, 0, 0]})
        np.testing.assert_array_equal(encoder.transform(new)[:, :2], expected)
    new = pd.DataFrame({"hp": ["51", "-", "fast"], "k": [0, 0, 0]})
    with pytest.raises(ValueError, match=r"^X, row 2: column 'hp' holds 'fast', which is not a n"):
        encoder.transform(new)


def test_files_may_hold_numbers_with_a_type_and_without(tmp_path):
    """One file of several has no mark, so that its numbers have a type."""
    write_csv(tmp_path / "a.csv", {"x": [1, 2, 3], "y": [0, 0, 1]})
    write_csv(tmp_path / "b.csv", {"x": ["-", "5", "?"], "y": [1, 1, 0]})
    for paths in (["a.csv", "b.csv"], ["b.csv", "a.csv"]):
        rows = scan([tmp_path / p for p in paths], target="y", encoder=TableEncoder())
        assert rows.feature_names == ("x", "x=missing")
        assert rows.encoder.state_.columns[0].mean == 11 / 4


@pytest.mark.slow
@given(
    rows=st.lists(st.sampled_from(["1", "2.5", "-", "x", None]), min_size=1, max_size=30),
    cut=st.integers(0, 30),
    random=st.randoms(use_true_random=False),
)
def test_pieces_and_order_do_not_matter(rows, cut, random):
    def state(values):
        pieces = [part for part in (values[:cut], values[cut:]) if part]
        tables = [
            pa.table({"x": pa.array(p, pa.string()), "k": [*range(len(p))], "y": [0.0] * len(p)})
            for p in pieces
        ]
        encoder = TableEncoder()
        try:
            encoder.fit(scan(tables, target="y", encoder=encoder))
        except ValueError as error:
            return str(error).partition(":")[2].partition(", such")[0]
        return [column for column in encoder.state_.columns if column.name == "x"]

    assert state(random.sample(rows, len(rows))) == state(rows)
