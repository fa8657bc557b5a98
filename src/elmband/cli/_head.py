"""A sample of the first rows of a table, to look at before a fit."""

from typing import Any, NamedTuple

import numpy as np

from elmband.ground.arrays import Array
from elmband.sources.encode.raw import Numbers, Raw, RawRows, Words
from elmband.sources.encode.read import read_column

_HEAD, _SAMPLE = 2**17, 10_000


class Head(NamedTuple):
    """At most 10,000 rows, spread evenly over the first 131,072: those of `parts` in `keep`."""

    parts: list[RawRows]
    keep: Array

    @property
    def names(self) -> list[str]:
        """Names of the columns."""
        return list(self.parts[0].columns)

    def column(self, name: str) -> list[Raw] | None:
        """Return a column as it was read, None where it cannot be."""
        try:
            return [read_column(part.columns[name]) for part in self.parts]
        except ValueError:
            return None

    def numbers(self, raws: list[Raw] | None) -> Array | None:
        """Return the numbers of a column in the sample, None where it holds anything else."""
        if raws is None or not all(isinstance(raw, Numbers) for raw in raws):
            return None
        found: Array = np.concatenate([raw.values for raw in raws])[self.keep]  # type: ignore[union-attr]
        return found

    def words(self, raws: list[Raw] | None) -> Array | None:
        """Return the text of a column in the sample, empty where missing; None for others."""
        if raws is None or not all(isinstance(raw, Words) for raw in raws):
            return None
        return np.concatenate([_words(raw) for raw in raws])[self.keep]

    def targets(self) -> Array | None:
        """Return targets as numbers; of classes, whether each is the most frequent one.

        None where any is missing, or all are equal.
        """
        raws = [part.target for part in self.parts if part.target is not None]
        if len(raws) < len(self.parts):
            return None
        y, words = self.numbers(raws), self.words(raws)
        if words is not None:
            levels, codes = np.unique(words, return_inverse=True)
            y = None if "" in levels else (codes == np.bincount(codes).argmax()).astype(np.float64)
        return y if y is not None and np.isfinite(y).all() and y.min() < y.max() else None


def head_of(rows: Any) -> Head:
    """Return a sample of the first rows of a scan."""
    parts: list[RawRows] = []
    n = 0
    for part in rows.raw_rows():
        parts.append(part)
        n += part.where.n_rows
        if n >= _HEAD:
            break
    return Head(parts, np.arange(0, n, -(-n // _SAMPLE)))


def _words(raw: Any) -> Array:
    return np.append(np.asarray(raw.levels, dtype=object), "").astype(str)[raw.codes]
