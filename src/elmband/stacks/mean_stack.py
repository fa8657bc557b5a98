"""The mean of a stack: members with weights, and how uncertain it is."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Self

from elmband.ground.arrays import Array, double, namespace
from elmband.layers.member import Member
from elmband.layers.packed_root import PackedRoot
from elmband.layers.quadratic import CovarianceRoot, variances
from elmband.stacks.local_layers import LocalLayers
from elmband.stacks.stack_variance import with_ones


@dataclass(frozen=True, eq=False)
class MeanStack:
    """Members with weights (M, m), and covariances of their output weights where known.

    In place of the covariances there may be `packed` roots of them. What members leave over may be
    fitted by `local` layers.
    """

    members: tuple[Member, ...]
    weights: Array
    covariances: tuple[Array, ...] = ()
    local: LocalLayers | None = None
    packed: tuple[PackedRoot, ...] = ()

    @cached_property
    def roots(self) -> tuple[CovarianceRoot, ...]:
        """Roots of the covariances."""
        return tuple(map(CovarianceRoot.of, self.covariances))

    def _root(self, k: int) -> CovarianceRoot:
        return self.roots[k]

    def with_packed(self) -> Self:
        """Return the same with roots in float32 in place of its covariances, if all have roots."""
        packed = [root for root in map(PackedRoot.of, self.roots) if root is not None]
        if len(packed) < len(self.members):
            return self
        return replace(self, covariances=(), packed=tuple(packed))

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
            deviations.append(xp.sqrt(self._variance(k, H)))
        mean, std = self._combined(means), self._combined(deviations)
        if self.local is None:
            return mean, std
        added, variance = self.local.mean_and_variance(X)
        return mean + added, xp.sqrt(std**2 + variance)

    def _variance(self, k: int, H: Array) -> Array:
        """Return h Σ hᵀ of the k-th member, (n, m), of its hidden outputs."""
        if self.packed:
            return self.packed[k].quadratic(H)
        return variances(with_ones(H), self.covariances[k], partial(self._root, k))

    def _combined(self, parts: Sequence[Array]) -> Array:
        """Return the weighted sum over members."""
        total: Array = 0.0
        for k, part in enumerate(parts):
            total = total + double(part) * self.weights[k, :][None, :]
        return total
