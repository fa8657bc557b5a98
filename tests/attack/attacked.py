"""Fit the defaults on draws of a kind, and measure intervals on new rows of it."""

from typing import NamedTuple

import numpy as np

from elmband import ELMIntervalRegressor
from elmband.metrics import interval_score, picp

LEVEL = 0.9
N_TEST = 2000


class Judged(NamedTuple):
    """What one fit says of new rows, against one interval for all of them."""

    coverage: float
    parts: list
    relative_score: float
    widest: float
    negative: float
    finite: bool


def judged(kind, seed, **options):
    """Fit on ``kind.n`` rows; the same interval for all rows is that of the training quantiles."""
    rng = np.random.default_rng(seed)
    X, y = kind.draw(rng, kind.n)
    new, truth = kind.draw(rng, N_TEST)
    model = ELMIntervalRegressor(random_state=seed, **options).fit(X, y)
    mean, interval = model.predict(new, confidence_level=LEVEL)
    same = np.tile(np.quantile(y, [(1 - LEVEL) / 2, (1 + LEVEL) / 2]), (N_TEST, 1))
    ratio = _score(truth, interval) / _score(truth, same)
    part = np.zeros(N_TEST, int) if kind.parts is None else kind.parts(new)
    return Judged(
        picp(truth, interval),
        [picp(truth[part == k], interval[part == k]) for k in np.unique(part)],
        ratio,
        np.diff(interval).max() / np.ptp(y),
        np.mean(interval[:, 0] < 0),
        bool(np.isfinite(mean).all() and np.isfinite(interval).all()),
    )


def _score(truth, interval):
    return interval_score(truth, interval, confidence_level=LEVEL)


def absurd(mean, interval, y):
    """Tell which rows have a mean far outside the targets and an interval that does not say so.

    Far is more than the range of the targets away from it. The interval says so if it reaches
    back to the targets.
    """
    low, high = y.min(), y.max()
    reach = high - low
    far = (mean > high + reach) | (mean < low - reach)
    return far & ((interval[:, 0] > high) | (interval[:, 1] < low))
