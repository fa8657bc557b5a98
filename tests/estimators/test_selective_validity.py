"""How often promises are broken, with a population whose shares are known."""

import math

import numpy as np
import pytest
from noisy_classes import noisy_classes

from elmband import ELMSelectiveClassifier

TRAIN = noisy_classes(400, 0)
POPULATION = noisy_classes(40_000, 3)


def selective(**wish):
    model = ELMSelectiveClassifier(30, noise="squared", random_state=0, **wish)
    return model.fit(TRAIN.X, TRAIN.y)


def true_risks(model, rows, score, called):
    """Return the risk that was asked for of a whole population, for every threshold."""
    for k, threshold in model.thresholds_.items():
        if threshold is None:
            continue
        accepted = score >= threshold.value
        wrong = called != rows.y
        if model.max_error is not None:
            mine = accepted & (called == k) if model.per_class else accepted
            yield wrong[mine].mean() if mine.any() else 0.0
        elif model.max_fpr is not None:
            yield (accepted & (called == 1))[rows.y == 0].mean()
        else:
            mine = accepted & (called == 1)
            yield wrong[mine].mean() if mine.any() else 0.0


def most_broken(draws):
    """Return how many promises of 90 % may be broken, and three standard deviations of that."""
    return 0.1 * draws + 3 * math.sqrt(0.1 * 0.9 * draws)


@pytest.mark.slow
@pytest.mark.parametrize(
    "asked",
    [
        {"max_error": 0.1},
        {"max_error": 0.15, "per_class": True},
        {"max_fpr": 0.05},
        {"max_fpr": 0.05, "per_class": True},
        {"min_precision": 0.9},
    ],
    ids=str,
)
def test_promises_are_broken_as_rarely_as_they_say(asked):
    model = selective(**asked)
    score, called = model.confidence(POPULATION.X), model.predict(POPULATION.X)
    limit = asked.get("max_error", asked.get("max_fpr", 0.1))
    rng = np.random.default_rng(0)
    broken = kept = 0
    for _ in range(200):
        # Drawn from the population with replacement: its shares are the truth.
        rows = rng.integers(len(score), size=500)
        try:
            model.calibrate(POPULATION.X[rows], POPULATION.y[rows], confidence_level=0.9)
        except ValueError:
            continue
        if max(true_risks(model, POPULATION, score, called)) > limit:
            broken += 1
        else:
            kept += 1
    assert broken <= most_broken(200)
    assert kept > 80


@pytest.mark.slow
def test_promises_for_groups_are_broken_as_rarely_as_they_say():
    rng = np.random.default_rng(0)
    model = selective(max_error=0.12)
    # Rows of a group lie close together, and some groups are wrong as a whole.
    middle, owner = rng.uniform(-2, 2, size=(4000, 2)), np.repeat(np.arange(4000), 6)
    X = middle[owner] + 0.1 * rng.normal(size=(24_000, 2))
    bad = rng.random(4000) < np.where(middle[:, 0] > 0, 0.3, 0.02)
    y = model.predict(X) ^ bad[owner]
    score = model.confidence(X)
    broken = kept = 0
    for _ in range(100):
        groups = rng.integers(4000, size=250)
        rows = (6 * groups[:, None] + np.arange(6)).ravel()
        labels = np.repeat(np.arange(250), 6)
        try:
            model.calibrate(X[rows], y[rows], groups=labels, confidence_level=0.9)
        except ValueError:
            continue
        answered = np.unique(owner[score >= model.thresholds_[0].value])
        if bad[answered].mean() > 0.12:
            broken += 1
        else:
            kept += 1
    assert broken <= most_broken(100)
    assert kept > 25
