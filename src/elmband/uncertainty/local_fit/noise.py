"""Local layers for the size of the noise: how much larger errors of a level are than a model says.

With m(x) what the noise model says of the mean absolute error, the target of a stage is |e| / m - 1
of rows left out, and 1 + u the factor that it adds. Absolute errors have lighter tails than squares
have. A stage is kept where the deviance of a Laplace distribution, the mean of log m + |e| / m,
falls by enough.
"""

from collections.abc import Callable
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from elmband.engines import engine
from elmband.ground.arrays import Array, double, to_numpy
from elmband.stacks.local_layers import LocalLayers, LocalNoise, bounded_factor
from elmband.stacks.more_rows import KnownRows
from elmband.uncertainty.local_fit.choose import (
    LocalFit,
    choose_columns,
    local_stage,
    stage_leverages,
    stage_width,
)
from elmband.uncertainty.local_fit.stage import StageFit, fit_stage

Floats: TypeAlias = np.ndarray[Any, np.dtype[np.float64]]
Deviation: TypeAlias = Callable[[Floats, Floats, Floats], Floats]
"""From inputs (n, d), means and errors (n,) to standard deviations of the noise on their side."""

# By so much the deviance must fall.
_LEAST_GAIN = 0.005
_LEAST_FREE = 0.2
# The size of errors is known less well than the errors: so many rows and shared outputs are enough.
_MOST_ROWS, _MOST_WIDTH = 400_000, 200
_ROWS_AT_ONCE = 8192


class KnownNoise(NamedTuple):
    """Factors of the noise: of any rows, and of those that are known, each left out, (n,)."""

    noise: LocalNoise
    known: Floats


def fit_local_noise(local: LocalFit, known: KnownRows, deviation: Deviation) -> KnownNoise | None:
    """Fit local layers to the size of errors, or None where none are worth it.

    `known` are rows with their errors when left out.
    """
    local = local.first(_MOST_ROWS)
    rows, errors = local.rows, local.left_out
    size = _sizes(local, deviation)
    unit = float(rows.s @ (np.abs(errors) / size) / rows.s.sum())
    ratio = np.abs(errors) / (size * unit)
    order = choose_columns(
        rows,
        local.inputs,
        local.columns,
        target=ratio - 1,
        score=lambda target, one: _gain(1 + target, one, rows_of=None),
        least=_LEAST_GAIN / 2,
        after=_after,
    )
    X, s = (to_numpy(double(a)) for a in (known.judged.rows.X, known.judged.s))
    e = to_numpy(double(known.errors))[:, 0]
    mean = to_numpy(double(known.judged.rows.Y))[:, 0] - e
    mine = np.abs(e) / (deviation(X, mean, e) * unit)
    stages, factor, target = [], np.ones(len(e)), ratio - 1
    for c in order:
        column = local.columns[c]
        width = min(stage_width(rows, column, local.layers.shared), _MOST_WIDTH)
        one = fit_stage(
            rows, local.inputs, rows.levels[:, c], column.levels.n_levels, target, width
        )
        gain = _gain(1 + target, one, rows_of=rows.s)
        if gain < _LEAST_GAIN:
            continue
        stage = local_stage(column, one, gain)
        layers = LocalLayers(local.layers.shared, (stage,))
        u = layers.added(X)[0]
        a = s * stage_leverages(layers, X, one, stage)
        left_out = (u - a * (mine - 1)) / np.maximum(1 - a, _LEAST_FREE)
        step = bounded_factor(left_out)
        factor, mine = factor * step, mine / step
        stages.append(stage)
        target = _after(target, one)
    if not stages:
        return None
    return KnownNoise(LocalNoise(LocalLayers(local.layers.shared, tuple(stages))), factor)


def _sizes(local: LocalFit, deviation: Deviation) -> Floats:
    """Return what a noise model says of the rows that local layers are fitted to."""
    rows, inputs = local.rows, local.layers.shared.inputs
    mean = rows.mean + rows.target - local.left_out

    def sizes(start: int) -> Floats:
        part = slice(start, start + _ROWS_AT_ONCE)
        Z = local.inputs.layout.standardised(rows.numbers[part], rows.marks[part])
        X = Z.astype(np.float64) * np.asarray(inputs.scale) + np.asarray(inputs.mean)
        return deviation(X, mean[part], local.left_out[part])

    found = engine.for_all(sizes, range(0, rows.n, _ROWS_AT_ONCE))
    return np.maximum(np.concatenate(found), 1e-300)


def _after(target: Floats, one: StageFit) -> Floats:
    """Return the targets of the next stage, once a factor was taken out of ratios."""
    left: Floats = (1 + target) / bounded_factor(target - one.left_out) - 1
    return left


def _gain(ratio: Floats, one: StageFit, rows_of: Floats | None) -> float:
    """Return by how much the deviance falls where ratios are divided by factors."""
    factor = bounded_factor(ratio - 1 - one.left_out)
    fall = ratio - np.log(factor) - ratio / factor
    return float(np.average(fall, weights=rows_of))


def noise_on_device(noise: LocalNoise, like: Array) -> LocalNoise:
    """Return local layers of the noise where the other parts of a model are."""
    return noise if isinstance(like, np.ndarray) else noise.to(like)
