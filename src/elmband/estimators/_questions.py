"""What can be asked of a fitted model about rows, with answers as arrays and as named columns.

A question is plain data and functions of modules, so that it can travel to where rows are.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from elmband.ground.arrays import Array, namespace, place, to_numpy
from elmband.models import classes, decisions, intervals
from elmband.models.fitted import Fitted
from elmband.models.intervals import Levels, check_levels, level_name
from elmband.models.thresholds import Thresholds
from elmband.uncertainty.calibrate import two_sided

Columns = dict[str, Array]


@dataclass(frozen=True, eq=False)
class Question:
    """What a method asks about a block of rows.

    `answer` gives an array (n, ...) or a named tuple of such; `columns` gives the same, or more, as
    columns (n,) with names, for tables and files. Answers in parts are of a `kind`, a plain tuple
    if there is none. Those that are `typed` keep their types in tables; files of numbers hold the
    place of one of the `words` instead. `series` is the name of a single column in Dask, where it
    is another one.
    """

    method: str
    answer: Callable[[Fitted, Array], Any]
    columns: Callable[[Fitted, Array], Columns]
    kind: Any = None
    typed: bool = False
    words: Any = None
    series: str = ""


def beside(parts: Columns) -> Columns:
    """Return values (n,) as they are, and values (n, m) output by output."""
    if all(values.ndim == 1 for values in parts.values()):
        return parts
    count = next(iter(parts.values())).shape[1]
    return {
        f"{name}_{output}": values[:, output]
        for output in range(count)
        for name, values in parts.items()
    }


def _named(fitted: Fitted, X: Array, answer: Callable[[Fitted, Array], Any], name: str) -> Columns:
    return beside({name: answer(fitted, X)})


def _one(method: str, answer: Callable[[Fitted, Array], Any], name: str, **how: Any) -> Question:
    """Return a question whose answer is a single array."""
    return Question(method, answer, partial(_named, answer=answer, name=name), **how)


def _fields(fitted: Fitted, X: Array, answer: Callable[[Fitted, Array], Any]) -> Columns:
    return beside(answer(fitted, X)._asdict())


def means() -> Question:
    """Ask for predicted means, (n,) or (n, m)."""
    return _one("predict", _means, "mean")


def _means(fitted: Fitted, X: Array) -> Array:
    return fitted.targets.shaped(intervals.means(fitted, X))


def means_and_deviations() -> Question:
    """Ask for means and standard deviations."""
    return Question("predict", _mean_and_std, _mean_std_columns)


def _mean_and_std(fitted: Fitted, X: Array) -> tuple[Array, Array]:
    parts, shaped = fitted.totals(X), fitted.targets.shaped
    mean = intervals.mean_in_units(fitted, parts, X)
    return shaped(mean), shaped(intervals.deviation(fitted, parts, X))


def _mean_std_columns(fitted: Fitted, X: Array) -> Columns:
    return beside(dict(zip(("mean", "std"), _mean_and_std(fitted, X), strict=True)))


def means_and_bounds(confidence_level: Any) -> Question:
    """Ask for means and intervals."""
    levels = check_levels(confidence_level)
    return Question(
        "predict",
        partial(_mean_and_bounds, levels=levels),
        partial(_bound_columns, levels=levels),
    )


def _mean_and_bounds(fitted: Fitted, X: Array, levels: Levels) -> tuple[Array, Array]:
    parts = fitted.totals(X)
    mean = fitted.targets.shaped(intervals.mean_in_units(fitted, parts, X))
    return mean, _interval(fitted, parts, levels, X)


def bounds(confidence_level: Any) -> Question:
    """Ask for intervals; tables have the means besides."""
    levels = check_levels(confidence_level)
    return Question(
        "predict_interval",
        partial(_bounds, levels=levels),
        partial(_bound_columns, levels=levels),
    )


def _bounds(fitted: Fitted, X: Array, levels: Levels) -> Array:
    return _interval(fitted, fitted.totals(X), levels, X)


def _interval(fitted: Fitted, parts: Any, levels: Levels, X: Array) -> Array:
    """Return bounds (n, m, 2, k), without the axes that nobody asked for."""
    found = intervals.intervals(fitted, parts, levels.values, X)
    found = found[..., 0] if levels.single else found
    return found[:, 0, ...] if fitted.targets.single_output else found


def _bound_columns(fitted: Fitted, X: Array, levels: Levels) -> Columns:
    ends = [level_name(level) for level in levels.values]
    if len(set(ends)) < len(ends):
        raise ValueError("confidence_level names a level twice; columns need different names.")
    parts, shaped = fitted.totals(X), fitted.targets.shaped
    found = {"mean": intervals.mean_in_units(fitted, parts, X)}
    for end, level in zip(ends, levels.values, strict=True):
        sides = intervals.bounds(fitted, parts, level, X)
        found |= dict(zip((f"lower_{end}", f"upper_{end}"), sides, strict=True))
    return beside({name: shaped(values) for name, values in found.items()})


def quantiles(shares: Any) -> Question:
    """Ask for quantiles, (n, k) or (n, m, k), without the last axis for a single one."""
    levels = check_levels(shares, "quantiles")
    answer = partial(_quantiles, levels=levels)
    return Question(
        "predict_quantiles", answer, partial(_quantile_columns, answer=answer, levels=levels)
    )


def _quantiles(fitted: Fitted, X: Array, levels: Levels) -> Array:
    parts = fitted.totals(X)
    columns = [intervals.quantile(fitted, parts, q, X) for q in levels.values]
    values = namespace(X).stack(columns, axis=-1)
    values = values[..., 0] if levels.single else values
    return values[:, 0, ...] if fitted.targets.single_output else values


def _quantile_columns(
    fitted: Fitted, X: Array, answer: Callable[[Fitted, Array], Array], levels: Levels
) -> Columns:
    found = answer(fitted, X)
    found = found[..., None] if levels.single else found
    names = [f"quantile_{level_name(q)}" for q in levels.values]
    return beside({name: found[..., k] for k, name in enumerate(names)})


def variances(confidence_level: Any) -> Question:
    """Ask for the variance in named parts."""
    z = two_sided(_single(confidence_level, "predict_variance takes"))
    answer, kind = partial(intervals.variance_parts, z=z), intervals.VarianceParts
    return Question("predict_variance", answer, partial(_fields, answer=answer), kind, typed=True)


def narrow_rows(max_width: Any, confidence_level: Any) -> Question:
    """Ask which rows have narrow intervals, (n,) of bool."""
    level = _single(confidence_level, "accept and triage take")
    return _one("accept", partial(_narrow, level=level, max_width=max_width), "accepted")


def _narrow(fitted: Fitted, X: Array, level: float, max_width: Any) -> Array:
    return intervals.narrow(fitted, fitted.totals(X), level, max_width, X)


def triage_by_width(max_width: Any, confidence_level: Any) -> Question:
    """Ask which rows are accepted by the width of their interval, and why others are not."""
    level = _single(confidence_level, "accept and triage take")
    answer = partial(_by_width, level=level, max_width=max_width)
    columns = partial(_width_columns, answer=answer)
    kind, words = intervals.IntervalTriage, intervals.REASONS
    return Question("triage", answer, columns, kind, typed=True, words=words)


def _by_width(fitted: Fitted, X: Array, level: float, max_width: Any) -> intervals.IntervalTriage:
    parts = fitted.parts(X)
    accepted = intervals.narrow(fitted, parts, level, max_width, X)
    reason = intervals.REASONS.take(to_numpy(intervals.reasons(parts, accepted)))
    mean = fitted.targets.shaped(intervals.mean_in_units(fitted, parts, X))
    interval = _interval(fitted, parts, Levels((level,), single=True), X)
    return intervals.IntervalTriage(mean, interval, accepted, reason)


def _width_columns(
    fitted: Fitted, X: Array, answer: Callable[[Fitted, Array], intervals.IntervalTriage]
) -> Columns:
    found = answer(fitted, X)
    sides = {"lower": found.interval[..., 0], "upper": found.interval[..., 1]}
    numbers = beside({"mean": found.mean, **sides})
    return {**numbers, "accepted": found.accepted, "reason": found.reason}


def _single(confidence_level: Any, who: str) -> float:
    levels = check_levels(confidence_level)
    if not levels.single:
        raise ValueError(f"{who} a single confidence_level.")
    return levels.values[0]


def class_decisions() -> Question:
    """Ask for ŷ on the scale of ±1."""
    return _one("decision_function", classes.decisions, "decision")


def class_labels() -> Question:
    """Ask for the label of every row."""
    return _one("predict", classes.labels, "label", typed=True, series="predict")


def class_shares() -> Question:
    """Ask for the probability of every class."""
    return Question("predict_proba", classes.shares, _share_columns)


def _share_columns(fitted: Fitted, X: Array) -> Columns:
    assert fitted.classes is not None
    found = classes.shares(fitted, X)
    names = [f"probability_{label}" for label in fitted.classes.labels]
    return {name: found[:, k] for k, name in enumerate(names)}


def class_confidence() -> Question:
    """Ask how certain labels are."""
    return _one("confidence", _confidence, "confidence")


def _confidence(fitted: Fitted, X: Array) -> Array:
    found = classes.answer(fitted, X)
    assert fitted.deciding is not None
    return _placed(fitted.deciding.confidence(found), X)


def certain_rows(thresholds: Thresholds) -> Question:
    """Ask which rows are answered."""
    return _one("accept", partial(_certain, thresholds=thresholds), "accepted")


def _certain(fitted: Fitted, X: Array, thresholds: Thresholds) -> Array:
    assert fitted.deciding is not None
    found = classes.answer(fitted, X)
    return _placed(thresholds.accepted(fitted.deciding.confidence(found), found.place), X)


def triage_by_confidence(thresholds: Thresholds) -> Question:
    """Ask for labels, which of them are accepted, how certain they are, and why others are not."""
    answer = partial(_by_confidence, thresholds=thresholds)
    columns = partial(_fields, answer=answer)
    kind, words = decisions.Triage, decisions.REASONS
    return Question("triage", answer, columns, kind, typed=True, words=words)


def _by_confidence(fitted: Fitted, X: Array, thresholds: Thresholds) -> decisions.Triage:
    assert fitted.deciding is not None
    assert fitted.classes is not None
    found = classes.answer(fitted, X, whole=True)
    score = fitted.deciding.confidence(found)
    accepted = thresholds.accepted(score, found.place)
    reasons = decisions.REASONS.take(fitted.deciding.usual.reasons(found, accepted))
    return decisions.Triage(fitted.classes.labels.take(found.place), accepted, score, reasons)


def all_of_classes(thresholds: Thresholds | None = None) -> Question:
    """Ask for labels, probabilities and confidence at once, with thresholds for reasons as well."""
    answer = partial(_all_of_classes, thresholds=thresholds)
    return Question("predict_proba", answer, partial(_all_columns, answer=answer), typed=True)


def _all_of_classes(fitted: Fitted, X: Array, thresholds: Thresholds | None) -> tuple[Any, ...]:
    assert fitted.classes is not None
    if fitted.deciding is None:
        told = classes.decisions(fitted, X)
        return fitted.classes.decided(told), classes.shares_of(fitted, told)
    found, told = classes.answer_and_decisions(fitted, X, whole=thresholds is not None)
    score = fitted.deciding.confidence(found)
    parts = fitted.classes.decided(told), classes.shares_of(fitted, told), _placed(score, X)
    if thresholds is None:
        return parts
    accepted = thresholds.accepted(score, found.place)
    return *parts, decisions.REASONS.take(fitted.deciding.usual.reasons(found, accepted))


def _all_columns(
    fitted: Fitted, X: Array, answer: Callable[[Fitted, Array], tuple[Any, ...]]
) -> Columns:
    assert fitted.classes is not None
    label, shares, *others = answer(fitted, X)
    named = {f"probability_{one}": shares[:, k] for k, one in enumerate(fitted.classes.labels)}
    return {"label": label, **named, **dict(zip(("confidence", "reason"), others, strict=False))}


def _placed(values: Any, like: Array) -> Array:
    """Return an array in the library of the rows, of its own dtype."""
    if isinstance(like, np.ndarray):
        return values
    xp = namespace(like)
    return place(values, like, xp.bool if values.dtype == np.bool_ else xp.float64)


def as_numbers(question: Question, columns: Columns, *, names: Sequence[str]) -> Any:
    """Return columns of several types as numbers, side by side."""
    found = []
    for name in names:
        values = to_numpy(columns[name])
        if name == "reason":
            values = np.argmax(values[:, None] == question.words, axis=1)
        elif values.dtype.kind not in "iufb":
            raise ValueError(
                f"{question.method} writes numbers only to such a file, and its {name}s are text; "
                "write a table, such as .parquet or .csv."
            )
        found.append(values.astype(np.float64))
    return np.stack(found, axis=1)
