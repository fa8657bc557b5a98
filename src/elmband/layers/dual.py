"""The dual form of ridge regression, for rows that do not far outnumber the neurons.

There 1 - lev and the residuals r both come close to zero. From the eigenvectors Q and eigenvalues
λ of K = HHᵀ they are found without cancellation:

    r = Q diag(g) Qᵀy,    1 - lev = Q² g,    g = γ / (λ + γ),
    β = Hᵀ Q diag(1 / (λ + γ)) Qᵀy.

Rows carry the roots of their weights s in H and y, so that lev = s·h P hᵀ: a row is left out with
all of its weight.
"""

from dataclasses import dataclass
from typing import Self

from elmband.ground.arrays import Array, double, namespace
from elmband.layers.solve import Spectrum
from elmband.sums.moments import Chunk

# Keeps 0/0 at 0: a row that is fitted perfectly has residual zero.
_SMALLEST = 1e-30


@dataclass(frozen=True, eq=False)
class RowSpectrum(Spectrum):
    """Eigenvalues and eigenvectors of HHᵀ, with H itself, rows times the roots of weights."""

    H: Array

    @classmethod
    def of_rows(cls, rows: Chunk, eps: float) -> Self:
        """Decompose HHᵀ in float64."""
        H = double(rows.weighted[0])
        spectrum = Spectrum.of(H @ H.T, eps)
        return cls(spectrum.values, spectrum.vectors, spectrum.cut, H)

    @property
    def trace(self) -> float:
        """The trace of HHᵀ and of HᵀH."""
        return float(namespace(self.H).sum(self.H**2))

    def projected(self, rows: Chunk) -> Array:
        """Return Qᵀy, (n, m)."""
        return self.vectors.T @ double(rows.weighted[1])

    def explained_squares(self, rows: Chunk) -> Array:
        """Return the share of yᵀy that each eigenvector explains, (n, m): (qᵀy)²."""
        xp = namespace(self.values)
        return xp.where(self.values[:, None] > self.cut, self.projected(rows) ** 2, 0.0)

    def coef(self, rows: Chunk, alpha: Array) -> Array:
        """Return β of every output, (L, m)."""
        return self.H.T @ (self.vectors @ (self.weights(alpha) * self.projected(rows)))

    def bread(self, alpha: Array) -> Array:
        """Return P Hᵀ = Hᵀ (K + γI)⁻¹ for one γ, (L, n)."""
        return self.H.T @ (self.vectors * self.weights(alpha[None])[:, 0]) @ self.vectors.T

    def residuals(self, rows: Chunk, alphas: Array) -> tuple[Array, Array]:
        """Return r and 1 - lev for γ given per output (m,) or as a grid (k, 1): (..., n, m)."""
        xp = namespace(self.vectors)
        gammas = alphas[..., None, :]
        shifted = self.values[:, None] + gammas
        usable = shifted > self.cut
        g = xp.where(usable, gammas / xp.where(usable, shifted, xp.ones_like(shifted)), 1.0)
        r = self.vectors @ (g * self.projected(rows))
        rest = self.vectors**2 @ g
        if rows.s is not None:
            r = r / xp.sqrt(double(rows.s))[:, None]
        return r, xp.clip(rest, min=_SMALLEST)
