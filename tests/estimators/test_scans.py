"""Estimators on rows that are read in chunks, against the same rows as arrays."""

import json
import os
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest

from elmband import ELMIntervalRegressor, ELMRegressor, scan
from elmband.estimators import _scans
from elmband.metrics import interval_score, nmpiw, picp
from published import published
from read_back import read_back

RNG = np.random.default_rng(0)
N = 6000
X = RNG.uniform(-2, 2, size=(N, 4))
SD = 0.2 + 0.2 * np.abs(X[:, 3])
Y = np.sin(2 * X[:, 0]) + X[:, 1] * X[:, 2] + SD * RNG.standard_normal(N)
S = RNG.integers(1, 4, size=N).astype(float)
NEW = RNG.uniform(-2, 2, size=(200, 4))

MODELS = {
    "published": published(60, alpha=0.1, random_state=0),
    "published, own noise layer": published(60, alpha=0.1, noise_neurons=30, random_state=0),
    "published, several outputs": published(60, alpha=0.1, random_state=0),
    "one layer": ELMIntervalRegressor(60, alpha=0.1, random_state=0),
    "default": ELMIntervalRegressor(alpha=0.1, mode="exact", random_state=0),
}


@pytest.fixture(autouse=True)
def always_in_chunks(monkeypatch):
    """Let no scan be small enough to be loaded."""
    monkeypatch.setattr(_scans, "_KEPT_BYTES", 0)


def table(columns, *, weight):
    return np.column_stack([X, *columns] + ([S] if weight else []))


@pytest.mark.slow
@pytest.mark.parametrize("weighted", [False, True], ids=["plain", "weighted"])
@pytest.mark.parametrize("name", MODELS)
def test_a_scan_gives_the_model_of_its_rows(name, weighted):
    several = name == "published, several outputs"
    columns = [Y, Y**2] if several else [Y]
    y = np.column_stack(columns) if several else Y
    options = {"weight": -1} if weighted else {}
    target = [4, 5] if several else 4
    rows = scan(table(columns, weight=weighted), target=target, chunk_size=1111, **options)
    model = MODELS[name]
    expected = model.fit(X, y, S if weighted else None).predict_interval(NEW, [0.5, 0.9])
    actual = model.fit(rows).predict_interval(NEW, [0.5, 0.9])
    np.testing.assert_allclose(actual, expected, rtol=1e-8, atol=1e-8)


def test_multipliers_from_a_scan_are_those_of_all_rows_but_for_the_width_of_a_bin():
    model = ELMIntervalRegressor(60, noise="squared", alpha=0.1, random_state=0)
    whole = model.fit(X, Y).calibration_
    binned = model.fit(scan((X, Y), chunk_size=999)).calibration_
    for level in (0.5, 0.9, 0.99):
        ratio = binned.symmetric(level, 0) / whole.symmetric(level, 0)
        assert 1 <= ratio < 1.0026


def test_by_default_a_single_layer_on_a_scan_has_the_strength_that_gcv_chooses():
    rows = scan((X, Y), chunk_size=999)
    chosen = ELMRegressor(60, random_state=0).fit(rows).alpha_
    assert chosen == ELMRegressor(60, alpha="gcv", random_state=0).fit(X, Y).alpha_
    exact = ELMRegressor(60, alpha="loo", random_state=0)
    assert exact.fit(rows).alpha_ == exact.fit(X, Y).alpha_


@pytest.mark.slow
def test_few_rows_are_loaded_and_give_what_arrays_give(monkeypatch):
    monkeypatch.setattr(_scans, "_KEPT_BYTES", 2**20)
    model = ELMIntervalRegressor(random_state=0)
    expected = model.fit(X[:50], Y[:50]).predict_interval(NEW)
    np.testing.assert_array_equal(model.fit(scan((X[:50], Y[:50]))).predict_interval(NEW), expected)


@pytest.fixture(scope="module")
def fitted():
    return ELMIntervalRegressor(50, random_state=0).fit(X, Y)


@pytest.mark.one_quick
@pytest.mark.parametrize("end", ["parquet", "npy", "h5", "csv", "arrow"])
def test_intervals_are_streamed_to_a_file(fitted, tmp_path, end):
    expected = np.column_stack(
        [fitted.predict(X), *(fitted.predict_interval(X, level) for level in (0.5, 0.9))]
    )
    out = tmp_path / f"result.{end}"
    rows = scan(X, chunk_size=777)
    assert fitted.predict_interval(rows, [0.5, 0.9], out=out) == out
    names = ["mean", "lower_0.5", "upper_0.5", "lower_0.9", "upper_0.9"]
    np.testing.assert_allclose(read_back(out, names), expected, rtol=1e-12)
    assert [path.name for path in tmp_path.iterdir()] == [out.name]


@pytest.mark.parametrize("method", ["predict", "predict_interval", "accept"])
@pytest.mark.parametrize("name", ["rows/in.npy", "link.npy", "rows/new.npy", "other/new.npy"])
def test_results_are_not_written_to_where_rows_are_read(fitted, tmp_path, method, name):
    folder = tmp_path / "rows"
    folder.mkdir()
    np.save(folder / "in.npy", X)
    before = (folder / "in.npy").read_bytes()
    (tmp_path / "link.npy").symlink_to(folder / "in.npy")
    (tmp_path / "other").symlink_to(folder, target_is_directory=True)
    out = tmp_path / name
    options = {"max_width": 1.0} if method == "accept" else {}
    for source in (
        [folder] if out.stem == "new" else [folder, folder / "in.npy", tmp_path / "*k.npy"]
    ):
        with pytest.raises(ValueError, match=f"{out.name}' is what the scan reads, or lies in"):
            getattr(fitted, method)(scan(source), **options, out=out)
    assert (folder / "in.npy").read_bytes() == before
    assert [path.name for path in folder.iterdir()] == ["in.npy"]


@pytest.mark.parametrize("name", ["twin.npy", "new.npy"])
def test_results_replace_no_twin_and_join_no_pattern(fitted, tmp_path, name):
    np.save(tmp_path / "in.npy", X)
    os.link(tmp_path / "in.npy", tmp_path / "twin.npy")
    source = tmp_path / ("in.npy" if name == "twin.npy" else "?[nw]*.npy")
    out = tmp_path / name if name == "twin.npy" else tmp_path / "inner.npy"
    with pytest.raises(ValueError, match="is what the scan reads"):
        fitted.predict(scan(source), out=out)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["in.npy", "twin.npy"]


def test_results_do_not_replace_the_file_that_rows_are_mapped_from(fitted, tmp_path):
    np.save(tmp_path / "in.npy", X)
    os.link(tmp_path / "in.npy", tmp_path / "twin.npy")
    rows = np.load(tmp_path / "in.npy", mmap_mode="r")
    for name in ("in.npy", "twin.npy"):
        with pytest.raises(ValueError, match="is the file that X lies in"):
            fitted.predict(rows[: N // 2], out=tmp_path / name)
    np.testing.assert_array_equal(np.load(tmp_path / "in.npy"), X)


def test_results_may_be_written_beside_the_file_that_is_read(fitted, tmp_path):
    np.save(tmp_path / "in.npy", X)
    for source in ("in.npy", "*n.npy"):
        fitted.predict(scan(tmp_path / source), out=tmp_path / "out.npy")
        assert len(np.load(tmp_path / "out.npy")) == N


def test_predictions_of_a_scan_are_those_of_its_rows(fitted):
    rows = scan(X, chunk_size=777)
    for method in ("predict", "predict_interval", "predict_quantiles"):
        expected = getattr(fitted, method)(X)
        np.testing.assert_allclose(getattr(fitted, method)(rows), expected, rtol=1e-12)
    for mine, theirs in zip(fitted.predict_variance(rows), fitted.predict_variance(X), strict=True):
        np.testing.assert_allclose(mine, theirs, rtol=1e-12)


@pytest.mark.parametrize("how", ["arrays", "scan"])
def test_evaluation_is_that_of_the_metrics(fitted, how):
    rows = (X, Y) if how == "arrays" else (scan((X, Y), chunk_size=777),)
    found = fitted.evaluate(*rows, confidence_level=[0.5, 0.9])
    assert found.n == N
    assert found.rmse == pytest.approx(np.sqrt(np.mean((Y - fitted.predict(X)) ** 2)))
    for one, level in zip(found.levels, (0.5, 0.9), strict=True):
        interval = fitted.predict_interval(X, level)
        assert one.coverage == pytest.approx(picp(Y, interval))
        assert one.nmpiw == pytest.approx(nmpiw(Y, interval))
        score = interval_score(Y, interval, confidence_level=level)
        assert one.interval_score == pytest.approx(score)
    json.dumps(found.to_dict())


def test_conformal_multipliers_from_a_scan_are_at_least_those_of_arrays():
    model = ELMIntervalRegressor(50, random_state=0).fit(X[:3000], Y[:3000])
    exact = model.calibrate(X[3000:], Y[3000:]).calibration_.symmetric(0.9, 0)
    binned = model.calibrate(scan((X[3000:], Y[3000:]))).calibration_.symmetric(0.9, 0)
    assert exact <= binned < 1.0026 * exact


@pytest.mark.one_quick
@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda m: m.fit(scan((X, Y)), Y), "y is part of a scan"),
        (lambda m: m.fit(scan((X, Y)), sample_weight=S), "Weights are part of a scan"),
        (lambda m: m.fit(scan((X, Y)), groups=S[:2]), "groups must have one label for each of the"),
        (lambda m: m.fit(scan(X)), "has no target to learn"),
        (lambda m: m.fit(X, Y, checkpoint="folder"), "checkpoint is for fits on a scan"),
        (lambda m: m.fit(X, Y).predict(scan(X[:, :3])), "has 3 features"),
        (lambda m: m.fit(X, Y).evaluate(scan(X)), "has 0 targets"),
        (lambda m: m.fit(X, Y).predict(scan((X, Y, S))), "have no weights"),
        (
            lambda m: m.fit(X, Y).predict(scan((X, Y), missing_target="drop")),
            "^Rows to predict need no target: .* Leave missing_target= and target= out",
        ),
        (
            lambda m: m.set_params(target_transform="box-cox").fit(scan((X, np.exp(Y)))),
            "needs rows in memory; for a scan choose 'log'",
        ),
        (lambda m: m.set_params(verbose="loud").fit(X, Y), "verbose must be True, False or 'auto'"),
        (
            lambda m: m.set_params(n_neurons=7000, noise="squared").fit(scan((X, Y))),
            "cannot be had as a whole",
        ),
    ],
)
def test_what_a_scan_cannot_do_is_refused_in_a_sentence(call, sentence):
    with pytest.raises(ValueError, match=sentence):
        call(ELMIntervalRegressor(20, random_state=0))


def test_features_of_another_name_are_refused(tmp_path):
    frame = pd.DataFrame(X, columns=list("abcd")).assign(y=Y)
    frame.to_parquet(tmp_path / "rows.parquet")
    model = ELMRegressor(20, random_state=0).fit(scan(tmp_path / "rows.parquet", target="y"))
    assert list(model.feature_names_in_) == list("abcd")
    swapped = scan(tmp_path / "rows.parquet", features=["b", "a", "c", "d"])
    with pytest.raises(ValueError, match="has the feature 'b' where ELMRegressor was trained on"):
        model.predict(swapped)
    rows = scan(tmp_path / "rows.parquet", features=list("abcd"))
    np.testing.assert_allclose(model.predict(frame[list("abcd")]), model.predict(rows), rtol=1e-12)


def test_targets_stay_in_their_range():
    rows = scan((X, np.exp(Y)), chunk_size=999)
    model = ELMIntervalRegressor(50, target_transform="log", random_state=0).fit(rows)
    assert model.predict_interval(NEW, 0.99).min() > 0
    with pytest.raises(ValueError, match="log"):
        model.fit(scan((X, Y), chunk_size=999))


PEAK = """
import sys
import numpy as np
from elmband import ELMIntervalRegressor, scan

def peak():
    with open("/proc/self/status") as file:
        return next(int(line.split()[1]) for line in file if line.startswith("VmHWM"))

model = ELMIntervalRegressor({"linear": 30, "sigmoid": 50}, noise="squared", random_state=0)
model.fit(scan(sys.argv[1], target=-1, chunk_size=4096))
rows = scan(sys.argv[1], features=list(range(30)), chunk_size=4096)
model.predict_interval(rows, out=sys.argv[2])
print(peak())
"""


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="reads the peak of memory from /proc")
def test_memory_does_not_grow_with_the_rows(tmp_path):
    peaks = []
    for n in (100_000, 800_000):
        rows = np.lib.format.open_memmap(tmp_path / f"{n}.npy", "w+", np.float32, (n, 31))
        for start in range(0, n, 100_000):
            rows[start : start + 100_000] = RNG.standard_normal((100_000, 31), dtype=np.float32)
        rows.flush()
        command = [sys.executable, "-c", PEAK, tmp_path / f"{n}.npy", tmp_path / "out.npy"]
        found = subprocess.run(command, capture_output=True, text=True, check=True)
        peaks.append(int(found.stdout))
    assert peaks[1] < 1.1 * peaks[0]


def test_a_function_that_gives_other_rows_in_every_pass_is_refused(monkeypatch):
    monkeypatch.setattr(_scans, "_KEPT_BYTES", 0)
    seeds = iter(range(100))

    def rows():
        rng = np.random.default_rng(next(seeds))
        for _ in range(4):
            part = rng.normal(size=(100, 2))
            yield part, part[:, 0] + rng.normal(size=100)

    with pytest.raises(ValueError, match="gave other targets than in the pass before"):
        ELMIntervalRegressor(5, noise="squared", random_state=0).fit(scan(rows))
