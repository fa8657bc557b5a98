"""A fitted value from elsewhere, tried out on a row: parts may contradict each other."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from elmband.engines import engine
from elmband.layers.hidden import FeatureMap
from elmband.layers.neurons import SQUARED_DISTANCES
from elmband.layers.views import SoftClip
from elmband.models.classes import answer, labels, shares
from elmband.models.fitted import Fitted, Inputs, Layer, Notes
from elmband.models.intervals import means
from elmband.sources.encode.saving import check_state
from elmband.sums.row_prints import MOST_PRINTS
from elmband.sums.value_counts import MOST_VALUES
from elmband.uncertainty.noise.squared import SquaredNoise
from elmband.uncertainty.predictive import Predictive


def check_works(fitted: Fitted) -> None:
    """Ask about a row of zeros; a value that does not work raises an exception of any kind."""
    n, m = fitted.inputs.width, len(fitted.targets.scaling.mean)
    maps, noise_maps = list(_maps(fitted)), list(_noise_maps(fitted))
    # Not even a row is made of features that the layers do not have.
    if not maps:
        raise ValueError("features do not fit")
    for features in maps:
        _check_map(features, n)
    for features in noise_maps:
        _check_map(features)
    if fitted.targets.single_output and m != 1:
        raise ValueError("outputs do not fit")
    row = np.zeros((1, n), fitted.training.dtype)
    size = max(features.hidden.n_neurons for features in maps)
    with engine.limit_blas(size), np.errstate(all="ignore"):
        _check(m, fitted.mean.mean(row), means(fitted, row))
        for usual in _usual_rows(maps[0], fitted.training.dtype):
            _check_finite(means(fitted, usual))
        if fitted.classes is not None:
            _try_classes(fitted, row, m)
        if fitted.noise is not None and not fitted.stale:
            _try_intervals(fitted, row, m)
    _check_read(fitted, m)
    if fitted.grown is not None:
        _check_grown(fitted.grown, n, m)
    _check_names(fitted.inputs)
    _check_noted(fitted.notes, n, m)


def _check_read(fitted: Fitted, m: int) -> None:
    """Check what people read, and predictions do not need."""
    layer = fitted.mean if isinstance(fitted.mean, Layer) else None
    noise = fitted.noise.layer if isinstance(fitted.noise, SquaredNoise) else None
    _check_finite(*(part.coef for part in (layer, noise) if part is not None))
    shape = () if fitted.targets.single_output else (m,)
    strengths = (part.alpha for part in (layer, fitted.noise_stage) if part is not None)
    if any(alpha is not None and np.shape(alpha) != shape for alpha in strengths):
        raise ValueError("strengths do not fit")


def _maps(fitted: Fitted) -> Iterator[FeatureMap]:
    """Yield the hidden layers in use."""
    if isinstance(fitted.mean, Layer):
        yield fitted.mean.features
    else:
        yield from (member.features for member in fitted.mean.members)
    if fitted.grown is not None:
        yield fitted.grown.features


def _noise_maps(fitted: Fitted) -> Iterator[FeatureMap]:
    """Yield the hidden layers of noise models, which may see more than the features."""
    noise = fitted.noise
    if isinstance(noise, Predictive):
        for models in noise.noise:
            yield from (models.both.features, models.below.features, models.above.features)
    elif noise is not None and noise.features is not None:
        yield noise.features


def _try_classes(fitted: Fitted, row: Any, m: int) -> None:
    classes = fitted.classes
    assert classes is not None
    if m != (1 if classes.single_output else len(classes.labels)):
        raise ValueError("classes do not fit")
    labels(fitted, row)
    if fitted.probability is not None:
        shares(fitted, row)


def _try_intervals(fitted: Fitted, row: Any, m: int) -> None:
    _check(m, *fitted.parts(row), *fitted.totals(row))
    calibration = fitted.calibration
    assert calibration is not None
    scores = [one for output in calibration.outputs for one in output]
    known = 3 * m if calibration.kind != "gaussian" else len(scores)
    if len(scores) != known or not all(len(one.t) and one.n > 0 for one in scores):
        raise ValueError("scores do not fit")
    _check_values(fitted.targets.values, m)
    if fitted.deciding is not None:
        _try_abstention(fitted, row)


def _try_abstention(fitted: Fitted, row: Any) -> None:
    deciding, classes = fitted.deciding, fitted.classes
    assert deciding is not None
    assert classes is not None
    found, known, thresholds = answer(fitted, row), deciding.left_out, deciding.thresholds
    score = deciding.confidence(found)
    if thresholds is not None:
        thresholds.accepted(known.score, known.called)
        accepted = thresholds.accepted(score, found.place)
        deciding.novelty.reasons(found, accepted)
        thresholds.statement(classes.labels)


def _check_names(inputs: Inputs) -> None:
    """Refuse columns that are neither those of the table nor the features made of it."""
    n, names, state = inputs.given, inputs.given_names, inputs.encoder
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


def _check_noted(notes: Notes, n: int, m: int) -> None:
    """Refuse shares and histograms of other columns than a model has, and prints of no rows."""
    dependences, histograms, prints = notes
    if dependences is not None and any(len(one.shares) != n for one in dependences.both):
        raise ValueError("shares do not fit")
    both = () if histograms is None else ((histograms.inputs, n), (histograms.targets, m))
    for found, width in both:
        if found.cuts.shape[1] != width or len(found.weights) != len(found.cuts) + 1:
            raise ValueError("histograms do not fit")
        if np.isnan(found.cuts).any() or (found.weights < 0).any():
            raise ValueError("histograms are none")
    if prints is not None and not 0 < len(prints.prints) <= MOST_PRINTS:
        raise ValueError("fingerprints of rows do not fit")
