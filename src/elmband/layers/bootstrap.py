"""Covariance of the output weights by the wild bootstrap, a second opinion on the jackknife.

Every replicate turns the residuals of all rows by random signs v = ±1 and fits the result. With
r̃ = r / √(1 - lev), the residuals in the size that the noise has, its output weights differ from
β by

    d = P Hᵀ(v ∘ r̃),    and    Σ = Σ_b d_b d_bᵀ / B    over B replicates.

The mean of d over all signs is zero and is therefore not estimated. The expectation of Σ is

    P · (Σ_i r_i² / (1 - lev_i) · h_iᵀh_i) · P,

exactly the weighted jackknife, so that the two differ by chance alone: h Σ hᵀ is a mean of B
squares and has a relative standard deviation of √(2/B) at most, 10 % for B = 200. Residuals of
rows with weights s enter as s r̃.

Signs (Rademacher) rather than Mammen's two unequal points: of all v with mean 0 and variance 1
they have the least fourth moment, E v⁴ = 1 against 2, hence the least error for a given B, and
Davidson and Flachaire (2008), whom the paper cites, find them better throughout. Mammen's third
moment would matter for the skewness of the weights, which is not asked for.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from elmband.engines import engine
from elmband.ground.arrays import Array, cast, double, namespace, place
from elmband.layers.output_layer import OutputLayer
from elmband.sums.moments import Chunk, Moments
from elmband.sums.rows import ArrayRows, Rows

_WORD = 64


@dataclass(frozen=True, eq=False)
class Replicates(Moments):
    """Hᵀ(s ∘ v ∘ r̃) of every output and replicate, (m, L, B); in the dual form P times it."""

    sums: Array


def wild_bootstrap(
    rows: Rows,
    to_hidden: Callable[[Chunk], Chunk],
    layer: OutputLayer,
    n_replicates: int = 200,
    seed: int = 0,
) -> Array:
    """Return Σ of every output, (m, L, L), from one pass over the rows that `layer` was fitted to.

    The rank of Σ is at most `n_replicates`.
    """
    if n_replicates < 1:
        raise ValueError(f"n_replicates must be at least 1; got {n_replicates!r}.")
    numbered = _numbered(rows)

    def chunk_map(chunk: Chunk) -> Replicates:
        first = int(chunk.Y[0, -1])
        hidden = to_hidden(chunk._replace(Y=cast(chunk.Y[:, :-1], rows.dtype)))
        v = row_signs(first, int(chunk.X.shape[0]), n_replicates, seed)
        return replicate_sums(layer, hidden, place(v, hidden.X))

    sums = engine.total([numbered.whole()] if layer.dual else numbered, chunk_map).sums
    deviations = [_deviation(layer, sums, output) for output in range(sums.shape[0])]
    return namespace(sums).stack([d @ d.T / n_replicates for d in deviations])


def replicate_sums(layer: OutputLayer, rows: Chunk, v: Array) -> Replicates:
    """Sum Hᵀ(s ∘ v ∘ r̃) over a chunk with signs v (n, B)."""
    xp = namespace(rows.X)
    r, rest = layer.residuals(rows)
    scaled = r / xp.sqrt(rest)
    if rows.s is not None:
        # In the dual form P Hᵀ already has the roots of the weights in it.
        scaled = scaled * (xp.sqrt(rows.s) if layer.dual else rows.s)[:, None]
    if layer.dual:
        signed = (double(scaled[:, j])[:, None] * double(v) for j in range(r.shape[1]))
        return Replicates(xp.stack([layer.bread(j) @ part for j, part in enumerate(signed)]))
    parts = [(rows.X * scaled[:, j][:, None]).T @ v for j in range(r.shape[1])]
    return Replicates(xp.stack([double(part) for part in parts]))


def row_signs(
    first: int, count: int, n_replicates: int, seed: int
) -> np.ndarray[Any, np.dtype[np.int8]]:
    """Return the signs of `count` rows from row number `first` on, (count, B).

    Each row has its own words of one random stream, a bit per sign, so that chunks do not matter.
    """
    words = -(-n_replicates // _WORD)
    stream = np.random.PCG64(seed).advance(first * words)
    raw = stream.random_raw(count * words).astype("<u8").view(np.uint8).reshape(count, -1)
    bits = np.unpackbits(raw, axis=1, count=n_replicates, bitorder="little")
    return 2 * bits.astype(np.int8) - 1


def _numbered(rows: Rows) -> ArrayRows:
    """Return rows whose numbers travel beside the targets, in float64 to stay exact."""
    X, Y, s = rows.whole()
    xp = namespace(Y)
    numbers = xp.arange(len(rows), dtype=xp.float64, device=Y.device)[:, None]
    return ArrayRows(X, xp.concat([double(Y), numbers], axis=1), s)


def _deviation(layer: OutputLayer, sums: Array, output: int) -> Array:
    """Return d of every replicate, (L, B)."""
    return sums[output, :, :] if layer.dual else layer.bread(output) @ sums[output, :, :]
