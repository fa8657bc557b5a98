"""A real cluster of processes: workers die and come, tasks fail, memory is short."""

import os
import signal
import threading
import time
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone

from elmband import ELMRegressor, scan

da = pytest.importorskip("dask.array")
dd = pytest.importorskip("dask.dataframe")

BLOCKS, ROWS, FEATURES = 12, 200, 4
# The block that things happen to.
MARKED = 5


def block(k):
    return np.random.default_rng(k).normal(size=(ROWS, FEATURES))


def target(X):
    return np.sin(X[:, 0]) + X[:, 1] / 3 + 0.1 * (1 + abs(X[:, 2])) * np.cos(40 * X[:, 3])


def made(block_id=None, event=None):
    """Make a block on a worker; the event happens once, in the pass that it is for."""
    k = block_id[0]
    if event is not None and k == MARKED:
        event()
    return block(k)


class Event:
    """What happens when the marked block is made for the `number`-th time, by any process."""

    def __init__(self, log, number, action):
        self.log, self.number, self.action = str(log), number, action

    def __call__(self):
        with open(self.log, "a") as file:  # noqa: PTH123 - appends of a byte are atomic
            file.write(".")
        if Path(self.log).stat().st_size == self.number:
            self.action()


def die():
    os.kill(os.getpid(), signal.SIGKILL)


def fail():
    raise OSError("the disk was busy")


def lazy_rows(event=None):
    X = da.map_blocks(
        made,
        chunks=((ROWS,) * BLOCKS, (FEATURES,)),
        dtype=float,
        event=event,
        meta=np.empty((0, 0)),
    )
    return X, X.map_blocks(target, drop_axis=1, dtype=float, meta=np.empty(0))


@pytest.fixture(scope="module")
def here():
    X = np.concatenate([block(k) for k in range(BLOCKS)])
    return X, target(X)


@pytest.mark.parametrize("number", [1, 2, 3, 4])
@pytest.mark.usefixtures("never_fetched")
def test_a_worker_killed_in_any_pass_changes_nothing(
    client, tmp_path, here, published, number, assert_same
):
    before = client.run(os.getpid)
    event = Event(tmp_path / "log", number, die)
    found = clone(published).fit(*lazy_rows(event))
    # One time more than there are passes, at least: the killed task was repeated.
    assert event_count(tmp_path) > 4
    wait_for_workers(client, 2)
    assert set(client.run(os.getpid).values()) != set(before.values())
    assert_same(found, clone(published).fit(*here), here[0])


def wait_for_workers(client, count):
    """Ask the scheduler: what the client has heard may be older."""
    for moment in range(600):
        if len(client.nthreads()) >= count:
            return
        if moment == 200 and client.cluster is not None:
            # Dask does not always bring a killed worker back, which is not what is tested.
            client.cluster.scale(len(client.cluster.worker_spec) + 1)
        time.sleep(0.1)
    raise TimeoutError(f"{len(client.nthreads())} of {count} workers are there.")


def event_count(folder):
    return (folder / "log").stat().st_size


@pytest.mark.usefixtures("never_fetched")
def test_a_task_that_fails_once_is_tried_again(client, tmp_path, here, published, assert_same):
    found = clone(published).fit(*lazy_rows(Event(tmp_path / "log", 2, fail)))
    # Four passes, and the one time that failed.
    assert event_count(tmp_path) == 5
    assert_same(found, clone(published).fit(*here), here[0])
    assert client.status == "running"


class Adding:
    """Adds a worker when the marked block is made, as a person might."""

    def __init__(self, address):
        self.address = address

    def __call__(self):
        from distributed import get_client  # noqa: PLC0415 - on the worker

        get_client().log_event("elmband-test", "a block was made")


@pytest.mark.usefixtures("never_fetched")
def test_a_worker_that_is_added_in_the_middle_helps(client, here, published, assert_same):
    cluster = client.cluster
    seen = []

    def scale(event):
        if not seen:
            seen.append(event)
            cluster.scale(3)

    client.subscribe_topic("elmband-test", scale)
    try:
        found = clone(published).fit(*lazy_rows(Adding(cluster.scheduler_address)))
        assert seen
        wait_for_workers(client, 3)
    finally:
        client.unsubscribe_topic("elmband-test")
        cluster.scale(2)
    assert_same(found, clone(published).fit(*here), here[0])


def always():
    raise OSError("the disk is gone")


def test_a_partition_that_cannot_be_read_is_named(client, published):
    X, y = lazy_rows(always)
    with pytest.raises(ValueError, match=r"^Partition 5 of X cannot be read: the disk is gone\.$"):
        clone(published).fit(X, y)
    X = da.where(da.arange(BLOCKS * ROWS, chunks=ROWS)[:, None] == 2100, np.nan, lazy_rows()[0])
    with pytest.raises(ValueError, match="Partition 10 of X cannot be read: X holds missing"):
        clone(published).fit(X, lazy_rows()[1])
    assert client.status == "running"


def test_a_file_that_vanished_is_named(client, tmp_path, published):
    for k in range(3):
        np.save(tmp_path / f"{k}.npy", block(k))
    rows = scan(tmp_path, target=-1)
    (tmp_path / "1.npy").unlink()
    with pytest.raises(FileNotFoundError, match=r"1\.npy does not exist"):
        clone(published).fit(rows, client=client)


@pytest.mark.usefixtures("never_fetched")
def test_workers_read_the_files_of_a_scan(client, tmp_path, here, published, assert_same):
    X, y = here
    np.save(tmp_path / "rows.npy", np.column_stack([X, y]))
    found = clone(published).fit(scan(tmp_path / "rows.npy", target=-1), client=client)
    assert_same(found, clone(published).fit(X, y), X)


@pytest.mark.usefixtures("never_fetched")
def test_rows_that_a_cluster_holds_are_used_where_they_are(client, here, published, assert_same):
    X, y = (part.persist() for part in lazy_rows())
    assert_same(clone(published).fit(X, y), clone(published).fit(*here), here[0])
    frame = pd.DataFrame(here[0], columns=list("abcd")).assign(y=here[1])
    held = dd.from_pandas(frame, npartitions=3).persist()
    found = clone(published).fit(held[list("abcd")], held["y"])
    reference = clone(published).fit(frame[list("abcd")], frame["y"])
    assert_same(found, reference, frame[list("abcd")])
    assert client.status == "running"


class Slow:
    """Takes a while for the marked block, and says that it has begun."""

    def __init__(self, log):
        self.log = str(log)

    def __call__(self):
        Path(self.log).touch()
        time.sleep(3)


def test_an_interrupted_client_leaves_no_tasks_behind(client, tmp_path, published):
    log = tmp_path / "log"

    def interrupt():
        while not log.exists():
            time.sleep(0.01)
        os.kill(os.getpid(), signal.SIGINT)

    # Shells let what runs in the background ignore interrupts.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    person = threading.Thread(target=interrupt)
    person.start()
    with pytest.raises(KeyboardInterrupt):
        clone(published).fit(*lazy_rows(Slow(log)))
    person.join()
    signal.signal(signal.SIGINT, before)
    for _ in range(50):
        if not client.run_on_scheduler(wanted_tasks):
            break
        time.sleep(0.1)
    assert not client.run_on_scheduler(wanted_tasks)
    # The cluster can be used again.
    assert client.submit(len, "abc").result() == 3


def wanted_tasks(dask_scheduler):
    tasks = dask_scheduler.tasks.items()
    return [str(key) for key, task in tasks if task.who_wants and "elmband" in str(key)]


# 1,280 MB, more than what both workers together may take; a block has 10 MB.
FEW, MANY, LONG, WIDE = 12, 128, 50_000, 25
# Blocks are made in other orders and on other workers each time: two of them more or less.
UNSTEADY_MB = 20


def wide_block(block_id=None):
    base = np.arange(LONG * WIDE, dtype=np.float64).reshape(LONG, WIDE)
    return np.sin(base * (1.0 + block_id[0] / MANY))


def forget_peak():
    Path("/proc/self/clear_refs").write_text("5")


def peak_mb():
    """Return the most memory that a worker has had since it was told to forget."""
    return int(Path("/proc/self/status").read_text().split("VmHWM:")[1].split()[0]) / 1024


def fit_wide(client, count):
    """Return a model of so many blocks, and the peak of the worker that took the most."""
    X = da.map_blocks(wide_block, chunks=((LONG,) * count, (WIDE,)), dtype=float)
    client.run(forget_peak)
    model = ELMRegressor(10, alpha=0.01, random_state=0, verbose=False)
    model.fit(X, X[:, 0] + 2 * X[:, 1])
    return model, max(client.run(peak_mb).values()), X.nbytes


@pytest.mark.usefixtures("never_fetched")
def test_data_larger_than_the_memory_of_all_workers_take_no_more_of_it(client):
    limits = [worker["memory_limit"] for worker in client.scheduler_info()["workers"].values()]
    pids = client.run(os.getpid)
    # The first one loads libraries.
    fit_wide(client, FEW)
    few, before, _ = fit_wide(client, FEW)
    _, peak, size = fit_wide(client, MANY)
    assert size > sum(limits)
    assert peak < before + UNSTEADY_MB
    # Nobody was killed for taking too much.
    assert client.run(os.getpid) == pids
    # So few fit here too.
    X = np.concatenate([wide_block((k,)) for k in range(FEW)])
    here = ELMRegressor(10, alpha=0.01, random_state=0).fit(X, X[:, 0] + 2 * X[:, 1])
    np.testing.assert_allclose(few.predict(X), here.predict(X), rtol=0, atol=1e-10)
