"""Statistical claims on artificial data, with fixed seeds and stated tolerances."""

import numpy as np
import pytest

from elmband import ELMIntervalRegressor
from elmband.datasets import DOMAIN, make_heteroscedastic, noise_std
from elmband.metrics import coverage_by_group, picp
from published import published

PAPER = {"linear": 1, "tanh": 10}
WIDER = {"linear": 1, "tanh": 30}
TEST = make_heteroscedastic(20_000, random_state=99)
GRID = np.linspace(*DOMAIN, 200)[:, None]


def fitted(n, neurons=WIDER, seed=0, noise="heteroscedastic"):
    data = make_heteroscedastic(n, noise=noise, random_state=seed)
    return published(neurons, random_state=seed).fit(data.X, data.y)


@pytest.fixture(scope="module")
def large():
    return fitted(50_000)


@pytest.mark.parametrize("level", [0.8, 0.9, 0.95, 0.99])
def test_coverage_is_right_for_many_rows(large, level):
    # 20,000 test rows: a binomial standard error is at most 0.3 points.
    assert picp(TEST.y, large.predict_interval(TEST.X, level)) == pytest.approx(level, abs=0.01)


def test_coverage_is_right_where_noise_is_small_and_where_it_is_large(large):
    fifth = np.argsort(np.argsort(TEST.std)) // 4000
    covered = coverage_by_group(TEST.y, large.predict_interval(TEST.X, 0.9), fifth)
    np.testing.assert_allclose(covered.coverage, 0.9, atol=0.04)


@pytest.mark.slow
@pytest.mark.parametrize("level", [0.8, 0.9, 0.95, 0.99])
def test_coverage_is_right_for_another_shape_of_noise(level):
    """Two inputs, noise growing along one and the signal bending along the other."""
    rng = np.random.default_rng(7)
    X = rng.uniform(0, 1, size=(70_000, 2))
    noise = 0.2 + X[:, 0]
    y = np.cos(4 * X[:, 1]) + noise * rng.standard_normal(70_000)
    model = published(60, random_state=0).fit(X[:50_000], y[:50_000])
    test = slice(50_000, None)
    interval = model.predict_interval(X[test], level)
    assert picp(y[test], interval) == pytest.approx(level, abs=0.01)
    fifth = np.argsort(np.argsort(noise[test])) // 4000
    covered = coverage_by_group(y[test], interval, fifth).coverage
    np.testing.assert_allclose(covered, level, atol=0.02)


@pytest.mark.parametrize("noise", [0.1, 0.5, 1.0])
def test_homoscedastic_noise_is_covered_too(noise):
    test = make_heteroscedastic(20_000, noise=noise, random_state=98)
    interval = fitted(20_000, noise=noise).predict_interval(test.X, 0.95)
    assert picp(test.y, interval) == pytest.approx(0.95, abs=0.01)


@pytest.mark.slow
def test_intervals_shrink_to_the_true_ones_as_rows_grow():
    """As in the paper's figures: 30, 100, 1,000 and 100,000 rows, mean of 5 draws each."""
    truth = 2 * 1.96 * noise_std(GRID[:, 0])
    errors, model_parts = [], []
    for n in (30, 100, 1000, 100_000):
        models = [fitted(n, PAPER if n < 1000 else WIDER, seed) for seed in range(5)]
        widths = [np.diff(m.predict_interval(GRID), axis=1)[:, 0] for m in models]
        errors.append(np.mean([np.abs(width - truth).mean() for width in widths]))
        parts = [m.predict_variance(GRID) for m in models]
        model_parts.append(np.mean([(p.mean_model + p.noise_model).mean() for p in parts]))
    assert errors[0] > errors[1] > errors[2] > errors[3]
    assert errors[3] < 0.05 * truth.mean()
    assert model_parts[0] > model_parts[1] > model_parts[2] > model_parts[3]
    assert model_parts[3] < 0.01 * (truth**2).mean() / (2 * 1.96) ** 2


@pytest.mark.slow
def test_with_30_rows_intervals_are_over_estimated_rather_than_missed():
    covered = [picp(TEST.y, fitted(30, PAPER, s).predict_interval(TEST.X)) for s in range(20)]
    assert np.median(covered) > 0.85


def test_intervals_widen_where_there_are_no_rows():
    data = make_heteroscedastic(600, noise=0.3, random_state=5)
    kept = (data.X[:, 0] < -0.5) | (data.X[:, 0] > 1.5)
    model = published(WIDER, alpha=1e-4, random_state=0)
    model.fit(data.X[kept], data.y[kept])
    gap = model.predict_variance(np.array([[0.5]])).mean_model
    near = model.predict_variance(np.array([[-1.5], [2.2]])).mean_model
    assert gap.min() > 10 * near.max()
    outside = model.predict_variance(np.array([[-4.0], [4.0]])).mean_model
    assert outside.min() > 10 * near.max()


def test_per_sample_intervals_beat_a_uniform_one_where_noise_is_unequal(large):
    mean = large.predict(TEST.X)
    uniform = 1.645 * np.sqrt(np.mean((TEST.y - mean) ** 2))
    quiet = TEST.std < np.quantile(TEST.std, 0.2)
    assert np.mean(np.abs(TEST.y - mean)[quiet] < uniform) > 0.99
    interval = large.predict_interval(TEST.X[quiet], 0.9)
    assert picp(TEST.y[quiet], interval) == pytest.approx(0.9, abs=0.04)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(6))
def test_where_there_is_nothing_to_learn_intervals_still_cover(seed):
    """The mean of the other rows tells a row's own target, and noise must not be learned from it.

    Over seeds coverage varies by 1.5 points; it was 70 % where the mean was trusted.
    """
    rng = np.random.default_rng(seed)
    X, y = rng.standard_normal((500, 3)), rng.standard_normal(500)
    new = rng.standard_normal((3000, 3)), rng.standard_normal(3000)
    found = ELMIntervalRegressor(random_state=seed).fit(X, y).evaluate(*new, confidence_level=0.9)
    assert 0.86 < found.levels[0].coverage < 0.94


def of_kind(kind, rng, n):
    """Draw rows to learn from and 400 new ones of the same kind."""
    n += 400
    X = rng.standard_normal((n, 5))
    if kind == "linear":
        return X, X @ np.linspace(1, 0.2, 5) + rng.standard_normal(n)
    if kind == "bent":
        return X, np.tanh(2 * X[:, 0]) + X[:, 1] * X[:, 2] + 0.5 * rng.standard_normal(n)
    if kind == "pure noise":
        return X[:, :2], rng.standard_normal(n)
    if kind == "unequal noise":
        return X[:, :2], np.sin(X[:, 0]) + np.exp(0.5 * X[:, 1]) * rng.standard_normal(n)
    if kind == "useless columns":
        useless = rng.standard_normal((n, 50))
        return np.hstack([X, useless]), 2 * X[:, 0] + 0.5 * rng.standard_normal(n)
    classes = np.eye(4)[rng.integers(0, 4, n)]
    return classes, classes @ [0.0, 1.0, 2.0, 4.0] + rng.standard_normal(n)


KINDS = ["linear", "bent", "pure noise", "unequal noise", "useless columns", "categories"]


def coverages(n, seeds, levels, **options):
    """Return the coverage of new rows, averaged over data sets of all kinds in turn."""
    found = []
    for seed in range(seeds):
        rng = np.random.default_rng([seed, n])
        X, y = of_kind(KINDS[seed % len(KINDS)], rng, n)
        model = ELMIntervalRegressor(random_state=seed, **options).fit(X[:n], y[:n])
        bounds = model.predict_interval(X[n:], levels)
        hit = (bounds[:, 0] <= y[n:, None]) & (y[n:, None] <= bounds[:, 1])
        found.append(hit.mean(axis=0))
    return np.mean(found, axis=0)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("n", "seeds"),
    [
        *[(15, 36), (30, 36), (100, 36)],
        *[pytest.param(*both, marks=pytest.mark.long) for both in ((15, 90), (30, 72), (100, 72))],
    ],
)
def test_few_rows_cover_as_often_as_they_say(n, seeds):
    """A standard error over 36 data sets is at most 1.3 points; it was 70 to 87 % at 90 %.

    Fifteen rows cover a little too much: 93 %.
    """
    eighty, ninety, more = coverages(n, seeds, [0.8, 0.9, 0.95])
    assert eighty == pytest.approx(0.8, abs=0.04)
    assert ninety == pytest.approx(0.9, abs=0.03 if n > 15 else 0.04)
    assert more == pytest.approx(0.95, abs=0.025)


@pytest.mark.slow
def test_separate_tails_of_few_rows_cover_as_often_as_they_say():
    """Skewed noise, 200 rows, 20 seeds: a standard error is 0.7 points; it was 85.5 %."""
    found = []
    for seed in range(20):
        rng = np.random.default_rng(seed)
        X = rng.standard_normal((1200, 5))
        y = X[:, 0] + np.exp(0.3 * X[:, 1]) * (rng.standard_exponential(1200) - 1)
        model = ELMIntervalRegressor(symmetric=False, random_state=seed).fit(X[:200], y[:200])
        found.append(picp(y[200:], model.predict_interval(X[200:], 0.9)))
    assert np.mean(found) == pytest.approx(0.9, abs=0.02)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:.* are too few to tell")
def test_fewer_rows_than_can_be_relied_on_have_wide_intervals():
    """3 to 12 rows, 18 data sets each: no less than 80 % at 90 %; it was 51 to 75 %."""
    for n in (3, 5, 8, 12):
        assert coverages(n, 18, [0.9])[0] > 0.8, n
