"""A model from elsewhere, tried out on a row: parts that do not fit together do not work."""

from collections.abc import Iterator
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator

from elmband.engines import engine
from elmband.estimators._tables import count_inputs
from elmband.layers.hidden import FeatureMap
from elmband.layers.neurons import SQUARED_DISTANCES
from elmband.layers.views import SoftClip
from elmband.sources.encode.saving import check_state
from elmband.sums.row_prints import MOST_PRINTS
from elmband.sums.value_counts import MOST_VALUES


class TriedModel(BaseEstimator):
    """A model that can be tried out; one that does not work raises an exception of any kind."""

    def _try_out(self) -> None:
        """Ask about a row of zeros."""
        n, m = count_inputs(self), len(self._targets.mean)
        maps = list(self._maps())
        # Not even a row is made of features that the layers do not have.
        if not maps:
            raise ValueError("features do not fit")
        for features in maps:
            _check_map(features, n)
        for features in self._noise_maps():
            _check_map(features)
        if self._single_output and m != 1:
            raise ValueError("outputs do not fit")
        row = np.zeros((1, n), self._dtype)
        size = max(features.hidden.n_neurons for features in maps)
        with engine.calm(size), np.errstate(all="ignore"):
            _check(m, self._mean_of(row), self._means(row).reshape(1, -1))
            for usual in _usual_rows(maps[0], self._dtype):
                _check_finite(self._means(usual))
            if hasattr(self, "_classes"):
                self._try_classes(row, m)
            if hasattr(self, "_parts") and not getattr(self, "_stale", False):
                self._try_intervals(row, m)
        # What people read, and predictions do not need.
        _check_finite(*(getattr(self, name, 0.0) for name in ("coef_", "noise_coef_")))
        if self._grown is not None:
            _check_grown(self._grown, n, m)
        _check_names(self, self._encoder_state)
        _check_noted(self._dependences, self._histograms, n, m)
        _check_prints(self._row_prints)

    def _maps(self) -> Iterator[FeatureMap]:
        """Yield the hidden layers in use; attributes of an earlier fit may be there besides."""
        if self._stack is None:
            yield self._features
        else:
            yield from (member.features for member in self._stack.members)
        if self._grown is not None:
            yield self._grown.features

    def _noise_maps(self) -> Iterator[FeatureMap]:
        """Yield the hidden layers of noise models, which may see more than the features."""
        if getattr(self, "_predictive", None) is not None:
            for models in self._predictive.noise:
                yield from (models.both.features, models.below.features, models.above.features)
        features = getattr(getattr(self, "_noise", None), "features", None)
        if features is not None:
            yield features

    def _try_classes(self, row: Any, m: int) -> None:
        if m != (1 if self._classes.single_output else len(self._classes.labels)):
            raise ValueError("classes do not fit")
        self._labels(row)
        if self.probability_ is not None:
            self._shares(row)

    def _try_intervals(self, row: Any, m: int) -> None:
        _check(m, *self._parts(row), *self._totals(row))
        scores = [one for output in self.calibration_.outputs for one in output]
        known = 3 * m if self.calibration_.kind != "gaussian" else len(scores)
        if len(scores) != known or not all(len(one.t) and one.n > 0 for one in scores):
            raise ValueError("scores do not fit")
        _check_values(self._values, m)
        if hasattr(self, "_answer"):
            self._try_abstention(row)

    def _try_abstention(self, row: Any) -> None:
        answer, known = self._answer(row), self._left_out
        score = self.confidence_(answer)
        if self._thresholds is not None:
            self._thresholds.accepted(known.score, known.called)
            accepted = self._thresholds.accepted(score, answer.place)
            self._usual.reasons(answer, accepted)
            self._thresholds.statement(self.classes_)


def _check_names(model: Any, state: Any) -> None:
    """Refuse columns that are neither those of the table nor the features made of it."""
    n, names = model.n_features_in_, getattr(model, "feature_names_in_", None)
    if state is not None and n not in (len(state.names), len(state.columns)):
        raise ValueError("the encoder does not fit")
    if state is not None:
        check_state(state)
    if names is not None and len(names) != n:
        raise ValueError("names do not fit")


def _check(m: int, *arrays: Any) -> None:
    """Refuse answers that are not those of one row."""
    if any(array.shape != (1, m) for array in arrays):
        raise ValueError("outputs do not fit")


def _check_map(features: FeatureMap, n: int | None = None) -> None:
    """Refuse a map of other than n inputs, or whose parts differ about how many there are.

    Arrays of a single number would fit anywhere.
    """
    n = len(features.inputs.mean) if n is None else n
    widths = {len(features.inputs.mean)}
    if isinstance(features.view, SoftClip):
        widths.add(len(features.view.centre))
    elif features.view is not None:
        widths.add(features.view.knots.shape[1])
    for block in features.hidden.blocks:
        widths.add(block.n_inputs)
        if block.passes:
            widths.add(block.count)
        if block.metric is not None and block.kind not in SQUARED_DISTANCES:
            raise ValueError("only distances have a metric")
    if widths != {n}:
        raise ValueError("features do not fit")


def _usual_rows(features: FeatureMap, dtype: Any) -> Iterator[Any]:
    """Yield the mean of the training rows, and a row that is not far from it."""
    centre, scale = features.inputs.mean, features.inputs.scale
    for row in (centre, centre + scale):
        yield np.asarray([np.where(np.isfinite(row), row, centre)], dtype)


def _check_values(columns: Any, m: int) -> None:
    """Refuse values of targets that do not rise, or those of other outputs."""
    if columns is None:
        return
    rising = all(len(v) != 1 and np.isfinite(v).all() and (np.diff(v) > 0).all() for v in columns)
    if len(columns) != m or not rising or max(map(len, columns), default=0) > MOST_VALUES:
        raise ValueError("values of targets do not fit")


def _check_finite(*arrays: Any) -> None:
    """Refuse numbers that no fit arrives at."""
    if not all(np.isfinite(array).all() for array in arrays):
        raise ValueError("numbers are not finite")


def _check_grown(grown: Any, n: int, m: int) -> None:
    """Refuse sums and rows that more rows could not be added to."""
    neurons, sample = grown.features.hidden.n_neurons, grown.sample
    if grown.sums is not None and grown.sums.HtY.shape != (neurons, m):
        raise ValueError("sums do not fit")
    if sample is None:
        return
    keys, shapes = len(sample.keys), (sample.rows.X.shape, sample.rows.Y.shape)
    if shapes != ((keys, n), (keys, m)):
        raise ValueError("the sample does not fit")


def _check_noted(dependences: Any, histograms: Any, n: int, m: int) -> None:
    """Refuse shares and histograms of other columns than a model has."""
    if dependences is not None and any(len(one.shares) != n for one in dependences.both):
        raise ValueError("shares do not fit")
    for found, width in () if histograms is None else zip(_both(histograms), (n, m), strict=True):
        if found.cuts.shape[1] != width or len(found.weights) != len(found.cuts) + 1:
            raise ValueError("histograms do not fit")
        if np.isnan(found.cuts).any() or (found.weights < 0).any():
            raise ValueError("histograms are none")


def _check_prints(found: Any) -> None:
    """Refuse fingerprints of no rows, or more of them than are kept."""
    if found is not None and not 0 < len(found.prints) <= MOST_PRINTS:
        raise ValueError("fingerprints of rows do not fit")


def _both(histograms: Any) -> tuple[Any, Any]:
    return histograms.inputs, histograms.targets
