"""The command line with workers, and what a terminal is told meanwhile."""

import json
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest

from elmband import load
from elmband.cluster import collected
from elmband.cluster.graph import OnDask
from elmband.cluster.work import Work
from elmband.moments import Count

da = pytest.importorskip("dask.array")


@pytest.fixture
def table(tmp_path, rows):
    X, y = rows
    frame = pd.DataFrame(X, columns=list("abcd")).assign(
        town=np.where(X[:, 3] > 0, "Oslo", "Riga"), y=y + 0.5 * (X[:, 3] > 0)
    )
    path = tmp_path / "rows.csv"
    frame.to_csv(path, index=False)
    return path


def fit(table, name, *options):
    out = table.with_name(f"{name}.safetensors")
    command = [sys.executable, "-m", "elmband", "fit", table, "--target", "y", "-o", out]
    command += ["--published", "--neurons", "30", "--json", *options]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)
    return done, out


def test_workers_of_this_machine_and_of_a_cluster_learn_the_same(table, client):
    address = client.scheduler.address
    found = {}
    for name, options in {
        "here": (),
        "workers": ("--workers", "2"),
        "scheduler": ("--scheduler", address),
    }.items():
        done, out = fit(table, name, *options)
        assert done.returncode == 0, done.stderr
        assert json.loads(done.stdout)["features"] == 6
        found[name] = load(out)
    X = np.random.default_rng(5).normal(size=(100, found["here"].n_features_in_))
    X = pd.DataFrame(X, columns=found["here"].feature_names_in_)
    expected = found["here"].predict_interval(X)
    for name in ("workers", "scheduler"):
        np.testing.assert_allclose(found[name].predict_interval(X), expected, rtol=1e-8)


def test_two_kinds_of_workers_are_refused(table):
    done, _ = fit(table, "both", "--workers", "2", "--scheduler", "tcp://127.0.0.1:1")
    assert done.returncode != 0
    assert "name one of them" in " ".join(done.stderr.split())


def as_it_is(chunk):
    return chunk


def count(chunk):
    return Count(chunk.n)


def test_workers_tell_how_far_they_have_come(client):
    X = da.ones((1000, 2), chunks=(100, 2))
    found = collected(X, X[:, 0])
    seen = []
    work = Work(count, as_it_is, None, np.float64, 4096)
    assert OnDask(client)(work, found.partitions, "rows", seen.append).n_rows == 1000
    assert sum(seen) == 1000
    assert len(seen) == 10
