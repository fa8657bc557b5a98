"""Dates as text: formats that are read, orders that are not clear, and what pyarrow reads."""

import datetime as dt
import io
import re

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.csv
import pytest
from hypothesis import given
from hypothesis import strategies as st
from mixed import write_csv

from elmband.sources.encode import LevelsColumn, TableEncoder, TimeColumn
from elmband.sources.encode.dates import AUTOMATIC, formats_of, read_dates
from elmband.sources.encode.notes import ColumnWarning
from elmband.sources.stream import scan

START = dt.datetime.fromisoformat("2012-01-01")
MOMENTS = [START + dt.timedelta(days=9 * k, minutes=37 * k) for k in range(60)]
DAYS = [m.replace(hour=0, minute=0) for m in MOMENTS]


def fitted(values, **types):
    table = pd.DataFrame({"t": pd.Series(values, dtype=object), "k": range(len(values))})
    return TableEncoder(types=types or None).fit(table)


def by_arrow(values):
    """Read text as pyarrow does in a CSV file."""
    file = io.BytesIO(("t,k\n" + "".join(f"{value},0\n" for value in values)).encode())
    return pyarrow.csv.read_csv(file)["t"]


@pytest.mark.parametrize(
    "values",
    [
        ["2012-01-01", "2012-02-29"],
        ["2012-01-01 10", "2012-01-01T11"],
        ["2012-01-01T10:20", "2012-01-01"],
        ["1969-12-31 23:59:59.5", "2012-01-01"],
        ["2012-01-01 10:20:30.123456789", "2012-01-01T10:20"],
        ["2012-01-01T10:20:30Z", "2012-01-01T10:20:30-01:30"],
        ["2012-01-01 10:20:30+0100", "2012-01-01 10:20+02"],
        ["12:30", "12:30:59"],
        [" 2012-01-01", "2012-01-02 "],
        ["0001-01-01", "9999-12-31"],
    ],
)
def test_iso_dates_are_those_of_pyarrow(values):
    column = by_arrow(values)
    assert not pa.types.is_string(column.type)
    expected = TableEncoder(min_count=1).fit(pa.table({"t": column}))
    for table in (pd.DataFrame({"t": values}), pl.DataFrame({"t": values})):
        encoder = TableEncoder(min_count=1).fit(table)
        assert encoder.state_ == expected.state_
        typed = expected.transform(pa.table({"t": column}))
        np.testing.assert_array_equal(encoder.transform(table), typed)
        # Whoever was fitted on types reads text, and the other way round.
        np.testing.assert_array_equal(expected.transform(table), typed)
        np.testing.assert_array_equal(encoder.transform(pa.table({"t": column})), typed)


@pytest.mark.parametrize(
    "text",
    [
        "2012-02-30",
        "2012-13-01",
        "2012-01-01 24:00",
        "2012-01-01 10:60",
        "2012-01-01Z",
        "2012-01-01 102030",
        "2012-01-01t10:20",
        "20120101",
        "24:00",
        "0000-00-00",
        "2012-01",
        "Foo 1, 2012",
        "1.13.25",
        "10.12.15.3",
        "\uff12\uff10\uff11\uff12-01-01",
    ],
)
def test_what_is_no_date(text):
    assert read_dates([text], AUTOMATIC, careful=True) == {}


FORMATS = {
    "%Y/%m/%d": DAYS,
    "%Y/%m/%d %H:%M": MOMENTS,
    "%Y.%m.%d": DAYS,
    "%d.%m.%Y": DAYS,
    "%d.%m.%Y %H:%M:%S": MOMENTS,
    "%d/%m/%Y": DAYS,
    "%m/%d/%Y": DAYS,
    "%m/%d/%Y %I:%M %p": MOMENTS,
    "%m-%d-%Y": DAYS,
    "%m/%d/%y": DAYS,
    "%d %b %Y": DAYS,
    "%d-%B-%Y": DAYS,
    "%b %d, %Y": DAYS,
    "%B %d %Y %H:%M": MOMENTS,
}


@pytest.mark.one_quick
@pytest.mark.parametrize("form", FORMATS)
def test_formats_that_all_values_agree_with_are_read(form, tmp_path):
    moments = FORMATS[form]
    values = [moment.strftime(form) for moment in moments]
    values[7] = "n/a"
    encoder = fitted(values)
    column = encoder.state_.columns[0]
    assert isinstance(column, TimeColumn)
    assert "text that is dates" in encoder.summary()
    typed = pd.DataFrame({"t": pd.Series(moments), "k": range(60)})
    typed.loc[7, "t"] = pd.NaT
    expected = TableEncoder().fit(typed)
    text = pd.DataFrame({"t": values, "k": range(60)})
    assert encoder.state_.names == expected.state_.names
    for new in (text, typed, pl.from_pandas(text)):
        np.testing.assert_array_equal(encoder.transform(new), expected.transform(typed))
    # A CSV file comes in blocks and as a dictionary.
    rows = scan(write_csv(tmp_path / "rows.csv", text), target="k", encoder=TableEncoder())
    assert rows.encoder.fit(rows).state_.columns[0] == column
    new = pd.DataFrame({"t": ["2012-01-01 of old"], "k": [0]})
    with pytest.raises(ValueError, match=r"^X, row 0: column 't' holds '2012-01-01 of old', which"):
        encoder.transform(new)


@pytest.mark.parametrize("form", ["%d/%m/%Y", "%m/%d/%Y"])
def test_an_order_that_no_day_tells_is_asked_for(form):
    values = [day.replace(day=day.day % 12 + 1).strftime(form) for day in DAYS]
    with pytest.warns(
        ColumnWarning, match=r"'t' holds dates that may be day/month/year or mo"
    ) as w:
        encoder = fitted(values)
    assert encoder.state_.columns[0].kind == "text"
    (said,) = w
    assert "types={'t': 'date:dmy'} or types={'t': 'date:mdy'} makes dates of it" in str(
        said.message
    )
    assert "; dates whose order is not clear" in encoder.summary()
    order = "dmy" if form.startswith("%d") else "mdy"
    named = fitted(values, t=f"date:{order}")
    assert isinstance(named.state_.columns[0], TimeColumn)
    X = named.transform(pd.DataFrame({"t": values[:1], "k": [0]}))
    year = START.replace(day=START.day % 12 + 1)
    assert X[0, 0] == 2012 + (year - START).days / 366


@pytest.mark.parametrize(
    ("values", "sentence", "summary"),
    [
        (["2012-01-01", "13.1.2012"], "holds dates in more than one format", "several formats"),
        (["2012-01-01T10:00Z", "2012-01-01"], "or some with a time zone and", "several formats"),
        (
            ["2012-01-01"] * 9 + ["soon"],
            r"holds dates in 27 rows and other text in 3, such as 'soon' \(row 9\), .*: it st",
            "holds dates in 27 rows",
        ),
    ],
)
def test_dates_that_stay_text_are_told_of(values, sentence, summary):
    with pytest.warns(ColumnWarning, match=sentence):
        encoder = fitted(values * 3)
    assert isinstance(encoder.state_.columns[0], LevelsColumn)
    assert summary in encoder.summary()


def test_a_day_in_the_last_row_tells_the_order():
    values = ["3/4/2012"] * 3 + ["4/13/2012"]
    tables = [pa.table({"t": [value], "k": [k], "y": [k]}) for k, value in enumerate(values)]
    states = set()
    for order in (tables, tables[::-1], [pa.concat_tables(tables)]):
        encoder = TableEncoder()
        encoder.fit(scan(order, target="y", encoder=encoder))
        states.add(encoder.state_.columns[0].format)
    assert states == {"mdy"}


def test_other_zones_than_utc_are_not_guessed():
    zone = "America/New_York"
    table = pd.DataFrame({"t": pd.Series(MOMENTS).dt.tz_localize(zone), "k": range(60)})
    encoder = TableEncoder().fit(table)
    text = table.assign(t=table["t"].astype(str))
    with pytest.raises(ValueError, match=f"holds text, the encoder was fitted on dates of {zone}"):
        encoder.transform(text)
    assert fitted(text["t"].tolist()).state_.columns[0].zone == "UTC"


@given(st.dates(), st.sampled_from("-/."))
def test_days_are_those_of_the_calendar(day, sep):
    two = {"dmy": "%d{0}%m{0}{1}", "mdy": "%m{0}%d{0}{1}", "ymd": "{1}{0}%m{0}%d"}
    for order, form in two.items():
        text = day.strftime(form.format(sep, f"{day.year:04}"))
        found = read_dates([text], formats_of(order))
        assert {times[0] for times in found.values()} == {np.datetime64(day, "us")}


@pytest.mark.slow
@given(
    st.text(st.sampled_from("0123456789-/.: TZAPM+Jan,"), max_size=30)
    | st.from_regex(r"[0-3]?\d[-/. ][0-3]?\d[-/. ](\d\d){1,2}( \d\d:\d\d.*)?", fullmatch=True)
    | st.from_regex(r"\d{4}-[01]\d-[0-3]\d(T[0-2]\d(:[0-6]\d)?)?", fullmatch=True)
)
def test_any_text_is_read_or_not(text):
    """What is an ISO date is what NumPy reads as one, and nothing fails."""
    found = read_dates([text], (*AUTOMATIC, *formats_of("")))
    try:
        expected = np.datetime64(text, "us")
    except ValueError:
        expected = None
    if re.fullmatch(r"\d{4}-\d\d-\d\d(T\d\d(:\d\d)?)?", text) and text[:4] != "0000":
        assert expected == (found["iso"][0] if "iso" in found else None)


@pytest.mark.slow
@given(
    values=st.lists(
        st.sampled_from(["1/2/2012", "1/13/2012", "13/1/2012", "2012-01-02", "-", "x", None]),
        min_size=1,
        max_size=12,
    ),
    cut=st.integers(0, 12),
    random=st.randoms(use_true_random=False),
)
@pytest.mark.filterwarnings("ignore::elmband.sources.encode.notes.ColumnWarning")
def test_pieces_and_order_do_not_matter(values, cut, random):
    def column(rows):
        pieces = [part for part in (rows[:cut], rows[cut:]) if part]
        tables = [
            pa.table({"t": pa.array(p, pa.string()), "k": [*range(len(p))], "y": [0.0] * len(p)})
            for p in pieces
        ]
        encoder = TableEncoder(min_count=1)
        try:
            encoder.fit(scan(tables, target="y", encoder=encoder))
        except ValueError as error:
            return str(error)
        return encoder.state_.columns[0]

    assert column(random.sample(values, len(values))) == column(values)
