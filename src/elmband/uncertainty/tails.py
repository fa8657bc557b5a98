"""Whether both tails of the noise are alike: found from scores of rows left out.

Tails of their own cost something where noise is symmetric: each has a noise model from half of the
rows. So they are fitted only where signs of scores look skewed, by themselves or along a column of
the inputs, and kept only if they narrow intervals of rows left out. Multipliers of a row
come from the other folds there: of few scores, two multipliers would always beat one.
"""

from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np

from elmband.ground.arrays import Array, double, to_numpy
from elmband.uncertainty.calibrate import Calibration, RowScores

Floats: TypeAlias = np.ndarray[Any, np.dtype[np.float64]]

_LEVEL = 0.9
# Targets take few values where there are fewer for each row, and fewer than so many: bounds between
# more of them hardly jump.
_VALUES_PER_ROW = 0.1
_FEW_VALUES = 64
# Signs look skewed where their sum is so many standard deviations off: of all rows, of those past
# the bounds, and along the column that does so most, past the largest of that many by chance.
_SUSPICIOUS = 1.5
_PAST_CHANCE = 1.0
# What tails of their own must gain, in standard errors and as a share of the interval score. Both
# were settled on artificial data of 50 to 1,000 rows: normal, heavy-tailed, uniform and unequal
# noise, exponential, gamma and lognormal noise, and such as turns its longer tail with an input.
_ERRORS = 0.5
_LEAST_GAIN = 0.01


def takes_few_values(Y: Floats) -> bool:
    """Tell whether an output of targets (n, m) takes few values, as counts and marks do.

    Bounds of such targets jump, so that intervals that are narrower by little miss far more: 83 %
    of 90 were covered by separate tails learned from 400 Poisson counts, 89 % by tails alike.
    """
    return any(len(np.unique(y)) < min(_VALUES_PER_ROW * len(y), _FEW_VALUES) for y in Y.T)


def look_skewed(rows: RowScores, columns: Floats) -> bool:
    """Tell whether more scores lie on one side, anywhere; columns (n, d) are what they may follow.

    Equal shares above and below are what symmetric noise has, wherever rows are.
    """
    weights = rows.s / rows.s.mean()
    # Divided by the largest first: squares of what was given may be too large for a number.
    largest = np.abs(columns).max(axis=0)
    columns = columns / np.where(largest > 0, largest, 1.0)
    centred = columns - weights @ columns / weights.sum()
    for t in rows.both.T:
        order = np.argsort(np.abs(t))
        reached = np.cumsum(weights[order]) >= _LEVEL * weights.sum()
        far = np.zeros(len(t), bool)
        far[order[reached]] = True
        for chosen in (np.ones(len(t), bool), far):
            signs = np.sign(t) * weights * chosen
            if abs(signs.sum()) > _SUSPICIOUS * np.sqrt((signs**2).sum()):
                return True
            along = np.abs(signs @ centred)
            spread = np.sqrt((signs**2) @ centred**2)
            least = np.sqrt(2 * np.log(2 * max(columns.shape[1], 1))) + _PAST_CHANCE
            if (along > least * spread).any():
                return True
    return False


def tails_gain(
    e: Array,
    alike: Sequence[Array],
    separate: Sequence[Array],
    rows: Sequence[RowScores],
    folds: Any,
) -> bool:
    """Tell whether tails of their own narrow the intervals of rows left out.

    Errors e (n, m) have the variances `alike` or `separate`, three (n, m) each, and `rows` are the
    scores by one and by the other. The rows with the same number in `folds` share multipliers, of
    all others.
    """
    errors = to_numpy(double(e))
    one = _interval_scores(errors, _roots(alike), rows[0], folds, symmetric=True)
    other = _interval_scores(errors, _roots(separate), rows[1], folds, symmetric=False)
    s = rows[0].s / rows[0].s.sum()
    gain = ((one - other) / (s @ one)).mean(axis=1)
    return gains(gain, s, _ERRORS, _LEAST_GAIN)


def gains(gain: Floats, s: Floats, errors: float, least: float) -> bool:
    """Tell whether the mean gain of rows is at least so many standard errors, and so much."""
    share = s / s.sum()
    mean = float(share @ gain)
    error = float(np.sqrt(share**2 @ (gain - mean) ** 2))
    return mean > max(errors * error, least)


def left_out_interval_scores(
    e: Array, variances: Sequence[Array], rows: RowScores, folds: Any, *, symmetric: bool
) -> Floats:
    """Return the interval score of every row left out, (n,), its mean over outputs."""
    errors = to_numpy(double(e))
    found = _interval_scores(errors, _roots(variances), rows, folds, symmetric=symmetric)
    mean: Floats = found.mean(axis=1)
    return mean


def _roots(variances: Sequence[Array]) -> list[Floats]:
    return [np.sqrt(to_numpy(double(v))) for v in variances]


def _interval_scores(
    e: Floats, deviations: Sequence[Floats], rows: RowScores, folds: Any, *, symmetric: bool
) -> Floats:
    """Return the interval score of every row, (n, m), with multipliers of the other folds."""
    found = np.empty_like(e)
    both, above, below = deviations
    for fold in np.unique(folds):
        here = folds == fold
        known = Calibration("loo", rows.taken(~here).outputs())
        for j in range(e.shape[1]):
            if symmetric:
                low = high = known.symmetric(_LEVEL, j) * both[here, j]
            else:
                z_low, z_high = known.tails(_LEVEL, j)
                low = z_low * (below if z_low > 0 else above)[here, j]
                high = z_high * (above if z_high > 0 else below)[here, j]
            missed = np.maximum(e[here, j] - high, 0) + np.maximum(-low - e[here, j], 0)
            found[here, j] = low + high + 2 / (1 - _LEVEL) * missed
    return found
