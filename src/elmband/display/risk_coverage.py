"""Risk against coverage."""

from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike

from elmband.display.curves import ConfidenceDisplay, curve, in_percent, thinned
from elmband.metrics import risk_coverage_curve

if TYPE_CHECKING:
    from matplotlib.axes import Axes


class RiskCoverageDisplay(ConfidenceDisplay):
    """Share of wrong answers against the share of rows that are answered.

    Make one with :meth:`from_estimator` or :meth:`from_predictions`; several may share their axes.

    A dot at full coverage marks the error of all rows. A dotted line carries it to the left: that
    is where the curve of a confidence that says nothing would run. Below 1 % of coverage the risk
    of a few rows jumps about, so the vertical axis shows what is beyond in full and may cut off
    the rest. At most 2,000 points are drawn, however many rows there are.

    Parameters
    ----------
    coverage, risk : array-like of shape (k,)
        Points of the curve, as from ``elmband.metrics.risk_coverage_curve``.
    aurc : float or None, default=None
        Area under the curve, for the legend.
    name : str or None, default=None
        Name of the model, for the legend.

    Attributes
    ----------
    line_, base_, level_ : matplotlib artists
        The curve, the dot at full coverage, and the dotted line.

    Examples
    --------
    >>> y_true, y_pred, confidence = [1, 0, 1, 0], [1, 0, 0, 1], [0.9, 0.8, 0.7, 0.6]
    >>> display = RiskCoverageDisplay.from_predictions(y_true, y_pred, confidence, name="model")
    >>> display.line_.get_label()
    'model (AURC 0.208, error 0.5)'
    """

    line_: Any
    base_: Any
    level_: Any

    def __init__(
        self,
        coverage: ArrayLike,
        risk: ArrayLike,
        *,
        aurc: float | None = None,
        name: str | None = None,
    ) -> None:
        self.coverage, self.risk = curve(coverage=coverage, risk=risk)
        self.aurc = aurc
        self.name = name

    @classmethod
    def from_predictions(
        cls,
        y_true: ArrayLike,
        y_pred: ArrayLike,
        confidence: ArrayLike,
        *,
        sample_weight: ArrayLike | None = None,
        name: str | None = None,
        ax: "Axes | None" = None,
        **line: Any,
    ) -> Self:
        """Draw the curve of predictions made elsewhere.

        Parameters
        ----------
        y_true, y_pred : array-like of shape (n_samples,)
            Labels, true and predicted.
        confidence : array-like of shape (n_samples,)
            Larger for rows that are more certain.
        sample_weight : array-like of shape (n_samples,) or None, default=None
            Weights of the rows.
        name : str or None, default=None
            Name for the legend.
        ax, **line
            As in :meth:`plot`.

        Returns
        -------
        RiskCoverageDisplay
            Already drawn.
        """
        points = risk_coverage_curve(y_true, y_pred, confidence, sample_weight=sample_weight)
        display = cls(points.coverage, points.risk, aurc=points.area, name=name)
        return display.plot(ax=ax, **line)

    def _draw(self, *, legend: bool, **line: Any) -> None:
        top = self._top()
        if self.ax_.has_data():
            top = max(top, self.ax_.get_ylim()[1])
        at = thinned(self.coverage)
        style = {"linewidth": 1.5, "label": self._label(), **line}
        (self.line_,) = self.ax_.plot(self.coverage[at], self.risk[at], **style)
        color, base = self.line_.get_color(), (self.coverage[-1], self.risk[-1])
        (self.base_,) = self.ax_.plot(*base, "o", color=color, markersize=5, clip_on=False)
        self.level_ = self.ax_.axhline(base[1], color=color, linestyle=":", linewidth=1, alpha=0.6)
        self.ax_.set(
            xlim=(0, 1),
            ylim=(-0.02 * top, top),
            xlabel="coverage: answered rows",
            ylabel="risk: wrong among the answered",
        )
        in_percent(self.ax_.xaxis, self.ax_.yaxis)
        if legend:
            self.ax_.legend(frameon=False)

    def _top(self) -> float:
        """Return the upper end of the vertical axis: a tenth above the risks that matter."""
        highest = float(np.max(self.risk, where=self.coverage >= 0.01, initial=0.0))
        return 1.1 * highest or 0.1

    def _label(self) -> str:
        area = "" if self.aurc is None else f"AURC {self.aurc:.3g}, "
        scores = f"{area}error {self.risk[-1]:.3g}"
        return scores if self.name is None else f"{self.name} ({scores})"
