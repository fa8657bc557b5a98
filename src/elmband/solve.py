"""From moments to output weights: ridge solutions and the choice of the L2 strength γ.

For hidden outputs H and targets y (standardised), the output weights are

    β = P Hᵀy,    P = (HᵀH + γI)⁻¹.

Every output has its own γ. P is never needed as such: it is kept as B diag(d) Bᵀ, with B from
the Cholesky factor of HᵀH + γI where γ is given, and from the eigenvectors of HᵀH where γ is to
be chosen, since all γ then share one B.
"""

from dataclasses import dataclass
from typing import Self

from elmband._arrays import Array, cast, namespace
from elmband.moments import Gram

# γ is searched over these multiples of the mean diagonal of HᵀH: three per decade.
_GRID_DECADES = (-10, 3)
_GRID_POINTS = 40
# Scores within this of the best count as equal, and the largest γ of these is taken: rounding
# shall not decide, and among equals the smoother model is the safer one.
_TIE = 1e-6


@dataclass(frozen=True, eq=False)
class InverseFactor:
    """P of every output j, as B diag(d_j) Bᵀ: `basis` is B (L, k), `weights` is d (k, m)."""

    basis: Array
    weights: Array

    def quadratic(self, H: Array) -> Array:
        """Return h P hᵀ of every row and output, (n, m)."""
        return (H @ cast(self.basis, H.dtype)) ** 2 @ cast(self.weights, H.dtype)

    def inverse(self, output: int) -> Array:
        """Return P of one output, (L, L)."""
        return (self.basis * self.weights[:, output]) @ self.basis.T

    def solve(self, HtY: Array) -> Array:
        """Return β = P Hᵀy of every output, (L, m)."""
        return self.basis @ (self.weights * (self.basis.T @ HtY))


@dataclass(frozen=True, eq=False)
class Spectrum:
    """Eigenvalues λ (k,) and eigenvectors V (L, k) of HᵀH, those of the null space left out."""

    values: Array
    vectors: Array

    @classmethod
    def of(cls, HtH: Array, eps: float) -> Self:
        """Decompose HᵀH; `eps` is the rounding unit of the products it was summed from."""
        xp = namespace(HtH)
        values, vectors = xp.linalg.eigh(HtH)
        first = null_count(values, eps)
        return cls(values[first:], vectors[:, first:])

    def factor(self, alpha: Array) -> InverseFactor:
        """Return P for the given γ of every output."""
        return InverseFactor(self.vectors, 1 / (self.values[:, None] + alpha[None, :]))


def null_count(values: Array, eps: float) -> int:
    """Count the eigenvalues, in ascending order, that cannot be told from zero."""
    xp = namespace(values)
    negligible = values <= values.shape[0] * eps * values[-1]
    return int(xp.sum(xp.astype(negligible, xp.int64)))


def given_alpha_factor(HtH: Array, alpha: Array, eps: float) -> InverseFactor:
    """Return P for one γ that all outputs share.

    By Cholesky, unless γ is so small that HᵀH + γI may be singular to working precision; then
    by eigenvectors without the null space, which is the minimum-norm solution as γ → 0.
    """
    xp = namespace(HtH)
    if float(alpha[0]) < 4 * eps * float(xp.linalg.trace(HtH)):
        return Spectrum.of(HtH, eps).factor(alpha)
    shifted = HtH + float(alpha[0]) * xp.eye(HtH.shape[0], dtype=HtH.dtype, device=HtH.device)
    basis = xp.linalg.inv(xp.linalg.cholesky(shifted)).T
    ones = xp.ones((HtH.shape[0], alpha.shape[0]), dtype=HtH.dtype, device=HtH.device)
    return InverseFactor(basis, ones)


def alpha_grid(HtH: Array, eps: float) -> Array:
    """Return the γ to choose from, in ascending order.

    The grid follows the size of HᵀH and stops where rounding would take over.
    """
    xp = namespace(HtH)
    trace = float(xp.linalg.trace(HtH))
    powers = xp.linspace(*_GRID_DECADES, _GRID_POINTS, dtype=xp.float64, device=HtH.device)
    alphas = (trace / HtH.shape[0] or 1.0) * 10**powers
    return alphas[alphas >= min(eps * trace, float(alphas[-1]))]


def gcv_scores(gram: Gram, spectrum: Spectrum, alphas: Array) -> Array:
    """Return the generalised cross-validation score n·RSS / (n - df)² per γ and output.

    With c = Vᵀ(Hᵀy), both parts are sums of positive terms, so that nothing cancels where the
    fit is nearly perfect:

        RSS(γ)    = RSS(0) + Σ_k c_k² γ² / (λ_k (λ_k + γ)²)
        n - df(γ) = (n - rank) + Σ_k γ / (λ_k + γ)
    """
    xp = namespace(alphas)
    c2 = (spectrum.vectors.T @ gram.HtY) ** 2
    lam = spectrum.values
    unexplained = gram.YtY - xp.sum(c2 / lam[:, None], axis=0)
    free = max(gram.n - lam.shape[0], 0.0)
    if free == 0.0:
        unexplained = xp.zeros_like(unexplained)
    unexplained = xp.where(unexplained > 0, unexplained, xp.zeros_like(unexplained))
    share = alphas[:, None] / (lam[None, :] + alphas[:, None])
    rss = unexplained + share**2 @ (c2 / lam[:, None])
    return gram.n * rss / (free + xp.sum(share, axis=1)[:, None]) ** 2


def best_alpha(alphas: Array, scores: Array) -> Array:
    """Return for each output the largest γ whose score is the least one but for rounding."""
    xp = namespace(alphas)
    good = scores <= xp.min(scores, axis=0) * (1 + _TIE)
    candidates = xp.where(good, alphas[:, None], xp.zeros_like(scores))
    return xp.max(candidates, axis=0)


def check_finite(gram: Gram) -> None:
    """Refuse sums that are not finite, which only a user's own neurons can cause."""
    xp = namespace(gram.HtH)
    if not bool(xp.all(xp.isfinite(xp.linalg.diagonal(gram.HtH)))):
        raise ValueError(
            "The hidden layer gave values that are not finite; check your own neuron function "
            "(inputs are standardised, so it is called with values around zero)."
        )
