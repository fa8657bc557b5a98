"""What the variance of predictions is made of."""

from numbers import Integral
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike

from elmband.display.bins import binned
from elmband.display.curves import in_percent
from elmband.display.features import chosen_feature
from elmband.display.figure import PredictionsDisplay
from elmband.ground.arrays import Floats, to_numpy
from elmband.uncertainty.transform import Identity

if TYPE_CHECKING:
    from matplotlib.axes import Axes


# From the bottom up, each darker than the one below: they differ without colours as well.
_PARTS = {
    "noise": ("noise", "#fdd49e"),
    "noise_model": ("uncertain noise", "#74a9cf"),
    "mean_model": ("uncertain mean", "#034e7b"),
}
_BOUNDS = ("noise_lower", "noise_upper")
# Share of sorted rows that fit the axis: the last few would flatten all others.
_SHOWN = 0.99


class VariancePartsDisplay(PredictionsDisplay):
    """Predicted variance in its parts, along a feature or from the most certain row to the least.

    Make one with :meth:`from_estimator` or :meth:`from_predictions`.

    Parts lie on top of each other, and together are the total, a black line: the noise, which more
    rows would not make smaller, what the uncertainty of the noise model adds, and the uncertainty
    of the mean, which is large where training rows were few. Dashed lines are bounds of the noise
    variance, where they are given. Many rows are drawn as means of bins.
    Without a feature rows are sorted by their total; the vertical axis shows 99 % of them in full
    and may cut off the rest.

    Parameters
    ----------
    parts : VarianceParts or mapping
        What ``predict_variance`` returns; each (n_samples,), by the names `noise`, `mean_model`
        and `noise_model`, and, if known, `noise_lower` and `noise_upper`.
    x : array-like of shape (n_samples,) or None, default=None
        A feature to draw along. None sorts rows by their total.
    bins : int or None, default=100
        The most bins to draw; None draws all rows.
    x_label, y_label : str
        Names of the feature and of the target.

    Attributes
    ----------
    areas_ : dict of matplotlib artists
        The parts by name.
    total_ : matplotlib artist
        The line of their sum.
    bounds_ : list of matplotlib artists
        The lines around the noise; empty where they are not known.

    Examples
    --------
    >>> parts = {"noise": [1, 1], "mean_model": [0.5, 2], "noise_model": [0, 0.5]}
    >>> display = VariancePartsDisplay.from_predictions(parts, [10, 20])
    >>> display.total_.get_ydata().tolist()
    [1.5, 3.5]
    """

    areas_: dict[str, Any]
    total_: Any
    bounds_: list[Any]

    def __init__(
        self,
        parts: Any,
        x: ArrayLike | None = None,
        *,
        bins: int | None = 100,
        x_label: str = "x",
        y_label: str = "y",
    ) -> None:
        self.parts = {name: _part(parts, name) for name in _PARTS}
        shapes = sorted({values.shape for values in self.parts.values()})
        if len(shapes) > 1 or len(shapes[0]) != 1 or not shapes[0][0]:
            raise ValueError(
                f"{', '.join(self.parts)} must be lists of one length with at least one number "
                f"each, got shapes {', '.join(map(str, shapes))}: take one output of several"
            )
        whole = isinstance(bins, Integral) and not isinstance(bins, bool)
        if bins is not None and (not whole or bins < 1):
            raise ValueError(f"bins must be a whole number of at least 1 or None; got {bins!r}")
        bounds = [_part(parts, name, needed=False) for name in _BOUNDS]
        self.bounds = [values for values in bounds if values is not None]
        self.total = np.asarray(sum(self.parts.values()))
        for values in (*self.parts.values(), *self.bounds):
            if values.shape != shapes[0] or not (np.isfinite(values) & (values >= 0)).all():
                raise ValueError("variances must be finite and at least 0, one for each row")
        self.x = None if x is None else _feature(x, len(self.total))
        self.bins = bins
        self.x_label, self.y_label = x_label, y_label

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        *,
        feature: str | int | None = None,
        bins: int | None = 100,
        y_label: str | None = None,
        ax: "Axes | None" = None,
    ) -> Self:
        """Ask a fitted estimator for the variances of `X`, and draw them.

        Parameters
        ----------
        estimator : fitted estimator
            Has ``predict_variance``, like ``ELMIntervalRegressor``.
        X : array-like, data frame or scan
            Inputs. Of a scan the variances and the feature are kept, seven numbers a row.
        feature : str, int or None, default=None
            Name or place of a feature to draw along. None takes the only one, or, where there are
            several, sorts rows by their total.
        bins : int or None, default=100
            The most bins to draw; None draws all rows.
        y_label : str or None, default=None
            Name of the target.
        ax : matplotlib.axes.Axes or None, default=None
            As in :meth:`plot`.

        Returns
        -------
        VariancePartsDisplay
            Already drawn.
        """
        if not hasattr(estimator, "predict_variance"):
            raise TypeError(
                f"{type(estimator).__name__} has no predict_variance, which VariancePartsDisplay "
                "draws"
            )
        parts, along = estimator.predict_variance(X), chosen_feature(X, feature)
        if y_label is None:
            known = isinstance(getattr(estimator, "target_transform_", Identity()), Identity)
            y_label = "y" if known else "the transformed y"
        x, x_label = (None, "") if along is None else along
        return cls.from_predictions(parts, x, bins=bins, x_label=x_label, y_label=y_label, ax=ax)

    def _draw(self, *, legend: bool) -> None:
        columns = np.column_stack([*self.parts.values(), self.total, *self.bounds])
        x, values, _ = binned(self._places(), columns, self.bins)
        n_parts = len(_PARTS)
        tops = np.cumsum(values[:, :n_parts], axis=1)
        self.areas_ = {}
        bottom = np.zeros(len(x))
        for (name, (label, color)), top in zip(_PARTS.items(), tops.T, strict=True):
            area = self.ax_.fill_between(x, bottom, top, color=color, linewidth=0, label=label)
            self.areas_[name], bottom = area, top
        (self.total_,) = self.ax_.plot(x, values[:, n_parts], "k-", linewidth=1.2, label="total")
        self.bounds_ = [
            self.ax_.plot(x, bound, color="#b35806", linestyle="--", linewidth=1)[0]
            for bound in values[:, n_parts + 1 :].T
        ]
        if self.bounds_:
            self.bounds_[0].set_label("bounds of noise")
        self._finish(x, values[:, n_parts:].max(axis=1), legend=legend)

    def _places(self) -> Floats:
        """Return where rows are along the horizontal axis."""
        if self.x is not None:
            return self.x
        places = np.empty(len(self.total))
        places[np.argsort(self.total, kind="stable")] = np.arange(len(places)) + 0.5
        return places / len(places)

    def _finish(self, x: Floats, highest: Floats, *, legend: bool) -> None:
        label = self.x_label if self.x is not None else "rows, from the most certain to the least"
        self.ax_.set(xlabel=label, ylabel=f"variance, in squared units of {self.y_label}")
        if self.x is None:
            in_percent(self.ax_.xaxis)
            shown = x <= _SHOWN
            highest = highest[shown] if shown.any() else highest
        # Room above the areas for the legend.
        top = (1.3 if legend else 1.05) * float(highest.max()) or 1.0
        left, right = (0.0, 1.0) if self.x is None else (float(x[0]), float(x[-1]))
        if left == right:
            left, right = left - 0.5, right + 0.5
        self.ax_.set(xlim=(left, right), ylim=(0, top))
        if legend:
            tight: dict[str, Any] = {"columnspacing": 1.0, "handlelength": 1.5, "fontsize": "small"}
            self.ax_.legend(frameon=False, loc="upper center", ncols=2, **tight)


def _part(parts: Any, name: str, *, needed: bool = True) -> Any:
    """Return the variances of this name, by key or by attribute."""
    values = parts.get(name) if hasattr(parts, "get") else getattr(parts, name, None)
    if values is None:
        if needed:
            raise ValueError(
                f"parts has no {name!r}: give what predict_variance returns, or a mapping with "
                f"{', '.join(_PARTS)}"
            )
        return None
    return np.asarray(to_numpy(values), dtype=np.float64)


def _feature(x: Any, n: int) -> Floats:
    values = np.asarray(to_numpy(x), dtype=np.float64)
    if values.shape != (n,) or not np.isfinite(values).all():
        raise ValueError(
            f"x must have {n} finite numbers, one for each row; its shape is {values.shape}"
        )
    return values
