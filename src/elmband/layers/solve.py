"""From moments to output weights: ridge solutions and the choice of the L2 strength γ.

For hidden outputs H and targets y (standardised), the output weights are

    β = P Hᵀy,    P = (HᵀH + γI)⁻¹.

Every output has its own γ. P is kept as B diag(d) Bᵀ, with B from the Cholesky factor of
HᵀH + γI where γ is given, and from the eigenvectors of HᵀH where γ is to be chosen, since all γ
then share one B.
"""

from dataclasses import dataclass
from typing import Self

import numpy as np

from elmband.ground.arrays import Array, add_to_diagonal, cast, epsilon, namespace
from elmband.layers.triangular import squared_lengths, turned
from elmband.sums.products import squared_norms

# γ is searched over these multiples of the mean diagonal of HᵀH: three per decade.
_GRID_DECADES = (-8, 3)
_GRID_POINTS = 34
# Scores within this of the best count as equal, and the largest γ of these is taken: rounding
# shall not decide, and among equals the smoother model is the safer one.
_TIE = 1e-6


@dataclass(frozen=True, eq=False)
class InverseFactor:
    """P of every output j, as B diag(d_j) Bᵀ: `basis` is B (L, k), `weights` is d (k, m).

    An `upper` triangular B has unit weights.
    """

    basis: Array
    weights: Array
    upper: bool = False

    def quadratic(self, H: Array) -> Array:
        """Return h P hᵀ of every row and output, (n, m)."""
        if self.upper:
            ones = cast(self.weights[:1, :], H.dtype)
            return squared_lengths(H, self.basis, "upper")[:, None] * ones
        return self.quadratic_of_turned(H @ cast(self.basis, H.dtype))

    def turned(self, H: Array) -> Array:
        """Return t = hB of every row, which may be overwritten."""
        return turned(H, self.basis) if self.upper else H @ cast(self.basis, H.dtype)

    def quadratic_of_turned(self, T: Array) -> Array:
        """Return h P hᵀ = Σ d t² of turned rows, (n, m)."""
        if self.upper:
            return squared_norms(T)[:, None] * cast(self.weights[:1, :], T.dtype)
        return T**2 @ cast(self.weights, T.dtype)

    def inverse(self, output: int) -> Array:
        """Return P of one output, (L, L)."""
        return (self.basis * self.weights[:, output]) @ self.basis.T

    def solve(self, HtY: Array) -> Array:
        """Return β = P Hᵀy of every output, (L, m)."""
        return self.basis @ (self.weights * (self.basis.T @ HtY))


@dataclass(frozen=True, eq=False)
class Spectrum:
    """Eigenvalues λ (k,) and eigenvectors (·, k) of a Gram matrix.

    Below `cut`, eigenvalues cannot be told from zero.
    """

    values: Array
    vectors: Array
    cut: float

    @classmethod
    def of(cls, symmetric: Array, eps: float) -> Self:
        """Decompose a Gram matrix summed from products with the rounding unit `eps`."""
        xp = namespace(symmetric)
        values, vectors = xp.linalg.eigh(symmetric)
        cut = rounding(symmetric, eps) * float(values[-1])
        return cls(xp.clip(values, min=0.0), vectors, cut)

    def weights(self, alphas: Array) -> Array:
        """Return 1 / (λ + γ) for every γ, (k, m), and 0 where that sum is zero but for rounding.

        As γ → 0 the solution therefore tends to the one of minimum norm.
        """
        xp = namespace(self.values)
        shifted = self.values[:, None] + alphas[None, :]
        usable = shifted > self.cut
        return xp.where(usable, 1 / xp.where(usable, shifted, xp.ones_like(shifted)), 0.0)

    def factor(self, alpha: Array) -> InverseFactor:
        """Return P for the given γ of every output."""
        return InverseFactor(self.vectors, self.weights(alpha))


def given_alpha_factor(
    HtH: Array, alpha: Array, eps: float, spectrum: Spectrum | None = None
) -> InverseFactor:
    """Return P for one γ that all outputs share.

    By Cholesky, unless HᵀH + γI is singular to working precision; then from the `spectrum`.
    """
    xp = namespace(HtH)
    if not _far_from_singular(HtH, float(alpha[0]), eps):
        spectrum = spectrum or Spectrum.of(HtH, eps)
        if float(spectrum.values[0] + alpha[0]) <= 4 * spectrum.cut:
            return spectrum.factor(alpha)
    basis = xp.linalg.inv(xp.linalg.cholesky(_shifted(HtH, float(alpha[0])))).T
    ones = xp.ones((HtH.shape[0], alpha.shape[0]), dtype=HtH.dtype, device=HtH.device)
    return InverseFactor(basis, ones, upper=True)


def _far_from_singular(HtH: Array, alpha: float, eps: float) -> bool:
    """Whether the least eigenvalue of HᵀH + γI is surely above what rounding can make of zero.

    A Cholesky factor tells, in a small part of the time of eigenvalues: it exists where γ is
    lowered by that much. The largest eigenvalue is at most the root of the sum of squares.
    """
    xp = namespace(HtH)
    if alpha >= 4 * eps * float(xp.linalg.trace(HtH)):
        return True
    largest = float(xp.sqrt(xp.sum(HtH**2)))
    return cholesky(_shifted(HtH, alpha - 4 * rounding(HtH, eps) * largest)) is not None


def _shifted(HtH: Array, alpha: float) -> Array:
    xp = namespace(HtH)
    return add_to_diagonal(xp.asarray(HtH, copy=True), alpha)


def rounding(HtH: Array, eps: float) -> float:
    """Return the share of the largest eigenvalue below which others cannot be told from zero.

    Chunks of float32 products, added in float64, change HᵀH by less than eps·λ_max; solvers in
    float64 leave somewhat more of their own eps.
    """
    return max(4 * eps, int(HtH.shape[0]) * epsilon(namespace(HtH).float64, namespace(HtH)))


def cholesky(symmetric: Array) -> Array | None:
    """Return the lower Cholesky factor, or None where there is none."""
    xp = namespace(symmetric)
    try:
        factor = xp.linalg.cholesky(symmetric)
    except (np.linalg.LinAlgError, RuntimeError):
        return None
    # Some libraries do not raise, and return NaN.
    return factor if bool(xp.all(xp.isfinite(xp.linalg.diagonal(factor)))) else None


def alpha_grid(trace: float, n_neurons: int, eps: float, like: Array) -> Array:
    """Return the γ to choose from, in ascending order.

    The grid follows the size of HᵀH, given by its trace, and stops where rounding would take
    over.
    """
    xp = namespace(like)
    powers = xp.linspace(*_GRID_DECADES, _GRID_POINTS, dtype=xp.float64, device=like.device)
    alphas = (trace / n_neurons or 1.0) * 10**powers
    return alphas[alphas >= min(eps * trace, float(alphas[-1]))]


def explained_squares(spectrum: Spectrum, HtY: Array) -> Array:
    """Return the share of yᵀy that each eigenvector of HᵀH explains, (k, m): (vᵀHᵀy)² / λ."""
    xp = namespace(spectrum.values)
    lam = spectrum.values[:, None]
    usable = lam > spectrum.cut
    squares = (spectrum.vectors.T @ HtY) ** 2
    return xp.where(usable, squares / xp.where(usable, lam, xp.ones_like(lam)), 0.0)


def gcv_scores(n: float, YtY: Array, spectrum: Spectrum, explained: Array, alphas: Array) -> Array:
    """Return the generalised cross-validation score n·RSS / (n - df)² per γ and output.

    With e_k the squares that eigenvector k explains, both parts are sums of positive terms, so
    that nothing cancels where the fit is nearly perfect:

        RSS(γ)    = RSS(0) + Σ_k e_k (γ / (λ_k + γ))²
        n - df(γ) = (n - rank) + Σ_k γ / (λ_k + γ)
    """
    xp = namespace(alphas)
    usable = spectrum.values > spectrum.cut
    free = n - int(xp.sum(xp.astype(usable, xp.int64)))
    unexplained = xp.clip(YtY - xp.sum(explained, axis=0), min=0.0)
    if free <= 0:
        free, unexplained = 0.0, xp.zeros_like(unexplained)
    share = alphas[:, None] / (spectrum.values[None, :] + alphas[:, None])
    share = xp.where(usable[None, :], share, 0.0)
    rss = unexplained + share**2 @ explained
    return n * rss / (free + xp.sum(share, axis=1)[:, None]) ** 2


def best_alpha(alphas: Array, scores: Array) -> Array:
    """Return for each output the largest γ whose score is the least one but for rounding."""
    xp = namespace(alphas)
    good = scores <= xp.min(scores, axis=0) * (1 + _TIE)
    return xp.max(xp.where(good, alphas[:, None], 0.0), axis=0)


def check_finite(trace: float) -> None:
    """Refuse sums that are not finite, which only a user's own neurons can cause."""
    if not abs(trace) < float("inf"):
        raise ValueError(
            "The hidden layer gave values that are not finite; check your own neuron function "
            "(inputs are standardised, so it is called with values around zero)."
        )
