"""The scikit-learn contract: its own checks, and its tools around our estimators."""

import pickle

import numpy as np
import pytest
from scipy.stats import norm
from sklearn import config_context
from sklearn.base import clone
from sklearn.compose import TransformedTargetRegressor
from sklearn.ensemble import BaggingRegressor
from sklearn.model_selection import GridSearchCV, cross_val_predict, cross_val_score
from sklearn.multioutput import MultiOutputRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

from elmband import (
    ELMClassifier,
    ELMIntervalRegressor,
    ELMRegressor,
    ELMSelectiveClassifier,
)
from elmband.datasets import make_heteroscedastic
from elmband.metrics import interval_scorer
from published import published

DATA = make_heteroscedastic(200, random_state=0)
RBF_MIX = {"rbf_l1": 5, "rbf_l2": 5, "rbf_linf": 5, "relu": 5}


@pytest.mark.slow
# Some checks fit ten rows.
@pytest.mark.filterwarnings("ignore:.* are too few to tell")
@parametrize_with_checks(
    [
        ELMRegressor(),
        ELMRegressor(200),
        ELMRegressor(RBF_MIX, alpha="gcv"),
        ELMIntervalRegressor(),
        ELMIntervalRegressor(50, symmetric=False, n_estimators=2, calibration="gaussian"),
        ELMIntervalRegressor(noise="squared", calibration="gaussian"),
        ELMIntervalRegressor(
            RBF_MIX,
            noise="squared",
            noise_neurons=5,
            alpha=1.0,
            noise_alpha="gcv",
        ),
        ELMClassifier(),
        ELMClassifier(50),
        ELMClassifier(RBF_MIX, alpha="gcv", n_estimators=2, class_weight="balanced"),
        ELMClassifier(
            {"rbf_l1": 2, "rbf_l2": 2, "rbf_linf": 2, "relu": 2}, class_weight="balanced"
        ),
        ELMSelectiveClassifier(),
        ELMSelectiveClassifier(30, noise="squared", coverage=0.5),
        ELMSelectiveClassifier(50, max_error=0.1, per_class=True),
    ]
)
def test_scikit_learn_checks(estimator, check):
    check(estimator)


def test_pipeline_passes_the_interval_through():
    pipeline = make_pipeline(MinMaxScaler(), ELMIntervalRegressor(20, random_state=0))
    pipeline.fit(DATA.X, DATA.y)
    mean, interval = pipeline.predict(DATA.X, confidence_level=0.9)
    # Inputs are standardised inside, so another scaler before changes nothing.
    alone = ELMIntervalRegressor(20, random_state=0).fit(DATA.X, DATA.y)
    np.testing.assert_allclose(interval, alone.predict_interval(DATA.X, 0.9), rtol=1e-6, atol=1e-7)
    np.testing.assert_allclose(mean, alone.predict(DATA.X), rtol=1e-6)


def test_pipeline_passes_the_interval_through_with_metadata_routing():
    with config_context(enable_metadata_routing=True):
        pipeline = make_pipeline(MinMaxScaler(), published(20, random_state=0))
        _, interval = pipeline.fit(DATA.X, DATA.y).predict(DATA.X, confidence_level=0.9)
        _, std = pipeline.predict(DATA.X, return_std=True)
    np.testing.assert_allclose(interval[:, 1] - interval[:, 0], 2 * norm.ppf(0.95) * std)


@pytest.mark.slow
def test_grid_search_selects_on_an_interval_metric():
    search = GridSearchCV(
        make_pipeline(MinMaxScaler(), ELMIntervalRegressor(random_state=0)),
        {"elmintervalregressor__n_neurons": [{"linear": 1}, {"linear": 1, "tanh": 10}]},
        scoring=interval_scorer("interval_score", confidence_level=0.9),
        cv=3,
    )
    search.fit(DATA.X, DATA.y)
    assert search.best_params_["elmintervalregressor__n_neurons"] == {"linear": 1, "tanh": 10}
    assert np.isfinite(search.cv_results_["mean_test_score"]).all()


def test_cross_validation_and_wrappers():
    model = ELMRegressor(20, random_state=0)
    assert cross_val_score(model, DATA.X, DATA.y, cv=3).min() > 0.3
    assert cross_val_predict(model, DATA.X, DATA.y, cv=3).shape == (200,)
    two = np.column_stack([DATA.y, -DATA.y])
    assert MultiOutputRegressor(model).fit(DATA.X, two).predict(DATA.X).shape == (200, 2)
    BaggingRegressor(model, n_estimators=2, random_state=0).fit(DATA.X, DATA.y).predict(DATA.X)


def test_transformed_target_wraps_the_mean():
    wrapped = TransformedTargetRegressor(
        ELMIntervalRegressor(20, random_state=0), func=np.log, inverse_func=np.exp
    )
    positive = np.exp(DATA.y)
    prediction = wrapped.fit(DATA.X, positive).predict(DATA.X)
    assert (prediction > 0).all()
    inner = ELMIntervalRegressor(20, random_state=0).fit(DATA.X, DATA.y)
    np.testing.assert_allclose(np.log(prediction), inner.predict(DATA.X), rtol=1e-6)


def test_clone_keeps_every_parameter():
    model = ELMIntervalRegressor(
        {"linear": 1, np.sin: 4}, noise_neurons={"relu": 3}, noise_alpha=2.0, precision="float32"
    )
    assert clone(model).get_params() == model.get_params()


@pytest.mark.parametrize("estimator", [ELMRegressor, ELMIntervalRegressor])
def test_pickle_round_trip(estimator):
    model = estimator(20, random_state=0).fit(DATA.X, DATA.y)
    again = pickle.loads(pickle.dumps(model))  # noqa: S301 - our own bytes
    np.testing.assert_array_equal(again.predict(DATA.X), model.predict(DATA.X))


def test_a_fitted_model_does_not_keep_the_training_rows():
    middle, large = (
        ELMIntervalRegressor(20, random_state=0).fit(*np.split(np.c_[d.X, d.y], 2, axis=1))
        for d in (make_heteroscedastic(n, random_state=0) for n in (20_000, 60_000))
    )
    assert len(pickle.dumps(large)) < 1.1 * len(pickle.dumps(middle))
