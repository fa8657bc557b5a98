"""True against false positive rate of the most confident rows."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from elmband.display.curves import ConfidenceDisplay, curve, in_percent, thinned
from elmband.metrics import confident_rates
from elmband.metrics.answered import first_reaching
from elmband.metrics.confident import Of, check_of
from elmband.metrics.selective import COVERAGES, check_coverages

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_LABELS = {
    "answered": ("false positives / answered negatives", "true positives / answered positives"),
    "all": ("false positives / all negatives", "true positives / all positives"),
}

# Width and height of a percentage, as shares of those of the axes.
_TEXT = np.array([0.09, 0.045])


class ConfidentRatesDisplay(ConfidenceDisplay):
    """True against false positive rate of the most confident part of the rows.

    Make one with :meth:`from_estimator` or :meth:`from_predictions`; several may share their axes.

    A thin line leads from the most confident part to all rows, through points marked with the
    share of rows that is answered; those too close to be told apart share a text. It begins at
    the first of these: the rates of fewer rows jump about. Points without rows of one class have
    no rate and are left out. At most 2,000 points are drawn, however many rows there are, and the
    marked ones.

    Parameters
    ----------
    coverage, tpr, fpr : array-like of shape (k,)
        Points of the curve, as from ``elmband.metrics.confident_rates``.
    coverages : sequence of float, default=(0.01, 0.03, 0.05, 0.1, 0.3, 0.5, 1)
        Shares of rows to mark. Where ties or few rows ask for more, that share is written.
    of : {"answered", "all"}, default="answered"
        What the rates are shares of, for the labels of the axes.
    name : str or None, default=None
        Name of the model, for the legend.

    Attributes
    ----------
    line_, marks_ : matplotlib artists
        The thin line, and the marked points.
    texts_ : list of matplotlib artists
        The percentages beside the marked points.

    Examples
    --------
    >>> y_true, y_pred, confidence = [1, 0, 1, 0], [1, 0, 0, 1], [0.9, 0.8, 0.7, 0.6]
    >>> display = ConfidentRatesDisplay.from_predictions(y_true, y_pred, confidence)
    >>> [text.get_text() for text in display.texts_]
    ['50 %', '100 %']
    """

    line_: Any
    marks_: Any
    texts_: list[Any]

    def __init__(
        self,
        coverage: ArrayLike,
        tpr: ArrayLike,
        fpr: ArrayLike,
        *,
        coverages: Sequence[float] = COVERAGES,
        of: Of = "answered",
        name: str | None = None,
    ) -> None:
        self.coverage, self.tpr, self.fpr = curve(coverage=coverage, tpr=tpr, fpr=fpr)
        self.coverages = check_coverages(coverages)
        self.of = check_of(of)
        self.name = name

    @classmethod
    def from_predictions(
        cls,
        y_true: ArrayLike,
        y_pred: ArrayLike,
        confidence: ArrayLike,
        *,
        pos_label: Any = 1,
        of: Of = "answered",
        coverages: Sequence[float] = COVERAGES,
        sample_weight: ArrayLike | None = None,
        name: str | None = None,
        ax: "Axes | None" = None,
        **line: Any,
    ) -> Self:
        """Draw the rates of predictions made elsewhere.

        Parameters
        ----------
        y_true, y_pred : array-like of shape (n_samples,)
            Labels, true and predicted.
        confidence : array-like of shape (n_samples,)
            Larger for rows that are more certain.
        pos_label : label, default=1
            The positive class.
        of : {"answered", "all"}, default="answered"
            What the rates are shares of, as in ``elmband.metrics.confident_rates``.
        coverages : sequence of float, default=(0.01, 0.03, 0.05, 0.1, 0.3, 0.5, 1)
            Shares of rows to mark.
        sample_weight : array-like of shape (n_samples,) or None, default=None
            Weights of the rows.
        name : str or None, default=None
            Name for the legend.
        ax, **line
            As in :meth:`plot`.

        Returns
        -------
        ConfidentRatesDisplay
            Already drawn.
        """
        rates = confident_rates(
            y_true, y_pred, confidence, pos_label=pos_label, of=of, sample_weight=sample_weight
        )
        display = cls(rates.coverage, rates.tpr, rates.fpr, coverages=coverages, of=of, name=name)
        return display.plot(ax=ax, **line)

    def _draw(self, *, legend: bool, **line: Any) -> None:
        marked = np.unique(first_reaching(self.coverage, self.coverages))
        at = np.union1d(thinned(self.coverage, int(marked[0])), marked)
        style = {"linewidth": 1.0, "alpha": 0.7, "label": self.name or "", **line}
        (self.line_,) = self.ax_.plot(self.fpr[at], self.tpr[at], **style)
        # Room for the percentages, which stand to the right of their points.
        self.ax_.margins(0.09)
        self._mark(marked[np.isfinite(self.fpr[marked] + self.tpr[marked])])
        self.ax_.set(**dict(zip(("xlabel", "ylabel"), _LABELS[self.of], strict=True)))
        in_percent(self.ax_.xaxis, self.ax_.yaxis)
        if legend and self.name:
            self.ax_.legend(frameon=False)

    def _mark(self, marked: NDArray[np.intp]) -> None:
        color = self.line_.get_color()
        points = np.column_stack([self.fpr[marked], self.tpr[marked]])
        (self.marks_,) = self.ax_.plot(*points.T, "o", color=color, markersize=4)
        # On the outer side of the line, which falls or rises, so that no text covers it.
        falls = self.of == "answered"
        side: dict[str, Any] = {
            "xytext": (5, 2 if falls else -2),
            "textcoords": "offset points",
            "va": "bottom" if falls else "top",
        }
        self.texts_ = []
        for first, last in self._apart(points):
            x, y = points[first : last + 1].T
            text = _percent(self.coverage[marked[[first, last]]])
            corner = x.max(), y.max() if falls else y.min()
            self.texts_.append(self.ax_.annotate(text, corner, color=color, fontsize=9, **side))

    def _apart(self, points: NDArray[np.float64]) -> list[tuple[int, int]]:
        """Return the first and last of the points that are so close as to share their text."""
        spans = np.ptp([self.ax_.get_xlim(), self.ax_.get_ylim()], axis=1)
        groups: list[tuple[int, int]] = []
        for i, point in enumerate(points):
            if groups and (np.abs(point - points[groups[-1][0]]) < _TEXT * spans).all():
                groups[-1] = groups[-1][0], i
            else:
                groups.append((i, i))
        return groups


def _percent(ends: NDArray[np.float64]) -> str:
    """Write one share, or the range from one to another, in percent."""
    return "-".join(dict.fromkeys(f"{100 * share:.3g}" for share in ends)) + " %"
