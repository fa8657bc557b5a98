"""What makes a row certain: against interval regressors, and against known probabilities."""

from dataclasses import replace

import numpy as np
import pytest
from noisy_classes import noisy_classes, right

from elmband import ELMIntervalRegressor, ELMSelectiveClassifier
from elmband.metrics import aurc
from elmband.uncertainty.confidence import RULES

TRAIN = {k: noisy_classes(300, 0, k) for k in (2, 3)}
NEW = noisy_classes(200, 1).X
MODELS = {
    "default": {},
    "one layer": {"n_neurons": 40},
    "published": {"n_neurons": 40, "noise": "squared"},
}


def codes(y, k):
    return 2.0 * y - 1 if k == 2 else 2.0 * (y[:, None] == np.arange(k)) - 1


def regressor(parameters, k):
    """Return the same layers as a regressor of +1 and -1, with the published multiplier.

    Its bounds need not be +1 or -1.
    """
    options = {"calibration": "gaussian", "target_range": None, "random_state": 0}
    return ELMIntervalRegressor(**parameters, **options).fit(TRAIN[k].X, codes(TRAIN[k].y, k))


@pytest.fixture
def as_numbers(monkeypatch):
    """Let classes be fitted as numbers are: with the same noise layer, and as few rows held out."""
    monkeypatch.setattr("elmband.estimators._fit_stack.is_classifier", lambda _: False)
    monkeypatch.setattr("elmband.uncertainty.cross_fit._ROWS_PER_CLASS_ROW", 1)


def selective(parameters, k, rule, **wish):
    model = ELMSelectiveClassifier(**parameters, rank_by=rule, random_state=0, **wish)
    return model.fit(TRAIN[k].X, TRAIN[k].y)


@pytest.mark.slow
@pytest.mark.usefixtures("as_numbers")
@pytest.mark.parametrize("parameters", MODELS.values(), ids=MODELS)
def test_two_classes_are_ranked_by_the_margin_against_the_interval(parameters):
    reference = regressor(parameters, 2)
    mean, parts = reference.predict(NEW), reference.predict_variance(NEW)
    low, high = reference.predict_interval(NEW, 0.95).T
    expected = {
        # Half a width is 1.96 standard deviations.
        "interval": 2 * 1.959963984540054 * np.abs(mean) / (high - low),
        "margin": np.abs(mean),
        "model": np.abs(mean) / np.sqrt(parts.mean_model + parts.noise_model),
    }
    for rule, values in expected.items():
        model = selective(parameters, 2, rule)
        np.testing.assert_allclose(model.confidence(NEW), values, rtol=1e-9)
        np.testing.assert_array_equal(model.predict(NEW), mean > 0)


@pytest.mark.slow
@pytest.mark.usefixtures("as_numbers")
@pytest.mark.parametrize("parameters", MODELS.values(), ids=MODELS)
def test_many_classes_are_ranked_by_the_lead_over_the_next_one(parameters):
    reference = regressor(parameters, 3)
    # Numbers do not go far beyond their targets; decisions may.
    fitted = reference.fitted_
    reference.fitted_ = replace(fitted, targets=replace(fitted.targets, support=None))
    mean, parts = reference.predict(NEW), reference.predict_variance(NEW)
    expected = {rule: [] for rule in ("interval", "margin", "model")}
    for i, row in enumerate(mean):
        following, best = np.argsort(row)[-2:]
        lead = row[best] - row[following]
        expected["margin"].append(lead)
        models = parts.mean_model + parts.noise_model
        for rule, variance in (("interval", parts.total), ("model", models)):
            expected[rule].append(lead / np.sqrt(variance[i, best] + variance[i, following]))
    for rule, values in expected.items():
        model = selective(parameters, 3, rule)
        np.testing.assert_allclose(model.confidence(NEW), values, rtol=1e-9)
        np.testing.assert_array_equal(model.predict(NEW), mean.argmax(axis=1))


def test_decisions_and_labels_do_not_depend_on_the_rule():
    models = [selective(MODELS["one layer"], 2, rule) for rule in RULES]
    for model in models[1:]:
        for method in ("decision_function", "predict", "predict_proba"):
            expected = getattr(models[0], method)(NEW)
            np.testing.assert_array_equal(getattr(model, method)(NEW), expected)


@pytest.mark.slow
@pytest.mark.parametrize("k", [2, 3])
@pytest.mark.parametrize("parameters", MODELS.values(), ids=MODELS)
def test_the_probability_that_a_label_is_right_is_calibrated(parameters, k):
    train, test = noisy_classes(1500, 2, k), noisy_classes(5000, 3, k)
    model = ELMSelectiveClassifier(**parameters, random_state=0).fit(train.X, train.y)
    found, truth = model.confidence(test.X), right(test.p, model.predict(test.X))
    # Three standard errors of the share of right rows among 1,500.
    assert found.mean() == pytest.approx(truth.mean(), abs=0.03)
    tenths = np.array_split(np.argsort(found), 10)
    gaps = [abs(found[part].mean() - truth[part].mean()) for part in tenths]
    # Each tenth of the training rows tells a share of 0.8 to 3 %, and the curve is a smooth one.
    assert np.mean(gaps) < 0.05
    assert max(gaps) < 0.12


@pytest.mark.slow
@pytest.mark.parametrize("parameters", MODELS.values(), ids=MODELS)
def test_where_noise_depends_on_inputs_the_probability_ranks_better_than_the_margin(parameters):
    areas = []
    for seed in range(4):
        train, test = noisy_classes(400, 10 + seed), noisy_classes(2000, 20 + seed)
        model = ELMSelectiveClassifier(**parameters, random_state=seed).fit(train.X, train.y)
        rules = model.confidence(test.X), np.abs(model.decision_function(test.X))
        areas.append([aurc(test.y, model.predict(test.X), confidence) for confidence in rules])
    probability, margin = np.mean(areas, axis=0)
    assert probability < margin


@pytest.mark.parametrize("parameters", MODELS.values(), ids=MODELS)
def test_where_all_rows_were_right_the_interval_ranks(parameters):
    X = np.linspace(-1, 1, 60)[:, None]
    X = X + np.sign(X)
    y = (X[:, 0] > 0).astype(int)
    model, other = (
        ELMSelectiveClassifier(**parameters, rank_by=rule, coverage=0.5, random_state=0).fit(X, y)
        for rule in ("probability", "interval")
    )
    assert model.confidence_.judge is None
    ratio = other.confidence(X)
    np.testing.assert_allclose(model.confidence(X), 1 - 1 / (1 + ratio**2))
    np.testing.assert_array_equal(model.accept(X), other.accept(X))


@pytest.mark.slow
@pytest.mark.parametrize("k", [2, 3])
@pytest.mark.parametrize("parameters", MODELS.values(), ids=MODELS)
def test_far_away_nothing_is_certain(parameters, k):
    model = selective(parameters, k, "probability", coverage=0.5)
    angles = np.linspace(0, 2 * np.pi, 100)
    # Inputs have a standard deviation of 1.15.
    far = 11.5 * np.column_stack([np.cos(angles), np.sin(angles)])
    assert model.confidence(far).max() < np.quantile(model.confidence(NEW), 0.1)
    found = model.triage(far)
    assert not found.accepted.any()
    assert set(found.reason) == {"unlike training rows"}


RNG = np.random.default_rng(0)
ODD = {
    "six rows": (RNG.standard_normal((6, 2)), [0, 1, 0, 1, 0, 1]),
    "six rows of three classes": (RNG.standard_normal((6, 2)), [0, 1, 2, 0, 1, 2]),
    "two rows": (RNG.standard_normal((2, 2)), [0, 1]),
    "a constant feature": (
        np.column_stack([np.ones(50), RNG.standard_normal(50)]),
        RNG.integers(2, size=50),
    ),
    "a single feature": (RNG.standard_normal((80, 1)), RNG.integers(2, size=80)),
    "rows that repeat": (
        np.repeat(RNG.standard_normal((8, 2)), 8, axis=0),
        RNG.integers(2, size=64),
    ),
    "one row of a class": (RNG.standard_normal((40, 2)), [1] + [0] * 39),
}


@pytest.mark.slow
@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("parameters", MODELS.values(), ids=MODELS)
@pytest.mark.parametrize("name", ODD)
def test_odd_training_rows_give_numbers(name, parameters, rule):
    X, y = ODD[name]
    model = ELMSelectiveClassifier(**parameters, rank_by=rule, max_error=0.1, random_state=0)
    model.fit(X, y)
    for rows in (X, 100 * X):
        assert np.isfinite(model.confidence(rows)).all()
        found = model.triage(rows)
        np.testing.assert_array_equal(found.reason == "accepted", found.accepted)
