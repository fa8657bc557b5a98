"""What local layers add to rows: a gather by level."""

import numpy as np

from elmband.ground.arrays import Array, to_numpy
from elmband.models.onnx_export._graph import DOUBLE, SINGLE, WHOLE, Tensor, joined, where
from elmband.models.onnx_export._hidden import layer_outputs
from elmband.stacks.levels import MARKED, BinLevels, Levels, MarkLevels
from elmband.stacks.local_layers import (
    FARTHEST,
    LEAST_FACTOR,
    MOST_FACTOR,
    LocalLayers,
    LocalNoise,
    SharedNeurons,
)


def local_mean(X: Tensor, layers: LocalLayers) -> Tensor:
    """Return the sum over stages of what they add to the mean, (n, 1)."""
    return _sum([_added(X, layers, stage.levels, stage.coef) for stage in layers.stages])


def local_variance(X: Tensor, layers: LocalLayers) -> Tensor:
    """Return the sum over stages of the variances of what they add, (n, 1)."""
    return _sum(
        [_added(X, layers, stage.levels, stage.variance, squared=True) for stage in layers.stages]
    )


def local_factor(X: Tensor, noise: LocalNoise) -> Tensor:
    """Return the factor of deviations of the noise, (n, 1)."""
    factor: Tensor | None = None
    for stage in noise.layers.stages:
        step = _added(X, noise.layers, stage.levels, stage.coef) + 1.0
        step = step.apply("Max", LEAST_FACTOR).apply("Min", MOST_FACTOR)
        factor = step if factor is None else factor * step
    assert factor is not None
    return factor


def _sum(parts: list[Tensor]) -> Tensor:
    total = parts[0]
    for part in parts[1:]:
        total = total + part
    return total


def _added(
    X: Tensor, layers: LocalLayers, levels: Levels, table: Array, *, squared: bool = False
) -> Tensor:
    """Return the product of shared outputs, or of their squares, with the row of a level."""
    coef = to_numpy(table).astype(SINGLE)
    z = _shared_outputs(X, layers.shared, coef.shape[1] - 1)
    rows = X.graph.constant(coef).apply("Gather", _places(X, levels), axis=0)
    product = (z * z if squared else z) * rows
    return product.reduced("ReduceSum").to(DOUBLE)


def _shared_outputs(X: Tensor, shared: SharedNeurons, count: int) -> Tensor:
    """Return (1, (h - c) U) with the first columns of U, in float32."""
    mean, scale = to_numpy(shared.inputs.mean), to_numpy(shared.inputs.scale)
    Z = (X.to(DOUBLE) - mean.astype(DOUBLE)) / scale.astype(DOUBLE)
    Z = Z.apply("Max", -FARTHEST).apply("Min", FARTHEST).to(SINGLE)
    H = layer_outputs(Z, shared.hidden) - to_numpy(shared.centre).astype(SINGLE)
    turned = H @ to_numpy(shared.basis)[:, :count].astype(SINGLE)
    ones = turned.columns(0, 1) * 0.0 + 1.0
    return joined([ones, turned])


def _places(X: Tensor, levels: Levels) -> Tensor:
    """Return the level of every row, (n,), as `Levels.places` does."""
    if isinstance(levels, MarkLevels):
        marks = X.columns(levels.start, levels.stop)
        found = marks.apply("ArgMax", dtype=WHOLE, axis=1, keepdims=0)
        known = -(marks.reduced("ReduceMax").flat() < MARKED).to(WHOLE) + 1
        return _or_none(found, known, levels.n_levels)
    assert isinstance(levels, BinLevels)
    x = X.columns(levels.column, levels.column + 1).to(DOUBLE)
    # Whole numbers are counted in float64: reductions of integers are not known everywhere.
    begun = (-(x < levels.edges[None, :]).to(DOUBLE) + 1.0).reduced("ReduceSum").flat()
    below = (x < levels.edges[0]).flat().to(DOUBLE)
    above = (x > levels.edges[-1]).flat().to(DOUBLE)
    found = (begun - 1.0).apply("Max", 0.0).apply("Min", levels.n_levels - 1.0)
    known = 1.0 - below - above
    # What is not a number is on neither side.
    lost = x.apply("IsNaN", dtype=np.dtype(np.bool_)).flat().to(DOUBLE)
    return _or_none(found.to(WHOLE), (known - lost).to(WHOLE), levels.n_levels)


def _or_none(found: Tensor, known: Tensor, n_levels: int) -> Tensor:
    """Return levels that are known, else one past the last."""
    return where(known > 0, found, n_levels)
