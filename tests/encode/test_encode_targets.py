"""Targets that are text or missing, and the types of columns in CSV files."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from mixed import FORMATS, mixed, write

from elmband.sources.encode import TableEncoder
from elmband.sources.stream import scan

TABLE = mixed(300)
COLOURS = TABLE["colour"].to_pylist()


def targets(rows, **how):
    return np.concatenate([chunk.Y for chunk in rows.chunks(**how)])[:, 0]


def full(table=TABLE):
    """Without the rows that lack a colour."""
    return table.filter(table["colour"].is_valid())


@pytest.mark.parametrize("ending", FORMATS)
def test_text_becomes_the_places_of_sorted_levels(tmp_path, ending):
    path = write(tmp_path / f"rows.{ending}", full())
    rows = scan(path, target="colour", encoder=TableEncoder(), chunk_size=40)
    codes = targets(rows)
    levels = rows.encoder.target_levels_
    assert levels.tolist() == ["a rare one", "blue", "gréen", "red"]
    assert levels[codes.astype(int)].tolist() == full()["colour"].to_pylist()
    assert not any(name.startswith("colour") for name in rows.feature_names)
    assert rows.target_names == ("colour",)


@pytest.mark.parametrize(
    "make",
    [
        pl.from_arrow,
        lambda table: table.to_pandas().astype({"colour": "category"}),
        lambda table: table.to_pandas().astype({"colour": object}),
    ],
)
def test_text_of_any_library(make):
    table = make(full())
    rows = scan(table, target="colour", encoder=TableEncoder())
    codes = targets(rows).astype(int)
    assert rows.encoder.target_levels_[codes].tolist() == full()["colour"].to_pylist()
    apart = scan((make(full()), table["colour"]), encoder=TableEncoder())
    np.testing.assert_array_equal(targets(apart).astype(int), codes)


def test_booleans_are_levels_and_numbers_are_not():
    table = TABLE.filter(TABLE["flag"].is_valid())
    rows = scan(table, target="flag", encoder=TableEncoder())
    np.testing.assert_array_equal(targets(rows), table["flag"].to_numpy(zero_copy_only=False))
    assert rows.encoder.target_levels_.tolist() == [False, True]
    numbers = scan(table, target="count", encoder=TableEncoder())
    targets(numbers)
    assert numbers.encoder.target_levels_ is None
    several = scan(table, target=["count", "flag"], encoder=TableEncoder())
    assert next(iter(several)).Y.shape == (len(table), 2)
    assert several.encoder.target_levels_ is None


def refused(match, rows):
    with pytest.raises(ValueError, match=match) as caught:
        list(rows)
    assert "\n" not in str(caught.value)


def test_levels_that_come_later_are_refused():
    rows = scan(full(), target="colour", encoder=TableEncoder())
    rows.encoder.fit(rows)
    new = full().to_pandas()
    new.loc[7, "colour"] = "pink"
    refused(
        "^source, rows 0 to .*: column 'colour' holds the level 'pink', which the fit did not see; "
        "it saw 'a rare one', 'blue', 'gréen', 'red'.$",
        scan(new, target="colour", encoder=rows.encoder),
    )
    without = TableEncoder().fit(full().drop_columns("colour"))
    refused(
        "row 0: column 'colour' holds '.*', which is not a number, and there are no classes",
        scan(full(), target="colour", encoder=without),
    )
    numbers = new.assign(colour=1.0)
    refused(
        "'colour' holds numbers, .* fitted on text",
        scan(numbers, target="colour", encoder=rows.encoder),
    )


def test_a_target_may_be_called_otherwise_than_in_the_fit():
    rows = scan(full(), target="colour", encoder=TableEncoder())
    known = targets(rows)
    table = full().append_column("c", full()["colour"])
    found = targets(scan(table, target="c", encoder=rows.encoder))
    np.testing.assert_array_equal(found, known)


def test_targets_that_cannot_be():
    refused(
        "'when' holds dates; a target",
        scan(TABLE, target="when", encoder=TableEncoder(), missing_target="drop"),
    )
    ids = pl.DataFrame({"x": range(2000), "id": [str(k) for k in range(2000)]})
    refused(
        "'id' is text with more than 1000 levels",
        scan([ids[:900], ids[900:]], target="id", encoder=TableEncoder()),
    )
    with pytest.raises(ValueError, match="column 'colour' is of type string, not numbers"):
        scan(full(), target=["colour", "count"], encoder=TableEncoder())
    with pytest.raises(ValueError, match="column 'colour' is of type string, not numbers"):
        scan(full(), target="count", weight="colour", encoder=TableEncoder())
    pieces = [full(), full().to_pandas().assign(colour=1)]
    refused(
        r"source\[1\], rows .* 'colour' holds numbers, rows before it text",
        scan(pieces, target="colour", encoder=TableEncoder()),
    )


class TestMissing:
    @pytest.mark.parametrize("target", ["colour", "size"])
    def test_is_refused_by_default(self, target):
        rows = scan(TABLE, target=target, encoder=TableEncoder())
        count = TABLE[target].null_count
        refused(f"source, rows 0 to 299: column '{target}' holds {count} missing values", rows)

    @pytest.mark.slow
    @pytest.mark.parametrize("target", ["colour", "size", "flag"])
    @pytest.mark.parametrize("kind", ["list", "function"])
    def test_may_be_left_out(self, target, kind):
        pieces = [TABLE.slice(0, 100), TABLE.slice(100)]
        source = pieces if kind == "list" else lambda: iter(pieces)
        rows = scan(
            source, target=target, encoder=TableEncoder(), missing_target="drop", chunk_size=7
        )
        count = TABLE[target].null_count
        assert rows.n_dropped is None
        known = TABLE.filter(TABLE[target].is_valid())
        expected = scan(known, target=target, encoder=TableEncoder())
        chunks = list(rows)
        X = np.concatenate([chunk.X for chunk in chunks])
        np.testing.assert_array_equal(X, next(iter(expected)).X)
        np.testing.assert_array_equal(targets(rows), targets(expected))
        assert rows.encoder.state_ == expected.encoder.state_
        assert rows.n_dropped == count
        assert rows.n_rows == 300
        assert f"{count} without target" in repr(rows)
        assert rows.leaves_rows_out
        for start in (1, 20, len(chunks) - 1, len(chunks)):
            later = list(rows.chunks(start=start))
            assert [len(chunk.X) for chunk in later] == [len(chunk.X) for chunk in chunks[start:]]

    def test_may_be_left_out_without_an_encoder(self):
        values = np.array([[1.0, np.nan], [2.0, 3.0], [4.0, np.nan], [5.0, 6.0]])
        rows = scan(values, target=1, missing_target="drop", chunk_size=2)
        assert [chunk.Y.tolist() for chunk in rows] == [[[3.0]], [[6.0]]]
        assert rows.n_dropped == 2
        refused(
            "column 0 holds 2 missing values",
            scan(values[:, ::-1], target=1, missing_target="drop"),
        )
        infinite = np.array([[1.0, np.inf], [2.0, np.nan]])
        refused("column 1 holds 1 infinite value", scan(infinite, target=1, missing_target="drop"))
        refused("has no rows with a target", scan(values[::2], target=1, missing_target="drop"))
        assert scan(values[1:2], target=1).n_dropped == 0

    def test_in_every_row_is_refused(self):
        table = pl.DataFrame({"x": [1.0, 2.0], "y": [None, None]})
        refused("'y' holds 2 missing values", scan(table, target="y", encoder=TableEncoder()))
        rows = scan(table, target="y", encoder=TableEncoder(), missing_target="drop")
        refused("no row with a weight above zero", rows)


def test_choices_that_cannot_be():
    with pytest.raises(ValueError, match="encoder must be a TableEncoder; got str"):
        scan(TABLE, encoder="auto")
    with pytest.raises(ValueError, match="missing_target must be 'refuse' or 'drop'; got 'ignore'"):
        scan(TABLE, missing_target="ignore")
    with pytest.raises(ValueError, match=r"leave that column out, or give an encoder.$"):
        scan(TABLE)
    with pytest.raises(ValueError, match=r"A scan is encoded while it is read: give it to scan"):
        TableEncoder().fit(np.eye(2)).transform(scan(np.eye(2)))
    with pytest.raises(ValueError, match=r"Weights are part of a scan"):
        TableEncoder().fit(scan(np.eye(2)), sample_weight=[1, 1])


def test_an_encoder_is_fitted_on_a_scan_without_one():
    values = np.array([[1.0, np.nan], [2.0, 3.0], [np.nan, 5.0]])
    encoder = TableEncoder().fit(scan(values))
    np.testing.assert_array_equal(encoder.transform(values), TableEncoder().fit_transform(values))


class TestCsv:
    @pytest.fixture
    def path(self, tmp_path):
        """A file whose first megabyte does not tell what is to come."""
        lines = [f"{k % 7},2020-01-{k % 28 + 1:02},0{k % 3},{k % 2},{k}" for k in range(120_000)]
        lines[110_000] = "1.5,2020-01-02 12:30,0A,1,3"
        lines[115_000] = ",,,0,4"
        path = tmp_path / "rows.csv"
        path.write_text("number,when,code,flag,y\n" + "\n".join(lines))
        return path

    def test_numbers_and_dates_may_become_finer(self, path):
        encoder = TableEncoder(categorical=["code"], min_count=1)
        rows = scan(path, target="y", encoder=encoder)
        assert rows.n_rows is None
        assert rows.feature_names == (
            "number",
            "number=missing",
            *(f"when={part}" for part in ("year", "season_sin", "season_cos")),
            *(f"when={part}" for part in ("weekday_sin", "weekday_cos", "hour_sin", "hour_cos")),
            "when=missing",
            "code=00",
            "code=01",
            "code=02",
            "code=0A",
            "code=missing",
            "flag",
        )
        assert rows.n_rows == 120_000
        assert sum(len(chunk.X) for chunk in rows) == 120_000

    def test_text_among_numbers_is_refused_with_its_place(self, path):
        path.write_text(path.read_text().replace(",0", ",1"))
        sentence = (
            r"rows.csv, row 110000: column 'code' holds '1A', which is not a number; mend "
            r"that value, or take the column as text with types={'code': 'text'} "
            r"\(--types code=text\)\.$"
        )
        refused(sentence, scan(path, target="y", encoder=TableEncoder()))

    def test_dates_that_are_none(self, path):
        text = path.read_text().replace("2020-01-02 12:30,0A", "soon,01")
        path.write_text(text)
        refused(
            r"rows.csv, row 110000: column 'when' holds 'soon', which is not a date; mend",
            scan(path, target="y", encoder=TableEncoder()),
        )

    def test_text_that_is_none(self, tmp_path):
        path = tmp_path / "rows.csv"
        lines = [b"red,%d" % k for k in range(150_000)]
        lines[140_000] = b"\xff\xfe,1"
        path.write_bytes(b"a,y\n" + b"\n".join(lines))
        sentence = r"rows.csv, row 140000: column 'a' holds bytes that are no text in UTF-8; mend"
        refused(sentence, scan(path, target="y", encoder=TableEncoder()))

    def test_empty_fields_and_na_are_missing(self, tmp_path):
        path = tmp_path / "rows.csv"
        path.write_text(
            'a,ok,y\nred,true,1\n"",false,2\nNA,,3\nred,true,4\nblue,true,5\nblue,true,6\n'
        )
        rows = scan(path, target="y", encoder=TableEncoder())
        assert rows.feature_names == ("a=blue", "a=red", "a=missing", "ok", "ok=missing")
        assert next(iter(rows)).X[:, 2].tolist() == [0, 1, 1, 0, 0, 0]

    def test_zones_are_those_of_the_file(self, tmp_path):
        path = tmp_path / "rows.csv"
        path.write_text("t,y\n2020-01-01T10:00Z,1\n2020-07-01T12:00+02:00,2\n")
        rows = scan(path, target="y", encoder=TableEncoder())
        assert rows.encoder.fit(rows).state_.columns[0].zone == "UTC"
        naive = pd.DataFrame({"t": pd.to_datetime(["2020-01-01T10:00", "2020-07-01T10:00"])})
        X = TableEncoder().fit_transform(naive)
        np.testing.assert_array_equal(next(iter(rows)).X, X)


def test_parts_of_other_types_are_refused(tmp_path):
    first = pa.table({"x": [1, 2], "y": [1.0, 2.0]})
    write_csv = tmp_path / "a.csv", tmp_path / "b.csv"
    write_csv[0].write_text("x,y\n1,1\n2,2\n")
    write_csv[1].write_text("x,y\none,1\ntwo,2\n")
    refused(
        r"b.csv, rows 0 to 1: column 'x' holds text, rows before it numbers; make it one type",
        scan(tmp_path, target="y", encoder=TableEncoder()),
    )
    second = first.set_column(0, "x", pa.array([None, None]))
    rows = scan([first, second], target="y", encoder=TableEncoder())
    assert rows.feature_names == ("x", "x=missing")
    zones = [
        pa.table({"t": pa.array([1, 2], pa.timestamp("us", zone)), "y": [1, 2]})
        for zone in ("UTC", "Asia/Tokyo")
    ]
    refused(
        r"source\[1\], rows 0 to 1: column 't' holds dates in the time zone Asia/Tokyo, rows "
        "before it in UTC; convert them to one",
        scan(zones, target="y", encoder=TableEncoder()),
    )
