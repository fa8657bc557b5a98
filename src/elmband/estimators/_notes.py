"""What a fit notes about its rows and about itself: what answers depend on, and histograms."""

import numpy as np

from elmband.ground.arrays import Array, double
from elmband.models.fitted import Notes
from elmband.models.target_units import TargetUnits
from elmband.stacks.mean_stack import MeanStack
from elmband.stacks.pool import Pool, row_weights
from elmband.sums.histograms import Histograms, TrainingHistograms
from elmband.sums.sample import distinct_rows
from elmband.uncertainty.dependence import layer_dependence, stack_dependences
from elmband.uncertainty.mean import MeanModel
from elmband.uncertainty.predictive import Predictive

# Rows of a single layer that are looked at.
_ROWS = 4000


def notes_of_stack(
    pool: Pool, stack: MeanStack, predictive: Predictive | None, units: TargetUnits
) -> Notes:
    """Note what a stack depends on, and what its sampled rows are like."""
    noise = () if predictive is None else predictive.noise
    with np.errstate(all="ignore"):
        known = pool.distinct
        inputs = Histograms.of(known.rows.X, row_weights(known.rows))
        histograms = TrainingHistograms(inputs, _of_targets(units, known.Y, known.s))
        return Notes(stack_dependences(pool, stack, noise), histograms, pool.prints)


def notes_of_layer(mean: MeanModel, units: TargetUnits, seed: int) -> Notes:
    """Note the same of a single layer, where its rows are at hand."""
    if not mean.rows.in_memory:
        return Notes(row_prints=mean.prints)
    some = distinct_rows(mean.rows.whole(), mean.inputs, _ROWS, seed)
    s = row_weights(some)
    with np.errstate(all="ignore"):
        dependences = layer_dependence(mean.features, mean.layer.coef, some.X, s)
        histograms = TrainingHistograms(
            Histograms.of(some.X, s), _of_targets(units, double(some.Y), s)
        )
    return Notes(dependences, histograms, mean.prints)


def _of_targets(units: TargetUnits, Y: Array, s: Array) -> Histograms:
    """Return histograms of standardised targets, in their units."""
    return Histograms.of(units.values_of(Y), s)
