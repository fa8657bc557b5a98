"""A fit with the transform of targets that rows left out gain most by."""

from collections.abc import Sequence
from typing import Any, NamedTuple, Protocol

from sklearn.base import is_classifier

from elmband.ground.arrays import cast, namespace
from elmband.stacks.pool import Pool
from elmband.sums.moments import Chunk
from elmband.sums.rows import ArrayRows, Rows
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


class Fit(Protocol):
    """A fit to rows and labels, with blind neurons where it is only to be compared."""

    def __call__(self, rows: Rows, labels: Any, *, blind: bool = False) -> FittedRows: ...


def fit_best_transform(model: Any, rows: Rows, labels: Any, fit: Fit) -> FittedRows:
    """Fit rows whose targets are as given, transformed if that is asked for and worth it.

    Transforms are tried on all rows where they are few, else on a sample of them. They are outputs
    of one fit with blind neurons: hidden outputs are the same for all.
    """
    options = _options(model, rows)
    if not options:
        return fit(rows, labels)
    whole = rows.whole()
    sample, some = sample_of(whole, labels, model._seed)  # noqa: SLF001
    transforms = (Identity(), *options)
    fitted = fit(_transformed(sample, transforms, rows.chunk_size), some, blind=True).fitted
    scores = [
        left_out_score(fitted.left_out, fitted.scores, model._targets, transform, j)  # noqa: SLF001
        for j, transform in enumerate(transforms)
    ]
    model.target_transform_ = best = transforms[best_of(scores)]
    return fit(_transformed(whole, (best,), rows.chunk_size), labels)


def _options(model: Any, rows: Rows) -> list[Transform]:
    """Return the transforms to try: none of several outputs, of separate tails, or unless asked."""
    # Skewness that a transform takes away needs no tails of their own: transforms come first.
    asked = model.target_transform == "auto" and model.symmetric and not is_classifier(model)
    if not asked or not isinstance(rows, ArrayRows) or int(rows.Y.shape[1]) > 1:
        return []
    return transforms_to_try(rows.Y, rows.s)


def _transformed(rows: Chunk, transforms: Sequence[Transform], chunk_size: int) -> ArrayRows:
    """Return rows with their target transformed, an output for each transform."""
    columns = [cast(transform.forward(rows.Y), rows.Y.dtype) for transform in transforms]
    Y = namespace(rows.Y).concat(columns, axis=1)
    return ArrayRows.of(rows._replace(Y=Y), chunk_size)
