"""What is counted block by block is what all rows at once would give."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binom
from statsmodels.stats.proportion import proportion_confint

from elmband.report.axes import NumberAxis
from elmband.report.bins import (
    MOST_BINS,
    FeatureBins,
    between,
    feature_bins,
    feature_edges,
    narrow_bins,
    spans_apart,
    threshold_steps,
)
from elmband.report.first_pass import Drawn, number_keys, sample_size
from elmband.report.shares import Share, group_verdict
from elmband.report.tallies import ByLabel, Cells, Extremes, Span

ROWS = 500
CUT = 137
rng = np.random.default_rng(0)
CELL = rng.integers(0, 6, (ROWS, 2))
VALUES = rng.normal(size=(ROWS, 3))
HALVES = slice(0, CUT), slice(CUT, None)


def added(make):
    first, second = (make(part) for part in HALVES)
    return first + second


def test_sums_in_cells():
    found = added(lambda part: Cells.of(CELL[part], VALUES[part], 6)).sums
    for cell in range(6):
        times = (cell == CELL).sum(axis=1)
        np.testing.assert_allclose(found[cell], times @ VALUES)


def test_ranges_in_cells_and_none_where_there_are_no_rows():
    pair = np.stack([VALUES[:, 0], VALUES[:, 1]], axis=1)
    found = added(lambda part: Span.of(CELL[part], pair[part], 7))
    for cell in range(6):
        assert (found.low[cell], found.high[cell]) == (
            pair[cell == CELL].min(),
            pair[cell == CELL].max(),
        )
    assert (found.low[6], found.high[6]) == (np.inf, -np.inf)


def test_the_most_extreme_rows_of_equal_ones_the_first():
    keys = np.round(VALUES[:, 0], 1)
    keys[::7] = np.nan
    found = added(lambda part: Extremes.of(9, keys[part], np.arange(ROWS)[part], VALUES[part]))
    order = sorted(np.flatnonzero(~np.isnan(keys)), key=lambda row: (-keys[row], row))[:9]
    assert found.numbers.tolist() == order
    np.testing.assert_array_equal(found.values, VALUES[order])


def test_sums_by_label_of_which_halves_know_different_ones():
    labels = np.array(["b", "a", "c"])[CELL[:, 0] % 3]
    labels[:CUT][labels[:CUT] == "c"] = "a"
    found = added(lambda part: ByLabel.of(labels[part], VALUES[part]))
    assert found.labels.tolist() == ["a", "b", "c"]
    for name, sums in zip("abc", found.sums, strict=True):
        np.testing.assert_allclose(sums, VALUES[labels == name].sum(axis=0))


@pytest.mark.parametrize(
    ("labels", "sentence"),
    [
        (np.arange(3000.0), "more than 2,000 labels"),
        (np.array(["a", None, 3], dtype=object), "mixes types"),
    ],
)
def test_labels_that_make_no_groups_are_refused(labels, sentence):
    with pytest.raises(ValueError, match=sentence):
        ByLabel.of(labels, np.ones((len(labels), 1)))


def test_missing_labels_are_one_of_their_own():
    labels = np.array([1.0, np.nan, 2.0, np.nan, 1.0])
    numbers = np.array([1.5, np.nan, 3.0, np.nan, 0.5])
    found = ByLabel.of(labels[:2], np.ones((2, 1)), numbers[:2])
    found += ByLabel.of(labels[2:], np.ones((3, 1)), numbers[2:])
    np.testing.assert_array_equal(found.labels, [1, 2, np.nan])
    assert found.sums[:, 0].tolist() == [2, 1, 2]
    assert found.low[:2].tolist() == [0.5, 3]
    assert found.high[:2].tolist() == [1.5, 3]


def test_the_sample_of_rows_does_not_depend_on_how_they_are_cut():
    numbers, X = np.arange(ROWS), VALUES

    def drawn(part):
        return Drawn(50, number_keys(numbers[part]), X[part], numbers[part]).cut()

    whole = drawn(slice(None))
    for cut in (1, CUT, ROWS - 1):
        parts = drawn(slice(0, cut)) + drawn(slice(cut, None))
        np.testing.assert_array_equal(parts.y, whole.y)
        np.testing.assert_array_equal(parts.X, whole.X)
    assert len(whole.y) == 50


@pytest.mark.slow
def test_the_sample_is_of_all_parts_of_the_rows():
    numbers = np.arange(1_000_000)
    keys = number_keys(numbers)
    kept = np.argpartition(keys, 10_000)[:10_000]
    tenths = np.bincount(kept // 100_000)
    # Binomial with mean 1000 and standard deviation 30.
    assert tenths.min() > 850
    assert tenths.max() < 1150
    assert len(np.unique(keys)) == len(keys)


def test_long_rows_make_a_smaller_sample():
    assert sample_size(10) == 20_000
    assert sample_size(1000) == 1048
    assert sample_size(100_000) == 1000


@pytest.mark.slow
@given(
    # Within what bins around any of these values reach.
    st.lists(st.floats(1e-2, 1e3), min_size=1, max_size=60),
    st.lists(st.integers(0, 2), min_size=60, max_size=60),
)
def test_medians_from_narrow_bins_are_right_within_half_a_percent(values, cells):
    values = np.array(values)
    cell = np.array(cells[: len(values)])[:, None]
    bins = narrow_bins(values)
    found = bins.medians(bins.counted(cell, values, 3).sums)
    for k in range(3):
        some = values[cell[:, 0] == k]
        if len(some):
            assert found[k] == pytest.approx(np.median(some), rel=0.0051)
        else:
            assert np.isnan(found[k])


def test_medians_of_nothing_but_zeros_and_of_what_has_no_limit():
    bins = narrow_bins(np.array([1.0, 2.0]))
    zeros, limitless = np.zeros(3), np.full(3, np.inf)
    cell = np.zeros((3, 1), dtype=np.int64)
    assert bins.medians(bins.counted(cell, zeros, 1).sums) == [0]
    assert bins.medians(bins.counted(cell, limitless, 1).sums) == [np.inf]
    assert narrow_bins(zeros).middle == 1


def test_few_values_have_a_bin_each_and_many_have_tenths():
    assert feature_edges(np.array([3.0, 1.0, 2.0, 1.0])).tolist() == [1, 2]
    assert feature_edges(np.ones(50)).tolist() == []
    edges = feature_edges(np.arange(1000.0))
    assert edges.tolist() == [99, 199, 299, 399, 499, 599, 699, 799, 899]
    # Bins of fewer than 25 rows say nothing.
    assert len(feature_edges(np.arange(80.0))) == 2
    # A value that half of the rows have makes one bin of its own.
    heavy = np.concatenate([np.zeros(500), np.arange(1.0, 501)])
    edges = feature_edges(heavy)
    assert edges[0] == 0
    assert len(edges) < MOST_BINS


def test_a_row_at_an_edge_is_in_the_bin_below_it():
    axes = NumberAxis("b", (1,)), NumberAxis("a", (0,))
    bins = FeatureBins(axes, (np.array([2.0, 5.0]), np.array([0.0])))
    X = np.array([[0.0, 2.0], [0.5, 2.1], [-1, 5.0], [3, 9.0]])
    cells, values = bins.located(X)
    assert cells.tolist() == [[0, 3], [1, 4], [1, 3], [2, 4]]
    np.testing.assert_array_equal(values, X[:, ::-1])
    assert bins.n_cells == 5
    assert bins.owners == [(0, 0), (0, 1), (0, 2), (1, 0), (1, 1)]


def test_features_along_which_something_changes_come_first():
    X = rng.normal(size=(1000, 30))
    X[:, 4] = 1.0
    axes = [NumberAxis(str(j), (j,)) for j in range(30)]
    bins = feature_bins(axes, X, np.abs(X[:, 17]) + 0.5 * np.abs(X[:, 3]))
    names = [axis.name for axis in bins.axes]
    assert names[:2] == ["17", "3"]
    assert len(names) == 20
    assert "4" not in names
    alone = feature_bins(axes[:2], np.ones((10, 2)), np.ones(10))
    assert [axis.name for axis in alone.axes] == ["0"]


def test_steps_leave_one_percent_after_the_other():
    values = rng.permutation(np.arange(1.0, 1001))
    steps = threshold_steps(values)
    counts = np.bincount(np.searchsorted(steps, values, side="left"))
    assert counts.tolist() == [10] * 100
    assert steps[-1] == np.inf
    assert threshold_steps(np.array([np.inf])).tolist() == [np.inf]
    assert len(threshold_steps(np.ones(50))) == 2


@given(st.integers(1, 2000), st.floats(0, 1))
def test_the_uncertainty_of_a_share_is_that_of_statsmodels(n, p):
    part = round(p * n)
    found = Share.of(part, n)
    low, high = proportion_confint(part, n, method="beta")
    assert found.share == part / n
    np.testing.assert_allclose([found.low, found.high], [low, high], atol=1e-12)
    several = Share.of(part, n, looks=7)
    low, high = proportion_confint(part, n, alpha=0.05 / 7, method="beta")
    np.testing.assert_allclose([several.low, several.high], [low, high], atol=1e-12)


def test_verdicts():
    assert Share.of(900, 1000).verdict(0.9) == "kept"
    assert Share.of(8950, 10_000).verdict(0.9) == "kept"
    assert Share.of(800, 1000).verdict(0.9) == "broken"
    assert Share.of(16, 20).verdict(0.9) == "unclear"
    assert Share.of(990, 1000).verdict(0.9) == "cautious"
    assert np.isnan(Share.of(0, 0).share)
    assert Share.of(1, 1000).below(0.01) == "kept"
    assert Share.of(12, 1000).below(0.01) == "unclear"
    assert Share.of(30, 1000).below(0.01) == "broken"
    # Between 84 and 90 % of enough rows is no broken promise, and enough to tell.
    assert Share.of(436, 500).verdict(0.9) == "near"
    assert Share.of(3, 3).verdict(0.9) == "unclear"
    assert Share.of(3, 5).verdict(0.9) == "unclear"
    # Of a hundred shares some are low by chance: one alone needs more to be doubted.
    assert Share.of(167, 200).verdict(0.9) == "broken"
    assert Share.of(167, 200, looks=100).verdict(0.9) == "unclear"
    assert Share.of(145, 200, looks=100).verdict(0.9) == "broken"


@pytest.mark.parametrize("level", [0.9, 0.95, 0.99])
@pytest.mark.parametrize("looks", [1, 20, 100])
def test_chance_alone_seldom_breaks_a_promise_however_small_groups_are(level, looks):
    for n in (2, 3, 4, 5, 8, 20, 50):
        held = np.arange(n + 1)
        verdicts = [Share.of(int(k), n, looks=looks).verdict(level) for k in held]
        false = binom.pmf(held, n, level)[[verdict == "broken" for verdict in verdicts]].sum()
        assert looks * false <= 0.025


def test_one_row_gets_no_verdict():
    assert group_verdict(Share.of(0, 1), 1, 0.9) is None
    assert group_verdict(Share.of(0, 4), 4, 0.9) == "broken"
    assert group_verdict(Share.of(2, 2), 2, 0.9) == "unclear"


def test_what_lies_apart_is_told_by_its_neighbours():
    assert between([1990, 1991, 1992, 2005, 2006]) == [False, False, True, False]
    # Where values have no usual step, none is missing.
    assert between([1, 2, 5, 10, 20, 50]) == [False] * 5
    assert between([1, 9]) == [False]
    assert between([3]) == between([]) == []
    assert spans_apart([(0.0, 1.0), (1.1, 2.0), (30.0, 31.0)]) == [False, True]
    assert spans_apart([(0.0, 10.0), (11.0, 20.0), (25.0, 40.0)]) == [False, False]


def test_no_bin_reaches_over_a_wide_gap():
    values = np.concatenate([rng.normal(0, 1, 480), rng.normal(30, 1, 520)])
    edges = feature_edges(values)
    ends = np.concatenate([[-np.inf], edges, [np.inf]])
    for low, high in pairwise(ends):
        part = values[(values > low) & (values <= high)]
        assert np.ptp(part) < 10
        assert len(part) >= 25
    # Single far values make no bin.
    assert len(feature_edges(np.append(rng.normal(size=1000), [50.0, 90.0]))) == 9
    missing = np.append(values, np.full(50, np.nan))
    np.testing.assert_array_equal(feature_edges(missing), edges)
