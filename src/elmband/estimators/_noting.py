"""What a fit notes about its rows and about itself: what answers depend on, and histograms."""

from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from elmband.estimators._relevant import (
    FeatureRelevance,
    RelevantDirections,
    by_column,
    directions_by_name,
    relevance_by_name,
)
from elmband.estimators._tables import count_inputs, input_names
from elmband.estimators._target_units import TargetUnits
from elmband.ground.arrays import Array, double, place, to_numpy
from elmband.stacks.mean_stack import MeanStack
from elmband.stacks.pool import Pool, row_weights
from elmband.sums.histograms import Histograms, TrainingHistograms
from elmband.sums.moments import Chunk
from elmband.sums.row_prints import RowPrints, SeenRows
from elmband.sums.sample import distinct_rows
from elmband.uncertainty.dependence import Dependences, layer_dependence, stack_dependences
from elmband.uncertainty.mean import MeanModel
from elmband.uncertainty.predictive import Predictive

# Rows of a single layer that are looked at.
_ROWS = 4000

_UNKNOWN = (
    "is not known of this model: it was trained by an earlier version, or has a single layer that "
    "was trained on more rows than fit into memory or was added to; fit it again with "
    "n_neurons='auto', or on arrays."
)


class NotingModel(TargetUnits):
    """A model that knows what it depends on, and what its training rows were like."""

    _dependences: Dependences | None = None
    _histograms: TrainingHistograms | None = None
    # None where rows were added, or of models of earlier versions.
    _row_prints: RowPrints | None = None

    @property
    def feature_relevance_(self) -> FeatureRelevance:
        """The share of each input in how the mean changes, and in how the noise changes."""
        return relevance_by_name(self._known_dependences("feature_relevance_"), self._input_names)

    @property
    def column_relevance_(self) -> FeatureRelevance:
        """The same by the columns of a table, where an encoder makes several inputs of one."""
        found = relevance_by_name(self._known_dependences("column_relevance_"), self._input_names)
        state = self._encoder_state
        return found if state is None else found.summed(by_column(state))

    @property
    def relevant_directions_(self) -> RelevantDirections:
        """Directions of standardised inputs in which the mean changes, and the noise."""
        found = self._known_dependences("relevant_directions_")
        if any(not len(one.direction_shares) for one in found.both):
            raise AttributeError("relevant_directions_ is for up to 1,000 inputs; X has more.")
        return directions_by_name(found, self._input_names)

    @property
    def training_histograms_(self) -> TrainingHistograms:
        """Small histograms of the inputs and the targets of training rows, never rows."""
        check_is_fitted(self)
        if self._histograms is None:
            raise AttributeError(f"training_histograms_ {_UNKNOWN}")
        return self._histograms

    def _known_dependences(self, name: str) -> Dependences:
        if not hasattr(self, "_targets"):
            raise AttributeError(f"{name} exists once the model is fitted.")
        if self._dependences is None:
            raise AttributeError(f"{name} {_UNKNOWN}")
        return self._dependences

    @property
    def _input_names(self) -> tuple[str, ...]:
        return input_names(self) or tuple(f"x{j}" for j in range(count_inputs(self)))

    def _seen_in_training(self, chunk: Chunk) -> SeenRows | None:
        """Count the rows of a chunk, as they are learned from, that training saw.

        None is for models that do not know.
        """
        return None if self._row_prints is None else self._row_prints.seen(chunk)

    def _note_nothing(self) -> None:
        """Forget what an earlier fit has noted."""
        for name in ("_dependences", "_histograms", "_row_prints"):
            self.__dict__.pop(name, None)

    def _note_stack(self, pool: Pool, stack: MeanStack, predictive: Predictive | None) -> None:
        """Note what a stack depends on, and what its sampled rows are like."""
        self._row_prints = pool.prints
        with np.errstate(all="ignore"):
            noise = () if predictive is None else predictive.noise
            self._dependences = stack_dependences(pool, stack, noise)
            rows, known = pool.distinct.rows, pool.distinct
            inputs = Histograms.of(rows.X, row_weights(rows))
            self._histograms = TrainingHistograms(inputs, self._target_histograms(known.Y, known.s))

    def _note_layer(self, mean: MeanModel) -> None:
        """Note the same of a single layer, where its rows are at hand."""
        self._row_prints = mean.prints
        if not mean.rows.in_memory:
            return
        some = distinct_rows(mean.rows.whole(), mean.inputs, _ROWS, self._seed)
        s = row_weights(some)
        with np.errstate(all="ignore"):
            self._dependences = layer_dependence(mean.features, mean.layer.coef, some.X, s)
            self._histograms = TrainingHistograms(
                Histograms.of(some.X, s), self._target_histograms(double(some.Y), s)
            )

    def _target_histograms(self, Y: Array, s: Array) -> Histograms:
        """Return histograms of standardised targets, in their units."""
        scale, centre = (place(a, Y) for a in (self._targets.scale, self._targets.mean))
        values: Any = to_numpy(self.target_transform_.inverse(Y * scale + centre))
        return Histograms.of(values, s)
