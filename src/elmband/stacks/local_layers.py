"""Local layers: ridge output layers of their own for every level of a column.

They stand on hidden outputs shared by all, and were fitted to what the stack before them left over,
one column after the other. With the hidden outputs h of a row, turned into the eigenbasis U of
their covariance, z = (1, (h - c) U), a stage adds

    u(x) = z β_g        and the variance        Σ_j z_j² v_gj

for the level g of the row. v_g is s_g² diag(P_g), with P_g = (Σ zᵀz + γI)⁻¹ summed over the rows of
the level: the eigenbasis makes the diagonal stand for nearly all of it, and a factor gives it the
mean of s_g² z P_g zᵀ over these rows. A row without a known level has u = 0 and the variance of
what the known levels add: it falls back to the stack, with a wider interval.
"""

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Self

import numpy as np

from elmband.ground.arrays import Array, cast, double, namespace, place, to_numpy
from elmband.layers.hidden import HiddenLayer
from elmband.stacks.levels import Levels
from elmband.sums.scaling import Scaling

# Standardised inputs beyond this are as good as infinite to neurons, and fit into float32.
FARTHEST = 1e6
# Rows at once: coefficients are gathered for each of them.
_ROWS_AT_ONCE = 8192


@dataclass(frozen=True, eq=False)
class SharedNeurons:
    """Hidden outputs shared by local layers, in the eigenbasis of their covariance.

    They are computed in float32, whatever the inputs are: what is left over by a stack is known far
    less precisely.
    """

    inputs: Scaling
    hidden: HiddenLayer
    centre: Array
    basis: Array

    def standardised(self, X: Array, columns: Any = None) -> Array:
        """Return inputs as neurons see them, (n, d), or some columns of them."""
        xp = namespace(X)
        inputs = self.inputs if columns is None else self.inputs.only(columns)
        Z = xp.clip(inputs(X), min=-FARTHEST, max=FARTHEST)
        return cast(Z, xp.float32)

    @property
    def count(self) -> int:
        """How many outputs there are."""
        return int(self.basis.shape[1])

    def plain(self, Z: Array) -> Array:
        """Return (1, h - c) of standardised rows."""
        if isinstance(Z, np.ndarray):
            plain = np.ones((len(Z), self.hidden.n_neurons + 1), np.float32)
            self.hidden(Z, plain[:, 1:])
            plain[:, 1:] -= self.centre
            return plain
        xp = namespace(Z)
        H = self.hidden(Z) - self.centre
        ones = xp.ones((Z.shape[0], 1), dtype=H.dtype, device=H.device)
        return xp.concat([ones, H], axis=1)

    def turn(self, count: int) -> np.ndarray[Any, np.dtype[np.float64]]:
        """Return T with z = (1, h - c) T, for the first `count` outputs."""
        basis = to_numpy(self.basis)[:, :count]
        turn = np.zeros((len(basis) + 1, count + 1))
        turn[0, 0], turn[1:, 1:] = 1.0, basis
        return turn

    def outputs(self, Z: Array, count: int) -> Array:
        """Return z = (1, (h - c) U) of standardised rows, with the first `count` columns of U."""
        xp = namespace(Z)
        H = self.hidden(Z) - self.centre
        ones = xp.ones((Z.shape[0], 1), dtype=H.dtype, device=H.device)
        return xp.concat([ones, H @ self.basis[:, :count]], axis=1)

    def to(self, like: Array) -> Self:
        """Return the same on the library and device of `like`."""
        dtype = namespace(like).float32
        return type(self)(
            self.inputs.to(like, namespace(like).float64),
            self.hidden.to(like, dtype),
            cast(place(to_numpy(self.centre), like), dtype),
            cast(place(to_numpy(self.basis), like), dtype),
        )


@dataclass(frozen=True, eq=False)
class LocalStage:
    """The output layers of all levels of a column, and their variances; the last is of no level.

    Attributes
    ----------
    column : str
        Name of the column of the table.
    kind : str
        What its levels are: levels, values, quantiles, days, weeks or months.
    levels : MarkLevels or BinLevels
        Which level a row has.
    coef : array (number of levels + 1, 1 + k)
        β_g, with zeros at the end.
    variance : array (number of levels + 1, 1 + k)
        v_g, in squared units of the coefficients.
    gain : float
        The share by which the stage lowered errors of rows left out.
    """

    column: str
    kind: str
    levels: Levels
    coef: Array
    variance: Array
    gain: float

    def __post_init__(self) -> None:
        if int(self.coef.shape[0]) != self.levels.n_levels + 1:
            raise ValueError("there are not as many output layers as levels")

    @property
    def n_layers(self) -> int:
        """How many levels have an output layer: others have too few rows."""
        return int(np.any(to_numpy(self.coef) != 0, axis=1).sum())

    @property
    def width(self) -> int:
        """Number of shared outputs that it uses."""
        return int(self.coef.shape[1]) - 1

    def to(self, like: Array) -> Self:
        """Return the same on the library and device of `like`."""
        dtype = namespace(like).float32
        coef, variance = (cast(place(to_numpy(a), like), dtype) for a in (self.coef, self.variance))
        return type(self)(self.column, self.kind, self.levels, coef, variance, self.gain)


@dataclass(frozen=True, eq=False)
class LocalLayers:
    """Stages of local layers on shared neurons."""

    shared: SharedNeurons
    stages: tuple[LocalStage, ...]

    def __post_init__(self) -> None:
        if any(stage.width > int(self.shared.basis.shape[1]) for stage in self.stages):
            raise ValueError("a stage has more columns than there are shared ones")

    @property
    def gain(self) -> float:
        """The share by which all stages together lowered errors of rows left out."""
        return 1 - math.prod(1 - stage.gain for stage in self.stages)

    def contributions(self, X: Array) -> tuple[Array, Array]:
        """Return what every stage adds to rows, and its variance, each (number of stages, n)."""
        xp = namespace(X)
        parts = [
            self._block(X[start : start + _ROWS_AT_ONCE, :])
            for start in range(0, max(int(X.shape[0]), 1), _ROWS_AT_ONCE)
        ]
        added, variances = zip(*parts, strict=True)
        return xp.concat(list(added), axis=1), xp.concat(list(variances), axis=1)

    def _block(self, X: Array) -> tuple[Array, Array]:
        xp = namespace(X)
        z = self.shared.outputs(self.shared.standardised(X), max(s.width for s in self.stages))
        squares = z**2
        added, variances = [], []
        for stage in self.stages:
            level = xp.astype(stage.levels.places(X), xp.int64)
            k = stage.width + 1
            coef, variance = (xp.take(a, level, axis=0) for a in (stage.coef, stage.variance))
            added.append(double(xp.sum(z[:, :k] * coef, axis=1)))
            variances.append(double(xp.sum(squares[:, :k] * variance, axis=1)))
        return xp.stack(added), xp.stack(variances)

    def added(self, X: Array) -> Array:
        """Return what every stage adds to rows, (number of stages, n), without turning them."""
        xp = namespace(X)
        parts = []
        for start in range(0, max(int(X.shape[0]), 1), _ROWS_AT_ONCE):
            block = X[start : start + _ROWS_AT_ONCE, :]
            plain = self.shared.plain(self.shared.standardised(block))
            sums = []
            for stage, coef in zip(self.stages, self._plain_coef, strict=True):
                level = xp.astype(stage.levels.places(block), xp.int64)
                sums.append(double(xp.sum(plain * xp.take(coef, level, axis=0), axis=1)))
            parts.append(xp.stack(sums))
        return xp.concat(parts, axis=1)

    @cached_property
    def _plain_coef(self) -> list[Array]:
        """Coefficients of (1, h - c) of every stage."""
        found = []
        for stage in self.stages:
            turn = self.shared.turn(stage.width)
            coef = to_numpy(stage.coef).astype(np.float64) @ turn.T
            found.append(cast(place(coef, stage.coef), namespace(stage.coef).float32))
        return found

    def mean(self, X: Array) -> Array:
        """Return the sum over stages of what they add to the mean, (n, 1)."""
        added = self.added(X)
        return namespace(added).sum(added, axis=0)[:, None]

    def mean_and_variance(self, X: Array) -> tuple[Array, Array]:
        """Return the sum over stages of what they add to the mean, and its variance, (n, 1)."""
        added, variances = self.contributions(X)
        xp = namespace(added)
        return xp.sum(added, axis=0)[:, None], xp.sum(variances, axis=0)[:, None]

    def to(self, like: Array) -> Self:
        """Return the same on the library and device of `like`."""
        return type(self)(self.shared.to(like), tuple(stage.to(like) for stage in self.stages))


# Deviations of the noise change by these factors, at most.
LEAST_FACTOR, MOST_FACTOR = 0.2, 6.0


@dataclass(frozen=True, eq=False)
class LocalNoise:
    """How much larger the noise of a level is than the noise model says: Π (1 + u) over stages."""

    layers: LocalLayers

    def factor(self, X: Array) -> Array:
        """Return the factor of standard deviations of the noise, (n,)."""
        added = self.layers.added(X)
        xp = namespace(added)
        factor = xp.ones_like(added[0, :])
        for k in range(int(added.shape[0])):
            factor = factor * bounded_factor(added[k, :])
        return factor

    def to(self, like: Array) -> Self:
        """Return the same on the library and device of `like`."""
        return type(self)(self.layers.to(like))


def bounded_factor(added: Array) -> Array:
    """Return 1 + u, within bounds."""
    xp = namespace(added)
    factor: Any = xp.clip(1 + added, min=LEAST_FACTOR, max=MOST_FACTOR)
    return factor
