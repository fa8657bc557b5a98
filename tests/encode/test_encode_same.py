"""The same table gives the same model from CSV, Parquet, pandas and Polars."""

import datetime as dt

import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from elmband.sources.encode import TableEncoder
from elmband.sources.stream import scan

pytestmark = [
    pytest.mark.slow,
    pytest.mark.filterwarnings("ignore::elmband.sources.encode.notes.ColumnWarning"),
]

DATES = st.dates(dt.date(1950, 1, 1), dt.date(2050, 1, 1))
MOMENTS = st.datetimes(
    dt.datetime.fromisoformat("1950-01-01"), dt.datetime.fromisoformat("2050-01-01")
).map(lambda moment: moment.replace(microsecond=0))
# What a column holds, in the types that pandas has for it.
COLUMNS = {
    "floats": st.floats(-1e6, 1e6),
    "whole": st.integers(-(10**9), 10**9),
    "flags": st.booleans(),
    "words": st.sampled_from(["red", "blue", "gréen", "x,y", 'a "word"', "two\nlines"]),
    "iso": DATES.map(str),
    "moments": MOMENTS.map(str),
    "zoned": MOMENTS.map(lambda moment: f"{moment}Z"),
    "orders": DATES.map(lambda day: day.strftime("%d.%m.%Y")),
    "american": DATES.map(lambda day: day.strftime("%m/%d/%Y")),
    "numbers": st.floats(-1e6, 1e6).map(str) | st.just("-"),
}


@st.composite
def tables(draw):
    n = draw(st.integers(2, 30))
    names = draw(st.lists(st.sampled_from(sorted(COLUMNS)), min_size=1, max_size=4))
    table = {"y": [float(k) for k in range(n)], "k": [k % 7 for k in range(n)]}
    for place, name in enumerate(names):
        values = draw(st.lists(COLUMNS[name], min_size=n, max_size=n))
        gaps = draw(st.lists(st.booleans(), min_size=n, max_size=n)) if draw(st.booleans()) else []
        for k in [k for k, gap in enumerate(gaps) if gap]:
            values[k] = None
        if name == "numbers" and values.count("-") + values.count(None) < n:
            # Without any mark, digits in a table with types are text on purpose.
            values[0], values[1] = "-", "1.5"
        table[f"{name} {place}"] = values
    return table


@given(table=tables())
def test_states_are_equal(table, tmp_path_factory):
    folder = tmp_path_factory.mktemp("same")
    frame = pd.DataFrame(table)
    frame.to_csv(folder / "rows.csv", index=False)
    frame.to_parquet(folder / "rows.parquet")
    states = {}
    for name, source in {
        "csv": folder / "rows.csv",
        "parquet": folder / "rows.parquet",
        "pandas": frame,
        "polars": pl.DataFrame(table, strict=False),
    }.items():
        encoder = TableEncoder(min_count=1, dtype="float64")
        encoder.fit(scan(source, target="y", encoder=encoder))
        states[name] = encoder.state_
    for state in states.values():
        assert state == states["pandas"]
