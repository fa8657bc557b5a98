"""Covariances from a sample of rows, and a factor of low rank, for many rows in less time.

With far more rows than neurons the covariance of the output weights is a small part of the
variance. Its middle term, a mean over rows, is then known well enough from a sample; the breads
and both models still see all rows. Where h Σ hᵀ is asked for, a factor of low rank stands for Σ:
with C = HᵀH / n = R Rᵀ the directions are the eigenvectors of Rᵀ Σ R, in which rows are alike in
size, so that what the rank leaves out is nearly the same for all rows and is added as a constant.
"""

from dataclasses import dataclass
from typing import Any, Self

from elmband._arrays import Array, cast, namespace
from elmband.moments import Chunk
from elmband.products import squared_norms

# Rows that middle terms are estimated from: so many at least, and ranks of factors to choose from.
SAMPLE_ROWS = 8192
RANKS = (32, 48, 64, 96)
# The largest relative change of widths that a low rank may make.
MOST_ERROR = 0.003
# Rows that errors are measured on.
_JUDGED = 2000


@dataclass(frozen=True, eq=False)
class LowRank:
    """h Σ hᵀ ≈ ‖hF‖² + rest for every output: `factors` F (m, L, k), `rest` (m,).

    Columns of F are in ascending order of what they add for the mean square R Rᵀ of rows, with R
    the `spread`.
    """

    factors: Array
    rest: Array
    spread: Array

    @classmethod
    def of(cls, covariance: Array, HtH: Array, n: float) -> Self:
        """Decompose Σ (m, L, L) for rows with the mean square HᵀH / n, at full rank."""
        xp = namespace(covariance)
        size = HtH.shape[0]
        eye = xp.eye(size, dtype=HtH.dtype, device=HtH.device)
        slight = 1e-10 * float(xp.linalg.trace(HtH)) / size / n
        R = xp.linalg.cholesky(HtH / n + slight * eye)
        back = xp.linalg.inv(R).T
        factors = []
        for j in range(covariance.shape[0]):
            values, vectors = xp.linalg.eigh(R.T @ covariance[j, :, :] @ R)
            factors.append((back @ vectors) * xp.sqrt(xp.clip(values, min=0.0)))
        return cls(xp.stack(factors), xp.zeros_like(covariance[:, 0, 0]), R)

    def cut(self, rank: int) -> Self:
        """Keep the largest directions; the others are replaced by their mean over rows."""
        xp = namespace(self.factors)
        dropped = self.factors[:, :, :-rank]
        rest = xp.sum((self.spread.T @ dropped) ** 2, axis=(1, 2))
        return type(self)(self.factors[:, :, -rank:], rest, self.spread)

    def quadratic(self, H: Array) -> Array:
        """Return h Σ hᵀ of every row and output, approximately, (n, m)."""
        xp = namespace(H)
        columns = []
        for j in range(self.factors.shape[0]):
            T = H @ cast(self.factors[j, :, :], H.dtype)
            columns.append(squared_norms(T) + cast(self.rest[j], H.dtype))
        return xp.stack(columns, axis=1)


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
