"""A ridge output layer with everything that leaving rows out can tell, held in memory.

Hidden outputs are centred, which stands for an unpenalised intercept, and turned into the
eigenbasis of HᵀSH (S the weights s of the rows): with U = HV every quantity of ridge regression is
a sum over columns of U, for any γ at once. With d = 1 / (λ + γ) and c = VᵀHᵀSy:

    fit = U (d c)        a = h P hᵀ = U² d + 1/n        P = V diag(d) Vᵀ
    e   = r / (1 - s a)

e is the residual of a row that is left out with all its weight. Rows that share a label are left
out together, e_g = (I - H_g P H_gᵀ S_g)⁻¹ r_g. Where neurons outnumber rows, r and 1 - s a come
from the eigenvectors of √S HHᵀ √S without cancellation, as in `elmband.layers.dual`.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple, Self

import numpy as np

from elmband.engines import engine
from elmband.ground.arrays import (
    Array,
    at_least,
    cast,
    double,
    epsilon,
    load_linalg,
    namespace,
    place,
    to_numpy,
)
from elmband.layers.hidden import FeatureMap
from elmband.layers.output_layer import AlphaRule
from elmband.layers.solve import alpha_grid, best_alpha, check_finite
from elmband.sums.moments import Chunk, Gram, Moments, Several, gram

# Rows whose groups are solved for at once: a bound on memory.
_BLOCK_ROWS = 1000


class Judged(NamedTuple):
    """Rows that members are judged on, their weights, and labels of rows to leave out together.

    `folds` number parts of them, for choices that a row shall have no say in.
    """

    rows: Chunk
    s: Array
    labels: np.ndarray[Any, Any] | None
    folds: np.ndarray[Any, np.dtype[np.int64]] | None = None

    @property
    def weighted_rows(self) -> Chunk:
        """The rows with their weights."""
        return self.rows._replace(s=self.s)


@dataclass(frozen=True, eq=False)
class HiddenSums(Moments):
    """Gram sums together with the sums of the columns of H and Y, for centring."""

    gram: Gram
    columns: Array
    targets: Array


def hidden_sums(rows: Chunk) -> HiddenSums:
    """Sum over a chunk of hidden outputs."""
    ones = namespace(rows.X).ones_like(rows.X[:, 0]) if rows.s is None else rows.s
    return HiddenSums(gram(rows), double(ones @ rows.X), double(ones @ rows.Y))


@dataclass(frozen=True, eq=False)
class EigenRows:
    """Centred hidden outputs of rows in the eigenbasis of HᵀSH.

    The rows may be a sample of those that HᵀSH and n were summed over. `basis` are the
    eigenvectors V of HᵀSH. Where neurons outnumber rows it is √S H, and `row_vectors` are the
    eigenvectors Q of √S HHᵀ √S: V = Hᵀ √S Q / √λ is made for members that stay only.
    """

    U: Array
    values: Array
    basis: Array
    s: Array
    n: float
    labels: np.ndarray[Any, Any] | None
    row_vectors: Array | None = None

    @classmethod
    def primal(cls, H: Array, sample: Judged, HtH: Array, n: float) -> Self:
        """Decompose HᵀSH, summed over all n rows, and turn the sampled rows H."""
        values, vectors = namespace(HtH).linalg.eigh(HtH)
        first = _first_usable(values)
        values, vectors = values[first:], vectors[:, first:]
        return cls(H @ cast(vectors, H.dtype), values, vectors, sample.s, n, sample.labels)

    @classmethod
    def of(cls, H: Array, sample: Judged) -> Self:
        """Decompose the smaller of HᵀSH and √S HHᵀ √S, for all rows H."""
        xp = namespace(H)
        n = float(xp.sum(sample.s))
        if H.shape[0] > H.shape[1]:
            return cls.primal(H, sample, _weighted_squares(H, sample.s), n)
        Hs = double(H) * xp.sqrt(sample.s)[:, None]
        values, Q = xp.linalg.eigh(Hs @ Hs.T)
        # Centring takes one dimension away, whatever rounding leaves of it.
        first = max(_first_usable(values), 1)
        values, Q = values[first:], Q[:, first:]
        # U = HV = √S⁻¹ Q √λ
        U = cast(Q * xp.sqrt(values) / xp.sqrt(sample.s)[:, None], H.dtype)
        return cls(U, values, Hs, sample.s, n, sample.labels, Q)

    @cached_property
    def vectors(self) -> Array:
        """Eigenvectors V of HᵀSH, (L, k)."""
        if self.row_vectors is None:
            return self.basis
        return self.basis.T @ (self.row_vectors / namespace(self.values).sqrt(self.values))

    def turned_back(self, b: Array) -> Array:
        """Return Vb of coefficients b (k, m) in the eigenbasis: those of the neurons."""
        if self.row_vectors is None:
            return self.basis @ b
        root = namespace(self.values).sqrt(self.values)
        return self.basis.T @ (self.row_vectors @ (b / root[:, None]))

    @cached_property
    def _row_squares(self) -> tuple[Array, Array | None]:
        """Q², and 1 - s/n - ΣQ² of every row where eigenvalues were too small to be used."""
        Q = self.row_vectors
        assert Q is not None
        if Q.shape[1] >= Q.shape[0] - 1:
            return Q**2, None
        xp = namespace(Q)
        return Q**2, at_least(1 - self.s / self.n - xp.sum(Q**2, axis=1), 0.0)

    def weights(self, alphas: Array) -> Array:
        """Return d = 1 / (λ + γ) for every γ, (k, ·)."""
        return 1 / (self.values[:, None] + alphas[None, :])

    def leverage(self, alphas: Array) -> Array:
        """Return a = h P hᵀ + 1/n for every γ, (n, ·)."""
        return double(self.U**2 @ cast(self.weights(alphas), self.U.dtype)) + 1 / self.n

    def rest(self, alphas: Array) -> Array:
        """Return 1 - s a for every γ, (n, ·)."""
        xp = namespace(self.U)
        if self.row_vectors is None:
            rest = 1 - self.s[:, None] * self.leverage(alphas)
        else:
            squares, outside = self._row_squares
            rest = squares @ (alphas[None, :] * self.weights(alphas))
            if outside is not None:
                rest = rest + outside[:, None]
        return at_least(rest, epsilon(xp.float64, xp))

    def residuals(self, y: Array, c: Array, alphas: Array) -> Array:
        """Return y - hβ of centred targets y (n,), with c = VᵀHᵀSy (k,), for every γ, (n, ·)."""
        d = self.weights(alphas)
        if self.row_vectors is None:
            return y[:, None] - double(self.U @ cast(d * c[:, None], self.U.dtype))
        root = namespace(y).sqrt(self.s)
        Q, target = self.row_vectors, y * root
        inside = Q.T @ target
        r = Q @ (alphas[None, :] * d * inside[:, None])
        if Q.shape[1] < Q.shape[0] - 1:
            r = r + (target - Q @ inside)[:, None]
        return r / root[:, None]

    def left_out(self, r: Array, alphas: Array) -> Array:
        """Return residuals of rows left out, alone or with their label, (n, ·)."""
        return r / self.rest(alphas) if self.labels is None else self._blocks(r, alphas)

    def _blocks(self, r: Array, alphas: Array) -> Array:
        """Return (I - H_g P H_gᵀ S_g)⁻¹ r_g of all groups, those of equal size at once."""
        U, s = to_numpy(double(self.U)), to_numpy(self.s)
        d, residuals = to_numpy(self.weights(alphas)), to_numpy(r)
        out = np.empty_like(residuals)
        assert self.labels is not None
        _, numbers, counts = np.unique(self.labels, return_inverse=True, return_counts=True)
        groups = np.split(np.argsort(numbers.reshape(-1), kind="stable"), np.cumsum(counts)[:-1])
        for size in np.unique(counts):
            same = np.stack([group for group in groups if len(group) == size])
            for part in np.array_split(same, -(-same.size // _BLOCK_ROWS)):
                Ug, sg, rg = U[part], s[part][:, None, :], residuals[part]
                for j in range(residuals.shape[1]):
                    block = (Ug * d[:, j % d.shape[1]]) @ Ug.transpose(0, 2, 1) + 1 / self.n
                    system = np.eye(size) - block * sg
                    out[part, j] = np.linalg.solve(system, rg[:, :, j, None])[:, :, 0]
        return place(out, r)


def _weighted_squares(H: Array, s: Array) -> Array:
    """Return HᵀSH; rows without weights are not copied."""
    xp = namespace(H)
    Hs = double(H) if bool(xp.all(s == 1)) else double(H) * xp.sqrt(s)[:, None]
    return Hs.T @ Hs


def _first_usable(values: Array) -> int:
    """Count eigenvalues that are zero but for rounding; γ guards against all that is larger."""
    xp = namespace(values)
    negligible = values <= values.shape[0] * epsilon(xp.float64, xp) * values[-1]
    return int(xp.sum(xp.astype(negligible, xp.int64)))


@dataclass(frozen=True, eq=False)
class MemberErrors:
    """What the judged rows say of a member: r, e, a = h P hᵀ and 1 - s a, each (n, m).

    `honest` is e with γ chosen on the other folds.
    """

    residuals: Array
    left_out: Array
    honest: Array
    leverage: Array
    rest: Array


@dataclass(frozen=True, eq=False)
class Member:
    """A trained layer: h ↦ intercept + (h - centre) β, with the γ of every output."""

    features: FeatureMap
    centre: Array
    intercept: Array
    coef: Array
    alpha: Array

    def __repr__(self) -> str:
        alphas = [f"{alpha:.3g}" for alpha in to_numpy(self.alpha).tolist()]
        more = ", ..." if len(alphas) > 3 else ""
        return f"Member({self.features.hidden.described}, alpha={', '.join(alphas[:3])}{more})"

    def hidden(self, X: Array) -> Array:
        """Return centred hidden outputs."""
        return self.features.apply(X) - self.centre

    def predict(self, H: Array) -> Array:
        """Return the mean for centred hidden outputs, (n, m)."""
        return H @ cast(self.coef, H.dtype) + cast(self.intercept, H.dtype)


class FittedMember(NamedTuple):
    """A member, with what the judged rows say of it."""

    member: Member
    eigen: EigenRows
    left: MemberErrors

    @property
    def degrees(self) -> float:
        """Effective degrees of freedom Σ λ / (λ + γ), of the output that uses most."""
        xp = namespace(self.eigen.values)
        shares = self.eigen.values[:, None] * self.eigen.weights(self.member.alpha)
        return float(xp.max(xp.sum(shares, axis=0)))


def fit_members(
    rows: Iterable[Chunk] | None,
    sample: Judged,
    layers: Sequence[FeatureMap],
    rule: AlphaRule,
    eps: float,
    *,
    precision: Callable[[Chunk], Chunk] | None = None,
    some: Callable[[Chunk], Chunk] | None = None,
) -> list[FittedMember]:
    """Train on all rows; choose γ by leaving the sampled rows out, or by `rule`.

    `rows` is None where the sample is all there are. Else the sums of all members are taken in
    one pass, and rows must outnumber neurons. Weights of the sample are those to train with;
    `precision` makes the same of the weights of a chunk. Of very many rows `some` are enough.
    """
    sums: Sequence[HiddenSums | None] = [None] * len(layers)
    if rows is not None:

        def chunk_map(chunk: Chunk) -> Several:
            chunk = chunk if some is None else some(chunk)
            chunk = chunk if precision is None else precision(chunk)
            return Several(tuple(hidden_sums(features(chunk)) for features in layers))

        sums = engine.total(rows, chunk_map, "sums").parts

    load_linalg(sample.rows.X)

    def fit(k: int) -> FittedMember:
        return _fit_member(sample, layers[k], sums[k], rule, eps)

    return engine.for_all(fit, range(len(layers)))


def _fit_member(
    sample: Judged, features: FeatureMap, sums: HiddenSums | None, rule: AlphaRule, eps: float
) -> FittedMember:
    H = features.apply(sample.rows.X)
    Y, s = double(sample.rows.Y), sample.s
    xp = namespace(H)
    if sums is not None:
        check_finite(float(xp.sum(sums.columns)))
        n, mean, intercept = sums.gram.n, sums.columns / sums.gram.n, sums.targets / sums.gram.n
        centre = cast(mean, H.dtype)
        HtH = sums.gram.HtH - n * mean[:, None] * mean[None, :]
        eigen = EigenRows.primal(H - centre, sample, HtH, n)
        c = eigen.vectors.T @ (sums.gram.HtY - n * mean[:, None] * intercept[None, :])
    else:
        centre = cast(s @ double(H) / xp.sum(s), H.dtype)
        check_finite(float(xp.sum(centre)))
        intercept = s @ Y / xp.sum(s)
        eigen = EigenRows.of(H - centre, sample)
        c = double(eigen.U).T @ (s[:, None] * (Y - intercept))
    trace = float(xp.sum(eigen.values))
    alphas = alpha_grid(trace, H.shape[1], eps, eigen.values)
    if isinstance(rule, float):
        # Below rounding a strength is none, and the prior part would divide by it.
        alphas = max(rule, eps * trace) + 0 * alphas[:1]
    alpha, left = _choose(eigen, c, Y - intercept, (alphas, rule), sample.folds)
    coef = eigen.turned_back(eigen.weights(alpha) * c)
    return FittedMember(Member(features, centre, intercept, coef, alpha), eigen, left)


def _choose(
    eigen: EigenRows, c: Array, Y: Array, choice: tuple[Array, AlphaRule], folds: Any
) -> tuple[Array, MemberErrors]:
    """Return the γ of every output with the least error on rows left out, or the least GCV."""
    xp = namespace(Y)
    alphas, rule = choice
    chosen, residuals, left_out, honest = [], [], [], []
    rest = eigen.rest(alphas) if eigen.labels is None else None
    for j in range(Y.shape[1]):
        r = eigen.residuals(Y[:, j], c[:, j], alphas)
        e = eigen.left_out(r, alphas) if rest is None else r / rest
        if rule == "gcv":
            rests = eigen.rest(alphas) if rest is None else rest
            score = (eigen.s @ r**2) / xp.mean(rests, axis=0) ** 2
        else:
            score = eigen.s @ e**2
        alpha = best_alpha(alphas, score[:, None])
        k = int(xp.argmin(xp.abs(alphas - alpha[0])))
        chosen.append(alpha)
        residuals.append(r[:, k])
        left_out.append(e[:, k])
        honest.append(e[:, k] if folds is None else _other_folds(alphas, e, eigen.s, folds))
    alpha = xp.concat(chosen)
    return alpha, MemberErrors(
        residuals=xp.stack(residuals, axis=1),
        left_out=xp.stack(left_out, axis=1),
        honest=xp.stack(honest, axis=1),
        leverage=eigen.leverage(alpha),
        rest=eigen.rest(alpha),
    )


def _other_folds(alphas: Array, e: Array, s: Array, folds: Any) -> Array:
    """Return for each row its error e (n, k) at the γ that is best for the other folds."""
    xp = namespace(e)
    here = place(folds[:, None] == np.unique(folds), e, e.dtype)
    squares = s[:, None] * e**2
    best = best_alpha(alphas, xp.sum(squares, axis=0)[:, None] - squares.T @ here)
    column = xp.argmin(xp.abs(alphas[:, None] - best[None, :]), axis=0)
    return xp.sum(here * xp.take(e, column, axis=1), axis=1)
