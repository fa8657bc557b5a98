"""What the mean depends on, and what the noise depends on."""

from numbers import Integral
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from elmband.display.curves import in_percent
from elmband.display.figure import Display

if TYPE_CHECKING:
    from matplotlib.axes import Axes


# The first is darker: they differ without colours as well.
_BARS = {"mean": ("the mean", "#034e7b"), "noise": ("the noise", "#fdae6b")}
_HEIGHT = 0.4
# Least coefficient of a direction that is written.
_LEAST_PART = 0.15
_LONGEST = 30


class RelevanceDisplay(Display):
    """Shares of inputs in how the mean changes, and in how the noise changes, as bars.

    Make one with :meth:`from_estimator`. The inputs with the largest shares in mean or noise are
    drawn, one below the other, in the order of the mean.

    Parameters
    ----------
    relevance : FeatureRelevance
        What the attribute ``feature_relevance_`` or ``column_relevance_`` of a model is.
    directions : RelevantDirections or None, default=None
        What ``relevant_directions_`` is: each direction of the mean is drawn as a line of text.
    max_features : int, default=10
        The most inputs to draw.

    Attributes
    ----------
    bars_ : dict of matplotlib artists
        The bars of "mean" and, where it is known, of "noise".
    names_ : list of str
        The inputs drawn, the first on top.

    Examples
    --------
    >>> from elmband import ELMIntervalRegressor
    >>> X = np.random.default_rng(0).normal(size=(200, 3))
    >>> model = ELMIntervalRegressor(50, random_state=0).fit(X, X[:, 1] ** 3)
    >>> RelevanceDisplay.from_estimator(model).names_[0]
    'x1'
    """

    bars_: dict[str, Any]
    names_: list[str]

    def __init__(self, relevance: Any, directions: Any = None, *, max_features: int = 10) -> None:
        whole = isinstance(max_features, Integral) and not isinstance(max_features, bool)
        if not whole or max_features < 1:
            raise ValueError(
                f"max_features must be a whole number of at least 1; got {max_features!r}"
            )
        self.relevance = relevance
        self.directions = directions
        self.max_features = max_features

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        *,
        columns: bool = True,
        directions: bool = False,
        max_features: int = 10,
        ax: "Axes | None" = None,
    ) -> Self:
        """Draw what a fitted estimator depends on.

        Parameters
        ----------
        estimator : fitted estimator
            Has ``feature_relevance_``, like all estimators of elmband.
        columns : bool, default=True
            Whether to add up the shares of inputs that an encoder made of one column of a table.
        directions : bool, default=False
            Whether to write the directions of the mean below the bars.
        max_features : int, default=10
            The most inputs to draw.
        ax : matplotlib.axes.Axes or None, default=None
            As in :meth:`plot`.

        Returns
        -------
        RelevanceDisplay
            Already drawn.
        """
        if not hasattr(type(estimator), "feature_relevance_"):
            raise TypeError(
                f"{type(estimator).__name__} has no feature_relevance_, which RelevanceDisplay "
                "draws"
            )
        found = estimator.column_relevance_ if columns else estimator.feature_relevance_
        along = estimator.relevant_directions_ if directions else None
        return cls(found, along, max_features=max_features).plot(ax=ax)

    def _draw(self, *, legend: bool) -> None:
        drawn = self.relevance.top(self.max_features)
        self.names_ = [self.relevance.names[j] for j in drawn]
        known = {name: getattr(self.relevance, name) for name in _BARS}
        known = {name: shares for name, shares in known.items() if shares is not None}
        self.bars_ = {}
        for k, (name, shares) in enumerate(known.items()):
            label, color = _BARS[name]
            places = np.arange(len(drawn)) + (k - (len(known) - 1) / 2) * _HEIGHT
            self.bars_[name] = self.ax_.barh(
                places, shares[drawn], _HEIGHT, color=color, label=self._label(name, label)
            )
        self._finish(legend=legend and len(known) > 1)

    def _label(self, name: str, label: str) -> str:
        flat = name == "noise" and not self.relevance.noise_varies
        return f"{label}, which hardly changes" if flat else label

    def _finish(self, *, legend: bool) -> None:
        self.ax_.set_yticks(range(len(self.names_)), [_short(name) for name in self.names_])
        self.ax_.set(ylim=(len(self.names_) - 0.4, -0.6), xlim=(0, None))
        below = "" if self.directions is None else "\n\n" + "\n".join(_told(self.directions))
        self.ax_.set_xlabel(f"share in how it changes{below}")
        in_percent(self.ax_.xaxis)
        if legend:
            self.ax_.legend(frameon=False, loc="lower right")


def _told(directions: Any) -> list[str]:
    """Return the directions of the mean in words, each with its share."""
    lines = ["directions in which the mean changes:"]
    for vector, share in zip(*directions.mean, strict=True):
        order = np.argsort(-np.abs(vector), kind="stable")
        large = [j for j in order if abs(vector[j]) >= _LEAST_PART]
        parts = [f"{vector[j]:+.2f} {_short(directions.names[j])}" for j in large]
        lines.append(f"{100 * share:.0f} % along {' '.join(parts)}")
    return lines


def _short(name: str) -> str:
    # A dollar would begin a formula.
    return (name if len(name) <= _LONGEST else f"{name[: _LONGEST - 1]}…").replace("$", r"\$")
