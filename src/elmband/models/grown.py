"""Models that grow: rows added later, and models trained apart put together.

All that the mean needs of the rows are sums, so sums of more rows are a model of more rows, as
long as hidden layer and scalings stay. Noise, covariance and calibration depend on the weights
that come out at the end, and have to be refreshed.
"""

from typing import Any, NamedTuple
from zlib import crc32

import numpy as np

from elmband.engines import engine
from elmband.ground.arrays import double, namespace, to_numpy
from elmband.layers.hidden import FeatureMap, HiddenLayer
from elmband.layers.output_layer import AlphaRule, RidgeProblem
from elmband.stacks.kept_rows import KeptRows
from elmband.sums.moments import Chunk, Count, Gram, Several, TargetSums, gram
from elmband.sums.rows import Rows, RowScaling
from elmband.sums.scaling import Scaling
from elmband.uncertainty.mean import MeanModel, draw_hidden, in_mean_weights, standardised
from elmband.uncertainty.noise.sampled import squares_of

# Relative difference of sums of squares that rounding alone may make.
_SAME_TARGETS = 1e-3
# Rows of which the values are kept: multipliers of 95 % intervals are then known to 0.75 %.
_KEPT_ROWS = 16_384


class Grown(NamedTuple):
    """A single layer with the sums of all rows so far, and a sample of them.

    `sums` is None before the first row; `sample` is None where none was taken, and so is `noise`:
    sums of the squared residuals that rows had when they were added. All have the weights that
    rows were given; `n_rows` is the number of these rows, 0 where it is not known.
    """

    inputs: Scaling
    targets: Scaling
    hidden: HiddenLayer
    features: FeatureMap
    eps: float
    sums: Gram | None = None
    sample: KeptRows | None = None
    noise: TargetSums | None = None
    n_rows: float = 0.0

    @classmethod
    def begin(cls, rows: Rows, spec: Any, dtype: Any, eps: float, seed: int) -> "Grown":
        """Draw the layer; the first rows decide on scalings, for all that follow."""
        scaled = standardised(rows, dtype)
        hidden = draw_hidden(scaled.rows, scaled.inputs, spec, seed)
        features = FeatureMap(scaled.inputs, hidden).to(rows.like, dtype)
        return cls(scaled.inputs, scaled.targets, hidden, features, eps)

    @classmethod
    def of(cls, mean: MeanModel) -> "Grown":
        """Go on from a fitted mean."""
        sums = mean.sums
        if sums is None:
            sums = engine.total(mean.rows, lambda chunk: gram(mean.features(chunk)), "sums")
        return cls(
            mean.inputs,
            mean.targets,
            mean.hidden,
            mean.features,
            mean.eps,
            sums.times(mean.weight),
            n_rows=sums.n,
        )

    def emptied(self) -> "Grown":
        """Return the layer without rows."""
        return self._replace(sums=None, sample=None, noise=None, n_rows=0.0)

    def plus(self, rows: Rows, seed: int) -> "Grown":
        """Add rows whose targets are not scaled yet."""
        scaled = rows.scaled(RowScaling(self.targets), self.features.inputs.mean.dtype)

        def chunk_map(chunk: Chunk) -> Several:
            count = Count(float(chunk.X.shape[0]))
            return Several((gram(self.features(chunk)), _kept(chunk, seed), count))

        sums, sample, count = engine.total(scaled, chunk_map, "sums").parts
        return self.joined(self._replace(sums=sums, sample=sample, noise=None, n_rows=count.n))

    def with_noise(self, before: TargetSums | None, mean: MeanModel, rows: Rows) -> "Grown":
        """Add the squared residuals of the last rows to those `before` them.

        They are the residuals of a mean that knows all rows so far. With more rows to come it
        moves by little, and takes away less of the noise: as much as neurons are of the rows.
        """
        scaled = rows.scaled(RowScaling(self.targets), self.features.inputs.mean.dtype)
        found = _times(squares_of(mean, scaled), 1 / self.freedom)
        return self._replace(noise=found if before is None else before + found)

    @property
    def freedom(self) -> float:
        """The share of the noise that residuals keep."""
        assert self.sums is not None
        return max(1 - self.hidden.n_neurons * self.weight / self.sums.n, 0.5)

    @property
    def weight(self) -> float:
        """The mean weight of a row."""
        return self.sums.n / self.n_rows if self.sums is not None and self.n_rows else 1.0

    @property
    def squares(self) -> TargetSums | None:
        """Sums of squared residuals as the mean of all rows would leave them.

        Weights have a mean of one, as everywhere where something is estimated.
        """
        if self.noise is None:
            return None
        return _times(self.noise, self.freedom).times(1 / self.weight)

    @property
    def kept(self) -> Chunk | None:
        """The sampled rows, with weights of mean one over all rows."""
        if self.sample is None:
            return None
        rows = self.sample.rows
        return rows if rows.s is None else rows._replace(s=rows.s / self.weight)

    def joined(self, other: "Grown") -> "Grown":
        """Return the layer with the rows of both."""
        if self.sums is None or other.sums is None:
            return other if self.sums is None else self
        sample, noise = None, None
        if self.sample is not None and other.sample is not None:
            sample = self.sample + other.sample
        if self.noise is not None and other.noise is not None:
            noise = self.noise + other.noise
        # Sums of an earlier version do not tell how many rows they are of.
        n_rows = self.n_rows + other.n_rows if self.n_rows and other.n_rows else 0.0
        return self._replace(sums=self.sums + other.sums, sample=sample, noise=noise, n_rows=n_rows)

    def same_layer(self, other: "Grown") -> bool:
        """Whether hidden layer and scalings are the same."""
        mine, theirs = (
            [g.inputs.mean, g.inputs.scale, g.targets.mean, g.targets.scale]
            + [a for block in g.hidden.blocks for a in (block.weights, block.bias)]
            for g in (self, other)
        )
        kinds = [[block.kind for block in g.hidden.blocks] for g in (self, other)]
        return kinds[0] == kinds[1] and all(
            np.array_equal(to_numpy(a), to_numpy(b)) for a, b in zip(mine, theirs, strict=True)
        )

    def mean_model(self, rows: Rows, rule: AlphaRule) -> MeanModel:
        """Solve for the mean; `rows` are those that a second stage would go on with."""
        assert self.sums is not None
        problem = RidgeProblem(rows, self.features, self.hidden.n_neurons, self.eps)
        sums = self.sums.times(1 / self.weight)
        layer = problem.solve(in_mean_weights("gcv" if rule == "auto" else rule, self.weight), sums)
        return MeanModel(
            rows,
            self.inputs,
            self.targets,
            self.hidden,
            self.features,
            sums,
            layer,
            self.eps,
            weight=self.weight,
        )

    def scaled(self, rows: Rows, weight: float) -> Rows:
        """Return rows with a mean weight of `weight` as the second stage goes on with them."""
        scaling = RowScaling(self.targets, weight)
        return rows.scaled(scaling, self.features.inputs.mean.dtype)


def _times(sums: TargetSums, factor: float) -> TargetSums:
    """Return the sums of targets that are larger by a factor."""
    return TargetSums(sums.n, factor * sums.HtY, factor**2 * sums.YtY)


def check_growing_rule(rule: AlphaRule) -> None:
    """Refuse leave-one-out, which would need all rows again."""
    if rule == "loo":
        raise ValueError(
            "alpha='loo' needs all rows at once; with partial_fit choose 'auto', 'gcv' or a number."
        )


def in_own_mean_weights(given: Rows, grown: Grown) -> Rows:
    """Return rows scaled as the mean knows them, with weights divided by their own mean.

    A common factor may be another one than `partial_fit` was given.
    """

    def weights(chunk: Chunk) -> Several:
        return Several((Count(float(chunk.n)), Count(float(chunk.X.shape[0]))))

    total, count = engine.total(grown.scaled(given, 1.0), weights, "rows").parts
    return grown.scaled(given, total.n / count.n)


def same_rows(given: Rows, grown: Grown) -> Rows:
    """Return the rows scaled for the second stage; refuse others than the mean was trained on.

    These are told by their number and their targets. Of weights only ratios matter: a common
    factor may be another one than `partial_fit` was given.
    """
    assert grown.sums is not None

    def squares(chunk: Chunk) -> Several:
        YtY = namespace(chunk.Y).sum(double(chunk.weighted[1]) ** 2, axis=0)
        return Several((TargetSums(chunk.n, 0 * YtY, YtY), Count(float(chunk.X.shape[0]))))

    found, count = engine.total(grown.scaled(given, 1.0), squares, "rows").parts
    # Sums of an earlier version tell the weight of all rows only.
    here, there = (count.n, grown.n_rows) if grown.n_rows else (found.n, grown.sums.n)
    if abs(here - there) > 1e-6 * there:
        raise ValueError(
            f"The mean was trained on {there:g} rows, these are {here:g}; give refresh all "
            "rows that partial_fit was given, and no others."
        )
    weight = found.n / here
    expected = grown.sums.YtY / grown.weight
    if not np.allclose(to_numpy(found.YtY / weight), to_numpy(expected), rtol=_SAME_TARGETS):
        raise ValueError(
            "The mean was trained on rows with other targets, or with weights in other ratios; "
            "give refresh all rows that partial_fit was given, and no others."
        )
    return grown.scaled(given, weight)


def _kept(chunk: Chunk, seed: int) -> KeptRows:
    """Return a uniform sample of the rows of a chunk, with random keys.

    All values decide on the keys: rows of two chunks share a key only where the chunks are equal.
    """
    sums = (crc32(to_numpy(values).tobytes()) for values in (chunk.X, chunk.Y))
    rng = np.random.default_rng([seed, *sums])
    keys = rng.integers(2**64, size=int(chunk.X.shape[0]), dtype=np.uint64)
    return KeptRows(_KEPT_ROWS, keys, chunk).cut()
