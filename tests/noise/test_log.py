from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import minimize

from elmband.ground.arrays import to_numpy
from elmband.layers.hidden import FeatureMap, HiddenLayer
from elmband.layers.member import Judged
from elmband.layers.neurons import Neurons
from elmband.sums.moments import Chunk
from elmband.sums.scaling import Scaling
from elmband.uncertainty.noise import log as log_noise
from elmband.uncertainty.noise.log import LogNoise, NoiseVariance

RNG = np.random.default_rng(0)
N, L = 60, 5
H = 2 + RNG.standard_normal((N, L))
Q = np.exp(H @ RNG.normal(scale=0.5, size=L)) * RNG.standard_normal(N) ** 2
S = RNG.uniform(0.2, 3, size=N)
TRIPLES = np.arange(N) // 3
WIDE = RNG.standard_normal((40, 60))
FIRST = np.arange(N) == 0
BAD_TARGETS = {
    "with zeros": np.where(TRIPLES % 3 == 0, 0.0, Q),
    "one outlier": np.where(FIRST, 1e6, Q),
    "one huge outlier": np.where(FIRST, 1e12, Q),
    "all but one zero": np.where(FIRST, 1.0, 0.0),
    "constant": np.ones(N),
    "all zero": np.zeros(N),
    "tiny": 1e-200 * Q,
    "large": 1e200 * Q,
}


def problem(H, q, s, gamma):
    """Return ½ Σ s (η + q e^(-η)) + ¼ γ‖β‖² with η = μ + (h - mean) β, and its gradient."""
    centred = H - np.average(H, axis=0, weights=s)

    def objective(parameters):
        level, beta = parameters[0], parameters[1:]
        eta = level + centred @ beta
        ratio = q * np.exp(-eta)
        slope = 0.5 * s * (1 - ratio)
        value = 0.5 * s @ (eta + ratio) + 0.25 * gamma * beta @ beta
        return value, np.r_[slope.sum(), centred.T @ slope + 0.5 * gamma * beta]

    return objective


def minimum(H, q, s, gamma):
    objective = problem(H, q, s, gamma)
    start = np.r_[np.log(np.average(q, weights=s)), np.zeros(H.shape[1])]
    options = {"gtol": 1e-8, "maxiter": 10_000}
    return minimize(objective, start, jac=True, method="BFGS", options=options)


def refitted(H, q, s, gamma, labels):
    """Refit without each label in turn, and return η of its rows."""
    eta = np.empty(len(q))
    for label in np.unique(labels):
        out = labels == label
        centre = np.average(H[~out], axis=0, weights=s[~out])
        x = minimum(H[~out], q[~out], s[~out], gamma).x
        eta[out] = x[0] + (H[out] - centre) @ x[1:]
    return eta


def hidden_as_given(n_neurons):
    linear = Neurons("linear", np.eye(n_neurons), np.zeros(n_neurons))
    scaling = Scaling(np.zeros(n_neurons), np.ones(n_neurons))
    return FeatureMap(scaling, HiddenLayer((linear,)))


def fit(H, q, gamma=None, s=None, labels=None):
    s = np.ones(len(q)) if s is None else s
    judged = Judged(Chunk(H, q[:, None], s), s, labels)
    return LogNoise.fit(H, hidden_as_given(H.shape[1]), q, judged, gamma)


@pytest.fixture(params=[None, S], ids=["plain", "weighted"])
def s(request):
    return request.param


@pytest.mark.parametrize("gamma", [0.1, 1.0, 30.0])
def test_the_solution_is_the_minimum_that_scipy_finds(s, gamma):
    model, _ = fit(H, Q, gamma, s)
    s = np.ones(N) if s is None else s
    value, gradient = problem(H, Q, s, gamma)(np.r_[model.level, model.coef])
    best = minimum(H, Q, s, gamma)
    # Scoring ends when a step gains little, not when the gradient vanishes to the last digit.
    assert value - best.fun < 1e-5 * N
    assert np.abs(gradient).max() < 5e-3 * N
    eta = best.x[0] + (H - np.average(H, axis=0, weights=s)) @ best.x[1:]
    np.testing.assert_allclose(model.predict(H).log, eta, atol=0.02)


def test_more_neurons_than_rows():
    q = np.random.default_rng(1).standard_normal(40) ** 2
    model, _ = fit(WIDE, q, 50.0)
    best = minimum(WIDE, q, np.ones(40), 50.0)
    eta = best.x[0] + (WIDE - WIDE.mean(axis=0)) @ best.x[1:]
    np.testing.assert_allclose(model.predict(WIDE).log, eta, atol=0.02)


@pytest.mark.one_quick
@pytest.mark.parametrize("q", BAD_TARGETS.values(), ids=BAD_TARGETS.keys())
@pytest.mark.parametrize("gamma", [None, 1e-3, 1.0])
@pytest.mark.parametrize("labels", [None, TRIPLES], ids=["single rows", "groups"])
def test_bad_targets_are_survived_without_warnings(q, gamma, labels, s):
    model, left_out = fit(H, q, gamma, s, labels)
    for variance in (model.predict(H), left_out):
        for part in (variance.noise, variance.excess, variance.bound(2.0), variance.bound(-2.0)):
            assert (part >= 0).all()
        assert np.isfinite(variance.log).all()
    # At the optimum targets are e^η on average (the gradient of the level); those that are raised
    # because they are far below the others count for a part.
    if q.any():
        ratio = np.average(q * np.exp(-model.predict(H).log), weights=s)
        assert 0.5 < ratio < 1.02


def test_noise_is_not_extrapolated():
    model, _ = fit(H, Q, 1.0)
    inside = model.predict(H)
    for factor in (10.0, 1e6):
        far = model.predict(factor * H)
        assert inside.log.min() - 3 < far.log.min()
        assert far.log.max() < inside.log.max() + 3
        # What is far away is not known better than what is near.
        assert np.median(far.uncertainty) > np.median(inside.uncertainty)


def test_targets_of_zero_do_not_pull_the_variance_to_zero():
    """A residual may happen to be zero; its log-variance must stay among those of other rows."""
    clean, _ = fit(H, Q, 1.0)
    some, _ = fit(H, np.where(FIRST, 0.0, Q), 1.0)
    np.testing.assert_allclose(some.predict(H).log, clean.predict(H).log, atol=1.5)


@pytest.mark.slow
@given(st.integers(-90, 90))
def test_the_unit_of_the_targets_is_a_shift_of_the_logarithm(power):
    (model, left_out), (moved, moved_out) = fit(H, Q), fit(H, 10.0**power * Q)
    shift = power * np.log(10)
    np.testing.assert_allclose(moved.predict(H).log, model.predict(H).log + shift, atol=1e-6)
    np.testing.assert_allclose(moved_out.log, left_out.log + shift, atol=1e-6)
    assert moved.alpha == pytest.approx(model.alpha)


@pytest.mark.slow
@pytest.mark.parametrize("gamma", [1.0, 10.0, 100.0])
@pytest.mark.parametrize("labels", [None, TRIPLES], ids=["single rows", "groups"])
def test_log_variance_of_rows_left_out_is_close_to_refitting(gamma, labels, s):
    """One step from the optimum, not a full refit: close, and nearer than the fit itself."""
    model, left_out = fit(H, Q, gamma, s, labels)
    expected = refitted(
        H, Q, np.ones(N) if s is None else s, gamma, np.arange(N) if labels is None else labels
    )
    assert np.corrcoef(left_out.log, expected)[0, 1] > 0.995
    gap = np.median(np.abs(left_out.log - expected))
    assert gap < 0.05
    assert gap < 0.5 * np.median(np.abs(model.predict(H).log - expected))


@pytest.mark.slow
def test_rows_left_out_where_neurons_outnumber_rows():
    q = np.exp(0.3 * WIDE[:, 0]) * np.random.default_rng(1).standard_normal(40) ** 2
    _, left_out = fit(WIDE, q, 100.0)
    expected = refitted(WIDE, q, np.ones(40), 100.0, np.arange(40))
    assert np.corrcoef(left_out.log, expected)[0, 1] > 0.98
    assert np.median(np.abs(left_out.log - expected)) < 0.05


@pytest.fixture(scope="module")
def many():
    rng = np.random.default_rng(1)
    X = rng.standard_normal((20_000, 3))
    true = -1 + X @ [0.8, -0.5, 0.2]
    return X, true, np.exp(true) * rng.standard_normal(20_000) ** 2


def test_a_known_log_linear_variance_is_found(many):
    """Of 20,000 rows: a coefficient's standard error is √(2/n) = 1 %."""
    X, true, q = many
    model, left_out = fit(X, q)
    np.testing.assert_allclose(model.coef, [0.8, -0.5, 0.2], atol=0.04)
    for log in (model.predict(X).log, left_out.log):
        ratio = np.exp(log - true)
        assert ratio.mean() == pytest.approx(1, abs=0.03)
        assert np.quantile(np.abs(ratio - 1), 0.9) < 0.06


def test_the_uncertainty_is_that_of_repeated_draws(many):
    """The variance of η over 200 draws of 500 rows, within 25 %; the prior adds nothing here."""
    X, true, _ = many
    X, true, rng = X[:500], true[:500], np.random.default_rng(2)
    logs, claimed = [], []
    for _ in range(200):
        model, _ = fit(X, np.exp(true) * rng.standard_normal(500) ** 2, 0.1)
        variance = model.predict(X[:40])
        logs.append(variance.log - model.level)
        claimed.append(variance.uncertainty)
    ratio = np.mean(claimed, axis=0) / np.var(logs, axis=0)
    assert np.median(ratio) == pytest.approx(1, abs=0.25)


def test_weights_are_counts():
    counts = np.random.default_rng(1).integers(1, 4, size=N)
    # Equal rows are left out together, as a row leaves with all its weight.
    owner = np.repeat(np.arange(N), counts)
    weighted, weighted_out = fit(H, Q, None, counts.astype(float))
    repeated, repeated_out = fit(H[owner], Q[owner], None, labels=owner)
    assert weighted.alpha == pytest.approx(repeated.alpha)
    np.testing.assert_allclose(weighted.predict(H).log, repeated.predict(H).log, atol=1e-8)
    np.testing.assert_allclose(weighted_out.log[owner], repeated_out.log, atol=1e-7)
    np.testing.assert_allclose(weighted.covariance, repeated.covariance, rtol=1e-8, atol=1e-14)


def test_the_chosen_strength_is_no_worse_than_others_beyond_chance():
    """For rows left out, no other γ is better by a standard error of the difference."""
    model, left_out = fit(H, Q)

    def deviance(eta):
        return eta + Q * np.exp(-eta)

    for factor in (1e-3, 1e-2, 0.1, 10.0, 100.0, 1e3):
        _, other = fit(H, Q, model.alpha * factor)
        worse = deviance(left_out.log) - deviance(other.log)
        assert worse.mean() < worse.std() / np.sqrt(N)


# Deviances of 2,000 rows of dbbmi left out, from the largest γ on, half a decade apart: they rise,
# and fall once more where leaving rows out is told too well.
@pytest.mark.parametrize(
    ("deviances", "best"),
    [
        ([1827, 1784, 1658, 1338, 789, 344, 192, 165, 169, 187, 212, 225, 202, 123, 0], 7),
        ([1675, 1636, 1522, 1232, 723, 277, 95, 54, 53, 61, 77, 93, 95, 71, 0], 8),
        ([1646, 1598, 1462, 1137, 640, 267, 108, 47, 27, 22, 19, 10, 0, 2, 10], 12),
    ],
)
def test_the_search_ends_before_strengths_that_are_praised_too_much(monkeypatch, deviances, best):
    eigen = SimpleNamespace(s=np.ones(2000), n=2000.0, values=np.ones(3))
    strengths = [10.0 ** (4 - k / 2) for k in range(15)]

    def told(_eigen, _q, gamma, state):
        deviance = 1e-4 * deviances[strengths.index(gamma)]
        return log_noise._Tried(gamma, deviance, state, np.zeros(2000))

    monkeypatch.setattr(log_noise, "_try", told)
    assert log_noise._best(eigen, np.ones(2000), strengths)[0] == strengths[best]


def test_pure_noise_is_given_a_nearly_constant_variance():
    """The spread of η over 300 rows and 20 useless inputs, in the median of 9 draws."""
    rng, spreads = np.random.default_rng(1), []
    for _ in range(9):
        X = rng.standard_normal((300, 20))
        model, _ = fit(X, rng.standard_normal(300) ** 2)
        spreads.append(model.predict(X).log.std())
    assert np.median(spreads) < 0.15


@pytest.mark.one_quick
def test_every_library_gives_the_same(xp):
    for labels in (None, TRIPLES):
        expected, expected_out = fit(H, Q, None, S, labels)
        X, q, s = (xp.asarray(a) for a in (H, Q, S))
        judged = Judged(Chunk(X, q[:, None], s), s, labels)
        features = hidden_as_given(L).to(X, xp.float64)
        model, left_out = LogNoise.fit(X, features, q, judged, None)
        variance, known = model.predict(X), expected.predict(H)
        for mine, theirs in ((variance, known), (left_out, expected_out)):
            for name in ("log", "uncertainty", "noise", "excess"):
                a, b = to_numpy(getattr(mine, name)), getattr(theirs, name)
                np.testing.assert_allclose(a, b, rtol=1e-7, atol=1e-9)


@given(st.floats(-50, 50), st.floats(0, 1e6))
def test_bounds_and_excess_follow_the_uncertainty(log, uncertainty):
    variance = NoiseVariance.of(np.array([log]), np.array([uncertainty]))
    low, middle, high = (variance.bound(z)[0] for z in (-1.0, 0.0, 1.0))
    assert 0 < low <= middle <= high < np.inf
    assert middle == pytest.approx(variance.noise[0])
    # A log-normal variable of median e^η and variance v has the mean e^(η + v/2).
    mean = np.exp(log + variance.uncertainty[0] / 2)
    assert variance.noise[0] + variance.excess[0] == pytest.approx(mean)
