"""Covariance of the output weights by the weighted jackknife (Wu 1986), as published.

With H the hidden outputs, r the residuals, P = (HᵀH + γI)⁻¹ and lev_i = h_i P h_iᵀ:

    w_i = r_i² / (1 - lev_i)
    Σ   = P · (Σ_i w_i h_iᵀh_i) · P
    σ²(x) = h Σ hᵀ

The paper writes S = HP, H'_i = w_i H_i, A = H'ᵀS, Σ = PA, which is the same matrix; collecting
the middle term first halves the arithmetic and leaves a plain sum over rows. With γ = 0 this is
the HC2 covariance of the econometrics literature. A row of weight s counts s times.
"""

from dataclasses import dataclass
from typing import Self

import numpy as np

from elmband import engine
from elmband._arrays import Array, cast, double, epsilon, namespace
from elmband.moments import Chunk, Moments
from elmband.output_layer import OutputLayer, left_out_share
from elmband.products import squares
from elmband.solve import cholesky
from elmband.triangular import squared_lengths


@dataclass(frozen=True, eq=False)
class Meat(Moments):
    """Σ_i s_i w_i h_iᵀh_i of every output, (m, L, L); in the dual form only the w_i, (n, m)."""

    sums: Array


def jackknife_meat(layer: OutputLayer, rows: Chunk, r: Array, rest: Array) -> Meat:
    """Sum s·w·hᵀh over a chunk, from residuals r and `rest` = 1 - lev, each (n, m)."""
    xp = namespace(rows.X)
    w = r**2 / rest
    if layer.dual:
        return Meat(double(w))
    if rows.s is not None:
        w = w * rows.s[:, None]
    root = xp.sqrt(w)
    scaled = (_scaled(rows.X, root[:, j]) for j in range(root.shape[1]))
    return Meat(xp.stack([squares(H) for H in scaled]))


def _scaled(H: Array, factors: Array) -> Array:
    """Multiply every row by its factor."""
    if isinstance(H, np.ndarray):
        out = engine.scratch("scaled", H.shape, H.dtype)
        return np.multiply(H, factors[:, None], out=out)
    return H * factors[:, None]


def sandwich(layer: OutputLayer, meat: Meat) -> Array:
    """Return Σ = P · meat · P of every output, (m, L, L); in the dual form (PHᵀ) diag(w) (PHᵀ)ᵀ."""
    slices = []
    for output in range(layer.alpha.shape[0]):
        bread = layer.bread(output)
        if layer.dual:
            slices.append((bread * meat.sums[:, output]) @ bread.T)
        else:
            slices.append(bread @ meat.sums[output, :, :] @ bread)
    return namespace(meat.sums).stack(slices)


def left_out_variance(variance: Array, rows: Chunk, r: Array, rest: Array) -> Array:
    """Return h Σ hᵀ of training rows as it would be without the row itself, (n, m).

    Without row i, P h becomes P h / (1 - lev) and its own part w (h P hᵀ)² is missing; the other
    weights w are taken as they are.
    """
    xp = namespace(variance)
    share = xp.ones_like(rest) if rows.s is None else left_out_share(rows)
    own = r**2 / rest * (1 - rest) ** 2 / share
    return xp.clip(variance - own, min=0.0) / rest**2


@dataclass(frozen=True, eq=False)
class CovarianceRoot:
    """C with Σ = C Cᵀ for every output, lower triangular, so that h Σ hᵀ = ‖hC‖².

    Where Σ is singular to working precision there is none, and `factors` are Σ itself.
    """

    factors: Array
    triangular: bool

    @classmethod
    def of(cls, covariance: Array) -> Self:
        """Factorise Σ (m, L, L)."""
        xp = namespace(covariance)
        diagonal = xp.linalg.diagonal(covariance)
        roots = cholesky(covariance)
        if roots is None:
            return cls(covariance, triangular=False)
        # A pivot that rounding alone could have left says that there may be no root.
        pivots = xp.linalg.diagonal(roots) ** 2
        least = covariance.shape[-1] * 16 * epsilon(xp.float64, xp) * xp.max(diagonal)
        if not bool(xp.all(pivots > least)):
            return cls(covariance, triangular=False)
        return cls(roots, triangular=True)

    def quadratic(self, H: Array) -> Array:
        """Return σ²(x) = h Σ hᵀ of every row and output, (n, m)."""
        if not self.triangular:
            return quadratic_form(H, self.factors)
        outputs = range(self.factors.shape[0])
        columns = [squared_lengths(H, self.factors[j, :, :], "lower") for j in outputs]
        return namespace(H).stack(columns, axis=1)


def quadratic_form(H: Array, covariance: Array) -> Array:
    """Return σ²(x) = h Σ hᵀ of every row and output, (n, m); rounding is not let below zero."""
    xp = namespace(H)
    covariance = cast(covariance, H.dtype)
    columns = [xp.sum((H @ covariance[j, :, :]) * H, axis=1) for j in range(covariance.shape[0])]
    variance = xp.stack(columns, axis=1)
    return xp.where(variance > 0, variance, xp.zeros_like(variance))
