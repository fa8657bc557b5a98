"""Blocks of Dask collections as partitions: the part of a graph that makes one block, and checks.

Tasks that a single block needs belong to its partition and run inside its task. Tasks that several
blocks need stay with Dask, which computes them once.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, Self, TypeAlias

import numpy as np

from elmband.engines.cluster.work import Partition
from elmband.sums.moments import Chunk
from elmband.sums.rows import chunk_slices

# Marks keys that more than one partition needs.
_SHARED = -1


# Makes a chunk of blocks of X, y and weights that belong together, or refuses them.
ChunkOf: TypeAlias = Callable[[Sequence[Any]], Chunk]


class Form(NamedTuple):
    """What blocks must be like: the number and dtype of features, and the number of outputs."""

    n_features: int
    dtype: Any
    n_outputs: int

    def chunk(self, blocks: Sequence[Any]) -> Chunk:
        """Check blocks, and return them as a chunk without rows of weight 0."""
        X = np.asarray(blocks[0], dtype=self.dtype)
        Y = np.asarray(blocks[1], dtype=np.float64)
        Y = Y[:, None] if Y.ndim == 1 else Y
        if X.ndim != 2 or X.shape[1] != self.n_features:
            raise ValueError(f"it has the shape {X.shape}, but X has {self.n_features} features")
        if Y.shape != (len(X), self.n_outputs):
            raise ValueError(
                f"X has {len(X)} rows, y has the shape {Y.shape}; they must be as many"
            )
        for name, values in (("X", X), ("y", Y)):
            if not np.isfinite(values).all():
                raise ValueError(f"{name} holds missing or infinite values; fill them in")
        if len(blocks) == 2:
            return Chunk(X, Y, None)
        s = np.asarray(blocks[2], dtype=np.float64)
        if s.shape != (len(X),) or not np.isfinite(s).all() or (s < 0).any():
            raise ValueError("sample_weight must hold one number of at least 0 for every row")
        counts = s > 0
        return Chunk(X, Y, s) if counts.all() else Chunk(X[counts], Y[counts], s[counts])


@dataclass(frozen=True, eq=False)
class BlockPartition:
    """Blocks of X, y and weights that belong together, by their `keys` in a graph.

    `needs` are keys of what other partitions need too; `with_shared` brings their values.
    """

    label: str
    keys: tuple[Any, ...]
    graph: Mapping[Any, Any]
    needs: tuple[Any, ...]
    chunk_of: ChunkOf

    def with_shared(self, values: Mapping[Any, Any]) -> Self:
        """Return the same with the values of what it shares with others."""
        return replace(self, graph={**self.graph, **{key: values[key] for key in self.needs}})

    def chunks(self, size: int) -> Iterator[Chunk]:
        """Make the blocks, check them, and cut them."""
        rows = self._made()
        for part in chunk_slices(len(rows.X), size):
            yield Chunk(rows.X[part], rows.Y[part], None if rows.s is None else rows.s[part])

    def _made(self) -> Chunk:
        from dask import get  # noqa: PLC0415 - an optional library

        try:
            return self.chunk_of(get(dict(self.graph), list(self.keys)))
        except MemoryError:
            raise
        except Exception as error:
            said = (str(error) or type(error).__name__).splitlines()[0].strip().rstrip(".")
            raise ValueError(f"{self.label} cannot be read: {said}.") from error


def cut(
    graph: Mapping[Any, Any], keys: Iterable[tuple[Any, ...]], chunk_of: ChunkOf
) -> tuple[list[Partition], dict[Any, Any]]:
    """Cut a graph into partitions, each with the keys of its blocks, and what they share."""
    from dask.core import get_dependencies  # noqa: PLC0415 - an optional library

    keys = list(keys)
    dependencies = {key: get_dependencies(graph, key) for key in graph}
    # Results that a cluster holds already belong to no partition.
    nodes = {key: getattr(node, "value", node) for key, node in graph.items()}
    futures = [key for key, node in nodes.items() if type(node).__name__ == "Future"]
    owner = _owners(dependencies, keys, futures)
    owned: list[list[Any]] = [[] for _ in keys]
    shared = {}
    for key, k in owner.items():
        if k == _SHARED:
            shared[key] = graph[key]
        else:
            owned[k].append(key)
    partitions: list[Partition] = []
    for k, blocks in enumerate(keys):
        asked = {*blocks, *(d for key in owned[k] for d in dependencies[key])}
        needs = tuple(sorted((d for d in asked if owner[d] == _SHARED), key=str))
        own = {key: graph[key] for key in owned[k]}
        partitions.append(BlockPartition(f"Partition {k} of X", blocks, own, needs, chunk_of))
    return partitions, shared


def _owners(
    dependencies: Mapping[Any, Any], keys: Sequence[tuple[Any, ...]], common: Sequence[Any]
) -> dict[Any, int]:
    """Return the number of the partition that needs a key, or that several do.

    A key is looked at twice at most: once for its first owner, and once more if it is shared, with
    all that it depends on.
    """
    owner = dict.fromkeys(common, _SHARED)
    for k, blocks in enumerate(keys):
        open_keys = [(key, k) for key in blocks]
        while open_keys:
            key, wanted = open_keys.pop()
            known = owner.get(key)
            if known in (wanted, _SHARED):
                continue
            owner[key] = wanted if known is None else _SHARED
            open_keys += [(below, owner[key]) for below in dependencies[key]]
    return owner
