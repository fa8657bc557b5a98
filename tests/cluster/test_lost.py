"""A scheduler that is killed in the middle of a fit."""

import os
import signal
import subprocess
import sys
import time
from threading import Timer

import pytest
from distributed import Client
from distributed.comm import CommClosedError
from sklearn.base import clone

from elmband.cli._cluster import told_of_workers
from elmband.engines.cluster import graph

da = pytest.importorskip("dask.array")

CLUSTER = """
from distributed import LocalCluster

if __name__ == "__main__":
    cluster = LocalCluster(
        n_workers=1, threads_per_worker=1, dashboard_address="127.0.0.1:0", host="127.0.0.1"
    )
    print(cluster.scheduler_address, flush=True)
    input()
"""


@pytest.fixture
def cluster(tmp_path):
    """Start a cluster in processes of its own, and yield its process and its address."""
    script = tmp_path / "cluster.py"
    script.write_text(CLUSTER)
    process = subprocess.Popen(
        [sys.executable, script],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    yield process, process.stdout.readline().strip()
    if process.poll() is None:
        os.killpg(process.pid, signal.SIGKILL)
    process.communicate()


@pytest.mark.usefixtures("never_fetched")
def test_the_error_says_so(cluster, rows, published):
    process, address = cluster

    # Within the test, so that it travels by value: workers do not know this module.
    def slowly(block):
        time.sleep(0.2)
        return block

    X, y = (da.from_array(values, chunks=50) for values in rows)
    with Client(address, timeout=30) as client:
        killer = Timer(1.5, os.killpg, (process.pid, signal.SIGKILL))
        killer.start()
        with pytest.raises(RuntimeError, match="scheduler of the cluster is gone"):
            clone(published).fit(X.map_blocks(slowly, meta=X._meta), y)
        killer.join()
        client.close(timeout=1)


def test_it_is_gone_when_its_workers_are_looked_at(monkeypatch):
    def lost(_):
        raise CommClosedError("in <TCP (closed)>: Stream is closed")

    monkeypatch.setattr(graph, "check_workers", lost)
    # What commands tell of is a ValueError, with the same words.
    with (
        pytest.raises(ValueError, match=r"^The scheduler of the cluster is gone"),
        told_of_workers(),
    ):
        graph.OnDask(client=object())(None, [], "sums", None)
