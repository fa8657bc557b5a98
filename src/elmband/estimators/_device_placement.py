"""Where a model works on rows: where they are, or on a device, block by block."""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from elmband.engines import engine
from elmband.estimators._saving import SavedModel
from elmband.estimators._scans import answering, blocks_of, read_rows, scan_rows
from elmband.estimators._validate import check_chunk_size
from elmband.ground.arrays import Array, Precision, namespace, to_numpy
from elmband.layers.hidden import LayerSpec
from elmband.sources.device import (
    check_movable,
    is_gpu_array,
    on_device,
    rows_at_once,
    sent,
    sent_rows,
)
from elmband.sources.stream import Scan
from elmband.sums.products import precisely
from elmband.sums.rows import DEFAULT_CHUNK_SIZE, Rows

# What "auto" means where there can be only one layer.
SINGLE_LAYER_NEURONS = 200


class PlacedModel(SavedModel):
    """What models have in common that send rows to a device, or find them there."""

    precision: Precision
    chunk_size: int | None
    # Where rows are worked on, None where they are.
    _device: Any = None
    _dtype: type

    def _specs(self) -> list[LayerSpec] | None:
        """Return the layers asked for, or None where they are to be chosen."""
        raise NotImplementedError

    def _rows_at_once(self, X: Any, *, read: bool = False) -> int:
        """Return how many rows like X are mapped at once, on a device fewer if they are `read`."""
        default = DEFAULT_CHUNK_SIZE
        if self._device is not None or is_gpu_array(X):
            widest = [spec.n_neurons for spec in self._specs() or ()]
            default = rows_at_once(max(widest, default=SINGLE_LAYER_NEURONS))
            default = sent_rows(X, default) if read else default
        return check_chunk_size(self.chunk_size, default)

    def _moved(self, rows: Rows) -> Rows:
        """Return rows to train on where they are worked on, and note the dtype there."""
        if self._device is None:
            return rows
        check_movable(rows.like)
        size = self._rows_at_once(rows.like, read=not rows.in_memory)
        moved, self._dtype = on_device(rows, self._device, self._dtype, size)
        return moved

    def _sent(self, rows: Any) -> Any:
        """Return labelled rows or a scan where they are worked on."""
        if isinstance(rows, Scan) and self._device is None:
            return read_rows(rows, lambda chunk: chunk, np.float64, rows.chunk_size)
        if self._device is None:
            return rows
        if isinstance(rows, Scan):
            rows = scan_rows(rows, lambda chunk: chunk, np.float64, self.chunk_size)
        size = self._rows_at_once(rows.like, read=not rows.in_memory)
        return on_device(rows, self._device, self._dtype, size)[0]

    def _blocks(self, X: Any) -> Iterator[Array]:
        """Yield blocks of new rows, where they are worked on."""
        if self._device is None:
            return blocks_of(X, self._rows_at_once(X))
        size = self._rows_at_once(X, read=isinstance(X, Scan))
        return sent(blocks_of(X, size, size), self._device)

    def _worked(self, function: Callable[[Array], Any]) -> Callable[[Array], Any]:
        """Return the same function of blocks, with results in the library that was given.

        It is as precise as the model was told to be, and makes do with the memory there is.
        """

        def home(part: Array) -> Any:
            # Rows at the end of numbers have infinite variances, which is no reason for warnings.
            with precisely(self.precision), np.errstate(over="ignore", invalid="ignore"):
                found = function(part)
            if self._device is None:
                return found
            return tuple(map(to_numpy, found)) if isinstance(found, tuple) else to_numpy(found)

        return engine.halving(home, engine.joined)

    def _by_chunk(
        self, X: Array, method: str, function: Callable[[Array], tuple[Array, ...]]
    ) -> tuple[Array, ...]:
        """Join the arrays that `function` returns for every chunk of rows."""
        with answering(self, X, method) as on_chunks:
            found = list(on_chunks(self._worked(function), self._blocks(X)))
        joined = zip(*found, strict=True)
        return tuple(namespace(*arrays).concat(list(arrays), axis=0) for arrays in joined)
