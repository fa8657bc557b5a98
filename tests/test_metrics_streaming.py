import json
from functools import reduce
from itertools import pairwise
from operator import add

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import norm
from sklearn.metrics import mean_absolute_error, mean_squared_error, r2_score

from elmband import metrics
from elmband.engines.engine import total
from elmband.metrics.streaming import interval_sums
from elmband.sums.moments import Chunk

LEVELS = (0.5, 0.9, 0.95)
N = 300


def draw(m, seed=0, shift=0.0):
    rng = np.random.default_rng(seed)
    scale = 10.0 ** np.arange(m)
    mean = rng.standard_normal((N, m)) * scale
    std = rng.uniform(0.5, 2, (N, m)) * scale
    y = mean + std * rng.standard_t(4, (N, m))
    z = norm.ppf((1 + np.array(LEVELS)) / 2)
    half = std[:, :, None] * z
    interval = np.stack([mean[:, :, None] - half, mean[:, :, None] + half], axis=2)
    return y + shift, mean + shift, std, interval + shift


def sums_of(data, s=None, part=slice(None), levels=LEVELS):
    weights = None if s is None else s[part]
    return interval_sums(*(array[part, ...] for array in data), weights, levels)


def columns(evaluation):
    """Return the scores as lists of arrays over outputs: of the mean, then level by level."""
    points = [evaluation.rmse, evaluation.mae, evaluation.r2, evaluation.nll]
    return [np.atleast_1d(v) for v in [*points, *(v for t in evaluation.levels for v in t[1:])]]


def assert_same(actual, expected, rtol=1e-11):
    assert actual.n == pytest.approx(expected.n, rel=1e-13)
    assert [t.confidence_level for t in actual.levels] == [
        t.confidence_level for t in expected.levels
    ]
    for a, b in zip(columns(actual), columns(expected), strict=True):
        np.testing.assert_allclose(a, b, rtol=rtol)


WEIGHTS = {
    "equal": None,
    "counts": np.random.default_rng(1).integers(0, 4, N),
    "fractions": np.random.default_rng(2).exponential(size=N),
}
weighted = pytest.mark.parametrize("s", WEIGHTS.values(), ids=WEIGHTS)


@weighted
@pytest.mark.parametrize("m", [1, 3])
def test_scores_of_the_mean_agree_with_their_definitions(m, s):
    data = draw(m)
    y, mean, std, _ = data
    result = sums_of(data, s).summary()
    keep = {"sample_weight": s, "multioutput": "raw_values"}
    expected = {
        "rmse": np.sqrt(mean_squared_error(y, mean, **keep)),
        "mae": mean_absolute_error(y, mean, **keep),
        "r2": r2_score(y, mean, **keep),
        "nll": [
            metrics.nll_gaussian(y[:, j], mean[:, j], std[:, j], sample_weight=s) for j in range(m)
        ],
    }
    assert result.n == pytest.approx(N if s is None else s.sum(), rel=1e-14)
    for name, values in expected.items():
        score = getattr(result, name)
        assert isinstance(score, float if m == 1 else np.ndarray)
        np.testing.assert_allclose(score, values if m > 1 else values[0], rtol=1e-11)


@weighted
@pytest.mark.parametrize("m", [1, 3])
def test_scores_of_intervals_agree_with_their_definitions(m, s):
    data = draw(m)
    y, _, _, interval = data
    result = sums_of(data, s).summary()
    assert [t.confidence_level for t in result.levels] == list(LEVELS)
    w = np.ones(N) if s is None else s
    for k, (level, *scores) in enumerate(result.levels):
        for j in range(m):
            one = y[:, j], interval[:, j, :, k]
            width = one[1][:, 1] - one[1][:, 0]
            expected = [
                metrics.picp(*one, sample_weight=s),
                np.average(width, weights=w),
                metrics.nmpiw(*one, sample_weight=s),
                metrics.interval_score(*one, confidence_level=level, sample_weight=s),
            ]
            actual = [np.atleast_1d(score)[j] for score in scores]
            np.testing.assert_allclose(actual, expected, rtol=1e-11)


@weighted
def test_coverage_agrees_with_the_calibration_curve(s):
    data = draw(2)
    curve = metrics.calibration_curve(
        data[0], data[3], confidence_levels=LEVELS, sample_weight=s
    ).observed
    levels = sums_of(data, s).summary().levels
    np.testing.assert_allclose([t.coverage.mean() for t in levels], curve, rtol=1e-12)


@given(
    st.lists(st.integers(0, N), max_size=6).map(sorted),
    st.sampled_from(list(WEIGHTS)),
    st.sampled_from([0.0, 1e6]),
)
def test_chunks_do_not_change_the_result(cuts, weights, shift):
    data, s = draw(2, shift=shift), WEIGHTS[weights]
    edges = [0, *cuts, N]
    parts = [sums_of(data, s, slice(a, b)) for a, b in pairwise(edges)]
    # The shift costs the targets themselves six digits.
    assert_same(
        reduce(add, parts).summary(), sums_of(data, s).summary(), 1e-11 if shift == 0 else 1e-8
    )


@given(st.integers(1, N - 2), st.integers(1, N - 1))
def test_sums_add_up_in_any_order(a, b):
    data = draw(1)
    a, b = sorted({a, b, N - 1})[:2]
    one, two, three = (sums_of(data, None, part) for part in np.s_[:a, a:b, b:])
    assert_same((one + (two + three)).summary(), ((three + one) + two).summary())


def test_the_engine_adds_them_up():
    data = draw(2)
    chunks = (Chunk(np.arange(i, i + 50), None, None) for i in range(0, N, 50))
    assert_same(
        total(chunks, lambda rows: sums_of(data, None, rows.X)).summary(), sums_of(data).summary()
    )


def test_weights_are_counts():
    data, s = draw(2), WEIGHTS["counts"]
    repeated = tuple(np.repeat(array, s, axis=0) for array in data)
    assert_same(sums_of(data, s).summary(), sums_of(repeated).summary())


def test_rows_of_weight_zero_do_not_widen_the_range():
    data = draw(1)
    data[0][0] = 1e9
    s = np.ones(N)
    s[0] = 0
    assert_same(sums_of(data, s).summary(), sums_of(data, None, np.s_[1:]).summary())


@pytest.mark.parametrize("chunk", [1, 7, N])
def test_r2_does_not_cancel_where_the_mean_is_large(chunk):
    rng = np.random.default_rng(0)
    # Multiples of 2**-20 below 2**10: adding 2**32 and taking it off again is exact.
    y, error = (np.round(rng.standard_normal((N, 1)) * a * 2**20) / 2**20 for a in (1, 0.25))
    mean = y + error
    expected = r2_score(y, mean)
    std = np.ones((N, 1))
    interval = np.zeros((N, 1, 2, 1)) + 2.0**32
    data = (y + 2.0**32, mean + 2.0**32, std, interval)
    parts = (sums_of(data, None, slice(i, i + chunk), (0.9,)) for i in range(0, N, chunk))
    result = reduce(add, parts).summary()
    # Plain sums of squares have no digit left here; the mean of a chunk is known to 5e-7.
    assert result.r2 == pytest.approx(expected, abs=1e-7)
    assert result.rmse == pytest.approx(np.sqrt(np.mean((y - mean) ** 2)), rel=1e-12)


def test_full_and_no_coverage_are_exact_for_all_weights():
    y = np.zeros((N, 2))
    interval = np.zeros((N, 2, 2, 1))
    interval[:, 0, 1] = 1.0
    interval[:, 1] = 1.0
    data = (y, y, y + 1, interval)
    for s in (WEIGHTS["fractions"], WEIGHTS["fractions"] / 3):
        parts = (sums_of(data, s, slice(i, i + 7), (0.9,)) for i in range(0, N, 7))
        (level,) = reduce(add, parts).summary().levels
        assert level.coverage.tolist() == [1.0, 0.0]


def test_infinite_intervals():
    data = draw(1)
    data[3][5, 0, :, 2] = [-np.inf, np.inf]
    *others, last = sums_of(data).summary().levels
    assert last.mean_width == last.nmpiw == last.interval_score == np.inf
    assert 0.9 < last.coverage <= 1
    assert all(np.isfinite(t.interval_score) for t in others)


def test_scores_without_a_meaning_are_nan():
    y, mean, std, interval = draw(2)
    y[:, 1] = 0.1
    std[3, 0] = 0
    result = sums_of((y, mean, std, interval)).summary()
    np.testing.assert_array_equal(np.isnan(result.r2), [False, True])
    np.testing.assert_array_equal(np.isnan(result.nll), [True, False])
    for level in result.levels:
        np.testing.assert_array_equal(np.isnan(level.nmpiw), [False, True])
    assert np.isfinite(result.rmse).all()


def test_every_array_library(xp):
    data, s = draw(2), WEIGHTS["fractions"]
    moved = tuple(xp.asarray(array) for array in data)
    assert_same(sums_of(moved, xp.asarray(s)).summary(), sums_of(data, s).summary())
    single = tuple(xp.asarray(array, dtype=xp.float32) for array in data)
    assert_same(sums_of(single).summary(), sums_of(data).summary(), 1e-4)


def test_nothing_adds_nothing():
    data = draw(2)
    nothing = sums_of(data, np.zeros(N)) + sums_of(data, None, slice(0, 0))
    assert nothing.n == 0
    assert_same((nothing + sums_of(data) + nothing).summary(), sums_of(data).summary(), 0)
    with pytest.raises(ValueError, match="no rows to evaluate: give at least one"):
        nothing.summary()


def test_other_levels_do_not_add_up():
    data = draw(1)
    with pytest.raises(ValueError, match="do not add up: use the same ones"):
        sums_of(data) + sums_of(data, levels=(0.5, 0.9, 0.99))


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (lambda y, mean, std, i, s, c: (y[:, 0], mean, std, i, s, c), r"expected \(n, m\)"),
        (lambda y, mean, std, i, s, c: (y * np.nan, mean, std, i, s, c), "y_true holds NaN"),
        (lambda y, mean, std, i, s, c: (y, mean[1:], std, i, s, c), "mean has shape"),
        (lambda y, mean, std, i, s, c: (y, mean, -std, i, s, c), "std at least 0"),
        (lambda y, mean, std, i, s, c: (y, mean, std, i[..., :2], s, c), "intervals has shape"),
        (lambda y, mean, std, i, s, c: (y, mean, std, -i, s, c), "lower > upper"),
        (lambda y, mean, std, i, s, c: (y, mean, std, i, -s, c), "must be 0 or more"),
        (lambda y, mean, std, i, s, c: (y, mean, std, i, s[1:], c), "sample_weight has shape"),
        (lambda y, mean, std, i, s, _: (y, mean, std, i, s, (50, 90, 95)), "did you mean 0.5"),
        (lambda y, mean, std, i, s, _: (y, mean, std, i, s, 0.9), "levels has shape"),
    ],
)
def test_wrong_chunks_are_refused_in_a_sentence(change, sentence):
    with pytest.raises(ValueError, match=sentence):
        interval_sums(*change(*draw(1), np.ones(N), LEVELS))


def test_a_table_for_one_output():
    y, mean, std, interval = draw(1)
    text = str(sums_of((y, mean, std, interval), np.full(N, 100)).summary())
    points, bands = (block.splitlines() for block in text.split("\n\n"))
    assert points[0].split() == ["rows", "RMSE", "MAE", "R²", "NLL"]
    rmse = np.sqrt(np.mean((y - mean) ** 2))
    assert points[1].split()[:2] == ["30,000", f"{rmse:.4g}"]
    assert len(points) == 2
    assert [line.split()[0] for line in bands[1:]] == ["50", "90", "95"]
    assert f"{metrics.picp(y, interval[..., 1]):.4g}" in bands[2].split()
    for block in (points, bands):
        assert len({len(line) for line in block}) == 1


def test_a_table_for_several_outputs():
    result = sums_of(draw(3), WEIGHTS["fractions"]).summary()
    points, bands = (block.splitlines() for block in str(result).split("\n\n"))
    assert points[0].split()[:3] == ["rows", "output", "RMSE"]
    assert [line.split()[:3] for line in points[1:]] == [
        [f"{result.n:.2f}", str(j), f"{result.rmse[j]:.4g}"] for j in range(3)
    ]
    assert [line.split()[:4] for line in bands[1:]] == [
        [f"{100 * t.confidence_level:g}", "%", str(j), f"{t.coverage[j]:.4g}"]
        for t in result.levels
        for j in range(3)
    ]


@pytest.mark.parametrize("m", [1, 2])
def test_dictionaries_go_through_json(m):
    result = sums_of(draw(m)).summary()
    loaded = json.loads(json.dumps(result.to_dict()))
    assert loaded["n"] == N
    assert loaded["rmse"] == np.asarray(result.rmse).tolist()
    assert [level["confidence_level"] for level in loaded["levels"]] == list(LEVELS)
    assert loaded["levels"][1]["nmpiw"] == np.asarray(result.levels[1].nmpiw).tolist()
    assert set(loaded) == {"n", "rmse", "mae", "r2", "nll", "levels"}
