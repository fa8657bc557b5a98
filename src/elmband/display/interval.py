"""Predictions with their intervals."""

from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from elmband.display.features import n_columns
from elmband.display.figure import PredictionsDisplay
from elmband.ground.arrays import to_numpy
from elmband.ground.wording import percent_exactly

if TYPE_CHECKING:
    from matplotlib.axes import Axes


class IntervalDisplay(PredictionsDisplay):
    """Rows, predicted mean and prediction interval in one picture.

    Make one with :meth:`from_estimator` or :meth:`from_predictions`.

    With a single input the horizontal axis is that input, the predicted mean is a line and the
    interval a band around it. With several inputs there is no such axis: the horizontal axis is
    the predicted mean, which so becomes the diagonal, and each row has its own vertical bar,
    because rows with equal predictions may have very different intervals. ``plot(color=...)``
    takes the colour of the mean and, paler, of the interval.

    Parameters
    ----------
    x : array-like of shape (n_samples,) or (n_samples, n_features), or None
        Inputs. None, or more than one feature, puts the predicted mean on the horizontal axis.
    y : array-like of shape (n_samples,) or None
        Observed targets; None draws no rows.
    mean : array-like of shape (n_samples,)
        Predicted means.
    interval : array-like of shape (n_samples, 2)
        Lower and upper end for each row.
    confidence_level : float or None, default=None
        Level of the interval, for the legend only.
    x_label, y_label : str
        Names of the input and of the target.

    Attributes
    ----------
    rows_, line_, interval_ : matplotlib artists
        The rows (None without `y`), the line of the mean, and the band or bars.
    """

    rows_: Any
    line_: Any
    interval_: Any

    def __init__(
        self,
        x: ArrayLike | None,
        y: ArrayLike | None,
        mean: ArrayLike,
        interval: ArrayLike,
        *,
        confidence_level: float | None = None,
        x_label: str = "x",
        y_label: str = "y",
    ) -> None:
        self.mean = np.asarray(to_numpy(mean), dtype=np.float64)
        if self.mean.ndim != 1:
            raise ValueError(f"mean must have one dimension, got shape {self.mean.shape}")
        n = len(self.mean)
        self.interval = _checked(interval, (n, 2), "interval")
        self.y = None if y is None else _checked(y, (n,), "y")
        self.is_band = x is not None and n_columns(x) == 1
        self.x = _checked(np.ravel(to_numpy(x)), (n,), "x") if self.is_band else self.mean
        self.confidence_level = confidence_level
        self.x_label = x_label if self.is_band else f"predicted {y_label}"
        self.y_label = y_label

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        y: ArrayLike | None,
        *,
        confidence_level: float = 0.95,
        ax: "Axes | None" = None,
    ) -> Self:
        """Predict `X` with a fitted estimator and draw the result.

        Parameters
        ----------
        estimator : fitted estimator
            Has ``predict`` and ``predict_interval``, like ``ELMIntervalRegressor``.
        X : array-like or data frame of shape (n_samples, n_features)
            Inputs. Names of columns become labels.
        y : array-like of shape (n_samples,) or None
            Observed targets; None draws no rows.
        confidence_level : float, default=0.95
            Level of the interval.
        ax : matplotlib.axes.Axes or None, default=None
            As in :meth:`plot`.

        Returns
        -------
        IntervalDisplay
            Already drawn.
        """
        if not hasattr(estimator, "predict_interval"):
            raise TypeError(
                f"{type(estimator).__name__} has no predict_interval, which IntervalDisplay draws"
            )
        return cls.from_predictions(
            X if n_columns(X) == 1 else None,
            y,
            estimator.predict(X),
            estimator.predict_interval(X, confidence_level=confidence_level),
            confidence_level=confidence_level,
            x_label=_column_name(X),
            y_label=str(getattr(y, "name", None) or "y"),
            ax=ax,
        )

    def _draw(self, *, legend: bool, color: str = "tab:blue") -> None:
        order = np.argsort(self.x, kind="stable")
        x, mean, (low, high) = self.x[order], self.mean[order], self.interval[order].T
        level = self.confidence_level
        label = "interval" if level is None else f"{percent_exactly(level)} interval"
        if self.is_band:
            self.interval_ = self.ax_.fill_between(
                x, low, high, color=color, alpha=0.25, linewidth=0, label=label
            )
        else:
            self.interval_ = self.ax_.vlines(
                x, low, high, color=color, alpha=0.25, linewidth=1, label=label
            )
        (self.line_,) = self.ax_.plot(x, mean, color=color, linewidth=1.8, label="predicted mean")
        self.rows_ = None if self.y is None else self._plot_rows(self.y)
        self.ax_.set(xlabel=self.x_label, ylabel=self.y_label)
        if legend:
            self.ax_.legend(frameon=False)

    def _plot_rows(self, y: NDArray[np.float64]) -> Any:
        # Many rows overlap: smaller and paler dots keep the shape of the cloud visible.
        crowd = np.clip(len(y) / 500, 1.0, 10.0)
        return self.ax_.scatter(
            self.x, y, s=12 / crowd, color="0.2", alpha=0.7 / crowd**0.5, linewidths=0, label="rows"
        )


def _checked(values: ArrayLike, shape: tuple[int, ...], name: str) -> NDArray[np.float64]:
    array = np.asarray(to_numpy(values), dtype=np.float64)
    if array.shape != shape:
        raise ValueError(f"{name} must have shape {shape} to match mean, got {array.shape}")
    return array


def _column_name(X: Any) -> str:
    """Return the name of the first column of a data frame, or of a series, else ``x``."""
    columns = getattr(X, "columns", None)
    name = columns[0] if columns is not None and len(columns) else getattr(X, "name", None)
    return "x" if name is None else str(name)
