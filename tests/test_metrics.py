import pickle
from functools import partial

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scoringrules as sr
from hypothesis import assume, given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.stats import norm
from sklearn import config_context
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler

from elmband import metrics

INF = np.inf
LEVEL = 0.8
INTERVAL_METRICS = {
    "picp": metrics.picp,
    "nmpiw": metrics.nmpiw,
    "cwc": partial(metrics.cwc, confidence_level=LEVEL),
    "interval_score": partial(metrics.interval_score, confidence_level=LEVEL),
    "quantile": lambda y, i, **kw: metrics.pinball(y, np.asarray(i)[..., 0], quantiles=0.3, **kw),
    "bounds": lambda y, i, **kw: metrics.pinball(y, i, quantiles=[0.1, 0.9], **kw),
    "crps": lambda y, i, **kw: metrics.crps_gaussian(y, *normal(i), **kw),
    "nll": lambda y, i, **kw: metrics.nll_gaussian(y, *normal(i), **kw),
    "curve": lambda y, i, **kw: (
        metrics.calibration_curve(
            y, np.stack([i, np.add(i, [-1, 1])], axis=-1), confidence_levels=[0.5, LEVEL], **kw
        ).observed
    ),
}
every_metric = pytest.mark.parametrize("metric", INTERVAL_METRICS.values(), ids=INTERVAL_METRICS)
shapes = pytest.mark.parametrize("shape", [(40,), (40, 3)], ids=str)


def normal(interval):
    """Read an interval as a mean and a positive standard deviation."""
    lower, upper = np.moveaxis(np.asarray(interval, dtype=float), -1, 0)
    return (lower + upper) / 2, (upper - lower) / 2 + 1


def draw(shape, seed=0):
    rng = np.random.default_rng(seed)
    y = rng.normal(size=shape)
    centre, half = rng.normal(size=shape) / 2, rng.exponential(size=shape)
    return y, np.stack([centre - half, centre + half], axis=-1), rng.exponential(size=shape[0])


def average(values, weight):
    """Weighted mean over rows, then the plain mean over outputs, by loops."""
    table = np.reshape(values, (len(weight), -1)).tolist()
    columns = [[row[j] for row in table] for j in range(len(table[0]))]
    means = [sum(w * v for w, v in zip(weight, c, strict=True)) / sum(weight) for c in columns]
    return sum(means) / len(means)


def whole_numbers(shape, low=-50, high=50):
    """Arrays whose sums, products and comparisons are exact in floating point."""
    return arrays(np.float64, shape, elements=st.integers(low, high).map(float))


@st.composite
def data(draw_from, outputs=(None, 1, 2)):
    m = draw_from(st.sampled_from(outputs))
    shape = (draw_from(st.integers(2, 12)), *([] if m is None else [m]))
    y = draw_from(whole_numbers(shape))
    lower = draw_from(whole_numbers(shape))
    assume((np.ptp(y, axis=0) > 0).all())
    return y, np.stack([lower, lower + draw_from(whole_numbers(shape, 0, 60))], axis=-1)


@shapes
@pytest.mark.parametrize("level", [0.1, 0.5, 0.95])
def test_interval_score_agrees_with_scoringrules(shape, level):
    y, interval, w = draw(shape)
    expected = average(sr.interval_score(y, interval[..., 0], interval[..., 1], 1 - level), w)
    score = metrics.interval_score(y, interval, confidence_level=level, sample_weight=w)
    assert score == pytest.approx(expected, rel=1e-12)


@shapes
def test_crps_agrees_with_scoringrules(shape):
    y, interval, w = draw(shape)
    mean, std = normal(interval)
    expected = average(sr.crps_normal(y, mean, std), w)
    assert metrics.crps_gaussian(y, mean, std, sample_weight=w) == pytest.approx(
        expected, rel=1e-12
    )


@shapes
def test_nll_agrees_with_scipy(shape):
    y, interval, w = draw(shape)
    mean, std = normal(interval)
    expected = average(-norm.logpdf(y, mean, std), w)
    assert metrics.nll_gaussian(y, mean, std, sample_weight=w) == pytest.approx(expected, rel=1e-12)


@shapes
def test_pinball_agrees_with_scoringrules(shape):
    y, interval, w = draw(shape)
    by_quantile = [average(sr.quantile_score(y, interval[..., 0], 0.2), w)]
    by_quantile += [average(sr.quantile_score(y, interval[..., 1], 0.7), w)]
    one = metrics.pinball(y, interval[..., 0], quantiles=0.2, sample_weight=w)
    two = metrics.pinball(y, interval, quantiles=[0.2, 0.7], sample_weight=w)
    assert one == pytest.approx(by_quantile[0], rel=1e-12)
    assert two == pytest.approx(np.mean(by_quantile), rel=1e-12)


@pytest.mark.slow
@given(data=data(outputs=(None,)), weights=st.lists(st.integers(1, 9), min_size=12, max_size=12))
def test_coverage_and_width_agree_with_loops(data, weights):
    y, interval = data
    w = weights[: len(y)]
    rows = list(zip(y, *interval.T, strict=True))
    picp = sum(k for k, (t, lo, up) in zip(w, rows, strict=True) if lo <= t <= up) / sum(w)
    width = sum(k * (up - lo) for k, (_, lo, up) in zip(w, rows, strict=True)) / sum(w)
    nmpiw = width / (max(y) - min(y))
    cwc = nmpiw * (1 + (np.exp(-7 * (picp - LEVEL)) if picp < LEVEL else 0))
    assert metrics.picp(y, interval, sample_weight=w) == pytest.approx(picp)
    assert metrics.nmpiw(y, interval, sample_weight=w) == pytest.approx(nmpiw)
    ours = metrics.cwc(y, interval, confidence_level=LEVEL, eta=7.0, sample_weight=w)
    assert ours == pytest.approx(cwc)


@shapes
def test_calibration_curve_is_the_coverage_at_each_level(shape):
    y, interval, w = draw(shape)
    levels = [0.9, 0.2, 0.5]
    stack = np.stack([interval * k for k in (3.0, 0.5, 1.0)], axis=-1)
    curve = metrics.calibration_curve(y, stack, confidence_levels=levels, sample_weight=w)
    inside = [(stack[..., 0, j] <= y) & (y <= stack[..., 1, j]) for j in range(3)]
    np.testing.assert_array_equal(curve.expected, levels)
    np.testing.assert_allclose(curve.observed, [average(i, w) for i in inside], rtol=1e-12)
    assert len(set(curve.observed)) == 3


@given(points=st.lists(st.tuples(st.floats(0.01, 0.99), st.floats(0, 1)), min_size=1, max_size=6))
def test_miscalibration_area_agrees_with_a_fine_grid(points):
    points = sorted({round(x, 2): y for x, y in points}.items())
    expected, observed = map(list, zip(*points, strict=True))
    grid = np.linspace(0, 1, 100_001)
    curve = np.interp(grid, [0, *expected, 1], [0, *observed, 1])
    area = np.trapezoid(np.abs(curve - grid), grid)
    assert metrics.miscalibration_area(expected, observed) == pytest.approx(area, abs=1e-7)


@shapes
def test_coverage_by_group_agrees_with_a_loop(shape):
    y, interval, w = draw(shape)
    groups = np.random.default_rng(1).choice(["c", "a", "b"], size=len(y))
    result = metrics.coverage_by_group(y, interval, groups, sample_weight=w)
    inside = (interval[..., 0] <= y) & (y <= interval[..., 1])
    for name, coverage, count in zip(*result, strict=True):
        mine = groups == name
        assert coverage == pytest.approx(average(inside[mine], w[mine]))
        assert count == mine.sum()
    assert result.groups.tolist() == ["a", "b", "c"]


@pytest.mark.parametrize("n_bins", [1, 3, 7, 40])
def test_coverage_by_width_agrees_with_a_sorted_list(n_bins):
    y, interval, w = draw((40,))
    order = sorted(range(40), key=lambda i: interval[i, 1] - interval[i, 0])
    bins = [[i for r, i in enumerate(order) if r * n_bins // 40 == b] for b in range(n_bins)]
    inside = (interval[:, 0] <= y) & (y <= interval[:, 1])
    result = metrics.coverage_by_width(y, interval, n_bins=n_bins, sample_weight=w)
    np.testing.assert_allclose(result.coverage, [average(inside[b], w[b]) for b in bins])
    assert result.count.tolist() == [len(b) for b in bins]
    assert np.ptp(result.count) <= 1
    assert result.groups.tolist() == list(range(n_bins))


@pytest.mark.slow
@every_metric
@given(data=data(), weights=st.lists(st.integers(0, 3), min_size=12, max_size=12))
def test_integer_weights_repeat_rows_and_zero_removes_them(metric, data, weights):
    y, interval = data
    w = np.array(weights[: len(y)])
    again = np.repeat(np.arange(len(y)), w)
    assume(again.size)
    assume((np.ptp(y[again], axis=0) > 0).all())
    weighted = metric(y, interval, sample_weight=w)
    np.testing.assert_allclose(weighted, metric(y[again], interval[again]), rtol=1e-9, atol=1e-12)


@pytest.mark.slow
@every_metric
@given(data=data(), seed=st.integers(0, 99))
def test_order_of_rows_does_not_matter(metric, data, seed):
    y, interval = data
    order = np.random.default_rng(seed).permutation(len(y))
    moved = metric(y[order], interval[order])
    np.testing.assert_allclose(moved, metric(y, interval), rtol=1e-9, atol=1e-12)


@pytest.mark.slow
@every_metric
@given(data=data(outputs=(3,)))
def test_outputs_are_averaged_with_equal_weights(metric, data):
    y, interval = data
    single = [metric(y[:, j], interval[:, j]) for j in range(3)]
    together = metric(y, interval)
    np.testing.assert_allclose(together, np.mean(single, axis=0), rtol=1e-9, atol=1e-12)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "effect"),
    [
        ("picp", lambda value, _: value),
        ("nmpiw", lambda value, _: value),
        ("cwc", lambda value, _: value),
        ("interval_score", lambda value, scale: value * scale),
        ("bounds", lambda value, scale: value * scale),
    ],
)
@given(data=data(), power=st.integers(-3, 3), shift=st.integers(-9, 9))
def test_units_of_the_targets(name, effect, data, power, shift):
    y, interval = data
    scale, metric = 2.0**power, INTERVAL_METRICS[name]
    moved = metric(scale * y + shift, scale * interval + shift)
    assert moved == pytest.approx(effect(metric(y, interval), scale), rel=1e-9, abs=1e-12)


@given(data=data(), scale=st.floats(0.1, 10), shift=st.floats(-9, 9))
def test_units_of_normal_predictions(data, scale, shift):
    y, (mean, std) = data[0], normal(data[1])
    other = scale * y + shift, scale * mean + shift, scale * std
    crps, nll = metrics.crps_gaussian(y, mean, std), metrics.nll_gaussian(y, mean, std)
    assert metrics.crps_gaussian(*other) == pytest.approx(scale * crps, rel=1e-6, abs=1e-9)
    assert metrics.nll_gaussian(*other) == pytest.approx(nll + np.log(scale), rel=1e-6, abs=1e-9)


@given(y=whole_numbers(9), w=arrays(np.float64, 9, elements=st.floats(1e-6, 1e6)))
def test_full_coverage_is_exactly_one_whatever_the_weights(y, w):
    interval = np.stack([y - 1, y], axis=-1)
    assert metrics.picp(y, interval, sample_weight=w) == 1.0
    both = np.stack([y, y], axis=1), np.stack([interval, interval], axis=1)
    assert metrics.picp(*both, sample_weight=w) == 1.0
    by_group = metrics.coverage_by_group(y, interval, np.arange(9) % 2, sample_weight=w)
    assert by_group.coverage.tolist() == [1.0, 1.0]


@given(data=data(), more=st.integers(0, 20))
def test_wider_intervals_cover_no_less(data, more):
    y, interval = data
    wider = interval + np.array([-more, more])
    assert 0 <= metrics.picp(y, interval) <= metrics.picp(y, wider) <= 1
    assert 0 <= metrics.nmpiw(y, interval) <= metrics.nmpiw(y, wider)


@pytest.mark.slow
@given(y=whole_numbers(11), q=st.floats(0.05, 0.95))
def test_pinball_is_least_at_the_sample_quantile(y, q):
    def loss(value):
        return metrics.pinball(y, np.full(11, value), quantiles=q)

    best = loss(np.quantile(y, q, method="inverted_cdf"))
    assert best <= min(loss(value) for value in np.arange(-51, 52, 3.0)) + 1e-9


@given(data=data(), level=st.floats(0.05, 0.95))
def test_interval_score_is_the_pinball_loss_of_its_bounds(data, level):
    alpha = 1 - level
    pinball = metrics.pinball(*data, quantiles=[alpha / 2, 1 - alpha / 2])
    score = metrics.interval_score(*data, confidence_level=level)
    assert score == pytest.approx(4 / alpha * pinball, rel=1e-9, abs=1e-9)


@given(levels=st.lists(st.floats(0.01, 0.99), min_size=1, max_size=8), seed=st.integers(0, 99))
def test_miscalibration_area_is_zero_on_the_diagonal_only(levels, seed):
    x = np.unique(np.round(levels, 2))
    rng = np.random.default_rng(seed)
    order, y = rng.permutation(len(x)), np.clip(x + rng.normal(size=len(x)), 0, 1)
    assert metrics.miscalibration_area(x, x) == 0
    assert metrics.miscalibration_area(x, y) > 0
    assert metrics.miscalibration_area(x, np.sort(y)) <= 0.5
    area = metrics.miscalibration_area(x[order], y[order])
    assert area == metrics.miscalibration_area(x, y)


@given(data=data(outputs=(2,)))
def test_each_output_is_ranked_by_its_own_widths(data):
    y, interval = data
    single = [metrics.coverage_by_width(y[:, j], interval[:, j], n_bins=2) for j in range(2)]
    result = metrics.coverage_by_width(y, interval, n_bins=2)
    np.testing.assert_allclose(result.coverage, np.mean([s.coverage for s in single], axis=0))
    assert result.count.tolist() == single[0].count.tolist()


def test_intervals_are_closed_at_both_ends():
    assert metrics.picp([1.0, 2.0, 2.001, 0.999], [[1, 2]] * 4) == 0.5


def test_infinite_bounds_give_infinite_scores_and_never_nan():
    y, interval = [0.0, 5.0], [[-INF, 1], [2, INF]]
    assert metrics.picp(y, interval) == 1
    assert metrics.picp([2.0, 1.0], interval) == 0
    for name in ("nmpiw", "cwc", "interval_score", "bounds"):
        assert INTERVAL_METRICS[name](y, interval) == INF
        assert INTERVAL_METRICS[name]([2.0, 1.0], [[-INF, INF], [0, 2]]) == INF
    assert metrics.pinball(y, [0.0, -INF], quantiles=0.5) == INF
    by_width = metrics.coverage_by_width([0.0, 9.0, 0.0], [[-INF, INF], [0, 1], [0, 2]], n_bins=3)
    assert by_width.coverage.tolist() == [0, 1, 1]


@pytest.mark.parametrize("name", ["nmpiw", "cwc", "interval_score", "bounds"])
def test_a_row_of_weight_zero_may_be_infinite(name):
    metric, interval = INTERVAL_METRICS[name], [[0, 1], [0, 3], [-INF, INF]]
    whole = metric([0.0, 1.0, 9.0], interval, sample_weight=[1, 1, 0])
    assert whole == metric([0.0, 1.0], interval[:2]) < INF


def test_cwc_punishes_only_coverage_below_the_level():
    y, interval = [0.0, 1.0, 2.0, 4.0], [[0, 1], [0, 1], [0, 2], [0, 4]]
    assert metrics.cwc(y, interval, confidence_level=0.99) == metrics.nmpiw(y, interval) == 0.5
    half = [[0, 1], [0, 1], [0, 0], [0, 0]]
    assert metrics.cwc(y, half, confidence_level=0.5) == metrics.nmpiw(y, half) == 0.125
    assert metrics.cwc(y, half, confidence_level=0.6) == pytest.approx(0.125 * (1 + np.exp(5)))


def test_cwc_survives_a_penalty_beyond_floating_point():
    assert metrics.cwc([0.0, 1.0], [[5, 5], [5, 5]], confidence_level=0.9, eta=1e6) == 0
    wide = [[1e6, 1e7], [1e6, 1e7]]
    assert metrics.cwc([0.0, 1.0], wide, confidence_level=0.9, eta=1e6) > 1e300


def test_normal_scores_at_and_near_zero_std():
    y, mean = [1.0, 2.0, 5.0], [1.0, 4.0, 4.0]
    assert metrics.crps_gaussian(y, mean, [0, 0, 0]) == 1.0
    assert metrics.crps_gaussian(y, mean, [0, 1e-320, 1e-200]) == pytest.approx(1.0)
    assert metrics.nll_gaussian(y, mean, [1, 1e-200, 1]) == INF


def test_ties_in_width_keep_the_order_of_rows():
    y = [0.0] * 100 + [9.0] * 100
    result = metrics.coverage_by_width(y, [[0, 2], [0, 1]] * 100, n_bins=4)
    assert result.coverage.tolist() == [1.0, 0.0, 1.0, 0.0]
    assert result.count.tolist() == [50] * 4


def test_groups_of_weight_zero_are_left_out():
    interval, groups = [[0, 1]] * 4, ["x", "y", "x", "z"]
    result = metrics.coverage_by_group([0, 9, 9, 0], interval, groups, sample_weight=[3, 0, 1, 2])
    assert result.groups.tolist() == ["x", "z"]
    assert result.coverage.tolist() == [0.75, 1.0]
    assert result.count.tolist() == [2, 1]


@pytest.mark.parametrize("kind", [list, pd.Series, pl.Series, partial(np.asarray, dtype="f4")])
def test_any_array_of_numbers_will_do(kind):
    y, interval, groups = kind([1.0, 2.0, 9.0]), [[0, 2], [0, 2], [0, 2]], kind([2, 1, 2])
    assert metrics.interval_score(y, interval, confidence_level=0.5) == 34 / 3
    assert metrics.picp(y, pd.DataFrame(interval), sample_weight=kind([1, 0, 1])) == 0.5
    by_group = metrics.coverage_by_group(y, interval, groups, sample_weight=kind([1, 1, 3]))
    assert by_group.coverage.tolist() == [1.0, 0.25]


def test_results_are_plain_floats():
    y, interval, _ = draw((40, 3))
    scores = [f(y, interval) for name, f in INTERVAL_METRICS.items() if name != "curve"]
    assert {type(s) for s in [*scores, metrics.miscalibration_area([0.5], [0.5])]} == {float}


Y, BAND = [0.0, 1.0, 2.0], [[0, 1], [0, 1], [0, 1]]


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda: metrics.picp([], []), r"y_true has shape \(0,\), .* with at least one row"),
        (lambda: metrics.picp(np.zeros((0, 2)), []), r"y_true has shape \(0, 2\), .* at least one"),
        (lambda: metrics.picp(3.0, [0, 1]), r"y_true has shape \(\), expected \(n,\) or \(n, m\)"),
        (lambda: metrics.picp([[[1.0]]], [[[[0, 1]]]]), r"y_true has shape \(1, 1, 1\)"),
        (lambda: metrics.picp([0.0, np.nan, 1], BAND), "y_true holds NaN or inf, expected none"),
        (lambda: metrics.picp([0.0, INF, 1], BAND), "y_true holds NaN or inf, expected none"),
        (lambda: metrics.picp(["a", 1, 2], BAND), "y_true must be a rectangular array of numbers"),
        (lambda: metrics.picp(Y, [[0, 1], [0], [1]]), "interval must be a rectangular array"),
        (lambda: metrics.picp(Y, BAND[:2]), r"interval has shape \(2, 2\), expected \(3, 2\)"),
        (lambda: metrics.picp(Y, [*BAND[:2], [0, np.nan]]), "interval holds NaN, expected none"),
        (lambda: metrics.picp(Y, [*BAND[:2], [1, 0]]), "interval has lower > upper, .* order"),
        (lambda: metrics.picp(Y, [*BAND[:2], [INF, INF]]), "interval has .* lower = inf"),
        (lambda: metrics.picp(Y, [*BAND[:2], [-INF, -INF]]), "interval has .* upper = -inf"),
        (lambda: metrics.picp(Y, BAND, sample_weight=[1, 1]), r"sample_weight has shape \(2,\)"),
        (
            lambda: metrics.picp(Y, BAND, sample_weight=[1, -1, 1]),
            "sample_weight must be 0 or more",
        ),
        (lambda: metrics.picp(Y, BAND, sample_weight=[0, 0, 0]), "sample_weight .* not all 0"),
        (
            lambda: metrics.picp(Y, BAND, sample_weight=[1, 1, INF]),
            "sample_weight holds NaN or inf",
        ),
        (lambda: metrics.nmpiw([1.0, 1, 1], BAND), "y_true is constant, .* use interval_score"),
        (lambda: metrics.cwc(Y, BAND, confidence_level=95), "95, .*: did you mean 0.95"),
        (
            lambda: metrics.cwc(Y, BAND, confidence_level=0.9, eta=-1),
            "eta is -1, expected a finite",
        ),
        (lambda: metrics.cwc(Y, BAND, confidence_level=0.9, eta=INF), "eta is inf, expected a fin"),
        (lambda: metrics.interval_score(Y, BAND, confidence_level=1), "is 1, .* 0 and 1: try 0.9"),
        (
            lambda: metrics.interval_score(Y, BAND, confidence_level=0),
            "confidence_level is 0, expe",
        ),
        (lambda: metrics.interval_score(Y, BAND, confidence_level=[0.9]), "expected one number"),
        (lambda: metrics.pinball(Y, Y, quantiles=[]), "expected one number or a list of numbers"),
        (lambda: metrics.pinball(Y, Y, quantiles=[0.5]), r"shape \(3,\), expected \(3, 1\)"),
        (lambda: metrics.pinball(Y, BAND, quantiles=[0.5, 2.5]), "quantiles is 2.5, .* mean 0.025"),
        (lambda: metrics.crps_gaussian(Y, Y, [1, 1, -1]), "mean and std .* std at least 0"),
        (lambda: metrics.crps_gaussian(Y, Y, [1, 1, INF]), "mean and std must be finite"),
        (lambda: metrics.crps_gaussian(Y, [INF, 1, 1], Y), "mean and std must be finite"),
        (lambda: metrics.crps_gaussian(Y, Y, [1, 1]), r"std has shape \(2,\), expected \(3,\)"),
        (lambda: metrics.nll_gaussian(Y, Y, [1, 1, 0]), "std holds zeros, .* use crps_gaussian"),
        (
            lambda: metrics.calibration_curve(Y, BAND, confidence_levels=[0.5, 0.9]),
            r"intervals has shape \(3, 2\), expected \(3, 2, 2\)",
        ),
        (
            lambda: metrics.calibration_curve(Y, BAND, confidence_levels=0.5),
            r"confidence_levels has shape \(\), expected a list of numbers between 0 and 1",
        ),
        (lambda: metrics.miscalibration_area([], []), "expected and observed must be lists"),
        (lambda: metrics.miscalibration_area([0.5], [1.5]), "shares from 0 to 1"),
        (lambda: metrics.miscalibration_area([-0.5], [0.5]), "shares from 0 to 1"),
        (lambda: metrics.miscalibration_area([0.5], [0.5, 0.6]), r"observed has shape \(2,\)"),
        (lambda: metrics.coverage_by_group(Y, BAND, [1, 2]), r"groups has shape \(2,\), expected"),
        (lambda: metrics.coverage_by_group(Y, BAND, [1, np.nan, 2]), "groups holds missing labels"),
        (lambda: metrics.coverage_by_group(Y, BAND, ["a", None, "b"]), "groups .* mixes types"),
        (lambda: metrics.coverage_by_width(Y, BAND, n_bins=4), "n_bins is 4, .* from 1 to .* 3"),
        (lambda: metrics.coverage_by_width(Y, BAND, n_bins=0), "n_bins is 0, .* from 1 to .* 3"),
        (lambda: metrics.coverage_by_width(Y, BAND, n_bins=1.5), "n_bins is 1.5, .* whole number"),
        (lambda: metrics.interval_scorer("rmse"), "'rmse', .*: interval_score, nmpiw, cwc, picp"),
        (lambda: metrics.interval_scorer(["picp"]), "expected a callable or one of"),
        (lambda: metrics.interval_scorer("picp", confidence_level=90), "did you mean 0.9?"),
        (
            lambda: metrics.interval_scorer("picp", greater_is_better=True),
            "is for callables, 'picp'",
        ),
    ],
)
def test_wrong_arguments_are_refused_in_one_sentence(call, sentence):
    with pytest.raises(ValueError, match=sentence) as caught:
        call()
    assert "\n" not in str(caught.value)


class Band(RegressorMixin, BaseEstimator):
    """Predict the mean, with normal intervals of a given standard deviation."""

    def __init__(self, std=1.0):
        self.std = std

    def fit(self, X, y, sample_weight=None):  # noqa: ARG002
        self.mean_ = np.average(y, weights=sample_weight)
        return self

    def predict(self, X, confidence_level=None):
        mean = np.full(len(X), self.mean_)
        return (
            mean if confidence_level is None else (mean, self.predict_interval(X, confidence_level))
        )

    def predict_interval(self, X, confidence_level):
        half = self.std * norm.ppf((1 + confidence_level) / 2)
        return np.tile([self.mean_ - half, self.mean_ + half], (len(X), 1))


def mean_width(_, interval, sample_weight=None):
    return np.average(np.ptp(interval, axis=1), weights=sample_weight)


@pytest.fixture
def sample():
    rng = np.random.default_rng(0)
    return rng.normal(size=(120, 2)), 3 * rng.normal(size=120)


@pytest.fixture
def band(sample):
    return Band(std=2.0).fit(*sample)


@pytest.mark.parametrize("name", ["interval_score", "nmpiw", "cwc", "picp"])
@pytest.mark.parametrize("weighted", [False, True])
def test_named_scorers_turn_metrics_round(name, weighted, sample, band):
    X, y = sample
    w = np.arange(1.0, 121) if weighted else None
    value = INTERVAL_METRICS[name](y, band.predict_interval(X, LEVEL), sample_weight=w)
    expected = -abs(value - LEVEL) if name == "picp" else -value
    scorer = metrics.interval_scorer(name, confidence_level=LEVEL)
    assert scorer(band, X, y, sample_weight=w) == pytest.approx(expected, rel=1e-12)
    assert expected < 0


def test_a_scorer_takes_any_metric(sample, band):
    X, y = sample
    width = 4 * norm.ppf(0.95)
    assert metrics.interval_scorer(mean_width)(band, X, y) == pytest.approx(-width)
    greater = metrics.interval_scorer(mean_width, greater_is_better=True)
    assert greater(band, X, y) == pytest.approx(width)
    weights = metrics.interval_scorer(lambda *_, sample_weight=None: sum(sample_weight))
    assert weights(band, X, y, sample_weight=np.ones(120)) == -120


def test_a_pipeline_is_scored_by_its_last_step(sample):
    X, y = sample
    scorer = metrics.interval_scorer("interval_score", confidence_level=0.7)
    pipeline = make_pipeline(StandardScaler(), Band()).fit(X, y)
    assert scorer(pipeline, X, y) == scorer(Band().fit(X, y), X, y)


@pytest.mark.one_quick
@pytest.mark.parametrize("n_jobs", [None, 2])
def test_a_search_finds_the_noise_of_the_data(sample, n_jobs):
    grid = {"band__std": [0.3, 1.0, 3.0, 9.0]}
    pipeline = Pipeline([("scale", StandardScaler()), ("band", Band())])
    for name in ("interval_score", "picp"):
        scorer = metrics.interval_scorer(name)
        search = GridSearchCV(pipeline, grid, scoring=scorer, cv=3, n_jobs=n_jobs).fit(*sample)
        assert search.best_params_ == {"band__std": 3.0}
        assert search.best_score_ == pytest.approx(
            cross_val_score(Band(3.0), *sample, scoring=scorer, cv=3, n_jobs=n_jobs).mean()
        )
    assert cross_val_score(search, *sample, scoring=scorer, cv=3, error_score="raise").max() <= 0


@pytest.mark.parametrize("several", [False, True])
@pytest.mark.parametrize("routing", [False, True])
def test_weights_given_to_a_search_reach_the_scorer(sample, several, routing):
    X, y = sample
    w = (np.abs(y) > 1).astype(float)
    scorer = metrics.interval_scorer("picp")
    with config_context(enable_metadata_routing=routing):
        model = Band().set_fit_request(sample_weight=True) if routing else Band()
        scoring = {"a": scorer, "b": scorer} if several else scorer
        search = GridSearchCV(
            model, {"std": [1.0]}, scoring=scoring, cv=[(range(60), range(60, 120))]
        )
        search.set_params(refit=False).fit(X, y, sample_weight=w)
    fitted = Band().fit(X[:60], y[:60], w[:60])
    expected = scorer(fitted, X[60:], y[60:], sample_weight=w[60:])
    score = search.cv_results_["mean_test_b" if several else "mean_test_score"][0]
    assert score == expected != scorer(fitted, X[60:], y[60:])


@pytest.mark.parametrize("metric", ["cwc", mean_width])
def test_scorers_pickle_and_compare(metric, sample, band):
    scorer = metrics.interval_scorer(metric, confidence_level=0.6)
    again = pickle.loads(pickle.dumps(scorer))  # noqa: S301
    assert again == scorer != metrics.interval_scorer(metric)
    assert again(band, *sample) == scorer(band, *sample)


def test_the_repr_of_a_scorer_is_its_call():
    named = metrics.interval_scorer("picp", confidence_level=0.5)
    assert repr(named) == "interval_scorer('picp', confidence_level=0.5)"
    called = metrics.interval_scorer(mean_width, greater_is_better=True)
    assert (
        repr(called) == "interval_scorer(mean_width, confidence_level=0.9, greater_is_better=True)"
    )
