"""The columns that a scan was asked for, and what they are like."""

from functools import cached_property
from math import log2
from typing import Any

import numpy as np

from elmband.sources.encode import EncoderState, TableEncoder
from elmband.sources.stream.columns import select
from elmband.sources.stream.encoded import needed_columns
from elmband.sources.stream.fields import READ_BYTES
from elmband.sources.stream.layout import DType
from elmband.sources.stream.selection import Selection, features_dtype
from elmband.sources.stream.sources import PartFunction, PartList


class ChosenColumns:
    """Features, targets and weights of a source, by what was chosen."""

    _source: PartList | PartFunction
    _chosen: tuple[Any, Any, Any]
    _encoder: TableEncoder | None
    _chunk_size: int | None

    @cached_property
    def _selection(self) -> Selection:
        for part in self._source:
            target, features, weight = self._chosen
            if features is None:
                features = needed_columns(part.layout, self._encoder)
            raw = self._encoder is not None
            return select(part.layout, target, features, weight, raw=raw)
        raise ValueError(f"{self._source.title} has no rows; there is nothing to read.")

    @property
    def encoder(self) -> TableEncoder | None:
        """The encoder that makes numbers of the features, or None."""
        return self._encoder

    @property
    def _state(self) -> EncoderState | None:
        """What the encoder knows, after a pass over the rows if it is not fitted yet."""
        if self._encoder is None:
            return None
        if not hasattr(self._encoder, "state_"):
            self._encoder.fit(self)
        return self._encoder.state_

    @property
    def n_features(self) -> int:
        """Number of features, those that the encoder makes if there is one."""
        state = self._state
        return len(self._selection.features if state is None else state.names)

    @property
    def n_outputs(self) -> int:
        """Number of target columns, 0 without a target."""
        return len(self._selection.targets)

    @property
    def single_output(self) -> bool:
        """Whether the target is one column, not a list of columns."""
        return self._selection.single_output

    @property
    def feature_names(self) -> tuple[str, ...] | None:
        """Names of the features, where they have names; those of an encoder always have."""
        state = self._state
        return self._selection.names(self._selection.features) if state is None else state.names

    @property
    def target_names(self) -> tuple[str, ...] | None:
        """Names of the target columns, where they have names."""
        return self._selection.names(self._selection.targets)

    @property
    def weight_name(self) -> str | None:
        """Name of the column of weights, where there is one and it has a name."""
        key = self._selection.weight
        names = None if key is None else self._selection.names([key])
        return names[0] if names else None

    @property
    def has_weights(self) -> bool:
        """Whether rows have weights."""
        return self._selection.weight is not None

    @property
    def dtype(self) -> DType:
        """Dtype of the features in chunks: float32 where it holds all values, else float64."""
        state = self._state
        return self._own_dtype if state is None else np.dtype(state.dtype)

    @cached_property
    def _own_dtype(self) -> DType:
        layouts = [part.layout for part in self._source.parts] or [self._selection.layout]
        return max(features_dtype(layout, self._selection) for layout in layouts)

    @property
    def chunk_size(self) -> int:
        """Rows of a chunk: by default those whose features take about 4 MiB."""
        if self._chunk_size is not None:
            return self._chunk_size
        rows = READ_BYTES / (self.n_features * self.dtype.itemsize)
        return int(min(max(2 ** round(log2(rows)), 1024), 16384))
