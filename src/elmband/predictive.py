"""The predictive distribution of a stack: mean, variance in parts, and scores of rows left out.

Noise targets are q = r·e, the product of a row's residual and its residual when left out: for one
linear layer that is r² / (1 - lev), unbiased for the noise alone. The standard deviation of a
weighted sum of members is at most the weighted sum of theirs; that bound is used, for members
trained on the same rows err together. Separate tails have noise models of their own, trained on
the rows whose residual has their sign.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple, Self

import numpy as np

from elmband import engine
from elmband._arrays import Array, double, namespace, place, to_numpy
from elmband.calibrate import OutputScores, RowScores, row_scores
from elmband.ensemble import Stack
from elmband.hidden import FeatureMap, LayerSpec
from elmband.left_out import LEAST_R2, LeftOut
from elmband.member import Judged, Member
from elmband.moments import Chunk
from elmband.noise.log import LogNoise, NoiseVariance
from elmband.noise.parts import Parts
from elmband.pool import Pool
from elmband.quadratic import CovarianceRoot, quadratic_form
from elmband.sample import sample_rows
from elmband.scaling import Scaling
from elmband.uncertainty import mean_uncertainty, with_ones


class NoiseModels(NamedTuple):
    """Noise models of one output, those of the tails equal to the first where it is symmetric."""

    both: LogNoise
    above: LogNoise
    below: LogNoise
    orientation: float


@dataclass(frozen=True, eq=False)
class MeanStack:
    """Members with weights (M, m), and covariances of their output weights where known."""

    members: tuple[Member, ...]
    weights: Array
    covariances: tuple[Array, ...] = ()

    @cached_property
    def _roots(self) -> tuple[CovarianceRoot, ...]:
        return tuple(map(CovarianceRoot.of, self.covariances))

    def mean(self, X: Array) -> Array:
        """Return the mean of new rows, (n, m)."""
        return self._combined([member.predict(member.hidden(X)) for member in self.members])

    def mean_and_std(self, X: Array) -> tuple[Array, Array]:
        """Return the mean of new rows and its standard deviation, each (n, m)."""
        xp = namespace(X)
        means, deviations = [], []
        for k, member in enumerate(self.members):
            H = member.hidden(X)
            means.append(member.predict(H))
            wide, covariance = with_ones(H), self.covariances[k]
            # A factorisation is worth its while for no fewer rows than it has.
            if wide.shape[0] < wide.shape[1]:
                variance = quadratic_form(wide, covariance)
            else:
                variance = self._roots[k].quadratic(wide)
            deviations.append(xp.sqrt(variance))
        return self._combined(means), self._combined(deviations)

    def _combined(self, parts: Sequence[Array]) -> Array:
        """Return the weighted sum over members."""
        total: Array = 0.0
        for k, part in enumerate(parts):
            total = total + double(part) * self.weights[k, :][None, :]
        return total


@dataclass(frozen=True, eq=False)
class Predictive:
    """A stack for the mean and noise models for each output."""

    stack: MeanStack
    noise: tuple[NoiseModels, ...]

    def parts(self, X: Array, z: float) -> Parts:
        """Return mean and variances of new rows; bounds of the noise lie z deviations away."""
        xp = namespace(X)
        mean, std = self.stack.mean_and_std(X)
        noise: list[NoiseVariance] = []
        above: list[Array] = []
        below: list[Array] = []
        for j, models in enumerate(self.noise):
            beside = with_mean(X, mean[:, j] * models.orientation)
            both = models.both.predict(beside)
            noise.append(both)
            for model, tail in ((models.above, above), (models.below, below)):
                variance = both if model is models.both else model.predict(beside)
                tail.append(variance.noise + variance.excess)
        return Parts(
            mean=mean,
            noise=xp.stack([v.noise for v in noise], axis=1),
            mean_model=std**2,
            noise_model=xp.stack([v.excess for v in noise], axis=1),
            noise_lower=xp.stack([v.bound(-z) for v in noise], axis=1),
            noise_upper=xp.stack([v.bound(z) for v in noise], axis=1),
            above=xp.stack(above, axis=1) + std**2,
            below=xp.stack(below, axis=1) + std**2,
        )


class FittedPredictive(NamedTuple):
    """A predictive distribution, scores of training rows left out, and what was said of them."""

    predictive: Predictive
    row_scores: RowScores
    left_out: LeftOut

    @property
    def scores(self) -> tuple[OutputScores, ...]:
        """The sorted scores of every output."""
        return self.row_scores.outputs()


class NoiseSettings(NamedTuple):
    """The noise model's layer, its γ (None: to be chosen), and whether tails are alike."""

    spec: LayerSpec
    alpha: float | None
    symmetric: bool

    def in_mean_weights(self, weight: float) -> Self:
        """Return the same for rows whose weights were divided by `weight`."""
        return self if self.alpha is None else self._replace(alpha=self.alpha / weight)


@dataclass(frozen=True, eq=False)
class Detail:
    """The original rows behind the judged distinct ones.

    `owner` is the position of each among the judged rows, `gap` its target less that of the
    distinct row, `s` its weight. Where all rows are distinct nothing is to be done.
    """

    owner: np.ndarray[Any, np.dtype[np.int64]]
    gap: Array
    s: Array
    distinct: bool

    @classmethod
    def of(cls, pool: Pool, stack: Stack) -> "Detail":
        """Find the rows behind the judged rows of a stack."""
        mean = double(stack.judged.rows.Y)
        xp = namespace(mean)
        everyone = pool.distinct
        position = np.full(everyone.rows.X.shape[0], -1)
        position[stack.index] = np.arange(len(stack.index))
        rows = np.flatnonzero(position[everyone.owner] >= 0)
        owner = position[everyone.owner[rows]]
        if len(rows) == len(stack.index):
            return cls(owner, xp.zeros_like(mean), stack.judged.s, distinct=True)
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


def fit_predictive(pool: Pool, stack: Stack, settings: NoiseSettings) -> FittedPredictive:
    """Go on from a stack: noise models, covariances, and scores of the judged rows."""
    judged, detail = stack.judged, Detail.of(pool, stack)
    xp = namespace(stack.weights)
    Y = double(judged.rows.Y)
    # Weights need not add up to one: what they lack of y stays in both residuals.
    lacking = (1 - xp.sum(stack.weights, axis=0)) * Y
    left_out = stack.honest
    r = detail.spread(stack.combined(lambda f: f.left.residuals) + lacking) + detail.gap
    e = detail.spread(left_out) + detail.gap
    squares = xp.clip(r * e, min=0.0)
    q = detail.merged(squares)
    # Each tail learns from the residuals of its own sign.
    shares = [xp.ones_like(e)]
    if not settings.symmetric:
        shares += [xp.astype(side * e > 0, e.dtype) for side in (1, -1)]
    targets = [(detail.merged(squares * share), detail.merged(share)) for share in shares]
    uncertainty = engine.for_all(lambda fitted: mean_uncertainty(fitted, q), stack.fitted)
    covariances = tuple(u.covariance for u in uncertainty)
    std: Array = 0.0
    for k, u in enumerate(uncertainty):
        std = std + xp.sqrt(u.left_out) * stack.weights[k, :][None, :]
    models, noises, totals = [], [], []
    for j in range(Y.shape[1]):
        columns = [(square[:, j], share[:, j]) for square, share in targets]
        predicted = (Y - left_out)[:, j]
        # A mean that explains nothing tells of a row left out only what the row's own target is.
        if _squares(left_out[:, j], judged.s) > (1 - LEAST_R2) * _squares(Y[:, j], judged.s):
            predicted = 0 * predicted
        fitted, variances = _fit_noise(pool, judged, predicted, columns, settings)
        models.append(fitted)
        noises.append(variances[0])
        totals.append([v.noise + v.excess + std[:, j] ** 2 for v in variances])
    mean = MeanStack(tuple(f.member for f in stack.fitted), stack.weights, covariances)
    known = left_out_rows(detail, Y, left_out)._replace(
        noise=detail.spread(xp.stack([v.noise for v in noises], axis=1)),
        mean_model=detail.spread(std**2),
        noise_model=detail.spread(xp.stack([v.excess for v in noises], axis=1)),
    )
    tails = [detail.spread(xp.stack(columns, axis=1)) for columns in zip(*totals, strict=True)]
    scores = row_scores(e, tails, detail.s, detail.spread(judged.s[:, None])[:, 0])
    return FittedPredictive(Predictive(mean, tuple(models)), scores, known)


def stack_left_out(pool: Pool, stack: Stack) -> LeftOut:
    """Return targets and means of the rows that a stack was judged on."""
    return left_out_rows(Detail.of(pool, stack), double(stack.judged.rows.Y), stack.honest)


def left_out_rows(detail: Detail, Y: Array, errors: Array) -> LeftOut:
    """Return targets and means of the rows behind judged ones, from Y and errors of the latter."""
    return LeftOut(detail.spread(Y) + detail.gap, detail.spread(Y - errors), detail.s)


def _squares(values: Array, s: Array) -> float:
    """Return the weighted sum of squares of values (n,) about their mean."""
    mean = s @ values / namespace(s).sum(s)
    return float(s @ (values - mean) ** 2)


def _fit_noise(
    pool: Pool,
    judged: Judged,
    mean: Array,
    targets: Sequence[tuple[Array, Array]],
    settings: NoiseSettings,
) -> tuple[NoiseModels, list[NoiseVariance]]:
    """Fit the noise models of one output on the inputs and the mean predicted for rows left out."""
    # The sign of the mean is fixed by its skewness, so that -y has the same noise as y.
    cubes = judged.s @ mean**3, judged.s @ abs(mean) ** 3
    lopsided = abs(float(cubes[0])) > 1e-6 * float(cubes[1])
    orientation = float(np.sign(float(cubes[0]))) if lopsided else 0.0
    X = with_mean(judged.rows.X, mean * orientation)
    features = _noise_features(pool, settings.spec, X, judged.s)
    fitted = [_fit_side(X, features, judged, target, settings.alpha) for target in targets]
    if settings.symmetric:
        fitted = fitted * 3
    (both, _), (above, _), (below, _) = fitted
    return NoiseModels(both, above, below, orientation), [variance for _, variance in fitted]


def _fit_side(
    X: Array, features: FeatureMap, judged: Judged, target: tuple[Array, Array], alpha: float | None
) -> tuple[LogNoise, NoiseVariance]:
    """Fit a noise model to the rows that have a share in its squares, and ask it of all rows."""
    squares, share = target
    xp = namespace(X)
    index = np.flatnonzero(to_numpy(share) > 0)
    if len(index) in {0, X.shape[0]}:
        return LogNoise.fit(X, features, squares, judged, alpha)
    where = place(index, X, xp.int64)
    part = Judged(
        rows=Chunk(xp.take(X, where, axis=0), judged.rows.Y, None),
        s=xp.take(judged.s * share, where, axis=0),
        labels=None if judged.labels is None else judged.labels[index],
    )
    q = xp.take(squares / xp.where(share > 0, share, 1.0), where, axis=0)
    model, known = LogNoise.fit(part.rows.X, features, q, part, alpha)
    everyone = model.predict(X)
    place_of = np.full(X.shape[0], -1)
    place_of[index] = np.arange(len(index))
    inside = place(place_of >= 0, X, xp.bool)
    taken = place(np.maximum(place_of, 0), X, xp.int64)
    return model, NoiseVariance(
        log=xp.where(inside, xp.take(known.log, taken, axis=0), everyone.log),
        uncertainty=xp.where(
            inside, xp.take(known.uncertainty, taken, axis=0), everyone.uncertainty
        ),
    )


def with_mean(X: Array, mean: Array) -> Array:
    """Return inputs with the predicted mean as one more column: noise often follows the mean."""
    return namespace(X).concat([double(X), mean[:, None]], axis=1)


def _noise_features(pool: Pool, spec: LayerSpec, X: Array, s: Array) -> FeatureMap:
    xp = namespace(X)
    last = X[:, -1]
    spread = xp.sqrt(s @ last**2 / xp.sum(s))
    inputs = Scaling(
        mean=xp.concat([double(pool.inputs.mean), xp.zeros_like(last[:1])]),
        scale=xp.concat([double(pool.inputs.scale), xp.where(spread > 0, spread, 1.0)[None]]),
    )
    # Another seed: the noise model's neurons shall not repeat those of the mean model.
    seed = pool.seed + 1_000_003
    centres = sample_rows(inputs(X), spec.n_centres, seed) if spec.n_centres else None
    hidden = spec.draw(int(X.shape[1]), seed, centres)
    return FeatureMap(inputs, hidden).to(X, xp.float64)
