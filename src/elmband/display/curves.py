"""What drawings of a classifier that may abstain have in common."""

from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from elmband.display.figure import Display
from elmband.ground.arrays import to_numpy
from elmband.metrics.answered import first_reaching

if TYPE_CHECKING:
    from matplotlib.axis import Axis

# More than a figure has pixels from left to right, few enough to draw and to save at once.
POINTS = 2000


class ConfidenceDisplay(Display):
    """A curve over the most confident rows of a classifier, made by `from_predictions`."""

    @classmethod
    def from_predictions(cls, *args: Any, **options: Any) -> Self:
        """Draw predictions made elsewhere."""
        raise NotImplementedError

    @classmethod
    def from_estimator(
        cls, estimator: Any, X: Any, y: ArrayLike, *, name: str | None = None, **options: Any
    ) -> Self:
        """Predict `X` with a fitted classifier and draw the curve.

        Parameters
        ----------
        estimator : fitted classifier
            Has ``predict`` and ``confidence``, which is larger for rows that are more certain.
        X : array-like or data frame of shape (n_samples, n_features)
            Inputs.
        y : array-like of shape (n_samples,)
            Labels.
        name : str or None, default=None
            Name for the legend. None takes that of the class.
        **options
            As in :meth:`from_predictions`, `sample_weight` and `ax` among them.

        Returns
        -------
        Display
            Already drawn.
        """
        kind = type(estimator).__name__
        if not hasattr(estimator, "confidence"):
            raise TypeError(
                f"{kind} has no method confidence, which {cls.__name__} needs: take a classifier "
                "that has one, or from_predictions with a confidence of your own"
            )
        y_pred, confidence = estimator.predict(X), estimator.confidence(X)
        name = kind if name is None else name
        return cls.from_predictions(y, y_pred, confidence, name=name, **options)


def curve(**columns: ArrayLike) -> list[NDArray[np.float64]]:
    """Return the columns of a curve as arrays of one length."""
    arrays = [np.asarray(to_numpy(values), dtype=np.float64) for values in columns.values()]
    shapes = [array.shape for array in arrays]
    if len(set(shapes)) > 1 or arrays[0].ndim != 1 or not arrays[0].size:
        raise ValueError(
            f"{', '.join(columns)} must be lists of one length with at least one number each, got "
            f"shapes {', '.join(map(str, shapes))}"
        )
    return arrays


def thinned(coverage: NDArray[np.float64], start: int = 0) -> NDArray[np.intp]:
    """Return the positions of at most `POINTS` points from `start` on, evenly spread, both ends."""
    if len(coverage) - start <= POINTS:
        return np.arange(start, len(coverage))
    at = first_reaching(coverage, np.linspace(coverage[start], coverage[-1], POINTS))
    at[[0, -1]] = start, len(coverage) - 1
    return np.unique(at)


def in_percent(*axes: "Axis") -> None:
    """Write the numbers along these axes as percentages."""
    for axis in axes:
        axis.set_major_formatter(_percent)


def _percent(value: float, _: float) -> str:
    # Adding zero turns -0 into 0.
    return f"{round(100 * value, 6) + 0.0:g} %"
