"""Samples of rows.

Some are of distinct rows and depend on the rows alone, not on their order or chunks. Another is
of all rows, drawn within each chunk, and costs next to nothing.
"""

from dataclasses import dataclass
from typing import Any, Self, TypeAlias

import numpy as np

from elmband.ground.arrays import Array, double, namespace, place, to_numpy
from elmband.sums.marks import MarkedRows
from elmband.sums.moments import Chunk, Moments
from elmband.sums.scaling import Scaling

Floats: TypeAlias = np.ndarray[Any, np.dtype[np.float64]]
Keys: TypeAlias = np.ndarray[Any, np.dtype[np.uint64]]

# Rows that agree to this many binary digits of their standardised values count as one row, so
# that rounding (another summation order, another unit) cannot change the sample.
_DIGITS = 20
# Numbers of a part of the rows that fits the cache of a processor.
_NEAR = 12_288
# Rows of less than this share of the mean weight, the root of float64's epsilon, are negligible:
# together they have less than that share of the weight, but neurons would be placed at them.
_NEGLIGIBLE = 2.0**-26
# Rows that are mixed for each row of `mixed`.
_MIXED = 32


@dataclass(frozen=True, eq=False)
class RowSample(Moments):
    """The `size` distinct rows with the smallest keys, in order of their keys.

    A key is a seeded hash of the row's own values, so the sample is uniform over distinct rows,
    and the samples of two parts merge into the sample of the whole.
    """

    size: int
    keys: np.ndarray[Any, np.dtype[np.uint64]]
    rows: np.ndarray[Any, np.dtype[np.float64]]

    def cycled(self, start: int, count: int) -> np.ndarray[Any, np.dtype[np.float64]]:
        """Return `count` rows from position `start` on, from the first again after the last."""
        return self.rows[(start + np.arange(count)) % len(self.rows)]

    def near(self, share: float) -> Self:
        """Return the sample with each row moved by `share` of the way to another row of it."""
        others = np.roll(self.rows, len(self.rows) // 2 + 1, axis=0)
        return type(self)(self.size, self.keys, self.rows + share * (others - self.rows))

    def mixed(self) -> Self:
        """Return the sample with each row replaced by a random mixture of many others.

        They have the mean and the covariance of the rows, on average, and sit on none of them.
        """
        mean = self.rows.mean(axis=0)
        draws = np.random.default_rng(len(self.rows)).standard_normal((_MIXED, len(self.rows), 1))
        total = np.zeros_like(self.rows)
        for k, draw in enumerate(draws):
            total += draw * np.roll(self.rows - mean, k + 1, axis=0)
        return type(self)(self.size, self.keys, mean + total / _MIXED**0.5)

    def __add__(self, other: Self) -> Self:
        keys = np.concatenate([self.keys, other.keys])
        rows = np.concatenate([self.rows, other.rows])
        keys, first = np.unique(keys, return_index=True)
        return type(self)(self.size, keys[: self.size], rows[first[: self.size]])


def weighty(s: Array) -> np.ndarray[Any, np.dtype[np.int64]]:
    """Return the positions of rows whose weight is not negligible beside the mean of all."""
    weights = to_numpy(double(s))
    return np.flatnonzero(weights > _NEGLIGIBLE * weights.mean())


def without_negligible(rows: Chunk) -> Chunk:
    """Drop rows of negligible weight from a chunk whose weights were divided by their mean."""
    if rows.s is None or bool(namespace(rows.s).all(rows.s > _NEGLIGIBLE)):
        return rows
    return taken(rows, np.flatnonzero(to_numpy(rows.s) > _NEGLIGIBLE))


def sample_rows(Z: Array, size: int, seed: int, n_keys: int | None = None) -> RowSample:
    """Sample from one chunk of standardised rows, by the first `n_keys` columns or by all."""
    rows = to_numpy(double(Z))
    keys, first = np.unique(row_keys(rows[:, :n_keys], seed), return_index=True)
    return RowSample(size, keys[:size], rows[first[:size]])


def row_keys(rows: Floats, seed: int) -> Keys:
    """Hash rounded rows to 64 bits: a random linear form, then the mixing of splitmix64."""
    offset, factors = _form(rows.shape[1], seed)
    return mixed(offset + _forms(rows, factors))


def hashes(X: Array, inputs: Scaling, seed: int) -> Keys:
    """Return the keys of standardised rows of X.

    Sums of whole numbers are exact: those of rows with marks are the same, mark by mark.
    """
    marks = MarkedRows.of(X) if isinstance(X, np.ndarray) else None
    if marks is None:
        return row_keys(to_numpy(double(inputs(X))), seed)
    offset, factors = _form(X.shape[1], seed)
    of_marks = inputs.only(marks.marked)
    low, high = (_words(double(of_marks(ends[None, :])))[0] for ends in (marks.low, marks.high))
    of_mark = np.append((high - low) * factors[marks.marked], np.uint64(0))
    others = double(inputs.only(marks.others)(X[:, marks.others]))
    found = _forms(others, factors[marks.others]) + low @ factors[marks.marked]
    for places in marks.places.T:
        found += of_mark[places]
    if len(marks.strange):
        found[marks.strange] = _forms(double(inputs(X[marks.strange])), factors)
    return mixed(offset + found)


def _form(d: int, seed: int) -> tuple[np.uint64, Keys]:
    """Draw the offset and the odd factors of a linear form of d columns."""
    draws = np.random.default_rng(seed).integers(2**64, size=d + 1, dtype=np.uint64)
    return draws[0], draws[1:] | np.uint64(1)


def _forms(rows: Floats, factors: Keys) -> Keys:
    """Return the linear form of every rounded row."""
    n, d = rows.shape
    forms = np.empty(n, np.uint64)
    # A few rows at a time: fresh memory for all of them would take longer than the arithmetic.
    step = max(_NEAR // max(d, 1), 1)
    for start in range(0, n, step):
        forms[start : start + step] = _words(rows[start : start + step]) @ factors
    return forms


def _words(rows: Floats) -> Keys:
    """Return rounded numbers as whole ones."""
    part = np.clip(rows, -1e9, 1e9)
    part *= 2.0**_DIGITS
    return np.rint(part, out=part).astype(np.int64).view(np.uint64)


def mixed(words: np.ndarray[Any, np.dtype[np.uint64]]) -> np.ndarray[Any, np.dtype[np.uint64]]:
    """Spread what words differ in over all of their bits, by the mixing of splitmix64."""
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
        words = (words ^ (words >> np.uint64(shift))) * np.uint64(factor)
    return words ^ (words >> np.uint64(31))


def sorted_apart(
    keys: np.ndarray[Any, np.dtype[np.uint64]],
) -> np.ndarray[Any, np.dtype[np.uint64]]:
    """Return different keys in their order: `np.unique` takes several times as long."""
    ordered = np.sort(keys)
    return ordered[np.concatenate([[True], ordered[1:] != ordered[:-1]])] if len(keys) else ordered


@dataclass(frozen=True, eq=False)
class SampledRows(Moments):
    """Some rows of every chunk, in the order of the chunks."""

    chunks: tuple[Chunk, ...]

    def joined(self) -> Chunk:
        """Return them as one chunk."""
        xp = namespace(self.chunks[0].X)
        columns = zip(*self.chunks, strict=True)
        return Chunk(*(None if a[0] is None else xp.concat(list(a), axis=0) for a in columns))


def sampled(rows: Chunk, share: float, seed: int) -> SampledRows:
    """Draw a share of the rows of a chunk; which ones depends on its first row and on the seed."""
    n = int(rows.X.shape[0])
    rng = chunk_rng(rows, seed)
    count = int(share * n + rng.random())
    index = np.sort(rng.permutation(n)[: max(count, 1)])
    return SampledRows((taken(rows, index),))


def distinct_rows(rows: Chunk, inputs: Scaling, size: int, seed: int) -> Chunk:
    """Return about `size` distinct rows of very many, with the weight of those like each of them.

    Their keys are hashes of one random linear form of inputs and targets, which costs next to
    nothing; where that meets too few distinct rows, equal ones are many, and all keys are sorted.
    """
    n, d = (int(length) for length in rows.X.shape)
    xp = namespace(rows.X)
    form = np.random.default_rng(seed).standard_normal(d + int(rows.Y.shape[1]))
    factors = place(form[:d], rows.X, xp.float64) / double(inputs.scale)
    values = double(rows.X) @ factors - double(inputs.mean) @ factors
    values = to_numpy(values) + to_numpy(double(rows.Y)) @ form[d:]
    keys = row_keys(values[:, None], seed)
    order = np.arange(n)
    if n > size:
        order = np.flatnonzero(keys <= np.partition(keys, size - 1)[size - 1])
        if len(np.unique(keys[order])) < size // 2:
            order = np.arange(n)
    names, first, owner = np.unique(keys[order], return_index=True, return_inverse=True)
    s = np.ones(n) if rows.s is None else to_numpy(double(rows.s))
    weights = np.bincount(owner.reshape(-1), s[order], len(names))[:size]
    kept = taken(rows, order[first[:size]])
    return kept._replace(s=place(weights, rows.Y))


def taken(rows: Chunk, index: np.ndarray[Any, Any]) -> Chunk:
    """Return the rows at these positions."""
    xp = namespace(rows.X)
    where = place(index, rows.X, xp.int64)
    return Chunk(*(None if a is None else xp.take(a, where, axis=0) for a in rows))


def chunk_rng(rows: Chunk, seed: int) -> np.random.Generator:
    """Return random numbers for a chunk, which depend on its first row and on the seed."""
    first = np.ascontiguousarray(to_numpy(rows.X[0, :])).tobytes()[:32].ljust(32, b"\0")
    return np.random.default_rng([seed, *np.frombuffer(first, np.uint32).tolist()])
