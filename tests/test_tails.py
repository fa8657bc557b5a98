import numpy as np
import pytest

from elmband import ELMIntervalRegressor, load
from elmband.estimators._saved import restore, stored
from elmband.metrics import interval_score
from elmband.uncertainty.calibrate import Calibration, row_scores
from elmband.uncertainty.tails import _interval_scores, look_skewed, tails_gain

NOISE = {
    "normal": lambda rng, X: rng.standard_normal(len(X)),
    "exponential": lambda rng, X: rng.standard_exponential(len(X)) - 1,
    "turning": lambda rng, X: np.sign(X[:, 1]) * (rng.standard_exponential(len(X)) - 1),
}


def rows(kind, n, seed, more=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n + more, 3))
    return X, 2 * np.sin(X[:, 0]) + X[:, 1] + 0.5 * NOISE[kind](rng, X)


def scores(e, scale=1.0):
    return row_scores(e, [scale * np.ones_like(e)] * 3, np.ones(len(e)))


def both_ways(e):
    """Return variances and scores of tails that are alike, and of separate ones, told by e."""
    alike = [np.ones_like(e)] * 3
    separate = [
        np.ones_like(e),
        *(np.full_like(e, np.mean(e[side] ** 2)) for side in (e > 0, e < 0)),
    ]
    ones = np.ones(len(e))
    return alike, separate, [row_scores(e, totals, ones) for totals in (alike, separate)]


@pytest.mark.parametrize("symmetric", [True, False])
def test_interval_scores_are_those_of_multipliers_from_the_other_folds(symmetric):
    rng = np.random.default_rng(0)
    e = rng.standard_exponential((90, 2)) - 1
    folds, deviations = np.arange(90) % 3, rng.uniform(1, 2, size=(3, 90, 2))
    known = row_scores(e, list(deviations**2), np.ones(90))
    found = _interval_scores(e, list(deviations), known, folds, symmetric=symmetric)
    both, above, below = deviations
    for fold in range(3):
        here = folds == fold
        calibration = Calibration("loo", known.taken(folds != fold).outputs())
        for j in range(2):
            if symmetric:
                low = high = calibration.symmetric(0.9, j) * both[here, j]
            else:
                z = calibration.tails(0.9, j)
                low, high = z[0] * below[here, j], z[1] * above[here, j]
            bounds = np.stack([-low, high], axis=1)
            mean = interval_score(e[here, j], bounds, confidence_level=0.9)
            assert found[here, j].mean() == pytest.approx(mean)


@pytest.mark.parametrize("sign", [1, -1])
def test_skewed_scores_are_found_wherever_they_are(sign):
    rng = np.random.default_rng(1)
    X = rng.normal(size=(500, 2))
    for kind, skewed in (("normal", False), ("exponential", True), ("turning", True)):
        e = sign * NOISE[kind](rng, X)[:, None]
        assert look_skewed(scores(e), X) == skewed


def test_the_unit_of_scores_and_of_weights_does_not_matter():
    rng = np.random.default_rng(2)
    e = rng.standard_exponential((200, 1)) - 0.8
    X = rng.normal(size=(200, 1))
    for scale in (1e-12, 1e12):
        known = scores(e, scale)
        assert look_skewed(known._replace(s=scale * known.s), X)


@pytest.mark.parametrize(("skewed", "gain"), [(False, False), (True, True)])
def test_tails_of_their_own_are_kept_if_intervals_gain(skewed, gain):
    rng = np.random.default_rng(3)
    e = (rng.standard_exponential((400, 1)) - 1) if skewed else rng.standard_normal((400, 1))
    alike, separate, known = both_ways(e)
    assert tails_gain(e, alike, separate, known, np.arange(400) % 5) == gain


def test_what_is_forced_or_published_is_not_decided():
    X, y = rows("exponential", 150, 0)
    for options in (
        {"symmetric": True},
        {"noise": "squared"},
        {"calibration": "gaussian"},
    ):
        assert ELMIntervalRegressor(10, random_state=0, **options).fit(X, y).symmetric_
    assert not ELMIntervalRegressor(10, symmetric=False, random_state=0).fit(X, y).symmetric_
    for wrong in ("no", 1, None):
        with pytest.raises(ValueError, match="symmetric must be True, False or 'auto'"):
            ELMIntervalRegressor(10, symmetric=wrong).fit(X, y)


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["exponential", "turning"])
def test_skewed_noise_gets_the_same_intervals_as_if_it_had_been_asked_for(kind, tmp_path):
    X, y = rows(kind, 1000, 0)
    found, asked = (
        ELMIntervalRegressor(60, symmetric=symmetric, random_state=0).fit(X, y)
        for symmetric in ("auto", False)
    )
    assert found.symmetric_ is False
    np.testing.assert_array_equal(found.predict_interval(X), asked.predict_interval(X))
    found.save(tmp_path / "model.safetensors")
    again = load(tmp_path / "model.safetensors")
    assert again.symmetric_ is False
    np.testing.assert_array_equal(found.predict_interval(X), again.predict_interval(X))
    # Files of earlier versions know only what was asked for.
    kept = stored(asked)
    state = {name: value for name, value in kept.state.items() if name != "symmetric_"}
    assert len(state) == len(kept.state) - 1
    earlier = ELMIntervalRegressor()
    restore(earlier, kept._replace(state=state))
    assert earlier.symmetric_ is False
    np.testing.assert_array_equal(found.predict_interval(X), earlier.predict_interval(X))


@pytest.mark.slow
def test_the_median_is_the_median():
    """Of 4,000 new rows and noise whose mean has 63 % below it; 3 % are four standard errors."""
    X, y = rows("exponential", 1000, 1, 4000)
    model = ELMIntervalRegressor(60, random_state=0).fit(X[:1000], y[:1000])
    below = np.mean(y[1000:] < model.predict_quantiles(X[1000:], 0.5))
    assert below == pytest.approx(0.5, abs=0.03)
    assert np.mean(y[1000:] < model.predict(X[1000:])) > 0.58


@pytest.mark.slow
def test_symmetric_noise_keeps_its_intervals():
    """At most 1 % of the interval score is lost, on average over 6 draws of 300 and 1,000 rows."""
    ratios = []
    for n in (300, 1000):
        for seed in range(3):
            X, y = rows("normal", n, seed, 2000)
            one, other = (
                ELMIntervalRegressor(60, symmetric=symmetric, random_state=0)
                .fit(X[:n], y[:n])
                .predict_interval(X[n:], 0.9)
                for symmetric in (True, "auto")
            )
            score, before = (interval_score(y[n:], b, confidence_level=0.9) for b in (other, one))
            ratios.append(score / before)
    assert np.mean(ratios) < 1.01


@pytest.mark.slow
def test_outputs_are_decided_together_and_transforms_come_first():
    X, y = rows("exponential", 600, 2)
    two = np.stack([y, -y], axis=1)
    model = ELMIntervalRegressor(40, random_state=0).fit(X, two)
    assert model.symmetric_ is False
    low, high = (model.predict_interval(X, 0.9)[:, j] for j in (0, 1))
    np.testing.assert_allclose(low, -high[:, ::-1], rtol=1e-6)
    logged = ELMIntervalRegressor(40, random_state=0).fit(
        X, np.exp(X[:, 0] + np.random.default_rng(0).standard_normal(600))
    )
    assert type(logged.target_transform_).__name__ == "Log"
    assert logged.symmetric_
