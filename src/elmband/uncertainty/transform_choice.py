"""A transform of targets chosen by itself, where intervals of rows left out gain by it.

Prices, incomes and counts have noise that grows with their mean and a long upper tail: on the
scale of a root or a logarithm it is nearly the same everywhere. Only targets that are never
negative and skewed are looked at. Each transform is tried on a sample of rows, and taken only if
it lowers the interval score of rows left out by 2 % or more. All that decides follows y → a·y.
"""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from elmband.ground.arrays import Array, double, namespace, place, to_numpy
from elmband.metrics.scores import interval_score
from elmband.sums.moments import Chunk
from elmband.sums.sample import row_keys, taken
from elmband.sums.scaling import Scaling, column_moments
from elmband.uncertainty.calibrate import OutputScores, two_sided
from elmband.uncertainty.left_out import LeftOut
from elmband.uncertainty.transform import BoxCox, Log, Transform

# A transform must be worth the reader's while: it makes means and intervals harder to explain.
_LEAST_GAIN = 0.02
_LEVEL = 0.9
# Fewer rows cannot tell, and targets that are less skewed have little to gain.
_LEAST_ROWS = 50
_LEAST_SKEWNESS = 0.5
_MOST_ZEROS = 0.2
# Powers for targets that may be zero.
_POWERS = (0.5, 0.25)
# Rows that transforms are tried on.
_TRIED_ROWS = 1500


def transforms_to_try(Y: Array, s: Array | None) -> list[Transform]:
    """Return the transforms that targets Y (n, 1) may gain by, none where they are not skewed."""
    y = to_numpy(double(Y))[:, 0]
    weights = None if s is None else to_numpy(double(s))
    if len(y) < _LEAST_ROWS or y.min() < 0 or not y.max() > y.min():
        return []
    # Rare events among zeros have no scale of their own, and a mean that few of them make.
    if np.average(y == y.min(), weights=weights) > _MOST_ZEROS:
        return []
    unit = y.max()
    mean = float(np.average(y / unit, weights=weights))
    gaps = y / unit - mean
    variance, cubes = (float(np.average(gaps**power, weights=weights)) for power in (2, 3))
    if cubes < _LEAST_SKEWNESS * variance**1.5:
        return []
    centre = (math.log(unit) + math.log(mean),)
    powers = [BoxCox((power,), centre) for power in _POWERS]
    return [powers[0], Log()] if y.min() > 0 else list(powers)


def sample_of(rows: Chunk, labels: Any, seed: int) -> tuple[Chunk, Any]:
    """Return the rows to try transforms on: all, or a sample that depends on inputs only."""
    if int(rows.X.shape[0]) <= _TRIED_ROWS:
        return rows, labels
    Z = Scaling.from_moments(column_moments(rows.X, rows.s))(double(rows.X))
    keys = row_keys(to_numpy(Z), seed)
    index = np.sort(np.argsort(keys, kind="stable")[:_TRIED_ROWS])
    return taken(rows, index), None if labels is None else labels[index]


def left_out_score(
    left: LeftOut,
    scores: Sequence[OutputScores],
    targets: Scaling,
    transform: Transform,
    output: int,
) -> float:
    """Return the mean interval score of rows left out, in the units of y.

    `targets` are the scaling of transformed targets that the model was trained with, one of which
    is the `output` of this transform.
    """
    xp = namespace(left.mean)
    z = scores[output].both.estimated(_LEVEL, two_sided)
    half = z * xp.sqrt(left.variance)
    scale, centre = (place(a, left.mean) for a in (targets.scale, targets.mean))
    y, low, high = (
        to_numpy(transform.inverse((values * scale + centre)[:, output][:, None]))[:, 0]
        for values in (left.target, left.mean - half, left.mean + half)
    )
    # Bounds stay at or above zero whatever the transform.
    interval = np.maximum(np.stack([low, high], axis=1), 0.0)
    weights = to_numpy(left.weights)
    return interval_score(y, interval, confidence_level=_LEVEL, sample_weight=weights)


def best_of(scores: Sequence[float]) -> int:
    """Return the place of the best score, that of the first unless another one gains enough."""
    best = int(np.argmin(scores))
    return best if scores[best] <= (1 - _LEAST_GAIN) * scores[0] else 0
