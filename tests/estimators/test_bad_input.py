"""Every mistake gets one clear sentence."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.exceptions import NotFittedError

from elmband import ELMIntervalRegressor, ELMRegressor

RNG = np.random.default_rng(0)
X = RNG.standard_normal((30, 3))
Y = RNG.standard_normal(30)
DAYS = np.datetime64("2024-01-01", "us") + np.arange(30) * np.timedelta64(1, "D")


def with_value(array, value):
    array = array.copy()
    array.flat[7] = value
    return array


@pytest.mark.parametrize(
    ("X", "y", "sentence"),
    [
        (with_value(X, np.nan), Y, "Input X contains NaN"),
        (with_value(X, np.inf), Y, "Input X contains infinity"),
        (X, with_value(Y, np.nan), "Input y contains NaN"),
        (X, with_value(Y, -np.inf), "Input y contains infinity"),
        (X.astype(str), Y, "dtype='numeric' is not compatible with arrays of bytes/strings"),
        (pd.DataFrame({"city": ["Oslo"] * 30}), Y, "No column is left .*: 'city', it is const"),
        (X, ["high"] * 30, "could not convert string to float: 'high'"),
        (X[:0], Y[:0], r"0 sample\(s\) .* while a minimum of 2 is required"),
        (X[:1], Y[:1], r"1 sample\(s\) .* while a minimum of 2 is required"),
        (X[:, :0], Y, r"0 feature\(s\) .* while a minimum of 1 is required"),
        (X[:, 0], Y, "Expected 2D array, got 1D array instead"),
        (X, Y[:-1], "X has 30 rows, y has 29; they must be as many"),
        (X, np.zeros((30, 2, 2)), "Found array with dim 3"),
        (X, None, "requires y to be passed"),
        (X, 3.0, "y must have one value for every row of X; got the number 3.0"),
        (X, DAYS, "y holds dates or durations, which are no numbers until a unit is chosen"),
        (X, DAYS - DAYS[0], "y holds dates or durations"),
        (X, pd.Series(DAYS).dt.tz_localize("UTC"), "y holds dates or durations"),
        (X, pd.Series(DAYS).dt.date.tolist(), "y holds dates or durations"),
        (X, pl.Series(DAYS).cast(pl.Date), "y holds dates or durations"),
        (X, np.empty((30, 0)), r"0 feature\(s\) \(shape=\(30, 0\)\)"),
    ],
)
@pytest.mark.parametrize("estimator", [ELMRegressor, ELMIntervalRegressor])
def test_bad_training_data(estimator, X, y, sentence):
    with pytest.raises(ValueError, match=sentence):
        estimator(10).fit(X, y)


@pytest.mark.parametrize(
    ("weights", "sentence"),
    [
        (np.ones(29), "one number for each of the 30 rows of X; its shape is"),
        (np.ones((30, 1)), "one number for each of the 30 rows"),
        (with_value(np.ones(30), -1), "must not be negative; its least is -1"),
        (with_value(np.ones(30), np.nan), "Input sample_weight contains NaN"),
        (np.zeros(30), "fewer than 2 rows with a weight above zero"),
    ],
)
def test_bad_weights(weights, sentence):
    with pytest.raises(ValueError, match=sentence):
        ELMRegressor(10).fit(X, Y, sample_weight=weights)


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"alpha": -1}, "alpha must be a number of at least 0, 'auto', 'loo' .* got -1"),
        ({"alpha": float("nan")}, "alpha must be a number of at least 0"),
        ({"alpha": "cv"}, "got 'cv'"),
        ({"alpha": True}, "got True"),
        ({"noise_alpha": -0.5}, "noise_alpha must be a number of at least 0"),
        ({"n_neurons": {"gelu": 5}}, "Unknown kind of neuron 'gelu'"),
        ({"n_neurons": -3}, "at least 1 for each kind; got -3"),
        ({"noise_neurons": {"gelu": 5}}, "Unknown kind of neuron 'gelu'"),
        ({"n_neurons": {"linear": 4}}, "asks for 4 linear neurons, but X has 3 features"),
        ({"density": 2}, "density must lie above 0"),
        ({"weight_scale": 0}, "weight_scale must be positive"),
        ({"precision": "float16"}, "precision must be 'auto' or 'float32' or 'float64'"),
        ({"chunk_size": 0}, "chunk_size must be a whole number of rows, at least 1; got 0"),
        ({"chunk_size": 1.5}, "chunk_size must be a whole number of rows"),
        ({"noise": "cubed"}, "noise must be 'log' or 'squared'; got 'cubed'"),
        ({"calibration": "magic"}, "calibration must be 'loo' or 'gaussian'; got 'magic'"),
        ({"n_neurons": {(lambda t: t / 0.0): 3}}, "values that are not finite"),
    ],
)
def test_bad_parameters(options, sentence):
    with np.errstate(all="ignore"), pytest.raises(ValueError, match=sentence):
        ELMIntervalRegressor(**options).fit(X, Y)


@pytest.mark.one_quick
@pytest.mark.parametrize(
    ("level", "sentence"),
    [
        (0, "strictly between 0 and 1; got 0"),
        (1, "strictly between 0 and 1; got 1"),
        (95, r"got 95\. Did you mean 0\.95\?"),
        (-0.5, "strictly between 0 and 1; got -0.5"),
        ([0.5, 95], r"got 95\. Did you mean 0\.95\?"),
        (float("nan"), "strictly between 0 and 1; got nan"),
        ("95%", "must be a number between 0 and 1"),
        ([], "must be a number between 0 and 1"),
        ([[0.9]], "must be a number between 0 and 1"),
        (True, "must be a number between 0 and 1"),
    ],
)
def test_bad_confidence_levels(level, sentence):
    fitted = ELMIntervalRegressor(10).fit(X, Y)
    for call in (
        lambda: fitted.predict_interval(X, confidence_level=level),
        lambda: fitted.predict(X, confidence_level=level),
        lambda: fitted.predict_variance(X, confidence_level=level),
    ):
        with pytest.raises(ValueError, match=sentence):
            call()


def test_predict_refuses_what_it_was_not_trained_on():
    fitted = ELMIntervalRegressor(10).fit(X, Y)
    with pytest.raises(ValueError, match=r"X has 2 features, but .* is expecting 3 features"):
        fitted.predict(X[:, :2])
    with pytest.raises(ValueError, match=r"0 sample\(s\)"):
        fitted.predict_interval(X[:0])
    with pytest.raises(ValueError, match="NaN"):
        fitted.predict_interval(with_value(X, np.nan))
    with pytest.raises(ValueError, match="return_std or for a confidence_level, not for both"):
        fitted.predict(X, return_std=True, confidence_level=0.9)
    with pytest.raises(ValueError, match="takes a single confidence_level"):
        fitted.predict_variance(X, confidence_level=[0.5, 0.9])


def test_predict_before_fit():
    with pytest.raises(NotFittedError, match="not fitted yet"):
        ELMIntervalRegressor().predict_interval(X)


@pytest.mark.one_quick
@pytest.mark.parametrize("estimator", [ELMRegressor, ELMIntervalRegressor])
def test_constant_targets_are_said_and_repeated(estimator):
    with pytest.warns(UserWarning, match=r"y is constant \(3\)"):
        fitted = estimator(10).fit(X, np.full(30, 3.0))
    np.testing.assert_allclose(fitted.predict(X), 3.0)
    with pytest.warns(UserWarning, match=r"output 1 of y is constant \(0.1\)"):
        estimator(10).fit(X, np.column_stack([Y, np.full(30, 0.1)]))


def test_two_rows_are_enough():
    with pytest.warns(UserWarning, match="2 different rows are too few"):
        model = ELMIntervalRegressor(10, random_state=0).fit(X[:2], Y[:2])
    interval = model.predict_interval(X)
    assert np.isfinite(interval).all()


def test_a_failed_fit_leaves_the_estimator_unfitted():
    model = ELMIntervalRegressor(10)
    with pytest.raises(ValueError, match="NaN"):
        model.fit(with_value(X, np.nan), Y)
    with pytest.raises(NotFittedError):
        model.predict(X)


def test_a_model_through_all_its_rows_says_that_its_intervals_are_worth_nothing():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((100, 8))
    y = X[:, 0] + rng.standard_normal(100)
    model = ELMIntervalRegressor(500, alpha=0.0, noise="squared", random_state=0)
    with pytest.warns(UserWarning, match="all but passes through its 100 training rows"):
        model.fit(X, y)
    # No other warning, which would be an error, where the strength is chosen.
    model.set_params(alpha="auto").fit(X, y)


@pytest.mark.parametrize(
    "groups",
    [
        with_value(np.arange(30.0) % 5, np.nan),
        with_value(DAYS, "NaT"),
        with_value(DAYS - DAYS[3], "NaT"),
    ],
)
def test_groups_without_a_label_are_refused(groups):
    with pytest.raises(ValueError, match="groups holds missing labels"):
        ELMIntervalRegressor(5).fit(X, Y, groups=groups)


def test_columns_of_levels_have_names_of_their_own():
    model = ELMIntervalRegressor(5, random_state=0).fit(X, Y)
    table = model.predict_interval(pd.DataFrame(X), [0.9999999, 0.99999999], as_frame=True)
    assert len(table.columns) == 5
    with pytest.raises(ValueError, match="names a level twice"):
        model.predict_interval(pd.DataFrame(X), [0.9, 0.9], as_frame=True)


@pytest.mark.parametrize("names", [("c", "b", "a"), ("a", "b", "c", "d")], ids=["turned", "more"])
def test_a_model_whose_next_fit_is_refused_stays_as_it_was(names):
    known = pd.DataFrame(X, columns=list("abc"))
    model = ELMRegressor(10, random_state=0).fit(known, Y)
    before = model.predict(known)
    others = pd.DataFrame(np.ones((30, len(names))), columns=names)
    with pytest.raises(ValueError, match="they must be as many"):
        model.fit(others, Y[:-1])
    assert model.n_features_in_ == 3
    assert model.feature_names_in_.tolist() == ["a", "b", "c"]
    np.testing.assert_array_equal(model.predict(known), before)
    with pytest.raises(ValueError, match="feature"):
        model.predict(others)


def test_a_model_whose_only_fit_is_refused_knows_no_columns():
    model = ELMRegressor(10)
    with pytest.raises(ValueError, match="they must be as many"):
        model.fit(X, Y[:-1])
    assert not hasattr(model, "n_features_in_")
