"""What every adaptor returns, and the few steps that several of them share."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri
from sklearn.model_selection import train_test_split

Floats = NDArray[np.float64]

CALIBRATION_SHARE = 0.25
"""Share of the training rows that split-conformal methods hold out, as in the guides of MAPIE
(60/20/20) and crepes."""


@dataclass(frozen=True, eq=False)
class Prediction:
    """Predictions for n test rows at k levels.

    Attributes
    ----------
    mean : ndarray of shape (n,)
        Point prediction: the mean, or the median where a method knows only quantiles.
    interval : ndarray of shape (n, 2, k) or None
        Lower and upper bound at each level; infinite where a method cannot say for a row, None
        from methods that predict points only.
    std : ndarray of shape (n,) or None
        Standard deviation, from methods that predict a normal distribution.
    """

    mean: Floats
    interval: Floats | None
    std: Floats | None = None


class Predictor(Protocol):
    """The signature all adaptors share."""

    def __call__(
        self,
        X_train: Floats,
        y_train: Floats,
        X_test: Floats,
        levels: Sequence[float],
        seed: int,
    ) -> Prediction:
        """Fit on the training rows and predict the test rows."""
        ...


class UnsuitedError(ValueError):
    """The method is not meant for a set like this; not a failure."""


def tails(levels: Sequence[float]) -> list[float]:
    """Return the quantiles that bound central intervals: all lower ones, 0.5, all upper ones."""
    lower = [(1 - level) / 2 for level in levels]
    return [*lower, 0.5, *(1 - q for q in lower)]


def from_tails(values: Floats, mean: Floats | None = None) -> Prediction:
    """Make a prediction of quantiles (n, 2k + 1) in the order of `tails`.

    Quantiles that cross are put in order row by row, which never makes them worse.
    """
    k = values.shape[1] // 2
    centre = values[:, k] if mean is None else mean
    bounds = np.stack([values[:, :k], values[:, k + 1 :]], axis=1)
    return Prediction(mean=centre, interval=np.sort(bounds, axis=1))


def from_normal(mean: Floats, std: Floats, levels: Sequence[float]) -> Prediction:
    """Make a prediction of a normal distribution at every row."""
    half = std[:, np.newaxis] * ndtri((1 + np.asarray(levels)) / 2)
    centre = mean[:, np.newaxis]
    return Prediction(mean, np.stack([centre - half, centre + half], axis=1), std)


def hold_out(X: Floats, y: Floats, seed: int) -> tuple[Floats, Floats, Floats, Floats]:
    """Cut training rows into X, y to fit and X, y to calibrate."""
    X_fit, X_cal, y_fit, y_cal = train_test_split(
        X, y, test_size=CALIBRATION_SHARE, random_state=seed
    )
    return X_fit, y_fit, X_cal, y_cal
