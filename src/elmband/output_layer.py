"""Output weights together with honest residuals: primal form, dual form, leave-one-out.

With leverage lev = h P hᵀ, the residual a row would have had if it had not been trained on is
r / (1 - lev), exactly, for any γ. A row of weight s counts s times; leaving it out takes away
one count, or all of it where s < 1, so that lev = min(s, 1)·h P hᵀ.

Rows far outnumber neurons in the primal form, which works on HᵀH. Otherwise 1 - lev and r both
come close to zero, and the dual form finds them without cancellation from the eigenvectors Q and
eigenvalues λ of K = HHᵀ:

    r = Q diag(g) Qᵀy,    1 - lev = Q² g,    g = γ / (λ + γ).
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, Self, TypeAlias

from elmband import engine
from elmband._arrays import Array, cast, double, epsilon, namespace
from elmband.moments import Chunk, Gram, Moments, gram
from elmband.rows import ArrayRows
from elmband.solve import (
    InverseFactor,
    Spectrum,
    alpha_grid,
    best_alpha,
    check_finite,
    gcv_scores,
    given_alpha_factor,
    null_count,
)

AlphaRule: TypeAlias = float | Literal["loo", "gcv"]

# The dual form is used up to this many rows per neuron.
_DUAL_RATIO = 1.25
# Keeps 0/0 at 0: a row that is fitted perfectly has residual zero.
_SMALLEST = 1e-30


@dataclass(frozen=True, eq=False)
class SquaredErrors(Moments):
    """Sum of s·(leave-one-out residual)² per γ and output."""

    n: float
    squares: Array


@dataclass(frozen=True, eq=False)
class RowSpectrum(Spectrum):
    """The spectrum of HᵀH found through K = HHᵀ, with all eigenvectors Q (n, n) of K kept.

    Rows carry the roots of their weights in H, Q and λ.
    """

    row_vectors: Array
    n_null: int

    @classmethod
    def of_rows(cls, rows: Chunk, eps: float) -> Self:
        """Decompose HHᵀ; V = HᵀQλ^(-½) outside the null space."""
        H = double(rows.weighted[0])
        xp = namespace(H)
        values, Q = xp.linalg.eigh(H @ H.T)
        first = null_count(values, eps)
        vectors = H.T @ Q[:, first:] / xp.sqrt(values[first:])
        return cls(values[first:], vectors, Q, first)

    def residuals(self, rows: Chunk, alphas: Array) -> tuple[Array, Array]:
        """Return r and 1 - lev for γ given per output (m,) or as a grid (k, 1): (..., n, m)."""
        xp = namespace(self.row_vectors)
        Q, Y = self.row_vectors, double(rows.weighted[1])
        gammas = alphas[..., None, :]
        share = gammas / (self.values[:, None] + gammas)
        g = xp.concat([xp.ones_like(share[..., :1, :])] * self.n_null + [share], axis=-2)
        r, rest = Q @ (g * (Q.T @ Y)), Q**2 @ g
        if rows.s is not None:
            s = double(rows.s)[:, None]
            r = r / xp.sqrt(s)
            rest = xp.where(s > 1, (s - 1 + rest) / s, rest)
        return r, xp.clip(rest, min=_SMALLEST)


@dataclass(frozen=True, eq=False)
class OutputLayer:
    """Output weights β (L, m), the γ they were found with (m,), and P in factors."""

    coef: Array
    alpha: Array
    factor: InverseFactor
    spectrum: Spectrum | None

    @property
    def dual(self) -> bool:
        """Whether residuals come from the dual form, which needs all rows in one chunk."""
        return isinstance(self.spectrum, RowSpectrum)

    def predict(self, H: Array) -> Array:
        """Return Hβ."""
        return H @ cast(self.coef, H.dtype)

    def residuals(self, rows: Chunk, rest: Array | None = None) -> tuple[Array, Array]:
        """Return r = y - Hβ and `rest` = 1 - lev of training rows, each (n, m)."""
        if isinstance(self.spectrum, RowSpectrum):
            r, rest = self.spectrum.residuals(rows, self.alpha)
            return cast(r, rows.Y.dtype), cast(rest, rows.Y.dtype)
        if rest is None:
            rest = leverage_complement(rows, self.factor.quadratic(rows.X), self.alpha)
        return rows.Y - self.predict(rows.X), rest


def leverage_complement(rows: Chunk, quadratic: Array, alpha: Array) -> Array:
    """Return 1 - lev from h P hᵀ, held above the least value it can have.

    HᵀH contains s·hᵀh, therefore h P hᵀ ≤ q / (s·q + γ) with q = ‖h‖². The bound keeps rows that
    alone determine a neuron from dividing rounding errors by rounding errors.
    """
    xp = namespace(quadratic)
    alpha = cast(alpha, quadratic.dtype)
    q = xp.sum(rows.X**2, axis=1)[:, None]
    if rows.s is None:
        s = share = xp.ones_like(q)
    else:
        s = rows.s[:, None]
        share = xp.where(s < 1, s, xp.ones_like(s))
    most = share * q / xp.clip(s * q + alpha, min=_SMALLEST)
    least = xp.clip(1 - most, min=epsilon(q.dtype, xp))
    return xp.maximum(1 - share * quadratic, least)


def leave_one_out_errors(
    rows: Chunk, spectrum: Spectrum, HtY: Array, alphas: Array
) -> SquaredErrors:
    """Sum squared leave-one-out residuals over a chunk, for every γ of a grid.

    In the eigenbasis u = hV, all γ share one matrix product: h P hᵀ = Σ u² / (λ + γ) and
    hβ = Σ u c / (λ + γ) with c = VᵀHᵀy.
    """
    xp = namespace(rows.X)
    if isinstance(spectrum, RowSpectrum):
        r, rest = spectrum.residuals(rows, alphas[:, None])
        errors = (r / rest) ** 2
    else:
        dtype = rows.X.dtype
        U = rows.X @ cast(spectrum.vectors, dtype)
        d = 1 / (spectrum.values[:, None] + alphas[None, :])
        rest = leverage_complement(rows, U**2 @ cast(d, dtype), alphas)
        c = spectrum.vectors.T @ HtY
        weights = xp.permute_dims(d[:, :, None] * c[:, None, :], (1, 0, 2))
        r = rows.Y[None, :, :] - U @ cast(weights, dtype)
        errors = double((r / rest.T[:, :, None]) ** 2)
    if rows.s is not None:
        errors = errors * double(rows.s)[:, None]
    return SquaredErrors(rows.n, xp.sum(errors, axis=1))


@dataclass(frozen=True, eq=False)
class RidgeProblem:
    """Rows, the hidden layer that maps them, and the rounding unit `eps` of their products."""

    rows: ArrayRows
    to_hidden: Callable[[Chunk], Chunk]
    eps: float

    def gram(self) -> Gram:
        """Sum up, in one pass, what the solution needs."""
        return engine.total(self.rows, lambda chunk: gram(self.to_hidden(chunk)))

    def solve(self, rule: AlphaRule, sums: Gram, spectrum: Spectrum | None = None) -> OutputLayer:
        """Choose γ by `rule` and solve; a `spectrum` known from the same H is used again."""
        check_finite(sums)
        xp = namespace(sums.HtH)
        if spectrum is None and len(self.rows) <= _DUAL_RATIO * sums.HtH.shape[0]:
            spectrum = RowSpectrum.of_rows(self.to_hidden(self.rows.whole()), self.eps)
        if isinstance(rule, str):
            spectrum = spectrum or Spectrum.of(sums.HtH, self.eps)
            alpha = self._choose(rule, sums, spectrum)
        else:
            alpha = float(rule) * xp.ones_like(sums.YtY)
        if spectrum is None:
            factor = given_alpha_factor(sums.HtH, alpha, self.eps)
        else:
            factor = spectrum.factor(alpha)
        return OutputLayer(factor.solve(sums.HtY), alpha, factor, spectrum)

    def _choose(self, rule: str, sums: Gram, spectrum: Spectrum) -> Array:
        alphas = alpha_grid(sums.HtH, self.eps)
        if rule == "gcv":
            return best_alpha(alphas, gcv_scores(sums, spectrum, alphas))

        def errors(chunk: Chunk) -> SquaredErrors:
            return leave_one_out_errors(self.to_hidden(chunk), spectrum, sums.HtY, alphas)

        parts = [self.rows.whole()] if isinstance(spectrum, RowSpectrum) else self.rows
        return best_alpha(alphas, engine.total(parts, errors).squares)
