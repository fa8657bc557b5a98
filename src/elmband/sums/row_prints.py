"""Fingerprints of training rows, by which later rows are recognised.

A fingerprint is 64 bits made of the inputs and the targets of a row. A model keeps the smallest of
its training rows (a k-minimum-values sketch): they are a random sample of the different rows,
which any part of the rows can be asked about. Of later rows, those with a fingerprint in the same
range would be among them if training had seen them.
"""

from dataclasses import dataclass
from typing import Any, Self, TypeAlias

import numpy as np

from elmband.ground.arrays import Array, double, to_numpy
from elmband.sums.moments import Chunk, Moments
from elmband.sums.sample import mixed, sorted_apart

Prints: TypeAlias = np.ndarray[Any, np.dtype[np.uint64]]

# 8 KiB in a file; a fifth of as many rows as trained on meets about 200 of them.
MOST_PRINTS = 1024
_ODD = np.uint64(0x9E3779B97F4A7C15)
_SEED = 20_240_229
# Last bits of targets that are dropped: a transform on another device may differ in them. Four
# digits are left; with fewer, logarithms of salaries that differ by some percent would be equal.
_LAST_BITS = 10


@dataclass(frozen=True, eq=False)
class RowPrints(Moments):
    """The smallest different fingerprints of rows in ascending order, all of them if `complete`."""

    prints: Prints
    complete: bool

    def __add__(self, other: Self) -> Self:
        prints = np.concatenate([self.prints, other.prints])
        return type(self)(*_smallest(prints, complete=self.complete and other.complete))

    def seen(self, chunk: Chunk) -> "SeenRows":
        """Count which rows of a chunk can be compared, and which of them are among these."""
        prints = fingerprints(chunk)
        if not self.complete:
            prints = prints[prints <= self.prints[-1]]
        found = prints[np.isin(prints, self.prints)]
        hits = np.bincount(np.searchsorted(self.prints, found), minlength=len(self.prints))
        return SeenRows(int(chunk.X.shape[0]), len(prints), hits)


@dataclass(frozen=True, eq=False)
class SeenRows(Moments):
    """Numbers of rows: all, those that could be compared, and those that are equal to a known one.

    `hits` are the latter, for each fingerprint that training left.
    """

    n_rows: int
    n_compared: int
    hits: np.ndarray[Any, np.dtype[np.int64]]

    @property
    def n_found(self) -> int:
        """Number of rows that training saw."""
        return int(self.hits.sum())

    @property
    def n_repeated(self) -> int:
        """Number of these that are equal to each other as well."""
        return int(self.hits[self.hits > 1].sum())


def row_prints(chunk: Chunk) -> RowPrints:
    """Return the smallest fingerprints of a chunk of inputs and targets, weights aside."""
    return RowPrints(*_smallest(fingerprints(chunk), complete=True))


def fingerprints(chunk: Chunk) -> Prints:
    """Hash inputs X (n, d) in float32 and targets Y (n, m) to 64 bits a row.

    The same number in float64, in float32, in a file or on a device gives the same bits. Their
    linear form with random odd factors is mixed as in splitmix64.
    """
    Y = _bits(chunk.Y)
    Y = (Y + np.uint32(1 << _LAST_BITS - 1)) >> np.uint32(_LAST_BITS)
    words = np.concatenate([_bits(chunk.X), Y], axis=1).astype(np.uint64)
    # High bits tell small whole numbers apart, and a product carries only to higher ones.
    words *= _ODD
    words ^= words >> np.uint64(32)
    draws = np.random.default_rng(_SEED).integers(2**64, size=words.shape[1], dtype=np.uint64)
    return mixed(words @ (draws | np.uint64(1)))


def _bits(values: Array) -> np.ndarray[Any, np.dtype[np.uint32]]:
    """Return the bits of numbers in float32; both zeros have the same."""
    given = to_numpy(values) if str(values.dtype).endswith("float32") else to_numpy(double(values))
    with np.errstate(over="ignore", invalid="ignore"):
        return (given.astype(np.float32) + np.float32(0)).view(np.uint32)


def _smallest(prints: Prints, *, complete: bool) -> tuple[Prints, bool]:
    """Return the smallest different prints in order, and whether none was dropped."""
    found = sorted_apart(prints)
    return found[:MOST_PRINTS], complete and len(found) <= MOST_PRINTS
