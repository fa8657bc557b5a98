"""Classifiers answer under onnxruntime what they answer in Python."""

from dataclasses import replace

import numpy as np
import pytest
from exported import Session, assert_close, computed, rows, tolerance

from elmband import ELMClassifier, ELMSelectiveClassifier
from elmband.models.onnx_export._confidence import many_classes
from elmband.models.onnx_export._graph import DOUBLE
from elmband.models.onnx_export._noise import Variances
from elmband.uncertainty.confidence import Answer as ScoredRows

DTYPES = ("float64", "float32")
LABELS = {
    "whole": np.array([3, 7, 9]),
    "text": np.array(["no", "yes", "maybe"]),
    "objects": np.array(["no", "yes", "maybe"], dtype=object),
}


def classes(y, count):
    return np.searchsorted(np.quantile(y, np.arange(1, count) / count), y)


def assert_same_labels(found, model, X):
    expected = model.predict(X)
    assert found["label"].shape == expected.shape
    np.testing.assert_array_equal(found["label"], expected)
    assert_close(found["decision"], model.decision_function(X), 1.0)
    # Steep curves make of float32 decisions less exact probabilities.
    assert_close(found["probability"], model.predict_proba(X), 0.01, times=3)


def assert_same_triage(found, model, X):
    confidence = model.confidence(X)
    exact = found["decision"].dtype == np.float64
    error = np.abs(found["confidence"] - confidence) / (np.abs(confidence) + 1)
    assert error.max() < (tolerance(model) if exact else 1e-4)
    clear = np.abs(confidence[:, None] - [t.value for t in model.thresholds_.values() if t]) > 1e-4
    clear = clear.all(axis=1)
    assert clear.mean() > 0.9
    np.testing.assert_array_equal(found["accepted"][clear], model.accept(X)[clear])
    assert 0 < found["accepted"].sum() < len(X)


@pytest.mark.one_quick
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("count", [2, 3])
@pytest.mark.parametrize("labels", LABELS)
def test_labels_of_every_type(labels, count, dtype):
    X, y, new = rows(dtype=dtype)
    model = ELMClassifier(15, random_state=0).fit(X, LABELS[labels][classes(y, count)])
    found = Session.of(model)(new)
    assert_same_labels(found, model, new)
    assert found["label"].dtype == (np.int64 if labels == "whole" else object)


def test_truth_values_are_labels():
    X, y, new = rows()
    model = ELMClassifier(15, random_state=0).fit(X, y > 0)
    assert Session.of(model)(new)["label"].dtype == np.bool_
    assert_same_labels(Session.of(model)(new), model, new)


@pytest.mark.parametrize("dtype", DTYPES)
def test_several_labels_a_row(dtype):
    X, y, new = rows(dtype=dtype)
    columns = np.stack([y > 0, X[:, 0] > 0, X[:, 1] > 1], axis=1).astype(int)
    model = ELMClassifier(15, random_state=0).fit(X, columns)
    assert_same_labels(Session.of(model)(new), model, new)


def test_a_stack_of_classifiers():
    X, y, new = rows()
    model = ELMClassifier(15, n_estimators=3, random_state=0).fit(X, classes(y, 3))
    assert_same_labels(Session.of(model)(new), model, new)


@pytest.mark.one_quick
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("count", [2, 3])
@pytest.mark.parametrize("rule", ["probability", "interval", "margin", "model"])
@pytest.mark.parametrize("noise", ["log", "squared"])
def test_rows_are_accepted_as_in_python(noise, rule, count, dtype):
    X, y, new = rows(dtype=dtype)
    model = ELMSelectiveClassifier(15, noise=noise, rank_by=rule, coverage=0.5, random_state=0)
    model.fit(X, LABELS["text"][classes(y, count)])
    found = Session.of(model)(new)
    assert list(found) == ["label", "decision", "probability", "confidence", "accepted"]
    assert_same_labels(found, model, new)
    assert_same_triage(found, model, new)


def test_thresholds_of_every_class_and_classes_without_one():
    X, y, new = rows(300)
    model = ELMSelectiveClassifier(15, coverage=0.4, per_class=True, random_state=0)
    model.fit(X, classes(y, 3))
    assert len({t.value for t in model.thresholds_.values()}) == 3
    assert_same_triage(Session.of(model)(new), model, new)
    model = ELMSelectiveClassifier(15, min_precision=0.9, per_class=True, random_state=0)
    model.fit(X, classes(y, 2))
    assert model.thresholds_[0] is None
    found = Session.of(model)(new)
    assert_same_triage(found, model, new)
    assert found["accepted"][found["label"] == 0].all()


def test_a_judge_that_had_nothing_to_learn():
    X, _, new = rows()
    model = ELMSelectiveClassifier({"linear": 3}, coverage=0.5, random_state=0)
    model.fit(X, X[:, 0] > 0)
    deciding = model.fitted_.deciding
    deciding = replace(deciding, confidence=deciding.confidence._replace(judge=None))
    model.fitted_ = replace(model.fitted_, deciding=deciding)
    np.testing.assert_allclose(
        Session.of(model)(new)["confidence"], model.confidence(new), tolerance(model)
    )


def test_of_equal_decisions_the_same_classes_are_compared():
    decision = np.array([[1.0, 1.0, 0.0], [0.0, 1.0, 1.0], [2.0, 1.0, 1.0], [1.0, 1.0, 1.0]])
    weights = np.array([[1.0, 2.0, 4.0]])
    variances = decision + weights
    expected = ScoredRows.of(decision, variances, variances)

    def answer(x):
        return many_classes(x, Variances(*[x + weights] * 2), 3)

    functions = {
        "place": lambda x: answer(x).place.to(DOUBLE),
        "margin": lambda x: answer(x).margin,
        "noise": lambda x: answer(x).variances.noise,
        "model": lambda x: answer(x).variances.model,
        "side": lambda x: answer(x).side,
    }
    for name, function in functions.items():
        np.testing.assert_array_equal(computed(function, decision), getattr(expected, name))


def test_nothing_is_accepted_where_nothing_was_asked_for():
    X, y, new = rows()
    model = ELMSelectiveClassifier(15, random_state=0).fit(X, y > 0)
    assert "accepted" not in Session.of(model)(new)
    model.choose(max_error=0.1)
    assert_same_triage(Session.of(model)(new), model, new)


def test_a_promise_travels_with_the_file():
    X, y, new = rows(600)
    model = ELMSelectiveClassifier(15, max_error=0.2, random_state=0).fit(X[:200], y[:200] > 0)
    model.calibrate(X[200:], y[200:] > 0)
    assert_same_triage(Session.of(model)(new), model, new)
