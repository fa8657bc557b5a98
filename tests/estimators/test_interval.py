import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy.stats import norm

from elmband import ELMIntervalRegressor, ELMRegressor, VarianceParts
from elmband.datasets import make_heteroscedastic
from published import published

DATA = make_heteroscedastic(400, random_state=0)
GRID = np.linspace(-3, 3, 50)[:, None]


@pytest.fixture(scope="module")
def fitted():
    return published(n_neurons=30, random_state=0).fit(DATA.X, DATA.y)


def test_the_mean_is_that_of_the_point_model(fitted):
    point = ELMRegressor(n_neurons=30, random_state=0).fit(DATA.X, DATA.y)
    np.testing.assert_array_equal(fitted.predict(GRID), point.predict(GRID))


def test_std_interval_and_parts_agree(fitted):
    mean, std = fitted.predict(GRID, return_std=True)
    interval = fitted.predict_interval(GRID, confidence_level=0.8)
    np.testing.assert_allclose(interval[:, 1] - mean, norm.ppf(0.9) * std)
    np.testing.assert_allclose(mean - interval[:, 0], norm.ppf(0.9) * std)
    parts = fitted.predict_variance(GRID)
    assert isinstance(parts, VarianceParts)
    np.testing.assert_allclose(parts.total, std**2)
    np.testing.assert_allclose(parts.total, parts.noise + parts.mean_model + parts.noise_model)


def test_bounds_of_the_noise_variance_come_from_the_noise_model(fitted):
    narrow, wide = (fitted.predict_variance(GRID, level) for level in (0.5, 0.99))
    for parts in (narrow, wide):
        assert (parts.noise_lower >= 0).all()
        assert (parts.noise_lower <= parts.noise).all()
        assert (parts.noise <= parts.noise_upper).all()
    assert (wide.noise_upper >= narrow.noise_upper).all()
    # σ_r in units of y²: the part `noise_model` is σ_r² on standardised y, in units of y².
    unit = DATA.y.var()
    sigma_r = np.sqrt(narrow.noise_model * unit)
    free = narrow.noise > 0
    expected = narrow.noise + norm.ppf(0.75) * sigma_r
    np.testing.assert_allclose(narrow.noise_upper[free], expected[free])


def test_several_levels_are_nested(fitted):
    levels = [0.5, 0.9, 0.99]
    bounds = fitted.predict_interval(GRID, confidence_level=levels)
    assert bounds.shape == (50, 2, 3)
    assert (np.diff(bounds[:, 1], axis=1) > 0).all()
    assert (np.diff(bounds[:, 0], axis=1) < 0).all()
    for k, level in enumerate(levels):
        np.testing.assert_allclose(bounds[:, :, k], fitted.predict_interval(GRID, level))


def test_a_single_level_in_a_list_keeps_its_axis(fitted):
    assert fitted.predict_interval(GRID, [0.9]).shape == (50, 2, 1)


def test_negative_noise_is_replaced_by_zero_at_prediction_only():
    # Noise that vanishes on one side makes least squares on r² undershoot there.
    data = make_heteroscedastic(60, random_state=3)
    fitted = published({"linear": 1}, alpha=1e-3, random_state=0).fit(data.X, data.y)
    far = np.linspace(-30, 30, 7)[:, None]
    Z = (far - data.X.mean()) / data.X.std()
    assert (Z @ fitted.noise_coef_[:, None]).min() < 0
    parts = fitted.predict_variance(far)
    assert parts.noise.min() == 0
    assert (parts.total > 0).all()


def test_one_column_of_targets_keeps_its_axis(fitted):
    column = published(n_neurons=30, random_state=0).fit(DATA.X, DATA.y[:, None])
    assert column.predict(GRID).shape == (50, 1)
    assert column.predict_interval(GRID).shape == (50, 1, 2)
    np.testing.assert_allclose(column.predict_interval(GRID)[:, 0], fitted.predict_interval(GRID))


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame], ids=["pandas", "polars"])
def test_frames_are_read_and_their_names_checked(frame):
    rng = np.random.default_rng(0)
    columns = {"age": rng.uniform(size=80), "dose": rng.integers(0, 5, size=80)}
    y = rng.standard_normal(80)
    X = frame(columns)
    fitted = published(n_neurons=10, random_state=0).fit(X, y)
    assert list(fitted.feature_names_in_) == ["age", "dose"]
    plain = np.column_stack(list(columns.values()))
    expected = published(n_neurons=10, random_state=0).fit(plain, y)
    np.testing.assert_allclose(fitted.predict_interval(X), expected.predict_interval(plain))
    for wrong in (frame({"age": [1.0], "dosis": [1.0]}), frame({"dose": [1.0], "age": [1.0]})):
        with pytest.raises(ValueError, match="feature names"):
            fitted.predict_interval(wrong)


def test_targets_and_weights_may_be_series():
    X = pd.DataFrame({"x": DATA.X[:, 0]})
    weights = pd.Series(np.arange(400) % 3)
    from_series = ELMRegressor(20, random_state=0).fit(X, pd.Series(DATA.y), weights)
    polars = ELMRegressor(20, random_state=0).fit(
        pl.DataFrame({"x": DATA.X[:, 0]}), pl.Series(DATA.y), pl.Series(weights.to_numpy())
    )
    np.testing.assert_array_equal(from_series.coef_, polars.coef_)


def test_a_seed_makes_the_model_and_another_seed_another_model():
    one, same, other = (
        published(20, random_state=seed).fit(DATA.X, DATA.y).predict_interval(GRID)
        for seed in (1, 1, 2)
    )
    np.testing.assert_array_equal(one, same)
    assert not np.allclose(one, other)
    generator = np.random.RandomState(0)
    model = published(20, random_state=generator)
    assert not np.allclose(
        model.fit(DATA.X, DATA.y).predict(GRID), model.fit(DATA.X, DATA.y).predict(GRID)
    )


def test_fitting_does_not_touch_the_data():
    X, y, s = DATA.X.copy(), DATA.y.copy(), np.ones(400)
    for array in (X, y, s):
        array.setflags(write=False)
    published(20, random_state=0).fit(X, y, s).predict_interval(X)


@pytest.mark.slow
def test_a_second_fit_leaves_nothing_of_the_first():
    X, y = np.linspace(-1, 1, 60)[:, None], np.sin(np.linspace(-3, 3, 60))
    layer = {"n_neurons": 10, "noise": "squared", "random_state": 0}
    model = ELMIntervalRegressor(**layer).fit(X, y)
    fresh = set(vars(ELMIntervalRegressor(n_estimators=2, **{**layer, "noise": "log"}).fit(X, y)))
    model.set_params(n_estimators=2, noise="log").fit(X, y)
    assert set(vars(model)) == fresh
    model.set_params(n_estimators=None, noise="squared").fit(X, y)
    assert set(vars(model)) == set(vars(ELMIntervalRegressor(**layer).fit(X, y)))
