"""Where a model works on rows: where they are, or on a device, block by block."""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from elmband.engines import engine
from elmband.estimators._scans import check_chunk_size, read_rows, refuse_left_out, scan_rows
from elmband.estimators._validate import check_choice, check_locality, check_members
from elmband.ground.arrays import Array, to_numpy
from elmband.layers.hidden import LayerSpec
from elmband.layers.neurons import NeuronCounts
from elmband.models.fitted import Fitted
from elmband.sources import device
from elmband.sources.stream import Scan
from elmband.sums.products import precisely
from elmband.sums.rows import DEFAULT_CHUNK_SIZE, Rows, chunk_slices
from elmband.uncertainty.mean import SELECTION_METHODS

# What "auto" means where there can be only one layer.
SINGLE_LAYER_NEURONS = 200


def layer_spec(model: Any, n_neurons: NeuronCounts) -> LayerSpec:
    """Return a layer of so many neurons, with the parameters of a model."""
    return LayerSpec.parse(
        n_neurons,
        model.activation,
        bias=model.bias,
        density=model.density,
        weight_scale=model.weight_scale,
    )


def layer_specs(model: Any) -> list[LayerSpec] | None:
    """Return the layers that a model is asked for, or None where they are to be chosen."""
    count = check_members(model.n_estimators)
    if model.selection is not None:
        check_choice(model.selection, SELECTION_METHODS, "selection")
    auto = isinstance(model.n_neurons, str) and model.n_neurons == "auto"
    if isinstance(model.local_layers, list | tuple) and not (auto and model.selection is None):
        check_locality(single=True, groups=False, outputs=1)
    if auto:
        single = layer_spec(model, SINGLE_LAYER_NEURONS)
        return None if model.selection is None else [single]
    return [layer_spec(model, model.n_neurons)] * (count or 1)


def rows_at_once(model: Any, where: Any, X: Any, *, read: bool = False) -> int:
    """Return how many rows like X are mapped at once, on a device fewer if they are `read`."""
    default = DEFAULT_CHUNK_SIZE
    if where is not None or device.is_gpu_array(X):
        widest = [spec.n_neurons for spec in layer_specs(model) or ()]
        default = device.rows_at_once(max(widest, default=SINGLE_LAYER_NEURONS))
        default = device.sent_rows(X, default) if read else default
    return check_chunk_size(model.chunk_size, default)


def moved(model: Any, rows: Rows, where: Any, dtype: Any) -> tuple[Rows, Any]:
    """Return rows to train on where they are worked on, and the dtype there."""
    if where is None:
        return rows, dtype
    device.check_movable(rows.like)
    size = rows_at_once(model, where, rows.like, read=not rows.in_memory)
    return device.on_device(rows, where, dtype, size)


def judged_rows(model: Any, rows: Any) -> Any:
    """Return labelled rows or a scan where a fitted model works on them."""
    where, dtype = model.fitted_.training.device, model.fitted_.training.dtype
    if isinstance(rows, Scan) and where is None:
        return read_rows(rows, lambda chunk: chunk, np.float64, rows.chunk_size)
    if where is None:
        return rows
    if isinstance(rows, Scan):
        rows = scan_rows(rows, lambda chunk: chunk, np.float64, model.chunk_size)
    size = rows_at_once(model, where, rows.like, read=not rows.in_memory)
    return device.on_device(rows, where, dtype, size)[0]


def block_size(model: Any, X: Any) -> int:
    """Return how many rows like X a fitted model is asked about at once."""
    return rows_at_once(model, model.fitted_.training.device, X, read=isinstance(X, Scan))


def sent_blocks(fitted: Fitted, X: Any, size: int) -> Iterator[Array]:
    """Yield blocks of new rows, where a fitted model works on them."""
    where = fitted.training.device
    if where is None:
        return blocks_of(X, size)
    return device.sent(blocks_of(X, size, size), where)


def blocks_of(X: Any, chunk_size: int, scan_size: int | None = None) -> Iterator[Array]:
    """Yield the features of an array or a scan in blocks of rows, a scan's own by default."""
    if isinstance(X, Scan):
        refuse_left_out(X)
        return (chunk.X for chunk in X.chunks(scan_size))
    return (X[part, :] for part in chunk_slices(X.shape[0], chunk_size))


def careful(fitted: Fitted, function: Callable[[Array], Any]) -> Callable[[Array], Any]:
    """Return the same function of blocks, with results in the library that was given.

    It is as precise as the model was told to be, and makes do with the memory there is.
    """

    def home(part: Array) -> Any:
        # Rows at the end of numbers have infinite variances, which is no reason for warnings.
        with precisely(fitted.targets.precision), np.errstate(over="ignore", invalid="ignore"):
            found = function(part)
        if fitted.training.device is None:
            return found
        return tuple(map(to_numpy, found)) if isinstance(found, tuple) else to_numpy(found)

    return engine.halving(home, engine.joined)
