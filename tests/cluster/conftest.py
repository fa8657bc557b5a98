"""Rows to learn from, and one real cluster of processes for a module."""

import sys

import numpy as np
import pytest

pytest.importorskip("distributed")

import cloudpickle
from distributed import Client, LocalCluster

from elmband import ELMIntervalRegressor
from elmband.estimators import _scans

# Each worker may take less than half of the data of the test that goes by it.
MEMORY_LIMIT = "600MiB"


@pytest.fixture
def rows():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(2000, 4))
    y = np.sin(X[:, 0]) + X[:, 1] / 3 + 0.1 * (1 + abs(X[:, 2])) * rng.normal(size=2000)
    return X, y


@pytest.fixture
def published():
    """Return a model whose fit is four passes of sums, with nothing to be chosen."""
    return ELMIntervalRegressor(
        30, noise="squared", calibration="gaussian", alpha=0.01, random_state=0, verbose=False
    )


@pytest.fixture
def never_fetched(monkeypatch):
    """Let the rows stay where they are, few as they be."""
    monkeypatch.setattr(_scans, "_KEPT_ROWS", 0)


@pytest.fixture(scope="module")
def client(request):
    # Workers do not know the modules of tests: their functions travel by value.
    cloudpickle.register_pickle_by_value(sys.modules[request.module.__name__])
    with (
        LocalCluster(
            n_workers=2,
            threads_per_worker=1,
            processes=True,
            dashboard_address="127.0.0.1:0",
            host="127.0.0.1",
            memory_limit=MEMORY_LIMIT,
        ) as cluster,
        Client(cluster) as client,
    ):
        yield client
    cloudpickle.unregister_pickle_by_value(sys.modules[request.module.__name__])


def assert_same(one, other, X):
    """Compare two models to 1e-9: sums in another order differ by rounding only."""
    scale = abs(other.predict(X)).max()
    np.testing.assert_allclose(one.predict(X), other.predict(X), rtol=0, atol=1e-9 * scale)
    np.testing.assert_allclose(
        one.predict_interval(X), other.predict_interval(X), rtol=0, atol=1e-9 * scale
    )


@pytest.fixture(name="assert_same")
def assert_same_fixture():
    return assert_same
