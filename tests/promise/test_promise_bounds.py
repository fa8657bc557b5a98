import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binom, binomtest

from elmband.uncertainty.promise.bounds import (
    TOP_BET,
    BettingEvidence,
    BinomialEvidence,
    groups_needed,
    rows_needed,
    stakes,
)

limits = st.floats(0.001, 0.9)
deltas = st.floats(0.001, 0.5)
rates = st.lists(st.sampled_from([0.0, 0.0, 0.0, 0.05, 1 / 3, 0.5, 1.0]), max_size=40)


@given(st.integers(0, 400), st.integers(0, 400), limits)
def test_p_values_of_rows_are_the_tails_of_a_binomial(bad, good, limit):
    p = BinomialEvidence(bad, bad + good).p_value(limit)
    np.testing.assert_allclose(p, binom.cdf(bad, bad + good, limit), rtol=1e-9)


@given(st.integers(0, 400), st.integers(0, 400), deltas)
def test_bounds_of_rows_are_those_of_clopper_and_pearson(bad, good, delta):
    if bad + good == 0:
        assert BinomialEvidence(0, 0).bound(delta) == 1
        return
    interval = binomtest(bad, bad + good, alternative="less").proportion_ci(1 - delta, "exact")
    bound = BinomialEvidence(bad, bad + good).bound(delta)
    np.testing.assert_allclose(bound, interval.high, rtol=1e-9)


def test_millions_of_rows_keep_their_digits():
    seen = BinomialEvidence(99_500, 2_000_000)
    np.testing.assert_allclose(seen.p_value(0.05), binom.cdf(99_500, 2_000_000, 0.05), rtol=1e-8)
    np.testing.assert_allclose(seen.p_value(seen.bound(0.1)), 0.1, rtol=1e-8)


def naive_wealth(rates, bets, limit):
    """Transcribe the average of the bets, one group after the other."""
    ends = []
    for bet in bets:
        wealth = 1.0
        for rate in rates:
            wealth *= 1 + bet / (1 - limit) * (limit - rate)
        ends.append(wealth)
    return sum(ends) / len(ends)


@given(rates, limits, deltas)
def test_p_values_of_groups_are_the_inverse_of_what_bets_win(rates, limit, delta):
    evidence = BettingEvidence.of(np.array(rates), limit, delta)
    wealth = naive_wealth(rates, stakes(len(rates), limit, delta), limit)
    np.testing.assert_allclose(evidence.p_value(limit), min(1, 1 / wealth), rtol=1e-9)
    assert evidence.n == len(rates)
    if rates:
        np.testing.assert_allclose(evidence.observed, np.mean(rates), atol=1e-12)


@pytest.mark.parametrize(
    ("values", "masses"), [([0, 1], [0.8, 0.2]), ([0, 0.2, 1], [0.5, 0.375, 0.125])]
)
def test_bets_win_nothing_on_average_if_the_mean_rate_is_the_limit(values, masses):
    """The expectation over all outcomes of five groups, which makes 1 / wealth a p-value."""
    assert np.dot(values, masses) == pytest.approx(0.2)
    expected = 0.0
    for outcome in itertools.product(range(len(values)), repeat=5):
        evidence = BettingEvidence.of(np.take(values, outcome).astype(float), 0.2, 0.1)
        expected += math.exp(evidence.log_wealth(0.2)) * np.prod(np.take(masses, outcome))
    assert expected == pytest.approx(1, abs=1e-12)


@given(rates, limits, deltas)
def test_bounds_of_groups_have_the_p_value_delta(rates, limit, delta):
    evidence = BettingEvidence.of(np.array(rates), limit, delta)
    bound = evidence.bound(delta)
    if bound < 1 - 1e-6:
        # The bound is exact to 1e-10, the p-value changes faster than that near 1.
        np.testing.assert_allclose(evidence.p_value(bound), delta, rtol=1e-2)
        assert evidence.p_value(bound) <= delta < evidence.p_value(bound - 2e-10)
    assert bound >= (evidence.observed if rates else 1)


def test_a_bound_of_groups_is_1_if_every_row_is_bad():
    assert BettingEvidence.of(np.ones(50), 0.1, 0.1).bound(0.1) == 1


def test_p_values_of_hopeless_groups_are_1_and_not_too_large_for_a_float():
    assert BettingEvidence.of(np.ones(100_000), 0.1, 0.1).p_value(0.1) == 1


@given(rates, st.randoms(use_true_random=False))
def test_the_order_of_groups_does_not_matter(rates, random):
    shuffled = random.sample(rates, len(rates))
    p = [BettingEvidence.of(np.array(r), 0.1, 0.1).p_value(0.1) for r in (rates, shuffled)]
    assert p[0] == p[1]


@given(limits, deltas)
def test_stakes_never_risk_all(limit, delta):
    for n in (0, 1, 30, 10_000):
        bets = stakes(n, limit, delta)
        assert np.all((bets > 0) & (bets < 1))
        assert bets.max() == pytest.approx(TOP_BET)


@given(limits, deltas)
def test_one_row_less_than_needed_is_not_enough(limit, delta):
    needed = rows_needed(limit, delta)
    assert (1 - limit) ** needed <= delta * (1 + 1e-9)
    assert (1 - limit) ** (needed - 1) >= delta * (1 - 1e-9)


@pytest.mark.parametrize(("limit", "rows"), [(0.1, 22), (0.05, 45), (0.01, 230), (0.001, 2302)])
def test_rows_needed_for_common_limits(limit, rows):
    assert rows_needed(limit, 0.1) == rows


@pytest.mark.slow
@given(limits, deltas)
def test_one_group_less_than_needed_is_not_enough(limit, delta):
    needed = groups_needed(limit, delta)
    passes = [
        BettingEvidence.of(np.zeros(n), limit, delta).p_value(limit) <= delta
        for n in range(needed + 50)
    ]
    assert passes == [False] * needed + [True] * 50
    assert needed >= rows_needed(limit, delta)


def test_groups_needed_are_hardly_more_than_rows():
    for limit in (0.01, 0.05, 0.1):
        assert groups_needed(limit, 0.1) <= math.ceil(1.06 * rows_needed(limit, 0.1))


def hoeffding_bentkus(rates, limit):
    """Transcribe the p-value of Bates et al., 2021, the usual one for bounded losses."""
    n, mean = len(rates), min(np.mean(rates), limit)
    kl = (1 - mean) * math.log((1 - mean) / (1 - limit))
    kl += mean * math.log(mean / limit) if mean else 0
    bentkus = math.e * binom.cdf(math.ceil(n * np.mean(rates)), n, limit)
    return min(1, math.exp(-n * kl), bentkus)


def graded(rng, mean, n):
    """Most groups are all good, the others have rates of 1/3 on average."""
    return np.where(rng.random(n) < 3 * mean, rng.beta(1, 2, n), 0)


def correlated(rng, mean, n):
    """Twenty rows in each group, which resemble each other."""
    return rng.binomial(20, rng.beta(2 * mean, 2 * (1 - mean), n)) / 20


@pytest.mark.one_quick
@pytest.mark.parametrize("draw", [graded, correlated])
@pytest.mark.parametrize(("n", "limit"), [(100, 0.1), (300, 0.05), (1000, 0.02)])
def test_bets_find_more_than_hoeffding_and_bentkus(draw, n, limit):
    rng = np.random.default_rng(0)
    draws = [draw(rng, limit / 2, n) for _ in range(300)]
    bets = np.mean([BettingEvidence.of(r, limit, 0.1).p_value(limit) <= 0.1 for r in draws])
    usual = np.mean([hoeffding_bentkus(r, limit) <= 0.1 for r in draws])
    assert bets > usual + 0.1


@pytest.mark.one_quick
@pytest.mark.parametrize("draw", [graded, correlated, lambda rng, mean, n: rng.random(n) < mean])
@pytest.mark.parametrize(("n", "limit"), [(60, 0.1), (500, 0.05)])
def test_bets_are_rarely_won_if_the_mean_rate_is_the_limit(draw, n, limit):
    rng = np.random.default_rng(1)
    draws = [draw(rng, limit, n).astype(float) for _ in range(1000)]
    won = np.mean([BettingEvidence.of(r, limit, 0.1).p_value(limit) <= 0.1 for r in draws])
    assert won <= 0.1 + 3 * math.sqrt(0.09 / 1000)
