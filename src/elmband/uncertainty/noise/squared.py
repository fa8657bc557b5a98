"""The published second stage: least squares on squared residuals."""

import warnings
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Literal, Self

from elmband.engines import engine
from elmband.ground.arrays import Array, namespace, positive
from elmband.layers.bootstrap import wild_bootstrap
from elmband.layers.covariance import (
    Meat,
    jackknife,
    jackknife_meat,
    left_out_variance,
    sandwich,
)
from elmband.layers.dual import RowSpectrum
from elmband.layers.hidden import FeatureMap
from elmband.layers.output_layer import AlphaRule, OutputLayer, RidgeProblem
from elmband.layers.quadratic import CovarianceRoot
from elmband.layers.select import Selection
from elmband.sums.moments import Chunk, Gram, Moments, Pieces, TargetSums, gram, target_sums
from elmband.sums.rows import ArrayRows
from elmband.uncertainty.calibrate import OutputScores, ScoreBins, row_scores, score_bins
from elmband.uncertainty.left_out import LeftOut
from elmband.uncertainty.mean import MeanModel, SelectionMethod, narrowed
from elmband.uncertainty.noise.fast import LowRank
from elmband.uncertainty.noise.parts import Parts

# Mean of 1 - lev below which residuals are what rounding and a little γ leave of the noise.
_LEAST_FREEDOM = 0.05


@dataclass(frozen=True, eq=False)
class SecondPass(Moments):
    """What one pass over the rows gives once the mean model is known.

    `noise` is empty where the noise model is solved in the dual form. Residuals and 1 - lev of
    single rows are kept where the rows themselves are in memory.
    """

    meat: Meat
    noise: Moments
    residuals: Pieces
    rest: Pieces


@dataclass(frozen=True, eq=False)
class SquaredNoise:
    """The published noise model: least squares on r², and the covariances of both models.

    `features` is None where the noise model shares the hidden layer of the mean model. The
    `selection` tells which neurons of its layer were kept, None where all were.
    """

    features: FeatureMap | None
    layer: OutputLayer
    mean_covariance: Array
    noise_covariance: Array
    selection: Selection | None = None
    low_rank: LowRank | None = None
    error: float = 0.0

    @classmethod
    def fit(
        cls,
        mean: MeanModel,
        features: FeatureMap | None,
        rule: AlphaRule,
        *,
        selection: SelectionMethod | None = None,
        covariance: Literal["jackknife", "wild"] = "jackknife",
        seed: int = 0,
    ) -> Self:
        """Run steps 3 to 6 of the published algorithm, once the mean model is trained.

        A shared hidden layer shares HᵀH and its decomposition, and at equal γ the leverage. With
        a `selection`, neurons are selected for the noise model too, from its own layer or from
        those that the mean model kept. The wild bootstrap is the other covariance of the paper.
        """
        hidden = (features or mean.features).hidden
        problem = RidgeProblem(mean.rows, features or mean.features, hidden.n_neurons, mean.eps)
        sums = _second_pass(mean, features, problem)
        if mean.rows.in_memory:
            if isinstance(rule, float):
                _warn_interpolating(sums.rest.joined())
            squares = mean.rows.whole()._replace(Y=sums.residuals.joined() ** 2)
            problem = replace(problem, rows=ArrayRows.of(squares, mean.rows.chunk_size))
        else:
            problem = replace(problem, to_hidden=partial(noise_squares, mean, features))
        noise_sums, chosen = sums.noise, None
        if selection is not None:
            candidates = noise_sums if isinstance(noise_sums, Gram) else problem.gram()
            problem, features, kept_sums, chosen = narrowed(
                problem, features or mean.features, candidates, selection, rule, seed
            )
            noise_sums = kept_sums or Moments()
        layer = noise_layer(problem, rule, mean, noise_sums, shared=features is None)
        same = features is None and bool(
            namespace(layer.alpha).all(layer.alpha == mean.layer.alpha)
        )
        rest = sums.rest.joined() if same and sums.rest.parts else None
        if covariance == "wild":
            mean_covariance = wild_bootstrap(mean.rows, mean.features, mean.layer, seed=seed)
            noise_covariance = wild_bootstrap(problem.rows, problem.to_hidden, layer, seed=seed + 1)
        else:
            mean_covariance = sandwich(mean.layer, sums.meat)
            noise_covariance = sandwich(layer, _third_pass(problem, layer, rest))
        return cls(features, layer, mean_covariance, noise_covariance, chosen)

    @cached_property
    def _roots(self) -> tuple[CovarianceRoot, CovarianceRoot]:
        """Roots of Σ_y and Σ_r, which halve the arithmetic."""
        return CovarianceRoot.of(self.mean_covariance), CovarianceRoot.of(self.noise_covariance)

    @cached_property
    def _root(self) -> CovarianceRoot | None:
        """Root of Σ_y + Σ_r where both models share the hidden layer."""
        if self.features is not None:
            return None
        return CovarianceRoot.of(self.mean_covariance + self.noise_covariance)

    def total(self, X: Array, H: Array) -> Array:
        """Return the whole variance of new rows, (n, m)."""
        if self.low_rank is not None:
            return positive(self.layer.predict(H)) + self.low_rank.quadratic(H)
        noise, model = self.noise_and_model(X, H)
        return noise + model

    def noise_and_model(self, X: Array, H: Array) -> tuple[Array, Array]:
        """Return the noise of new rows and the variance of both models, at half the cost of parts.

        A low rank is good enough for the whole variance, but not for that of the models alone.
        """
        if self._root is None:
            parts = self.parts(X, H, H[:, :1], 0.0)
            return parts.noise, parts.mean_model + parts.noise_model
        return positive(self.layer.predict(H)), self._root.quadratic(H)

    def parts(self, X: Array, H: Array, mean: Array, z: float) -> Parts:
        """Return the published variance of new rows X with hidden outputs H.

        Here, and only here, negative noise is replaced by zero; σ_r bounds the noise variance.
        """
        noise_H = H if self.features is None else self.features.apply(X)
        noise = self.layer.predict(noise_H)
        mean_root, noise_root = self._roots
        noise_model, mean_model = noise_root.quadratic(noise_H), mean_root.quadratic(H)
        spread = z * namespace(H).sqrt(noise_model)
        total = positive(noise) + noise_model + mean_model
        return Parts(
            mean=mean,
            noise=positive(noise),
            mean_model=mean_model,
            noise_model=noise_model,
            noise_lower=positive(noise - spread),
            noise_upper=positive(noise + spread),
            above=total,
            below=total,
        )

    def without_rows(self) -> Self:
        """Return the model without what the dual form keeps of the training rows."""
        return replace(self, layer=replace(self.layer, factor=None, spectrum=None))

    def left_out(self, mean: MeanModel, chunk: Chunk) -> LeftOut:
        """Return what both models say of training rows, each of them left out."""
        hidden = mean.features(chunk)
        r, rest = mean.layer.residuals(hidden)
        noise_rows = (hidden if self.features is None else self.features(chunk))._replace(Y=r**2)
        r_noise, rest_noise = self.layer.residuals(noise_rows)
        noise = r**2 - r_noise / rest_noise
        parts = self.parts(chunk.X, hidden.X, r, 0.0)
        return LeftOut(
            target=hidden.Y,
            mean=hidden.Y - r / rest,
            s=chunk.s,
            noise=positive(noise),
            mean_model=left_out_variance(parts.mean_model, r, rest),
            noise_model=left_out_variance(parts.noise_model, r_noise, rest_noise),
        )

    def scores(self, mean: MeanModel) -> tuple[OutputScores, ...]:
        """Return the scores of all training rows left out, for every output."""
        if not mean.rows.in_memory:

            def chunk_map(chunk: Chunk) -> ScoreBins:
                left = self.left_out(mean, chunk)
                return score_bins(left.error, [left.variance] * 3, chunk.s)

            return engine.total(mean.rows, chunk_map, "calibration").scores()
        whole = mean.rows.whole()
        chunks = [whole] if mean.layer.dual or self.layer.dual else mean.rows

        def error_and_variance(chunk: Chunk) -> tuple[Array, Array]:
            left = self.left_out(mean, chunk)
            return left.error, left.variance

        careful = engine.halving(error_and_variance, engine.joined)
        pieces = engine.on_chunks(careful, chunks)
        xp = namespace(whole.Y)
        e, variance = (xp.concat(list(parts), axis=0) for parts in zip(*pieces, strict=True))
        s = xp.ones_like(e[:, 0]) if whole.s is None else whole.s
        return row_scores(e, [variance] * 3, s).outputs()


def _warn_interpolating(rest: Array) -> None:
    """Say that residuals are too small to tell of noise, from 1 - lev of all rows, (n, m)."""
    freedom = float(namespace(rest).mean(rest))
    if freedom < _LEAST_FREEDOM:
        warnings.warn(
            f"The mean model all but passes through its {rest.shape[0]} training rows, so that "
            "residuals do not show the noise and intervals may be far too narrow: take "
            "fewer neurons, or alpha='auto'.",
            UserWarning,
            stacklevel=2,
        )


def noise_squares(mean: MeanModel, features: FeatureMap | None, chunk: Chunk) -> Chunk:
    """Return the noise model's hidden outputs with the squared residuals of the mean model."""
    hidden = mean.features(chunk)
    squares = (hidden.Y - mean.layer.predict(hidden.X)) ** 2
    return (hidden if features is None else features(chunk))._replace(Y=squares)


def noise_meat(layer: OutputLayer, squares: Chunk, rest: Array | None) -> Meat:
    """Return the meat of the noise model, from 1 - lev where it is known."""
    if rest is None:
        return jackknife(layer, squares).meat
    return jackknife_meat(layer, squares, *layer.residuals(squares, rest))


def _second_pass(mean: MeanModel, features: FeatureMap | None, problem: RidgeProblem) -> SecondPass:
    def noise_sums(chunk: Chunk, hidden: Chunk, r: Array) -> Moments:
        if problem.dual:
            return Moments()
        if features is None:
            return target_sums(hidden._replace(Y=r**2))
        return gram(features(chunk._replace(Y=r**2)))

    def chunk_map(chunk: Chunk) -> SecondPass:
        hidden = mean.features(chunk)
        r, rest, meat = jackknife(mean.layer, hidden)
        kept = (Pieces((r,)), Pieces((rest,))) if mean.rows.in_memory else (Pieces(()),) * 2
        return SecondPass(meat, noise_sums(chunk, hidden, r), *kept)

    rows = [mean.rows.whole()] if mean.layer.dual else mean.rows
    return engine.total(rows, chunk_map, "covariance and noise")


def noise_layer(
    problem: RidgeProblem, rule: AlphaRule, mean: MeanModel, sums: Moments, *, shared: bool
) -> OutputLayer:
    """Solve for the noise model, with the decomposition of HᵀH that the mean model left."""
    if isinstance(sums, Gram):
        return problem.solve(rule, sums)
    if not isinstance(sums, TargetSums):
        spectrum = mean.layer.spectrum if shared else None
        assert spectrum is None or isinstance(spectrum, RowSpectrum)
        return problem.solve_dual(rule, spectrum)
    assert mean.sums is not None
    assert mean.layer.factor is not None
    if mean.layer.spectrum is None and rule == float(mean.layer.alpha[0]):
        return replace(mean.layer, coef=mean.layer.factor.solve(sums.HtY))
    return problem.solve(rule, mean.sums.with_targets(sums), mean.layer.spectrum)


def _third_pass(problem: RidgeProblem, layer: OutputLayer, rest: Array | None) -> Meat:
    """Sum the meat of the noise model; 1 - lev travels beside the targets where it is known."""
    rows, m = problem.rows, layer.alpha.shape[0]
    if rest is not None:
        whole = rows.whole()
        Y = namespace(rest).concat([whole.Y, rest], axis=1)
        rows = ArrayRows.of(whole._replace(Y=Y), rows.chunk_size)

    def chunk_map(chunk: Chunk) -> Meat:
        hidden = problem.to_hidden(chunk)
        squares = hidden._replace(Y=hidden.Y[:, :m])
        known = None if rest is None else hidden.Y[:, m:]
        return noise_meat(layer, squares, known)

    chunks = [rows.whole()] if layer.dual else rows
    return engine.total(chunks, chunk_map, "covariance of the noise")
