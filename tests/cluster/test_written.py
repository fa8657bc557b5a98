"""Workers write what they answer: whole files in the order of the rows, whatever happens."""

import os
import signal
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone

from elmband import (
    ELMClassifier,
    ELMIntervalRegressor,
    ELMSelectiveClassifier,
    TableEncoder,
    scan,
)

pytest.importorskip("pyarrow")

NAMES = list("abcd")


@pytest.fixture
def small(monkeypatch):
    """Let partitions have 200 rows, and chunks 100: ranges end within files."""
    monkeypatch.setattr("elmband.engines.cluster.files._PARTITION_BYTES", 200 * 4 * 8)


@pytest.fixture
def files(tmp_path, rows):
    frame = pd.DataFrame(rows[0], columns=NAMES)
    folder = tmp_path / "rows"
    folder.mkdir()
    for k, part in enumerate((frame[:900], frame[900:901], frame[901:])):
        part.to_parquet(folder / f"{k}.parquet", row_group_size=128)
    return scan(folder, chunk_size=100)


@pytest.fixture(scope="module")
def executor():
    with ThreadPoolExecutor(2) as executor:
        yield executor


@pytest.mark.usefixtures("small")
def test_every_answer_is_that_of_one_machine(rows, files, published, executor, tmp_path):
    X, y = rows
    frame = pd.DataFrame(X, columns=NAMES)
    model = clone(published).fit(frame, np.column_stack([y, y**2]))
    where = {"client": executor, "out": tmp_path / "out"}
    std = np.column_stack([a[:, k] for k in (0, 1) for a in model.predict(frame, return_std=True)])
    accept = {"max_width": [0.6, 0.5], "confidence_level": 0.8}
    for method, options, expected in [
        ("predict", {}, pd.DataFrame(model.predict(frame), columns=["mean_0", "mean_1"])),
        ("predict", {"return_std": True}, pd.DataFrame(std, columns=STDS)),
        ("predict_interval", {}, model.predict_interval(frame, as_frame=True)),
        (
            "predict_interval",
            {"confidence_level": [0.5, 0.9]},
            model.predict_interval(frame, [0.5, 0.9], as_frame=True),
        ),
        ("predict_quantiles", {"quantiles": 0.2}, quantiles(model, frame)),
        ("predict_variance", {}, variances(model, frame)),
        ("accept", accept, pd.DataFrame({"accepted": model.accept(frame, **accept)})),
        ("triage", accept, model.triage(frame, **accept, as_frame=True)),
    ]:
        out = getattr(model, method)(files, **options, **where)
        names = sorted(path.name for path in out.iterdir())
        # Five ranges of 200 rows, a file of one row, and six ranges.
        assert names == [f"part-{k:06d}.parquet" for k in range(12)]
        found = pd.concat([pd.read_parquet(out / name) for name in names], ignore_index=True)
        pd.testing.assert_frame_equal(found, expected, check_dtype=False, rtol=1e-12)
        for path in out.iterdir():
            path.unlink()
        out.rmdir()
    assert {path.name for path in tmp_path.iterdir()} == {"rows"}


STDS = ["mean_0", "std_0", "mean_1", "std_1"]


def quantiles(model, frame):
    values = model.predict_quantiles(frame, 0.2)
    return pd.DataFrame(values, columns=["quantile_0.2_0", "quantile_0.2_1"])


def variances(model, frame):
    parts = model.predict_variance(frame)._asdict()
    return pd.DataFrame(
        {f"{name}_{k}": values[:, k] for k in (0, 1) for name, values in parts.items()}
    )


def test_labels_and_reasons_are_written_as_they_are(rows, files, executor, tmp_path):
    X, y = rows
    frame = pd.DataFrame(X, columns=NAMES)
    labels = np.where(y > 0, "up", "down")
    model = ELMSelectiveClassifier(30, coverage=0.5, random_state=0, verbose=False)
    model.fit(frame, labels)

    def written(method):
        out = getattr(model, method)(files, client=executor, out=tmp_path / method)
        return pd.read_parquet(out)

    expected = model.triage(frame, as_frame=True)
    pd.testing.assert_frame_equal(written("triage"), expected, check_dtype=False, rtol=1e-9)
    assert list(written("predict")["label"]) == list(model.predict(frame))
    assert list(written("accept")["accepted"]) == list(model.accept(frame))
    np.testing.assert_allclose(written("predict_proba"), model.predict_proba(frame), rtol=1e-9)
    np.testing.assert_allclose(written("confidence")["confidence"], model.confidence(frame))
    decision = ELMClassifier.decision_function(model, frame)
    np.testing.assert_allclose(written("decision_function")["decision"], decision, rtol=1e-9)


def test_workers_calibrate_by_files(rows, published, executor, tmp_path):
    X, y = rows
    np.save(tmp_path / "rows.npy", np.column_stack([X, y]))
    known = scan(tmp_path / "rows.npy", target=-1)
    model = clone(published).fit(X, y)
    expected = clone(published).fit(X, y).calibrate(known)
    found = model.calibrate(known, client=executor)
    assert found.calibration_.kind == "conformal"
    np.testing.assert_allclose(found.predict_interval(X), expected.predict_interval(X), rtol=1e-12)


def test_workers_judge_answers_by_files_with_text(rows, executor, tmp_path):
    X, y = rows
    frame = pd.DataFrame(X, columns=NAMES).assign(label=np.where(y > 0, "up", "down"))
    frame.to_csv(tmp_path / "rows.csv", index=False)
    known = scan(tmp_path / "rows.csv", target="label", encoder=TableEncoder())
    model = ELMSelectiveClassifier(30, coverage=0.5, random_state=0, verbose=False).fit(known)
    assert model.evaluate(known, client=executor) == model.evaluate(known)


def test_what_cannot_be_written_is_refused_and_leaves_nothing(
    rows, files, published, executor, tmp_path
):
    X, y = rows
    model = clone(published).fit(pd.DataFrame(X, columns=NAMES), y)
    with pytest.raises(ValueError, match="name a folder for them"):
        model.predict_interval(files, client=executor)
    with pytest.raises(ValueError, match="client is for a scan"):
        model.predict_interval(X, client=executor, out=tmp_path / "out")
    (tmp_path / "there").mkdir()
    with pytest.raises(FileExistsError, match="is there already; name a new folder"):
        model.predict(files, client=executor, out=tmp_path / "there")
    (tmp_path / "there").rmdir()
    for place in ("rows", "rows/out"):
        with pytest.raises(ValueError, match=f"{place}' is what the scan reads, or lies in"):
            model.predict(files, client=executor, out=tmp_path / place)
    with pytest.raises(NotADirectoryError, match="does not exist; make it first"):
        model.predict(files, client=executor, out=tmp_path / "none" / "out")
    with pytest.raises(ValueError, match="confidence_level must"):
        model.predict_interval(files, 95, client=executor, out=tmp_path / "out")
    (tmp_path / "rows" / "2.parquet").unlink()
    with pytest.raises(FileNotFoundError, match=r"2\.parquet does not exist"):
        model.predict(files, client=executor, out=tmp_path / "out")
    assert {path.name for path in tmp_path.iterdir()} == {"rows"}


class Deadly:
    """Neurons that kill their process once, at the call that it was told of."""

    def __init__(self, log, number):
        self.log, self.number = str(log), number

    def __call__(self, values):
        if Path(self.log).exists():
            with open(self.log, "a") as file:  # noqa: PTH123 - appends of a byte are atomic
                file.write(".")
            if Path(self.log).stat().st_size == self.number:
                os.kill(os.getpid(), signal.SIGKILL)
        return np.tanh(values)


@pytest.mark.usefixtures("small")
def test_a_worker_killed_while_it_writes_leaves_no_half_and_no_double(client, rows, tmp_path):
    X, y = rows
    log = tmp_path / "log"
    model = ELMIntervalRegressor(
        20, activation=Deadly(log, 11), noise="squared", random_state=0, verbose=False
    ).fit(X, y)
    expected = model.predict(X, confidence_level=0.9)
    np.save(tmp_path / "rows.npy", X)
    before = set(client.run(os.getpid).values())
    log.touch()
    # The eleventh chunk is the first or the second of some file.
    out = model.predict_interval(
        scan(tmp_path / "rows.npy", chunk_size=100), 0.9, client=client, out=tmp_path / "out"
    )
    assert log.stat().st_size > 20
    assert set(client.run(os.getpid).values()) != before
    assert sorted(path.name for path in out.iterdir()) == [
        f"part-{k:06d}.parquet" for k in range(10)
    ]
    found = pd.read_parquet(out)
    np.testing.assert_allclose(found["mean"], expected[0], rtol=1e-12)
    np.testing.assert_allclose(found[["lower_0.9", "upper_0.9"]], expected[1], rtol=1e-12)


def test_more_rows_than_the_memory_of_all_workers(client, tmp_path):
    # A file with holes: it takes no space on disk, and 1.4 GB where it is read.
    n = 7_000_000
    np.lib.format.open_memmap(tmp_path / "rows.npy", "w+", np.float64, (n, 25)).flush()
    # One that another test has killed may still be on its way back.
    client.wait_for_workers(2)
    limits = [worker["memory_limit"] for worker in client.scheduler_info()["workers"].values()]
    assert (tmp_path / "rows.npy").stat().st_size > sum(limits)
    pids = client.run(os.getpid)
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 25))
    model = ELMIntervalRegressor(5, noise="squared", random_state=0, verbose=False)
    model.fit(X, X[:, 0] + rng.normal(size=300))
    out = model.triage(
        scan(tmp_path / "rows.npy"), max_width=100, client=client, out=tmp_path / "out"
    )
    # Nobody was killed for taking too much.
    assert client.run(os.getpid) == pids
    parts = [pd.read_parquet(path) for path in sorted(out.iterdir())]
    assert sum(map(len, parts)) == n
    assert all(part["accepted"].all() for part in parts)
    np.testing.assert_allclose(parts[-1]["mean"], model.predict(np.zeros((1, 25)))[0])
