"""The predictive distribution of a stack: mean, and variance in parts.

The standard deviation of a weighted sum of members is at most the weighted sum of theirs; that
bound is used, for members trained on the same rows err together.
"""

from dataclasses import dataclass, replace
from typing import Self

import numpy as np

from elmband.engines import engine
from elmband.ground.arrays import Array, namespace
from elmband.stacks.mean_stack import MeanStack
from elmband.uncertainty.noise.output import NoiseModels, with_mean
from elmband.uncertainty.noise.parts import Parts
from elmband.uncertainty.width_error import NO_ERROR, WidthError

# Rows that the error of faster variances is measured on.
_ROWS_FOR_ERROR = 250


@dataclass(frozen=True, eq=False)
class Predictive:
    """A stack for the mean and noise models for each output.

    The stack may know variances of the mean in float32: `error` is what that changes.
    """

    stack: MeanStack
    noise: tuple[NoiseModels, ...]
    error: WidthError = NO_ERROR

    def faster(self, X: Array) -> Self:
        """Return the same with variances of the mean in float32, with the error at some rows."""
        X = X[:: -(-int(X.shape[0]) // _ROWS_FOR_ERROR), :]
        # Rows at the end of numbers have infinite variances, which is no reason for warnings; and
        # threads of BLAS would wait for each other longer than all this takes.
        with engine.limit_blas(0), np.errstate(over="ignore", invalid="ignore"):
            other = replace(self, stack=self.stack.with_packed())
            error = WidthError.of(*(model.parts(X, 1.0).total for model in (self, other)))
        return replace(other, error=error)

    def parts(self, X: Array, z: float) -> Parts:
        """Return mean and variances of new rows; bounds of the noise lie z deviations away."""
        xp = namespace(X)
        mean, std = self.stack.mean_and_std(X)
        noise = []
        above: list[Array] = []
        below: list[Array] = []
        for j, models in enumerate(self.noise):
            beside = with_mean(X, mean[:, j] * models.orientation)
            log_factor = None if models.local is None else 2 * xp.log(models.local.factor(X))
            # Tails share the neurons of both.
            hidden = models.both.features
            H = hidden.apply(beside)
            both = models.both.predict_hidden(H).times(log_factor)
            noise.append(both)
            for model, tail in ((models.above, above), (models.below, below)):
                variance = both
                if model is not models.both:
                    mine = H if model.features is hidden else model.features.apply(beside)
                    variance = model.predict_hidden(mine).times(log_factor)
                tail.append(variance.noise + variance.excess)
        return Parts(
            mean=mean,
            noise=xp.stack([v.noise for v in noise], axis=1),
            mean_model=std**2,
            noise_model=xp.stack([v.excess for v in noise], axis=1),
            noise_lower=xp.stack([v.bound(-z) for v in noise], axis=1),
            noise_upper=xp.stack([v.bound(z) for v in noise], axis=1),
            above=xp.stack(above, axis=1) + std**2,
            below=xp.stack(below, axis=1) + std**2,
        )
