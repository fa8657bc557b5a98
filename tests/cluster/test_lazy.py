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
    with pytest.raises(ValueError, match="triage takes arrays or a scan"):
        model.triage(lazy)
    with pytest.raises(ValueError, match="give a classifier files"):
        model.fit(lazy, lazy["a"])


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
    with pytest.raises(ValueError, match="predict_variance takes arrays or a scan"):
        model.predict_variance(lazy)
    with pytest.raises(ValueError, match="X holds missing or infinite values"):
        model.predict(da.where(lazy > 2, np.nan, lazy)).compute()
