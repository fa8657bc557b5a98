"""Rows that leave what the encoder was fitted on: counted by hand, and not by chance."""

import numpy as np
import pandas as pd
import pytest

from elmband.sources.encode import TableEncoder
from elmband.sources.encode.state import NumberColumn

N = 400


def table(n=N, seed=0):
    rng = np.random.default_rng(seed)
    return pd.DataFrame({
        "size": rng.uniform(0, 10, n),
        "town": rng.choice(["Oslo", "Rome"], n),
        "day": pd.Timestamp("2024-01-01") + pd.to_timedelta(rng.integers(0, 300, n), "D"),
        "wait": pd.to_timedelta(rng.integers(1, 60, n), "s"),
    })  # fmt: skip


@pytest.fixture(scope="module")
def encoder():
    return TableEncoder().fit(table())


def test_rows_of_the_fit_are_not_new(encoder):
    found = encoder.novelty(table())
    assert (found.n, found.rows_beyond, found.rows_far, found.rows_unseen) == (N, 0, 0, 0)
    assert (found.beyond, found.unseen) == ({}, {})
    assert not found.is_beyond_chance(encoder.state_)


def test_values_are_counted_by_column_and_rows_once(encoder):
    new = table(seed=1)[:20].assign(size=5.0)
    new.loc[0:3, "size"] = [10.5, -0.5, 121.0, np.nan]
    new.loc[2:4, "town"] = "Turku"
    new.loc[0, "day"] = pd.Timestamp("2025-06-01")
    new.loc[7, "day"] = pd.Timestamp("2023-12-31")
    new.loc[9, "wait"] = pd.Timedelta(hours=1)
    with pytest.warns(UserWarning, match="'size' has missing values"):
        encoder.transform(new)
    found = encoder.novelty(new)
    assert found.beyond == {"size": 3, "day": 2, "wait": 1}
    assert found.unseen == {"size": 1, "town": 3}
    assert (found.rows_beyond, found.rows_far, found.rows_unseen) == (5, 2, 3)
    assert found.unseen == encoder.unseen(new)


def test_counts_add_up(encoder):
    new = pd.concat([table(30, seed=2), table(30, seed=3).assign(size=11.0, town="Turku")])
    parts = [encoder.novelty(new[k : k + 20]) for k in (0, 20, 40)]
    together = parts[0] + parts[1] + parts[2]
    whole = encoder.novelty(new)
    assert vars(together) == vars(whole)
    assert whole.rows_beyond >= 30


@pytest.mark.one_quick
@pytest.mark.parametrize("kind", ["normal", "lognormal", "integers"])
def test_rows_of_the_same_kind_are_seldom_called_new(kind):
    """At most one table in 100: skewed numbers leave their range by more than others do."""
    called = []
    for seed in range(200):
        rng = np.random.default_rng(seed)
        draw = getattr(rng, kind)
        rows = draw(0, 50, (300, 8)) if kind == "integers" else draw(size=(300, 8))
        encoder = TableEncoder().fit(rows[:200])
        called.append(encoder.novelty(rows[200:]).is_beyond_chance(encoder.state_))
    assert np.mean(called) <= 0.01


def test_a_shift_is_called_new():
    rng = np.random.default_rng(0)
    rows = rng.standard_normal((300, 8))
    encoder = TableEncoder().fit(rows[:200])
    for new in (rows[200:] + 1.5, np.vstack([rows[200:], np.full((1, 8), 90.0)])):
        assert encoder.novelty(new).is_beyond_chance(encoder.state_)


def test_columns_of_earlier_models_have_no_end():
    column = NumberColumn("x", "numbers", 0.0, varies=True, gaps=False)
    assert (column.low, column.high) == (-np.inf, np.inf)
    raw = TableEncoder().fit(np.arange(6.0).reshape(3, 2)).state_
    beyond, far = column.beyond(raw.read(column, np.array([1e300, -5.0])))
    assert not beyond.any()
    assert not far.any()
