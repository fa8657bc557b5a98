"""Variances σ²(x) = h Σ hᵀ of rows, from a root of the covariance Σ where it has one."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal, Self, TypeAlias

import numpy as np
from scipy.linalg import lapack

from elmband.ground.arrays import Array, cast, double, epsilon, namespace, place, positive, to_numpy
from elmband.layers.solve import cholesky
from elmband.layers.triangular import squared_lengths
from elmband.sums.products import product, squared_norms

Matrices: TypeAlias = np.ndarray[Any, np.dtype[np.float64]]


@dataclass(frozen=True, eq=False)
class CovarianceRoot:
    """C with Σ = C Cᵀ for every output, so that h Σ hᵀ = ‖hC‖²: `factors` (m, L, k).

    - "triangular": C is lower triangular, which halves the arithmetic.
    - "narrow": Σ has less than half the rank it could have, and C so many columns.
    - "none": rounding has made Σ indefinite, so that it has no root; `factors` are Σ itself.
    """

    factors: Array
    kind: Literal["triangular", "narrow", "none"]

    @classmethod
    def of(cls, covariance: Array) -> Self:
        """Factorise Σ (m, L, L)."""
        xp = namespace(covariance)
        diagonal = xp.linalg.diagonal(covariance)
        least = covariance.shape[-1] * 16 * epsilon(xp.float64, xp) * xp.max(diagonal)
        roots = cholesky(covariance)
        if roots is not None:
            # A pivot that rounding alone could have left says that there may be no root.
            pivots = xp.linalg.diagonal(roots) ** 2
            if bool(xp.all(pivots > least)):
                return cls(roots, "triangular")
        given = to_numpy(covariance)
        factors = _pivoted_roots(given)
        gaps = np.abs(factors @ factors.mT - given).max(axis=(1, 2))
        # Not the other way round: what is not a number has no root either.
        if not (gaps <= to_numpy(least)).all():
            return cls(covariance, "none")
        if 2 * factors.shape[2] <= factors.shape[1]:
            return cls(place(factors, covariance), "narrow")
        return cls(place(triangular_roots(factors), covariance), "triangular")

    def quadratic(self, H: Array, *, spare: bool = False) -> Array:
        """Return σ²(x) = h Σ hᵀ of every row and output, (n, m); H to `spare` is overwritten."""
        if self.kind == "none":
            return quadratic_form(H, self.factors)
        factors = (self.factors[j, :, :] for j in range(self.factors.shape[0]))
        if self.kind == "triangular":
            spare = spare and self.factors.shape[0] == 1
            columns = [squared_lengths(H, C, "lower", spare=spare) for C in factors]
        else:
            columns = [squared_norms(product(H, cast(C, H.dtype))) for C in factors]
        return namespace(H).stack(columns, axis=1)


def _pivoted_roots(covariance: Matrices) -> Matrices:
    """Return C (m, L, k) with Σ = C Cᵀ but for rounding, by Cholesky with the largest pivot next.

    Rows that Σ says nothing of get zeros, and k is the largest rank of all outputs.
    """
    roots, ranks = np.zeros(covariance.shape), [1]
    for j, matrix in enumerate(covariance):
        # LAPACK stops at pivots below L·eps times the largest.
        factor, pivots, rank, _ = lapack.dpstrf(matrix, lower=1)
        roots[j, pivots - 1, :rank] = np.tril(factor)[:, :rank]
        ranks.append(int(rank))
    return roots[:, :, : max(ranks)]


def triangular_roots(roots: Matrices) -> Matrices:
    """Return lower triangular roots (m, L, L) of the same: with Cᵀ = QR, C Cᵀ = Rᵀ R."""
    m, size, rank = roots.shape
    found = np.zeros((m, size, size))
    found[:, :, :rank] = np.asarray(np.linalg.qr(roots.mT, mode="r")).mT
    return found


def variances(H: Array, covariance: Array, root: Callable[[], CovarianceRoot]) -> Array:
    """Return σ²(x) = h Σ hᵀ of every row and output, by a root where rows are worth making one."""
    if H.shape[0] < H.shape[1]:
        return quadratic_form(double(H), covariance)
    return root().quadratic(H)


def quadratic_form(H: Array, covariance: Array) -> Array:
    """Return σ²(x) = h Σ hᵀ of every row and output, (n, m); rounding is not let below zero."""
    xp = namespace(H)
    covariance = cast(covariance, H.dtype)
    columns = [xp.sum((H @ covariance[j, :, :]) * H, axis=1) for j in range(covariance.shape[0])]
    return positive(xp.stack(columns, axis=1))
