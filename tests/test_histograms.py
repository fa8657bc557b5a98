"""Histograms of columns: what they hold, and what they do not."""

from itertools import pairwise

import numpy as np
import pytest

from elmband.sums.histograms import Histograms

RNG = np.random.default_rng(0)


def test_bins_have_about_equal_weight():
    X, s = RNG.standard_cauchy((5000, 1)), RNG.uniform(0.1, 2, 5000)
    found = Histograms.of(X, s)
    assert found.n_bins.tolist() == [32]
    # A row has at most 1 / 2600 of all weight, and lies on one side of a cut.
    np.testing.assert_allclose(found.shares, 1 / 32, atol=1 / 2000)


def test_weights_are_those_of_a_histogram_with_these_cuts():
    X, s = RNG.standard_normal((300, 2)), RNG.uniform(0.1, 2, 300)
    found = Histograms.of(X, s)
    for j in range(2):
        edges = [-np.inf, *found.cuts[:, j], np.inf]
        expected = [s[(lo < X[:, j]) & (X[:, j] <= hi)].sum() for lo, hi in pairwise(edges)]
        np.testing.assert_allclose(found.weights[:, j], expected, rtol=1e-12)


def test_two_values_have_a_bin_each_and_constants_one():
    X = np.stack([np.arange(1000) == 5, np.full(1000, 3.0), np.arange(1000) % 2 * 1e-9], axis=1)
    found = Histograms.of(X, np.ones(1000))
    assert found.n_bins.tolist() == [2, 1, 2]
    np.testing.assert_allclose(found.shares, [[0.999, 1, 0.5], [0.001, 0, 0.5]])


def test_cuts_are_no_values_of_rows():
    X = RNG.standard_normal((2000, 1))
    assert not np.isin(Histograms.of(X, np.ones(2000)).cuts, X).any()


def test_few_rows_have_few_bins():
    assert Histograms.of(RNG.standard_normal((45, 1)), np.ones(45)).n_bins.tolist() == [4]


def test_order_and_copies_do_not_matter():
    X, times = RNG.integers(0, 50, (400, 3)).astype(float), RNG.integers(1, 4, 400)
    found = Histograms.of(X, times)
    again = Histograms.of(X[::-1], times[::-1])
    np.testing.assert_array_equal(found.cuts, again.cuts)
    np.testing.assert_array_equal(found.weights, again.weights)


def test_parts_add_up_to_the_whole():
    X = RNG.standard_normal((1000, 2))
    found = Histograms.of(X, np.ones(1000))
    both = found.counted(X[:300]) + found.counted(X[300:])
    np.testing.assert_array_equal(both.weights, found.weights)
    with pytest.raises(ValueError, match="same bins"):
        found + Histograms.of(X + 1, np.ones(1000))


def test_missing_and_infinite_values_have_their_places():
    found = Histograms.of(np.stack([np.arange(1000.0), np.arange(1000) % 2], axis=1), np.ones(1000))
    new = found.counted(np.array([[np.inf, np.inf], [-np.inf, np.nan]]))
    assert new.weights[:, 0].nonzero()[0].tolist() == [0, 31]
    assert new.weights[:, 1].nonzero()[0].tolist() == [1]


def test_numbers_at_the_end_of_numbers():
    X = np.array([-1.7e308, -1e-308, 0, 5e-324, 1.7e308] * 20)[:, None]
    found = Histograms.of(X, np.ones(100))
    np.testing.assert_array_equal(found.weights, found.counted(X).weights)
    assert found.weights.sum() == 100
