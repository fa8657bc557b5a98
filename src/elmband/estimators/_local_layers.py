"""Local layers: which columns they are asked for, and what people are told of those there are."""

import warnings
from collections.abc import Sequence
from typing import Any, NamedTuple

from elmband.estimators._parameters import Settings
from elmband.ground.callers import level_of_caller
from elmband.models.fitted import Fitted, Inputs
from elmband.stacks.ensemble import Stack
from elmband.stacks.pool import Pool
from elmband.uncertainty.local_fit import (
    LEAST_ROWS,
    LocalColumns,
    LocalFit,
    LocalSettings,
    fit_local,
    known_columns,
)
from elmband.uncertainty.targets import is_auto


def fit_local_layers(
    model: Any, inputs: Inputs, settings: Settings, pool: Pool, stack: Stack
) -> LocalFit | None:
    """Fit layers for the levels of columns; refuse columns that cannot have any."""
    wanted = model.local_layers
    if wanted is None or wanted is False:
        return None
    columns: LocalColumns = "auto"
    if not is_auto(wanted):
        known = known_columns(inputs.encoder, inputs.names, int(pool.rows.like.shape[1]))
        columns = _named_columns(wanted, known)
        _check_one_output(pool, int(stack.weights.shape[1]))
    elif settings.specs is not None:
        return None
    found = fit_local(pool, stack, LocalSettings(columns, inputs.encoder, inputs.names))
    if found is None and isinstance(columns, tuple):
        _warn_no_local_layers(columns, pool.n_distinct)
    return found


def _check_one_output(pool: Pool, count: int) -> None:
    """Refuse columns that are named where there can be no local layers."""
    if pool.labels is not None:
        raise ValueError(
            "local_layers cannot be named beside groups: a level is not left out with its group."
        )
    if count > 1:
        raise ValueError(f"local_layers is for one output; y has {count}. Fit a model for each.")


def _named_columns(names: Any, known: Sequence[str]) -> tuple[str, ...]:
    """Check the parameter `local_layers` where it names columns."""
    if not isinstance(names, list | tuple) or not all(isinstance(name, str) for name in names):
        raise ValueError(
            f"local_layers must be 'auto', None or a list of names of columns; got {names!r}."
        )
    for name in names:
        if name not in known:
            some = ", ".join(known[:10]) + (", ..." if len(known) > 10 else "")
            raise ValueError(f"local_layers names {name!r}, which is no column; there are {some}.")
    return tuple(names)


def _warn_no_local_layers(columns: Sequence[str], n: int) -> None:
    """Say that columns that were asked for have no layers of their own, and why."""
    why = "errors of rows left out do not fall enough by them"
    if n < LEAST_ROWS:
        why = f"they take {LEAST_ROWS:,} different rows, and there are {n:,}"
    warnings.warn(
        f"No level of {', '.join(columns)} has a layer of its own: {why}.",
        UserWarning,
        stacklevel=level_of_caller(),
    )


class LocalSummary(NamedTuple):
    """Output layers of their own for every level of a column.

    `part` is the mean or the noise, `kind` what levels are (levels of text, values, quantiles,
    days, weeks or months), and `levels` how many of them have a layer. `gain` is the share by which
    the stage lowered the error of rows left out, or, of noise, their deviance.
    """

    column: str
    part: str
    kind: str
    levels: int
    gain: float


def local_summaries(fitted: Fitted) -> tuple[LocalSummary, ...]:
    """Return what local layers a model has, those of the mean first."""
    noise = () if fitted.predictive is None else fitted.predictive.noise
    parts = [("mean", None if fitted.stack is None else fitted.stack.local)]
    parts += [("noise", None if one.local is None else one.local.layers) for one in noise]
    return tuple(
        LocalSummary(stage.column, part, stage.kind, stage.n_layers, stage.gain)
        for part, layers in parts
        if layers is not None
        for stage in layers.stages
    )
