"""Covariances from a sample of rows, and a factor of low rank, for many rows in less time.

With far more rows than neurons the covariance of the output weights is a small part of the
variance. Its middle term, a mean over rows, is then known well enough from a sample; the breads
and both models still see all rows. Where h Σ hᵀ is asked for, a factor of low rank stands for Σ:
with C = HᵀH / n = R Rᵀ the directions are the eigenvectors of Rᵀ Σ R, in which rows are alike in
size, so that what the rank leaves out is nearly the same for all rows and is added as a constant.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from elmband.ground.arrays import Array, cast, epsilon, namespace
from elmband.sums.moments import Chunk
from elmband.sums.products import squared_norms

# Rows that middle terms are estimated from: so many at least, and ranks of factors to choose from.
SAMPLE_ROWS = 8192
RANKS = (32, 48, 64, 96)
# The largest relative change of widths that a low rank may make.
MOST_ERROR = 0.003
# Rows that errors are measured on.
_JUDGED = 1000


@dataclass(frozen=True, eq=False)
class LowRank:
    """h Σ hᵀ ≈ ‖hF‖² + rest for every output: `factors` F (m, L, k), `rest` (m,)."""

    factors: Array
    rest: Array

    def quadratic(self, H: Array) -> Array:
        """Return h Σ hᵀ of every row and output, approximately, (n, m)."""
        xp = namespace(H)
        columns = []
        for j in range(self.factors.shape[0]):
            T = H @ cast(self.factors[j, :, :], H.dtype)
            columns.append(squared_norms(T) + cast(self.rest[j], H.dtype))
        return xp.stack(columns, axis=1)


def low_ranks(covariance: Array, HtH: Array, n: float, ranks: Sequence[int]) -> Iterator[LowRank]:
    """Yield factors of Σ (m, L, L) of ascending ranks, for rows with the mean square HᵀH / n.

    With Rᵀ Σ R = V Λ Vᵀ the columns of F are those of Σ R V Λ^(-1/2) with the largest λ. The others
    are replaced by their mean over rows, which is the sum of their λ.
    """
    if not ranks:
        return
    xp = namespace(covariance)
    size, most = HtH.shape[0], max(ranks)
    eye = xp.eye(size, dtype=HtH.dtype, device=HtH.device)
    slight = 1e-10 * float(xp.linalg.trace(HtH)) / size / n
    R = xp.linalg.cholesky(HtH / n + slight * eye)
    factors, shares = [], []
    for j in range(covariance.shape[0]):
        SR = covariance[j, :, :] @ R
        values, vectors = xp.linalg.eigh(R.T @ SR)
        # What rounding leaves of a λ that is zero gets no column.
        floor = size * epsilon(values.dtype, xp) * xp.max(xp.abs(values))
        known = values > floor
        root = xp.sqrt(xp.where(known, values, xp.ones_like(values)))
        root = xp.where(known, root, xp.full_like(root, xp.inf))
        factors.append(SR @ vectors[:, size - most :] / root[size - most :])
        shares.append(xp.clip(values, min=0.0))
    F, values = xp.stack(factors), xp.stack(shares)
    for rank in sorted(ranks):
        yield LowRank(F[:, :, most - rank :], xp.sum(values[:, : size - rank], axis=1))


def multiplier_error(n: float) -> float:
    """Return the relative standard error of the 95 % quantile of n normal scores."""
    # √(p (1 - p)) over the density of |z| at 1.96, over 1.96.
    return float(0.951 / max(n, 1.0) ** 0.5)


def halves(rows: Chunk) -> tuple[Chunk, Chunk]:
    """Return every other row, and the others."""
    odd, even = (
        Chunk(*(None if a is None else a[start::2, ...] for a in rows)) for start in (0, 1)
    )
    return odd, even


def judged(rows: Chunk) -> Chunk:
    """Return the rows that errors are measured on."""
    step = max(int(rows.X.shape[0]) // _JUDGED, 1)
    return Chunk(*(None if a is None else a[::step, ...] for a in rows))


def relative_error(variances: Any, others: Any) -> float:
    """Return the root mean square of the relative difference of two standard deviations."""
    xp = namespace(variances)
    least = xp.clip(variances, min=1e-300)
    ratio = xp.sqrt(xp.clip(others, min=0.0) / least)
    return float(xp.sqrt(xp.mean((ratio - 1) ** 2)))
