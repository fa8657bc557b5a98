"""``elmband fit``: a table to a model."""

import math
from pathlib import Path
from time import perf_counter
from typing import Any, Literal

from elmband import ELMIntervalRegressor, ELMSelectiveClassifier
from elmband.cli._cluster import check_spread, seen_from, workers_of
from elmband.cli._dialect import asked_csv
from elmband.cli._files import named, writable
from elmband.cli._fit_said import fit_words, model_facts, size_facts
from elmband.cli._groups import check_grouping, groups_of
from elmband.cli._layers import read_layers
from elmband.cli._learn import (
    check_apart,
    check_kept,
    check_target,
    check_wishes,
    positive_class,
    promised,
)
from elmband.cli._model import check_width, opened
from elmband.cli._options import (
    check_inputs,
    one_wish,
    option,
    tell,
)
from elmband.cli._outputs import check_checkpoint, check_outputs
from elmband.cli._promise import Before, calibration_facts, calibration_lines
from elmband.cli._target import (
    check_numbers,
    option_words,
    read_numbers,
    target_option,
)
from elmband.cli._types import (
    check_roles,
    check_types,
    encoder_for,
    tell_columns,
)
from elmband.engines.checkpoint import kept_until_saved

# The default noise model needs several square matrices of this side: some seconds, and 1 GB.
_WIDEST = 4000


def fit(
    *,
    data: str,
    target: str,
    output: str,
    calibrate: str | None,
    drop_missing_targets: bool,
    features: list[str] | None,
    exclude: list[str] | None,
    types: list[str] | None,
    max_levels: str,
    weight: str | None,
    groups: str | None,
    transform: str,
    target_range: str,
    symmetric: str,
    classes: bool,
    coverage: float | None,
    max_error: float | None,
    max_fpr: float | None,
    min_precision: float | None,
    positive: str | None,
    neurons: str,
    learning_rounds: str,
    max_neurons: int | None,
    local_layers: list[str] | None,
    published: bool,
    delimiter: str | None,
    decimal: str | None,
    encoding: str | None,
    seed: int,
    checkpoint: Path | None,
    workers: int | None,
    scheduler: str | None,
    as_json: bool,
) -> None:
    """Do what was asked for."""
    if calibrate is not None:
        check_inputs(data, calibrate)
        check_apart(data, calibrate)
    check_spread(data, scheduler)
    check_grouping(
        groups,
        features,
        published=published,
        checkpoint=checkpoint,
        workers=workers,
        scheduler=scheduler,
    )
    if features and exclude:
        raise ValueError(
            "--feature names the columns to learn from; leave out --exclude beside it."
        )
    check_outputs([output], [data, calibrate])
    check_checkpoint(checkpoint, output)
    data = seen_from(data, scheduler)
    encoder, csv = encoder_for(types, max_levels), asked_csv(delimiter, decimal, encoding)
    check_roles(encoder, target=target, weight=weight, groups=groups)
    layers = read_layers(neurons, learning_rounds, max_neurons, local_layers, published=published)
    wishes = one_wish(
        coverage=coverage, max_error=max_error, max_fpr=max_fpr, min_precision=min_precision
    )
    numbers = read_numbers(transform, target_range, symmetric)
    check_numbers(numbers, published=published, classes=classes, positive=positive, **wishes)
    columns: dict[str, Any] = {
        "target": target,
        "weight": weight,
        "features": features or None,
        "exclude": exclude,
        "groups": groups,
        "widest": math.inf if published else _WIDEST,
        "drop_missing": drop_missing_targets,
        "csv": csv,
    }
    begun = perf_counter()
    with kept_until_saved():
        with opened(data, encoder=encoder, **columns) as rows:
            check_types(encoder, rows, named(data))
            # Text and dates give several features a column.
            check_width(rows.n_features, data, columns["widest"])
            text = check_target(rows, data, classes=classes)
            model = _made(layers.neurons, published=published, classes=classes or text, **wishes)
            _set_options(model, numbers, rows, positive)
            model.set_params(random_state=seed, **layers.learning)
            tell_columns(rows, groups, classes=isinstance(model, ELMSelectiveClassifier))
            labels = groups_of(rows, groups, data)
            with workers_of(workers, scheduler) as client, option_words(target):
                model.fit(rows, groups=labels, checkpoint=checkpoint, client=client)
            model.fitted_ = model.fitted_.with_group_name(groups)
            size = size_facts(rows, labels, drop_missing=drop_missing_targets)
        calibration = None
        if calibrate is not None:
            roles = {"target": target, "weight": weight, "drop_missing": drop_missing_targets}
            calibration = _calibrated(model, calibrate, wishes, groups, csv=csv, **roles)
        check_kept(model)
        with writable(output, ".safetensors") as path:
            model.save(path)
            nbytes = path.stat().st_size
    facts = {
        "output": output,
        "bytes": nbytes,
        "data": named(data),
        **size,
        "target": target,
        **model_facts(model),
        **({} if calibration is None else {"calibration": calibration}),
        "seconds": round(perf_counter() - begun, 3),
    }
    words = fit_words(model, facts)
    if calibration is not None:
        words[1:1] = calibration_lines(model, calibration)
    tell(facts, "\n".join(words), as_json=as_json, outputs=(output,))


def _calibrated(
    model: Any, data: str, wishes: dict[str, float], groups: str | None, **how: Any
) -> dict[str, Any]:
    """Turn estimates into promises by rows held out, and return what became of them."""
    before = Before.of(model)
    with opened(data, encoder=model.encoder_, **how) as held_out:
        # Groups of rows held out are counted only, however large they are.
        labels = None if groups is None else held_out.groups(groups)
        promised(model, held_out, wishes, labels)
        drop = how["drop_missing"]
        return calibration_facts(model, held_out, data, labels, before, drop_missing=drop)


def _set_options(model: Any, numbers: dict[str, Any], rows: Any, positive: str | None) -> None:
    """Hand what is asked of the target to a model, of numbers or of classes."""
    if isinstance(model, ELMIntervalRegressor):
        if positive is not None:
            raise ValueError("--positive is for classes; add --classes.")
        model.set_params(**numbers)
        return
    for name in numbers:
        raise ValueError(f"{target_option(name)} is for numbers; the target is classes.")
    if positive is not None:
        model.set_params(pos_label=positive_class(rows, positive))
    check_wishes(model, rows)


def _made(
    count: Any, *, published: bool, classes: bool, **wishes: float
) -> ELMIntervalRegressor | ELMSelectiveClassifier:
    if classes:
        noise: Literal["squared", "log"] = "squared" if published else "log"
        model = ELMSelectiveClassifier(count, noise=noise)
        model.set_params(**wishes)
        return model
    for asked in wishes:
        raise ValueError(f"{option(asked)} is for classes; add --classes.")
    if published:
        return ELMIntervalRegressor(count, noise="squared", calibration="gaussian")
    return ELMIntervalRegressor(count)
