"""Multipliers of skewed noise: a bound may lie on either side of the mean."""

import math
import warnings
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binom

from elmband.uncertainty.calibrate import Calibration, OutputScores, Scores, score_bins

LEVELS = ["0.02", "0.1", "0.3", "0.5", "0.9"]
KINDS = ("loo", "conformal")
# Deviations below and above the mean, and errors rounded to one digit, which have many ties.
BELOW, ABOVE = 0.5, 2.0
errors = st.lists(st.integers(-30, 30).map(lambda e: e / 10), min_size=1, max_size=40)


@pytest.fixture(autouse=True)
def _few_rows():
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=".*too few")
        yield


def kept(e, s=None):
    """Return the scores of errors e, one by one."""
    e = np.asarray(e, dtype=float)
    s = np.ones(len(e)) if s is None else np.asarray(s, dtype=float)
    return OutputScores(*(Scores.of(t, s) for t in (np.abs(e), e / ABOVE, -e / BELOW)))


def counted(e, counts):
    """Return the scores of errors e that are met so often."""
    e, counts = np.asarray(e, dtype=float), np.asarray(counts, dtype=float)
    return OutputScores(*(Scores.counted(t, counts) for t in (np.abs(e), e / ABOVE, -e / BELOW)))


def binned(e):
    """Return the scores of errors e in bins."""
    e = np.asarray(e, dtype=float)[:, None]
    variances = [np.full_like(e, std**2) for std in (1.0, ABOVE, BELOW)]
    return score_bins(e, variances, None).scores()[0]


def tails(kind, scores, level):
    """Return the ends of a central interval in signed scores."""
    low, high = Calibration(kind, (scores,)).tails(level, 0)
    return -low, high


def signed(e):
    e = np.asarray(e, dtype=float)
    return np.where(e > 0, e / ABOVE, e / BELOW)


def exact_end(u, s, rank):
    """Return the least u with at least `rank` rows at or below it."""
    counted = 0
    for value, weight in sorted(zip(u, s, strict=True)):
        counted += weight
        if counted >= rank:
            return value
    return math.inf


def upper_end(u, s, rank):
    """Return that, and the next higher one up to the mean where it is not above the mean."""
    end = exact_end(u, s, rank)
    return end if end > 0 else min([0.0, *(value for value in u if value > end)])


@pytest.mark.slow
@pytest.mark.parametrize("level", LEVELS)
@given(errors, st.data())
def test_conformal_ends_have_the_rank_of_exact_arithmetic(level, e, data):
    counts = data.draw(st.lists(st.integers(1, 4), min_size=len(e), max_size=len(e)))
    rank = math.ceil((sum(counts) + 1) * (1 + Fraction(level)) / 2)
    low, high = tails("conformal", counted(e, counts), float(level))
    assert high == upper_end(signed(e), counts, rank)
    assert low == -upper_end(-signed(e), counts, rank)


@pytest.mark.one_quick
@pytest.mark.parametrize("level", LEVELS)
@given(errors)
def test_estimated_ends_lie_between_those_of_the_next_ranks(level, e):
    share, s, e = (1 + Fraction(level)) / 2, np.ones(len(e)), np.asarray(e)
    rank = (len(e) + 1) * share
    # Past the last score an estimate follows a tail.
    if rank > len(e):
        return
    low, high = tails("loo", kept(e), float(level))
    for end, errs, unit in ((high, e, ABOVE), (-low, -e, BELOW)):
        u = signed(e) if unit is ABOVE else -signed(e)
        between = np.quantile(errs / unit, float(share), method="weibull")
        if between < -1e-9:
            between = min(upper_end(u, s, math.ceil(rank)), 0.0)
        # A mean of two scores that is zero but for rounding is on either side of the mean.
        assert end == pytest.approx(between, abs=1e-9) or abs(between) < 1e-9


@pytest.mark.parametrize("level", [0.02, 0.2, 0.5])
@given(st.integers(2, 40), st.integers(0, 1000))
def test_weights_of_rows_count_as_many_as_they_are_worth(level, n, seed):
    rng = np.random.default_rng(seed)
    e, s = rng.exponential(size=n) - 1, rng.uniform(0.1, 3, size=n)
    s = s * s.sum() / (s**2).sum()
    rank = (s.sum() + 1) * (1 + level) / 2
    low, high = tails("conformal", kept(e, s), level)
    assert high == upper_end(signed(e), s, rank)
    assert low == -upper_end(-signed(e), s, rank)


@pytest.mark.parametrize("kind", KINDS)
@given(errors, st.integers(1, 4), st.floats(0, 0.99))
def test_a_common_factor_of_weights_changes_nothing(kind, e, factor, level):
    weighted = kept(e, np.full(len(e), factor))
    assert tails(kind, weighted, level) == tails(kind, kept(e), level)


@given(st.integers(2, 60), st.integers(0, 1000))
def test_bins_and_rows_count_weights_alike(n, seed):
    rng = np.random.default_rng(seed)
    e, s = rng.standard_normal((n, 1)), rng.integers(0, 4, size=n) / 2
    if not s.any():
        return
    parts = [score_bins(e[k::2], [np.ones_like(e[k::2])] * 3, s[k::2]) for k in range(2)]
    bins, rows = (parts[0] + parts[1]).scores()[0], Scores.of(np.abs(e[:, 0]), s)
    assert bins.both.n == pytest.approx(rows.n, rel=1e-12)
    for level in (0.3, 0.6, 0.9):
        exact, binned_one = rows.conformal(level), bins.both.conformal(level)
        if math.isfinite(exact):
            assert exact <= binned_one <= 1.0026 * exact + 1e-4
        else:
            assert binned_one == math.inf


@pytest.mark.one_quick
@pytest.mark.parametrize("level", LEVELS)
@given(st.integers(2, 200), st.integers(0, 1000))
def test_bins_err_outwards_and_by_little(level, n, seed):
    e = np.random.default_rng(seed).exponential(size=n) - 1
    rank = math.ceil((n + 1) * (1 + Fraction(level)) / 2)
    low, high = tails("conformal", binned(e), float(level))
    for end, u in ((high, signed(e)), (-low, -signed(e))):
        exact = exact_end(u, np.ones(n), rank)
        # An infinite end is as far out as can be.
        assert exact <= end
        assert end == exact or end - exact <= 0.0026 * abs(exact) + 1e-4


@pytest.mark.one_quick
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("scores", [kept, binned])
@given(errors, st.lists(st.floats(0, 0.99), min_size=2, max_size=5))
def test_ends_are_nested_and_never_cross(kind, scores, e, levels):
    ends = np.array([tails(kind, scores(e), level) for level in sorted(levels)])
    assert (ends[1:, 0] <= ends[:-1, 0]).all()
    assert (ends[1:, 1] >= ends[:-1, 1]).all()
    assert ends[:, 0].max() <= ends[:, 1].min()


@pytest.mark.slow
@pytest.mark.parametrize("level", [0.02, 0.2])
@pytest.mark.parametrize("sign", [1, -1])
@pytest.mark.parametrize("scores", [kept, binned])
def test_each_tail_keeps_its_share_where_both_ends_are_on_one_side(scores, sign, level):
    """One new row for each of 4,000 calibration sets of 39, within binomial bounds of 1e-4."""
    rng = np.random.default_rng(0)
    draws = sign * (rng.standard_exponential((4000, 40)) - 1)
    missed, aside = np.zeros(2), 0
    for row in draws:
        low, high = tails("conformal", scores(row[:-1]), level)
        new = signed(row[-1:])[0]
        missed += [new < low, new > high]
        aside += low * high > 0
    assert aside > 2000
    share = (1 - level) / 2
    assert missed.max() <= binom.ppf(1 - 1e-4, 4000, share)
    # A rank to be counted up to, and another one outwards.
    assert missed.min() >= binom.ppf(1e-4, 4000, share - 2 / 40)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("scores", [kept, binned])
def test_at_level_zero_both_ends_are_the_median(kind, scores):
    e = np.random.default_rng(0).standard_exponential(20_000) - 1
    # Ranks of 20,000 scores lie 1e-4 apart, bins 0.25 %.
    assert tails(kind, scores(e), 0.0) == pytest.approx((np.median(e) / BELOW,) * 2, abs=3e-3)
    assert Calibration("gaussian", ()).tails(0.0, 0) == (0.0, 0.0)


def test_errors_of_one_sign_leave_one_end_at_the_mean_at_most():
    e = np.arange(1.0, 20.0)
    assert tails("loo", kept(e), 0.9)[0] == 0.0
    assert tails("loo", kept(e), 0.5)[0] == 4 / ABOVE
    assert tails("loo", kept(-e), 0.5)[1] == -4 / BELOW
    # The upper end past the last score, which is below the mean.
    assert tails("loo", kept(-e), 0.99)[1] == 0.0
    assert tails("conformal", kept(-e), 0.99)[1] == math.inf
