"""A fit with the transform of targets that rows left out gain most by."""

from collections.abc import Sequence
from typing import Any, NamedTuple, Protocol

from elmband.estimators._open_rows import Opened
from elmband.ground.arrays import cast, namespace
from elmband.models.target_units import TargetUnits
from elmband.stacks.pool import Pool
from elmband.sums.moments import Chunk
from elmband.sums.rows import ArrayRows
from elmband.uncertainty.predictive import FittedPredictive
from elmband.uncertainty.rounds import ChosenRounds
from elmband.uncertainty.transform import Identity, Transform
from elmband.uncertainty.transform_choice import (
    best_of,
    left_out_score,
    sample_of,
    transforms_to_try,
)


class FittedRows(NamedTuple):
    """A fit, the pool of rows that it was judged on, and how often neurons might learn."""

    pool: Pool
    fitted: FittedPredictive
    rounds: ChosenRounds
    units: TargetUnits


class Fit(Protocol):
    """A fit to rows, with blind neurons where it is only to be compared."""

    def __call__(self, opened: Opened, *, blind: bool = False) -> FittedRows: ...


def fit_best_transform(model: Any, opened: Opened, fit: Fit) -> FittedRows:
    """Fit rows whose targets are as given, transformed if that is asked for and worth it.

    Transforms are tried on all rows where they are few, else on a sample of them. They are outputs
    of one fit with blind neurons: hidden outputs are the same for all.
    """
    rows, options = opened.rows, _options(model, opened)
    if not options:
        return fit(opened)
    whole = rows.whole()
    sample, some = sample_of(whole, opened.labels, opened.training.seed)
    transforms = (Identity(), *options)
    tried = opened._replace(rows=_transformed(sample, transforms, rows.chunk_size), labels=some)
    _, fitted, _, units = fit(tried, blind=True)
    scores = [
        left_out_score(fitted.left_out, fitted.scores, units.scaling, transform, j)
        for j, transform in enumerate(transforms)
    ]
    best = transforms[best_of(scores)]
    there = _transformed(whole, (best,), rows.chunk_size)
    return fit(opened._replace(rows=there, transform=best))


def _options(model: Any, opened: Opened) -> list[Transform]:
    """Return the transforms to try: none of several outputs, of separate tails, or unless asked."""
    # Skewness that a transform takes away needs no tails of their own: transforms come first.
    asked = model.target_transform == "auto" and model.symmetric and opened.classes is None
    rows = opened.rows
    if not asked or not isinstance(rows, ArrayRows) or int(rows.Y.shape[1]) > 1:
        return []
    return transforms_to_try(rows.Y, rows.s)


def _transformed(rows: Chunk, transforms: Sequence[Transform], chunk_size: int) -> ArrayRows:
    """Return rows with their target transformed, an output for each transform."""
    columns = [cast(transform.forward(rows.Y), rows.Y.dtype) for transform in transforms]
    Y = namespace(rows.Y).concat(columns, axis=1)
    return ArrayRows.of(rows._replace(Y=Y), chunk_size)
