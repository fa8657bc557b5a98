"""``elmband evaluate``: what a model is worth on rows that it has not seen."""

from collections.abc import Iterator
from time import perf_counter
from typing import Annotated, Any

import numpy as np
import typer

from elmband import ELMIntervalRegressor, ELMSelectiveClassifier
from elmband.cli._cluster import Scheduler, Workers, check_spread, seen_from, workers_of
from elmband.cli._files import loaded, named
from elmband.cli._model import opened
from elmband.cli._options import AsJson, Labelled, Levels, Model, Truth, check_inputs, tell
from elmband.cli._status import UnkeptError
from elmband.cli._training_rows import share_of_training

EXAMPLE = (
    "Example: [bold]elmband evaluate delay.safetensors test.parquet --target delay[/bold]\n\n"
    "Example: [bold]elmband evaluate delay.safetensors test.parquet --target delay --level 0.9 "
    "--tolerance 0.02 || echo 'train it again'[/bold]"
)


def evaluate(
    *,
    model: Model,
    data: Labelled,
    target: Truth,
    weight: Annotated[str | None, typer.Option(help="Column with weights of rows.")] = None,
    level: Levels = None,
    tolerance: Annotated[
        float | None,
        typer.Option(
            help="End with status 3 if the model misses what it was asked for by more than this: "
            "the level of intervals, or the shares that were given to fit.",
            min=0,
            max=1,
        ),
    ] = None,
    workers: Workers = None,
    scheduler: Scheduler = None,
    as_json: AsJson = False,
) -> None:
    """Print errors, and what intervals cover, on rows that training did not see.

    A note says how many of them it saw, where the model knows. Intervals are judged at 0.5, 0.9
    and 0.95 if no level is given.
    """
    check_inputs(model, data)
    check_spread(data, scheduler)
    begun = perf_counter()
    fitted, data = loaded(model), seen_from(data, scheduler)
    if tolerance is not None and not isinstance(
        fitted, ELMIntervalRegressor | ELMSelectiveClassifier
    ):
        raise ValueError(f"A {type(fitted).__name__} says nothing that --tolerance could check.")
    columns: dict[str, Any] = {"target": target, "weight": weight}
    with (
        workers_of(workers, scheduler) as client,
        opened(data, encoder=fitted.encoder_, **columns) as rows,
    ):
        found, facts = _evaluated(fitted, rows, level or [0.5, 0.9, 0.95], client)
        if client is None:
            facts["in_training"] = share_of_training(fitted, rows)
    seconds = round(perf_counter() - begun, 3)
    missed = [] if tolerance is None else [*_missed(fitted, found, tolerance)]
    facts |= {"model": named(model), "data": named(data), "seconds": seconds}
    facts |= {} if tolerance is None else {"kept": not missed}
    tell(facts, str(found), as_json=as_json, outputs=())
    if missed:
        raise UnkeptError(f"{missed[0]}; --tolerance allows {tolerance:g}.")


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


def _missed(model: Any, found: Any, tolerance: float) -> Iterator[str]:
    """Yield in words what is not as it should be, by more than the tolerance."""
    for wanted, seen, what in _compared(model, found):
        if wanted - seen > tolerance:
            yield f"{what} {seen:.4g} instead of {wanted:g}"


def _compared(model: Any, found: Any) -> Iterator[tuple[float, float, str]]:
    """Yield shares that should be reached and those that are, the larger the better."""
    if isinstance(model, ELMIntervalRegressor):
        for level in found.levels:
            what = f"Intervals of {100 * level.confidence_level:.6g} % cover a share of"
            for coverage in np.atleast_1d(level.coverage).tolist():
                yield level.confidence_level, coverage, what
        return
    if model.max_error is not None:
        yield 1 - model.max_error, 1 - found.error, "The share of answered rows that are right is"
    if model.max_fpr is not None:
        yield (
            1 - model.max_fpr,
            1 - found.fpr,
            "The share of negatives that are not answered as positive is",
        )
    if model.min_precision is not None:
        yield (
            model.min_precision,
            found.precision,
            "The share of rows answered as positive that are so is",
        )
    if model.coverage is not None:
        yield model.coverage, found.answered, "The share of rows that are answered is"
