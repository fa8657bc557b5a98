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

from elmband._arrays import Array, cast, double, namespace
from elmband.moments import Chunk, Moments
from elmband.output_layer import OutputLayer


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
    scaled = (rows.X * root[:, j][:, None] for j in range(root.shape[1]))
    return Meat(xp.stack([double(H.T @ H) for H in scaled]))


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


def quadratic_form(H: Array, covariance: Array) -> Array:
    """Return σ²(x) = h Σ hᵀ of every row and output, (n, m); rounding is not let below zero."""
    xp = namespace(H)
    covariance = cast(covariance, H.dtype)
    columns = [xp.sum((H @ covariance[j, :, :]) * H, axis=1) for j in range(covariance.shape[0])]
    variance = xp.stack(columns, axis=1)
    return xp.where(variance > 0, variance, xp.zeros_like(variance))
