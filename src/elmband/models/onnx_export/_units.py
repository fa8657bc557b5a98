"""Standardised targets back to the units of y, through the inverse of their transform."""

import math
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from elmband.ground.arrays import to_numpy
from elmband.models.fitted import Fitted
from elmband.models.onnx_export._fitted import dtype_of
from elmband.models.onnx_export._functions import expm1, log1p, positive
from elmband.models.onnx_export._graph import DOUBLE, Tensor, joined, where
from elmband.uncertainty.target_values import edges, outward
from elmband.uncertainty.transform import (
    _SMALLEST_SHAPE,
    BoxCox,
    Identity,
    Log,
    Log1p,
    Logit,
    Transform,
)

# A little less than the logarithm of the largest number: that itself may round up.
_LIMIT = math.log(np.finfo(np.float64).max) * (1 - 1e-6)


def in_units(T: Tensor, fitted: Fitted) -> Tensor:
    """Return standardised means or bounds (n, m) in the units of y, within its range."""
    scale, centre = (
        to_numpy(a).astype(DOUBLE)
        for a in (fitted.targets.scaling.scale, fitted.targets.scaling.mean)
    )
    T = T.to(DOUBLE)
    if fitted.targets.support is not None and not isinstance(fitted.targets.transform, Identity):
        infinite = T.apply("IsInf", dtype=np.dtype(np.bool_))
        T = where(infinite, T, _between_ends(T, *fitted.targets.support.bound_limits))
    Y = _inverse(fitted.targets.transform, T * scale + centre)
    return (
        Y
        if fitted.targets.range is None
        else _between_ends(Y, *zip(*fitted.targets.range, strict=True))
    ).to(dtype_of(fitted))


def among_values(bounds: Tensor, fitted: Fitted, side: int) -> Tensor:
    """Return bounds (n, m) of a side, those of targets that take few values among these."""
    if fitted.targets.values is None:
        return bounds
    columns = zip(bounds.split(fitted.targets.count), fitted.targets.values, strict=True)
    return joined([_nearest(bound, values, side) if values else bound for bound, values in columns])


def _nearest(bound: Tensor, values: tuple[float, ...], side: int) -> Tensor:
    """Return the values nearest to bounds (n, 1), see `elmband.uncertainty.target_values`."""
    beyond = bound.to(DOUBLE) > edges(values)[None, :]
    cell = beyond.to(DOUBLE).reduced("ReduceSum")
    table = outward(values, bound.dtype, side)
    known = bound.graph.constant(np.r_[table[:1], table, table[-1:]])
    near = known.apply("Gather", cell.to(np.int64), axis=0)
    return where(cell < 0.5, bound, where(cell > len(values) + 0.5, bound, near))


def supported(mean: Tensor, fitted: Fitted) -> Tensor:
    """Return standardised means that do not go far beyond the training targets."""
    mean = mean.to(DOUBLE)
    return (
        mean
        if fitted.targets.support is None
        else _between_ends(mean, *fitted.targets.support.mean_limits)
    )


def averaged(mean: Tensor, steps: Iterable[Any], fitted: Fitted) -> Tensor:
    """Return the mean of y over equally likely standardised targets, `steps` off the mean."""
    values = [in_units(supported(mean + step, fitted), fitted).to(DOUBLE) for step in steps]
    total = values[0]
    for value in values[1:]:
        total = total + value
    return (total / float(len(values))).to(dtype_of(fitted))


def point_mean(mean: Tensor, fitted: Fitted) -> Tensor:
    """Return the mean of y of a model without intervals."""
    if fitted.targets.smearing is None:
        return in_units(supported(mean, fitted), fitted)
    return averaged(
        mean.to(DOUBLE), map(np.array, zip(*fitted.targets.smearing, strict=True)), fitted
    )


def _between_ends(T: Tensor, low: Any, high: Any) -> Tensor:
    return T.apply("Max", np.asarray(low)).apply("Min", np.asarray(high))


def _inverse(transform: Transform, T: Tensor) -> Tensor:
    if isinstance(transform, Identity):
        return T
    if isinstance(transform, Log):
        return _large(_exp, T)
    if isinstance(transform, Log1p):
        return _large(expm1, positive(T))
    if isinstance(transform, Logit):
        return _between(T, transform)
    if isinstance(transform, BoxCox):
        return _box_cox(T, transform)
    raise ValueError(
        "target_transform is a pair of your own functions, which operators of ONNX cannot "
        "express; train with a transform that has a name."
    )


def _exp(T: Tensor) -> Tensor:
    return T.apply("Exp")


def _large(function: Callable[[Tensor], Tensor], T: Tensor) -> Tensor:
    """Return exp or expm1 of T, infinite where that is too large."""
    return where(T > _LIMIT, math.inf, function(T.apply("Min", _LIMIT)))


def _between(T: Tensor, bounds: Logit) -> Tensor:
    """Return low + (high - low) / (1 + exp(-T)), counted from the nearer bound."""
    odds = (-T.apply("Abs")).apply("Exp")
    step = odds / (odds + 1.0) * (bounds.high - bounds.low)
    return where(T < 0.0, step + bounds.low, bounds.high - step)


def _box_cox(T: Tensor, transform: BoxCox) -> Tensor:
    """Return g · (1 + λT)^(1/λ) of every output."""
    columns = T.split(len(transform.shape))
    straight = [_straight(t, lam) for t, lam in zip(columns, transform.shape, strict=True)]
    return _large(_exp, joined(straight) + np.asarray(transform.log_centre))


def _straight(t: Tensor, lam: float) -> Tensor:
    """Return log(1 + λt) / λ, infinite past the end of the range."""
    if abs(lam) <= _SMALLEST_SHAPE:
        return t
    bent = t * lam
    inside = bent > -1.0
    return where(inside, log1p(where(inside, bent, 0.0)), -math.inf) / lam
