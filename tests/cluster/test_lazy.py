"""Predictions of Dask collections are Dask collections, with the numbers of one machine."""

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone

from elmband import ELMSelectiveClassifier

dask = pytest.importorskip("dask")
da = pytest.importorskip("dask.array")
dd = pytest.importorskip("dask.dataframe")

NAMES = list("abcd")


@pytest.fixture(autouse=True)
def one_thread():
    with dask.config.set(scheduler="synchronous"):
        yield


@pytest.fixture
def model(rows, published):
    return clone(published).fit(*rows)


def test_an_array_gives_an_array(rows, model):
    X, _ = rows
    lazy = da.from_array(X, chunks=((1, 0, 999, 1000), 2))
    for found, expected in [
        (model.predict(lazy), model.predict(X)),
        (model.predict_interval(lazy), model.predict_interval(X)),
        (model.predict_interval(lazy, [0.5, 0.9]), model.predict_interval(X, [0.5, 0.9])),
        (model.predict_quantiles(lazy), model.predict_quantiles(X)),
    ]:
        assert isinstance(found, da.Array)
        assert found.shape == expected.shape
        np.testing.assert_allclose(found.compute(), expected, rtol=1e-12)


def test_several_outputs_have_an_axis_of_their_own(rows, published):
    X, y = rows
    model = clone(published).fit(X, np.column_stack([y, y**2]))
    lazy = da.from_array(X, chunks=(700, 4))
    found = model.predict_interval(lazy)
    assert found.shape == (2000, 2, 2)
    np.testing.assert_allclose(found.compute(), model.predict_interval(X), rtol=1e-12)


# Dask writes with an argument that pandas will drop.
@pytest.mark.filterwarnings("ignore:The inplace keyword in DataFrame.set_index")
def test_a_frame_gives_a_table_with_its_index(rows, published, tmp_path):
    X, y = rows
    frame = pd.DataFrame(X, columns=NAMES, index=np.arange(2000) * 2)
    model = clone(published).fit(frame, y)
    lazy = dd.from_pandas(frame, npartitions=3)
    mean = model.predict(lazy).compute()
    assert list(mean.index) == list(frame.index)
    np.testing.assert_allclose(mean, model.predict(frame), rtol=1e-12)
    # Workers write what they have computed.
    model.predict_interval(lazy).to_parquet(tmp_path / "bounds")
    found = pd.read_parquet(tmp_path / "bounds")
    expected = model.predict_interval(frame, as_frame=True)
    np.testing.assert_allclose(found.loc[frame.index], expected, rtol=1e-12)
    assert list(found) == list(expected) == ["mean", "lower_0.95", "upper_0.95"]


def test_classes_have_labels_and_probabilities(rows):
    X, y = rows
    labels = np.where(y > 0, "up", "down")
    frame = pd.DataFrame(X, columns=NAMES)
    model = ELMSelectiveClassifier(30, coverage=0.5, random_state=0, verbose=False)
    model.fit(frame, labels)
    lazy = dd.from_pandas(frame, npartitions=3)
    assert list(model.predict(lazy).compute()) == list(model.predict(frame))
    shares = model.predict_proba(lazy).compute()
    assert list(shares) == ["probability_down", "probability_up"]
    np.testing.assert_allclose(shares, model.predict_proba(frame), rtol=1e-9)
    assert list(model.accept(lazy).compute()) == list(model.accept(frame))
    # Reasons and labels are text, confidence is a number.
    found = model.triage(lazy).compute()
    pd.testing.assert_frame_equal(found, model.triage(frame, as_frame=True), check_dtype=False)


def test_answers_of_several_parts_are_arrays_each(rows, model):
    X, _ = rows
    lazy = da.from_array(X, chunks=((1, 0, 999, 1000), 2))
    for found, expected in [
        (model.predict(lazy, return_std=True), model.predict(X, return_std=True)),
        (model.predict(lazy, confidence_level=0.9), model.predict(X, confidence_level=0.9)),
        (model.predict_variance(lazy), model.predict_variance(X)),
        (model.triage(lazy, max_width=0.6), model.triage(X, max_width=0.6)),
    ]:
        assert type(found) is type(expected)
        # All parts are made of one block each, together.
        for part, lazy_part, values in zip(dask.compute(*found), found, expected, strict=True):
            assert lazy_part.shape == values.shape
            if values.dtype.kind == "f":
                np.testing.assert_allclose(part, values, rtol=1e-12)
            else:
                assert (part == values).all()


def test_blocks_of_unknown_length_have_answers_of_several_parts(rows, model):
    lazy = da.from_array(rows[0], chunks=(700, 4))
    some = lazy[lazy[:, 0] > 0.5]
    expected = model.triage(rows[0][rows[0][:, 0] > 0.5], max_width=0.6)
    found = dask.compute(*model.triage(some, max_width=0.6))
    np.testing.assert_allclose(found[1], expected.interval, rtol=1e-12)
    assert (found[3] == expected.reason).all()


@pytest.mark.filterwarnings("ignore:The inplace keyword in DataFrame.set_index")
def test_answers_of_several_parts_to_a_frame_are_a_table(rows, published, tmp_path):
    X, y = rows
    frame = pd.DataFrame(X, columns=NAMES, index=np.arange(2000) * 2)
    model = clone(published).fit(frame, np.column_stack([y, y**2]))
    lazy = dd.from_pandas(frame, npartitions=3)
    model.triage(lazy, max_width=0.6).to_parquet(tmp_path / "triage")
    expected = model.triage(frame, max_width=0.6, as_frame=True)
    found = pd.read_parquet(tmp_path / "triage")
    pd.testing.assert_frame_equal(found, expected, check_dtype=False, check_names=False)
    mean, std = model.predict(lazy, return_std=True)
    assert (list(mean.columns), list(std.columns)) == (["mean_0", "mean_1"], ["std_0", "std_1"])
    np.testing.assert_allclose(std.compute(), model.predict(frame, return_std=True)[1], rtol=1e-12)
    table = model.predict_variance(lazy).compute()
    assert list(table)[:3] == ["noise_0", "mean_model_0", "noise_model_0"]
    np.testing.assert_allclose(
        table[["total_0", "total_1"]], model.predict_variance(frame).total, rtol=1e-12
    )


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:The inplace keyword in DataFrame.set_index")
def test_labels_that_are_objects_are_text_in_a_table(rows, tmp_path):
    X, _ = rows
    frame = pd.DataFrame(X, columns=NAMES)
    labels = np.where(X[:, 0] > 0.5, "yes", "nope").astype(object)
    model = ELMSelectiveClassifier(50, coverage=0.5, random_state=0).fit(frame, labels)
    lazy = dd.from_pandas(frame, npartitions=3)
    called = model.predict(lazy)
    assert called.dtype == called.compute().dtype
    model.triage(lazy).to_parquet(tmp_path / "triage")
    found, expected = pd.read_parquet(tmp_path / "triage"), model.triage(frame)
    for name in ("label", "reason"):
        assert (found[name].to_numpy() == getattr(expected, name)).all()
    parts = model.fit(X, labels).triage(da.from_array(X, chunks=(700, 4)))
    assert (parts.label.compute() == expected.label).all()


def test_the_model_is_in_the_graph_once(rows, model):
    lazy = da.from_array(rows[0], chunks=(100, 4))
    graph = dict(model.predict(lazy).__dask_graph__())
    blocks = [key for key in graph if "Block" in str(key)]
    assert len(blocks) == 1


def test_what_cannot_be_predicted_is_refused(rows, model, tmp_path):
    lazy = da.from_array(rows[0], chunks=(500, 4))
    with pytest.raises(ValueError, match="X has 3 features, but ELMIntervalRegressor is expecting"):
        model.predict(lazy[:, :3])
    with pytest.raises(ValueError, match="workers write those of a Dask collection"):
        model.predict(lazy, out=tmp_path / "mean.npy")
    with pytest.raises(ValueError, match="return_std or for a confidence_level, not for both"):
        model.predict(lazy, return_std=True, confidence_level=0.9)
    with pytest.raises(ValueError, match="max_width must be zero or more"):
        model.triage(lazy, max_width=-1)
    with pytest.raises(ValueError, match="out is for results of this machine"):
        model.predict_variance(lazy, out=tmp_path / "variance.npy")
    with pytest.raises(ValueError, match="X holds missing or infinite values"):
        model.predict(da.where(lazy > 2, np.nan, lazy)).compute()
