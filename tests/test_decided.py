"""Evaluation of a classifier that abstains, against naive counts."""

import math

import numpy as np
import pytest

from elmband.engines import engine
from elmband.metrics.decided import Decided, SelectiveEvaluation

RNG = np.random.default_rng(0)


def counted(true, called, accepted, s, k):
    counts = np.zeros((k, k, 2))
    np.add.at(counts, (true, called, accepted.astype(int)), s)
    return Decided(counts)


def naive(true, called, accepted, s, positive):
    rows = list(zip(true, called, accepted, s, strict=True))
    n = sum(w for *_, w in rows)
    answered = sum(w for _, _, a, w in rows if a)
    wrong = sum(w for t, c, a, w in rows if a and t != c)
    false = sum(w for t, c, a, w in rows if a and c == positive and t != positive)
    true_ones = sum(w for t, c, a, w in rows if a and c == positive and t == positive)
    negatives = sum(w for t, _, _, w in rows if t != positive)
    return (
        n,
        answered / n,
        wrong / answered,
        sum(w for t, c, _, w in rows if t != c) / n,
        false / negatives,
        true_ones / (true_ones + false),
    )


@pytest.mark.parametrize("k", [2, 4])
@pytest.mark.parametrize("weighted", [False, True])
def test_shares_are_those_of_naive_counts(k, weighted):
    true, called = RNG.integers(k, size=(2, 300))
    accepted, s = RNG.random(300) < 0.6, RNG.random(300) if weighted else np.ones(300)
    found = SelectiveEvaluation.of(counted(true, called, accepted, s, k), 1)
    np.testing.assert_allclose(found, naive(true, called, accepted, s, 1))


def test_counts_add_up():
    true, called = RNG.integers(3, size=(2, 90))
    accepted, s = RNG.random(90) < 0.5, np.ones(90)
    columns = true, called, accepted, s
    parts = (counted(*(a[p] for a in columns), 3) for p in np.array_split(np.arange(90), 4))
    whole = counted(*columns, 3)
    np.testing.assert_array_equal(engine.reduced(parts).counts, whole.counts)


def test_nothing_wrong_is_zero_to_the_last_bit():
    true = RNG.integers(3, size=100)
    accepted, s = RNG.random(100) < 0.5, RNG.random(100)
    found = SelectiveEvaluation.of(counted(true, true, accepted, s, 3), 0)
    assert (found.error, found.error_of_all, found.fpr, found.precision) == (0, 0, 0, 1)


def test_without_answers_or_a_positive_class_shares_are_missing():
    true, called = RNG.integers(3, size=(2, 50))
    none = counted(true, called, np.zeros(50, dtype=bool), np.ones(50), 3)
    found = SelectiveEvaluation.of(none, 1)
    assert found.answered == found.fpr == 0
    assert math.isnan(found.error)
    assert math.isnan(found.precision)
    assert "error answered no such rows" in str(found)
    plain = SelectiveEvaluation.of(none, None)
    assert math.isnan(plain.fpr)
    assert "precision" not in str(plain)


def test_it_prints_itself():
    counts = np.zeros((2, 2, 2))
    counts[0, 0] = 100, 700
    counts[1, 1] = 100, 290
    counts[0, 1, 1] = 10
    assert str(SelectiveEvaluation.of(Decided(counts), 1)).splitlines() == [
        "rows           1,200",
        "answered       83.3 %",
        "error answered 1 %",
        "error of all   0.833 %",
        "false positive 1.23 %",
        "precision      96.7 %",
    ]


def test_no_rows_get_a_sentence():
    with pytest.raises(ValueError, match="no rows with a weight above zero"):
        SelectiveEvaluation.of(Decided(np.zeros((2, 2, 2))), 1)
