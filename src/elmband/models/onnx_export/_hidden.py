"""Hidden layers as operators."""

from collections.abc import Callable

import numpy as np

from elmband.ground.arrays import to_numpy
from elmband.layers.hidden import FARTHEST, FeatureMap, HiddenLayer
from elmband.layers.neurons import Neurons
from elmband.models.onnx_export._graph import Tensor, joined
from elmband.models.onnx_export._views import viewed

_FUNCTIONS = {"tanh": "Tanh", "sigmoid": "Sigmoid", "relu": "Relu"}


def hidden_outputs(X: Tensor, features: FeatureMap) -> Tensor:
    """Return H (n, L) of raw inputs X (n, d), in the dtype of the layer."""
    inputs = features.inputs
    Z = (X.to(to_numpy(inputs.mean).dtype) - inputs.mean) / inputs.scale
    if features.view is not None:
        Z = viewed(Z, features.view)
    # Other libraries have dtypes of their own, by the same names.
    narrow = np.dtype(str(features.dtype).rpartition(".")[-1])
    if narrow != Z.dtype:
        Z = Z.apply("Max", -FARTHEST).apply("Min", FARTHEST).to(narrow)
    return layer_outputs(Z, features.hidden)


def layer_outputs(Z: Tensor, hidden: HiddenLayer) -> Tensor:
    """Return H (n, L) of what neurons see of rows."""
    return joined([_neurons(Z, block) for block in hidden.blocks])


def _neurons(Z: Tensor, block: Neurons) -> Tensor:
    """Return the outputs of neurons of one kind, one column each."""
    if block.passes:
        return Z
    if not isinstance(block.kind, str):
        raise ValueError(
            f"The neuron function {block.kind!r} is your own, which operators of ONNX cannot "
            "express; train with kinds that have a name."
        )
    if block.kind in _DISTANCES:
        seen: Tensor = Z if block.metric is None else Z @ block.metric
        return _DISTANCES[block.kind](seen, block)
    T = Z.apply("Gemm", block.weights, block.bias)
    return T.apply(_FUNCTIONS[block.kind]) if block.kind in _FUNCTIONS else T


def _gaussian(Z: Tensor, block: Neurons) -> Tensor:
    """Return exp(-½ ‖z - c‖² / b²), the exponent by a single product of wider matrices."""
    weights, bias = to_numpy(block.weights), to_numpy(block.bias)
    narrow = 1 / bias**2
    rows = np.concatenate([weights * narrow, -0.5 * narrow[None, :]])
    wide = joined([Z, Z.reduced("ReduceSumSquare")])
    exponent = wide.apply("Gemm", rows, -0.5 * np.sum(weights**2, axis=0) * narrow)
    return exponent.apply("Min", 0.0).apply("Exp")


def _laplace(Z: Tensor, block: Neurons) -> Tensor:
    """Return exp(-‖z - c‖ / b), summed up in the order of Python: a root magnifies rounding."""
    weights = to_numpy(block.weights)
    squares: Tensor = Z @ (-2 * weights) + Z.reduced("ReduceSumSquare") + np.sum(weights**2, axis=0)
    return (squares.apply("Max", 0.0).apply("Sqrt") / -to_numpy(block.bias)).apply("Exp")


def _exponential(op: str) -> Callable[[Tensor, Neurons], Tensor]:
    """Return neurons of a norm that gathers |z_k - c_k| of the inputs k by an operator."""

    def neurons(Z: Tensor, block: Neurons) -> Tensor:
        centres = to_numpy(block.weights)
        norm: Tensor | None = None
        # One input at a time: memory stays (n, L).
        for z, row in zip(Z.split(len(centres)), centres, strict=True):
            gap = (z - row[None, :]).apply("Abs")
            norm = gap if norm is None else norm.apply(op, gap)
        assert norm is not None
        return (norm * norm * -0.5 / to_numpy(block.bias) ** 2).apply("Exp")

    return neurons


_DISTANCES: dict[str, Callable[[Tensor, Neurons], Tensor]] = {
    "rbf_l1": _exponential("Add"),
    "rbf_l2": _gaussian,
    "rbf_linf": _exponential("Max"),
    "laplace": _laplace,
}
