"""The rows that a stack is placed at and judged on, sampled from any number of rows.

A row is kept if the hash of its values is among the smallest: the sample depends on the rows
alone, not on their order, and the samples of two parts merge into that of the whole.
"""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Self

import numpy as np

from elmband.engines import engine
from elmband.ground.arrays import Array, double, namespace, place, to_numpy
from elmband.layers.hidden import FeatureMap, LayerSpec
from elmband.layers.member import Judged
from elmband.layers.views import Views, find_views
from elmband.stacks.kept_rows import GatheredRows, KeptRows, Keys
from elmband.sums.copies import takes_few_values
from elmband.sums.moments import Chunk
from elmband.sums.row_prints import RowPrints
from elmband.sums.rows import ArrayRows, Rows
from elmband.sums.sample import (
    RowSample,
    row_keys,
    taken,
    weighty,
    without_negligible,
)
from elmband.sums.scaling import Scaling
from elmband.sums.value_counts import ValueCounts

# Neurons are placed this far off the training rows, towards others: a row that a neuron sits on
# is predicted better than a new one, and would flatter the layer when left out.
_OFF_ROW = 0.15
# Errors that noise and multipliers are learned from come from γ and weights chosen on other folds.
_FOLDS = 5
_LEAST_FOLDED = 25
# Where columns are more than this share of the rows, near a row is nowhere but at that row.
_MANY_COLUMNS = 0.25
# Rows that views are learned from.
_VIEW_ROWS = 4000

# Binary digits of standardised targets beyond those of keys.
_TARGET_DIGITS = 20


@dataclass(frozen=True, eq=False)
class Distinct:
    """Rows of which each is met once, with the targets of the rows that it stands for.

    Equal rows have equal predictions, so they enter with their mean target and the sum of their
    weights; leaving one out leaves all of them out. Where inputs take few values, as categories do,
    equal rows are no copies of each other, and none are merged. `owner` tells the distinct row of
    every original one, `names` are random numbers of the distinct rows.
    """

    rows: Chunk
    Y: Array
    s: Array
    owner: np.ndarray[Any, np.dtype[np.int64]]
    names: Keys

    @classmethod
    def of(cls, rows: Chunk, keys: Keys, *, always: bool = False) -> Self:
        """Merge rows with equal keys, `always` or unless inputs take few values."""
        Y, s = double(rows.Y), row_weights(rows)
        names, owner = np.unique(keys, return_inverse=True)
        if len(names) == len(keys):
            return cls.unmerged(rows, keys)
        pairs = _with_targets(keys, to_numpy(Y))
        if not always and takes_few_values(len(keys), len(np.unique(pairs)), len(names)):
            return cls.unmerged(rows, _numbered(pairs))
        owner = owner.reshape(-1).astype(np.int64)
        weights = to_numpy(s)
        total = np.bincount(owner, weights)

        def means(array: Array) -> Array:
            columns = to_numpy(double(array)).T
            merged = [np.bincount(owner, weights * column) / total for column in columns]
            return place(np.stack(merged, axis=1), array)

        merged = Chunk(means(double(rows.X)), means(rows.Y), place(total, rows.Y))
        return cls(merged, Y, s, owner, names)

    @classmethod
    def unmerged(cls, rows: Chunk, keys: Keys) -> Self:
        """Take every row for itself."""
        return cls(rows, double(rows.Y), row_weights(rows), np.arange(rows.X.shape[0]), keys)

    @property
    def first(self) -> np.ndarray[Any, np.dtype[np.int64]]:
        """The first of the rows behind every distinct one."""
        found: np.ndarray[Any, np.dtype[np.int64]] = np.unique(self.owner, return_index=True)[1]
        return found


def _numbered(keys: Keys) -> Keys:
    """Return keys that are all different, whatever the order of the rows."""
    order = np.argsort(keys, kind="stable")
    _, start, counts = np.unique(keys[order], return_index=True, return_counts=True)
    rank = np.empty(len(keys))
    rank[order] = np.arange(len(keys)) - np.repeat(start, counts)
    return keys ^ row_keys(rank[:, None], 1)


def _with_targets(keys: Keys, Y: np.ndarray[Any, np.dtype[np.float64]]) -> Keys:
    """Return keys that differ where targets do as well."""
    more = row_keys(np.ldexp(Y, _TARGET_DIGITS), 0)
    return keys ^ ((more << np.uint64(17)) | (more >> np.uint64(47)))


@dataclass(frozen=True, eq=False)
class Pool:
    """All training rows, and a sample of them to draw and to judge members on.

    `distinct` are the sampled rows, `order` the one in which they are to be judged, `labels` of
    rows to leave out together. `n_distinct` counts the distinct rows of all. Weights of rows were
    divided by `weight`. Rows, or groups, are `worth` so many by the weights as given, and scores of
    rows count `factor` times. Targets may be `classes`. `values` are different targets of all rows,
    as far as they are few, and `prints` fingerprints of all rows. Neurons `may_narrow` to float32
    where that loses nothing.
    """

    rows: Rows
    distinct: Distinct
    order: Keys
    labels: np.ndarray[Any, Any] | None
    n_distinct: int
    centres: RowSample
    inputs: Scaling
    seed: int
    eps: float
    weight: float = 1.0
    worth: float = math.inf
    factor: float = 1.0
    classes: bool = False
    values: ValueCounts | None = None
    prints: RowPrints | None = None
    may_narrow: bool = False

    @cached_property
    def views(self) -> Views:
        """What inputs look like to neurons, by name."""
        rows = self._first_rows
        return find_views(self.inputs(rows.X), row_weights(rows))

    @property
    def _first_rows(self) -> Chunk:
        """Distinct rows of the sample, as many as views are to be learned from."""
        return taken(self.distinct.rows, _first(self.distinct.names, _VIEW_ROWS))

    @classmethod
    def of(
        cls,
        rows: Rows,
        inputs: Scaling,
        labels: Any,
        size: int,
        seed: int,
        eps: float,
        *,
        classes: bool = False,
    ) -> Self:
        """Sample `size` rows to place neurons at and as many others to judge them on.

        Equal rows, or rows with equal `labels`, are kept and left out together. With targets that
        are `classes` that is so even where inputs take few values: what is said of a row left out
        would else tell its class, as there are only so many things to be said.
        """
        if labels is not None:
            return cls._labelled(rows, inputs, labels, size, seed, eps)

        kept = _gathered(rows, inputs, 2 * size, seed)
        distinct = Distinct.of(kept.rows, kept.keys, always=classes)
        names, first = np.unique(kept.keys, return_index=True)
        Z = to_numpy(double(inputs(taken(kept.rows, first[:size]).X)))
        met = distinct.names
        order = ((met << np.uint64(32)) | (met >> np.uint64(32))) >> np.uint64(1)
        # Rows that neurons are placed at would flatter them: they are judged last.
        placed = kept.keys[distinct.first] <= names[:size][-1]
        last = placed.astype(np.uint64) << np.uint64(63)
        return cls(
            rows=rows,
            distinct=distinct,
            order=order | last,
            labels=None,
            n_distinct=max(kept.n_distinct, len(met)),
            centres=RowSample(size, names[:size], Z),
            inputs=inputs,
            seed=seed,
            eps=eps,
            classes=classes,
        )

    @classmethod
    def _labelled(
        cls, rows: Rows, inputs: Scaling, labels: Any, size: int, seed: int, eps: float
    ) -> Self:
        """Keep whole groups, in random order, until there are `size` rows."""
        _, numbers = np.unique(labels, return_inverse=True)
        shuffled = np.random.default_rng(seed).permutation(int(numbers.max()) + 1)
        order = shuffled[numbers.reshape(-1)].astype(np.uint64)
        index = _first(order, size)

        kept = _gathered(rows, inputs, size, seed)
        names, first = np.unique(kept.keys, return_index=True)
        Z = to_numpy(double(inputs(taken(kept.rows, first).X)))
        return cls(
            rows=rows,
            distinct=Distinct.unmerged(taken(rows.whole(), index), order[index]),
            order=order[index],
            labels=labels[index],
            n_distinct=len(rows),
            centres=RowSample(size, names, Z),
            inputs=inputs,
            seed=seed,
            eps=eps,
        )

    @property
    def training(self) -> Rows:
        """Rows to train on: the distinct ones where all are at hand, else all rows."""
        if int(self.distinct.rows.X.shape[0]) < self.n_distinct:
            return self.rows
        return ArrayRows.of(self.distinct.rows)

    def some(self, size: int) -> Callable[[Chunk], Chunk] | None:
        """Return what takes about so many of all rows from chunks, None where there are fewer.

        Rows are taken by the hashes of their inputs, those first that are judged.
        """
        if size >= self.n_distinct:
            return None
        limit = np.uint64(size / self.n_distinct * 2.0**64)

        def taken_rows(chunk: Chunk) -> Chunk:
            keys = row_hashes(chunk, self.inputs, self.seed)
            return taken(chunk, np.flatnonzero(keys <= limit))

        return taken_rows

    def judged(self, size: int) -> tuple[Judged, np.ndarray[Any, np.dtype[np.int64]]]:
        """Return about `size` rows, with whole labels, that depend on the rows alone.

        The second result is their positions among the distinct rows of the sample.
        """
        index = _first(self.order, size)
        chunk = taken(self.distinct.rows, index)
        labels = None if self.labels is None else self.labels[index]
        folds = None
        if len(index) >= _LEAST_FOLDED:
            folds = (self.order[index] % np.uint64(_FOLDS)).astype(np.int64)
        return Judged(chunk, row_weights(chunk), labels, folds), index

    def draw(self, spec: LayerSpec, number: int, *, narrow: bool = False) -> FeatureMap:
        """Draw the layer of member `number`, of float32 neurons if it is to be `narrow`."""
        chunk = self.distinct.rows
        hidden = spec.draw(int(chunk.X.shape[1]), self.seed + number, self._centres[spec.view])
        view = self.views[spec.view]
        features = FeatureMap(self.inputs, hidden, view).to(chunk.X, chunk.Y.dtype)
        return features.narrowed() if narrow else features

    @cached_property
    def _centres(self) -> Mapping[str, RowSample]:
        """Where neurons are placed in each view: near rows, or like rows where columns are many."""
        found = {}
        for name, view in self.views.items():
            rows = self.centres.rows
            sample = replace(self.centres, rows=rows if view is None else view(rows))
            many = rows.shape[1] > _MANY_COLUMNS * self.n_distinct
            found[name] = sample.mixed() if many else sample.near(_OFF_ROW)
        return found


def _gathered(rows: Rows, inputs: Scaling, size: int, seed: int) -> KeptRows:
    """Keep the rows with the smallest hashes of all rows."""

    def chunk_map(chunk: Chunk) -> GatheredRows:
        chunk = without_negligible(chunk)
        return GatheredRows((KeptRows(size, row_hashes(chunk, inputs, seed), chunk).cut(),))

    return engine.total(rows, chunk_map, "sample").whole


def weighty_rows(rows: Rows, labels: Any) -> tuple[Rows, Any]:
    """Drop rows in memory whose weight is next to nothing, with their labels.

    Sums hardly know them, but neurons would be placed at them, and folds count them. In a scan
    they are not sampled.
    """
    if not isinstance(rows, ArrayRows) or rows.s is None:
        return rows, labels
    index = weighty(rows.s)
    if len(index) == len(rows):
        return rows, labels
    if len(index) < 2:
        raise ValueError(
            "sample_weight leaves fewer than 2 rows with a weight that is not negligible beside "
            "the largest; give others more."
        )
    kept = ArrayRows.of(taken(rows.whole(), index), rows.chunk_size)
    return kept, None if labels is None else labels[index]


def row_hashes(chunk: Chunk, inputs: Scaling, seed: int) -> Keys:
    """Return a random number for every row of raw inputs, by their values alone."""
    return row_keys(to_numpy(double(inputs(chunk.X))), seed)


def _first(order: Keys, size: int) -> np.ndarray[Any, np.dtype[np.int64]]:
    """Return the positions of the rows that come first, `size` of them and what is equal."""
    if len(order) <= size:
        return np.arange(len(order))
    return np.flatnonzero(order <= np.partition(order, size - 1)[size - 1])


def row_weights(rows: Chunk) -> Array:
    """Return the weights of rows in float64, ones where there are none."""
    xp = namespace(rows.Y)
    return xp.ones_like(double(rows.Y[:, 0])) if rows.s is None else double(rows.s)
