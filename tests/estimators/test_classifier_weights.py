"""What classes weigh, in every way to train."""

import numpy as np
import pytest
from sklearn.utils import compute_class_weight, compute_sample_weight

from elmband import ELMClassifier, ELMRegressor

RNG = np.random.default_rng(0)
N = 240
X = RNG.standard_normal((N, 4))
SCORE = X[:, 0] + X[:, 1] * X[:, 2] + 0.5 * RNG.standard_normal(N)
TWO = (SCORE > 0.5).astype(int)
MANY = np.digitize(SCORE, [-0.5, 1])
S = RNG.uniform(0.1, 0.9, N)
NEW = RNG.standard_normal((50, 4))
MODES = {
    "number": {"n_neurons": 30, "alpha": 0.5},
    "loo": {"n_neurons": 30, "alpha": "loo"},
    "gcv": {"n_neurons": 30, "alpha": "gcv"},
    "many neurons": {"n_neurons": 300},
    "rbf": {"n_neurons": {"linear": 4, "rbf_l2": 20}},
    "op-elm": {"n_neurons": 30, "selection": "op-elm"},
    "trop-elm": {"n_neurons": 30, "selection": "trop-elm"},
    "select loo": {"n_neurons": 30, "selection": "loo"},
    "select cv": {"n_neurons": 30, "selection": "cv"},
    "select validation": {"n_neurons": 30, "selection": "validation"},
    "auto": {},
    "two layers": {"n_neurons": 30, "n_estimators": 2},
    "groups": {"n_neurons": 30, "groups": True},
}


def trained(model, rows, y, s=None):
    """Train in a mode, which may ask for groups of four rows."""
    return model.fit(rows, y, s, np.arange(len(y)) // 4 if model.groups else None)


def model_of(kind, mode, **more):
    options = MODES[mode] | more
    groups = options.pop("groups", False)
    model = kind(random_state=0, **options)
    model.groups = groups
    return model


@pytest.mark.slow
@pytest.mark.parametrize("s", [None, S], ids=["plain", "weighted"])
@pytest.mark.parametrize("mode", MODES)
def test_a_weight_of_a_class_is_that_of_its_rows(mode, s):
    """Regression on codes with such weights is the oracle."""
    for y, weights in ((TWO, {0: 0.2, 1: 0.9}), (MANY, {0: 0.3, 2: 0.5})):
        rows = compute_sample_weight(weights, y) * (1 if s is None else s)
        codes = 2.0 * y - 1 if y is TWO else np.where(y[:, None] == np.arange(3), 1.0, -1.0)
        expected = trained(model_of(ELMRegressor, mode), X, codes, rows).predict(NEW)
        weighed = trained(model_of(ELMClassifier, mode, class_weight=weights), X, y, s)
        found = weighed.decision_function(NEW)
        # Numbers of a stack do not go beyond their targets by more than a tenth of their distance.
        ends = (-1.2, 1.2) if mode in ("auto", "two layers", "groups") else (-np.inf, np.inf)
        np.testing.assert_allclose(np.clip(found, *ends), expected, rtol=1e-10, atol=1e-10)
        plain = trained(model_of(ELMClassifier, mode), X, y, rows)
        p = plain.predict_proba(NEW)
        np.testing.assert_allclose(weighed.predict_proba(NEW), p, rtol=1e-10, atol=1e-10)


@pytest.mark.one_quick
@pytest.mark.parametrize("mode", MODES)
def test_a_row_that_is_there_twice_weighs_twice(mode):
    """Also where its class weighs more or less: both are left out at a time."""
    times = np.random.default_rng(3).integers(1, 4, N)
    model = model_of(ELMClassifier, mode, class_weight="balanced")
    if model.groups or mode in ("select cv", "select validation"):
        pytest.skip("equal rows share a group or a fold either way")
    expected = model.fit(np.repeat(X, times, axis=0), np.repeat(MANY, times)).predict_proba(NEW)
    actual = model.fit(X, MANY, times).predict_proba(NEW)
    np.testing.assert_allclose(actual, expected, rtol=1e-6, atol=1e-8)


@pytest.mark.one_quick
@pytest.mark.parametrize("mode", ["loo", "gcv", "trop-elm", "auto"])
def test_balanced_weights_are_those_of_scikit_learn(mode):
    weights = compute_class_weight("balanced", classes=np.unique(MANY), y=MANY)
    balanced, given = (
        trained(model_of(ELMClassifier, mode, class_weight=choice), X, MANY).predict_proba(NEW)
        for choice in ("balanced", dict(enumerate(weights.tolist())))
    )
    np.testing.assert_array_equal(balanced, given)


@pytest.mark.slow
@pytest.mark.parametrize("mode", MODES)
def test_rare_rows_are_found_where_classes_are_balanced(mode):
    """One row of twenty-one is of the class; a choice by leave-one-out may not forget weights."""
    rng = np.random.default_rng(0)
    rows = rng.standard_normal((5260, 4))
    score = rows[:, 0] + rows[:, 1] * rows[:, 2] + 0.3 * rng.standard_normal(len(rows))
    rare = (score > 2.35).astype(int)
    found = []
    for class_weight in (None, "balanced"):
        model = model_of(ELMClassifier, mode, class_weight=class_weight)
        trained(model, rows[:1260], rare[:1260])
        predicted = model.predict(rows[1260:])
        found.append(predicted[rare[1260:] == 1].mean())
    assert found[1] > 0.9
    assert found[1] > found[0] + 0.2
    assert predicted[rare[1260:] == 0].mean() < 0.15


@pytest.mark.parametrize(
    ("options", "y", "s", "sentence"),
    [
        ({"class_weight": {5: 1.0}}, TWO, None, "names the class 5, which y does not have"),
        ({"class_weight": {0: -1.0}}, TWO, None, "must be a positive number"),
        ({"class_weight": "even"}, TWO, None, "'balanced' or a dictionary"),
        ({"class_weight": [1, 2]}, TWO, None, "'balanced' or a dictionary"),
        (
            {"class_weight": "balanced"},
            np.column_stack([TWO, 1 - TWO]),
            None,
            "class_weight is for one label a row",
        ),
        ({"class_weight": "balanced"}, TWO, np.ones(3), "one number for each of the 240 rows"),
        ({"class_weight": "balanced"}, TWO, -np.ones(N), "must not be negative; its least is -1"),
        ({"class_weight": "balanced"}, TWO, np.full(N, np.nan), "sample_weight contains NaN"),
        ({"class_weight": "balanced"}, TWO, np.zeros(N), "fewer than 2 rows with a weight"),
        ({}, TWO, TWO.astype(float), "rows of one class only"),
    ],
)
def test_weights_that_cannot_be_are_refused(options, y, s, sentence):
    with pytest.raises(ValueError, match=sentence):
        ELMClassifier(20, **options).fit(X, y, s)


def test_a_number_may_stand_for_all_weights():
    model = ELMClassifier(20, alpha=0.5, class_weight="balanced", random_state=0)
    expected = model.fit(X, TWO, np.full(N, 2.0)).predict_proba(NEW)
    np.testing.assert_array_equal(model.fit(X, TWO, 2.0).predict_proba(NEW), expected)
