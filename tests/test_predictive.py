import numpy as np
import pytest

from elmband.engines import engine
from elmband.ground.arrays import to_numpy
from elmband.layers.hidden import LayerSpec
from elmband.stacks.pool import Pool
from elmband.stacks.search import fit_stack
from elmband.sums.rows import ArrayRows
from elmband.sums.scaling import Scaling, column_moments
from elmband.uncertainty.calibrate import row_scores
from elmband.uncertainty.fit_predictive import Copies, NoiseSettings, fit_predictive
from elmband.uncertainty.noise.output import with_mean

RNG = np.random.default_rng(0)
N = 120
X = RNG.uniform(-2, 2, size=(N, 3))
Y = (np.sin(2 * X[:, 0]) + X[:, 1] + (0.1 + np.abs(X[:, 2])) * RNG.standard_normal(N))[:, None]
NEW = RNG.uniform(-2, 2, size=(40, 3))
SPECS = [LayerSpec((("tanh", 30),)), LayerSpec((("rbf_l2", 20),), weight_scale=2.0)]
NOISE_SPEC = LayerSpec((("linear", 4), ("tanh", 10)), weight_scale=0.5)


def stacked(X, Y, s=None, rule="loo", specs=SPECS):
    """Return the pool and the stack of rows whose targets are taken as they are."""
    rows = ArrayRows(X, Y, s, chunk_size=50)
    inputs = Scaling.from_moments(engine.total(rows, lambda c: column_moments(c.X, c.s)))
    pool = Pool.of(rows, inputs, None, 500, 3, 2.0**-52)
    return pool, fit_stack(pool, specs, rule)


def fitted(X, Y, s=None, *, symmetric=True, rule="loo", specs=SPECS, alpha=None):
    settings = NoiseSettings(NOISE_SPEC, alpha, symmetric)
    return fit_predictive(*stacked(X, Y, s, rule, specs), settings)


@pytest.fixture(scope="module", params=[True, False], ids=["alike", "separate tails"])
def both(request):
    return fitted(X, Y, symmetric=request.param)


def test_parts_equal_their_definitions(both):
    predictive = both.predictive
    parts = predictive.parts(NEW, 1.5)
    mean, std = np.zeros(40), np.zeros(40)
    for k, member in enumerate(predictive.stack.members):
        w = predictive.stack.weights[k, 0]
        H = member.features.apply(NEW) - member.centre
        covariance = predictive.stack.covariances[k][0]
        full = np.column_stack([np.ones(40), H])
        mean += w * (member.intercept[0] + H @ member.coef[:, 0])
        std += w * np.sqrt(np.diag(full @ covariance @ full.T))
    np.testing.assert_allclose(parts.mean[:, 0], mean, rtol=1e-9)
    np.testing.assert_allclose(parts.mean_model[:, 0], std**2, rtol=1e-6)
    models = predictive.noise[0]
    beside = np.column_stack([NEW, mean * models.orientation])
    log, v = models.both.predict(beside)
    np.testing.assert_allclose(parts.noise[:, 0], np.exp(log), rtol=1e-8)
    np.testing.assert_allclose(parts.noise_model[:, 0], np.exp(log) * np.expm1(v / 2), rtol=1e-8)
    for z, bound in ((1.5, parts.noise_upper), (-1.5, parts.noise_lower)):
        np.testing.assert_allclose(bound[:, 0], np.exp(log + z * np.sqrt(v)), rtol=1e-8)
    np.testing.assert_allclose(parts.total, parts.noise + parts.mean_model + parts.noise_model)
    for model, tail in ((models.above, parts.above), (models.below, parts.below)):
        log, v = model.predict(beside)
        np.testing.assert_allclose(tail[:, 0], np.exp(log + v / 2) + std**2, rtol=1e-6)


def test_tails_that_are_alike_are_one_model():
    fit = fitted(X, Y)
    (models,) = fit.predictive.noise
    assert models.both is models.above is models.below
    parts = fit.predictive.parts(NEW, 1.0)
    np.testing.assert_array_equal(parts.above, parts.below)
    np.testing.assert_allclose(parts.above, parts.total)


def test_separate_tails_find_the_longer_one():
    rng = np.random.default_rng(1)
    skewed = np.sin(2 * X[:, :1]) + 0.5 * (rng.standard_exponential((N, 1)) - 1)
    fit = fitted(X, skewed, symmetric=False)
    parts = fit.predictive.parts(X, 1.0)
    assert np.median(parts.above) > 1.5 * np.median(parts.below)


def test_opposite_targets_have_the_same_noise(both):
    symmetric = both.predictive.noise[0].both is both.predictive.noise[0].above
    parts = both.predictive.parts(NEW, 1.0)
    turned = fitted(X, -Y, symmetric=symmetric).predictive.parts(NEW, 1.0)
    np.testing.assert_allclose(turned.mean, -parts.mean, rtol=1e-7)
    for name, other in (("total", "total"), ("above", "below"), ("below", "above")):
        mine, theirs = getattr(turned, name), getattr(parts, other)
        np.testing.assert_allclose(mine, theirs, rtol=1e-5)


def test_noise_is_unbiased_though_a_layer_follows_it():
    """60 neurons and 200 rows: r² is 20 % short, e² too large. Mean of 12 draws, 10 %."""
    noises, squares = [], []
    for seed in range(12):
        rng = np.random.default_rng(seed)
        inputs = rng.uniform(-2, 2, size=(200, 3))
        # A strong signal, so that the layer has a weight of one.
        targets = 5 * inputs[:, :1] + 0.5 * rng.standard_normal((200, 1))
        specs = [LayerSpec((("tanh", 60),), weight_scale=0.3)]
        fit = fitted(inputs, targets, rule=1e-6, specs=specs, alpha=1e6)
        parts = fit.predictive.parts(inputs, 1.0)
        noises.append(parts.noise.mean())
        squares.append(np.mean((targets - parts.mean) ** 2))
    assert np.mean(squares) < 0.21
    assert np.mean(noises) == pytest.approx(0.25, rel=0.1)


def test_scores_are_errors_divided_by_deviations():
    e = np.array([1.0, -2.0, 3.0, -4.0])
    both, above, below = np.array([1.0, 4, 9, 16]), np.full(4, 4.0), np.full(4, 0.25)
    totals = [v[:, None] for v in (both, above, below)]
    scores = row_scores(e[:, None], totals, np.array([1.0, 2, 3, 4])).outputs()[0]
    # Weights of 1, 2, 3 and 4 are worth 10² / 30 rows.
    np.testing.assert_allclose(scores.both.t, [1, 1, 1, 1])
    np.testing.assert_allclose(scores.above.t, [-2, -1, 0.5, 1.5])
    np.testing.assert_allclose(scores.above.cumulated, np.array([4, 6, 7, 10]) / 3)
    np.testing.assert_allclose(scores.below.t, [-6, -2, 4, 8])
    np.testing.assert_allclose(scores.below.cumulated, np.array([3, 4, 6, 10]) / 3)


def test_a_variance_of_zero_gives_no_warning_and_an_error_of_zero_no_score():
    zero = np.zeros((2, 1))
    scores = row_scores(np.array([[0.0], [1.0]]), [zero] * 3, np.ones(2)).outputs()[0]
    assert scores.both.t[0] == 0
    assert scores.both.t[1] > 1e100


def test_scores_of_rows_left_out_have_the_size_of_one(both):
    """A score's root mean square is 1 where variances are right: within 25 % for 120 rows."""
    assert both.scores[0].both.root_mean_square == pytest.approx(1, abs=0.25)
    assert both.scores[0].both.n == N


def test_every_row_behind_a_judged_one_is_found():
    owner = np.repeat(np.arange(N), np.random.default_rng(1).integers(1, 4, size=N))
    targets = np.random.default_rng(2).standard_normal((len(owner), 1))
    s = np.random.default_rng(3).uniform(0.5, 2, size=len(owner))
    pool, stack = stacked(X[owner], targets, s)
    copies = Copies.of(pool, stack.judged, stack.index)
    # Values of judged rows, handed on and taken together again, are what they were.
    rows = copies.spread(stack.judged.rows.X)
    np.testing.assert_allclose(rows, X[owner])
    np.testing.assert_allclose(copies.merged(rows), stack.judged.rows.X)
    means = copies.spread(stack.judged.rows.Y)
    np.testing.assert_allclose(means + copies.gap, targets)
    np.testing.assert_allclose(copies.merged(copies.gap), 0, atol=1e-12)
    np.testing.assert_array_equal(copies.s, s)


def test_rows_that_are_all_different_are_their_own_detail():
    pool, stack = stacked(X, Y)
    copies = Copies.of(pool, stack.judged, stack.index)
    assert copies.distinct
    assert (copies.gap == 0).all()
    values = Y.copy()
    assert copies.spread(values) is values
    assert copies.merged(values) is values


def test_twins_with_unlike_targets_keep_their_own_errors():
    """Noise that twins do not share is noise: merging rows must not average it away."""
    rng = np.random.default_rng(1)
    twice = np.repeat(X, 2, axis=0)
    targets = np.sin(twice[:, :1]) + 0.5 * rng.standard_normal((2 * N, 1))
    fit = fitted(twice, targets)
    assert len(fit.scores[0].both.t) == 2 * N
    # Equal rows share the error of the mean: they are worth one row each.
    assert fit.scores[0].both.n == N
    assert fit.predictive.parts(X, 1.0).noise.mean() == pytest.approx(0.25, rel=0.25)
    assert fit.scores[0].both.root_mean_square == pytest.approx(1, abs=0.2)


@pytest.mark.parametrize("symmetric", [True, False])
def test_repeated_rows_equal_weights(symmetric):
    counts = np.random.default_rng(1).integers(1, 4, size=N)
    owner = np.repeat(np.arange(N), counts)
    repeated = fitted(X[owner], Y[owner], symmetric=symmetric, alpha=1.0)
    weighted = fitted(X, Y, counts.astype(float), symmetric=symmetric, alpha=1.0)
    for name in ("mean", "noise", "mean_model", "noise_model", "above", "below"):
        mine, theirs = (
            getattr(fit.predictive.parts(NEW, 1.0), name) for fit in (repeated, weighted)
        )
        np.testing.assert_allclose(mine, theirs, rtol=1e-5, atol=1e-8)
    for mine, theirs in zip(repeated.scores[0], weighted.scores[0], strict=True):
        # Copies and weights are worth the same number of rows.
        assert mine.n == pytest.approx(counts.sum() ** 2 / (counts**2).sum())
        ends = np.flatnonzero(np.diff(mine.t, append=np.inf) > 1e-7)
        np.testing.assert_allclose(mine.t[ends], theirs.t, rtol=1e-5, atol=1e-8)
        np.testing.assert_allclose(mine.cumulated[ends], theirs.cumulated)


@pytest.mark.one_quick
@pytest.mark.parametrize("symmetric", [True, False])
def test_every_library_gives_the_same(xp, symmetric):
    expected = fitted(X, Y, symmetric=symmetric, alpha=1.0)
    fit = fitted(xp.asarray(X), xp.asarray(Y), symmetric=symmetric, alpha=1.0)
    parts = fit.predictive.parts(xp.asarray(NEW), 1.0)
    for mine, theirs in zip(parts, expected.predictive.parts(NEW, 1.0), strict=True):
        assert type(mine) is type(xp.asarray(X))
        np.testing.assert_allclose(to_numpy(mine), theirs, rtol=1e-5, atol=1e-8)
    for mine, theirs in zip(fit.scores[0], expected.scores[0], strict=True):
        np.testing.assert_allclose(mine.t, theirs.t, rtol=1e-5, atol=1e-8)


def test_the_mean_is_one_more_input(xp):
    beside = with_mean(xp.asarray(X), xp.asarray(Y[:, 0]))
    np.testing.assert_array_equal(to_numpy(beside), np.column_stack([X, Y]))
