"""What follows a stack: covariances, noise models, and scores of rows left out.

Noise targets are q = r·e, the product of a row's residual and its residual when left out: for one
linear layer that is r² / (1 - lev), unbiased for the noise alone. Separate tails have noise models
of their own, trained on the rows whose residual has their sign.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, NamedTuple, Self, TypeAlias

import numpy as np

from elmband.engines import engine
from elmband.ground.arrays import Array, double, namespace, place, to_numpy
from elmband.layers.hidden import FeatureMap, LayerSpec
from elmband.layers.member import Judged
from elmband.layers.output_layer import AlphaRule
from elmband.stacks.ensemble import Stack
from elmband.stacks.mean_stack import MeanStack
from elmband.stacks.more_rows import KnownRows, with_more_rows
from elmband.stacks.pool import Pool
from elmband.stacks.search import NOISE_ROWS
from elmband.stacks.stack_variance import mean_uncertainty
from elmband.uncertainty import tails
from elmband.uncertainty.calibrate import OutputScores, RowScores, row_scores
from elmband.uncertainty.left_out import LEAST_R2, LeftOut
from elmband.uncertainty.local_fit import (
    KnownNoise,
    LocalFit,
    fit_local_noise,
    noise_on_device,
    on_device,
)
from elmband.uncertainty.mean import in_mean_weights
from elmband.uncertainty.noise.log import LogNoise
from elmband.uncertainty.noise.output import NoiseLayer, NoiseModels, OutputNoise, Side, with_mean
from elmband.uncertainty.precision import Precision, improved, is_narrower, refitted, worth_trying
from elmband.uncertainty.predictive import Predictive

Floats: TypeAlias = np.ndarray[Any, np.dtype[np.float64]]
Symmetric: TypeAlias = bool | Literal["auto"]

# Noise models of more than a thousand times so many rows leave their products to threads of BLAS.
_SMALL_ROWS = 10
# Local layers that lower errors by such a share stay; others must lower interval scores as well.
_CLEAR_GAIN, _LEAST_GAIN = 0.05, 0.005


class FittedPredictive(NamedTuple):
    """A predictive distribution, scores of training rows left out, and what was said of them.

    `symmetric` tells whether both tails are alike, `reweighted` whether the mean was trained again
    with weights 1 / variance.
    """

    predictive: Predictive
    row_scores: RowScores
    left_out: LeftOut
    symmetric: bool
    reweighted: bool = False

    @property
    def scores(self) -> tuple[OutputScores, ...]:
        """The sorted scores of every output."""
        return self.row_scores.outputs()


_Fitted: TypeAlias = tuple[FittedPredictive, Floats | None]
"""What is fitted, and interval scores of rows left out, None where they are too few to tell."""


class NoiseSettings(NamedTuple):
    """The noise model's layer and its γ (None: to be chosen), and whether tails are alike.

    With "auto" rows left out decide. Noise is learned from at most `n_rows`. If there is a
    `mean_rule` the mean may be trained again with weights 1 / variance; it is how γ is chosen, and
    `reweight` tells whether to do so.
    """

    spec: LayerSpec | None
    alpha: float | None
    symmetric: Symmetric
    n_rows: int = NOISE_ROWS
    mean_rule: AlphaRule | None = None
    reweight: bool | Literal["auto"] = "auto"

    def in_mean_weights(self, weight: float) -> Self:
        """Return the same for rows whose weights were divided by `weight`."""
        alpha = None if self.alpha is None else self.alpha / weight
        rule = None if self.mean_rule is None else in_mean_weights(self.mean_rule, weight)
        return self._replace(alpha=alpha, mean_rule=rule)


@dataclass(frozen=True, eq=False)
class Copies:
    """The original rows behind the judged distinct ones.

    `owner` is the position of each among the judged rows, `gap` its target less that of the
    distinct row, `s` its weight. Where all rows are distinct nothing is to be done.
    """

    owner: np.ndarray[Any, np.dtype[np.int64]]
    gap: Array
    s: Array
    distinct: bool

    @classmethod
    def of(cls, pool: Pool, judged: Judged, index: np.ndarray[Any, np.dtype[np.int64]]) -> "Copies":
        """Find the rows behind judged rows, which are at these positions of a pool."""
        mean = double(judged.rows.Y)
        xp, everyone = namespace(mean), pool.distinct
        position = np.full(everyone.rows.X.shape[0], -1)
        position[index] = np.arange(len(index))
        rows = np.flatnonzero(position[everyone.owner] >= 0)
        owner = position[everyone.owner[rows]]
        if len(rows) == len(index):
            return cls(owner, xp.zeros_like(mean), judged.s, distinct=True)
        where = place(rows, mean, xp.int64)
        Y, s = xp.take(everyone.Y, where, axis=0), xp.take(everyone.s, where, axis=0)
        gap = Y - xp.take(mean, place(owner, mean, xp.int64), axis=0)
        return cls(owner, gap, s, distinct=False)

    def spread(self, values: Array) -> Array:
        """Hand values of judged rows (n, ·) to the rows behind them."""
        if self.distinct:
            return values
        xp = namespace(values)
        return xp.take(values, place(self.owner, values, xp.int64), axis=0)

    def merged(self, values: Array) -> Array:
        """Return the weighted mean over the rows behind each judged row, (n, m)."""
        if self.distinct:
            return values
        s = to_numpy(self.s)
        total = np.bincount(self.owner, s)
        columns = [np.bincount(self.owner, s * column) / total for column in to_numpy(values).T]
        return place(np.stack(columns, axis=1), values)


class _Errors(NamedTuple):
    """Errors e of rows left out, their squares r·e, and the variance of the mean, each (n, m).

    The first two are of original rows, the last of judged ones.
    """

    e: Array
    squares: Array
    of_mean: Array


class _Noise(NamedTuple):
    """Sides of every output, variances of the tails, scores, and whether both tails are alike."""

    sides: list[tuple[Side, Side, Side]]
    totals: list[Array]
    scores: RowScores
    symmetric: bool


def fit_predictive(
    pool: Pool, stack: Stack, settings: NoiseSettings, local: LocalFit | None = None
) -> FittedPredictive:
    """Go on from a stack: covariances, noise models, and scores of rows left out.

    Rows left out know the `local` layers that were fitted to what the stack leaves over. Where
    these gain little, intervals of rows left out decide whether they are kept: the mean may gain
    less than the noise model, which sees fewer differences between rows, loses.
    """
    if local is None:
        return _reweighted(pool, stack, settings)[0]
    fitted, scores = _fit_to(pool, stack, settings, local)
    if scores is None or local.named or local.layers.gain >= _CLEAR_GAIN:
        return fitted
    without, before = _reweighted(pool, stack, settings)
    if before is None or len(before) != len(scores):
        return fitted
    s = fitted.row_scores.s
    return fitted if s @ scores < (1 - _LEAST_GAIN) * (s @ before) else without


def _reweighted(pool: Pool, stack: Stack, settings: NoiseSettings) -> _Fitted:
    """Go on from a stack without local layers.

    Where noise differs much between rows, the mean is trained again with weights 1 / variance if
    rows left out gain by it, and all that follows as well. Local layers know nothing of that.
    """
    fitted, scores = _fit_to(pool, stack, settings)
    rule, auto = settings.mean_rule, settings.reweight == "auto"
    if rule is None or settings.reweight is False or (auto and not worth_trying(fitted.left_out)):
        return fitted, scores
    predictive = fitted.predictive
    precision = Precision.of(predictive.stack, predictive.noise, stack.judged.weighted_rows)
    other = (improved if auto else refitted)(pool, stack, precision, rule)
    if other is None:
        return fitted, scores
    again, new_scores = _fit_to(pool, other, settings._replace(symmetric=fitted.symmetric))
    if auto and not is_narrower(new_scores, scores, fitted.row_scores.s):
        return fitted, scores
    return again._replace(reweighted=True), new_scores


def _fit_to(
    pool: Pool, stack: Stack, settings: NoiseSettings, local: LocalFit | None = None
) -> _Fitted:
    """Go on from a stack whose members stay as they are."""
    mean, rows = _known_rows(pool, stack, settings.n_rows)
    if local is not None:
        rows = local.known(rows)
        mean = replace(mean, local=on_device(local.layers, stack.weights))
    copies = Copies.of(pool, rows.judged, rows.places)
    xp = namespace(stack.weights)
    Y, left_out = double(rows.judged.rows.Y), rows.errors
    e = copies.spread(left_out) + copies.gap
    squares = xp.clip((copies.spread(rows.residuals) + copies.gap) * e, min=0.0)
    errors = _Errors(e, squares, rows.std**2)
    # Small products of few rows: threads of BLAS would wait for each other.
    with engine.limit_blas(len(rows.places) // _SMALL_ROWS):
        outputs = _output_noise(pool, rows, copies, errors, settings)
        noise = _fit_noise(outputs, copies, errors, settings.symmetric)
        # Where classes meet errors are large, which is no noise of their own.
        factors = None
        if local is not None and not pool.classes:
            factors = _local_noise(local, rows, outputs, noise)
        if factors is not None:
            noise = _with_scores(noise.sides, outputs, copies, errors, factors)
    log_factor = None if factors is None else place(2 * np.log(factors.known), Y)
    variances = [both.known.times(log_factor) for both, _, _ in noise.sides]
    known = left_out_rows(copies, Y, left_out)._replace(
        noise=copies.spread(xp.stack([v.noise for v in variances], axis=1)),
        mean_model=copies.spread(rows.std**2),
        noise_model=copies.spread(xp.stack([v.excess for v in variances], axis=1)),
    )
    beside = None if factors is None else noise_on_device(factors.noise, Y)
    models = tuple(
        NoiseModels(both, above, below, output.orientation, beside)
        for (both, above, below), output in zip(
            _models(noise.sides, mean.members[0].features), outputs, strict=True
        )
    )
    fitted = FittedPredictive(Predictive(mean, models), noise.scores, known, noise.symmetric)
    if rows.judged.folds is None or settings.mean_rule is None:
        return fitted, None
    folds, symmetric = rows.judged.folds[copies.owner], noise.symmetric
    return fitted, tails.left_out_interval_scores(
        errors.e, noise.totals, noise.scores, folds, symmetric=symmetric
    )


def _models(
    sides: list[tuple[Side, Side, Side]], features: FeatureMap
) -> list[tuple[LogNoise, LogNoise, LogNoise]]:
    """Return the noise models of all outputs, with neurons as narrow as those of the mean."""
    found = [(both.model, above.model, below.model) for both, above, below in sides]
    if features.dtype == features.inputs.mean.dtype:
        return found
    # Equal ones stay one and the same.
    narrow = {id(model): model.narrowed() for models in found for model in models}
    return [(narrow[id(b)], narrow[id(u)], narrow[id(d)]) for b, u, d in found]


def _output_noise(
    pool: Pool, rows: KnownRows, copies: Copies, errors: _Errors, settings: NoiseSettings
) -> list[OutputNoise]:
    """Draw the layers of noise models of all outputs."""
    q = copies.merged(errors.squares)
    means = _known_means(double(rows.judged.rows.Y), rows.errors, rows.judged.s)
    layer = NoiseLayer(*settings[:2])
    return [
        OutputNoise.of(pool, rows.judged, known, q[:, j], layer) for j, known in enumerate(means)
    ]


def _local_noise(
    local: LocalFit, rows: KnownRows, outputs: Sequence[OutputNoise], noise: _Noise
) -> KnownNoise | None:
    """Fit local layers to how much larger errors are than noise models say.

    Layers come after the models, which see far fewer rows: models fitted in units of the layers
    would take out again what these have mended.
    """
    (output,), ((_, above, below),) = outputs, noise.sides

    def deviation(X: Floats, mean: Floats, errors: Floats) -> Floats:
        beside = with_mean(place(X, output.X), place(mean, output.X) * output.orientation)
        logs = to_numpy(above.model.log_variance(beside))
        if not noise.symmetric:
            logs = np.where(errors > 0, logs, to_numpy(below.model.log_variance(beside)))
        found: Floats = np.exp(logs / 2)
        return found

    return fit_local_noise(local, rows, deviation)


def _known_rows(pool: Pool, stack: Stack, size: int) -> tuple[MeanStack, KnownRows]:
    """Return the mean with its covariances, and the rows that noise is to be learned from."""
    judged, copies = stack.judged, Copies.of(pool, stack.judged, stack.index)
    xp = namespace(stack.weights)
    # Weights need not add up to one: what they lack of y stays in both residuals.
    lacking = (1 - xp.sum(stack.weights, axis=0)) * double(judged.rows.Y)
    residuals = stack.combined(lambda f: f.left.residuals) + lacking
    r, e = (copies.spread(part) + copies.gap for part in (residuals, stack.honest))
    q = copies.merged(xp.clip(r * e, min=0.0))
    with engine.limit_blas(max(spec.n_neurons for spec in stack.specs)):
        uncertainty = engine.for_all(lambda fitted: mean_uncertainty(fitted, q), stack.fitted)
    std: Array = 0.0
    for k, u in enumerate(uncertainty):
        std = std + xp.sqrt(u.left_out) * stack.weights[k, :][None, :]
    members = tuple(f.member for f in stack.fitted)
    mean = MeanStack(members, stack.weights, tuple(u.covariance for u in uncertainty))
    rows = KnownRows(judged, stack.index, residuals, stack.honest, std)
    if len(stack.index) < min(size, len(pool.order)):
        rows = with_more_rows(pool, stack, rows, mean.roots, size)
    return mean, rows


def _known_means(Y: Array, left_out: Array, s: Array) -> list[Array]:
    """Return the mean of each output as predicted for rows left out, zero where it tells nothing.

    A mean that explains nothing tells of a row left out only what the row's own target is.
    """
    means = []
    for j in range(Y.shape[1]):
        mean = (Y - left_out)[:, j]
        nothing = _squares(left_out[:, j], s) > (1 - LEAST_R2) * _squares(Y[:, j], s)
        means.append(0 * mean if nothing else mean)
    return means


def _fit_noise(
    outputs: Sequence[OutputNoise], copies: Copies, errors: _Errors, symmetric: Symmetric
) -> _Noise:
    """Fit noise models of all outputs, with tails of their own if asked for or if that helps."""
    q = copies.merged(errors.squares)
    both = [output.both(q[:, j]) for j, output in enumerate(outputs)]
    alike = _with_scores([(side,) * 3 for side in both], outputs, copies, errors)
    if symmetric is True:
        return alike
    folds = outputs[0].judged.folds
    if symmetric == "auto":
        columns = to_numpy(copies.spread(outputs[0].X))
        counted = tails.takes_few_values(to_numpy(outputs[0].judged.rows.Y))
        if folds is None or counted or not tails.look_skewed(alike.scores, columns):
            return alike
    both_tails = engine.for_all(lambda sign: _tail_sides(outputs, copies, errors, sign), (1, -1))
    sides = list(zip(both, *both_tails, strict=True))
    separate = _with_scores(sides, outputs, copies, errors)
    if symmetric is False or folds is None:
        return separate
    scores = alike.scores, separate.scores
    gain = tails.tails_gain(errors.e, alike.totals, separate.totals, scores, folds[copies.owner])
    return separate if gain else alike


def _tail_sides(
    outputs: Sequence[OutputNoise], copies: Copies, errors: _Errors, sign: int
) -> list[Side]:
    """Fit the noise models of one tail, each to the residuals of its own sign."""
    share = namespace(errors.e).astype(sign * errors.e > 0, errors.e.dtype)
    squares, shares = copies.merged(errors.squares * share), copies.merged(share)
    return [output.tail(squares[:, j], shares[:, j]) for j, output in enumerate(outputs)]


def _with_scores(
    sides: list[tuple[Side, Side, Side]],
    outputs: Sequence[OutputNoise],
    copies: Copies,
    errors: _Errors,
    factors: KnownNoise | None = None,
) -> _Noise:
    """Add the variances of all rows, and their scores, to noise models."""
    xp = namespace(errors.e)
    log_factor = None if factors is None else place(2 * np.log(factors.known), errors.of_mean)
    totals = []
    for tail in zip(*sides, strict=True):
        known = [side.known.times(log_factor) for side in tail]
        variance = xp.stack([one.noise + one.excess for one in known], axis=1)
        totals.append(copies.spread(variance + errors.of_mean))
    unit = copies.spread(outputs[0].judged.s[:, None])[:, 0]
    scores = row_scores(errors.e, totals, copies.s, unit)
    return _Noise(sides, totals, scores, symmetric=all(b is a is c for b, a, c in sides))


def stack_left_out(pool: Pool, stack: Stack, local: LocalFit | None = None) -> LeftOut:
    """Return targets and means of the rows that a stack was judged on."""
    copies = Copies.of(pool, stack.judged, stack.index)
    known = KnownRows(stack.judged, stack.index, stack.honest, stack.honest, 0 * stack.honest)
    errors = known.errors if local is None else local.known(known).errors
    return left_out_rows(copies, double(stack.judged.rows.Y), errors)


def left_out_rows(copies: Copies, Y: Array, errors: Array) -> LeftOut:
    """Return targets and means of the rows behind judged ones, from Y and errors of the latter."""
    return LeftOut(copies.spread(Y) + copies.gap, copies.spread(Y - errors), copies.s)


def _squares(values: Array, s: Array) -> float:
    """Return the weighted sum of squares of values (n,) about their mean."""
    mean = s @ values / namespace(s).sum(s)
    return float(s @ (values - mean) ** 2)
