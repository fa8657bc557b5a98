"""Standardised means and bounds in the units of y: supported, transformed back, in their range."""

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from elmband.ground.arrays import (
    Array,
    Precision,
    cast,
    double,
    namespace,
    place,
    product_dtype,
    to_numpy,
)
from elmband.sums.scaling import Scaling
from elmband.uncertainty.noise.parts import Support
from elmband.uncertainty.target_values import nearest_values
from elmband.uncertainty.targets import Columns, is_auto
from elmband.uncertainty.transform import Identity, Transform

# Numbers that are transformed back in one call.
_AT_ONCE = 4096


@dataclass(frozen=True, eq=False)
class TargetUnits:
    """How targets are standardised, and what those of training say of others.

    Targets are transformed, then scaled. Means go no further than their `support`; predictions stay
    in the `range`, and bounds move to `values`, where there are any. `smearing` are equally likely
    errors of rows left out, for the mean of transformed targets. Where y was (n,) there is a
    `single_output`, and answers have no axis of outputs.
    """

    scaling: Scaling
    transform: Transform
    single_output: bool
    precision: Precision = "auto"
    support: Support | None = None
    range: Columns | None = None
    values: Columns | None = None
    smearing: Columns | None = None

    @property
    def count(self) -> int:
        """Number of targets."""
        return int(self.scaling.mean.shape[0])

    @property
    def transformed(self) -> bool:
        """Whether targets are learned on another scale than their own."""
        return not isinstance(self.transform, Identity)

    def shaped(self, values: Array) -> Any:
        """Drop the axis of outputs, the last, where y had none; a single number is a float."""
        if not self.single_output:
            return values
        return float(values[0]) if values.ndim == 1 else values[..., 0]

    def first(self, values: Array) -> Array:
        """Drop the axis of outputs, the first, where y had none."""
        return values[0, ...] if self.single_output else values

    def per_output(self, values: Any) -> Any:
        """Return the only one of values for each output where y was (n,)."""
        return values[0] if self.single_output else tuple(values)

    def result_dtype(self, X: Array) -> Any:
        """Return the dtype of answers about rows X."""
        return product_dtype(X, self.precision)

    def supported(self, mean: Array) -> Array:
        """Return standardised means that do not go far beyond the training targets."""
        if self.support is None:
            return mean
        xp = namespace(mean)
        # Numbers that are too large may leave none.
        return self.support.means(xp.where(xp.isnan(mean), 0.0, double(mean)))

    def averaged(self, mean: Array, steps: Iterable[Array], X: Array) -> Array:
        """Return the mean of y over equally likely standardised targets, `steps` off the mean.

        The mean of a transformed target, mapped back, would be a median (Duan's smearing).
        """
        xp, n = namespace(mean), int(mean.shape[0])
        targets = [mean + step for step in steps]
        total: Array = 0.0
        # Of few rows many steps at once: a call costs more than the numbers in it.
        size = max(_AT_ONCE // max(n, 1), 1)
        for start in range(0, len(targets), size):
            some = targets[start : start + size]
            values = double(self.in_units(self.supported(xp.concat(some, axis=0)), X))
            for k in range(len(some)):
                total = total + values[k * n : (k + 1) * n, :] / len(targets)
        return cast(total, self.result_dtype(X))

    def smeared(self, mean: Array, X: Array) -> Array:
        """Return means of y from standardised ones, (n, m), over errors of rows left out."""
        if self.smearing is None:
            return self.in_units(self.supported(mean), X)
        points = place(self.smearing, mean)
        return self.averaged(mean, [points[:, k] for k in range(points.shape[1])], X)

    def in_units(self, mean: Array, X: Array) -> Array:
        """Return standardised means or bounds in the units of y, transformed back, in its range."""
        scale, centre = (double(a) for a in (self.scaling.scale, self.scaling.mean))
        values = double(mean)
        if self.support is not None and self.transformed:
            values = self.support.bounds(values)
        Y = values * scale + centre
        if self.transformed:
            Y = self.transform.inverse(Y)
        if self.range is not None:
            low, high = (place(np.array(end), Y) for end in zip(*self.range, strict=True))
            Y = namespace(Y).minimum(namespace(Y).maximum(Y, low), high)
        dtype = self.result_dtype(X)
        if not self.transformed:
            return cast(Y, dtype)
        # What the dtype cannot hold is infinite, without a warning.
        xp = namespace(Y)
        largest = float(xp.finfo(dtype).max)
        Y = xp.where(largest < Y, math.inf, Y)
        return cast(xp.where(-largest > Y, -math.inf, Y), dtype)

    def scaled(self, std: Array, X: Array) -> Array:
        """Return standardised deviations in the units of y."""
        return cast(double(std) * double(self.scaling.scale), self.result_dtype(X))

    def among_values(self, bound: Array, side: int) -> Array:
        """Return bounds (n, m) of a side, those of targets that take few values among these."""
        return bound if self.values is None else nearest_values(bound, self.values, side)

    def standardised(self, Y: Array) -> Array:
        """Return targets on the scale that they were learned on, (n, m)."""
        T = self.transform.forward(Y)
        centre, scale = (place(a, T) for a in (self.scaling.mean, self.scaling.scale))
        return (T - centre) / scale

    def in_domain(self, Y: Array, choice: Any) -> Array:
        """Return targets that a transform chosen by itself can take; others are at its end."""
        if not is_auto(choice) or not self.transformed:
            return Y
        assert self.support is not None
        end = place(self.support.bound_limits[0], Y) * double(self.scaling.scale)
        least = self.transform.inverse((end + double(self.scaling.mean))[None, :])
        return namespace(Y).maximum(Y, place(least, Y))

    def values_of(self, T: Array) -> Any:
        """Return standardised targets in their units, on NumPy, wherever they lie."""
        scale, centre = (place(a, T) for a in (self.scaling.scale, self.scaling.mean))
        return to_numpy(self.transform.inverse(T * scale + centre))
