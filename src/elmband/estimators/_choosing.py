"""A fit with the transform of targets that rows left out gain most by."""

from collections.abc import Callable
from typing import Any, NamedTuple

from sklearn.base import is_classifier

from elmband._arrays import cast
from elmband.moments import Chunk
from elmband.pool import Pool
from elmband.predictive import FittedPredictive
from elmband.rows import ArrayRows, Rows
from elmband.transform import Identity, Transform
from elmband.transform_choice import best_of, left_out_score, sample_of, transforms_to_try


class FittedRows(NamedTuple):
    """A fit, with the pool of rows that it was judged on."""

    pool: Pool
    fitted: FittedPredictive


Fit = Callable[[Rows, Any], FittedRows]

# What a fit notes of targets, besides its result.
_NOTED = ("target_transform_", "_targets", "_support", "_range")


def fit_best_transform(model: Any, rows: Rows, labels: Any, fit: Fit) -> FittedRows:
    """Fit rows whose targets are as given, transformed if that is asked for and worth it.

    Every transform is tried on all rows where they are few, else on a sample of them.
    """
    options = _options(model, rows)
    if not options:
        return fit(rows, labels)
    whole = rows.whole()
    sample, some = sample_of(whole, labels, model._seed)  # noqa: SLF001
    results, scores = [], []
    for transform in (Identity(), *options):
        model.target_transform_ = transform
        found = fit(_transformed(sample, transform, rows.chunk_size), some)
        fitted = found.fitted
        scores.append(left_out_score(fitted.left_out, fitted.scores[0], model._targets, transform))  # noqa: SLF001
        results.append((found, {name: getattr(model, name) for name in _NOTED}))
    found, noted = results[best_of(scores)]
    vars(model).update(noted)
    if sample is whole:
        return found
    return fit(_transformed(whole, model.target_transform_, rows.chunk_size), labels)


def _options(model: Any, rows: Rows) -> list[Transform]:
    """Return the transforms to try: none of several outputs, of separate tails, or unless asked."""
    asked = model.target_transform == "auto" and model.symmetric and not is_classifier(model)
    if not asked or not isinstance(rows, ArrayRows) or int(rows.Y.shape[1]) > 1:
        return []
    return transforms_to_try(rows.Y, rows.s)


def _transformed(rows: Chunk, transform: Transform, chunk_size: int) -> ArrayRows:
    Y = cast(transform.forward(rows.Y), rows.Y.dtype)
    return ArrayRows.of(rows._replace(Y=Y), chunk_size)
