"""Standardised means and bounds in the units of y: supported, transformed back, in their range."""

import math
from collections.abc import Iterable
from typing import Any

from sklearn.base import is_classifier
from sklearn.utils.validation import check_is_fitted

from elmband.estimators._training import TrainingModel
from elmband.estimators._validate import check_precision
from elmband.ground.arrays import Array, cast, double, namespace, place, product_dtype, to_numpy
from elmband.sums.scaling import Extent
from elmband.uncertainty.targets import (
    Columns,
    Support,
    check_within,
    found_range,
    given_range,
    is_auto,
)
from elmband.uncertainty.transform import Identity


class TargetUnits(TrainingModel):
    """A model that knows what its training targets say of others."""

    # How far means go, and the range of every output.
    _support: Support | None = None
    _range: Columns | None = None
    # Values that bounds move to, none for outputs where they may be any number.
    _values: Columns | None = None

    def _note_ends(self, ends: Extent, n_rows: int) -> None:
        """Note what training targets, transformed but not standardised, say of others."""
        self._range, self._support = self._asked_range(int(ends.low.shape[0]), ends), None
        self._values = None
        if is_classifier(self):
            return
        self._support = Support.of(ends, self._targets, self.target_transform_, n_rows)
        if is_auto(self.target_range) and is_auto(self.target_transform):
            inverse = self.target_transform_.inverse
            ends = Extent(*(inverse(end[None, :])[0, :] for end in (ends.low, ends.high)))
            self._range = found_range(ends, n_rows)

    def _asked_range(self, n_outputs: int, ends: Extent | None) -> Columns | None:
        """Return the range that was given, None where none was; refuse targets that leave it."""
        if self.target_range is None or is_auto(self.target_range):
            return None
        found = given_range(self.target_range, n_outputs)
        if ends is not None:
            inverse = self.target_transform_.inverse
            low, high = (to_numpy(inverse(double(e)[None, :]))[0] for e in (ends.low, ends.high))
            check_within(found, low, high)
        return found

    @property
    def target_range_(self) -> Any:
        """The range that predictions and bounds stay in, (low, high), or one for each output."""
        check_is_fitted(self)
        pairs = self._range or ((-math.inf, math.inf),) * int(self._targets.mean.shape[0])
        return pairs[0] if self._single_output else pairs

    def _supported(self, mean: Array) -> Array:
        """Return standardised means that do not go far beyond the training targets."""
        if self._support is None:
            return mean
        xp = namespace(mean)
        # Numbers that are too large may leave none.
        return self._support.means(xp.where(xp.isnan(mean), 0.0, double(mean)))

    def _averaged(self, mean: Array, steps: Iterable[Array], X: Array) -> Array:
        """Return the mean of y over equally likely standardised targets, `steps` off the mean.

        The mean of a transformed target, mapped back, would be a median (Duan's smearing).
        """
        values = [self._in_units(self._supported(mean + step), X) for step in steps]
        total: Array = 0.0
        for value in values:
            total = total + double(value) / len(values)
        return cast(total, self._result_dtype(X))

    def _in_units(self, mean: Array, X: Array) -> Array:
        """Return standardised means or bounds in the units of y, transformed back, in its range."""
        scale, centre = (double(a) for a in (self._targets.scale, self._targets.mean))
        values, identity = double(mean), isinstance(self.target_transform_, Identity)
        if self._support is not None and not identity:
            values = self._support.bounds(values)
        Y = self.target_transform_.inverse(values * scale + centre)
        if self._range is not None:
            low, high = (place(end, Y) for end in zip(*self._range, strict=True))
            Y = namespace(Y).minimum(namespace(Y).maximum(Y, low), high)
        dtype = self._result_dtype(X)
        if identity:
            return cast(Y, dtype)
        # What the dtype cannot hold is infinite, without a warning.
        xp = namespace(Y)
        largest = float(xp.finfo(dtype).max)
        Y = xp.where(largest < Y, math.inf, Y)
        return cast(xp.where(-largest > Y, -math.inf, Y), dtype)

    def _result_dtype(self, X: Array) -> Any:
        return product_dtype(X, check_precision(self.precision))
