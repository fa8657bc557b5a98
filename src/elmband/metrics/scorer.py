"""Scorers that let scikit-learn select models on an interval metric."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from sklearn.utils.metadata_routing import MetadataRequest

from elmband.metrics.checks import check_levels, require
from elmband.metrics.scores import cwc, interval_score, nmpiw, picp


def interval_scorer(
    metric: Any, *, confidence_level: float = 0.9, greater_is_better: bool = False
) -> "_IntervalScorer":
    """Make a scorer for ``scoring=`` in `GridSearchCV`, `cross_val_score` and the like.

    It calls ``estimator.predict_interval(X, confidence_level=...)``, or where that is missing, as
    in a `Pipeline`, ``estimator.predict(X, confidence_level=...)``, a pair ``(mean, interval)``.
    Greater is better, as everywhere in scikit-learn: ``"interval_score"``, ``"nmpiw"`` and
    ``"cwc"`` are negated, ``"picp"`` is minus the distance of the coverage to the level.
    A callable is called as ``metric(y_true, interval)``, with ``sample_weight=`` where there are
    weights, and negated unless `greater_is_better`, which is for callables only.

    Examples
    --------
    >>> interval_scorer("interval_score", confidence_level=0.8)
    interval_scorer('interval_score', confidence_level=0.8)
    """
    level = float(check_levels("confidence_level", confidence_level))
    known = callable(metric) or metric in list(_LOSSES)
    require(known, f"metric is {metric!r}, expected a callable or one of: {', '.join(_LOSSES)}")
    ok = callable(metric) or not greater_is_better
    require(ok, f"greater_is_better is for callables, {metric!r} has its own: leave it out")
    return _IntervalScorer(metric, level, greater_is_better)


_LOSSES: dict[str, Callable[[Any, Any, float, Any], float]] = {
    "interval_score": lambda y, i, c, w: interval_score(y, i, confidence_level=c, sample_weight=w),
    "nmpiw": lambda y, i, _, w: nmpiw(y, i, sample_weight=w),
    "cwc": lambda y, i, c, w: cwc(y, i, confidence_level=c, sample_weight=w),
    "picp": lambda y, i, c, w: abs(picp(y, i, sample_weight=w) - c),
}


@dataclass(frozen=True, repr=False)
class _IntervalScorer:
    """What `interval_scorer` returns; it keeps a metric by its name, so that it pickles."""

    metric: Any
    confidence_level: float
    greater_is_better: bool

    def __call__(self, estimator: Any, X: Any, y: Any, sample_weight: Any = None) -> float:
        estimator = getattr(estimator, "best_estimator_", estimator)  # a search in a search
        if hasattr(estimator, "predict_interval"):
            interval = estimator.predict_interval(X, confidence_level=self.confidence_level)
        else:
            _, interval = estimator.predict(X, confidence_level=self.confidence_level)
        if not callable(self.metric):
            return -_LOSSES[self.metric](y, interval, self.confidence_level, sample_weight)
        weights = {} if sample_weight is None else {"sample_weight": sample_weight}
        value = float(self.metric(y, interval, **weights))
        return value if self.greater_is_better else -value

    def __repr__(self) -> str:
        name = getattr(self.metric, "__name__", repr(self.metric))
        greater = ", greater_is_better=True" if self.greater_is_better else ""
        return f"interval_scorer({name}, confidence_level={self.confidence_level}{greater})"

    def get_metadata_routing(self) -> Any:
        """Ask for the weights, when scikit-learn's metadata routing is on."""
        request = MetadataRequest(owner=self)
        request.score.add_request(param="sample_weight", alias=True)
        return request

    def _accept_sample_weight(self) -> bool:  # asked by searches when metadata routing is off
        return True
