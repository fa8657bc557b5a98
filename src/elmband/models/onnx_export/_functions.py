"""Functions that ONNX has no operator for, of operators that runtimes have in float64."""

import math

import numpy as np

from elmband.models.onnx_export._graph import Tensor, joined, where

# Degrees from the highest down; columns are numerator and denominator.
_CENTRE = (
    (2509.0809287301226727, 5226.495278852854561),
    (33430.575583588128105, 28729.085735721942674),
    (67265.770927008700853, 39307.89580009271061),
    (45921.953931549871457, 21213.794301586595867),
    (13731.693765509461125, 5394.1960214247511077),
    (1971.5909503065514427, 687.1870074920579083),
    (133.14166789178437745, 42.313330701600911252),
    (3.387132872796366608, 1.0),
)
_TAIL = (
    (7.7454501427834140764e-4, 1.05075007164441684324e-9),
    (0.0227238449892691845833, 5.475938084995344946e-4),
    (0.24178072517745061177, 0.0151986665636164571966),
    (1.27045825245236838258, 0.14810397642748007459),
    (3.64784832476320460504, 0.68976733498510000455),
    (5.7694972214606914055, 1.6763848301838038494),
    (4.6303378461565452959, 2.05319162663775882187),
    (1.42343711074968357734, 1.0),
)
_FAR = (
    (2.01033439929228813265e-7, 2.04426310338993978564e-15),
    (2.71155556874348757815e-5, 1.4215117583164458887e-7),
    (0.0012426609473880784386, 1.8463183175100546818e-5),
    (0.026532189526576123093, 7.868691311456132591e-4),
    (0.29656057182850489123, 0.0148753612908506148525),
    (1.7848265399172913358, 0.13692988092273580531),
    (5.4637849111641143699, 0.59983220655588793769),
    (6.6579046435011037772, 1.0),
)
_RATIOS = np.stack([_CENTRE, _TAIL, _FAR], axis=1)


def normal_quantile(p: Tensor) -> Tensor:
    """Return Φ⁻¹(p) of a single p (1,) of at least one half, in float64.

    Rational functions of degree 7 over 7 (Wichura 1988, algorithm AS 241) for the centre, the tail
    and the far tail, all three at once; their relative error is 1e-16.
    """
    q, rest = p - 0.5, 1.0 - p
    depth = (-rest.apply("Log")).apply("Sqrt")
    at = joined([0.180625 - q * q, depth - 1.6, depth - 5.0], axis=0)
    at = at.apply("Reshape", at.whole(3, 1))
    values = at.beside(_RATIOS[0])
    for coefficients in _RATIOS[1:]:
        values = values * at + coefficients
    above, below = values.split(2)
    outside, far = q > 0.425, depth > 5.0
    region = outside.to(np.int64) + far.to(np.int64)
    ratio = (above / below).apply("Gather", region, axis=0).flat()
    z = where(outside, ratio, q * ratio)
    return where(rest > 0.0, z, math.inf)


def expm1(x: Tensor) -> Tensor:
    """Return exp(x) - 1, exact near zero: (exp(x) + 1) tanh(x/2)."""
    return (x.apply("Exp") + 1.0) * (x * 0.5).apply("Tanh")


def log1p(x: Tensor) -> Tensor:
    """Return log(1 + x), exact near zero, where the rounding of 1 + x is divided out again."""
    near = x.apply("Max", -0.5).apply("Min", 0.5)
    wide = near + 1.0
    step = wide - 1.0
    rounded = where(step.apply("Abs") > 0.0, step, 1.0)
    exact = where(step.apply("Abs") > 0.0, wide.apply("Log") * (near / rounded), near)
    return where(x.apply("Abs") < 0.5, exact, (x + 1.0).apply("Log"))


def logistic(x: Tensor) -> Tensor:
    """Return 1 / (1 + exp(-x)); the operator of that name is not exact where it is near zero."""
    return 1.0 / ((-x).apply("Exp") + 1.0)


def positive(x: Tensor) -> Tensor:
    """Replace negative values by zero."""
    return x.apply("Max", 0.0)
