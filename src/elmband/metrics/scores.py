"""Scores of intervals, quantiles and normal predictions."""

from typing import Any

import numpy as np
from scipy.special import erf

from elmband.ground.arrays import Floats
from elmband.metrics.checks import check_levels, judge, require, rows, standardised, weighted_mean


def picp(y_true: Any, interval: Any, *, sample_weight: Any = None) -> float:
    """Share of targets inside their closed interval (prediction interval coverage probability).

    Examples
    --------
    >>> picp([1.0, 2.0, 9.0], [[0, 1], [0, 4], [0, 4]])
    0.666...
    """
    weight, _, _, miss = judge(y_true, interval, sample_weight)
    return float(weighted_mean(miss == 0, weight).mean())


def nmpiw(y_true: Any, interval: Any, *, sample_weight: Any = None) -> float:
    """Mean width of the intervals, divided by the range of the targets.

    Examples
    --------
    >>> nmpiw([0.0, 4.0], [[0, 1], [2, 5]])
    0.5
    """
    weight, y, width, _ = judge(y_true, interval, sample_weight)
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
    level = check_levels("confidence_level", confidence_level)
    require(0 <= eta < np.inf, f"eta is {eta}, expected a finite number of at least 0: try 50")
    weight, y, width, miss = judge(y_true, interval, sample_weight)
    shortfall = level - weighted_mean(miss == 0, weight)
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
    factor = 2 / (1 - check_levels("confidence_level", confidence_level))
    weight, _, width, miss = judge(y_true, interval, sample_weight)
    return float(weighted_mean(width + factor * miss, weight).mean())


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
    q = check_levels("quantiles", quantiles, ndims=(0, 1))
    weight, y, p = rows(y_true, sample_weight, q.shape, quantile_predictions=quantile_predictions)
    if np.isinf(p).any():
        return np.inf
    from sklearn.metrics import mean_pinball_loss  # noqa: PLC0415 - slow to load

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
    weight, error, sd, z = standardised(y_true, mean, std, sample_weight)
    pdf = np.exp(-(z**2) / 2) / np.sqrt(2 * np.pi)
    crps = error * erf(z / np.sqrt(2)) + sd * (2 * pdf - 1 / np.sqrt(np.pi))
    return float(weighted_mean(crps, weight).mean())


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
    weight, _, sd, z = standardised(y_true, mean, std, sample_weight)
    require(sd.all(), "std holds zeros, a likelihood needs std > 0: raise it or use crps_gaussian")
    return float(weighted_mean(np.log(sd) + (np.log(2 * np.pi) + z**2) / 2, weight).mean())


def _relative(width: Floats, y: Floats, weight: Floats) -> Floats:
    span = np.ptp(y, axis=0)
    require(span.all(), "y_true is constant, NMPIW divides by its range: use interval_score")
    return np.asarray(weighted_mean(width, weight) / span)
