"""Rows on another device. PyTorch's own "cpu" stands in for one where there is no GPU."""

import numpy as np
import pytest

from elmband import (
    ELMClassifier,
    ELMIntervalRegressor,
    ELMRegressor,
    ELMSelectiveClassifier,
    load,
    scan,
)
from elmband.datasets import make_heteroscedastic
from elmband.sources import device

torch = pytest.importorskip("torch")
pytestmark = pytest.mark.torch

DATA = make_heteroscedastic(700, random_state=0)
DEVICES = [
    "cpu",
    pytest.param("cuda", marks=pytest.mark.cuda),
]
KINDS = {
    "published": {"n_neurons": 30, "alpha": 0.01, "noise": "squared", "calibration": "gaussian"},
    "leave-one-out": {"n_neurons": 30, "noise": "squared"},
    "stack": {"n_neurons": 30, "n_estimators": 2},
    "dual": {"n_neurons": 800, "alpha": 1.0, "noise": "squared"},
}


def pair(name, where, **more):
    return [
        ELMIntervalRegressor(**KINDS[name], random_state=0, device=at, **more)
        for at in (None, where)
    ]


@pytest.mark.one_quick
@pytest.mark.parametrize("where", DEVICES)
@pytest.mark.parametrize("name", KINDS)
def test_the_model_is_the_same(where, name):
    here, there = (model.fit(DATA.X, DATA.y) for model in pair(name, where))
    for method in ("predict", "predict_interval", "predict_quantiles"):
        expected, found = (getattr(model, method)(DATA.X) for model in (here, there))
        assert isinstance(found, np.ndarray)
        # A strength chosen by leave-one-out may be tiny, and rounding then weighs more.
        np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-5)
    parts = [model.predict_variance(DATA.X).mean_model for model in (here, there)]
    # Stacks sum squares in float32, of which the smallest keep three digits.
    np.testing.assert_allclose(parts[1], parts[0], rtol=3e-3, atol=1e-9)
    evaluations = [model.evaluate(DATA.X, DATA.y) for model in (here, there)]
    assert evaluations[1].rmse == pytest.approx(evaluations[0].rmse, rel=1e-6)
    widths = [np.diff(m.calibrate(DATA.X, DATA.y).predict_interval(DATA.X)) for m in (here, there)]
    np.testing.assert_allclose(widths[1], widths[0], rtol=1e-4)


@pytest.mark.parametrize("where", DEVICES)
def test_rows_that_do_not_fit_travel_in_every_pass(where, monkeypatch):
    monkeypatch.setattr(device.rows, "room", lambda _device: 0.0)
    here, there = (m.fit(DATA.X, DATA.y) for m in pair("published", where, chunk_size=64))
    np.testing.assert_allclose(
        there.predict_interval(DATA.X), here.predict_interval(DATA.X), rtol=1e-7, atol=1e-8
    )


@pytest.mark.slow
@pytest.mark.parametrize("where", DEVICES)
def test_scans_are_moved_chunk_by_chunk(where, tmp_path):
    # Too many rows to be kept.
    rng = np.random.default_rng(0)
    rows = np.column_stack([DATA.X.repeat(200, axis=0), DATA.y.repeat(200)])
    rows[:, 0] += 0.01 * rng.standard_normal(len(rows))
    np.save(tmp_path / "rows.npy", rows)
    opened = scan(tmp_path / "rows.npy", target=-1)
    here, there = (model.fit(opened) for model in pair("published", where))
    for model in (here, there):
        model.predict_interval(
            scan(tmp_path / "rows.npy", features=[0]), out=tmp_path / f"{model.device}.npy"
        )
    expected, found = (np.load(tmp_path / f"{at}.npy") for at in (None, where))
    np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-6)
    assert there.evaluate(opened).rmse == pytest.approx(here.evaluate(opened).rmse, rel=1e-7)
    there.calibrate(opened)


@pytest.mark.parametrize("where", DEVICES)
def test_float32_stays_within_its_digits(where):
    X, y = DATA.X.astype(np.float32), DATA.y.astype(np.float32)
    here, there = (m.set_params(alpha=10.0).fit(X, y) for m in pair("published", where))
    expected, found = here.predict_interval(X), there.predict_interval(X)
    assert found.dtype == np.float32
    np.testing.assert_allclose(found, expected, rtol=1e-3, atol=1e-4)


@pytest.mark.parametrize("where", DEVICES)
def test_rows_can_be_added_there(where):
    models = []
    for at in (None, where):
        model = ELMRegressor(20, alpha=0.1, random_state=0, device=at)
        model.partial_fit(DATA.X[:300], DATA.y[:300]).partial_fit(DATA.X[300:], DATA.y[300:])
        models.append(model.predict(DATA.X))
    np.testing.assert_allclose(models[1], models[0], rtol=1e-8, atol=1e-9)


@pytest.mark.parametrize("where", DEVICES)
def test_a_model_from_a_device_is_loaded_anywhere(where, tmp_path):
    model = pair("published", where)[1].fit(DATA.X, DATA.y)
    again = load(model.save(tmp_path / "model.safetensors"))
    assert again.device is None
    np.testing.assert_allclose(
        again.predict_interval(DATA.X), model.predict_interval(DATA.X), rtol=1e-9, atol=1e-12
    )


@pytest.mark.parametrize("where", DEVICES)
def test_classes(where):
    label = np.where(DATA.y > 0, "high", "low")
    here, there = (
        ELMClassifier(20, alpha=0.1, random_state=0, device=at).fit(DATA.X, label)
        for at in (None, where)
    )
    np.testing.assert_array_equal(there.predict(DATA.X), here.predict(DATA.X))
    np.testing.assert_allclose(there.predict_proba(DATA.X), here.predict_proba(DATA.X), rtol=1e-5)


@pytest.mark.parametrize("where", DEVICES)
def test_classes_with_abstention(where):
    label = np.where(DATA.y > 0, "high", "low")
    here, there = (
        ELMSelectiveClassifier(
            20, alpha=0.1, noise="squared", coverage=0.5, random_state=0, device=at
        ).fit(DATA.X, label)
        for at in (None, where)
    )
    np.testing.assert_allclose(there.confidence(DATA.X), here.confidence(DATA.X), rtol=1e-5)
    assert (there.accept(DATA.X) == here.accept(DATA.X)).mean() > 0.99
    assert set(there.triage(DATA.X).label) == {"high", "low"}
    assert there.evaluate(DATA.X, label).answered == pytest.approx(0.5, abs=0.05)
    there.choose(max_error=0.2).calibrate(DATA.X, label)


@pytest.mark.parametrize("wrong", [np.nan, np.inf])
def test_numbers_are_checked_there(wrong):
    X = DATA.X.copy()
    X[5] = wrong
    with pytest.raises(ValueError, match="Input X contains"):
        ELMRegressor(20, device="cpu").fit(X, DATA.y)
    model = ELMRegressor(20, device="cpu").fit(DATA.X, DATA.y)
    with pytest.raises(ValueError, match="Input X contains"):
        model.predict(X)


def test_devices_that_are_not_there_get_a_sentence():
    with pytest.raises(ValueError, match="device='nonsense' cannot be used"):
        ELMRegressor(20, device="nonsense").fit(DATA.X, DATA.y)
    if not torch.cuda.is_available():
        with pytest.raises(ValueError, match="Choose device='auto'"):
            ELMRegressor(20, device="cuda").fit(DATA.X, DATA.y)
        here, there = (
            ELMRegressor(20, random_state=0, device=at).fit(DATA.X, DATA.y).predict(DATA.X)
            for at in (None, "auto")
        )
        np.testing.assert_array_equal(here, there)


def test_without_pytorch_a_sentence_says_what_to_install(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "torch", None)
    with pytest.raises(ImportError, match=r"pip install 'elmband\[torch\]'"):
        ELMRegressor(20, device="cuda").fit(DATA.X, DATA.y)
    assert device.resolve("auto") is None


@pytest.mark.cuda
def test_chunks_of_a_scan_cross_the_wire_once():
    X = np.random.default_rng(0).standard_normal((300_000, 5)).astype(np.float32)
    y = np.sin(X[:, 0])
    passes = []

    def read():
        passes.append(1)
        for start in range(0, len(X), 10_000):
            yield X[start : start + 10_000], y[start : start + 10_000]

    options = {**KINDS["published"], "random_state": 0}
    here = ELMIntervalRegressor(**options).fit(X, y)
    rows = scan(read)
    before = len(passes)
    there = ELMIntervalRegressor(device="cuda", **options).fit(rows)
    # Two looks at their beginning, and one pass.
    assert len(passes) - before == 3
    np.testing.assert_allclose(
        there.predict_interval(X[:500]), here.predict_interval(X[:500]), rtol=1e-4, atol=1e-4
    )


@pytest.mark.slow
@pytest.mark.parametrize("where", DEVICES)
def test_memory_that_a_function_uses_again_is_read_in_time(where):
    X = np.random.default_rng(0).standard_normal((200_000, 24)).astype(np.float32)
    y = np.sin(X[:, 0])

    def read():
        room = np.empty((8192, 24), np.float32), np.empty(8192, np.float32)
        for start in range(0, len(X), 8192):
            n = min(8192, len(X) - start)
            for buffer, values in zip(room, (X, y), strict=True):
                buffer[:n] = values[start : start + n]
            yield room[0][:n], room[1][:n]

    options = {**KINDS["published"], "chunk_size": 4096, "random_state": 0}
    here = ELMIntervalRegressor(**options).fit(X, y)
    there = ELMIntervalRegressor(device=where, **options).fit(scan(read))
    np.testing.assert_allclose(
        there.predict_interval(X[:500]), here.predict_interval(X[:500]), rtol=1e-3, atol=1e-3
    )


@pytest.mark.parametrize("where", DEVICES)
def test_a_value_that_is_missing_far_down_a_scan_is_found_with_its_place(where):
    X = np.zeros((200_000, 24), np.float32) + np.arange(24, dtype=np.float32)
    X[150_000, 3] = np.nan
    y = np.arange(200_000.0)

    def read():
        for start in range(0, len(X), 4096):
            yield X[start : start + 4096], y[start : start + 4096]

    model = ELMRegressor(5, alpha=1.0, chunk_size=4096, device=where)
    with pytest.raises(ValueError, match=r"rows \d+ to \d+: .*missing value"):
        model.fit(scan(read))


@pytest.mark.cuda
def test_pinned_memory_that_is_used_again_is_sent_from_where_it_is():
    X = np.random.default_rng(0).standard_normal((200_000, 24)).astype(np.float32)
    y = np.sin(X[:, 0])

    def read():
        room = torch.empty((8192, 24), pin_memory=True).numpy()
        for start in range(0, len(X), 8192):
            n = min(8192, len(X) - start)
            room[:n] = X[start : start + n]
            yield room[:n], y[start : start + n]

    options = {**KINDS["published"], "random_state": 0}
    here = ELMIntervalRegressor(**options).fit(X, y)
    there = ELMIntervalRegressor(device="cuda", chunk_size=8192, **options).fit(scan(read))
    np.testing.assert_allclose(
        there.predict_interval(X[:500]), here.predict_interval(X[:500]), rtol=1e-3, atol=1e-3
    )
