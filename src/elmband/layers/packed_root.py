"""Roots of covariances in float32, as models keep them: a quarter of the bytes, twice the speed.

Between the directions that rows told much about and those that none told of, entries of Σ lie many
digits apart, and h Σ hᵀ summed in float32 would be what rounding leaves. With a root C it is a sum
of squares, ‖hC‖², in which nothing cancels but within hC: its error is that of hC, relative to
entries that are as far apart as the roots of those.
"""

from dataclasses import dataclass
from functools import cached_property
from math import isqrt
from typing import Any, Self

import numpy as np
from scipy.linalg import blas

from elmband.engines import engine
from elmband.ground.arrays import Array, cast, double, namespace, place, to_numpy
from elmband.layers.quadratic import CovarianceRoot, triangular_roots

# Of so few rows each is multiplied by itself: memory is read, and little is done with it.
_FEW_ROWS = 3


@dataclass(frozen=True, eq=False)
class PackedRoot:
    """Lower triangular C with Σ = C Cᵀ of every output, its `entries` row by row (m, L(L+1)/2)."""

    entries: Array

    def __post_init__(self) -> None:
        if self.size * (self.size + 1) // 2 != int(self.entries.shape[-1]):
            raise ValueError("the entries are not those of a triangle")

    def __getstate__(self) -> dict[str, Array]:
        # What workers are sent they unpack themselves.
        return {"entries": self.entries}

    @classmethod
    def of(cls, root: CovarianceRoot) -> Self | None:
        """Pack a root; where Σ has none there is nothing to be packed."""
        if root.kind == "none":
            return None
        factors = to_numpy(root.factors)
        if root.kind == "narrow":
            factors = triangular_roots(factors)
        entries = factors[:, _triangle(factors.shape[1])]
        xp = namespace(root.factors)
        return cls(cast(place(entries, root.factors), xp.float32))

    @property
    def size(self) -> int:
        """The number L of rows of C."""
        return (isqrt(8 * int(self.entries.shape[-1]) + 1) - 1) // 2

    @cached_property
    def root(self) -> CovarianceRoot:
        """The root as a matrix for every output."""
        entries = to_numpy(self.entries)
        factors = np.zeros((len(entries), self.size, self.size), entries.dtype)
        factors[:, _triangle(self.size)] = entries
        return CovarianceRoot(place(factors, self.entries), "triangular")

    @np.errstate(over="ignore", invalid="ignore")
    def quadratic(self, H: Array) -> Array:
        """Return h Σ hᵀ of every row and output, (n, m) in float64; h begins with a one.

        The one is not among the hidden outputs H (n, L - 1). Rows so far out that float32 does not
        hold the squares are answered in a unit of their own.
        """
        xp = namespace(H)
        if isinstance(H, np.ndarray) and len(H) <= _FEW_ROWS:
            found = self._of_few(_after_one(H))
        else:
            found = double(self.root.quadratic(_after_one(H), spare=True))
        if bool(xp.all(xp.isfinite(found))):
            return found
        H = double(H)
        unit = xp.clip(xp.max(xp.abs(H), axis=1), min=1.0)[:, None]
        wide = cast(xp.concat([1 / unit, H / unit], axis=1), xp.float32)
        return xp.where(xp.isfinite(found), found, double(self.root.quadratic(wide)) * unit**2)

    def _of_few(self, wide: np.ndarray[Any, Any]) -> Array:
        """Return the forms of rows one by one, which reads nothing but the entries."""
        found = np.empty((len(wide), len(self.entries)))
        for i, row in enumerate(wide):
            for j, entries in enumerate(self.entries):
                # To Fortran they are the upper triangle of Cᵀ, column by column.
                turned = blas.stpmv(self.size, entries, row)
                found[i, j] = turned @ turned
        return found


def _after_one(H: Array) -> Array:
    """Return a one and the hidden outputs of every row, in float32; on NumPy in spare memory."""
    xp = namespace(H)
    if not isinstance(H, np.ndarray):
        one = xp.ones((H.shape[0], 1), dtype=xp.float32, device=H.device)
        return xp.concat([one, cast(H, xp.float32)], axis=1)
    wide = engine.scratch("after one", (H.shape[0], H.shape[1] + 1), np.float32)
    wide[:, 0] = 1.0
    wide[:, 1:] = H
    return wide


def _triangle(size: int) -> np.ndarray[tuple[int, int], np.dtype[np.bool_]]:
    return np.tri(size, dtype=np.bool_)
