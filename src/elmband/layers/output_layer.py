"""Output weights together with honest residuals: leverage, leave-one-out, the choice of γ.

With leverage lev = h P hᵀ, the residual a row would have had if it had not been trained on is
r / (1 - lev), exactly, for any γ. A row of weight s is left out with all of it, so that
lev = s·h P hᵀ.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, TypeAlias

from elmband.engines import engine
from elmband.ground.arrays import Array, cast, double, epsilon, namespace
from elmband.layers.dual import RowSpectrum
from elmband.layers.solve import (
    InverseFactor,
    Spectrum,
    alpha_grid,
    best_alpha,
    check_finite,
    explained_squares,
    gcv_scores,
    given_alpha_factor,
)
from elmband.sums.moments import Chunk, Gram, Moments, gram
from elmband.sums.products import squared_norms
from elmband.sums.rows import Rows

# "auto" means "loo" for rows in memory, and "gcv" for rows that another pass would have to read.
AlphaRule: TypeAlias = float | Literal["auto", "loo", "gcv"]


# The dual form is used up to this many rows per neuron.
_DUAL_RATIO = 1.25


@dataclass(frozen=True, eq=False)
class SquaredErrors(Moments):
    """Sum of s·(leave-one-out residual)² per γ and output."""

    squares: Array


@dataclass(frozen=True, eq=False)
class OutputLayer:
    """Output weights β (L, m), the γ they were found with (m,), and what P is made of.

    `factor` is that of the primal form, None in the dual form; `spectrum` is None where γ was
    given and a Cholesky factor was enough.
    """

    coef: Array
    alpha: Array
    factor: InverseFactor | None
    spectrum: Spectrum | None

    def __repr__(self) -> str:
        neurons, outputs = (int(length) for length in self.coef.shape)
        return f"OutputLayer(n_neurons={neurons}, n_outputs={outputs})"

    @property
    def dual(self) -> bool:
        """Whether this is the dual form, which needs all rows in one chunk."""
        return self.factor is None

    def predict(self, H: Array) -> Array:
        """Return Hβ."""
        return H @ cast(self.coef, H.dtype)

    def residuals(self, rows: Chunk, rest: Array | None = None) -> tuple[Array, Array]:
        """Return r = y - Hβ and `rest` = 1 - lev of training rows, each (n, m)."""
        if self.factor is None:
            assert isinstance(self.spectrum, RowSpectrum)
            r, rest = self.spectrum.residuals(rows, self.alpha)
            return cast(r, rows.Y.dtype), cast(rest, rows.Y.dtype)
        if rest is None:
            rest = leverage_complement(rows, self.factor.quadratic(rows.X), self.alpha)
        return rows.Y - self.predict(rows.X), rest

    def bread(self, output: int) -> Array:
        """Return P of one output, (L, L), or P Hᵀ in the dual form, (L, n)."""
        if self.factor is not None:
            return self.factor.inverse(output)
        assert isinstance(self.spectrum, RowSpectrum)
        return self.spectrum.bread(self.alpha[output])


def leverage_complement(rows: Chunk, quadratic: Array, alpha: Array) -> Array:
    """Return 1 - lev from h P hᵀ, held above the least value it can have.

    HᵀH contains s·hᵀh, therefore s·h P hᵀ ≤ s·q / (s·q + γ) with q = ‖h‖². The bound keeps rows
    that alone determine a neuron from dividing rounding errors by rounding errors.
    """
    xp = namespace(quadratic)
    alpha = cast(alpha, quadratic.dtype)
    q = squared_norms(rows.X)[:, None]
    s = 1.0
    if rows.s is not None:
        s = rows.s[:, None]
        q = s * q
    least = xp.clip(1 - q / xp.clip(q + alpha, min=1e-30), min=epsilon(q.dtype, xp))
    return xp.maximum(1 - s * quadratic, least)


def leave_one_out_errors(
    rows: Chunk, spectrum: Spectrum, HtY: Array, alphas: Array
) -> SquaredErrors:
    """Sum squared leave-one-out residuals over a chunk, for every γ of a grid.

    In the eigenbasis u = hV, all γ share one matrix product: h P hᵀ = Σ u² / (λ + γ) and
    hβ = Σ u c / (λ + γ) with c = VᵀHᵀy.
    """
    xp = namespace(rows.X)
    U = rows.X @ cast(spectrum.vectors, rows.X.dtype)
    d = spectrum.weights(alphas)
    rest = leverage_complement(rows, U**2 @ cast(d, U.dtype), alphas)
    c = spectrum.vectors.T @ HtY
    weights = xp.permute_dims(d[:, :, None] * c[:, None, :], (1, 0, 2))
    r = rows.Y[None, :, :] - U @ cast(weights, U.dtype)
    return _sum_errors(r / rest.T[:, :, None], rows.s)


def _sum_errors(residuals: Array, s: Array | None) -> SquaredErrors:
    """Sum squares (k, n, m) over rows."""
    squares = double(residuals) ** 2
    if s is not None:
        squares = squares * double(s)[:, None]
    return SquaredErrors(namespace(squares).sum(squares, axis=1))


@dataclass(frozen=True, eq=False)
class RidgeProblem:
    """Rows, the hidden layer of L neurons that maps them, and the rounding unit of products."""

    rows: Rows
    to_hidden: Callable[[Chunk], Chunk]
    n_neurons: int
    eps: float

    @property
    def dual(self) -> bool:
        """Whether rows do not far outnumber neurons."""
        return len(self.rows) <= _DUAL_RATIO * self.n_neurons

    def gram(self) -> Gram:
        """Sum up, in one pass, what the primal solution needs."""
        return engine.total(self.rows, lambda chunk: gram(self.to_hidden(chunk)), "sums")

    def solve(self, rule: AlphaRule, sums: Gram, spectrum: Spectrum | None = None) -> OutputLayer:
        """Solve in the primal form; a `spectrum` known from the same H is used again."""
        xp = namespace(sums.HtH)
        if rule == "auto":
            rule = "loo" if self.rows.in_memory else "gcv"
        trace = float(xp.linalg.trace(sums.HtH))
        check_finite(trace)
        if isinstance(rule, float):
            alpha = rule * xp.ones_like(sums.YtY)
            if spectrum is None:
                factor = given_alpha_factor(sums.HtH, alpha, self.eps)
                return OutputLayer(factor.solve(sums.HtY), alpha, factor, None)
        spectrum = spectrum or Spectrum.of(sums.HtH, self.eps)
        if isinstance(rule, str):
            alphas = alpha_grid(trace, self.n_neurons, self.eps, sums.HtH)
            alpha = best_alpha(alphas, self._scores(rule, sums, spectrum, alphas))
        same = bool(xp.all(alpha == alpha[0]))
        # Where outputs share γ, leverage from a Cholesky factor takes half the arithmetic.
        factor = (
            given_alpha_factor(sums.HtH, alpha, self.eps, spectrum)
            if same
            else spectrum.factor(alpha)
        )
        return OutputLayer(factor.solve(sums.HtY), alpha, factor, spectrum)

    def _scores(self, rule: str, sums: Gram, spectrum: Spectrum, alphas: Array) -> Array:
        if rule == "gcv":
            explained = explained_squares(spectrum, sums.HtY)
            return gcv_scores(sums.n, sums.YtY, spectrum, explained, alphas)

        def errors(chunk: Chunk) -> SquaredErrors:
            return leave_one_out_errors(self.to_hidden(chunk), spectrum, sums.HtY, alphas)

        return engine.total(self.rows, errors, "leave-one-out").squares

    def solve_dual(self, rule: AlphaRule, spectrum: RowSpectrum | None = None) -> OutputLayer:
        """Solve in the dual form, with all rows at once."""
        rows = self.to_hidden(self.rows.whole())
        spectrum = spectrum or RowSpectrum.of_rows(rows, self.eps)
        check_finite(spectrum.trace)
        xp = namespace(rows.X)
        if isinstance(rule, float):
            alpha = rule * xp.ones_like(double(rows.Y[0, :]))
            return OutputLayer(spectrum.coef(rows, alpha), alpha, None, spectrum)
        alphas = alpha_grid(spectrum.trace, self.n_neurons, self.eps, rows.X)
        if rule == "gcv":
            YtY = xp.sum(double(rows.weighted[1]) ** 2, axis=0)
            scores = gcv_scores(rows.n, YtY, spectrum, spectrum.explained_squares(rows), alphas)
        else:
            r, rest = spectrum.residuals(rows, alphas[:, None])
            scores = _sum_errors(r / rest, rows.s).squares
        alpha = best_alpha(alphas, scores)
        return OutputLayer(spectrum.coef(rows, alpha), alpha, None, spectrum)
