"""Which directions of the inputs a mean depends on: M, the mean of ∇f ∇fᵀ over rows.

Where inputs matter unequally, neurons that are drawn from M look where something happens: with
M = S Sᵀ dense neurons have weights Sw, w normal, and distances are those of zS. (Known as the
average gradient outer product of recursive feature machines, Radhakrishnan and others, 2024.)
"""

from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal, Self, TypeAlias

import numpy as np

from elmband.ground.arrays import Array, namespace, to_numpy
from elmband.sums.moments import Moments

Matrix: TypeAlias = np.ndarray[Any, np.dtype[np.float64]]
Shape: TypeAlias = Literal["full", "diagonal"]

# What inputs keep that seem not to matter, as a share of the mean: a first look may be wrong.
_LEAST = 1e-5
# Of wider tables only single inputs are looked at, not directions: they cost too much, and few rows
# cannot tell so many.
_MOST_COLUMNS = 300
_ROWS_PER_COLUMN = 10


@dataclass(frozen=True, eq=False)
class GradientSums(Moments):
    """Sum of weights n, and of s ∇f ∇fᵀ (d, d), over rows."""

    n: float
    products: Array

    @classmethod
    def of(cls, gradients: Array, s: Array) -> Self:
        """Sum over rows of gradients (n, d) and of weights s."""
        xp = namespace(s)
        weighted = gradients * xp.sqrt(s)[:, None]
        return cls(float(xp.sum(s)), weighted.T @ weighted)


@dataclass(frozen=True, eq=False)
class Relevance:
    """M of the columns of a view, with a trace of one, (d, d).

    `directed` tells that rows were enough to tell directions, not only single inputs.
    """

    matrix: Matrix
    directed: bool = True

    def softened(self) -> Self:
        """Return √M, with a trace of one: inputs differ less in how much they matter."""
        if not self.directed:
            root = np.diag(np.sqrt(self.shares))
        else:
            values, vectors = np.linalg.eigh(self.matrix)
            root = (vectors * np.sqrt(np.maximum(values, 0.0))) @ vectors.T
        return type(self)(root / np.trace(root), self.directed)

    @classmethod
    def of(cls, sums: GradientSums) -> Self | None:
        """Return M from sums over rows, None where nothing matters."""
        M = to_numpy(sums.products)
        trace = float(np.trace(M))
        if not 0 < trace < np.inf:
            return None
        return cls(M / trace, len(M) <= min(_MOST_COLUMNS, sums.n / _ROWS_PER_COLUMN))

    @property
    def shares(self) -> Matrix:
        """The share of every input, (d,)."""
        return np.diagonal(self.matrix)

    def root(self, shape: Shape) -> Matrix:
        """Return S (d, k) with S Sᵀ = M, or with the diagonal of M; its squares sum to one."""
        if shape == "diagonal" or not self.directed:
            return np.diag(self.deviations)
        return self._full

    @property
    def deviations(self) -> Matrix:
        """The root of the share of every input, (d,)."""
        return np.sqrt(_floored(self.shares))

    @cached_property
    def _full(self) -> Matrix:
        values, vectors = np.linalg.eigh(self.matrix)
        # An eigenvector has no sign of its own.
        largest = np.take_along_axis(vectors, np.abs(vectors).argmax(axis=0)[None, :], axis=0)
        root: Matrix = vectors * np.sign(largest) * np.sqrt(_floored(values))
        return root


def _floored(values: Matrix) -> Matrix:
    raised = np.maximum(values, 0.0) + _LEAST / len(values)
    floored: Matrix = raised / raised.sum()
    return floored
