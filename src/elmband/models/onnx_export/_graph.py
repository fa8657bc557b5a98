"""A graph of operators that is put together by writing arithmetic on its tensors.

Nothing here needs the onnx package. Equal constants are stored once, and equal operations on equal
tensors are one node: what a model computes in several places, or holds several times, costs once.
"""

from dataclasses import dataclass
from hashlib import sha256
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from elmband.ground.arrays import Array, to_numpy

Attribute: TypeAlias = int | str | np.dtype[Any] | tuple[int, ...] | tuple[str, ...]

DOUBLE = np.dtype(np.float64)
SINGLE = np.dtype(np.float32)
WHOLE = np.dtype(np.int64)
BOOL = np.dtype(np.bool_)

# From this version on all reductions take their axes as an input, not only sums.
_AXES_AS_INPUT = 18


class Node(NamedTuple):
    """One operation, of the standard set unless its attributes name a domain."""

    op: str
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    attributes: tuple[tuple[str, Attribute], ...]


class Port(NamedTuple):
    """An input or an output of the graph; text in its shape names lengths that may vary."""

    name: str
    dtype: np.dtype[Any]
    shape: tuple[int | str, ...]
    text: str


class Graph:
    """Nodes in the order of computation, constants by name, inputs and outputs."""

    def __init__(self, opset: int) -> None:
        self.opset = opset
        self.inputs: list[Port] = []
        self.outputs: list[Port] = []
        self._nodes: list[Node] = []
        self._constants: dict[str, np.ndarray[Any, Any]] = {}
        self._defaults: set[str] = set()
        self._taken: set[str] = set()
        self._known: dict[Any, tuple[str, ...]] = {}

    def input(self, port: Port, default: Any = None) -> "Tensor":
        """Add an input; one with a default may be left out by whoever runs the graph."""
        self.inputs.append(port)
        self._taken.add(port.name)
        if default is not None:
            self._constants[port.name] = np.asarray(default, dtype=port.dtype)
            self._defaults.add(port.name)
        return Tensor(self, port.name, port.dtype)

    def output(self, name: str, tensor: "Tensor", shape: tuple[int | str, ...], text: str) -> None:
        """Hand a tensor out under this name."""
        self._nodes.append(Node("Identity", (tensor.name,), (name,), ()))
        self.outputs.append(Port(name, tensor.dtype, shape, text))

    def constant(self, values: Array, dtype: np.dtype[Any] | None = None) -> "Tensor":
        """Return numbers or text, of any array library, as a tensor."""
        array = to_numpy(values)
        array = np.ascontiguousarray(array if dtype is None else array.astype(dtype, copy=False))
        array = array.reshape(np.shape(values))
        text = array.dtype.kind not in "fiub"
        content = repr(array.tolist()).encode() if text else array.tobytes()
        key = array.dtype.str, array.shape, sha256(content).digest()
        if key not in self._known:
            name = self._free(f"constant_{len(self._constants)}")
            self._constants[name] = array
            self._known[key] = (name,)
        return Tensor(self, self._known[key][0], array.dtype)

    def add(
        self, op: str, inputs: tuple["Tensor", ...], count: int = 1, **attributes: Any
    ) -> tuple[str, ...]:
        """Add a node with `count` outputs, unless there is one like it; return their names."""
        names = tuple(tensor.name for tensor in inputs)
        key = op, names, tuple(sorted(attributes.items()))
        if key not in self._known:
            start = f"{op.lower()}_{len(self._nodes)}"
            several = [f"{start}_{k}" for k in range(count)] if count > 1 else [start]
            outputs = tuple(map(self._free, several))
            self._nodes.append(Node(op, names, outputs, key[2]))
            self._known[key] = outputs
        return self._known[key]

    def _free(self, name: str) -> str:
        """Return a name that no input has: those of columns may be anything."""
        while name in self._taken:
            name = f"_{name}"
        return name

    def used(self) -> tuple[list[Node], dict[str, np.ndarray[Any, Any]]]:
        """Return the nodes and constants that outputs depend on, and defaults of inputs."""
        needed = {port.name for port in self.outputs} | self._defaults
        nodes = []
        for node in reversed(self._nodes):
            if needed.intersection(node.outputs):
                needed.update(node.inputs)
                nodes.append(node)
        constants = {name: a for name, a in self._constants.items() if name in needed}
        return nodes[::-1], constants


@dataclass(frozen=True, eq=False)
class Tensor:
    """A value within a graph. Numbers beside it become constants of its dtype."""

    graph: Graph
    name: str
    dtype: np.dtype[Any]

    def apply(
        self, op: str, *others: Any, dtype: np.dtype[Any] | None = None, **attributes: Any
    ) -> "Tensor":
        """Return what an operator makes of this tensor and others; its dtype, unless given."""
        inputs = (self, *(self.beside(other) for other in others))
        (name,) = self.graph.add(op, inputs, **attributes)
        return Tensor(self.graph, name, self.dtype if dtype is None else dtype)

    def beside(self, value: Any) -> "Tensor":
        """Return a tensor as it is, and anything else as a constant of the dtype of this one."""
        return value if isinstance(value, Tensor) else self.graph.constant(value, self.dtype)

    def whole(self, *values: int) -> "Tensor":
        """Return a list of whole numbers, which operators take as an input."""
        return self.graph.constant(np.asarray(values, dtype=WHOLE))

    def __add__(self, other: Any) -> "Tensor":
        return self.apply("Add", other)

    def __sub__(self, other: Any) -> "Tensor":
        return self.apply("Sub", other)

    def __mul__(self, other: Any) -> "Tensor":
        if _is_dropped(other):
            return self.apply("Mul", 2 * other).apply("Mul", 0.5)
        return self.apply("Mul", other)

    def __truediv__(self, other: Any) -> "Tensor":
        if _is_dropped(other):
            return self.apply("Div", 2 * other).apply("Mul", 2.0)
        return self.apply("Div", other)

    def __matmul__(self, other: Any) -> "Tensor":
        # Not MatMul: where a number follows, onnxruntime makes both one and rounds it to float32.
        return self.apply("Gemm", other)

    def __radd__(self, other: Any) -> "Tensor":
        return self.beside(other) + self

    def __rsub__(self, other: Any) -> "Tensor":
        return self.beside(other) - self

    def __rtruediv__(self, other: Any) -> "Tensor":
        return self.beside(other) / self

    def __neg__(self) -> "Tensor":
        return self.apply("Neg")

    def __lt__(self, other: Any) -> "Tensor":
        return self.apply("Less", other, dtype=BOOL)

    def __gt__(self, other: Any) -> "Tensor":
        return self.apply("Greater", other, dtype=BOOL)

    def to(self, dtype: Any) -> "Tensor":
        """Convert to another dtype, if it is another."""
        dtype = np.dtype(dtype)
        return self if dtype == self.dtype else self.apply("Cast", dtype=dtype, to=dtype)

    def reduced(self, op: str) -> "Tensor":
        """Return a reduction over each row, (n, 1)."""
        if op == "ReduceSum" or self.graph.opset >= _AXES_AS_INPUT:
            return self.apply(op, self.whole(1), keepdims=1)
        return self.apply(op, axes=(1,), keepdims=1)

    def columns(self, start: int, stop: int) -> "Tensor":
        """Return some columns."""
        return self.apply("Slice", self.whole(start), self.whole(stop), self.whole(1))

    def split(self, count: int) -> list["Tensor"]:
        """Return the columns one by one, each (n, 1)."""
        if count == 1:
            return [self]
        names = self.graph.add("Split", (self, self.whole(*[1] * count)), count, axis=1)
        return [Tensor(self.graph, name, self.dtype) for name in names]

    def flat(self) -> "Tensor":
        """Return a single column without its axis."""
        return self.apply("Squeeze", self.whole(1))


def _is_dropped(factor: Any) -> bool:
    """Tell whether onnxruntime would take a number for one, which it does in float32."""
    if isinstance(factor, Tensor) or np.size(factor) != 1:
        return False
    value = float(np.reshape(factor, -1)[0])
    return value != 1 and np.float32(value) == 1


def joined(parts: list[Tensor], axis: int = 1) -> Tensor:
    """Put tensors side by side, or one after the other."""
    first, *others = parts
    return first.apply("Concat", *others, axis=axis) if others else first


def where(condition: Tensor, yes: Any, no: Any) -> Tensor:
    """Choose element by element; one of both is a tensor, and gives the other its dtype."""
    tensor = yes if isinstance(yes, Tensor) else no
    chosen = condition.apply("Where", tensor.beside(yes), tensor.beside(no), dtype=tensor.dtype)
    assert isinstance(chosen, Tensor)
    return chosen
