"""One stage: a ridge output layer for every level of a column, fitted to targets.

With K = Σ s zᵀz, b = Σ s zᵀt and Σ s t² over the rows of a level, and K = V diag(λ) Vᵀ, the layer
is β = V (λ + γ)⁻¹ Vᵀ b, its degrees of freedom are Σ λ / (λ + γ), and generalised cross-validation
(GCV) gives the error of rows left out for every γ at no cost. A level weighs strengths by its own
rows and by what is best for all levels, which counts as much as a few hundred rows: levels with
few rows shrink as others do, and at the largest γ nothing is left but the stack.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from elmband.engines import engine
from elmband.stacks.local_layers import SharedNeurons
from elmband.uncertainty.local_fit.sample import InputLayout, LocalRows, Places, Singles

Floats: TypeAlias = np.ndarray[Any, np.dtype[np.float64]]

# Strengths to choose from, times the mean square of a shared output.
_STRENGTHS = np.geomspace(0.3, 1e7, 16)
# A level with fewer rows, or with weights of fewer, has no layer of its own.
_LEAST_ROWS = 20
# Levels that tell what is best for all, and how many rows that counts as much as.
_PROBES = 32
_PRIOR_ROWS = 200.0
# Layers on more than this share of the shared outputs are summed up before these are turned.
_NARROW_SHARE = 0.25
# Rows whose hidden outputs are held at once.
_ROWS_AT_ONCE = 2048
_BLOCKS_KEPT = 8
# A fit that leaves over less than this share is exact but for rounding.
_LEAST_REST = 1e-9
# Layers up to so many shared outputs know the leverage of every row exactly. Wider ones estimate it
# from so many random projections: within a fifth, and right on average. The mean of all rows in its
# place would flatter rows left out, as leverages differ much: errors of `protein` fell by 3.4 % in
# place of 1.6 %.
_NARROW = 64
# Least that a row leaves over of itself.
_LEAST_FREE = 0.2


@dataclass(frozen=True, eq=False)
class StageFit:
    """Layers of all levels; the last row of each array is for rows of no level.

    `unit` are the variances s_g² of what is left over, `left_out` what rows have left over when
    they are left out, and `error` and `before` are mean squares of that and of the targets. The
    `roots` C_g with P_g = C_g C_gᵀ, nearly, tell the leverages of single rows.
    """

    coef: Singles
    variance: Singles
    unit: Floats
    left_out: Floats
    error: float
    before: float
    roots: Singles

    def leverages(self, z: Singles, places: Places) -> Floats:
        """Return z P_g zᵀ of rows."""
        found = np.zeros(len(z))
        for g in np.unique(places):
            here = places == g
            found[here] = _lengths(z[here] @ self.roots[g])
        return found

    @property
    def gain(self) -> float:
        """The share by which errors of rows left out fell."""
        return 1 - (self.error / self.before) ** 0.5 if self.before > 0 else 0.0


class _Sums(NamedTuple):
    """Sums over the rows of a level."""

    K: Floats
    b: Floats
    squares: float
    n: float


class _Solved(NamedTuple):
    """A level in the eigenbasis of K, with its GCV for every strength."""

    values: Floats
    vectors: Floats
    turned: Floats
    gcv: Floats
    diagonal: Floats
    squares: float
    n: float


class LocalInputs(NamedTuple):
    """The neurons that layers share, and how rows are held."""

    shared: SharedNeurons
    layout: InputLayout

    def outputs(self, rows: LocalRows, index: Any, width: int) -> Singles:
        """Return the first shared outputs z of rows, with a column of ones before them."""
        z: Singles = self.shared.outputs(self._standardised(rows, index), width)
        return z

    def _standardised(self, rows: LocalRows, index: Any) -> Singles:
        return self.layout.standardised(rows.numbers[index], rows.marks[index])

    def known_outputs(self, rows: LocalRows, width: int) -> Singles:
        """Return the first shared outputs of all rows, which are few enough to be held."""
        blocks = _blocks(np.arange(rows.n))
        with engine.limit_blas(0):
            found = engine.for_all(lambda block: self.outputs(rows, block, width), blocks)
        return np.concatenate(found)

    def basis(self, rows: LocalRows, width: int, known: Singles | None = None) -> "_Basis":
        """Return what tells the outputs of rows in the way that costs least arithmetic."""
        if known is not None:
            return _Basis(lambda index: known[index, : width + 1], None)
        if _NARROW_SHARE * self.shared.count > width:
            return _Basis(partial(self.outputs, rows, width=width), None)
        turn = self.shared.turn(width)
        return _Basis(lambda index: self.shared.plain(self._standardised(rows, index)), turn)


class _Basis(NamedTuple):
    """Outputs g of rows, with z = gT: turning sums costs nothing, turning every row does.

    T is None where g are shared outputs z as they are.
    """

    outputs: Callable[[Any], Singles]
    turn: Floats | None

    def turned(self, sums: _Sums) -> _Sums:
        """Return sums over g as those over z."""
        T = self.turn
        return sums if T is None else sums._replace(K=T.T @ sums.K @ T, b=T.T @ sums.b)

    def back(self, beta: Floats) -> Singles:
        """Return coefficients of z as those of g."""
        back: Singles = (beta if self.turn is None else self.turn @ beta).astype(np.float32)
        return back


def fit_stage(
    rows: LocalRows,
    inputs: LocalInputs,
    places: Places,
    n_levels: int,
    target: Floats,
    width: int,
    *,
    known_outputs: Singles | None = None,
) -> StageFit:
    """Fit targets (n,) by the levels that rows have, on the first `width` shared outputs.

    These may be known of all rows.
    """
    order = np.argsort(places, kind="stable")
    ends = np.searchsorted(places[order], np.arange(n_levels + 1))
    index = [order[start:stop] for start, stop in pairwise(ends)]
    basis = inputs.basis(rows, width, known_outputs)
    strengths = _strengths(rows, partial(inputs.outputs, rows, width=width))
    worth = np.bincount(places, rows.s, n_levels + 1)
    wanted = [g for g, i in enumerate(index) if len(i) >= _LEAST_ROWS and worth[g] >= _LEAST_ROWS]
    coef = np.zeros((n_levels + 1, width + 1), np.float32)
    variance = np.zeros((n_levels + 1, width + 1), np.float32)
    unit, left_out = np.ones(n_levels + 1), target.copy()
    added = np.zeros(n_levels + 1)
    signs = _signs(width + 1)
    columns = width + 1 if signs is None else _NARROW
    roots = np.zeros((n_levels + 1, width + 1, columns), np.float32)

    def solve(g: int, outputs: Callable[[Any], Singles]) -> _Solved | None:
        return _solved(basis.turned(_sums(rows, outputs, index[g], target)), strengths)

    def probe(g: int) -> _Solved | None:
        return solve(g, basis.outputs)

    def fit(g: int) -> None:
        kept = _Kept(basis.outputs)
        solved = known.pop(g) if g in known else solve(g, kept)
        if solved is None:
            return
        beta, v, unit[g], d = _chosen(solved, strengths, pooled)
        coef[g], variance[g] = beta, v
        root = solved.vectors * np.sqrt(d)
        roots[g] = root if signs is None else root @ signs
        # Both products at once.
        back = basis.back(np.column_stack([beta, roots[g]]))
        for block in _blocks(index[g]):
            found = kept(block) @ back
            u = found[:, 0]
            added[g] += rows.s[block] @ u.astype(np.float64) ** 2
            used = rows.s[block] * _lengths(found[:, 1:])
            left_out[block] = (target[block] - u) / np.maximum(1 - used, _LEAST_FREE)

    with engine.limit_blas(0):
        probes = _probes([len(index[g]) for g in wanted], wanted)
        known = dict(zip(probes, engine.for_all(probe, probes), strict=True))
        pooled = _pooled(known.values(), strengths)
        engine.for_all(fit, wanted)
    # A row of no level is as far off as levels are apart.
    spread = added.sum() / max(float(worth[wanted].sum()), 1e-300)
    small = np.setdiff1d(np.arange(n_levels + 1), wanted)
    variance[small, 0] = spread
    s = rows.s / rows.s.sum()
    error, before = float(s @ left_out**2), float(s @ target**2)
    return StageFit(coef, variance, unit, left_out, error, before, roots)


def _signs(size: int) -> Floats | None:
    """Return random signs that squared lengths of `size` numbers are estimated with, if many."""
    if size - 1 <= _NARROW:
        return None
    signs = np.random.default_rng(size).integers(2, size=(size, _NARROW))
    found: Floats = (2 * signs - 1) / np.sqrt(_NARROW)
    return found


def _lengths(products: Singles) -> Floats:
    """Return the squared length of every row."""
    found: Floats = np.sum(products.astype(np.float64) ** 2, axis=1)
    return found


class _Kept:
    """Shared outputs of the first blocks of rows, to be had twice."""

    def __init__(self, outputs: Callable[[Any], Singles]) -> None:
        self._outputs = outputs
        self._blocks: dict[int, Singles] = {}

    def __call__(self, block: Any) -> Singles:
        """Return the outputs of a block, which is told by its first row."""
        first = int(block[0])
        if first in self._blocks:
            return self._blocks.pop(first)
        found = self._outputs(block)
        if len(self._blocks) < _BLOCKS_KEPT:
            self._blocks[first] = found
        return found


def _strengths(rows: LocalRows, outputs: Callable[[Any], Singles]) -> Floats:
    """Return strengths in units of the mean square of shared outputs."""
    some = outputs(np.arange(0, rows.n, max(rows.n // 2000, 1)))[:, 1:]
    found: Floats = _STRENGTHS * max(float(np.mean(some.astype(np.float64) ** 2)), 1e-12)
    return found


def _blocks(index: Any) -> list[Any]:
    return np.array_split(index, max(-(-len(index) // _ROWS_AT_ONCE), 1))


def _sums(rows: LocalRows, outputs: Callable[[Any], Singles], index: Any, target: Floats) -> _Sums:
    K: Any = 0.0
    b: Any = 0.0
    for block in _blocks(index):
        z, s = outputs(block), rows.s[block]
        weighted = z if (s == 1).all() else z * np.sqrt(s).astype(np.float32)[:, None]
        K = K + (weighted.T @ weighted).astype(np.float64)
        b = b + (z.T @ (s * target[block]).astype(np.float32)).astype(np.float64)
    s = rows.s[index]
    return _Sums(K, b, float(s @ target[index] ** 2), float(s.sum()))


def _solved(sums: _Sums, strengths: Floats) -> _Solved | None:
    """Decompose the sums of a level; None where its targets are all zero."""
    if not sums.squares > 0:
        return None
    values, vectors = np.linalg.eigh(sums.K)
    values = np.clip(values, 0.0, None)
    turned = vectors.T @ sums.b
    d = 1 / (values[:, None] + strengths)
    explained = 2 * (turned**2) @ d - (turned**2 * values) @ d**2
    rest = np.maximum(sums.squares - explained, _LEAST_REST * sums.squares)
    free = np.maximum(1 - values @ d / sums.n, _LEAST_FREE)
    diagonal = np.diag(sums.K).copy()
    return _Solved(values, vectors, turned, rest / free**2, diagonal, sums.squares, sums.n)


def _probes(sizes: list[int], levels: list[int]) -> list[int]:
    """Return levels that tell what is best for all, from the largest to the smallest."""
    by_size = sorted(range(len(levels)), key=lambda k: (-sizes[k], k))
    places = np.unique(np.linspace(0, len(by_size) - 1, _PROBES).astype(int))
    return [levels[by_size[k]] for k in places] if levels else []


def _pooled(found: Iterable[_Solved | None], strengths: Floats) -> Floats:
    """Return GCV of some levels together, for every strength."""
    curves = [one.gcv for one in found if one is not None]
    return np.sum(curves, axis=0) if curves else np.ones(len(strengths))


def _chosen(
    solved: _Solved, strengths: Floats, pooled: Floats
) -> tuple[Floats, Floats, float, Floats]:
    """Return β, v, s² and 1 / (λ + γ) of a level, which is its mean over strengths.

    Each has a weight by its likelihood: a choice would jump where the best ones are nearly equal.
    """
    n = solved.n
    score = n * np.log(solved.gcv) + _PRIOR_ROWS * np.log(pooled)
    weights = np.exp(-(score - score.min()) / 2)
    d = 1 / (solved.values[:, None] + strengths) @ (weights / weights.sum())
    degrees = float(solved.values @ d)
    free = max(1 - degrees / n, _LEAST_FREE)
    explained = solved.turned**2 @ (2 * d - solved.values * d**2)
    rest = max(solved.squares - float(explained), _LEAST_REST * solved.squares)
    unit = rest / (n * free)
    diagonal = solved.vectors**2 @ d
    # Off the diagonal some of it cancels: on average over the rows it shall be what it is.
    factor = degrees / max(float(diagonal @ solved.diagonal), 1e-300)
    beta = solved.vectors @ (solved.turned * d)
    return beta, unit * min(factor, 1.0) * diagonal, unit, d
