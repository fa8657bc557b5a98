"""The mean of a stack: members with weights, and how uncertain it is."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, partial

from elmband.ground.arrays import Array, double, namespace
from elmband.layers.member import Member
from elmband.layers.quadratic import CovarianceRoot, variances
from elmband.stacks.local_layers import LocalLayers
from elmband.stacks.stack_variance import with_ones


@dataclass(frozen=True, eq=False)
class MeanStack:
    """Members with weights (M, m), and covariances of their output weights where known.

    What they leave over may be fitted by `local` layers.
    """

    members: tuple[Member, ...]
    weights: Array
    covariances: tuple[Array, ...] = ()
    local: LocalLayers | None = None

    @cached_property
    def roots(self) -> tuple[CovarianceRoot, ...]:
        """Roots of the covariances."""
        return tuple(map(CovarianceRoot.of, self.covariances))

    def _root(self, k: int) -> CovarianceRoot:
        return self.roots[k]

    def mean(self, X: Array) -> Array:
        """Return the mean of new rows, (n, m)."""
        mean = self._combined([member.predict(member.hidden(X)) for member in self.members])
        return mean if self.local is None else mean + self.local.mean(X)

    def mean_and_std(self, X: Array) -> tuple[Array, Array]:
        """Return the mean of new rows and its standard deviation, each (n, m)."""
        xp = namespace(X)
        means, deviations = [], []
        for k, member in enumerate(self.members):
            H = member.hidden(X)
            means.append(member.predict(H))
            variance = variances(with_ones(H), self.covariances[k], partial(self._root, k))
            deviations.append(xp.sqrt(variance))
        mean, std = self._combined(means), self._combined(deviations)
        if self.local is None:
            return mean, std
        added, variance = self.local.mean_and_variance(X)
        return mean + added, xp.sqrt(std**2 + variance)

    def _combined(self, parts: Sequence[Array]) -> Array:
        """Return the weighted sum over members."""
        total: Array = 0.0
        for k, part in enumerate(parts):
            total = total + double(part) * self.weights[k, :][None, :]
        return total
