"""The published second stage from a sample of the rows, with what that changes in widths.

Covariances are means over rows, and known well enough from a sample. The noise model itself wants
sums over all rows: from a pass over them, or as they were when the rows came.
"""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

from elmband.engines import engine
from elmband.ground.arrays import Array, namespace, positive
from elmband.layers.covariance import jackknife, sandwich
from elmband.layers.output_layer import AlphaRule, OutputLayer, RidgeProblem
from elmband.layers.quadratic import quadratic_form
from elmband.sums.moments import Chunk, Several, TargetSums, target_sums
from elmband.sums.rows import Rows
from elmband.sums.sample import sampled
from elmband.uncertainty.mean import MeanModel
from elmband.uncertainty.noise.fast import (
    MOST_ERROR,
    RANKS,
    SAMPLE_ROWS,
    halves,
    judged,
    low_ranks,
    relative_error,
)
from elmband.uncertainty.noise.squared import SquaredNoise, noise_layer, noise_meat, noise_squares

# Standard errors by which two estimates of one noise model do not differ by chance.
_CONTRADICTION = 3.0


def fit_fast(mean: MeanModel, rule: AlphaRule, seed: int) -> SquaredNoise:
    """Run the steps of `SquaredNoise.fit` in one pass: covariances come from a sample of the rows.

    Both models share the hidden layer. The `error` is what that changes in interval widths: the
    standard error of the sample and the error of the low rank, on sampled rows.
    """
    n = len(mean.rows)
    size = int(min(max(n / 20, SAMPLE_ROWS), 8 * SAMPLE_ROWS))
    if n <= 2 * size or mean.layer.dual:
        return SquaredNoise.fit(mean, None, rule, seed=seed)

    def chunk_map(chunk: Chunk) -> Several:
        noise = target_sums(noise_squares(mean, None, chunk))
        return Several((noise, sampled(chunk, size / n, seed)))

    noise_sums, sample = engine.total(mean.rows, chunk_map, "noise and sample").parts
    return _from_sample(mean, rule, sample.joined(), noise_sums)


def from_kept(
    mean: MeanModel, rule: AlphaRule, rows: Chunk, noise_sums: TargetSums | None
) -> SquaredNoise:
    """Go on with a sample, and with sums of squared residuals of the means that were.

    These are of all rows, but of a mean that did not know the later ones. Where rows came in an
    order that matters they contradict the sample, which is then believed.
    """
    assert mean.sums is not None
    if rows.n >= mean.sums.n:
        return _from_sample(mean, rule, rows, _as_all(mean, rows))
    alone = _from_sample_alone(mean, rule, rows)
    if noise_sums is None:
        return alone
    found = _from_sample(mean, rule, rows, noise_sums)
    part = judged(rows).X
    H = mean.features.apply(part)
    gap = relative_error(*(model.total(part, H) for model in (found, alone)))
    return found if gap < _CONTRADICTION * alone.error else alone


def squares_of(mean: MeanModel, rows: Rows) -> TargetSums:
    """Sum up what the noise model needs of rows that the mean was trained on."""
    return engine.total(rows, lambda chunk: target_sums(noise_squares(mean, None, chunk)), "noise")


def _from_sample(
    mean: MeanModel, rule: AlphaRule, rows: Chunk, noise_sums: TargetSums
) -> SquaredNoise:
    """Go on from the mean with a sample of its rows, and the noise model's sums over all."""
    layer = _shared_layer(mean, rule, noise_sums)
    covariances = engine.for_all(partial(_covariances, mean, layer), halves(rows))
    return _of_halves(mean, layer, rows, covariances, (layer, layer))


def _from_sample_alone(mean: MeanModel, rule: AlphaRule, rows: Chunk) -> SquaredNoise:
    """Go on from the mean with nothing but a sample of its rows.

    The noise model then knows only these, which is most of the error.
    """
    layers = [_shared_layer(mean, rule, _as_all(mean, part)) for part in halves(rows)]
    layer = _shared_layer(mean, rule, _as_all(mean, rows))
    pairs = list(zip(layers, halves(rows), strict=True))
    covariances = engine.for_all(lambda pair: _covariances(mean, *pair), pairs)
    return _of_halves(mean, layer, rows, covariances, layers)


def _of_halves(
    mean: MeanModel,
    layer: OutputLayer,
    rows: Chunk,
    covariances: Sequence[tuple[Array, Array]],
    layers: Sequence[OutputLayer],
) -> SquaredNoise:
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
    return SquaredNoise(None, layer, both[0], both[1], low_rank=low_rank, error=error)


def _shared_layer(mean: MeanModel, rule: AlphaRule, sums: TargetSums) -> OutputLayer:
    """Solve for a noise model that shares the hidden layer of the mean."""
    problem = RidgeProblem(mean.rows, mean.features, mean.hidden.n_neurons, mean.eps)
    problem = replace(problem, to_hidden=partial(noise_squares, mean, None))
    return noise_layer(problem, rule, mean, sums, shared=True)


def _as_all(mean: MeanModel, rows: Chunk) -> TargetSums:
    """Return the sums of some rows, which stand for all of them."""
    assert mean.sums is not None
    some, share = target_sums(noise_squares(mean, None, rows)), mean.sums.n / rows.n
    return TargetSums(mean.sums.n, share * some.HtY, share * some.YtY)


def _covariances(mean: MeanModel, layer: OutputLayer, rows: Chunk) -> tuple[Array, Array]:
    """Return Σ_y and Σ_r with middle terms from some rows, which stand for all of them."""
    assert mean.sums is not None
    same = bool(namespace(layer.alpha).all(layer.alpha == mean.layer.alpha))

    def chunk_map(chunk: Chunk) -> Several:
        hidden = mean.features(chunk)
        r, rest, meat = jackknife(mean.layer, hidden)
        return Several((meat, noise_meat(layer, hidden._replace(Y=r**2), rest if same else None)))

    meat, meat_of_noise = engine.in_blocks(chunk_map)(rows).parts
    share = mean.sums.n / rows.n
    return share * sandwich(mean.layer, meat), share * sandwich(layer, meat_of_noise)
