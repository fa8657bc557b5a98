"""Observed coverage against the level that was asked for."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike
from scipy.stats import binom

from elmband.display.coverage import LEVELS, Curve, Rows, count_inside, observed
from elmband.display.curves import in_percent
from elmband.display.figure import Display
from elmband.ground.arrays import Floats, to_numpy
from elmband.metrics.checks import check_levels

if TYPE_CHECKING:
    from matplotlib.axes import Axes


# Curves are told apart without colours as well.
_MARKERS = "os^Dv<>phX"
_BAND = 0.95
_CHANCE = "by chance (95 %)"


class IntervalCalibrationDisplay(Display):
    """Share of targets inside their interval, against the level that was asked for.

    Make one with :meth:`from_estimator` or :meth:`from_predictions`; several may share their axes.

    The dotted diagonal is where levels are kept. Chance alone takes the curve of a perfect model
    off it: at each level, 95 % of such models stay in the band, which is that of the binomial
    distribution and the narrower the more rows there are. Above the band intervals are too wide,
    below it they are too narrow. Each group has a curve and a band of its own.

    Parameters
    ----------
    confidence_levels : array-like of shape (k,)
        Levels that were asked for.
    coverage : array-like of shape (k,) or (g, k)
        Share of targets inside, for all rows or for each of g groups.
    n : float or array-like of shape (g,)
        Number of rows, each counted as often as its weight says.
    groups : sequence of length g or None, default=None
        Names of the groups.
    name : str or None, default=None
        Name of the model, for the legend; of what groups are, for its title.

    Attributes
    ----------
    lines_, bands_ : list of matplotlib artists
        The curves, and the bands around the diagonal.
    diagonal_ : matplotlib artist
        The dotted line.

    Examples
    --------
    >>> intervals = {0.5: [[-1, 1]] * 4, 0.9: [[-3, 3]] * 4}
    >>> display = IntervalCalibrationDisplay.from_predictions([0, 2, -0.5, 9], intervals)
    >>> display.coverage.tolist()
    [[0.5, 0.75]]
    """

    lines_: list[Any]
    bands_: list[Any]
    diagonal_: Any

    def __init__(
        self,
        confidence_levels: ArrayLike,
        coverage: ArrayLike,
        n: ArrayLike,
        *,
        groups: Sequence[Any] | None = None,
        name: str | None = None,
    ) -> None:
        levels = check_levels("confidence_levels", to_numpy(confidence_levels), ndims=(1,))
        self.confidence_levels = levels
        self.coverage = np.atleast_2d(np.asarray(to_numpy(coverage), dtype=np.float64))
        self.n = np.atleast_1d(np.asarray(to_numpy(n), dtype=np.float64))
        count = 1 if groups is None else len(groups)
        shapes = (count, len(levels)), (count,)
        if (self.coverage.shape, self.n.shape) != shapes:
            raise ValueError(
                f"coverage and n must have shapes {shapes[0]} and {shapes[1]}, for each group and "
                f"level; got {self.coverage.shape} and {self.n.shape}"
            )
        if not ((self.coverage >= 0) & (self.coverage <= 1)).all() or not (self.n > 0).all():
            raise ValueError("coverage must be shares from 0 to 1, and n numbers of rows above 0")
        self.groups = None if groups is None else list(groups)
        self.name = name

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        y: ArrayLike | None = None,
        *,
        confidence_levels: ArrayLike = LEVELS,
        groups: Any = None,
        sample_weight: ArrayLike | None = None,
        name: str | None = None,
        ax: "Axes | None" = None,
        **line: Any,
    ) -> Self:
        """Predict `X` with a fitted estimator and draw the coverage of its intervals.

        Rows should be others than those of the training. Those of a scan are read once, and memory
        does not grow with them.

        Parameters
        ----------
        estimator : fitted estimator
            An ``ELMIntervalRegressor``, or any with ``predict_interval(X, confidence_level=)``.
        X : array-like, data frame or scan
            Inputs; a scan has its targets and weights with it.
        y : array-like of shape (n_samples,) or None
            Observed targets.
        confidence_levels : array-like of shape (k,), default=(0.05, 0.1, ..., 0.95)
            Levels to ask for.
        groups : array-like of shape (n_samples,), str or None, default=None
            A label for each row, for a curve for each label; for a scan, the name of a feature or
            of a column of text.
        sample_weight : array-like of shape (n_samples,) or None, default=None
            How often each row counts.
        name : str or None, default=None
            Name for the legend. None takes that of the class, or of the groups.
        ax, **line
            As in :meth:`plot`.

        Returns
        -------
        IntervalCalibrationDisplay
            Already drawn.
        """
        levels = check_levels("confidence_levels", to_numpy(confidence_levels), ndims=(1,))
        curves = observed(estimator, Rows(X, y, groups, sample_weight), levels)
        if name is None:
            name = type(estimator).__name__ if groups is None else _name_of(groups)
        return cls._of(levels, curves, name).plot(ax=ax, **line)

    @classmethod
    def from_predictions(
        cls,
        y_true: ArrayLike,
        intervals: Mapping[float, ArrayLike] | ArrayLike,
        *,
        confidence_levels: ArrayLike | None = None,
        groups: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
        name: str | None = None,
        ax: "Axes | None" = None,
        **line: Any,
    ) -> Self:
        """Draw the coverage of intervals made elsewhere.

        Parameters
        ----------
        y_true : array-like of shape (n_samples,)
            Observed targets.
        intervals : mapping or array-like of shape (n_samples, 2, k)
            Lower and upper ends (n_samples, 2) by level, or those of all levels in one array, as
            from ``predict_interval(X, confidence_levels)``.
        confidence_levels : array-like of shape (k,) or None, default=None
            Levels of the array; a mapping has its own.
        groups : array-like of shape (n_samples,) or None, default=None
            A label for each row, for a curve for each label.
        sample_weight, name, ax, **line
            As in :meth:`from_estimator`.

        Returns
        -------
        IntervalCalibrationDisplay
            Already drawn.
        """
        if isinstance(intervals, Mapping) == (confidence_levels is not None):
            raise ValueError(
                "give intervals as a mapping from level to bounds, or as an array beside its "
                "confidence_levels"
            )
        asked = list(intervals) if isinstance(intervals, Mapping) else confidence_levels
        levels = check_levels("confidence_levels", to_numpy(asked), ndims=(1,))
        if isinstance(intervals, Mapping):
            intervals = _stacked(intervals)
        rows = Rows(None, y_true, groups, sample_weight)
        name = _name_of(groups) if name is None else name
        return cls._of(levels, count_inside(rows, intervals, levels), name).plot(ax=ax, **line)

    @classmethod
    def _of(cls, levels: Floats, curves: list[Curve], name: str | None) -> Self:
        """Return a display with levels in rising order."""
        order = np.argsort(levels)
        coverage = np.array([curve.coverage[order] for curve in curves])
        groups = None if curves[0].group is None else [curve.group for curve in curves]
        return cls(levels[order], coverage, [c.n for c in curves], groups=groups, name=name)

    def _draw(self, *, legend: bool, **line: Any) -> None:
        drawn = len(self.ax_.lines)
        diagonal: dict[str, Any] = {"color": "0.3", "linestyle": ":", "linewidth": 1, "zorder": 1.5}
        (self.diagonal_,) = self.ax_.plot([0, 1], [0, 1], **diagonal)
        self.lines_, self.bands_ = [], []
        labels = self._labels()
        for number, (coverage, n) in enumerate(zip(self.coverage, self.n, strict=True)):
            marker = _MARKERS[(drawn + number) % len(_MARKERS)]
            style: dict[str, Any] = {
                "marker": marker,
                "markersize": 4,
                "linewidth": 1.3,
                "label": labels[number],
            }
            (curve,) = self.ax_.plot(self.confidence_levels, coverage, **style | line)
            self.lines_.append(curve)
            levels = np.linspace(0, 1, 201)
            band: dict[str, Any] = {"color": curve.get_color(), "alpha": 0.15, "linewidth": 0}
            self.bands_.append(self.ax_.fill_between(levels, *chance(n, levels), **band))
        if _CHANCE not in self.ax_.get_legend_handles_labels()[1]:
            self.bands_[-1].set_label(_CHANCE)
        self.ax_.set(xlim=(0, 1), ylim=(0, 1), aspect="equal")
        self.ax_.set(xlabel="level asked for", ylabel="observed: targets inside")
        in_percent(self.ax_.xaxis, self.ax_.yaxis)
        if legend:
            title = self.name if self.groups is not None else None
            # A pale ground, for curves may pass below.
            ground: dict[str, Any] = {"framealpha": 0.7, "edgecolor": "none", "fontsize": "small"}
            self.ax_.legend(title=title, alignment="left", **ground)

    def _labels(self) -> list[str]:
        names = [self.name or "observed"] if self.groups is None else map(str, self.groups)
        return [f"{name} ({n:,.10g} rows)" for name, n in zip(names, self.n, strict=True)]


def chance(n: float, levels: Floats) -> tuple[Floats, Floats]:
    """Return the band that holds the coverage of 95 % of perfect models on n rows, at each level.

    These are quantiles of the binomial distribution; weights that are no whole numbers are rounded
    down to them, which makes the band wider.
    """
    count = max(int(n), 1)
    low, high = (binom.ppf(q, count, levels) / count for q in ((1 - _BAND) / 2, (1 + _BAND) / 2))
    return np.maximum(low, 0.0), high


def _stacked(intervals: Mapping[float, ArrayLike]) -> Floats:
    """Return bounds (n, 2) of all levels as one array (n, 2, k)."""
    bounds = [np.asarray(to_numpy(values), dtype=np.float64) for values in intervals.values()]
    shapes = sorted({values.shape for values in bounds})
    if len(shapes) > 1:
        raise ValueError(
            f"intervals have shapes {shapes[0]} and {shapes[1]}: give all levels the same rows"
        )
    return np.stack(bounds, axis=-1)


def _name_of(groups: Any) -> str | None:
    name = groups if isinstance(groups, str) else getattr(groups, "name", None)
    return None if name is None else str(name)
