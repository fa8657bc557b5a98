"""Probabilities, and rows that are answered, for each kind of classes that they must survive."""

import numpy as np
import pytest
from class_kinds import CLASS_KINDS
from sklearn.metrics import log_loss

from elmband import ELMClassifier, ELMSelectiveClassifier

N_TEST = 2000
MANY = 12
SEEDS = 6
FEW = 2
# Tolerances are those of many seeds; the mean of half as many varies by so much more.
MORE = 2**0.5
ASKED = 0.1
# A class of 30 rows has a probability that is off by 10 points: that of the mean of 12 by 3.
FREQUENCY_TOLERANCE = {300: 0.03, 100: 0.05, 30: 0.08}
# Sure by more than they should be: chance alone makes |p - 1/2| larger than it is.
CONFIDENCE_TOLERANCE = {300: 0.05, 100: 0.07, 30: 0.1}
# Relative to the log loss of the frequencies of training classes; 30 rows may mislead.
LOSS = {300: 1.03, 100: 1.03, 30: 1.1}
# Thresholds of `fit` are estimates, and say so; with few rows they are rough.
ERROR_TOLERANCE = {300: 0.03, 100: 0.05, 30: 0.1}
# What is known not to be as good, with the reason: many columns that tell nothing flatter errors of
# rows left out, by which the threshold was chosen (`calibrate` is not fooled); three values of x
# give three probabilities, of which the largest is chosen.
LESS_RIGHT = {"useless columns": 0.08, "more columns than rows": 0.22}
LESS_SURE = {"three values": 0.08}
QUICK = ["coin", "cauchy inputs", "three values", "useless columns", "rare class", "30 rows"]


def _rows(name, seed):
    draw, n = CLASS_KINDS[name]
    rng = np.random.default_rng(seed)
    return *draw(rng, n), *draw(rng, N_TEST)


def _probabilities(name, seed):
    """Return relative log loss, error of the frequency, confidence minus share of right rows."""
    X, y, new, truth = _rows(name, seed)
    p = ELMClassifier(random_state=seed).fit(X, y).predict_proba(new)
    assert np.isfinite(p).all()
    np.testing.assert_allclose(p.sum(axis=1), 1)
    base = np.tile(np.bincount(y, minlength=2) / len(y), (N_TEST, 1))
    right = np.argmax(p, axis=1) == truth
    return (
        log_loss(truth, p) / log_loss(truth, base),
        p[:, 1].mean() - truth.mean(),
        p.max(axis=1).mean() - right.mean(),
    )


def _check_probabilities(name, seeds, factor=1.0):
    n = CLASS_KINDS[name][1]
    loss, bias, surplus = np.mean([_probabilities(name, seed) for seed in seeds], axis=0)
    assert loss - 1 < factor * (LOSS[n] - 1)
    assert abs(bias) < factor * FREQUENCY_TOLERANCE[n]
    assert surplus < factor * LESS_SURE.get(name, CONFIDENCE_TOLERANCE[n])


@pytest.mark.one_quick
@pytest.mark.parametrize("name", QUICK)
def test_probabilities_of_a_few_draws_are_about_frequencies(name):
    """Thrice the tolerances: the mean of two fits varies 2.5 times as much as that of twelve."""
    _check_probabilities(name, range(FEW), 3.0)


DRAWS = pytest.mark.parametrize(
    ("seeds", "factor"),
    [(SEEDS, MORE), pytest.param(MANY, 1.0, marks=pytest.mark.long)],
    ids=["some", "many"],
)


@pytest.mark.slow
@DRAWS
@pytest.mark.parametrize("name", CLASS_KINDS)
def test_probabilities_are_frequencies(name, seeds, factor):
    _check_probabilities(name, range(seeds), factor)


def _answered(name, seed):
    """Return how many new rows are answered by a model that may err in a tenth of them, and err."""
    X, y, new, truth = _rows(name, seed)
    model = ELMSelectiveClassifier(max_error=ASKED, random_state=seed).fit(X, y)
    answered = model.accept(new)
    return answered.sum(), (model.predict(new) != truth)[answered].sum()


def _check_answers(name, seeds, factor=1.0):
    """Look at all draws together; a hundredth of the rows, answered by chance, is let pass.

    Of thirty rows to learn from it is three: by chance they may look like more than a coin.
    """
    answered, wrong = np.sum([_answered(name, seed) for seed in seeds], axis=0)
    few = answered < (0.03 if CLASS_KINDS[name][1] == 30 else 0.01) * len(seeds) * N_TEST
    tolerance = LESS_RIGHT.get(name, ERROR_TOLERANCE[CLASS_KINDS[name][1]])
    assert few or wrong / answered < ASKED + factor * tolerance


@pytest.mark.slow
@pytest.mark.parametrize("name", QUICK)
def test_answers_of_a_few_draws_are_about_as_right_as_asked_for(name):
    _check_answers(name, range(FEW), 2.0)


@pytest.mark.slow
@DRAWS
@pytest.mark.parametrize("name", CLASS_KINDS)
def test_answers_are_as_right_as_asked_for(name, seeds, factor):
    _check_answers(name, range(seeds), factor)
