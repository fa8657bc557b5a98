"""Mean and variances of rows: what all interval models know, whatever they answer."""

from collections.abc import Callable
from typing import Any

import numpy as np

from elmband.estimators._growing import GrowingModel
from elmband.ground.arrays import Array, double, namespace, place
from elmband.uncertainty.calibrate import Calibration
from elmband.uncertainty.left_out import LeftOut
from elmband.uncertainty.new_levels import NewLevels
from elmband.uncertainty.noise.parts import Parts
from elmband.uncertainty.noise.squared import SquaredNoise
from elmband.uncertainty.predictive import Predictive, Symmetric
from elmband.uncertainty.transform import Identity

_STALE = (
    "Noise, covariance and calibration are older than the mean, to which rows were added; call "
    "refresh with all of them."
)


class SecondStage:
    """An attribute that goes when rows are added to the mean: what is asked for then is told why.

    A value that a model has comes before this.
    """

    def __init__(self, name: str) -> None:
        self._name = name

    def __get__(self, model: Any, owner: Any) -> Any:
        if model is None:
            return self
        if getattr(model, "_stale", False):
            raise AttributeError(_STALE)
        raise AttributeError(f"{owner.__name__} has no {self._name} as it was fitted.")


def _step(scores: Array, below: Array, above: Array) -> Array:
    """Return scores (m,) of all rows in standardised targets, (n, m)."""
    xp = namespace(above)
    # A score of zero is no step, be the deviation infinite.
    step = xp.where(scores < 0, below, above) * xp.where(scores == 0, 1.0, scores)
    return xp.where(scores == 0, 0.0, step)


class IntervalParts(GrowingModel):
    """A model of the mean with a noise model: one of `_noise` and `_predictive` is None."""

    symmetric: Symmetric
    calibration_: Calibration
    symmetric_: bool
    # Those of an earlier version were trained once.
    reweighted_: bool = False
    _noise: SquaredNoise | None
    _predictive: Predictive | None
    # What levels that training did not have add, None where there are no categories.
    _new_levels: NewLevels | None = None

    @property
    def _alike(self) -> bool:
        """Whether both tails are alike; models of an earlier version were told."""
        return bool(getattr(self, "symmetric_", self.symmetric))

    def _learn(self, left_out: Callable[[], LeftOut]) -> None:
        """Learn nothing more: scores of rows left out tell how targets lie about means."""

    def _means(self, X: Array) -> Array:
        if isinstance(self.target_transform_, Identity) or self._support is None:
            return super()._means(X)
        return self._shaped(self._mean_in_units(self._totals(X), X))

    def _mean_in_units(self, parts: Parts, X: Array) -> Array:
        """Return the mean of y, (n, m); of transformed targets it is taken over their scores.

        Models of an earlier version have no support, and go on to predict medians there.
        """
        if isinstance(self.target_transform_, Identity) or self._support is None:
            return self._in_units(parts.mean, X)
        outputs = range(int(self._targets.mean.shape[0]))
        mean = double(parts.mean)
        scores = place([self.calibration_.points(j) for j in outputs], mean)
        root = namespace(mean).sqrt
        below, above = (root(double(v)) for v in self._tails(parts))
        steps = (_step(scores[:, k], below, above) for k in range(scores.shape[1]))
        return self._averaged(mean, steps, X)

    def _tails(self, parts: Parts) -> tuple[Array, Array]:
        """Return the variances of the lower and of the upper tail."""
        return (parts.total, parts.total) if self._alike else (parts.below, parts.above)

    def _check_fresh(self) -> None:
        if getattr(self, "_stale", False):
            raise ValueError(_STALE)

    def _tupled(
        self, X: Any, method: str, function: Callable[[Array], tuple[Array, ...]]
    ) -> tuple[Array, ...]:
        """Return the arrays that `function` gives for blocks of rows, joined."""
        X = self._new_rows(X, method)
        return self._by_chunk(X, method, function)

    def _parts(self, X: Array, z: float = 1.96) -> Parts:
        """Return mean and variances of standardised targets for a block of rows."""
        self._check_fresh()
        if self._predictive is not None:
            # Rows at the end of numbers have infinite variances, which is no reason for warnings.
            with np.errstate(over="ignore", invalid="ignore"):
                parts = self._predictive.parts(X, z)
            if self._new_levels is not None:
                parts = parts.widened(self._new_levels.of_rows(X))
            return parts.supported(self._support).bounded_by_nothing()
        return self._squared_parts(X, z).supported(self._support).bounded_by_nothing()

    def _totals(self, X: Array) -> Parts:
        """Return the same where only the whole variance is asked for."""
        self._check_fresh()
        if self._noise is None:
            return self._parts(X)
        H = self._features.apply(X)
        parts = Parts.alike(double(self._layer_mean(H)), self._noise.total(X, H))
        return parts.supported(self._support).bounded_by_nothing()

    def _noise_and_model(self, X: Array) -> tuple[Array, Array, Array]:
        """Return mean, noise and what the models do not know: the variances of both in one."""
        self._check_fresh()
        if self._noise is None:
            parts = self._parts(X)
            return parts.mean, parts.noise, parts.mean_model + parts.noise_model
        H = self._features.apply(X)
        return self._layer_mean(H), *self._noise.noise_and_model(X, H)

    def _squared_parts(self, X: Array, z: float) -> Parts:
        assert self._noise is not None
        H = self._features.apply(X)
        return self._noise.parts(X, H, self._layer_mean(H), z)
