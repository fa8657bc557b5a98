"""The command line with workers, and what a terminal is told meanwhile."""

import json
import os
import signal
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
from distributed import LocalCluster

from elmband import ELMRegressor, load
from elmband.cli import _cluster, main
from elmband.engines.cluster import collected
from elmband.engines.cluster.graph import OnDask
from elmband.engines.cluster.work import Work
from elmband.sums.moments import Count

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


@pytest.fixture
def run(monkeypatch, capsys):
    """Return the command as a function: starting a process each time would take long."""

    def run(*arguments, code=0):
        monkeypatch.setattr(sys, "argv", ["elmband", *map(str, arguments)])
        with pytest.raises(SystemExit) as end:
            main()
        said, complained = capsys.readouterr()
        assert (end.value.code or 0) == code, complained
        return said if code == 0 else " ".join(complained.replace("│", "").split())

    return run


def fit(table, name, *options):
    out = table.with_name(f"{name}.safetensors")
    settings = ("--published", "--neurons", "30", "--json")
    return ["fit", table, "--target", "y", "-o", out, *settings, *options], out


def test_workers_of_this_machine_and_of_a_cluster_learn_the_same(table, client, run):
    found = {}
    for name, options in {
        "here": (),
        "workers": ("--workers", "2"),
        "scheduler": ("--scheduler", client.scheduler.address),
    }.items():
        command, out = fit(table, name, *options)
        if name == "workers":
            # Processes that this one starts are begun by the command itself, as users do.
            whole = [sys.executable, "-m", "elmband", *command]
            said = subprocess.run(whole, capture_output=True, text=True, check=True).stdout
        else:
            said = run(*command)
        assert json.loads(said)["features"] == 6
        found[name] = load(out)
    X = np.random.default_rng(5).normal(size=(100, found["here"].n_features_in_))
    X = pd.DataFrame(X, columns=found["here"].feature_names_in_)
    expected = found["here"].predict_interval(X)
    for name in ("workers", "scheduler"):
        np.testing.assert_allclose(found[name].predict_interval(X), expected, rtol=1e-8)


def test_two_kinds_of_workers_are_refused(table, run):
    command, _ = fit(table, "both", "--workers", "2", "--scheduler", "tcp://127.0.0.1:1")
    assert "name one of them" in run(*command, code=1)


@pytest.fixture
def model(table, run):
    command, path = fit(table, "model")
    run(*command)
    return path


def test_workers_predict_evaluate_and_triage_as_one_process_does(
    table, model, client, run, monkeypatch
):
    elsewhere = ("--scheduler", client.scheduler.address)
    folder = table.parent
    # Workers are in a folder of their own.
    monkeypatch.chdir(folder)

    def both(command, *options):
        here = json.loads(run(command, model, table.name, "--json", *options))
        there = [str(option).replace("here-", "there-") for option in options]
        found = json.loads(run(command, model, table.name, "--json", *there, *elsewhere))
        for facts in (here, found):
            for name in ("seconds", "data", "output", "review_output"):
                facts.pop(name, None)
        return here, found

    def same(name, read=pd.read_parquet):
        parts = sorted(path.name for path in (folder / f"there-{name}").iterdir())
        assert parts == ["part-000000.parquet"]
        found, expected = (read(folder / f"{place}-{name}") for place in ("there", "here"))
        pd.testing.assert_frame_equal(found, expected, rtol=1e-12)
        return expected

    here, there = both("predict", "--keep", "town", "-o", folder / "here-bounds.parquet")
    assert here == there
    assert list(same("bounds.parquet")) == ["town", "mean", "lower_0.95", "upper_0.95"]
    here, there = both(
        "triage", "--max-width", "1.2", "-o", folder / "here-certain.parquet",
        "--review", folder / "here-review.parquet",
    )  # fmt: skip
    assert here == there
    assert 0 < here["accepted"] < here["rows"] == 2000
    assert len(same("certain.parquet")) == here["accepted"]
    same("review.parquet")
    here, there = both("evaluate", "--target", "y")
    assert here["rmse"] == pytest.approx(there["rmse"], rel=1e-12)


def test_workers_need_files_to_read_and_a_folder_to_write(table, model, run):
    predict = ("predict", model, table, "--workers", "2", "-o")
    assert "Workers write a folder of Parquet files" in run(*predict, "-", code=2)
    out = table.parent / "out.csv"
    assert "name it as in -o result.parquet" in run(*predict, out, code=2)
    (table.parent / "old.parquet").mkdir()
    assert "is there already" in run(*predict, table.parent / "old.parquet", code=1)
    elsewhere = ("--scheduler", "tcp://127.0.0.1:1", "-o", table.parent / "out.parquet")
    assert "cannot read standard input" in run("predict", model, "-", *elsewhere, code=1)


@pytest.mark.slow
def test_what_becomes_of_workers_is_said_in_one_sentence(monkeypatch):
    monkeypatch.setattr(_cluster, "_PATIENCE", 0.5)
    with (
        pytest.raises(ValueError, match=r"There is no Dask scheduler at tcp://127\.0\.0\.1:1;"),
        _cluster.workers_of(None, "tcp://127.0.0.1:1"),
    ):
        pass
    with (
        LocalCluster(
            n_workers=0,
            processes=False,
            protocol="tcp://",
            host="127.0.0.1",
            dashboard_address="127.0.0.1:0",
        ) as few,
        pytest.raises(ValueError, match="has no workers; start some, as in dask worker tcp://"),
        _cluster.workers_of(None, few.scheduler_address),
    ):
        pass


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


def dying(block):
    if len(block):
        os.kill(os.getpid(), signal.SIGKILL)
    return block


def test_a_task_that_no_worker_survives_is_an_error_in_words(client):
    client.run_on_scheduler(lambda dask_scheduler: setattr(dask_scheduler, "allowed_failures", 0))
    X = da.ones((30, 2), chunks=(30, 2)).map_blocks(dying, dtype=float, meta=np.empty((0, 0)))
    with (
        pytest.raises(ValueError, match=r"^Several workers died at the same task"),
        _cluster.told_of_workers(),
    ):
        ELMRegressor(5, verbose=False).fit(X, da.ones(30, chunks=30))
    client.run_on_scheduler(lambda dask_scheduler: setattr(dask_scheduler, "allowed_failures", 3))
