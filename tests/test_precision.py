"""Means trained again with weights 1 / variance: by hand, and where they are kept."""

import numpy as np
import pytest

from elmband import ELMClassifier, ELMIntervalRegressor, load, scan
from elmband.engines import engine
from elmband.ground.arrays import to_numpy
from elmband.layers.hidden import LayerSpec
from elmband.stacks.pool import Pool
from elmband.stacks.search import fit_stack
from elmband.sums.rows import ArrayRows
from elmband.sums.scaling import Scaling, column_moments
from elmband.uncertainty import precision
from elmband.uncertainty.fit_predictive import NoiseSettings, fit_predictive
from elmband.uncertainty.precision import Precision, gains, is_narrower, refitted

SPECS = [LayerSpec((("tanh", 30),)), LayerSpec((("tanh", 20),), weight_scale=2.0)]
NOISE_SPEC = LayerSpec((("linear", 4), ("tanh", 20)), weight_scale=0.5)


def noisy(n, seed=0, spread=1.5):
    """Draw rows whose noise grows exponentially with the third input."""
    rng = np.random.default_rng(seed)
    X = rng.uniform(-2, 2, size=(n, 3))
    mean = np.sin(2 * X[:, 0]) * X[:, 1]
    return X, mean + 0.3 * np.exp(spread * X[:, 2]) * rng.standard_normal(n), mean


def fitted(n=400, chunk_size=100, judged=None, monkeypatch=None):
    X, y, _ = noisy(n)
    rows = ArrayRows(X, y[:, None], np.linspace(0.5, 1.5, n), chunk_size=chunk_size)
    inputs = Scaling.from_moments(engine.total(rows, lambda c: column_moments(c.X, c.s)))
    pool = Pool.of(rows, inputs, None, n, 3, 2.0**-52)
    if judged is not None:
        monkeypatch.setattr("elmband.stacks.search.judged_rows", lambda _: judged)
    stack = fit_stack(pool, SPECS, 1.0)
    model = fit_predictive(pool, stack, NoiseSettings(NOISE_SPEC, None, symmetric=True)).predictive
    weights = Precision.of(model.stack, model.noise, stack.judged.weighted_rows)
    return pool, stack, weights


def test_weights_have_a_mean_of_one_and_are_the_inverse_variance():
    _, stack, weights = fitted()
    rows = stack.judged.weighted_rows
    w, s = weights(rows.X), to_numpy(rows.s)
    assert s @ w / s.sum() == pytest.approx(1, rel=1e-12)
    assert np.corrcoef(np.log(w), rows.X[:, 2])[0, 1] < -0.8
    far = np.log(w) - np.log(weights.factor)
    assert np.abs(far).max() <= np.log(precision._MOST_RATIO) + 1e-12
    doubled = weights.times(rows)
    np.testing.assert_allclose(doubled.s, s * w, rtol=1e-12)


@pytest.mark.parametrize("judged", [None, 150], ids=["all rows judged", "a sample judged"])
def test_members_are_ridge_regressions_with_these_weights(judged, monkeypatch):
    """β = (HᵀWH + γI)⁻¹ HᵀW(y - ȳ), with H and y centred by the same weights, and γ as given."""
    pool, stack, weights = fitted(judged=judged, monkeypatch=monkeypatch)
    found = refitted(pool, stack, weights, 1.0)
    rows = weights.times(pool.distinct.rows)
    X, y, w = rows.X, rows.Y[:, 0], to_numpy(rows.s)
    for member in (one.member for one in found.fitted):
        H = member.features.apply(X)
        H, centred = H - w @ H / w.sum(), y - w @ y / w.sum()
        gram = (H * w[:, None]).T @ H + np.eye(H.shape[1])
        expected = np.linalg.solve(gram, H.T @ (w * centred))
        np.testing.assert_allclose(member.coef[:, 0], expected, rtol=1e-6, atol=1e-9)
    assert found.judged is stack.judged


def test_rows_left_out_are_left_out_with_their_new_weights():
    """Against a ridge regression without the row."""
    pool, stack, weights = fitted()
    found = refitted(pool, stack, weights, 1.0)
    rows = weights.times(stack.judged.weighted_rows)
    one = found.fitted[0]
    H, y, w = one.member.features.apply(rows.X), rows.Y[:, 0], to_numpy(rows.s)
    for i in (0, 17, 399):
        keep = np.arange(400) != i
        centre, level = w[keep] @ H[keep] / w[keep].sum(), w[keep] @ y[keep] / w[keep].sum()
        G = H[keep] - centre
        gram = (G * w[keep, None]).T @ G + np.eye(H.shape[1])
        beta = np.linalg.solve(gram, G.T @ (w[keep] * (y[keep] - level)))
        expected = y[i] - level - (H[i] - centre) @ beta
        # The closed form centres by all rows.
        assert one.left.left_out[i, 0] == pytest.approx(expected, rel=0.05, abs=0.02)


@pytest.mark.slow
def test_the_mean_gains_where_noise_differs_much(monkeypatch):
    """Squared errors of the mean fall by a fifth at least, over three draws."""

    def errors():
        found = []
        for seed in range(3):
            X, y, _ = noisy(1000, seed)
            new, _, mean = noisy(2000, seed + 100)
            model = ELMIntervalRegressor(random_state=0).fit(X, y)
            found.append((np.mean((model.predict(new) - mean) ** 2), model.reweighted_))
        return np.mean([error for error, _ in found]), [told for _, told in found]

    after, told = errors()
    assert any(told)
    monkeypatch.setattr("elmband.uncertainty.fit_predictive.worth_trying", lambda _: False)
    before, told = errors()
    assert not any(told)
    assert after < 0.8 * before


@pytest.mark.slow
def test_nothing_changes_where_noise_is_the_same_everywhere():
    X, y, _ = noisy(600, spread=0.0)
    assert not ELMIntervalRegressor(random_state=0).fit(X, y).reweighted_


@pytest.mark.slow
def test_targets_that_are_mostly_zero_keep_their_mean():
    """What has no noise there is another kind of row: weights would pull the mean to zero."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(500, 2))
    sold = rng.random(500) < 1 / (1 + np.exp(-3 * X[:, 0]))
    y = np.where(sold, np.exp(1 + rng.standard_normal(500)), 0.0)
    model = ELMIntervalRegressor(target_transform=None, random_state=0).fit(X, y)
    assert not model.reweighted_
    assert model.predict(X).mean() == pytest.approx(y.mean(), rel=0.1)


@pytest.mark.parametrize("reweighted", [True, False])
def test_rows_held_out_are_scored_by_the_same_kind_of_model(reweighted, monkeypatch):
    """A mean that was not trained again has other variances, and so other scores."""
    if not reweighted:
        monkeypatch.setattr("elmband.uncertainty.fit_predictive.worth_trying", lambda _: False)
    told = []

    def told_of(pool, stack, settings):
        found = fit_predictive(pool, stack, settings)
        told.append(found.reweighted)
        return found

    monkeypatch.setattr("elmband.uncertainty.cross_fit.fit_predictive", told_of)
    X, y, _ = noisy(150, seed=1)
    assert ELMIntervalRegressor(random_state=0).fit(X, y).reweighted_ is reweighted
    assert len(told) >= 3
    assert set(told) == {reweighted}


def test_layers_that_are_asked_for_stay_least_squares():
    X, y, _ = noisy(300)
    assert not ELMIntervalRegressor(50, random_state=0).fit(X, y).reweighted_
    assert not hasattr(ELMClassifier(50, random_state=0).fit(X, y > 0), "reweighted_")


@pytest.mark.slow
def test_scans_units_and_files(tmp_path):
    """The same from a scan and in other units; a saved model tells it too."""
    X, y, _ = noisy(3000)
    model = ELMIntervalRegressor(random_state=0).fit(X, y)
    assert model.reweighted_
    new = noisy(50, 9)[0]
    expected = model.predict_interval(new)
    np.save(tmp_path / "rows.npy", np.column_stack([X, y]))
    rows = scan(tmp_path / "rows.npy", target=3, chunk_size=700)
    from_file = ELMIntervalRegressor(random_state=0).fit(rows)
    assert from_file.reweighted_
    width = np.mean(expected[:, 1] - expected[:, 0])
    np.testing.assert_allclose(from_file.predict_interval(new), expected, atol=0.05 * width)
    moved = ELMIntervalRegressor(random_state=0).fit(X, 5 * y - 100).predict_interval(new)
    np.testing.assert_allclose((moved + 100) / 5, expected, atol=1e-5 * width)
    model.save(tmp_path / "model.safetensors")
    assert load(tmp_path / "model.safetensors").reweighted_


def test_a_gain_must_be_large_and_no_chance():
    before, s = np.full(100, 2.0), np.ones(100)
    assert is_narrower(before - 0.1, before, s)
    assert not is_narrower(before - 0.02, before, s)
    assert not is_narrower(None, before, s)
    one_row = before.copy()
    one_row[0] -= 10.0
    assert not is_narrower(one_row, before, s)
    assert gains(np.ones(5), s[:5], 1.5, 0.02)
