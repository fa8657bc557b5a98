"""Interval models answer under onnxruntime what they answer in Python."""

import itertools

import numpy as np
import pytest
from exported import TOLERANCE, Session, assert_close, assert_same_intervals, rows, tolerance
from hypothesis import given
from hypothesis import strategies as st

from elmband import ELMIntervalRegressor, scan
from elmband.uncertainty.noise import sampled

KINDS = ("linear", "tanh", "sigmoid", "relu", "rbf_l1", "rbf_l2", "rbf_linf", "laplace")
DTYPES = ("float64", "float32")
TRANSFORMS = ("log", "log1p", "logit", ("logit", -1.0, 60.0), "box-cox")


def mix(kind):
    return {kind: 2 if kind == "linear" else 15}


@pytest.mark.one_quick
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("kind", KINDS)
def test_the_published_model_with_every_kind_of_neuron(kind, dtype):
    X, y, new = rows(dtype=dtype)
    model = ELMIntervalRegressor(mix(kind), noise="squared", calibration="gaussian", random_state=0)
    assert_same_intervals(model.fit(X, y), new, np.std(y))


@pytest.mark.one_quick
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("kind", KINDS)
def test_stacks_with_every_kind_of_neuron(kind, dtype):
    X, y, new = rows(dtype=dtype)
    model = ELMIntervalRegressor(mix(kind), n_estimators=2, noise_neurons=mix(kind), random_state=0)
    assert_same_intervals(model.fit(X, y), new, np.std(y))


def test_kinds_side_by_side_with_inputs_passed_through():
    X, y, new = rows()
    model = ELMIntervalRegressor({"linear": 3, "tanh": 5, "rbf_l2": 6}, random_state=0).fit(X, y)
    assert model.members_[0].features.hidden.blocks[0].passes
    assert_same_intervals(model, new, np.std(y))


@pytest.mark.slow
@pytest.mark.parametrize("dtype", DTYPES)
def test_the_default_model(dtype):
    X, y, new = rows(dtype=dtype)
    model = ELMIntervalRegressor(random_state=0).fit(X, y)
    assert len(model.members_) > 1
    assert_same_intervals(model, new, np.std(y))


@pytest.mark.one_quick
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize(
    ("noise", "calibration", "outputs"),
    list(itertools.product(("squared", "log"), ("gaussian", "loo", "conformal"), (1, 2))),
)
def test_noise_models_calibrations_and_outputs(noise, calibration, outputs, dtype):
    X, y, new = rows(160, dtype=dtype)
    y = y if outputs == 1 else np.stack([y, 100 * (y**2 + X[:, 0])], axis=1)
    kind = "loo" if calibration == "conformal" else calibration
    model = ELMIntervalRegressor(15, noise=noise, calibration=kind, random_state=0)
    model.fit(X[:120], y[:120])
    if calibration == "conformal":
        model.calibrate(X[120:], y[120:])
    levels = (0.5, 0.8, 0.95) if calibration == "conformal" else (0.5, 0.9, 0.99, 0.999)
    assert_same_intervals(model, new, np.std(y, axis=0), levels)


@pytest.mark.one_quick
@pytest.mark.parametrize("outputs", [1, 2])
@pytest.mark.parametrize("calibration", ["gaussian", "loo", "conformal"])
def test_tails_that_are_not_alike(calibration, outputs):
    X, y, new = rows(200)
    y = y + np.random.default_rng(1).exponential(size=200)
    y = y if outputs == 1 else np.stack([y, -(y**2)], axis=1)
    kind = "loo" if calibration == "conformal" else calibration
    model = ELMIntervalRegressor(15, symmetric=False, calibration=kind, random_state=0)
    model.fit(X[:140], y[:140])
    if calibration == "conformal":
        model.calibrate(X[140:], y[140:])
    levels = (0.5, 0.8, 0.9) if calibration == "conformal" else (0.5, 0.9, 0.99, 0.999)
    assert_same_intervals(model, new, np.std(y, axis=0), (0.01, 0.05, *levels))


@pytest.mark.one_quick
@pytest.mark.parametrize("transform", [None, "log"])
@pytest.mark.parametrize("shift", [3, -3])
def test_rows_that_are_all_on_one_side_of_the_mean(shift, transform):
    X, y, new = rows(200)
    # Bounds so far out that exponentials make much of any rounding.
    options = {"mode": "exact", "target_transform": transform}
    model = ELMIntervalRegressor(15, symmetric=False, random_state=0, **options)
    forth = np.exp if transform else np.asarray
    model.fit(X[:140], forth(y[:140])).calibrate(X[140:], forth(y[140:] + shift))
    assert min(model.calibration_.tails(0.6827, 0)) < 0
    assert_same_intervals(model, new, np.std(forth(y)), (0.05, 0.5, 0.8, 0.9), times=5)


@pytest.mark.slow
def test_bounds_where_nothing_is_known():
    X, y, _ = rows()
    y = y + np.random.default_rng(1).exponential(size=len(y))
    mix = {"linear": 3, "tanh": 10}
    model = ELMIntervalRegressor(mix, symmetric=False, random_state=0).fit(X, y)
    found = Session.of(model)(np.array([[1e200, 0, 0]]), 0.05)
    assert (found["lower"], found["upper"]) == (-np.inf, np.inf)
    assert np.isnan(Session.of(model)(np.array([[1e200, 0, 0]]), 2.0)["upper"])


@pytest.mark.slow
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("symmetric", [True, False])
@pytest.mark.parametrize("transform", TRANSFORMS, ids=str)
def test_target_transforms(transform, symmetric, dtype):
    X, y, new = rows(dtype=dtype)
    y = {"logit": 1 / (1 + np.exp(-y))}.get(transform, np.exp(y))
    y = np.stack([y, y**1.5 if transform != "logit" else y**2], axis=1)
    model = ELMIntervalRegressor(
        15, target_transform=transform, symmetric=symmetric, random_state=0
    ).fit(X, y)
    # An exponential makes of errors in its exponent larger ones, relatively.
    assert_same_intervals(model, new, np.std(y, axis=0), times=5)


@pytest.mark.one_quick
@pytest.mark.parametrize("transform", [None, *TRANSFORMS], ids=str)
def test_infinite_intervals_and_ends_of_ranges(transform):
    X, y, new = rows(66)
    y = 1 / (1 + np.exp(-y))
    model = ELMIntervalRegressor(10, target_transform=transform, random_state=0)
    model.fit(X[:60], y[:60]).calibrate(X[60:], y[60:])
    run, level = Session.of(model), 0.95
    with pytest.warns(UserWarning, match="too few"):
        expected = model.predict_interval(new, level)
    found = run(new, level)
    times = tolerance(model) / TOLERANCE["float64"]
    assert_close(found["lower"], expected[:, 0], 1.0, times)
    assert_close(found["upper"], expected[:, 1], 1.0, times)
    assert len(np.unique(expected[:, 0])) == 1
    assert_close(found["std"], model.predict(new, return_std=True)[1], 1.0, times)


def test_far_away_bounds_stay_finite():
    X, y, _ = rows()
    # Exponentials of bounds far away make much of any rounding.
    options = {"mode": "exact", "target_transform": "log"}
    model = ELMIntervalRegressor({"relu": 15}, random_state=0, **options)
    model.fit(X, np.exp(3 * y))
    new = np.geomspace(1, 1e6, 200)[:, None] * np.array([1.0, -1.0, 0.5])
    assert np.isfinite(model.predict_interval(new)).all()
    assert_same_intervals(model, new, np.std(np.exp(3 * y)))


CALIBRATED = list(itertools.product(("loo", "conformal", "weighted", "bins"), (True, False)))


@pytest.fixture(scope="module", params=CALIBRATED, ids=str)
def calibrated(request):
    kind, symmetric = request.param
    X, y, new = rows(150)
    if not symmetric:
        y = y + 3 * np.random.default_rng(1).exponential(size=150)
    weights = np.random.default_rng(0).integers(1, 4, size=150) * 0.7
    model = ELMIntervalRegressor(12, symmetric=symmetric, mode="exact", random_state=0)
    if kind == "weighted":
        model.fit(X, y, sample_weight=weights)
    elif kind == "loo":
        model.fit(X, y)
    elif kind == "conformal":
        model.fit(X[:90], y[:90]).calibrate(X[90:], y[90:], sample_weight=weights[90:])
    else:
        model.fit(X[:90], y[:90]).calibrate(scan((X[90:], y[90:])))
    # Both bounds of skewed noise are on the same side of the mean at the lowest levels.
    assert symmetric or min(model.calibration_.tails(0.05, 0)) < 0
    return model, Session.of(model), new[:20]


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:.*too few")
@given(level=st.one_of(st.floats(0.001, 0.9999), st.integers(1, 999).map(lambda k: k / 1000)))
def test_ranks_are_those_of_python_at_any_level(calibrated, level):
    model, run, new = calibrated
    found, expected = run(new, level), model.predict_interval(new, level)
    assert_close(found["lower"], expected[:, 0], 1.0)
    assert_close(found["upper"], expected[:, 1], 1.0)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:.*too few")
def test_levels_at_which_ranks_are_whole_numbers(calibrated):
    model, run, new = calibrated
    n = model.calibration_.outputs[0].both.n
    for rank in range(1, int(n) + 1):
        level = rank / (n + 1)
        found, expected = run(new, level), model.predict_interval(new, level)
        assert_close(found["lower"], expected[:, 0], 1.0)
        assert_close(found["upper"], expected[:, 1], 1.0)


@pytest.mark.slow
def test_more_neurons_than_rows():
    X, y, new = rows(20)
    for options in ({"noise": "squared"}, {}):
        model = ELMIntervalRegressor(40, random_state=0, **options).fit(X, y)
        assert_same_intervals(model, new, np.std(y))


def test_a_noise_model_with_a_layer_of_its_own():
    X, y, new = rows()
    model = ELMIntervalRegressor(20, noise="squared", noise_neurons=15, random_state=0).fit(X, y)
    assert_same_intervals(model, new, np.std(y))


@pytest.mark.slow
def test_the_fast_mode(monkeypatch):
    monkeypatch.setattr(sampled, "SAMPLE_ROWS", 500)
    X, y, new = rows(2000)
    model = ELMIntervalRegressor(100, noise="squared", mode="fast", alpha=30.0, random_state=0)
    assert model.fit(X, y).fitted_.noise.low_rank is not None
    assert_same_intervals(model, new, np.std(y))


@pytest.mark.slow
def test_an_output_that_only_some_members_serve():
    X, y, new = rows()
    Y = np.stack([y, X[:, 0], np.random.default_rng(0).normal(size=len(y))], axis=1)
    model = ELMIntervalRegressor(10, n_estimators=4, random_state=0).fit(X, Y)
    assert (model.member_weights_ == 0).any()
    assert_same_intervals(model, new, np.std(Y, axis=0))
