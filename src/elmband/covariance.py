"""Covariance of the output weights by the weighted jackknife (Wu 1986), as published.

With H the hidden outputs, r the residuals, P = (HᵀH + γI)⁻¹ and lev_i = h_i P h_iᵀ:

    w_i = r_i² / (1 - lev_i)
    Σ   = P · (Σ_i w_i h_iᵀh_i) · P
    σ²(x) = h Σ hᵀ

The paper writes S = HP, H'_i = w_i H_i, A = H'ᵀS, Σ = PA, which is the same matrix; collecting
the middle term first halves the arithmetic and leaves a plain sum over rows. With γ = 0 this is
the HC2 covariance of the econometrics literature. A row of weight s counts s times.

Where leverage is computed anyway, it comes from turned rows t_i = h_i B, with P = B diag(d) Bᵀ:

    lev_i = Σ_k d_k t_ik²,    Σ = B diag(d) · (Σ_i w_i t_iᵀt_i) · diag(d) Bᵀ

whose middle term is as well conditioned as can be: with neurons that are nearly copies of each
other Σ stays a covariance, though it was summed in float32.
"""

from dataclasses import dataclass
from typing import Any, Literal, NamedTuple, Self, TypeAlias

import numpy as np
from scipy.linalg import lapack

from elmband import engine
from elmband._arrays import Array, cast, double, epsilon, namespace, place, to_numpy
from elmband.moments import Chunk, Moments
from elmband.output_layer import OutputLayer, left_out_share, leverage_complement
from elmband.products import product, squared_norms, squares
from elmband.solve import cholesky
from elmband.triangular import squared_lengths

Matrices: TypeAlias = np.ndarray[Any, np.dtype[np.float64]]


@dataclass(frozen=True, eq=False)
class Meat(Moments):
    """Σ_i s_i w_i h_iᵀh_i of every output, (m, L, L); in the dual form only the w_i, (n, m)."""

    sums: Array


class TurnedMeat(Meat):
    """Σ_i s_i w_i t_iᵀt_i of turned rows t."""


class Jackknife(NamedTuple):
    """Of a chunk: residuals r and `rest` = 1 - lev, each (n, m), and its meat."""

    r: Array
    rest: Array
    meat: Meat


def jackknife(layer: OutputLayer, rows: Chunk) -> Jackknife:
    """Return what a chunk has to say of the covariance."""
    if layer.factor is None:
        r, rest = layer.residuals(rows)
        return Jackknife(r, rest, jackknife_meat(layer, rows, r, rest))
    T = layer.factor.turned(rows.X)
    rest = leverage_complement(rows, layer.factor.quadratic_of_turned(T), layer.alpha)
    r, rest = layer.residuals(rows, rest)
    root = namespace(T).sqrt(_weights(rows, r, rest))
    *first, last = range(root.shape[1])
    sums = [squares(_scaled(T, root[:, j])) for j in first]
    # In place: nothing else holds the turned rows.
    T *= root[:, last][:, None]
    return Jackknife(r, rest, TurnedMeat(_stacked([*sums, squares(T)])))


def jackknife_meat(layer: OutputLayer, rows: Chunk, r: Array, rest: Array) -> Meat:
    """Sum s·w·hᵀh over a chunk, where residuals r and `rest` = 1 - lev are known, each (n, m)."""
    if layer.dual:
        return Meat(double(r**2 / rest))
    root = namespace(rows.X).sqrt(_weights(rows, r, rest))
    scaled = (_scaled(rows.X, root[:, j]) for j in range(root.shape[1]))
    return Meat(_stacked([squares(H) for H in scaled]))


def _weights(rows: Chunk, r: Array, rest: Array) -> Array:
    """Return s·w of every row and output."""
    w = r**2 / rest
    return w if rows.s is None else w * rows.s[:, None]


def _stacked(matrices: list[Array]) -> Array:
    """Return matrices as one array, (m, L, L); a single one is not copied."""
    if len(matrices) == 1:
        return matrices[0][None, :, :]
    return namespace(matrices[0]).stack(matrices)


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
        if layer.dual:
            bread = layer.bread(output)
            slices.append((bread * meat.sums[:, output]) @ bread.T)
            continue
        middle = meat.sums[output, :, :]
        if isinstance(meat, TurnedMeat):
            assert layer.factor is not None
            bread = layer.factor.basis * layer.factor.weights[:, output]
            slices.append(bread @ middle @ bread.T)
        else:
            bread = layer.bread(output)
            slices.append(bread @ middle @ bread)
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
        if (gaps > to_numpy(least)).any():
            return cls(covariance, "none")
        if 2 * factors.shape[2] <= factors.shape[1]:
            return cls(place(factors, covariance), "narrow")
        return cls(place(_triangular(factors), covariance), "triangular")

    def quadratic(self, H: Array) -> Array:
        """Return σ²(x) = h Σ hᵀ of every row and output, (n, m)."""
        if self.kind == "none":
            return quadratic_form(H, self.factors)
        factors = (self.factors[j, :, :] for j in range(self.factors.shape[0]))
        if self.kind == "triangular":
            columns = [squared_lengths(H, C, "lower") for C in factors]
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


def _triangular(roots: Matrices) -> Matrices:
    """Return lower triangular roots (m, L, L) of the same: with Cᵀ = QR, C Cᵀ = Rᵀ R."""
    m, size, rank = roots.shape
    found = np.zeros((m, size, size))
    found[:, :, :rank] = np.asarray(np.linalg.qr(roots.mT, mode="r")).mT
    return found


def quadratic_form(H: Array, covariance: Array) -> Array:
    """Return σ²(x) = h Σ hᵀ of every row and output, (n, m); rounding is not let below zero."""
    xp = namespace(H)
    covariance = cast(covariance, H.dtype)
    columns = [xp.sum((H @ covariance[j, :, :]) * H, axis=1) for j in range(covariance.shape[0])]
    variance = xp.stack(columns, axis=1)
    return xp.where(variance > 0, variance, xp.zeros_like(variance))
