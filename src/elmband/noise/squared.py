"""The published second stage: least squares on squared residuals."""

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Literal, Self

from elmband import engine
from elmband._arrays import Array, namespace, positive
from elmband.bootstrap import wild_bootstrap
from elmband.calibrate import OutputScores, ScoreBins, output_scores, score_bins
from elmband.covariance import (
    Meat,
    jackknife,
    jackknife_meat,
    left_out_variance,
    sandwich,
)
from elmband.dual import RowSpectrum
from elmband.hidden import FeatureMap
from elmband.left_out import LeftOut
from elmband.mean import MeanModel, SelectionMethod, narrowed
from elmband.moments import Chunk, Gram, Moments, Pieces, Several, TargetSums, gram, target_sums
from elmband.noise.fast import (
    MOST_ERROR,
    RANKS,
    SAMPLE_ROWS,
    LowRank,
    halves,
    judged,
    low_ranks,
    relative_error,
)
from elmband.noise.parts import Parts
from elmband.output_layer import AlphaRule, OutputLayer, RidgeProblem
from elmband.quadratic import CovarianceRoot, quadratic_form
from elmband.rows import ArrayRows, Rows
from elmband.sample import sampled
from elmband.select import Selection

# Mean of 1 - lev below which residuals are what rounding and a little γ leave of the noise.
_LEAST_FREEDOM = 0.05
# Standard errors by which two estimates of one noise model do not differ by chance.
_CONTRADICTION = 3.0


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
    def fit_fast(cls, mean: MeanModel, rule: AlphaRule, seed: int) -> Self:
        """Run the same steps in one pass: covariances come from a sample of the rows.

        Both models share the hidden layer. `error` is what that changes in interval widths: the
        standard error of the sample and the error of the low rank, on sampled rows.
        """
        n = len(mean.rows)
        size = int(min(max(n / 20, SAMPLE_ROWS), 8 * SAMPLE_ROWS))
        if n <= 2 * size or mean.layer.dual:
            return cls.fit(mean, None, rule, seed=seed)

        def chunk_map(chunk: Chunk) -> Several:
            noise = target_sums(_squares(mean, None, chunk))
            return Several((noise, sampled(chunk, size / n, seed)))

        noise_sums, sample = engine.total(mean.rows, chunk_map, "noise and sample").parts
        return cls.from_sample(mean, rule, sample.joined(), noise_sums)

    @classmethod
    def from_sample(
        cls, mean: MeanModel, rule: AlphaRule, rows: Chunk, noise_sums: TargetSums
    ) -> Self:
        """Go on from the mean with a sample of its rows, and the noise model's sums over all."""
        layer = noise_layer_of(mean, rule, noise_sums)
        covariances = engine.for_all(partial(_sampled_covariances, mean, layer), halves(rows))
        return cls._of_halves(mean, layer, rows, covariances, (layer, layer))

    @classmethod
    def from_kept(
        cls, mean: MeanModel, rule: AlphaRule, rows: Chunk, noise_sums: TargetSums | None
    ) -> Self:
        """Go on with a sample, and with sums of squared residuals of the means that were.

        These are of all rows, but of a mean that did not know the later ones. Where rows came in
        an order that matters they contradict the sample, which is then believed.
        """
        assert mean.sums is not None
        if rows.n >= mean.sums.n:
            return cls.from_sample(mean, rule, rows, _as_all(mean, rows))
        alone = cls.from_sample_alone(mean, rule, rows)
        if noise_sums is None:
            return alone
        found = cls.from_sample(mean, rule, rows, noise_sums)
        H = mean.features.apply(judged(rows).X)
        gap = relative_error(*(model.total(rows.X, H) for model in (found, alone)))
        return found if gap < _CONTRADICTION * alone.error else alone

    @classmethod
    def from_sample_alone(cls, mean: MeanModel, rule: AlphaRule, rows: Chunk) -> Self:
        """Go on from the mean with nothing but a sample of its rows.

        The noise model then knows only these, which is most of the error.
        """
        layers = [noise_layer_of(mean, rule, _as_all(mean, part)) for part in halves(rows)]
        layer = noise_layer_of(mean, rule, _as_all(mean, rows))
        pairs = list(zip(layers, halves(rows), strict=True))
        covariances = engine.for_all(lambda pair: _sampled_covariances(mean, *pair), pairs)
        return cls._of_halves(mean, layer, rows, covariances, (layers[0], layers[1]))

    @classmethod
    def _of_halves(
        cls,
        mean: MeanModel,
        layer: OutputLayer,
        rows: Chunk,
        covariances: Sequence[tuple[Array, Array]],
        layers: tuple[OutputLayer, OutputLayer],
    ) -> Self:
        """Average what the halves of a sample say, and tell by how much they differ."""
        assert mean.sums is not None
        one, other = covariances
        both = [(a + b) / 2 for a, b in zip(one, other, strict=True)]
        H = mean.features.apply(judged(rows).X)
        mine, theirs = (
            positive(part.predict(H)) + quadratic_form(H, a + b)
            for part, (a, b) in zip(layers, covariances, strict=True)
        )
        noise = positive(layer.predict(H))
        exact = noise + quadratic_form(H, both[0] + both[1])
        # The halves differ by twice the standard error of their mean.
        by_sample = relative_error(mine, theirs) / 2
        low_rank, by_rank = None, 0.0
        ranks = [rank for rank in RANKS if rank < H.shape[1] / 2]
        for candidate in low_ranks(both[0] + both[1], mean.sums.HtH, mean.sums.n, ranks):
            found = relative_error(exact, noise + candidate.quadratic(H))
            if found < MOST_ERROR:
                low_rank, by_rank = candidate, found
                break
        error = (by_sample**2 + by_rank**2) ** 0.5
        return cls(None, layer, both[0], both[1], low_rank=low_rank, error=error)

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
            problem = replace(problem, to_hidden=partial(_squares, mean, features))
        noise_sums, chosen = sums.noise, None
        if selection is not None:
            candidates = noise_sums if isinstance(noise_sums, Gram) else problem.gram()
            problem, features, kept_sums, chosen = narrowed(
                problem, features or mean.features, candidates, selection, rule, seed
            )
            noise_sums = kept_sums or Moments()
        layer = _noise_layer(problem, rule, mean, noise_sums, shared=features is None)
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
            mean_model=left_out_variance(parts.mean_model, hidden, r, rest),
            noise_model=left_out_variance(parts.noise_model, noise_rows, r_noise, rest_noise),
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
        outputs = range(e.shape[1])
        return tuple(output_scores(e[:, j], [variance[:, j]] * 3, s) for j in outputs)


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


def _squares(mean: MeanModel, features: FeatureMap | None, chunk: Chunk) -> Chunk:
    """Return the noise model's hidden outputs with the squared residuals of the mean model."""
    hidden = mean.features(chunk)
    squares = (hidden.Y - mean.layer.predict(hidden.X)) ** 2
    return (hidden if features is None else features(chunk))._replace(Y=squares)


def squares_of(mean: MeanModel, rows: Rows) -> TargetSums:
    """Sum up what the noise model needs of rows that the mean was trained on."""
    return engine.total(rows, lambda chunk: target_sums(_squares(mean, None, chunk)), "noise")


def noise_layer_of(mean: MeanModel, rule: AlphaRule, sums: TargetSums) -> OutputLayer:
    """Solve for a noise model that shares the hidden layer of the mean."""
    problem = RidgeProblem(mean.rows, mean.features, mean.hidden.n_neurons, mean.eps)
    problem = replace(problem, to_hidden=partial(_squares, mean, None))
    return _noise_layer(problem, rule, mean, sums, shared=True)


def _as_all(mean: MeanModel, rows: Chunk) -> TargetSums:
    """Return the sums of some rows, which stand for all of them."""
    assert mean.sums is not None
    some, share = target_sums(_squares(mean, None, rows)), mean.sums.n / rows.n
    return TargetSums(mean.sums.n, share * some.HtY, share * some.YtY)


def _sampled_covariances(mean: MeanModel, layer: OutputLayer, rows: Chunk) -> tuple[Array, Array]:
    """Return Σ_y and Σ_r with middle terms from some rows, which stand for all of them."""
    assert mean.sums is not None
    same = bool(namespace(layer.alpha).all(layer.alpha == mean.layer.alpha))

    def chunk_map(chunk: Chunk) -> Several:
        hidden = mean.features(chunk)
        r, rest, meat = jackknife(mean.layer, hidden)
        return Several((meat, _noise_meat(layer, hidden._replace(Y=r**2), rest if same else None)))

    meat, noise_meat = engine.in_blocks(chunk_map)(rows).parts
    share = mean.sums.n / rows.n
    return share * sandwich(mean.layer, meat), share * sandwich(layer, noise_meat)


def _noise_meat(layer: OutputLayer, squares: Chunk, rest: Array | None) -> Meat:
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


def _noise_layer(
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
        return _noise_meat(layer, squares, known)

    chunks = [rows.whole()] if layer.dual else rows
    return engine.total(chunks, chunk_map, "covariance of the noise")
