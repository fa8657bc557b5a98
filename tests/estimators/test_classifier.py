"""The classifier against regression on ±1, on every library, and among scikit-learn's tools."""

import pickle

import numpy as np
import pytest
from sklearn import config_context
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import load_digits
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV, cross_val_predict, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler

from elmband import ELMClassifier, ELMRegressor
from elmband.ground.arrays import namespace, to_numpy
from elmband.models.target_units import TargetUnits

RNG = np.random.default_rng(0)
N = 240
X = RNG.standard_normal((N, 4))
SCORE = X[:, 0] + X[:, 1] * X[:, 2] + 0.5 * RNG.standard_normal(N)
TWO = (SCORE > 0).astype(int)
MANY = np.digitize(SCORE, [-0.8, 0, 1])
LABELS = np.column_stack([SCORE > 0, X[:, 3] > 0.3, SCORE + X[:, 3] > 1]).astype(int)
GROUPS = np.arange(N) // 4
NEW = RNG.standard_normal((50, 4))
MODES = {
    "number": {"n_neurons": 30, "alpha": 0.5},
    "loo": {"n_neurons": 30, "alpha": "loo"},
    "gcv": {"n_neurons": 30, "alpha": "gcv"},
    "dual": {"n_neurons": 300},
    "mix": {"n_neurons": {"linear": 4, "rbf_l2": 20}},
    "op-elm": {"n_neurons": 30, "selection": "op-elm"},
    "trop-elm": {"n_neurons": 30, "selection": "trop-elm"},
    "select loo": {"n_neurons": 30, "selection": "loo"},
    "select cv": {"n_neurons": 30, "selection": "cv"},
    "select validation": {"n_neurons": 30, "selection": "validation"},
    "auto": {},
    "two layers": {"n_neurons": 30, "n_estimators": 2},
    "groups": {"n_neurons": 30, "groups": GROUPS},
}


def fitted(kind, mode, y, s=None, **more):
    """Return a model of the kind in one of the modes, trained on X and y."""
    options = MODES[mode] | more
    groups = options.pop("groups", None)
    return kind(random_state=0, **options).fit(X, y, s, groups)


@pytest.mark.slow
@pytest.mark.parametrize("mode", MODES)
def test_decisions_are_regression_on_codes(mode, monkeypatch):
    # Numbers of a stack do not go far beyond their targets; decisions may.
    monkeypatch.setattr(TargetUnits, "supported", lambda _, mean: mean)
    two = fitted(ELMClassifier, mode, TWO)
    expected = fitted(ELMRegressor, mode, 2.0 * TWO - 1).predict(NEW)
    np.testing.assert_array_equal(two.decision_function(NEW), expected)
    np.testing.assert_array_equal(two.predict(NEW), expected > 0)
    many = fitted(ELMClassifier, mode, MANY)
    codes = np.where(MANY[:, None] == np.arange(4), 1.0, -1.0)
    expected = fitted(ELMRegressor, mode, codes).predict(NEW)
    np.testing.assert_array_equal(many.decision_function(NEW), expected)
    np.testing.assert_array_equal(many.predict(NEW), expected.argmax(axis=1))
    several = fitted(ELMClassifier, mode, LABELS)
    expected = fitted(ELMRegressor, mode, 2.0 * LABELS - 1).predict(NEW)
    np.testing.assert_array_equal(several.decision_function(NEW), expected)
    np.testing.assert_array_equal(several.predict(NEW), expected > 0)


@pytest.mark.parametrize("y", [TWO, MANY, LABELS], ids=["two", "many", "several"])
def test_what_is_said_is_right_more_often_than_not(y):
    model = ELMClassifier(random_state=0).fit(X[:160], y[:160])
    usual = max(np.mean(y[160:] == value) for value in np.unique(y))
    assert np.mean(model.predict(X[160:]) == y[160:]) > usual + 0.1


def test_digits_are_read():
    images, digits = load_digits(return_X_y=True)
    model = ELMClassifier(400, random_state=0).fit(images[:1200], digits[:1200])
    assert model.score(images[1200:], digits[1200:]) > 0.9
    assert model.predict_proba(images[1200:]).shape == (597, 10)


@pytest.mark.one_on_jax
@pytest.mark.slow
@pytest.mark.parametrize("options", [{"n_neurons": 20}, {}], ids=["layer", "stack"])
@pytest.mark.parametrize("y", [TWO, MANY, LABELS], ids=["two", "many", "several"])
def test_the_library_changes_nothing(xp, y, options):
    model = ELMClassifier(alpha=0.5, random_state=0, **options)
    model.fit(X, y)
    # Weights of a stack amplify the last digits, which libraries and processors round differently:
    # margins by 2e-5 with kernels of BLAS for two other kinds of processors.
    tolerance = {"rtol": 1e-6, "atol": 1e-9} if options else {"rtol": 0, "atol": 1e-4}
    methods = ("decision_function", "predict", "predict_proba")
    expected = {method: getattr(model, method)(NEW) for method in methods}
    with config_context(array_api_dispatch=True):
        rows = xp.asarray(NEW)
        model.fit(xp.asarray(X), xp.asarray(y), xp.asarray(np.ones(N)))
        for method, values in expected.items():
            actual = getattr(model, method)(rows)
            assert namespace(actual) is namespace(rows)
            np.testing.assert_allclose(to_numpy(actual), values, **tolerance)
        model.fit(xp.asarray(X), y)
        np.testing.assert_array_equal(to_numpy(model.predict(rows)), expected["predict"])


def test_precision_is_that_of_the_data():
    model = ELMClassifier(20, random_state=0).fit(X.astype(np.float32), MANY)
    assert model.decision_function(NEW.astype(np.float32)).dtype == np.float32
    p = model.predict_proba(NEW.astype(np.float32))
    assert p.dtype == np.float32
    exact = ELMClassifier(20, random_state=0).fit(X, MANY).predict_proba(NEW)
    np.testing.assert_allclose(p, exact, atol=1e-3)


def test_rows_of_weight_zero_are_not_there():
    """Not even if they are all that there is of a class."""
    s = np.where(MANY == 1, 0.0, 1.0)
    model = fitted(ELMClassifier, "number", MANY, s)
    kept = MANY != 1
    expected = ELMClassifier(30, alpha=0.5, random_state=0).fit(X[kept], MANY[kept])
    np.testing.assert_array_equal(model.classes_, [0, 2, 3])
    p = expected.predict_proba(NEW)
    np.testing.assert_allclose(model.predict_proba(NEW), p, rtol=1e-10)


def test_an_unfitted_model_says_so(tmp_path):
    model = ELMClassifier(20)
    for method in (model.predict, model.predict_proba, model.decision_function):
        with pytest.raises(NotFittedError):
            method(X)
    with pytest.raises(NotFittedError):
        model.predict(X, out=tmp_path / "labels.npy")
    assert not hasattr(model, "classes_")


@pytest.mark.slow
def test_scikit_learn_works_around_it():
    pipeline = make_pipeline(MinMaxScaler(), ELMClassifier(20, random_state=0)).fit(X, MANY)
    alone = ELMClassifier(20, random_state=0).fit(X, MANY)
    np.testing.assert_allclose(pipeline.predict_proba(NEW), alone.predict_proba(NEW), rtol=1e-6)
    search = GridSearchCV(
        ELMClassifier(random_state=0), {"n_neurons": [{"linear": 4}, 40]}, scoring="roc_auc", cv=3
    )
    assert search.fit(X, TWO).best_params_["n_neurons"] == 40
    model = ELMClassifier(40, random_state=0)
    for scoring in ("accuracy", "neg_log_loss", "roc_auc"):
        assert np.isfinite(cross_val_score(model, X, TWO, scoring=scoring, cv=3)).all()
    p = cross_val_predict(model, X, MANY, method="predict_proba", cv=3)
    np.testing.assert_allclose(p.sum(axis=1), 1)
    wrapped = CalibratedClassifierCV(model, cv=3, ensemble=False).fit(X, TWO)
    assert np.abs(wrapped.predict_proba(NEW) - model.fit(X, TWO).predict_proba(NEW)).max() < 0.25


def test_clone_and_pickle():
    model = ELMClassifier({"linear": 2, "tanh": 9}, class_weight={3: 2.0}, alpha="gcv")
    assert clone(model).get_params() == model.get_params()
    for options in ({"n_neurons": 20}, {}):
        model = ELMClassifier(random_state=0, **options).fit(X, MANY)
        again = pickle.loads(pickle.dumps(model))  # noqa: S301 - our own bytes
        np.testing.assert_array_equal(again.predict(NEW), model.predict(NEW))
        np.testing.assert_array_equal(again.predict_proba(NEW), model.predict_proba(NEW))
