"""Kinds of neurons, applied on any array library.

A function that is given preactivations may overwrite them: nothing else holds them. On NumPy that
saves a pass over memory, which costs as much as part of the matrix product.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Self, TypeAlias

import numpy as np

from elmband.engines import engine
from elmband.ground.arrays import Array, cast, namespace, place
from elmband.sums.marks import MarkedRows

Kind: TypeAlias = str | Callable[[Array], Array]
NeuronCounts: TypeAlias = int | Mapping[Any, int]


def _times(Z: Array, W: Array, marks: MarkedRows | None, out: Any = None) -> Array:
    """Return ZW, by the marks of rows where these are known; on NumPy in `out`."""
    if marks is not None:
        return marks.times(W, out)
    return Z @ W if out is None else np.matmul(Z, W, out=out)


# Numbers that stay near the processor while several functions are applied to them.
_NEAR = 16384
# Where exp(-2t) is this large, tanh t is -1 but for rounding.
_FAR = 80.0


def _tanh(T: Array) -> Array:
    if not isinstance(T, np.ndarray):
        return namespace(T).tanh(T)
    return _double_tanh(T) if T.dtype == np.float64 and T.ndim == 2 else np.tanh(T, out=T)


def _double_tanh(T: Array) -> Array:
    """Return tanh t = 2 / (1 + exp(-2t)) - 1 to rounding, in half the time of NumPy's own."""
    rows = max(_NEAR // max(int(T.shape[1]), 1), 1)
    for start in range(0, int(T.shape[0]), rows):
        part = T[start : start + rows]
        part *= -2.0
        np.minimum(part, _FAR, out=part)
        np.exp(part, out=part)
        part += 1.0
        np.divide(2.0, part, out=part)
        part -= 1.0
    return T


def _half_tanh(T: Array, bias: Array) -> Array:
    """Return the logistic function of 2 (T + bias), less one half.

    By way of tanh, which array libraries run several times faster.
    """
    T += bias
    T = _tanh(T)
    T *= 0.5
    return T


def _relu(T: Array) -> Array:
    return np.maximum(T, 0, out=T) if isinstance(T, np.ndarray) else namespace(T).clip(T, min=0.0)


PROJECTIONS: dict[str, Callable[[Array], Array]] = {
    "linear": lambda T: T,
    "tanh": _tanh,
    "relu": _relu,
}


def _squared_l2(Z: Array, C: Array) -> Array:
    xp = namespace(Z)
    squares = xp.sum(Z**2, axis=1)[:, None] + xp.sum(C**2, axis=0)[None, :] - 2 * (Z @ C)
    return xp.where(squares > 0, squares, xp.zeros_like(squares))


def _squared_l1(Z: Array, C: Array) -> Array:
    return sum(namespace(Z).abs(gap) for gap in _gaps(Z, C)) ** 2


def _squared_linf(Z: Array, C: Array) -> Array:
    xp = namespace(Z)
    largest = xp.zeros((Z.shape[0], C.shape[1]), dtype=Z.dtype, device=Z.device)
    for gap in _gaps(Z, C):
        largest = xp.maximum(largest, xp.abs(gap))
    return largest**2


def _gaps(Z: Array, C: Array) -> Any:
    """Differences to all centres, one input column at a time: memory stays (n, L)."""
    return (Z[:, k, None] - C[None, k, :] for k in range(Z.shape[1]))


SQUARED_DISTANCES: dict[str, Callable[[Array, Array], Array]] = {
    "rbf_l1": _squared_l1,
    "rbf_l2": _squared_l2,
    "rbf_linf": _squared_linf,
    "laplace": _squared_l2,
}

KINDS = ("linear", "tanh", "sigmoid", "relu", *SQUARED_DISTANCES)


@dataclass(frozen=True, eq=False)
class Neurons:
    """Neurons of one kind, on standardised inputs z.

    - linear, tanh, sigmoid, relu and a user's function φ: h = φ(zW + b). As many linear neurons
      as there are inputs pass the inputs through (W is the identity and b is zero).
    - rbf_l1, rbf_l2, rbf_linf: h = exp(-½ ‖z - c‖² / b²) in that norm, with centres c, the
      columns of W, taken from the training rows, and widths b.
    - laplace: h = exp(-‖z - c‖ / b), the same with a tip at c.

    `passes` tells that W is the identity and b zero. With a `metric` S (d, k) the last four kinds
    see zS instead of z.
    """

    kind: Kind
    weights: Array
    bias: Array
    passes: bool = False
    metric: Array | None = None

    @property
    def count(self) -> int:
        """Number of neurons."""
        return int(self.bias.shape[0])

    def __repr__(self) -> str:
        how = ", passed through" if self.passes else ""
        return f"Neurons({self.described}{how}; n_inputs={self.n_inputs})"

    @property
    def n_inputs(self) -> int:
        """Number of inputs that they see."""
        return int((self.weights if self.metric is None else self.metric).shape[0])

    @property
    def described(self) -> str:
        """Their number and kind in words."""
        return f"{self.count:,} {getattr(self.kind, '__name__', self.kind)}"

    def __call__(self, Z: Array, marks: MarkedRows | None = None) -> Array:
        """Return the outputs of these neurons, one column each."""
        if self.passes:
            return Z
        if self.kind == "laplace":
            return self._laplace(Z, marks)
        if self.metric is not None:
            Z = _times(Z, self.metric, marks)
        if self.kind == "rbf_l2":
            return self._gaussian(Z)
        if self.kind in SQUARED_DISTANCES:
            squares = SQUARED_DISTANCES[str(self.kind)](Z, self.weights)
            return namespace(Z).exp(-0.5 * squares / self.bias**2)
        weights, bias = self._inner
        return self._activated(Z @ weights, bias)

    def write(self, Z: Array, out: np.ndarray[Any, Any], marks: MarkedRows | None) -> None:
        """Write the outputs into columns of a NumPy array; rows may be known by their marks."""
        if self.passes or self.kind in SQUARED_DISTANCES:
            out[...] = self(Z, marks)
            return
        # Not in place: functions run much faster over whole arrays than over parts of rows.
        T = engine.scratch("T", out.shape, out.dtype)
        weights, bias = self._inner
        _times(Z, weights, marks, T)
        if self.kind == "sigmoid":
            np.add(_half_tanh(T, bias), 0.5, out=out)
        else:
            out[...] = self._activated(T, bias)

    @cached_property
    def _inner(self) -> tuple[Array, Array]:
        """Weights and bias within the function: those of a sigmoid are halved, exactly."""
        if self.kind != "sigmoid":
            return self.weights, self.bias
        return self.weights * 0.5, self.bias * 0.5

    def _activated(self, T: Array, bias: Array) -> Array:
        """Add the bias and apply the function; T may be overwritten."""
        if self.kind == "sigmoid":
            T = _half_tanh(T, bias)
            T += 0.5
            return T
        T += bias
        if isinstance(self.kind, str):
            return PROJECTIONS[self.kind](T)
        return self._own(self.kind, T)

    def _gaussian(self, Z: Array) -> Array:
        """Return exp(-½ ‖z - c‖² / b²), the exponent by a single product of wider matrices."""
        xp = namespace(Z)
        narrow = 1 / self.bias**2
        centres = xp.sum(self.weights**2, axis=0)
        wide = xp.concat([Z, xp.sum(Z**2, axis=1)[:, None], xp.ones_like(Z[:, :1])], axis=1)
        rows = [self.weights * narrow, -0.5 * narrow[None, :], (-0.5 * centres * narrow)[None, :]]
        exponent = wide @ xp.concat(rows, axis=0)
        return xp.exp(xp.clip(exponent, max=0.0))

    def _laplace(self, Z: Array, marks: MarkedRows | None) -> Array:
        """Return exp(-‖zS - c‖ / b), on NumPy in one array; S is the metric, where there is one."""
        xp = namespace(Z)
        inner = Z if self.metric is None else _times(Z, self.metric, marks)
        squares = inner @ (-2 * self.weights) if marks is None else marks.times(self._inwards)
        squares += xp.sum(inner**2, axis=1)[:, None]
        squares += xp.sum(self.weights**2, axis=0)
        if not isinstance(squares, np.ndarray):
            return xp.exp(xp.sqrt(xp.clip(squares, min=0.0)) / -self.bias)
        np.maximum(squares, 0, out=squares)
        np.sqrt(squares, out=squares)
        squares /= -self.bias
        return np.exp(squares, out=squares)

    @cached_property
    def _inwards(self) -> Array:
        """-2SC with centres C, whose product with z needs no zS in between."""
        return -2 * (self.weights if self.metric is None else self.metric @ self.weights)

    @staticmethod
    def _own(function: Callable[[Array], Array], preactivation: Array) -> Array:
        H = function(preactivation)
        if getattr(H, "shape", None) != preactivation.shape:
            raise ValueError(
                f"The neuron function {function!r} must return an array of the shape it is "
                f"given, {preactivation.shape}; it returned {getattr(H, 'shape', type(H))}."
            )
        return cast(H, preactivation.dtype)

    def to(self, like: Array, dtype: Any) -> Self:
        """Return the same neurons on the library and device of `like`."""
        weights, bias = place(self.weights, like, dtype), place(self.bias, like, dtype)
        metric = None if self.metric is None else place(self.metric, like, dtype)
        return replace(self, weights=weights, bias=bias, metric=metric)
