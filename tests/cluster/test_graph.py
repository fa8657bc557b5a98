"""What travels: one opaque task for each group of partitions, and nothing twice."""

import pickle
from threading import Barrier, Thread

import numpy as np
import pytest
from sklearn.base import clone
from threadpoolctl import threadpool_info

from elmband import ELMRegressor
from elmband.engines import engine
from elmband.engines.cluster import collected
from elmband.engines.cluster.graph import OnDask, pass_graph
from elmband.engines.cluster.rows import ClusterRows
from elmband.engines.cluster.work import Counted, Work, added
from elmband.sums.moments import Chunk, Count, Gram

dask = pytest.importorskip("dask")
da = pytest.importorskip("dask.array")
cloudpickle = pytest.importorskip("cloudpickle")


def as_it_is(chunk):
    return chunk


def count(chunk):
    return Count(chunk.n)


def cluster_rows(X, y, chunk_map=count):
    found = collected(X, y)
    like = np.empty((0, found.form.n_features))
    rows = ClusterRows(found.partitions, found.run, like, np.float64, as_it_is, 4096)
    return rows, Work(chunk_map, as_it_is, None, np.float64, 4096)


def ones(chunks):
    X = da.ones((sum(chunks), 3), chunks=(chunks, 3))
    return X, X[:, 0]


def test_every_partition_is_one_task_with_all_that_it_alone_needs():
    rows, _ = cluster_rows(*ones((10, 20, 30)))
    assert [partition.needs for partition in rows.partitions] == [()] * 3
    assert not rows.run.shared
    sizes = [len(next(iter(p.chunks(100))).X) for p in rows.partitions]
    assert sizes == [10, 20, 30]


def test_what_several_partitions_need_is_made_once():
    made = []

    def source():
        made.append(1)
        return np.arange(300.0).reshape(100, 3)

    whole = da.from_delayed(dask.delayed(source)(), (100, 3), float)
    X = whole.rechunk((25, 3))
    rows, _ = cluster_rows(X, X[:, 1])
    assert rows.run.shared
    with dask.config.set(scheduler="synchronous"):
        sums = rows.summed(lambda chunk: Count(float(chunk.X.sum() + chunk.Y.sum())), "sums")
    assert sums.n == np.arange(300.0).sum() + np.arange(300.0).reshape(100, 3)[:, 1].sum()
    assert len(made) == 1


@pytest.mark.one_quick
@pytest.mark.parametrize("n", [1, 7, 64, 65, 1000])
def test_tasks_are_bounded_and_none_is_left_out(n):
    rows, work = cluster_rows(*ones((2,) * n))
    graph, root = pass_graph(work, rows.partitions, "rows", 64)
    tasks = [key for key in graph if key[0].startswith("elmband-rows")]
    assert len(tasks) <= 64
    assert sum(value is work for value in graph.values()) == 1
    found = dask.get(graph, root)
    assert (found.n_rows, found.sums.n) == (2 * n, 2 * n)


def test_sums_of_earlier_tasks_are_left_as_they_are():
    parts = [Counted(1, Gram(1.0, *(np.ones((2, 2)) for _ in range(3)))) for _ in range(3)]
    found = added([Counted(0, None), *parts])
    assert found.n_rows == 3
    assert (found.sums.HtH == 3).all()
    # A task may run again with the same results of others.
    assert all((part.sums.HtH == 1).all() for part in parts)


def test_schedulers_know_what_sums_weigh():
    sums = Gram(1.0, np.ones((50, 1)), np.ones(1), np.ones((50, 50)))
    dask_sizeof = pytest.importorskip("dask.sizeof").sizeof
    assert dask_sizeof(Counted(1, sums)) >= 8 * 50 * 51
    assert dask_sizeof(Counted(0, None)) < 200


def test_rows_travel_without_what_they_are_made_of():
    data = np.random.default_rng(0).normal(size=(20_000, 3))
    rows, _ = cluster_rows(da.from_array(data, chunks=(500, 3)), da.from_array(data[:, 0], 500))
    packed = cloudpickle.dumps(lambda chunk: rows.in_memory or len(chunk.X))
    assert len(packed) < 10_000
    assert pickle.loads(packed)(Chunk(data, None, None)) == 20_000  # noqa: S301 - our own
    assert rows.partitions


def test_rows_that_change_between_passes_are_refused():
    lengths = iter((4, 4, 5, 4))
    X = da.map_blocks(
        lambda: np.ones((next(lengths), 2)),
        chunks=((np.nan,) * 2, (2,)),
        dtype=float,
        meta=np.empty((0, 2)),
    )
    rows, _ = cluster_rows(X, X[:, 0])
    with dask.config.set(scheduler="synchronous"):
        assert len(rows) == 8
        with pytest.raises(ValueError, match="there were 8, now there are 9"):
            rows.summed(count, "sums")


def test_no_rows_at_all_are_refused(published):
    with pytest.raises(ValueError, match="The 2 partitions to learn from have no rows at all"):
        clone(published).fit(*ones((0, 0)))


def test_the_first_thread_limits_blas_and_the_last_one_frees_it():
    def threads():
        return {pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"}

    before, during = threads(), []
    both, one_left = Barrier(2), Barrier(2)

    def short():
        with engine.alone():
            both.wait()
        one_left.wait()

    thread = Thread(target=short)
    thread.start()
    with engine.alone():
        both.wait()
        one_left.wait()
        during.append(threads())
    thread.join()
    assert during == [{1}]
    assert threads() == before


def test_a_runner_without_a_cluster_uses_the_scheduler_of_dask():
    rows, work = cluster_rows(*ones((5, 5)))
    asked = []

    def get(graph, key, **_):
        asked.append(key)
        return dask.get(graph, key)

    with dask.config.set(scheduler=get):
        assert OnDask()(work, rows.partitions, "rows", None).n_rows == 10
    assert len(asked) == 1


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"y": np.ones(30)}, "y is of type ndarray"),
        ({"y": da.ones(29, chunks=10)}, "X has 30 rows, y has 29"),
        ({"X": da.ones(30, chunks=10)}, "X must have 2 dimensions"),
        ({"X": da.ones((30, 2), chunks=10).astype(str)}, "which is not a number"),
        ({"groups": np.ones(30)}, "groups is for rows of this machine"),
        ({"client": object()}, "client is for a scan"),
    ],
    ids=["numpy", "length", "dimensions", "text", "groups", "client"],
)
def test_what_cannot_be_learned_from_is_refused(change, sentence):
    given = {"X": da.ones((30, 2), chunks=10), "y": da.ones(30, chunks=10)} | change
    with pytest.raises(ValueError, match=sentence):
        ELMRegressor(10, verbose=False).fit(**given)


def test_blocks_that_do_not_belong_together_are_refused(published):
    X, y = da.ones((30, 2), chunks=(10, 2)), da.arange(30, chunks=10)
    with pytest.raises(ValueError, match="X has 3 partitions, y has 2"):
        clone(published).fit(X[X[:, 0] > 0], da.ones(30, chunks=15))
    with pytest.raises(ValueError, match=r"Partition 0 of X cannot be read: X has 10 rows, y has"):
        clone(published).fit(X[X[:, 0] > 0], y[y > 4])
