"""Mean and variances of rows: what all interval models know, whatever they answer."""

from collections.abc import Callable
from typing import Any

from elmband._arrays import Array
from elmband.calibrate import Calibration
from elmband.estimators._growing import GrowingModel
from elmband.noise.parts import Parts
from elmband.noise.squared import SquaredNoise
from elmband.predictive import Predictive

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


class IntervalParts(GrowingModel):
    """A model of the mean with a noise model: one of `_noise` and `_predictive` is None."""

    symmetric: bool
    calibration_: Calibration
    _noise: SquaredNoise | None
    _predictive: Predictive | None

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
            return self._predictive.parts(X, z).bounded_by_nothing()
        return self._squared_parts(X, z).bounded_by_nothing()

    def _totals(self, X: Array) -> Parts:
        """Return the same where only the whole variance is asked for."""
        self._check_fresh()
        if self._noise is None:
            return self._parts(X)
        H = self._features.apply(X)
        return Parts.alike(self._layer_mean(H), self._noise.total(X, H)).bounded_by_nothing()

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
