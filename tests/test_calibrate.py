import math
import re
import warnings
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binom, norm
from scipy.stats import t as student

from elmband.uncertainty.calibrate import Calibration, OutputScores, Scores, one_sided, two_sided

LEVELS = ["0.5", "0.8", "0.9", "0.95", "0.99", "0.1"]
levels = st.floats(0.01, 0.999)
# Scores rounded to one digit have many ties.
scores = st.lists(st.integers(-30, 30).map(lambda t: t / 10), min_size=1, max_size=40)


def scored(t, s=None):
    t = np.asarray(t, dtype=float)
    return Scores.of(t, np.ones(len(t)) if s is None else np.asarray(s, dtype=float))


def counted(t, counts):
    return Scores.counted(np.asarray(t, dtype=float), np.asarray(counts, dtype=float))


def output(t, s=None):
    t = np.asarray(t, dtype=float)
    return OutputScores(scored(np.abs(t), s), scored(t, s), scored(-t, s))


def calibration(kind, t, s=None):
    return Calibration(kind, (output(t, s),))


def ranked(t, counts, rank):
    """Return the score of a rank, counting every score as often as it is met."""
    met = sorted(value for value, count in zip(t, counts, strict=True) for _ in range(count))
    return met[rank - 1] if rank <= len(met) else math.inf


@pytest.mark.one_quick
@pytest.mark.parametrize("level", LEVELS)
@given(scores, st.data())
def test_conformal_scores_have_the_rank_of_exact_arithmetic(level, t, data):
    counts = data.draw(st.lists(st.integers(1, 4), min_size=len(t), max_size=len(t)))
    rank = math.ceil((sum(counts) + 1) * Fraction(level))
    assert counted(t, counts).conformal(float(level)) == ranked(t, counts, rank)


def test_ranks_do_not_suffer_from_rounding():
    """100 · 0.07 is more than 7 in binary numbers, and 100 · 0.29 is less than 29."""
    for n in (9, 19, 49, 99, 199, 999):
        known = scored(np.arange(1, n + 1))
        for percent in range(1, 100):
            rank = -((n + 1) * percent // -100)
            expected = rank if rank <= n else math.inf
            assert known.conformal(percent / 100) == expected


@pytest.mark.one_quick
@pytest.mark.parametrize("level", LEVELS)
@given(scores)
def test_estimated_scores_lie_between_those_of_the_next_ranks(level, t):
    share = float(level)
    if (len(t) + 1) * Fraction(level) <= len(t):
        expected = np.quantile(t, share, method="weibull")
        assert scored(t).estimated(share, two_sided) == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize("level", [0.5, 0.8, 0.9])
@given(st.integers(2, 40), st.integers(0, 1000))
def test_weights_count_as_many_rows_as_they_are_worth(level, n, seed):
    rng = np.random.default_rng(seed)
    t, s = rng.standard_normal(n), rng.uniform(0.2, 3, size=n)
    s = s * s.sum() / (s**2).sum()
    expected, below = math.inf, 0.0
    for value, weight in sorted(zip(t, s, strict=True)):
        below += weight
        if below >= (s.sum() + 1) * level:
            expected = value
            break
    assert scored(t, s).conformal(level) == expected


@given(st.integers(1, 40), st.integers(0, 1000), st.floats(1e-6, 1e6))
def test_a_common_factor_of_weights_changes_nothing(n, seed, factor):
    """Ten times fifteen rows are fifteen rows."""
    rng = np.random.default_rng(seed)
    t = rng.standard_normal(n)
    for s in (np.ones(n), rng.uniform(0.2, 3, size=n)):
        one, other = scored(t, s), scored(t, factor * s)
        assert other.n == pytest.approx(one.n, rel=1e-12)
        for level in (0.31, 0.77):
            assert other.conformal(level) == one.conformal(level)
            assert other.estimated(level, two_sided) == pytest.approx(
                one.estimated(level, two_sided), rel=1e-9
            )


def test_fifteen_rows_of_weight_ten_are_no_guarantee_at_99_percent():
    known = calibration("conformal", np.arange(1.0, 16.0), np.full(15, 10.0))
    with pytest.warns(UserWarning, match="15 calibration rows are too few"):
        assert known.symmetric(0.99, 0) == math.inf
    uneven = calibration("conformal", np.arange(1.0, 16.0), np.arange(1.0, 16.0))
    with pytest.warns(UserWarning, match=r"11.61290323 calibration rows \(that is what their we"):
        assert uneven.symmetric(0.99, 0) == math.inf


@given(st.integers(2, 40), st.integers(0, 1000))
def test_rows_of_weight_zero_are_not_there(n, seed):
    rng = np.random.default_rng(seed)
    t, s = rng.standard_normal(n), rng.integers(0, 3, size=n).astype(float)
    if not s.any():
        return
    mine, theirs = scored(t, s), scored(t[s > 0], s[s > 0])
    np.testing.assert_array_equal(mine.t, theirs.t)
    np.testing.assert_array_equal(mine.cumulated, theirs.cumulated)


def test_rows_without_any_weight_give_no_guarantee():
    known = calibration("conformal", [1.0, 2.0], [0.0, 0.0])
    with pytest.warns(UserWarning, match="0 calibration rows are too few"):
        assert known.symmetric(0.5, 0) == math.inf


@pytest.mark.one_quick
@pytest.mark.parametrize(("power", "level"), [(0, 0.9), (0.5, 0.9), (1, 0.8)])
def test_weighted_rows_cover_as_often_as_their_effective_number_says(power, level):
    """Weights say nothing of scores here: coverage is that of n_eff rows, within 1.5 points."""
    rng = np.random.default_rng(0)
    covered = []
    for _ in range(4000):
        s = rng.uniform(0.1, 1, size=60) ** (2 * power)
        t = rng.standard_normal(61) ** 2
        covered.append(t[-1] <= scored(t[:-1], s).conformal(level))
    assert level - 0.015 < np.mean(covered) < level + 0.03


@given(scores, st.permutations(range(40)))
def test_the_order_of_scores_does_not_matter(t, order):
    order = [i for i in order if i < len(t)]
    for level in (0.5, 0.9):
        mine, theirs = scored(np.array(t)[order]), scored(t)
        assert mine.conformal(level) == theirs.conformal(level)
        assert mine.estimated(level, two_sided) == theirs.estimated(level, two_sided)


@pytest.mark.slow
@pytest.mark.parametrize(("n", "level"), [(19, 0.9), (30, 0.8), (99, 0.95)])
def test_conformal_intervals_cover_as_often_as_theory_says(n, level):
    """One new row for each of 20,000 calibration sets: an exact binomial, bounds of 1e-4 each."""
    rng = np.random.default_rng(0)
    draws = rng.standard_t(3, size=(20_000, n + 1))
    covered = sum(abs(row[-1]) <= scored(abs(row[:-1])).conformal(level) for row in draws)
    probability = math.ceil((n + 1) * Fraction(str(level))) / (n + 1)
    assert probability >= level
    assert (
        binom.ppf(1e-4, 20_000, probability)
        <= covered
        <= binom.ppf(1 - 1e-4, 20_000, level + 1 / n)
    )


@pytest.mark.slow
def test_each_tail_of_conformal_intervals_keeps_its_own_share():
    """Skewed scores: at most 10 % miss on either side, within a binomial bound of 1e-4."""
    rng = np.random.default_rng(0)
    draws = rng.standard_exponential((10_000, 40)) - 1
    missed = np.zeros(2)
    for row in draws:
        low, high = calibration("conformal", row[:-1]).tails(0.8, 0)
        missed += [row[-1] < -low, row[-1] > high]
    assert missed.max() <= binom.ppf(1 - 1e-4, 10_000, 0.1)
    assert missed.min() >= binom.ppf(1e-4, 10_000, 0.1 - 1 / 40)


@given(levels)
def test_too_few_rows_give_an_infinite_interval_and_name_a_number_that_is_enough(level):
    for multiplier, share in (
        (lambda c: c.symmetric(level, 0), level),
        (lambda c: c.tails(level, 0)[1], (1 + level) / 2),
    ):
        enough = math.ceil(Fraction(share) / (1 - Fraction(share)) * (1 - Fraction(1, 10**9)))
        if enough == 1:
            continue
        few = calibration("conformal", np.arange(1, enough))
        with pytest.warns(UserWarning, match=r"too few .* the interval is infinite") as caught:
            assert multiplier(few) == math.inf
        sentence = str(caught[0].message)
        assert sentence.startswith(f"{enough - 1:g} calibration rows")
        assert f"confidence_level={level:g}" in sentence
        named = int(re.search(r"at least (\d+) rows", sentence).group(1))
        assert named == enough
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            assert multiplier(calibration("conformal", np.arange(1, named + 1))) == named


def test_a_gaussian_calibration_needs_no_scores():
    gaussian = Calibration("gaussian", ())
    assert gaussian.symmetric(0.95, 0) == pytest.approx(norm.ppf(0.975))
    assert gaussian.tails(0.95, 0) == pytest.approx((norm.ppf(0.975),) * 2)
    assert gaussian.std(0) == 1.0


@given(st.integers(2, 60), st.integers(0, 100), st.lists(levels, min_size=2, max_size=5))
def test_multipliers_grow_with_the_level(n, seed, chosen):
    t = np.random.default_rng(seed).standard_normal(n)
    chosen = sorted(chosen)
    for kind in ("gaussian", "loo", "conformal"):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # too few rows for the highest levels
            both = [calibration(kind, t).symmetric(level, 0) for level in chosen]
            tails = np.array([calibration(kind, t).tails(level, 0) for level in chosen])
        assert both == sorted(both)
        assert (tails == np.sort(tails, axis=0)).all()
        assert (-tails[:, 0] <= tails[:, 1]).all()


@pytest.mark.parametrize(("n", "rel"), [(4, 0.25), (8, 0.015), (19, 0.01), (200, 0.001)])
def test_past_the_last_score_multipliers_follow_student_s_tail(n, rel):
    """Wallace's formula is within 1.5 % of the quantiles from seven degrees of freedom on."""
    known, last = scored(np.arange(1.0, n + 1)), n / (n + 1)
    tail = student(n - 1)
    assert known.estimated(last, two_sided) == pytest.approx(n, rel=1e-9)
    for level in (1 - 0.8 / (n + 1), 1 - 0.2 / (n + 1), 0.9999):
        factor = tail.ppf((1 + level) / 2) / tail.ppf((1 + last) / 2)
        assert known.estimated(level, two_sided) == pytest.approx(n * factor, rel=rel)
        factor = tail.ppf(level) / tail.ppf(last)
        assert known.estimated(level, one_sided) == pytest.approx(n * factor, rel=rel)


def test_the_fewer_the_scores_the_heavier_the_tail_past_the_last():
    growth = [
        scored(np.arange(1.0, n + 1)).estimated(1 - 0.1 / (n + 1), two_sided) / n
        for n in (1, 2, 3, 5, 10, 30, 1000)
    ]
    assert (np.diff(growth) < 0).all()
    assert growth[0] > 5


@pytest.mark.parametrize("level", [0.9, 0.99, 0.999])
def test_multipliers_of_normal_scores_come_close_to_the_normal_ones(level):
    """Past the last of 49 scores only the tail is left: 25 % on average over 400 sets."""
    draws = np.random.default_rng(0).standard_normal((400, 49))
    found = [calibration("loo", row).symmetric(level, 0) for row in draws]
    assert np.mean(found) == pytest.approx(two_sided(level), rel=0.25)


def test_the_tails_of_skewed_scores_differ():
    t = np.random.default_rng(0).standard_exponential(500) - 0.7
    low, high = calibration("loo", t).tails(0.9, 0)
    assert low < 0.75
    assert high > 2
    # All scores above zero: the lower bound lies above the mean too.
    moved = np.sort(t - t.min() + 1)
    assert calibration("loo", moved).tails(0.5, 0)[0] == -moved[123]


@given(st.integers(2, 30), st.integers(0, 100))
def test_the_factor_of_the_standard_deviation_is_the_root_mean_square(n, seed):
    rng = np.random.default_rng(seed)
    t, s = rng.standard_normal(n), rng.uniform(0.2, 3, size=n)
    assert calibration("loo", t, s).std(0) == pytest.approx(
        np.sqrt(np.average(t**2, weights=s)), rel=1e-9
    )


def test_every_output_has_its_own_scores():
    both = Calibration("loo", (output([1.0, 2.0, 3.0]), output([10.0, 20.0, 30.0])))
    assert both.symmetric(0.5, 1) == pytest.approx(10 * both.symmetric(0.5, 0))
    assert both.std(1) == pytest.approx(10 * both.std(0))


def test_many_scores_are_kept_in_part_and_multipliers_stay():
    """What is dropped lies on a line between its neighbours, up to a few in ten thousand."""
    rng = np.random.default_rng(0)
    t = rng.standard_t(4, size=20_000)
    for weights in (np.ones(20_000), rng.uniform(0.5, 2, size=20_000)):
        scores = Scores.of(t, weights)
        thin = scores.thinned()
        assert len(thin.t) <= 4000
        assert thin.n == scores.n
        for share in (0.001, 0.02, 0.3, 0.5, 0.9, 0.99, 0.9999, 0.99999):
            expected = scores.estimated(share, one_sided)
            assert thin.estimated(share, one_sided) == pytest.approx(expected, rel=2e-3, abs=2e-3)
        assert thin.root_mean_square == pytest.approx(scores.root_mean_square, rel=2e-3)


def test_few_scores_are_kept_as_they_are():
    scores = Scores.of(np.random.default_rng(0).normal(size=4000), np.ones(4000))
    assert scores.thinned() is scores
