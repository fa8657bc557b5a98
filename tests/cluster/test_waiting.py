"""Whoever waits for a cluster on which nothing goes on is told so."""

import time
import warnings
from threading import Thread

import numpy as np
import pytest
from distributed import Client, LocalCluster
from distributed.core import Status
from sklearn.base import clone

from elmband.engines.cluster import waiting

da = pytest.importorskip("dask.array")


def turn(client, status):
    """Do to workers what their memory managers do when memory is short, and when it is not."""

    def change(dask_worker):
        dask_worker.memory_manager.memory_pause_fraction = False
        dask_worker.status = status

    client.run(change)


def fitted_meanwhile(model, X, y, happen):
    """Fit in a thread; return the model, and what was said before `happen` let it go on."""
    found = []
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        thread = Thread(target=lambda: found.append(clone(model).fit(X, y)))
        thread.start()
        end = time.monotonic() + 60
        while not said and time.monotonic() < end:
            time.sleep(0.05)
        before = [str(one.message) for one in said]
        happen()
        thread.join(120)
    assert not thread.is_alive()
    return found[0], before


@pytest.mark.usefixtures("never_fetched")
def test_workers_that_have_all_paused(client, rows, published, monkeypatch):
    monkeypatch.setattr(waiting, "_SECONDS", 0.5)
    X, y = (da.from_array(values, chunks=500) for values in rows)
    turn(client, Status.paused)
    model, said = fitted_meanwhile(published, X, y, lambda: turn(client, Status.running))
    assert len(said) == 1
    assert "All workers have paused" in said[0]
    np.testing.assert_allclose(model.coef_, clone(published).fit(*rows).coef_, rtol=1e-8)


@pytest.mark.slow
@pytest.mark.usefixtures("never_fetched")
def test_a_cluster_without_workers(rows, published, monkeypatch):
    monkeypatch.setattr(waiting, "_SECONDS", 0.5)
    X, y = (da.from_array(values, chunks=500) for values in rows)
    with (
        LocalCluster(
            n_workers=0, threads_per_worker=1, dashboard_address="127.0.0.1:0", host="127.0.0.1"
        ) as cluster,
        Client(cluster),
    ):
        model, said = fitted_meanwhile(published, X, y, lambda: cluster.scale(1))
    assert len(said) == 1
    assert said[0].startswith("The cluster has no workers: all waits until one comes.")
    np.testing.assert_allclose(model.coef_, clone(published).fit(*rows).coef_, rtol=1e-8)


@pytest.mark.usefixtures("never_fetched")
def test_one_worker_that_goes_on_is_enough(client, rows, published, monkeypatch, recwarn):
    monkeypatch.setattr(waiting, "_SECONDS", 0.05)
    X, y = (da.from_array(values, chunks=500) for values in rows)
    paused = next(iter(client.scheduler_info()["workers"]))

    def change(dask_worker, status):
        dask_worker.status = status

    client.run(change, status=Status.paused, workers=[paused])
    try:
        clone(published).fit(X, y)
    finally:
        client.run(change, status=Status.running, workers=[paused])
    assert not [str(one.message) for one in recwarn if "wait" in str(one.message)]
