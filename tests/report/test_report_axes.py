"""Columns as people know them, from the features that an encoder made of them."""

from datetime import date, timedelta

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from judged import Page, held_in, page_of

from elmband import ELMClassifier, ELMIntervalRegressor, scan
from elmband.report.axes import DayAxis, axes_of
from elmband.sources.encode import TableEncoder

N_ROWS = 4000
WEEK = ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"]


def flights(seed):
    """Flights with a date, an airport and a distance that is sometimes missing."""
    rng = np.random.default_rng(seed)
    minutes = rng.integers(0, 2 * 365 * 24 * 60, N_ROWS)
    when = np.datetime64("2001-01-01T00:00") + minutes.astype("m8[m]")
    airports = np.array([f"A{chr(65 + j)}" for j in range(16)])
    origin = airports[np.minimum(rng.geometric(0.15, N_ROWS) - 1, 15)]
    distance = rng.uniform(100, 900, N_ROWS)
    hour = (minutes % (24 * 60)) / 60
    delay = (hour + 1) * rng.normal(size=N_ROWS)
    distance[rng.random(N_ROWS) < 0.1] = np.nan
    return pd.DataFrame(
        {"when": when.astype("M8[us]"), "origin": origin, "distance": distance, "delay": delay}
    )


@pytest.fixture(scope="module")
def encoded():
    table = flights(0)
    rows = scan(table, target="delay", encoder=TableEncoder())
    chunks = list(rows)
    X = np.concatenate([chunk.X for chunk in chunks])
    axes = {axis.name: axis for axis in axes_of(rows.feature_names, rows.encoder.state_)}
    return table, X, axes


def test_all_columns_come_back(encoded):
    _, _, axes = encoded
    assert list(axes) == [
        "when",
        "when: day of the year",
        "when: weekday",
        "when: time of day",
        "origin",
        "distance",
    ]


def test_years_with_a_fraction_are_days_again(encoded):
    table, X, axes = encoded
    when = table["when"].dt
    days = [f"{day.day} {day:%b} {day.year}" for day in table["when"]]
    assert axes["when"].groups(X).tolist() == days
    assert axes["when"].written(2004.99999) == "31 Dec 2004"
    # A feature in float32 is right to an hour.
    whole = DayAxis("day", (0,))
    for day in range(366):
        rounded = float(np.float32(2004 + day / 366))
        assert whole.written(rounded) == f"{(date(2004, 1, 1) + timedelta(days=day)):%-d %b %Y}"
    assert when.year.max() == 2002


def test_angles_are_hours_days_and_weekdays_again(encoded):
    table, X, axes = encoded
    when = table["when"].dt
    hour = when.hour + when.minute / 60
    clock = axes["when: time of day"]
    np.testing.assert_allclose(clock.values(X), hour, atol=1e-3)
    assert clock.groups(X).tolist() == when.strftime("%H:%M").tolist()
    assert clock.label(20.55, 23.9834) == "20:33 to 23:59"
    day = axes["when: day of the year"]
    np.testing.assert_allclose(day.values(X), when.day_of_year - 1, atol=1e-3)
    assert day.groups(X).tolist() == when.strftime("%-d %b").tolist()
    assert day.label(0, 364) == "1 Jan to 31 Dec"
    weekday = axes["when: weekday"]
    assert weekday.groups(X).tolist() == when.day_name().tolist()
    assert [weekday.label(k, k) for k in range(7)] == WEEK
    assert weekday.label(0, 2) == "Monday to Wednesday"


def test_marks_are_words_again(encoded):
    table, X, axes = encoded
    origin = axes["origin"]
    known = origin.groups(X)
    rare = known == "other"
    assert (known[~rare] == table["origin"].to_numpy()[~rare]).all()
    numbers = axes["distance"].values(X)
    there = table["distance"].notna()
    np.testing.assert_array_equal(np.isnan(numbers), ~there)
    assert axes["distance"].label(np.nan, np.nan) == "missing"
    np.testing.assert_allclose(numbers[there], table["distance"][there], rtol=1e-6)


def test_words_with_few_rows_share_a_bin(encoded):
    table, X, axes = encoded
    origin = axes["origin"]
    ready = origin.prepared(origin.values(X))
    values = ready.values(X)
    counts = table["origin"].value_counts()
    assert [ready.label(k, k) for k in range(10)] == [*counts.index[:9], "all others"]
    assert np.bincount(values.astype(int)).tolist() == [*counts[:9], counts[9:].sum()]
    few = axes["when: weekday"]
    assert few.prepared(few.values(X)) is few


@pytest.fixture(scope="module")
def text(tmp_path_factory):
    train, test = (pa.Table.from_pandas(flights(seed)) for seed in (0, 1))
    model = ELMIntervalRegressor(30, random_state=0)
    model.fit(scan(train, target="delay", encoder=TableEncoder()))
    rows = scan(test, target="delay", encoder=model.encoder_)
    return page_of(tmp_path_factory.mktemp("page"), model, rows, group="origin")


@pytest.mark.slow
def test_a_page_speaks_of_columns_not_of_features(text):
    content, test = held_in(text), flights(1)
    names = [feature["name"] for feature in content["features"]]
    assert names[0] == "when: time of day"
    assert content["shown"] == names[:3]
    words = " ".join(Page(text).words)
    assert "_sin" not in words
    assert "origin=" not in words
    place = names.index("origin")
    lines = {line["label"]: line["n"] for line in content["bins"] if line["feature"] == place}
    counts = test["origin"].value_counts()
    assert lines.pop("all others") == N_ROWS - sum(lines.values())
    assert lines == {label: counts[label] for label in lines}
    assert len(lines) == 9
    (by_origin,) = content["groups"]
    assert {line["label"]: line["n"] for line in by_origin["rows"]} == counts.to_dict()
    assert content["facts"]["trained_on"] == N_ROWS
    row = content["widest"][0]
    beside = dict(zip(content["shown"], row["features"], strict=True))
    assert beside["when: time of day"] == f"{test['when'][row['row']]:%H:%M}"


@pytest.mark.slow
def test_ranges_of_columns_are_those_of_the_table(text):
    content, test = held_in(text), flights(1)
    lines = {line.pop("name"): line for line in content["data"]["features"]}
    assert set(lines) == {"when", "origin", "distance"}
    ends = (f"{day.day} {day:%b} {day.year}" for day in (test["when"].min(), test["when"].max()))
    assert lines["when"]["days"] == " to ".join(ends)
    most = test["origin"].value_counts().index[0]
    assert lines["origin"]["most"] == most
    assert lines["origin"]["share"] == pytest.approx((test["origin"] == most).mean())
    assert lines["distance"]["high"] == pytest.approx(test["distance"].max())


def test_classes_that_were_text_are_text_again(tmp_path):
    rng = np.random.default_rng(0)
    x = rng.normal(size=1000)
    bird = np.where(x + rng.normal(size=1000) / 2 > 0, "robin", "finch")
    table = pd.DataFrame({"length": x, "bird": bird})
    model = ELMClassifier(10, random_state=0)
    rows = scan(table, target="bird", encoder=TableEncoder())
    model.fit(rows)
    content = held_in(page_of(tmp_path, model, rows))
    assert content["labels"] == ["finch", "robin"]
    assert content["positive"] == "robin"
    assert content["right"]["classes"][1]["n"] == np.count_nonzero(bird == "robin")
