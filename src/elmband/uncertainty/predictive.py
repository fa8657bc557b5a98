"""The predictive distribution of a stack: mean, and variance in parts.

The standard deviation of a weighted sum of members is at most the weighted sum of theirs; that
bound is used, for members trained on the same rows err together.
"""

from dataclasses import dataclass

from elmband.ground.arrays import Array, namespace
from elmband.stacks.mean_stack import MeanStack
from elmband.uncertainty.noise.output import NoiseModels, with_mean
from elmband.uncertainty.noise.parts import Parts


@dataclass(frozen=True, eq=False)
class Predictive:
    """A stack for the mean and noise models for each output."""

    stack: MeanStack
    noise: tuple[NoiseModels, ...]

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
            both = models.both.predict(beside).times(log_factor)
            noise.append(both)
            for model, tail in ((models.above, above), (models.below, below)):
                variance = both
                if model is not models.both:
                    variance = model.predict(beside).times(log_factor)
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
