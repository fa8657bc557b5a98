"""Workers that would compute other numbers are refused, with what differs."""

import importlib
import os
import signal
import sys
from concurrent.futures import Executor, Future, ProcessPoolExecutor
from dataclasses import replace
from multiprocessing import get_context
from weakref import WeakKeyDictionary

import numpy as np
import pytest
from sklearn.base import clone

from elmband import scan
from elmband.engines.cluster import graph, versions
from elmband.engines.cluster.rows import as_it_is
from elmband.engines.cluster.work import Work, partition_sum

da = pytest.importorskip("dask.array")


@pytest.fixture
def collections(rows):
    return [da.from_array(values, chunks=500) for values in rows]


@pytest.fixture
def files(rows, tmp_path):
    X, y = rows
    np.save(tmp_path / "rows.npy", np.column_stack([X, y]))
    return scan(tmp_path / "rows.npy", target=-1)


@pytest.fixture
def on_workers(client, monkeypatch, never_fetched):  # noqa: ARG001 - so that rows stay there
    """Give a function that sets an attribute of a module on some workers, until the test ends.

    The client has not asked any of them for its versions before.
    """
    monkeypatch.setattr(versions, "_checked", WeakKeyDictionary())

    def change(module, name, value):
        # Before it is told a version that other libraries refuse to be loaded with.
        importlib.import_module("elmband.engines.cluster.versions")
        module = importlib.import_module(module)
        changed = sys.__dict__.setdefault("_changed", [])
        changed.append((module, name, getattr(module, name)))
        setattr(module, name, value)

    def put_back():
        for one in reversed(sys.__dict__.pop("_changed", [])):
            setattr(*one)

    def set_there(module, name, value, workers=None):
        client.run(change, module=module, name=name, value=value, workers=workers)

    yield set_there
    client.run(put_back)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("module", "name", "value", "said"),
    [
        ("elmband", "__version__", "0.0.7", "has elmband 0.0.7 instead of {elmband}, and would"),
        ("numpy", "__version__", "1.0", "has numpy 1.0 instead of {numpy}, and would"),
        ("sys", "version_info", (2, 7, 18), "has Python 2.7 instead of {Python}, and would"),
        (
            "elmband.engines.cluster.versions",
            "digest_of_sources",
            lambda: "0",
            "has other code under the same version of elmband, {elmband}, and would",
        ),
    ],
)
def test_dask_workers_are_asked_first(
    client, on_workers, collections, published, monkeypatch, module, name, value, said
):
    address = max(client.nthreads())
    on_workers(module, name, value, [address])
    monkeypatch.setattr(graph, "_computed", None)
    with pytest.raises(ValueError, match=f"The worker {address} has") as refused:
        clone(published).fit(*collections)
    assert said.format(**versions.own_versions()._asdict()) in str(refused.value)


@pytest.mark.slow
def test_all_workers_differ(on_workers, collections, published):
    on_workers("numpy", "__version__", "1.0")
    with pytest.raises(ValueError, match="2 of 2 workers differ so, or in other ways"):
        clone(published).fit(*collections)


@pytest.mark.slow
@pytest.mark.usefixtures("never_fetched")
def test_workers_that_cannot_import_elmband(client, collections, published, monkeypatch):
    def uninstall():
        names = [name for name in sys.modules if name.partition(".")[0] == "elmband"]
        sys._modules = {name: sys.modules.pop(name) for name in names}
        sys.modules["elmband"] = None

    def install():
        del sys.modules["elmband"]
        sys.modules.update(sys._modules)

    monkeypatch.setattr(versions, "_checked", WeakKeyDictionary())
    address = max(client.nthreads())
    client.run(uninstall, workers=[address])
    try:
        sentence = f"worker {address} cannot import elmband .*'elmband'.*; install elmband"
        with pytest.raises(ValueError, match=sentence):
            clone(published).fit(*collections)
    finally:
        client.run(install, workers=[address])


@pytest.mark.slow
def test_workers_that_join_later(client, on_workers, collections, published):
    on_workers("scipy", "__version__", "1.0")
    # As if all had come after others were asked.
    versions._checked[client] = set(client.nthreads())
    with pytest.raises(ValueError, match=r"The worker \S+ has scipy 1\.0 instead of"):
        clone(published).fit(*collections)


@pytest.mark.slow
def test_lazy_answers_check_too(client, on_workers, rows, collections, published):
    bounds = clone(published).fit(*rows).predict_interval(collections[0])
    on_workers("scipy", "__version__", "1.0")
    with pytest.raises(ValueError, match=r"The worker \S+ has scipy 1\.0 instead of"):
        client.compute(bounds).result()


def test_work_of_an_elmband_that_sent_no_versions():
    work = Work(as_it_is, as_it_is, None, None, 10)
    assert partition_sum(work, []).n_rows == 0
    with pytest.raises(ValueError, match="comes from an elmband other than the"):
        partition_sum(replace(work, versions=None), [])


@pytest.mark.slow
@pytest.mark.usefixtures("never_fetched")
def test_another_version_in_a_process_pool(files, published):
    begin = "import elmband; elmband.__version__ = '0.0.7'"
    with (
        ProcessPoolExecutor(1, get_context("spawn"), exec, (begin,)) as pool,
        pytest.raises(ValueError, match=r"The worker \S+ has elmband 0\.0\.7 instead of"),
    ):
        clone(published).fit(files, client=pool)


@pytest.mark.slow
@pytest.mark.usefixtures("never_fetched")
def test_a_dead_process_pool(files, published):
    with ProcessPoolExecutor(1, get_context("spawn")) as pool:
        os.kill(pool.submit(os.getpid).result(), signal.SIGTERM)
        with pytest.raises(RuntimeError, match="A worker of the executor died, most often"):
            clone(published).fit(files, client=pool)


class Elsewhere(Executor):
    """Machines that have Python alone."""

    def submit(self, *_):
        future = Future()
        future.set_exception(ModuleNotFoundError("No module named 'elmband'", name="elmband"))
        return future


@pytest.mark.usefixtures("never_fetched")
def test_an_executor_without_elmband(files, published):
    with pytest.raises(ValueError, match="worker of the executor cannot import elmband; install"):
        clone(published).fit(files, client=Elsewhere())


def test_the_digest_tells_code_from_code(tmp_path):
    def digest(**modules):
        folder = tmp_path / str(len(list(tmp_path.iterdir())))
        for name, source in modules.items():
            (folder / "below").mkdir(parents=True, exist_ok=True)
            (folder / "below" / f"{name}.py").write_bytes(source)
        return versions.digest_of(folder)

    one = digest(a=b"x = 1\n", b=b"")
    assert one == digest(b=b"", a=b"x = 1\r\n")
    others = [digest(a=b"x = 2\n", b=b""), digest(a=b"x = 1\n", c=b""), digest(a=b"x = 1\n")]
    assert len({one, *others}) == 4
    assert digest() == ""
