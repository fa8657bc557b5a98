"""``elmband evaluate``: what a model is worth on rows that it has not seen."""

from time import perf_counter
from typing import Any

from elmband import ELMIntervalRegressor, ELMSelectiveClassifier
from elmband.cli._by import check_by, groups_by
from elmband.cli._by_said import by_lines
from elmband.cli._cluster import check_spread, seen_from, workers_of
from elmband.cli._dialect import asked_csv
from elmband.cli._files import loaded, named
from elmband.cli._labelled import (
    dropped,
    dropped_line,
    opened_labelled,
    share_of_training,
)
from elmband.cli._options import check_inputs, tell
from elmband.cli._status import UnkeptError
from elmband.cli._tolerance import check_tolerance, missed

# Where intervals are judged if no level is given.
_LEVELS = (0.5, 0.9, 0.95)
_SHOWN = 0.9


def evaluate(
    *,
    model: str,
    data: str,
    target: str | None,
    drop_missing_targets: bool,
    weight: str | None,
    delimiter: str | None,
    decimal: str | None,
    encoding: str | None,
    level: list[float] | None,
    by: list[str] | None,
    tolerance: float | None,
    workers: int | None,
    scheduler: str | None,
    as_json: bool,
) -> None:
    """Do what was asked for."""
    check_inputs(model, data)
    check_spread(data, scheduler)
    csv = asked_csv(delimiter, decimal, encoding)
    check_by(by, weight=weight, workers=workers, scheduler=scheduler)
    begun = perf_counter()
    fitted, data = loaded(model), seen_from(data, scheduler)
    _check_model(fitted, level)
    check_tolerance(fitted, tolerance)
    with (
        workers_of(workers, scheduler) as client,
        opened_labelled(
            fitted, data, target, weight=weight, drop_missing=drop_missing_targets, csv=csv
        ) as rows,
    ):
        found, facts = _evaluated(fitted, rows, level or [*_LEVELS], client)
        if client is None:
            facts["in_training"] = share_of_training(fitted, rows)
        if drop_missing_targets:
            facts["dropped_rows"] = dropped(rows, None if weight else found.n)
        if by:
            # Tables show one level, unless several were asked for.
            asked = level or [_SHOWN]
            judged = list(dict.fromkeys([*asked, *(level or _LEVELS)]))
            facts["by"] = groups_by(fitted, rows, by, judged, found)
    seconds = round(perf_counter() - begun, 3)
    wrong = missed(fitted, found, tolerance)
    facts |= {"model": named(model), "data": named(data), "seconds": seconds}
    facts |= {} if tolerance is None else {"kept": not wrong}
    lines = [str(found)]
    if drop_missing_targets:
        lines.append(dropped_line(facts["dropped_rows"]))
    lines += by_lines(facts["by"], level or [_SHOWN]) if by else []
    tell(facts, "\n\n".join(lines), as_json=as_json, outputs=())
    if wrong:
        raise UnkeptError(f"{wrong[0]}; --tolerance allows {tolerance:g}.")


def _check_model(model: Any, level: list[float] | None) -> None:
    """Refuse models that have nothing to be evaluated, and levels where there are no intervals."""
    if not isinstance(model, ELMIntervalRegressor | ELMSelectiveClassifier):
        raise ValueError(
            f"evaluate is for models with intervals, and for classifiers that abstain; this is an "
            f"{type(model).__name__}, whose score method tells how good it is."
        )
    if level and isinstance(model, ELMSelectiveClassifier):
        raise ValueError("--level is for intervals of numbers; the model answers with classes.")


def _evaluated(
    model: Any, rows: Any, levels: list[float], client: Any
) -> tuple[Any, dict[str, Any]]:
    """Return what was found, to print and as values."""
    if not isinstance(model, ELMSelectiveClassifier):
        found = model.evaluate(rows, confidence_level=levels, client=client)
        return found, found.to_dict()
    if not model.has_thresholds:
        model.choose(coverage=1.0)
    found = model.evaluate(rows, client=client)
    return found, found._asdict()
