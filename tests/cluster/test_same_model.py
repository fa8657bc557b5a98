"""The model is that of one machine, whatever the partitions; nothing here needs a cluster."""

from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from multiprocessing import get_context

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone

from elmband import ELMClassifier, ELMIntervalRegressor, ELMRegressor, scan

dask = pytest.importorskip("dask")
da = pytest.importorskip("dask.array")
dd = pytest.importorskip("dask.dataframe")

# Lengths of partitions of 2000 rows: one, even ones, one row or none, many small ones.
PARTITIONS = {
    "one": (2000,),
    "even": (500,) * 4,
    "tiny": (1, 0, 999, 0, 1000),
    "many": (20,) * 100,
}


@pytest.fixture(autouse=True)
def one_thread():
    with dask.config.set(scheduler="synchronous"):
        yield


def arrays(rows, lengths):
    X, y = rows
    return da.from_array(X, chunks=(lengths, 2)), da.from_array(y, chunks=(lengths,))


@pytest.mark.one_quick
@pytest.mark.parametrize("lengths", PARTITIONS.values(), ids=PARTITIONS)
@pytest.mark.usefixtures("never_fetched")
def test_partitions_do_not_change_the_published_model(rows, published, lengths, assert_same):
    X, y = rows
    found = clone(published).fit(*arrays(rows, lengths))
    assert_same(found, clone(published).fit(X, y), X)


@pytest.mark.slow
@pytest.mark.usefixtures("never_fetched")
def test_partitions_do_not_change_the_default_model(rows, assert_same):
    X, y = few = rows[0][:300], rows[1][:300]
    model = ELMIntervalRegressor(mode="exact", random_state=0, verbose=False)
    assert_same(clone(model).fit(*arrays(few, (100, 200))), clone(model).fit(X, y), X)


@pytest.mark.usefixtures("never_fetched")
def test_partitions_do_not_change_a_stack_of_more_rows_than_it_is_judged_on(assert_same):
    rng = np.random.default_rng(1)
    X = rng.normal(size=(6000, 3))
    y = np.sin(2 * X[:, 0]) + 0.1 * (1 + abs(X[:, 1])) * rng.normal(size=6000)
    model = ELMIntervalRegressor(20, n_estimators=2, random_state=0, verbose=False)
    found = clone(model).fit(*arrays((X, y), (1500, 0, 4500)))
    assert_same(found, clone(model).fit(X, y), X)


def test_few_rows_are_learned_from_as_if_they_were_here(rows):
    X, y = rows
    # Leave-one-out decides on γ, for which the rows must be at hand.
    model = ELMRegressor(30, random_state=0, verbose=False)
    found = clone(model).fit(*arrays(rows, (700, 1300)))
    assert found.alpha_ == pytest.approx(clone(model).fit(X, y).alpha_, rel=1e-12)


@pytest.mark.usefixtures("never_fetched")
def test_blocks_of_unknown_length_and_other_cuts_of_y(rows, published, assert_same):
    X, y = rows
    kept = X[:, 3] > -0.5
    reference = clone(published).fit(X[kept], y[kept])
    lazy_X, lazy_y = arrays(rows, (500,) * 4)
    unknown = lazy_X[:, 3] > -0.5
    assert_same(clone(published).fit(lazy_X[unknown], lazy_y[unknown]), reference, X)
    found = clone(published).fit(lazy_X, da.from_array(y, chunks=300))
    assert_same(found, clone(published).fit(X, y), X)


@pytest.mark.usefixtures("never_fetched")
def test_weights_and_rows_of_weight_zero(rows, published, assert_same):
    X, y = rows
    s = np.arange(2000) % 3.0
    found = clone(published).fit(*arrays(rows, (500,) * 4), da.from_array(s, chunks=500))
    assert_same(found, clone(published).fit(X, y, s), X)


@pytest.mark.usefixtures("never_fetched")
def test_frames_and_several_outputs(rows, published, assert_same):
    X, y = rows
    frame = pd.DataFrame(X, columns=list("abcd")).assign(y=y, z=y**2)
    lazy = dd.from_pandas(frame, npartitions=7)
    found = clone(published).fit(lazy[list("abcd")], lazy[["y", "z"]])
    reference = clone(published).fit(frame[list("abcd")], frame[["y", "z"]])
    assert list(found.feature_names_in_) == list("abcd")
    assert_same(found, reference, frame[list("abcd")])


def test_evaluation_and_calibration_are_the_same(rows, published):
    X, y = rows
    model = clone(published).fit(X, y)
    lazy = arrays(rows, (700, 1300))
    assert str(model.evaluate(*lazy)) == str(model.evaluate(X, y))
    exact = clone(published).fit(X, y).calibrate(X, y).predict_interval(X)
    # Scores are counted in bins of 0.25 %, upwards.
    np.testing.assert_allclose(model.calibrate(*lazy).predict_interval(X), exact, rtol=0, atol=0.01)


def files(folder, rows, kind):
    X, y = rows
    frame = pd.DataFrame(X, columns=list("abcd")).assign(y=y)
    for k, part in enumerate((frame[:900], frame[900:901], frame[901:])):
        if kind == "csv":
            part.to_csv(folder / f"{k}.csv", index=False)
        elif kind == "parquet":
            part.to_parquet(folder / f"{k}.parquet", row_group_size=128)
        else:
            np.save(folder / f"{k}.npy", part.to_numpy())
    return scan(folder, target=-1 if kind == "npy" else "y", chunk_size=100)


@pytest.mark.parametrize("kind", ["csv", "npy", "parquet"])
@pytest.mark.usefixtures("never_fetched")
def test_any_executor_reads_the_files_of_a_scan(
    tmp_path, rows, published, kind, assert_same, monkeypatch
):
    # Partitions of 200 rows: ranges end within files.
    monkeypatch.setattr("elmband.engines.cluster.files._PARTITION_BYTES", 200 * 4 * 8)
    X, y = rows
    X = X if kind == "npy" else pd.DataFrame(X, columns=list("abcd"))
    lazy = files(tmp_path, rows, kind)
    with ThreadPoolExecutor(2) as executor:
        found = clone(published).fit(lazy, client=executor)
        evaluation = found.evaluate(lazy, client=executor)
    # CSV files keep all digits here.
    assert_same(found, clone(published).fit(X, y), X)
    assert str(evaluation) == str(found.evaluate(X, y))


@pytest.mark.slow
@pytest.mark.usefixtures("never_fetched")
def test_other_processes_need_nothing_of_this_one(tmp_path, rows, published, assert_same):
    X, y = rows
    with ProcessPoolExecutor(2, mp_context=get_context("spawn")) as executor:
        found = clone(published).fit(files(tmp_path, rows, "npy"), client=executor)
    assert_same(found, clone(published).fit(X, y), X)


@pytest.mark.usefixtures("never_fetched")
def test_a_classifier_learns_from_files_that_others_read(tmp_path, rows):
    X, y = rows
    lazy = files(tmp_path, (X, np.where(y > 0, 1.0, 0.0)), "npy")
    model = ELMClassifier(30, alpha=0.01, random_state=0, verbose=False)
    with ThreadPoolExecutor(2) as executor:
        found = clone(model).fit(lazy, client=executor)
    reference = clone(model).fit(X, np.where(y > 0, 1.0, 0.0))
    np.testing.assert_allclose(
        found.decision_function(X), reference.decision_function(X), rtol=0, atol=1e-10
    )


@pytest.mark.usefixtures("never_fetched")
def test_a_fit_goes_on_after_the_passes_that_a_checkpoint_holds(tmp_path, rows, published):
    lazy = files(tmp_path, rows, "npy")
    kept = tmp_path / "kept"
    reads = []

    class Failing(ThreadPoolExecutor):
        def submit(self, function, work, partitions):
            reads.append(partitions)
            # The fifth task is one of the second pass: there are three to a pass.
            if len(reads) == 5:
                raise KeyboardInterrupt
            return super().submit(function, work, partitions)

    with Failing(1) as executor:
        with pytest.raises(KeyboardInterrupt):
            clone(published).fit(lazy, client=executor, checkpoint=kept)
        del reads[5:]
        found = clone(published).fit(lazy, client=executor, checkpoint=kept)
    # Three passes were left of four, one of them to be begun anew, and rows are counted once.
    assert len(reads) == 5 + 3 * 4
    assert not kept.exists()
    X, y = rows
    np.testing.assert_allclose(found.predict(X), clone(published).fit(X, y).predict(X), atol=1e-10)
