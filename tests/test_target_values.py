"""Targets that take few values: counted, believed, and bounds among them."""

from concurrent.futures import ThreadPoolExecutor
from copy import deepcopy

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from elmband import ELMIntervalRegressor, load, scan
from elmband.ground.arrays import to_numpy
from elmband.metrics import interval_score, picp
from elmband.sums.scaling import Scaling
from elmband.sums.value_counts import MOST_VALUES, value_counts
from elmband.uncertainty.left_out import LeftOut
from elmband.uncertainty.target_values import gaining_values, nearest_values

LEVELS = (0.5, 0.9)


def steps(n, seed=0, unit=1.0):
    """Draw settings 0, 10, ..., 50 that inputs tell nearly always: X and y."""
    rng = np.random.default_rng(seed)
    X = rng.uniform(-1, 1, size=(n, 3))
    exact = 25 + 30 * np.tanh(2 * X[:, 0] + X[:, 1])
    return X, unit * np.clip(10 * np.round((exact + rng.normal(size=n)) / 10), 0, 50)


def test_values_are_counted_in_chunks_of_any_size():
    rng = np.random.default_rng(0)
    Y = np.column_stack([rng.integers(0, 9, 500) * 0.1, rng.normal(size=500)])
    whole = value_counts(Y)
    first, *others = (value_counts(part) for part in np.split(Y, [3, 150, 151]))
    parts = sum(others, first)
    names, counts = np.unique(Y[:, 0], return_counts=True)
    for found in (whole, parts):
        np.testing.assert_array_equal(found.values[:9, 0], names)
        np.testing.assert_array_equal(found.counts[:9, 0], counts)
        assert not found.counts[9:, 0].any()
        assert found.counts[:, 1].all()
        assert found.few() == (tuple(names.tolist()), ())


@pytest.mark.parametrize(
    ("y", "few"),
    [
        (np.arange(3000) % 5, True),
        (np.arange(3000) % MOST_VALUES, True),
        (np.arange(3000) % (MOST_VALUES + 1), False),
        (np.arange(199) % 2, False),
        (np.arange(300) % 20, False),
        (np.ones(3000), False),
        # Four values of a single row among 3,000: new rows may well have another one.
        (np.r_[np.arange(2996) % 5, 5, 6, 7, 8], False),
        (np.r_[np.arange(2997) % 5, 5, 6, 7], True),
        # No number lies between these.
        (1e17 + 16.0 * (np.arange(3000) % 5), False),
    ],
    ids=["five", "most", "too many", "few rows", "few each", "one", "single", "known", "close"],
)
def test_values_are_believed_where_hardly_any_is_new(y, few):
    assert bool(value_counts(y[:, None].astype(float)).few()[0]) is few


@given(
    arrays(np.int64, 7, elements=st.integers(-99, 99), unique=True),
    arrays(np.float64, 30, elements=st.floats(-150, 150)),
)
def test_bounds_move_to_the_nearest_value_and_give_up_none(whole, bounds):
    values = np.sort(whole).astype(float)
    low, high = np.sort(bounds.reshape(2, 15), axis=0)
    moved = [nearest_values(end[:, None], (tuple(values),), 0)[:, 0] for end in (low, high)]
    for end, found in zip((low, high), moved, strict=True):
        nearest = np.abs(end[:, None] - values).min(axis=1)
        inside = (end >= values[0]) & (end <= values[-1])
        np.testing.assert_allclose(np.abs(end - found)[inside], nearest[inside], atol=1e-12)
        assert np.isin(found[inside], values).all()
        far = (end < values[0] - 200) | (end > values[-1] + 200)
        np.testing.assert_array_equal(found[far], end[far])
    assert (moved[0] <= moved[1]).all()
    for value in values:
        covered = (low <= value) & (value <= high)
        assert ((moved[0] <= value) & (value <= moved[1]))[covered].all()


def test_bounds_of_other_array_libraries(xp):
    bounds = xp.asarray([[0.25, 3.0], [0.75, 9.0], [-7.0, 4.0]])
    found = nearest_values(bounds, ((0.0, 1.0), (2.0, 4.0)), 1)
    np.testing.assert_array_equal(to_numpy(found), [[0, 2], [1, 9], [-7, 4]])
    np.testing.assert_array_equal(value_counts(bounds).values[:3, 0], [-7, 0.25, 0.75])


def test_infinite_bounds_and_other_outputs_stay():
    bounds = np.array([[-np.inf, 0.3], [np.inf, 0.4], [0.7, 0.7]])
    found = nearest_values(bounds, ((0.0, 1.0), ()), 1)
    np.testing.assert_array_equal(found, [[-np.inf, 0.3], [np.inf, 0.4], [1.0, 0.7]])


def test_float32_bounds_hold_values_that_were_rounded_less():
    values, bounds = (0.1, 0.2, 0.7), np.array([[0.1], [0.7]], np.float32)
    low, high = (nearest_values(bounds, (values,), side)[:, 0] for side in (-1, 1))
    assert low.dtype == np.float32
    assert (low.astype(float) < [0.1, 0.7]).all()
    assert (high.astype(float) > [0.1, 0.7]).all()
    large = (20000001.0, 40000003.0)
    for side in (-1, 1):
        moved = nearest_values(np.array([large], np.float32).T, (large,), side)[:, 0]
        assert (side * (moved.astype(float) - large) >= 0).all()
    whole = nearest_values(np.array([[0.1]], np.float32), ((0.0, 1.0),), -1)
    assert whole.tolist() == [[0.0]]


def test_a_value_of_many_rows_at_an_end_is_the_end():
    y = np.r_[np.zeros(500), np.arange(1, 6).repeat(99), np.full(5, 6.0)]
    found = value_counts(np.column_stack([y, np.random.default_rng(0).normal(size=1000)]))
    assert found.ends() == ((0.0, np.inf), (-np.inf, np.inf))


def test_values_far_apart_gain_and_those_close_together_do_not():
    rng = np.random.default_rng(0)
    mean = rng.uniform(0, 5, size=(400, 1))
    for width, gain in ((0.2, True), (2.0, False)):
        y = np.clip(np.round(mean + width / 4 * rng.normal(size=mean.shape)), 0, 5)
        nothing = np.zeros_like(mean)
        rows = LeftOut(y, mean, None, nothing + width**2 / 4, nothing, nothing)
        scaling = Scaling(np.zeros(1), np.ones(1))
        found = gaining_values((tuple(range(6)),), rows, scaling, [1.6], ((-np.inf, np.inf),))
        assert found == (((0, 1, 2, 3, 4, 5),) if gain else None)


@pytest.fixture(scope="module")
def fitted():
    return ELMIntervalRegressor(random_state=0).fit(*steps(800))


def test_a_model_has_bounds_among_values(fitted):
    """Against the same model whose bounds stay: narrower, a better score, and as honest."""
    assert fitted.target_values_ == (0, 10, 20, 30, 40, 50)
    new, truth = steps(2000, 1)
    interval = fitted.predict_interval(new, LEVELS)
    plain = ELMIntervalRegressor(random_state=0, target_range=(0, None)).fit(*steps(800))
    assert plain.target_values_ is None
    other = plain.predict_interval(new, LEVELS)
    at_90 = interval[..., 1], other[..., 1]
    scores = [interval_score(truth, one, confidence_level=0.9) for one in at_90]
    assert scores[0] < 0.85 * scores[1]
    assert picp(truth, at_90[0]) >= picp(truth, at_90[1])
    assert fitted.target_range_ == (0, 50)
    assert np.isin(interval, fitted.target_values_).all()
    quantiles = fitted.predict_quantiles(new, [0.05, 0.3, 0.5, 0.7, 0.95])
    assert (np.diff(quantiles) >= 0).all()
    np.testing.assert_array_equal(quantiles[:, [0, -1]], at_90[0])


@pytest.mark.slow
def test_rows_of_files_and_other_units_give_the_same(fitted, tmp_path):
    X, y = steps(800)
    new = steps(60, 1)[0]
    expected = fitted.predict_interval(new, 0.9)
    np.save(tmp_path / "rows.npy", np.column_stack([X, y]))
    from_file = ELMIntervalRegressor(random_state=0).fit(
        scan(tmp_path / "rows.npy", target=3, chunk_size=130)
    )
    np.testing.assert_allclose(from_file.predict_interval(new, 0.9), expected, rtol=1e-8)
    small = ELMIntervalRegressor(random_state=0).fit(*steps(800, unit=1e-3))
    assert small.target_values_ == tuple(np.unique(1e-3 * y).tolist())
    np.testing.assert_allclose(1e3 * small.predict_interval(new, 0.9), expected, rtol=1e-8)
    path = fitted.save(tmp_path / "model.safetensors")
    np.testing.assert_array_equal(load(path).predict_interval(new, 0.9), expected)


@pytest.mark.slow
def test_outputs_have_values_of_their_own():
    X, y = steps(800)
    rough = y + np.random.default_rng(0).normal(size=800)
    model = ELMIntervalRegressor(random_state=0).fit(X, np.column_stack([rough, y]))
    assert model.target_values_ == (None, (0, 10, 20, 30, 40, 50))
    assert model.target_range_ == ((-np.inf, np.inf), (0, 50))


def goals(n, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 2))
    return X, rng.poisson(np.exp(0.6 + 0.25 * X[:, 0])).astype(float)


@pytest.mark.slow
def test_lower_bounds_of_counts_do_not_leave_out_zeros_for_a_tenth(tmp_path):
    """Before, 87 % were covered of 90 where means are large, as bounds were just above zero."""
    model = ELMIntervalRegressor(random_state=0).fit(*goals(2000))
    assert model.target_values_ == (0, 1)
    assert model.target_range_ == (0, np.inf)
    new, truth = goals(20_000, 1)
    mean, interval = model.predict(new, confidence_level=0.9)
    assert not ((interval > 0) & (interval < 1)).any()
    assert (interval[:, 1] % 1 != 0).any()
    large = mean > np.quantile(mean, 0.8)
    assert picp(truth[large], interval[large]) > 0.88
    path = model.save(tmp_path / "model.safetensors")
    again = load(path).predict_interval(new[:50], 0.9)
    np.testing.assert_allclose(again, interval[:50], rtol=1e-12)
    model.calibrate(*goals(500, 2))
    assert model.target_values_ is None
    assert model.target_range_ == (0, np.inf)


@pytest.mark.slow
def test_a_guarantee_leaves_bounds_where_they_are():
    X, y = steps(800)
    model = ELMIntervalRegressor(random_state=0).fit(X[:600], y[:600])
    assert model.target_values_ is not None
    assert model.target_range_ == (0, 50)
    plain = ELMIntervalRegressor(random_state=0, target_range=(0, None)).fit(X[:600], y[:600])
    for one in (model, plain):
        one.calibrate(X[600:], y[600:])
    assert model.target_values_ is None
    assert model.target_range_ == (0, np.inf)
    new = steps(60, 1)[0]
    np.testing.assert_array_equal(*(one.predict_interval(new, 0.9) for one in (model, plain)))


@pytest.mark.slow
def test_workers_leave_bounds_where_they_are_too(fitted, tmp_path):
    """Before, their guarantee was for bounds that moved to known values afterwards."""
    X, y = steps(200, 2)
    np.save(tmp_path / "held.npy", np.column_stack([X, y]))
    held, model = scan(tmp_path / "held.npy", target=-1), deepcopy(fitted)
    assert model.target_values_ is not None
    with ThreadPoolExecutor(1) as client:
        model.calibrate(held, client=client)
    assert model.target_values_ is None
    expected = deepcopy(fitted).calibrate(held)
    np.testing.assert_allclose(model.predict_interval(X), expected.predict_interval(X))


@pytest.mark.slow
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_onnx_moves_bounds_too(dtype, tmp_path):
    runtime = pytest.importorskip("onnxruntime")
    X, y = steps(800, unit=0.1)
    model = ELMIntervalRegressor(random_state=0).fit(X.astype(dtype), y)
    assert model.target_values_ is not None
    path = model.to_onnx(tmp_path / "model.onnx")
    new = steps(500, 1)[0].astype(dtype)
    session = runtime.InferenceSession(str(path), providers=["CPUExecutionProvider"])
    names = [port.name for port in session.get_outputs()]
    answers = dict(zip(names, session.run(None, {session.get_inputs()[0].name: new}), strict=True))
    expected = model.predict_interval(new, 0.95)
    found = np.column_stack([answers["lower"].ravel(), answers["upper"].ravel()])
    same = np.isclose(found, expected, rtol=1e-6, atol=1e-6).all(axis=1)
    # A bound at the middle of two values may be rounded to either.
    assert same.mean() > 0.99
