"""Probabilities of the classifier, on held-out rows whose true probability is known."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.calibration import CalibratedClassifierCV
from sklearn.linear_model import LogisticRegression

from elmband import ELMClassifier

BINS = 20


def logistic(n, rng, shift):
    """Return rows, labels and true probabilities of two classes, linear in the log-odds."""
    X = rng.standard_normal((n, 6))
    p = 1 / (1 + np.exp(-1.5 * X @ [1, -0.7, 0.5, 0, 0, 0.3] - shift))
    return X, (rng.random(n) < p).astype(int), np.column_stack([1 - p, p])


def curved(n, rng, shift):
    """Return the same of four classes, nonlinear."""
    X = rng.standard_normal((n, 4))
    effects = np.array([[2, -1, 0, 0], [0, 1, -2, 0], [0, 0, 1, 1], [1, 0, 0, -1.0]])
    t = 2 * np.tanh(X) @ effects + shift * np.arange(4)
    p = np.exp(t) / np.exp(t).sum(axis=1, keepdims=True)
    return X, (p.cumsum(axis=1) < rng.random((n, 1))).sum(axis=1), p


def calibration_error(said, true):
    """Return the mean distance of said and true probabilities, over bins of equally many rows."""
    errors = []
    for q, p in zip(said.T, true.T, strict=True):
        bins = np.digitize(q, np.quantile(q, np.linspace(0, 1, BINS + 1)[1:-1]))
        errors.append(np.abs(np.bincount(bins, q - p, BINS)).sum() / len(q))
    return float(np.mean(errors))


def cross_entropy(said, true):
    return float(-np.mean(np.sum(true * np.log(said), axis=1)))


@pytest.mark.slow
@pytest.mark.parametrize("options", [{"n_neurons": 100}, {}], ids=["layer", "stack"])
@pytest.mark.parametrize("shift", [0.0, -3.0], ids=["even", "rare"])
@pytest.mark.parametrize("make", [logistic, curved])
def test_what_is_said_happens_as_often(make, shift, options):
    """Within 2.5 %, from 5,000 rows; the rarest class has about one row in ten or in fifty."""
    rng = np.random.default_rng(0)
    X, y, _ = make(5000, rng, shift / (2 if make is curved else 1))
    new, labels, true = make(20_000, rng, shift / (2 if make is curved else 1))
    model = ELMClassifier(random_state=0, **options).fit(X, y)
    p = model.predict_proba(new)
    assert calibration_error(p, true) < 0.025
    np.testing.assert_allclose(p.mean(axis=0), true.mean(axis=0), atol=0.025)
    rival = CalibratedClassifierCV(LogisticRegression(), cv=5).fit(X, y).predict_proba(new)
    # Where the rival has the right form, it is ahead by a hundredth at most.
    margin = 0.012 if make is logistic else -0.01
    assert cross_entropy(p, true) < cross_entropy(rival, true) + margin
    assert (model.predict(new) == labels).mean() > (p.max(axis=1)).mean() - 0.02


@pytest.mark.slow
def test_more_rows_say_it_better():
    rng = np.random.default_rng(1)
    new, _, true = logistic(20_000, rng, -3.0)
    X, y, _ = logistic(20_000, rng, -3.0)
    errors = [
        calibration_error(
            ELMClassifier(100, random_state=0).fit(X[:n], y[:n]).predict_proba(new), true
        )
        for n in (500, 20_000)
    ]
    assert errors[1] < 0.012
    assert errors[1] < errors[0]


def test_weights_of_classes_give_probabilities_of_a_population_weighted_so():
    """Weight w of the second class turns p into w p / (w p + 1 - p)."""
    rng = np.random.default_rng(2)
    X, y, _ = logistic(5000, rng, -2.0)
    new, _, true = logistic(20_000, rng, -2.0)
    weighed = true * [0.2, 1.0]
    weighed /= weighed.sum(axis=1, keepdims=True)
    model = ELMClassifier(60, class_weight={0: 0.2}, random_state=0).fit(X, y)
    p = model.predict_proba(new)
    assert calibration_error(p, weighed) < 0.025
    assert calibration_error(p, true) > 0.1


def test_several_labels_are_each_as_often_as_said():
    rng = np.random.default_rng(3)
    X, one, p_one = logistic(5000, rng, 0.0)
    p_two = 1 / (1 + np.exp(2 - 3 * np.sin(2 * X[:, 0])))
    two = (rng.random(len(X)) < p_two).astype(int)
    model = ELMClassifier(100, random_state=0).fit(X[:4000], np.column_stack([one, two])[:4000])
    p = model.predict_proba(X)
    assert p.shape == (5000, 2)
    np.testing.assert_array_equal(p > 0.5, model.predict(X) == 1)
    assert calibration_error(p[4000:], np.column_stack([p_one[:, 1], p_two])[4000:]) < 0.04


@pytest.mark.parametrize("options", [{"n_neurons": 40}, {"n_neurons": 300}, {}], ids=str)
@pytest.mark.parametrize("classes", [2, 3])
def test_classes_far_apart_leave_a_little_doubt(options, classes):
    rng = np.random.default_rng(4)
    y = np.arange(150) % classes
    X = rng.standard_normal((150, 3)) + 12 * y[:, None]
    p = ELMClassifier(random_state=0, **options).fit(X, y).predict_proba(X)
    assert (p.argmax(axis=1) == y).all()
    assert p.min() >= 1 / (classes * 151) * (1 - 1e-9)
    assert np.median(p.max(axis=1)) > 0.95


@pytest.mark.slow
def test_labels_at_random_are_not_foretold():
    rng = np.random.default_rng(5)
    X, y = rng.standard_normal((300, 5)), np.arange(300) % 2
    for options in ({"n_neurons": 100}, {"n_neurons": 500}, {"n_neurons": 100, "alpha": 1e-8}, {}):
        p = ELMClassifier(random_state=0, **options).fit(X, y).predict_proba(X)
        assert np.mean(np.abs(p - 0.5)) < 0.15


@pytest.mark.slow
@given(st.integers(0, 10_000), st.integers(2, 5), st.sampled_from([1e-9, 1e-2, 1.0, 1e6]))
def test_the_label_is_the_most_probable_class(seed, classes, alpha):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2 * classes, 60))
    X, y = rng.standard_normal((n, 2)), np.arange(n) % classes
    s = rng.uniform(0.5, 4, n)
    model = ELMClassifier(15, alpha=alpha, random_state=seed).fit(X, y, s)
    new = rng.standard_normal((40, 2)) * 3
    p, label = model.predict_proba(new), model.predict(new)
    np.testing.assert_allclose(p.sum(axis=1), 1, rtol=1e-12)
    assert p.min() > 0
    d = model.decision_function(new)
    d = np.sort(np.column_stack([-d, d]) if d.ndim == 1 else d, axis=1)
    # Decisions that differ in their last digits only may share a probability.
    clear = d[:, -1] - d[:, -2] > 1e-9 * np.abs(d).max()
    np.testing.assert_array_equal(p.argmax(axis=1)[clear], label[clear])


@pytest.mark.one_quick
@pytest.mark.parametrize("options", [{"n_neurons": 20}, {"n_neurons": 150}, {}], ids=str)
@pytest.mark.parametrize("alpha", [0.5, "auto"])
def test_a_weight_is_a_number_of_rows(options, alpha):
    rng = np.random.default_rng(6)
    X, y, _ = curved(90, rng, 0.0)
    s = rng.integers(0, 4, 90)
    model = ELMClassifier(alpha=alpha, random_state=0, **options)
    repeated = model.fit(np.repeat(X, s, axis=0), np.repeat(y, s)).predict_proba(X)
    np.testing.assert_allclose(model.fit(X, y, s).predict_proba(X), repeated, rtol=1e-5)


def test_the_unit_and_the_order_of_rows_do_not_matter():
    rng = np.random.default_rng(7)
    X, y, _ = curved(300, rng, 0.0)
    model = ELMClassifier(30, alpha=0.5, random_state=0)
    expected = model.fit(X, y).predict_proba(X)
    order = rng.permutation(300)
    actual = model.fit(1000 * X[order] + 7, y[order]).predict_proba(1000 * X + 7)
    np.testing.assert_allclose(actual, expected, rtol=1e-8)
