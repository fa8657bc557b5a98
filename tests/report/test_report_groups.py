"""Groups by any column of a table: their order, gaps, missing values, and how they are judged."""

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet
import pytest
from judged import content_of, held_in, page_of
from recomputed import group_verdict, share

from elmband import ELMIntervalRegressor, scan
from elmband.report.group_levels import NO_TEXT, as_kind, find_cut
from elmband.report.groups import ByColumn
from elmband.sources.encode import TableEncoder

N = 3000
FEATURES = ["x", "kind"]


def table(seed, n=N):
    rng = np.random.default_rng(seed)
    day = np.concatenate([np.arange(60), np.arange(150, 240)])[rng.integers(0, 150, n)]
    return pd.DataFrame(
        {
            "x": rng.normal(size=n),
            "kind": np.array(["a", "b", None], dtype=object)[rng.integers(0, 3, n)],
            "when": np.datetime64("2013-01-01", "us") + day.astype("m8[D]"),
            "year": np.array([1990, 1991, 1992, 2005])[rng.integers(0, 4, n)],
            "size": np.where(rng.random(n) < 0.1, np.nan, rng.lognormal(size=n)),
            "shop": [f"shop {k}" for k in rng.geometric(0.05, n)],
            "y": rng.normal(size=n),
        }
    )


@pytest.fixture(scope="module")
def model():
    rows = scan(table(0), target="y", features=FEATURES, encoder=TableEncoder())
    return ELMIntervalRegressor(10, random_state=0).fit(rows)


@pytest.fixture(scope="module")
def judged(model, tmp_path_factory):
    folder, data = tmp_path_factory.mktemp("page"), table(1)
    rows = scan(data, target="y", encoder=model.encoder_)
    by = ["kind", "when", "year", "size", "shop"]
    groups = content_of(folder, model, rows, by=by)["groups"]
    low, high = model.predict_interval(scan(data, encoder=model.encoder_), 0.9).T
    held = (low <= data["y"]) & (data["y"] <= high)
    return data, held.to_numpy(), dict(zip(by, groups, strict=True))


def labels_and_counts(group):
    return [(line["label"], line["n"]) for line in group["rows"]]


def test_missing_text_is_a_group_and_comes_last(judged):
    data, _, groups = judged
    counts = data["kind"].value_counts()
    expected = [*counts.items(), ("missing", int(data["kind"].isna().sum()))]
    assert labels_and_counts(groups["kind"]) == expected


def test_dates_are_spans_of_the_calendar_with_gaps(judged):
    data, _, groups = judged
    counts = data["when"].dt.to_period("M").value_counts().sort_index()
    months = [(month.strftime("%b %Y"), n) for month, n in counts.items()]
    assert [name for name, _ in months[2:4]] == ["Mar 2013", "May 2013"]
    assert labels_and_counts(groups["when"]) == [*months[:3], ("no rows", 0), *months[3:]]


def test_few_numbers_are_in_order_with_gaps(judged):
    data, _, groups = judged
    counts = data["year"].value_counts()
    assert labels_and_counts(groups["year"]) == [
        ("1990", counts[1990]),
        ("1991", counts[1991]),
        ("1992", counts[1992]),
        ("no rows", 0),
        ("2005", counts[2005]),
    ]
    assert groups["year"]["count"] == 4


def test_many_numbers_are_cut_into_ranges(judged):
    data, _, groups = judged
    *ranges, missing = groups["size"]["rows"]
    assert missing["label"] == "missing"
    assert missing["n"] == data["size"].isna().sum()
    assert len(ranges) == 10
    assert sum(line["n"] for line in ranges) == data["size"].notna().sum()
    assert max(line["n"] for line in ranges) <= min(line["n"] for line in ranges) + 1
    for line, part in zip(ranges, np.array_split(np.sort(data["size"].dropna()), 10), strict=True):
        low, high = (float(end) for end in line["label"].split(" to "))
        assert low == pytest.approx(part[0], rel=5e-3, abs=5e-3)
        assert high == pytest.approx(part[-1], rel=2e-2)


def test_every_group_is_judged_by_one_rule(judged):
    data, held, groups = judged
    for name, group in groups.items():
        verdicts = []
        column = data[name].astype(object)
        for line in [line for line in group["rows"] if line["n"]]:
            rows = column.map(lambda v, line=line: label_matches(v, line["label"])).to_numpy()
            if not rows.any():
                continue
            n, part = int(rows.sum()), int(held[rows].sum())
            p, low, high = share(part, n, group["count"])
            assert (line["n"], line["held"]) == (n, p), (name, line["label"])
            assert (line["low"], line["high"]) == pytest.approx((low, high))
            assert line["verdict"] == group_verdict((p, low, high), n, 0.9)
            verdicts.append(line["verdict"])
        if group["n_others"] == 0 and len(verdicts) == group["count"]:
            assert group["n_below"] == verdicts.count("broken")
            assert group["n_unclear"] == verdicts.count("unclear")


def label_matches(value, label):
    return label == "missing" if pd.isna(value) else str(value) == label


def test_shops_with_few_rows_are_taken_together_and_single_rows_not_judged(judged):
    data, _, groups = judged
    counts = data["shop"].value_counts()
    found = groups["shop"]
    assert found["count"] == len(counts)
    assert len(found["rows"]) == 20
    assert found["others"]["n"] == counts.iloc[20:].sum()
    assert found["n_single"] == (counts == 1).sum() > 0


def test_one_group_and_one_row(model, tmp_path):
    rows = scan(table(2, 1), target="y", encoder=model.encoder_)
    text = page_of(tmp_path, model, rows, by="kind")
    (group,) = held_in(text)["groups"]
    assert group["rows"][0]["verdict"] is None
    assert group["lowest"] is None
    assert "a single row, which is not judged" in text
    assert "one row, not judged" in text


def test_missing_targets_and_chunks_keep_columns_beside_their_rows(model, tmp_path):
    data = table(3)
    data.loc[::7, "y"] = np.nan
    path = tmp_path / "rows.parquet"
    pa.parquet.write_table(pa.Table.from_pandas(data), path, row_group_size=501)
    rows = scan(path, target="y", encoder=model.encoder_, missing_target="drop", chunk_size=333)
    (group,) = content_of(tmp_path, model, rows, by="year")["groups"]
    counts = data.dropna(subset="y")["year"].value_counts()
    assert {line["label"]: line["n"] for line in group["rows"] if line["n"]} == {
        str(year): n for year, n in counts.items()
    }


def test_parts_without_any_value_are_of_the_kind_of_the_others():
    kinds = [None] * 40_000 + ["a"] * 40_000
    frame = pd.DataFrame({"kind": kinds, "x": 1.0})
    column = ByColumn("kind", scan(frame, features="kind", encoder=TableEncoder()))
    X = np.zeros((80_000, 1))
    ((*_, labels),) = column.along(iter([(X, X[:, 0])]))
    cut = find_cut(labels[::-1])
    codes = cut.codes(labels)
    names, counts = np.unique(codes, return_counts=True)
    assert dict(zip(names.tolist(), counts.tolist(), strict=True)) == {
        NO_TEXT: 40_000,
        "a": 40_000,
    }


def test_labels_of_two_kinds():
    assert as_kind(np.array([1.0, np.nan]), "U").tolist() == ["1", NO_TEXT]
    assert np.isnat(as_kind(np.array([np.nan]), "M")).all()
    with pytest.raises(ValueError, match="write all of it as text"):
        as_kind(np.array(["a"]), "f")


@pytest.mark.parametrize(
    ("days", "unit", "names"),
    [
        ([0.0, 0.5], "h", ["1 Jan 2020 00:00", "1 Jan 2020 12:00"]),
        ([0, 1, 2], "D", ["1 Jan 2020", "2 Jan 2020", "3 Jan 2020"]),
        (
            [0, 6, 40],
            "7D",
            ["week from 30 Dec 2019", "week from 6 Jan 2020", "week from 10 Feb 2020"],
        ),
        ([0, 60, 200], "M", ["Jan 2020", "Mar 2020", "Jul 2020"]),
        ([0, 1500], "3M", ["Jan to Mar 2020", "Jan to Mar 2024"]),
        ([0, 4000, 8000], "Y", ["2020", "2030", "2041"]),
        ([0, 10_000, 30_000], "10Y", ["2020 to 2029", "2040 to 2049", "2100 to 2109"]),
    ],
)
def test_spans_are_as_short_as_fit_a_page(days, unit, names):
    when = np.datetime64("2020-01-01", "us") + (np.array(days) * 24).astype("m8[h]")
    cut = find_cut(when)
    assert cut.unit == unit
    assert [cut.name(code, 0, 0) for code in np.unique(cut.codes(when))] == names


def test_times_of_day_have_no_date():
    cut = find_cut(np.array(["1970-01-01T07:30", "NaT"], "M8[us]"))
    assert cut.name(cut.codes(np.array(["1970-01-01T07:30"], "M8[us]"))[0], 0, 0) == "07:00"
    assert cut.name(np.datetime64("NaT"), 0, 0) == "missing"
