"""How honest and how sharp prediction intervals are, and scorers for model selection.

The functions share these conventions, for n rows and m outputs:

- ``y_true`` is (n,) or (n, m); ``interval`` has one more axis of length 2: lower, upper. Bounds may
  be infinite, targets may not. ``mean`` and ``std`` have the shape of ``y_true``.
- ``sample_weight`` is (n,); rows of weight zero are left out, as if they had not been given.
- A metric is computed for each output, then averaged over the outputs with equal weights.
- A level is a number strictly between 0 and 1: ``confidence_level=0.9`` means 90 %.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from scipy.special import erf
from sklearn.metrics import mean_pinball_loss
from sklearn.utils.metadata_routing import MetadataRequest

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    Floats = NDArray[np.float64]


def picp(y_true: Any, interval: Any, *, sample_weight: Any = None) -> float:
    """Share of targets inside their closed interval (prediction interval coverage probability).

    Examples
    --------
    >>> picp([1.0, 2.0, 9.0], [[0, 1], [0, 4], [0, 4]])
    0.666...
    """
    weight, _, _, miss = _judge(y_true, interval, sample_weight)
    return float(_mean(miss == 0, weight).mean())


def nmpiw(y_true: Any, interval: Any, *, sample_weight: Any = None) -> float:
    """Mean width of the intervals, divided by the range of the targets.

    Examples
    --------
    >>> nmpiw([0.0, 4.0], [[0, 1], [2, 5]])
    0.5
    """
    weight, y, width, _ = _judge(y_true, interval, sample_weight)
    return float(_relative(width, y, weight).mean())


@np.errstate(over="ignore")
def cwc(
    y_true: Any,
    interval: Any,
    *,
    confidence_level: float,
    eta: float = 50,
    sample_weight: Any = None,
) -> float:
    """Coverage width-based criterion of Khosravi et al. (2011), lower is better.

    ``NMPIW * (1 + [PICP < level] * exp(-eta * (PICP - level)))``. It is not a proper score:
    intervals of zero width get 0, the best value, whatever they cover. Use it to compare with
    published results, and `interval_score` to choose models.

    Examples
    --------
    >>> cwc([0.0, 4.0], [[0, 1], [2, 3]], confidence_level=0.9, eta=1.0)
    0.622...
    """
    level = _levels("confidence_level", confidence_level)
    _require(0 <= eta < np.inf, f"eta is {eta}, expected a finite number of at least 0: try 50")
    weight, y, width, miss = _judge(y_true, interval, sample_weight)
    shortfall = level - _mean(miss == 0, weight)
    # The cap keeps a width of zero from meeting an infinite penalty, which would give NaN.
    penalty = np.where(shortfall > 0, np.exp(np.minimum(eta * shortfall, 700.0)), 0.0)
    return float((_relative(width, y, weight) * (1 + penalty)).mean())


def interval_score(
    y_true: Any, interval: Any, *, confidence_level: float, sample_weight: Any = None
) -> float:
    """Mean interval (Winkler) score, a proper score of central intervals, lower is better.

    For bounds l, u it is ``(u - l) + 2 / (1 - level) * (max(l - y, 0) + max(y - u, 0))``, and
    infinite as soon as one interval is.

    Examples
    --------
    >>> interval_score([1.0, 5.0], [[0, 2], [0, 4]], confidence_level=0.5)
    5.0
    """
    factor = 2 / (1 - _levels("confidence_level", confidence_level))
    weight, _, width, miss = _judge(y_true, interval, sample_weight)
    return float(_mean(width + factor * miss, weight).mean())


def pinball(
    y_true: Any, quantile_predictions: Any, *, quantiles: Any, sample_weight: Any = None
) -> float:
    """Mean pinball loss ``max(q * (y - p), (q - 1) * (y - p))`` over rows and quantiles q.

    For a single number q the predictions p have the shape of `y_true`; a list of k quantiles adds
    a last axis of length k. The loss is infinite as soon as one prediction is.

    Examples
    --------
    >>> pinball([1.0, 2.0], [[0.0, 1.0], [2.0, 4.0]], quantiles=[0.1, 0.9])
    0.07...
    """
    q = _levels("quantiles", quantiles, ndims=(0, 1))
    weight, y, p = _rows(y_true, sample_weight, q.shape, quantile_predictions=quantile_predictions)
    if np.isinf(p).any():
        return np.inf
    columns = zip(q.flat, np.moveaxis(p.reshape(*y.shape, -1), -1, 0), strict=True)
    losses = [mean_pinball_loss(y, c, alpha=a, sample_weight=weight) for a, c in columns]
    return float(np.mean(losses))


@np.errstate(over="ignore")
def crps_gaussian(y_true: Any, mean: Any, std: Any, *, sample_weight: Any = None) -> float:
    """Mean continuous ranked probability score of normal predictions, lower is better.

    ``(y - mean) * (2 * cdf(z) - 1) + std * (2 * pdf(z) - 1 / sqrt(pi))``, z = (y - mean) / std,
    with the standard normal cdf and pdf; where std is 0, its limit, the absolute error.

    Examples
    --------
    >>> crps_gaussian([0.0, 3.0], [0.0, 1.0], [1.0, 0.0])
    1.116...
    """
    weight, error, sd, z = _standardised(y_true, mean, std, sample_weight)
    pdf = np.exp(-(z**2) / 2) / np.sqrt(2 * np.pi)
    crps = error * erf(z / np.sqrt(2)) + sd * (2 * pdf - 1 / np.sqrt(np.pi))
    return float(_mean(crps, weight).mean())


@np.errstate(over="ignore")
def nll_gaussian(y_true: Any, mean: Any, std: Any, *, sample_weight: Any = None) -> float:
    """Mean negative log likelihood of normal predictions, lower is better.

    ``log(std) + log(2 * pi) / 2 + z**2 / 2`` with z = (y - mean) / std. A std of 0 has no
    likelihood and is refused; `crps_gaussian` takes it.

    Examples
    --------
    >>> nll_gaussian([0.0], [0.0], [1.0])
    0.918...
    """
    weight, _, sd, z = _standardised(y_true, mean, std, sample_weight)
    _require(sd.all(), "std holds zeros, a likelihood needs std > 0: raise it or use crps_gaussian")
    return float(_mean(np.log(sd) + (np.log(2 * np.pi) + z**2) / 2, weight).mean())


class CalibrationCurve(NamedTuple):
    """Nominal levels and the coverage observed at each, both (k,)."""

    expected: Floats
    observed: Floats


def calibration_curve(
    y_true: Any, intervals: Any, *, confidence_levels: Any, sample_weight: Any = None
) -> CalibrationCurve:
    """Coverage at each of k levels, for `intervals` of shape (n, 2, k) or (n, m, 2, k).

    Examples
    --------
    >>> intervals = [[[-1, -2], [1, 2]], [[-1, -2], [1, 2]]]
    >>> calibration_curve([0.0, 1.5], intervals, confidence_levels=[0.5, 0.9])
    CalibrationCurve(expected=array([0.5, 0.9]), observed=array([0.5, 1. ]))
    """
    levels = _levels("confidence_levels", confidence_levels, ndims=(1,))
    weight, _, _, miss = _judge(y_true, intervals, sample_weight, levels.shape)
    return CalibrationCurve(levels, _mean(miss == 0, weight).mean(axis=0))


def miscalibration_area(expected: Any, observed: Any) -> float:
    """Area between the calibration curve and the diagonal, at most 1/2 for a rising curve.

    The curve is linear between its points, taken in order of `expected`, and runs from (0, 0) to
    (1, 1). A piece of length h that is a and b off the diagonal at its ends adds
    ``h * (|a| + |b|) / 2``, less ``h * |a * b| / (|a| + |b|)`` if it crosses the diagonal.

    Examples
    --------
    >>> miscalibration_area([0.25, 0.75], [0.5, 0.5])
    0.125
    """
    x = _numbers("expected", expected)
    y = _numbers("observed", observed, x.shape)
    ok = x.ndim == 1 and x.size and (np.abs(np.concatenate([x, y]) - 0.5) <= 0.5).all()
    _require(ok, "expected and observed must be lists of shares from 0 to 1: see calibration_curve")
    order = np.argsort(x, kind="stable")
    x, y = (np.concatenate([[0.0], v[order], [1.0]]) for v in (x, y))
    a, b = (y - x)[:-1], (y - x)[1:]
    total = np.abs(a) + np.abs(b)
    crossing = np.divide(-2 * a * b, total, out=np.zeros_like(total), where=a * b < 0)
    return float(np.diff(x) @ (total - crossing) / 2)


class GroupCoverage(NamedTuple):
    """Coverage and number of rows in each group, in sorted order of the groups."""

    groups: NDArray[Any]
    coverage: Floats
    count: NDArray[np.intp]  # type: ignore[assignment]  # hides tuple.count, which nobody needs


def coverage_by_group(
    y_true: Any, interval: Any, groups: Any, *, sample_weight: Any = None
) -> GroupCoverage:
    """Share of targets inside their interval for each label in `groups`, which is (n,).

    Examples
    --------
    >>> coverage_by_group([1.0, 2.0, 9.0], [[0, 4], [0, 4], [0, 4]], [7, 3, 7])
    GroupCoverage(groups=array([3, 7]), coverage=array([1. , 0.5]), count=array([1, 2]))
    """
    weight, _, _, miss = _judge(y_true, interval, sample_weight)
    labels, shape = np.asarray(groups), np.shape(y_true)[:1]
    _require(
        labels.shape == shape, f"groups has shape {labels.shape}, expected {shape}: realign it"
    )
    used = slice(None) if sample_weight is None else np.asarray(sample_weight) > 0
    try:
        names, code = np.unique(labels[used], return_inverse=True)
        missing = np.not_equal(names, names).any()
    except TypeError:  # None, pd.NA and labels of several types do not sort
        missing = True
    _require(not missing, "groups holds missing labels or mixes types: fill or convert them")
    return _coverage_by(names, code[:, np.newaxis], miss == 0, weight)


def coverage_by_width(
    y_true: Any, interval: Any, *, n_bins: int = 5, sample_weight: Any = None
) -> GroupCoverage:
    """Share of targets inside their interval, from the narrowest intervals to the widest.

    Rows are ranked by width, equal widths in the order given, and cut by rank into `n_bins` bins
    whose row counts differ by one at most, whatever the weights. Group 0 is the narrowest; each
    output is ranked by itself. Intervals that adapt as they should cover alike in every bin.

    Examples
    --------
    >>> coverage_by_width([0.0, 3.0, 0.0, 0.0], [[0, 1], [0, 2], [0, 3], [0, 4]], n_bins=2)
    GroupCoverage(groups=array([0, 1]), coverage=array([0.5, 1. ]), count=array([2, 2]))
    """
    weight, _, width, miss = _judge(y_true, interval, sample_weight)
    n = len(weight)
    _require(
        n_bins in range(1, n + 1), f"n_bins is {n_bins}, expected a whole number from 1 to {n}"
    )
    order = np.argsort(width, axis=0, kind="stable")
    code = np.argsort(order, axis=0) * int(n_bins) // n
    return _coverage_by(np.arange(int(n_bins)), code, miss == 0, weight)


def interval_scorer(
    metric: Any, *, confidence_level: float = 0.9, greater_is_better: bool = False
) -> _IntervalScorer:
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
    level = float(_levels("confidence_level", confidence_level))
    known = callable(metric) or metric in list(_LOSSES)
    _require(known, f"metric is {metric!r}, expected a callable or one of: {', '.join(_LOSSES)}")
    ok = callable(metric) or not greater_is_better
    _require(ok, f"greater_is_better is for callables, {metric!r} has its own: leave it out")
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


def _require(ok: Any, sentence: str) -> None:
    if not ok:
        raise ValueError(sentence)


def _numbers(name: str, value: Any, shape: Any = None, *, infinite: bool = False) -> Floats:
    """Return the value as an array of floats, or say in a sentence what is wrong with it."""
    try:
        array = np.asarray(value, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(f"{name} must be a rectangular array of numbers: {error}") from error
    fits = shape is None or array.shape == shape
    _require(fits, f"{name} has shape {array.shape}, expected {shape}: reshape or realign it")
    kind, valid = ("NaN", ~np.isnan(array)) if infinite else ("NaN or inf", np.isfinite(array))
    _require(valid.all(), f"{name} holds {kind}, expected none: drop or fill these values first")
    return array


def _levels(name: str, value: Any, ndims: tuple[int, ...] = (0,)) -> Floats:
    levels = _numbers(name, value)
    kinds = " or ".join(("one number", "a list of numbers")[d] for d in ndims)
    fits = levels.ndim in ndims and levels.size
    _require(fits, f"{name} has shape {levels.shape}, expected {kinds} between 0 and 1")
    wrong = levels[(levels <= 0) | (levels >= 1)]
    if wrong.size:
        hint = f"did you mean {wrong[0] / 100:g}?" if 1 < wrong[0] < 100 else "try 0.9"
        raise ValueError(f"{name} is {wrong[0]:g}, expected strictly between 0 and 1: {hint}")
    return levels


def _rows(y_true: Any, sample_weight: Any, tail: tuple[int, ...], **arrays: Any) -> list[Floats]:
    """Return the weights (n,), y (n, m) and arrays (n, m, *tail), without rows of weight zero."""
    y = _numbers("y_true", y_true)
    fits = y.ndim in {1, 2} and y.size
    _require(fits, f"y_true has shape {y.shape}, expected (n,) or (n, m) with at least one row")
    weight = np.ones(len(y)) if sample_weight is None else sample_weight
    weight = _numbers("sample_weight", weight, y.shape[:1])
    ok = (weight >= 0).all() and weight.any()
    _require(ok, "sample_weight must be 0 or more and not all 0: correct it or leave it out")
    rows = [weight, y.reshape(len(y), -1)]
    for name, value in arrays.items():
        array = _numbers(name, value, y.shape + tail, infinite=True)
        rows.append(array.reshape(len(y), -1, *tail))
    return [array[weight > 0] for array in rows]


def _judge(y_true: Any, interval: Any, sample_weight: Any, levels: Any = ()) -> list[Floats]:
    """Return the weights, y, and for each interval its width and how far its target is outside."""
    name = "intervals" if levels else "interval"
    weight, y, array = _rows(y_true, sample_weight, (2, *levels), **{name: interval})
    lower, upper = array[:, :, 0], array[:, :, 1]
    ok = (lower <= upper) & (lower < np.inf) & (upper > -np.inf)
    _require(ok.all(), f"{name} has lower > upper, lower = inf or upper = -inf: check its order")
    target = y.reshape(y.shape + (1,) * len(levels))
    return [weight, y, upper - lower, np.maximum(np.maximum(lower - target, target - upper), 0)]


def _standardised(y_true: Any, mean: Any, std: Any, sample_weight: Any) -> list[Floats]:
    """Return the weights, y - mean, std and their quotient, which is infinite where std is 0."""
    weight, y, center, sd = _rows(y_true, sample_weight, (), mean=mean, std=std)
    finite = np.isfinite(center).all() and np.isfinite(sd).all()
    _require(
        finite and (sd >= 0).all(), "mean and std must be finite and std at least 0: correct them"
    )
    error = y - center
    z = np.divide(error, sd, out=np.copysign(np.inf, error), where=sd > 0)
    return [weight, error, sd, z]


def _mean(values: NDArray[Any], weight: Floats) -> Floats:
    """Return the weighted mean over the rows, for each output."""
    # Weights of the full shape are summed in the same order as the values: a share of 1 is 1.
    w = np.ones_like(values, dtype=np.float64) * weight.reshape(-1, *(1,) * (values.ndim - 1))
    return np.asarray(np.average(values, axis=0, weights=w))


def _relative(width: Floats, y: Floats, weight: Floats) -> Floats:
    span = np.ptp(y, axis=0)
    _require(span.all(), "y_true is constant, NMPIW divides by its range: use interval_score")
    return np.asarray(_mean(width, weight) / span)


def _coverage_by(names: Any, code: Any, inside: Any, weight: Floats) -> GroupCoverage:
    """Return the coverage of each group; code, (n, 1) or (n, m), holds positions in names."""
    shape = (inside.shape[1], len(names))
    cell = (code + len(names) * np.arange(shape[0])).ravel()
    sums = [
        np.bincount(cell, (weight[:, np.newaxis] * values).ravel(), shape[0] * shape[1])
        for values in (inside, np.ones_like(inside))
    ]
    coverage = (sums[0] / sums[1]).reshape(shape).mean(axis=0)
    return GroupCoverage(names, coverage, np.bincount(code[:, 0]))
