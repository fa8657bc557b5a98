"""The random hidden layer: drawn once in NumPy, applied on any array library."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Self, TypeAlias

import numpy as np

from elmband.engines import engine
from elmband.ground.arrays import Array, cast, is_writeable_array, namespace
from elmband.layers.neurons import KINDS, SQUARED_DISTANCES, Kind, NeuronCounts, Neurons
from elmband.layers.relevance import Relevance, Shape
from elmband.layers.views import STANDARD, View
from elmband.sources.hidden_cache import once, written_once
from elmband.sums.marks import MarkedRows
from elmband.sums.moments import Chunk
from elmband.sums.sample import RowSample
from elmband.sums.scaling import Scaling

# Squares of numbers up to this, and sums of them, fit into float32.
FARTHEST = 1e15

NumpyArray: TypeAlias = np.ndarray[Any, np.dtype[np.float64]]


@dataclass(frozen=True, eq=False)
class HiddenLayer:
    """Blocks of neurons side by side."""

    blocks: tuple[Neurons, ...]

    @property
    def n_neurons(self) -> int:
        """Number of columns of H."""
        return sum(block.count for block in self.blocks)

    def __repr__(self) -> str:
        return f"HiddenLayer({self.described})"

    @property
    def described(self) -> str:
        """What it is made of, in words."""
        kinds = ", ".join(block.described for block in self.blocks)
        inputs = self.blocks[0].n_inputs if self.blocks else 0
        return f"{self.n_neurons:,} neurons: {kinds or 'none'}; n_inputs={inputs}"

    def __call__(self, Z: Array, out: np.ndarray[Any, Any] | None = None) -> Array:
        """Return hidden outputs H (n, L) of standardised inputs Z (n, d), on NumPy in `out`."""
        if isinstance(Z, np.ndarray):
            H = np.empty((Z.shape[0], self.n_neurons), Z.dtype) if out is None else out
            start, marks = 0, MarkedRows.of(Z)
            for block in self.blocks:
                block.write(Z, H[:, start : start + block.count], marks)
                start += block.count
            return H
        xp = namespace(Z)
        if not is_writeable_array(Z):
            return xp.concat([block(Z) for block in self.blocks], axis=1)
        # Rows begin at multiples of eight numbers, without which products run at half the speed.
        wide = -(-self.n_neurons // 8) * 8
        room = xp.empty((Z.shape[0], wide), dtype=Z.dtype, device=Z.device)
        start = 0
        for block in self.blocks:
            room[:, start : start + block.count] = block(Z)
            start += block.count
        return room[:, :start]

    def to(self, like: Array, dtype: Any) -> Self:
        """Return the same layer on the library and device of `like`."""
        return type(self)(tuple(block.to(like, dtype) for block in self.blocks))


@dataclass(frozen=True, eq=False)
class FeatureMap:
    """From raw inputs to hidden outputs: standardise, take a view, then apply the hidden layer.

    Without a `view` neurons see standardised inputs. Hidden outputs have the dtype of the neurons,
    which may be narrower than that of the inputs.
    """

    inputs: Scaling
    hidden: HiddenLayer
    view: View | None = None

    def __repr__(self) -> str:
        return f"FeatureMap({self.hidden.described})"

    def __call__(self, rows: Chunk) -> Chunk:
        """Replace the inputs of a chunk by hidden outputs.

        On NumPy they last until the same thread maps the next chunk.
        """
        if not isinstance(rows.X, np.ndarray):
            return rows._replace(X=once(rows.X, self, self.apply))
        n, dtype = len(rows.X), self.dtype

        def write(H: np.ndarray[Any, Any]) -> Array:
            Z = self.inputs(rows.X, engine.scratch("Z", rows.X.shape, self.inputs.mean.dtype))
            return self.hidden(self._narrow(Z if self.view is None else self.view(Z)), H)

        width = self.hidden.n_neurons
        H = written_once(rows.X, self, width, dtype, write)
        if H is None:
            H = write(engine.scratch(("H", id(self.hidden)), (n, width), dtype))
        if dtype == self.inputs.mean.dtype:
            return rows._replace(X=H)
        # Products with targets are as narrow.
        return Chunk(H, cast(rows.Y, dtype), None if rows.s is None else cast(rows.s, dtype))

    @property
    def dtype(self) -> Any:
        """The dtype of hidden outputs."""
        blocks = self.hidden.blocks
        return blocks[0].bias.dtype if blocks else self.inputs.mean.dtype

    def narrowed(self) -> Self:
        """Return the same map with float32 neurons, one for all who ask: inputs stay precise."""
        return self._narrowed

    @cached_property
    def _narrowed(self) -> Self:
        like = self.inputs.mean
        return replace(self, hidden=self.hidden.to(like, namespace(like).float32))

    def _narrow(self, Z: Array) -> Array:
        """Return what neurons see in their dtype, as far out as its squares reach."""
        if self.dtype == Z.dtype:
            return Z
        return cast(namespace(Z).clip(Z, min=-FARTHEST, max=FARTHEST), self.dtype)

    def apply(self, X: Array) -> Array:
        """Return hidden outputs H (n, L) of raw inputs."""
        return self.hidden(self._narrow(self.viewed(X)))

    def viewed(self, X: Array) -> Array:
        """Return what neurons see of raw inputs, (n, d)."""
        Z = self.inputs(X)
        return Z if self.view is None else self.view(Z)

    def to(self, like: Array, dtype: Any) -> Self:
        """Return the same map on the library and device of `like`."""
        view = None if self.view is None else self.view.to(like, dtype)
        return type(self)(self.inputs.to(like, dtype), self.hidden.to(like, dtype), view)


@dataclass(frozen=True)
class LayerSpec:
    """What a hidden layer shall be made of, before it is drawn.

    `placed` neurons have the bias that puts their zero at a training row. `max_inputs` lets each
    neuron see between one and that many inputs, instead of a share `density` of them. Neurons see
    the named `view` of the inputs, and are drawn from their `relevance`, with all its directions or
    its diagonal only; `passes` the inputs on beside them.
    """

    counts: tuple[tuple[Kind, int], ...]
    bias: bool = True
    density: float = 1.0
    weight_scale: float = 1.0
    placed: bool = False
    max_inputs: int | None = None
    view: str = STANDARD
    relevance: Relevance | None = None
    shape: Shape = "full"
    passes: bool = False

    @classmethod
    def parse(cls, n_neurons: NeuronCounts, activation: Kind = "tanh", **options: Any) -> Self:
        """Read `n_neurons`: a number of `activation` neurons, or a mapping kind -> number."""
        mix = n_neurons if isinstance(n_neurons, Mapping) else {activation: n_neurons}
        for kind, count in mix.items():
            if not callable(kind) and kind not in KINDS:
                raise ValueError(
                    f"Unknown kind of neuron {kind!r}; known are {', '.join(KINDS)}, "
                    "or give your own vectorised function."
                )
            if not isinstance(count, int | np.integer) or isinstance(count, bool) or count < 1:
                raise ValueError(
                    f"n_neurons must be a whole number of at least 1 for each kind; "
                    f"got {count!r} for {kind!r}."
                )
        if not mix:
            raise ValueError("n_neurons names no neurons; give a number, e.g. n_neurons=200.")
        spec = cls(tuple((kind, int(count)) for kind, count in mix.items()), **options)
        spec._check_options()
        return spec

    def _check_options(self) -> None:
        if not 0 < self.density <= 1:
            raise ValueError(f"density must lie above 0 and be at most 1; got {self.density!r}.")
        if not 0 < self.weight_scale < np.inf:
            raise ValueError(f"weight_scale must be positive; got {self.weight_scale!r}.")

    @property
    def n_neurons(self) -> int:
        """Number of neurons of all kinds."""
        return sum(count for _, count in self.counts)

    def resized(self, n_neurons: int) -> Self:
        """Return the same specification of a single kind with another number of neurons."""
        ((kind, _),) = self.counts
        return replace(self, counts=((kind, n_neurons),))

    @property
    def n_centres(self) -> int:
        """How many training rows the neurons would like to be placed at."""
        return sum(c for kind, c in self.counts if self.placed or kind in SQUARED_DISTANCES)

    def draw(self, n_features: int, seed: int, sample: RowSample | None = None) -> HiddenLayer:
        """Draw the layer. A larger count keeps the neurons that a smaller one has."""
        blocks = []
        used = 0
        if self.passes:
            blocks.append(self._linear(n_features, n_features, np.random.default_rng(seed)))
        for index, (kind, count) in enumerate(self.counts):
            rng = np.random.default_rng([seed, index])
            if kind in SQUARED_DISTANCES:
                assert sample is not None
                blocks.append(self._radial(str(kind), count, rng, sample, used))
                used += count
            elif kind == "linear":
                blocks.append(self._linear(count, n_features, rng))
            else:
                W, b = self._projection(count, n_features, rng)
                if self.placed:
                    assert sample is not None
                    b = -np.sum(sample.cycled(used, count).T * W, axis=0)
                    used += count
                blocks.append(Neurons(kind, W, b))
        return HiddenLayer(tuple(blocks))

    def _linear(self, count: int, n_features: int, rng: np.random.Generator) -> Neurons:
        if count > n_features:
            raise ValueError(
                f"n_neurons asks for {count} linear neurons, but X has {n_features} features; "
                "more linear neurons than features add nothing."
            )
        if count == n_features:
            return Neurons("linear", np.eye(n_features), np.zeros(count), passes=True)
        return Neurons("linear", *self._projection(count, n_features, rng))

    def _projection(
        self, count: int, n_features: int, rng: np.random.Generator
    ) -> tuple[NumpyArray, NumpyArray]:
        """Draw W so that zW has standard deviation `weight_scale`, and b likewise.

        Each neuron sees each input with probability `density`, and one input at least.
        """
        draws = rng.standard_normal((count, n_features + 1))
        W, b = draws[:, :-1], draws[:, -1] * self.weight_scale * self.bias
        if self.relevance is not None and self.max_inputs is None:
            return self.weight_scale * (self.relevance.root(self.shape) @ W.T), b
        n_seen: Any = n_features
        if self.density < 1 or self.max_inputs is not None:
            seen = self._seen(count, n_features, rng)
            W, n_seen = W * seen, seen.sum(axis=1)
        return W.T * (self.weight_scale / np.sqrt(n_seen)), b

    def _seen(
        self, count: int, n_features: int, rng: np.random.Generator
    ) -> np.ndarray[Any, np.dtype[np.bool_]]:
        """Draw which inputs each neuron sees, (count, n_features).

        From random numbers of their own: those of more neurons shall begin with the same.
        """
        chances, numbers = rng.spawn(2)
        chance = chances.random((count, n_features))
        if self.relevance is not None:
            # The least of these is of each input with a chance in proportion to its root.
            chance = -np.log1p(-chance) / self.relevance.deviations
        if self.max_inputs is None:
            limit = np.maximum(self.density, chance.min(axis=1, keepdims=True))
        else:
            kept = numbers.integers(1, min(self.max_inputs, n_features) + 1, size=(count, 1))
            limit = np.take_along_axis(np.sort(chance, axis=1), kept - 1, axis=1)
        seen: np.ndarray[Any, np.dtype[np.bool_]] = chance <= limit
        return seen

    def _radial(
        self, kind: str, count: int, rng: np.random.Generator, sample: RowSample, used: int
    ) -> Neurons:
        """Place centres at sampled rows; widths spread around the typical distance of rows."""
        metric = None if self.relevance is None else self.relevance.root(self.shape)
        rows, some = sample.cycled(used, count), sample.rows[:256]
        if metric is not None:
            rows, some = rows @ metric, some @ metric
        spread = 2.0 ** rng.uniform(-1, 1, size=count)
        squares = SQUARED_DISTANCES[kind](some, some.T)[np.triu_indices(len(some), 1)]
        typical = float(np.sqrt(np.median(squares))) if squares.size else 1.0
        widths = spread * (typical or 1.0) / self.weight_scale
        return Neurons(kind, rows.T.copy(), widths, metric=metric)
