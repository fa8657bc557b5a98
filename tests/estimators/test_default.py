"""The defaults: what they promise, on few rows and with fixed seeds."""

import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import betabinom
from sklearn.base import clone

from elmband import ELMIntervalRegressor, ELMRegressor
from elmband.datasets import make_heteroscedastic
from elmband.metrics import interval_score, picp

RNG = np.random.default_rng(0)
N = 150
X = RNG.uniform(-2, 2, size=(N, 3))
NOISE = 0.1 + 0.4 * np.abs(X[:, 2])
Y = np.sin(2 * X[:, 0]) + X[:, 1] + NOISE * RNG.standard_normal(N)
NEW = RNG.uniform(-2.2, 2.2, size=(50, 3))
TEST = make_heteroscedastic(5000, random_state=99)
TAILS = pytest.mark.parametrize("symmetric", [True, False], ids=["alike", "separate tails"])


def model(**options):
    return ELMIntervalRegressor(**{"random_state": 1} | options)


def intervals(X, y, new=NEW, level=0.9, *, weight=None, groups=None, **options):
    return model(**options).fit(X, y, weight, groups).predict_interval(new, level)


def assert_close(actual, expected, tolerance):
    """Compare bounds; the tolerance is a share of the median width."""
    width = np.median(np.diff(expected[:, :2], axis=1))
    np.testing.assert_allclose(actual, expected, rtol=0, atol=tolerance * width)


@pytest.fixture(scope="module")
def expected():
    return intervals(X, Y)


@pytest.mark.slow
@pytest.mark.parametrize(("scale", "shift"), [(3.0, 7.0), (-2e4, 1e6), (1e-3, 0.0), (-1e-6, 1e-3)])
def test_intervals_follow_the_units_of_y(expected, scale, shift):
    moved = intervals(X, scale * Y + shift)
    assert_close(np.sort((moved - shift) / scale, axis=1), expected, 1e-6)


@pytest.mark.slow
@pytest.mark.parametrize("scale", [1e3, -0.01])
def test_separate_tails_follow_the_units_of_y(scale):
    expected = intervals(X[:60], Y[:60], symmetric=False)
    moved = intervals(X[:60], scale * Y[:60] + 5, symmetric=False)
    assert_close(np.sort((moved - 5) / scale, axis=1), expected, 1e-4)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(3))
def test_row_order_and_chunks_do_not_matter(expected, seed):
    order = np.random.default_rng(seed).permutation(N)
    assert_close(intervals(X[order], Y[order], chunk_size=17), expected, 1e-5)


@pytest.mark.slow
@pytest.mark.parametrize("powers", [(6, -6, 3), (-6, 6, 0)])
def test_units_of_the_inputs_do_not_matter(expected, powers):
    units = 10.0 ** np.array(powers)
    assert_close(intervals(X * units, Y, NEW * units), expected, 1e-5)


@pytest.mark.one_quick
@pytest.mark.parametrize("estimator", [ELMRegressor, ELMIntervalRegressor])
def test_the_mean_is_the_same_with_and_without_intervals(estimator):
    mean = ELMRegressor(random_state=1).fit(X, Y).predict(NEW)
    np.testing.assert_allclose(estimator(random_state=1).fit(X, Y).predict(NEW), mean, rtol=1e-9)


@pytest.mark.slow
@pytest.mark.parametrize("n", [25, 40, N])
def test_weights_are_counts_for_intervals_too(n):
    counts = np.random.default_rng(1).integers(0, 4, size=n)
    repeated = intervals(np.repeat(X[:n], counts, axis=0), np.repeat(Y[:n], counts))
    weighted = intervals(X[:n], Y[:n], weight=counts)
    assert_close(weighted, repeated, 1e-4)


def test_weights_of_the_calibration_have_no_unit_and_zero_drops_a_row():
    weights = np.random.default_rng(1).integers(0, 4, size=50)
    fitted = model(n_neurons=20).fit(X[50:], Y[50:])

    def calibrated(rows, weight):
        known = fitted.calibrate(X[:50][rows], Y[:50][rows], sample_weight=weight)
        return known.predict_interval(NEW, 0.8)

    expected = calibrated(slice(None), weights)
    np.testing.assert_array_equal(calibrated(slice(None), 10.0 * weights), expected)
    there = weights > 0
    np.testing.assert_array_equal(calibrated(there, weights[there]), expected)
    np.testing.assert_array_equal(calibrated(there, 10.0), calibrated(there, None))
    fitted.calibrate(X[:50], Y[:50], sample_weight=weights)
    found = fitted.calibration_.outputs[0].both.n
    assert found == pytest.approx(weights.sum() ** 2 / (weights**2).sum())


@pytest.mark.slow
@pytest.mark.parametrize("estimator", [ELMRegressor, ELMIntervalRegressor])
def test_more_rows_than_candidates_are_compared_on(estimator):
    """Members are chosen on a sample of rows; it must not depend on the order of rows."""
    data = make_heteroscedastic(1800, random_state=0)
    order = np.random.default_rng(1).permutation(1800)
    means = [
        estimator(random_state=1).fit(data.X[rows], data.y[rows]).predict(TEST.X[:200])
        for rows in (slice(None), order)
    ]
    np.testing.assert_allclose(*means, rtol=1e-5, atol=1e-5)


@pytest.mark.slow
@TAILS
def test_many_outputs_equal_separate_fits(symmetric):
    two = np.column_stack([Y, X[:, 0] ** 2 + np.random.default_rng(1).standard_normal(N)])
    # Neurons that learn would learn from all outputs together.
    blind = model(symmetric=symmetric, learning_rounds=0)
    both = clone(blind).fit(X, two)
    assert both.predict(NEW).shape == (50, 2)
    assert both.predict_interval(NEW, [0.5, 0.9]).shape == (50, 2, 2, 2)
    assert both.predict_quantiles(NEW, [0.1, 0.5, 0.9]).shape == (50, 2, 3)
    for j in range(2):
        alone = clone(blind).fit(X, two[:, j])
        assert_close(both.predict_interval(NEW)[:, j], alone.predict_interval(NEW), 1e-4)
        quantiles = both.predict_quantiles(NEW)[:, j]
        np.testing.assert_allclose(quantiles, alone.predict_quantiles(NEW), rtol=1e-3, atol=1e-3)


@pytest.fixture(scope="module", params=[True, False], ids=["alike", "separate tails"])
def fitted(request):
    return model(symmetric=request.param).fit(X, Y)


@pytest.mark.slow
@given(st.lists(st.floats(0.001, 0.999), min_size=1, max_size=8))
def test_quantiles_never_cross(fitted, quantiles):
    quantiles = sorted(quantiles)
    values = fitted.predict_quantiles(NEW[:10], quantiles)
    assert values.shape == (10, len(quantiles))
    assert (np.diff(values, axis=1) >= 0).all()


@pytest.mark.slow
@given(st.floats(0.01, 0.99))
def test_quantiles_agree_with_intervals(fitted, level):
    interval = fitted.predict_interval(NEW[:10], level)
    values = fitted.predict_quantiles(NEW[:10], [(1 - level) / 2, 0.5, (1 + level) / 2])
    np.testing.assert_allclose(values[:, [0, 2]], interval, rtol=1e-6, atol=1e-9)
    assert (values[:, 0] <= values[:, 1]).all()
    assert (values[:, 1] <= values[:, 2]).all()
    if fitted.symmetric:
        np.testing.assert_allclose(values[:, 1], fitted.predict(NEW[:10]))


@given(st.lists(st.floats(0.01, 0.999), min_size=2, max_size=6))
def test_levels_are_nested(fitted, levels):
    interval = fitted.predict_interval(NEW[:10], sorted(levels))
    assert interval.shape == (10, 2, len(levels))
    assert (np.diff(interval[:, 0], axis=1) <= 0).all()
    assert (np.diff(interval[:, 1], axis=1) >= 0).all()
    assert (interval[:, 0] <= interval[:, 1]).all()


def test_a_single_quantile_has_no_axis_of_its_own(fitted):
    single, listed = fitted.predict_quantiles(NEW, 0.5), fitted.predict_quantiles(NEW, [0.5])
    assert listed.shape == (50, 1)
    np.testing.assert_array_equal(single, listed[:, 0])
    if fitted.symmetric:
        np.testing.assert_array_equal(single, fitted.predict(NEW))


@pytest.mark.parametrize("quantiles", [0, 1.0, [0.5, 95], [], "median"])
def test_quantiles_outside_of_zero_and_one_are_refused(fitted, quantiles):
    with pytest.raises(ValueError, match="quantiles must"):
        fitted.predict_quantiles(NEW, quantiles)


def test_the_parts_of_the_variance_add_up_and_are_positive(fitted):
    parts = fitted.predict_variance(NEW)
    np.testing.assert_allclose(parts.total, parts.noise + parts.mean_model + parts.noise_model)
    assert min(part.min() for part in parts) > 0
    assert (parts.noise_lower < parts.noise).all()
    assert (parts.noise < parts.noise_upper).all()


def test_the_noise_is_found_where_it_is(fitted):
    """The predicted noise follows the true one: a correlation of logarithms above 0.6."""
    found = fitted.predict_variance(X).noise
    assert np.corrcoef(np.log(found), np.log(NOISE))[0, 1] > 0.6


def clustered(seed, n_groups=60, n_new=60, size=5):
    """Rows in tight groups that share an offset, and groups that were not seen."""
    rng = np.random.default_rng(seed)
    groups = np.repeat(np.arange(n_groups + n_new), size)
    places = rng.uniform(-2, 2, size=(n_groups + n_new, 2))
    X = places[groups] + 0.02 * rng.standard_normal((len(groups), 2))
    offsets = 0.7 * rng.standard_normal(n_groups + n_new)
    y = np.sin(X[:, 0]) + offsets[groups] + 0.1 * rng.standard_normal(len(groups))
    seen = groups < n_groups
    return X[seen], y[seen], groups[seen], X[~seen], y[~seen]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("options", "seeds"), [({"n_neurons": {"rbf_l2": 60}}, 4), ({}, 2)], ids=["layer", "auto"]
)
def test_groups_are_left_out_together(options, seeds):
    """Without labels, the rest of a group betrays its offset and new groups are missed."""
    shares = []
    for seed in range(seeds):
        train, y, groups, new, y_new = clustered(seed)
        bounds = [intervals(train, y, new, groups=g, **options) for g in (None, groups)]
        shares.append([picp(y_new, interval) for interval in bounds])
    alone, together = np.mean(shares, axis=0)
    assert alone < 0.8
    assert together == pytest.approx(0.92, abs=0.06)


@pytest.mark.one_quick
@pytest.mark.parametrize("estimator", [ELMRegressor, ELMIntervalRegressor])
def test_groups_of_one_row_change_no_mean(estimator):
    plain, labelled = (
        # Of few rows, parts that are held out tell how often to learn: labels make other parts.
        estimator(learning_rounds=0, random_state=1).fit(X[:60], Y[:60], groups=g).predict(NEW)
        for g in (None, np.arange(60))
    )
    np.testing.assert_allclose(labelled, plain, rtol=1e-6)


@pytest.mark.one_quick
@pytest.mark.parametrize("estimator", [ELMRegressor, ELMIntervalRegressor])
@pytest.mark.parametrize("n_neurons", ["auto", 10])
def test_groups_may_be_words_and_rows_without_weight_need_none(estimator, n_neurons):
    words = np.array([f"day {i // 5}" for i in range(N)])
    weight = np.ones(N)
    weight[::7] = 0
    kept = weight > 0
    all_rows, only = (
        estimator(n_neurons, random_state=1).fit(X[rows], Y[rows], s, words[rows]).predict(NEW)
        for rows, s in ((slice(None), weight), (kept, None))
    )
    np.testing.assert_allclose(all_rows, only, rtol=1e-6)


@pytest.mark.parametrize("estimator", [ELMRegressor, ELMIntervalRegressor])
@pytest.mark.parametrize(
    ("groups", "sentence"),
    [
        (np.arange(N - 1), r"one label for each of the 150 rows of X; its shape is \(149,\)"),
        (np.zeros((N, 2)), r"one label for each of the 150 rows of X; its shape is \(150, 2\)"),
        (np.zeros(N), "groups names a single group; leaving groups out needs two at least"),
        ([None, "a"] * (N // 2), "groups holds missing labels or mixes types"),
    ],
)
def test_bad_groups_get_a_sentence(estimator, groups, sentence):
    with pytest.raises(ValueError, match=sentence):
        estimator(10).fit(X, Y, groups=groups)


def test_the_published_model_refuses_what_it_does_not_have():
    for options, groups in (({}, np.arange(N)), ({"symmetric": False}, None)):
        with pytest.raises(ValueError, match="need noise='log'"):
            model(noise="squared", **options).fit(X, Y, groups=groups)


@pytest.mark.slow
@TAILS
@pytest.mark.parametrize("n_train", [15, 300])
def test_calibration_on_held_out_rows_keeps_its_promise(symmetric, n_train):
    """200 sets of 39 rows, 50 new rows each: exact beta-binomial moments, four deviations."""
    rows = make_heteroscedastic(n_train + 200 * 89, random_state=0)
    fitted = model(n_neurons=5, symmetric=symmetric).fit(rows.X[:n_train], rows.y[:n_train])
    X, y = rows.X[n_train:], rows.y[n_train:]
    covered = 0
    for start in range(0, len(y), 89):
        held, new = slice(start, start + 39), slice(start + 39, start + 89)
        interval = fitted.calibrate(X[held], y[held]).predict_interval(X[new], 0.9)
        covered += np.sum((interval[:, 0] <= y[new]) & (y[new] <= interval[:, 1]))
    # 36 of 40 places are covered where tails are alike, and 38 of 40 for each separate tail.
    law = betabinom(50, 36, 4)
    assert covered / 200 > law.mean() - 4 * law.std() / np.sqrt(200)
    assert covered / 200 < law.mean() + 4 * law.std() / np.sqrt(200)


def test_calibration_with_too_few_rows_is_infinite_and_says_so():
    fitted = model(n_neurons=10).fit(X, Y).calibrate(X[:8], Y[:8])
    with pytest.warns(UserWarning, match=r"8 calibration rows .* with at least 9 rows"):
        assert np.isinf(fitted.predict_interval(NEW, 0.9)).all()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert np.isfinite(fitted.predict_interval(NEW, 0.8)).all()
        assert np.isfinite(fitted.calibrate(X[:9], Y[:9]).predict_interval(NEW, 0.9)).all()


@pytest.mark.one_quick
@pytest.mark.parametrize(
    ("X", "y", "weight", "sentence"),
    [
        (X[:, :2], Y, None, "X has 2 features, but .* is expecting 3"),
        (X, None, None, "y is missing: give the targets of these rows"),
        (X, Y[:-1], None, r"y must have 150 rows and 1 outputs.* its shape is \(149, 1\)"),
        (X, np.column_stack([Y, Y]), None, r"1 outputs.* its shape is \(150, 2\)"),
        (X, Y, np.ones(3), "one number for each of the 150 rows"),
        (X, np.where(np.arange(N) == 3, np.nan, Y), None, "Input y contains NaN"),
    ],
)
def test_calibration_refuses_what_does_not_fit(X, y, weight, sentence):
    fitted = model(n_neurons=10).fit(np.ones((20, 3)) * np.arange(20)[:, None], np.arange(20) ** 2)
    with pytest.raises(ValueError, match=sentence):
        fitted.calibrate(X, y, weight)
    with pytest.raises(ValueError, match=sentence):
        fitted.evaluate(X, y, weight)


def covered(interval):
    return (interval[:, 0] <= TEST.y) & (TEST.y <= interval[:, 1])


@pytest.mark.slow
@pytest.mark.parametrize(("n", "seeds"), [(300, 6), (800, 4), (2000, 2)])
def test_coverage_is_right_overall_and_wherever_noise_is_small_or_large(n, seeds):
    """5,000 test rows, pooled over draws: within 2.5 points overall, 5 in each fifth of noise."""
    fifth = np.argsort(np.argsort(TEST.std)) // 1000
    hits = {0.9: [], 0.95: []}
    for seed in range(seeds):
        data = make_heteroscedastic(n, random_state=seed)
        bounds = intervals(data.X, data.y, TEST.X, list(hits), random_state=seed)
        for k, level in enumerate(hits):
            hits[level].append(covered(bounds[:, :, k]))
    for level, found in hits.items():
        assert np.mean(found) == pytest.approx(level, abs=0.025)
        for part in range(5):
            inside = np.mean(np.array(found)[:, fifth == part])
            assert inside == pytest.approx(level, abs=0.05)


@pytest.mark.slow
def test_intervals_are_nearly_as_short_as_the_true_ones():
    """The mean width for 2,000 rows, against that of the known noise: within 15 %."""
    data = make_heteroscedastic(2000, random_state=0)
    width = np.diff(intervals(data.X, data.y, TEST.X), axis=1).mean()
    assert width == pytest.approx(np.diff(TEST.interval(0.9), axis=1).mean(), rel=0.15)


@pytest.mark.slow
def test_intervals_are_wider_far_from_the_rows():
    """Half as far again as the rows reach; medians of 3 draws."""
    far, near = np.array([[-4.5], [4.5]]), np.linspace(-2.5, 2.5, 50)[:, None]
    widths, variances = [], []
    for seed in range(3):
        data = make_heteroscedastic(300, noise=0.3, random_state=seed)
        fitted = model().fit(data.X, data.y)
        inside, outside = (np.diff(fitted.predict_interval(rows), axis=1) for rows in (near, far))
        widths.append(outside.min() / inside.max())
        inside, outside = (fitted.predict_variance(rows).mean_model for rows in (near, far))
        variances.append(outside.min() / inside.max())
    assert np.median(widths) > 1.25
    assert np.median(variances) > 5


@pytest.mark.parametrize("distance", [20.0, 1e3, 1e6])
def test_outliers_among_new_rows_get_finite_intervals(fitted, distance):
    rows = distance * np.array([[1.0, 1.0, 1.0], [-1.0, 1.0, 0.0], [0.0, 0.0, -1.0]])
    interval = fitted.predict_interval(rows)
    assert np.isfinite(interval).all()
    inside = np.median(np.diff(fitted.predict_interval(NEW), axis=1))
    assert (np.diff(interval, axis=1) > inside).all()


@pytest.mark.slow
def test_intervals_are_wider_in_a_gap():
    """The gap is a third of the inputs wide; median of 3 draws."""
    ratios = []
    for seed in range(3):
        data = make_heteroscedastic(300, noise=0.3, random_state=seed)
        kept = (data.X[:, 0] < -0.7) | (data.X[:, 0] > 1.3)
        fitted = model().fit(data.X[kept], data.y[kept])
        gap, *near = np.diff(fitted.predict_interval([[0.3], [-1.7], [2.2]]), axis=1)[:, 0]
        ratios.append(gap / max(near))
    assert np.median(ratios) > 1.1


def sixty(seed):
    rng = np.random.default_rng(seed)
    X = rng.uniform(-2, 2, size=(60, 2))
    y = np.sin(2 * X[:, 0]) + X[:, 1] + (0.1 + 0.5 * np.abs(X[:, 1])) * rng.standard_normal(60)
    return X, y


def refitted(seed, **options):
    """Refit 60 rows without each in turn: its error, deviation and interval."""
    X, y = sixty(seed)
    for i in range(60):
        others = np.arange(60) != i
        fitted = model(**options).fit(X[others], y[others])
        low, high = fitted.predict_interval(X[[i]], 0.9)[0]
        std = np.sqrt(fitted.predict_variance(X[[i]]).total[0])
        yield abs(y[i] - fitted.predict(X[[i]])[0]) / std, low <= y[i] <= high


@pytest.mark.slow
@pytest.mark.parametrize("seed", [0, pytest.param(1, marks=pytest.mark.long)])
def test_full_refits_cover_the_rows_they_did_not_see_and_score_them_alike(seed):
    """60 refits: a binomial standard error is 3.9 points at 90 %; 8 are allowed.

    Quantiles of |y - ŷ| / std over the refits and of ten parts held out agree within 40 %.
    """
    scores, covered = zip(*refitted(seed), strict=True)
    held_out = model().fit(*sixty(seed)).calibration_.outputs[0].both.t
    for share in (0.5, 0.7, 0.8, 0.9):
        exact = np.quantile(scores, share)
        assert np.quantile(held_out, share) == pytest.approx(exact, rel=0.4)
    assert np.mean(covered) == pytest.approx(0.9, abs=0.08)


@pytest.mark.long
def test_separate_tails_of_full_refits_cover_the_rows_they_did_not_see():
    """60 refits: a binomial standard error is 3.9 points at 90 %; 8 are allowed."""
    hits = [hit for _, hit in refitted(1, symmetric=False)]
    assert np.mean(hits) == pytest.approx(0.9, abs=0.08)


def mean_scores(draw, options, n, seeds):
    """Return the interval scores of tails that are alike and of separate ones."""
    scores = []
    for seed in range(seeds):
        rng = np.random.default_rng(seed)
        X = rng.uniform(-2, 2, size=(n + 3000, 2))
        y = np.sin(2 * X[:, 0]) + (0.2 + 0.3 * np.abs(X[:, 1])) * draw(rng, n + 3000)
        for symmetric in (True, False):
            bounds = intervals(X[:n], y[:n], X[n:], symmetric=symmetric, **options)
            scores.append(interval_score(y[n:], bounds, confidence_level=0.9))
    return np.mean(scores[::2]), np.mean(scores[1::2])


@pytest.mark.slow
@pytest.mark.parametrize(
    ("options", "n", "seeds"), [({"n_neurons": 30}, 1000, 4), ({}, 500, 3)], ids=["layer", "auto"]
)
def test_separate_tails_help_where_noise_is_skewed(options, n, seeds):
    alike, separate = mean_scores(
        lambda rng, size: rng.standard_exponential(size) - 1, options, n, seeds
    )
    assert separate < 0.95 * alike


@pytest.mark.slow
def test_separate_tails_cost_little_where_noise_is_symmetric():
    alike, separate = mean_scores(
        lambda rng, size: rng.standard_normal(size), {"n_neurons": 30}, 1000, 4
    )
    assert separate < 1.03 * alike


@pytest.mark.one_quick
@TAILS
@pytest.mark.parametrize("n", [2, 3, 5, 10, 14, 15, 30])
def test_few_rows_are_enough_and_said_to_be_few(n, symmetric):
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        fitted = model(symmetric=symmetric).fit(X[:n], Y[:n])
    sentences = [str(one.message) for one in told]
    expected = f"{n} different rows are too few to tell how far off predictions may be"
    assert [sentence.split(":")[0] for sentence in sentences] == [expected] * (n < 15)
    assert all(one.filename == __file__ for one in told)
    interval = fitted.predict_interval(NEW, [0.5, 0.99])
    assert np.isfinite(interval).all()
    assert (interval[:, 0] < interval[:, 1]).all()
    mean, std = fitted.predict(NEW, return_std=True)
    assert np.isfinite(mean).all()
    assert (std > 0).all()


def test_inputs_that_say_nothing_give_the_interval_of_the_targets():
    """A useless input: the interval is that of the normal targets, within 25 %."""
    rng = np.random.default_rng(0)
    useless = rng.standard_normal((200, 1))
    width = np.diff(intervals(useless, rng.standard_normal(200), useless[:50]), axis=1)
    assert np.median(width) == pytest.approx(2 * 1.645, rel=0.25)


def test_members_have_weights_for_every_output():
    fitted = ELMRegressor(random_state=1).fit(X, np.column_stack([Y, X[:, 0]]))
    assert fitted.member_weights_.shape == (len(fitted.members_), 2)
    assert (fitted.member_weights_ >= 0).all()


@pytest.mark.parametrize("count", [1, 2])
def test_n_estimators_limits_and_repeats(count):
    assert len(ELMRegressor(n_estimators=count, random_state=1).fit(X, Y).members_) <= count
    layers = ELMIntervalRegressor(15, n_estimators=count, random_state=1).fit(X, Y).members_
    assert 1 <= len(layers) <= count
    assert all(layer.features.hidden.n_neurons == 15 for layer in layers)


@pytest.mark.parametrize("count", [0, -1, 1.5, True, "many"])
def test_bad_numbers_of_estimators_get_a_sentence(count):
    with pytest.raises(ValueError, match="n_estimators must be None or at least 1"):
        ELMRegressor(n_estimators=count).fit(X, Y)


@pytest.mark.slow
@pytest.mark.parametrize("alpha", [1e-3, 1.0, "gcv"])
def test_the_rule_for_the_strength_reaches_every_member(alpha):
    fitted = model(alpha=alpha).fit(X, Y)
    chosen = np.array([float(member.alpha[0]) for member in fitted.members_])
    assert (chosen == alpha).all() if isinstance(alpha, float) else (chosen > 0).all()
    assert np.isfinite(fitted.predict_interval(NEW)).all()


def test_a_gaussian_calibration_has_the_normal_multiplier():
    fitted = model(calibration="gaussian").fit(X, Y)
    mean, interval = fitted.predict(NEW, confidence_level=0.9)
    std = np.sqrt(fitted.predict_variance(NEW).total)
    np.testing.assert_allclose(interval[:, 1] - mean, 1.6448536 * std, rtol=1e-6)


def test_float32_gives_the_same_intervals_to_single_precision():
    options = {"n_neurons": 30, "alpha": 10.0}
    double, single = (model(**options).fit(X.astype(d), Y) for d in (np.float64, np.float32))
    mean = single.predict(NEW.astype(np.float32))
    assert mean.dtype == np.float32
    np.testing.assert_allclose(mean, double.predict(NEW), atol=1e-3)
    # Rows fall into other folds and are held out with others: multipliers differ by some 10 %.
    bounds = single.predict_interval(NEW.astype(np.float32))
    assert_close(bounds, double.predict_interval(NEW), 0.3)
