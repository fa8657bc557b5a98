"""Covariance of the output weights by the weighted jackknife (Wu 1986), as published.

With H the hidden outputs, r the residuals, P = (HᵀH + γI)⁻¹ and lev_i = h_i P h_iᵀ:

    w_i = r_i² / (1 - lev_i)
    Σ   = P · (Σ_i w_i h_iᵀh_i) · P
    σ²(x) = h Σ hᵀ

The paper writes S = HP, H'_i = w_i H_i, A = H'ᵀS, Σ = PA, which is the same matrix; collecting
the middle term first halves the arithmetic and leaves a plain sum over rows. With γ = 0 this is
the HC2 covariance of the econometrics literature, of weighted least squares where rows have
weights s: leaving a row out moves β by all of its weight, so that

    P = (HᵀSH + γI)⁻¹,    lev_i = s_i h_i P h_iᵀ,    w_i = s_i² r_i² / (1 - lev_i),

which no common factor of the weights changes but by that of γ.

Where leverage is computed anyway, it comes from turned rows t_i = h_i B, with P = B diag(d) Bᵀ:

    lev_i = Σ_k d_k t_ik²,    Σ = B diag(d) · (Σ_i w_i t_iᵀt_i) · diag(d) Bᵀ

whose middle term is as well conditioned as can be: with neurons that are nearly copies of each
other Σ stays a covariance, though it was summed in float32.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from elmband.engines import engine
from elmband.ground.arrays import Array, double, namespace
from elmband.layers.output_layer import OutputLayer, leverage_complement
from elmband.sums.moments import Chunk, Moments
from elmband.sums.products import squares


@dataclass(frozen=True, eq=False)
class Meat(Moments):
    """Σ_i w_i h_iᵀh_i of every output, (m, L, L); in the dual form only the w_i / s_i, (n, m)."""

    sums: Array


class TurnedMeat(Meat):
    """Σ_i w_i t_iᵀt_i of turned rows t."""


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
    """Sum w·hᵀh over a chunk, where residuals r and `rest` = 1 - lev are known, each (n, m)."""
    if layer.dual:
        # P Hᵀ already has the roots of the weights in it.
        w = double(r**2 / rest)
        return Meat(w if rows.s is None else w * double(rows.s)[:, None])
    root = namespace(rows.X).sqrt(_weights(rows, r, rest))
    scaled = (_scaled(rows.X, root[:, j]) for j in range(root.shape[1]))
    return Meat(_stacked([squares(H) for H in scaled]))


def _weights(rows: Chunk, r: Array, rest: Array) -> Array:
    """Return w of every row and output."""
    w = r**2 / rest
    return w if rows.s is None else w * rows.s[:, None] ** 2


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


def left_out_variance(variance: Array, r: Array, rest: Array) -> Array:
    """Return h Σ hᵀ of training rows as it would be without the row itself, (n, m).

    Without row i, P h becomes P h / (1 - lev) and its own part w (h P hᵀ)² = r² lev² / (1 - lev)
    is missing; the other w are taken as they are.
    """
    own = r**2 / rest * (1 - rest) ** 2
    return namespace(variance).clip(variance - own, min=0.0) / rest**2
