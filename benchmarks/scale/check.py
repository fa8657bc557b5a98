"""A quick test of the harness itself: ``python -m benchmarks.scale.check``."""

from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pyarrow.parquet as pq
from benchmarks.quality.store import Store
from benchmarks.scale import work
from benchmarks.scale.cases import ALPHA, CASES, GROWTH_CASES, GROWTH_DTYPE
from benchmarks.scale.data import BLOCK, COLUMNS, blocks, load, make
from benchmarks.scale.rivals import naive
from benchmarks.scale.rivals.layer import BATCH, Array, draw, hidden
from benchmarks.scale.runner import Job, pending, plan, together
from benchmarks.scale.summary import Summary


def textbook(H: Array, t: Array) -> tuple[Array, Array, Array]:
    """Return β, its covariance P (Σ w hᵀh) P and the residuals, with whole matrices."""
    P = np.linalg.inv(H.T @ H + ALPHA * np.eye(H.shape[1]))
    beta = np.linalg.solve(H.T @ H + ALPHA * np.eye(H.shape[1]), H.T @ t)
    r = t - H @ beta
    leverage = np.einsum("ij,jk,ik->i", H, P, H, optimize=True)
    return beta, P @ ((H.T * (r**2 / (1 - leverage))) @ H) @ P, r


def check_naive_gives_the_published_equations() -> None:
    """Compare with the same algebra in another order, on one layer and on two."""
    rows = np.concatenate(list(blocks(2 * BATCH + 345))).astype(np.float64)
    X, y = rows[:, :-1], rows[:, -1]
    weights = [draw(np.float64, seed) for seed in (0, 1)]
    layers = [partial(naive._apply, one) for one in weights]  # noqa: SLF001
    for noise_layer, W in zip(layers, weights, strict=True):
        mean, noise = naive.fit(X, y, layers[0], noise_layer, BATCH)
        beta, covariance, r = textbook(hidden(X, *weights[0]), y)
        H = hidden(X, *W)
        noise_beta, noise_covariance, _ = textbook(H, r**2)
        found = (mean.beta, mean.covariance, noise.beta, noise.covariance)
        for a, b in zip(found, (beta, covariance, noise_beta, noise_covariance), strict=True):
            assert np.abs(a - b).max() < 1e-9 * np.abs(b).max()
        bounds = naive.predict_interval(mean, noise, X, BATCH)
        variance = ((bounds[:, 1] - bounds[:, 0]) / 2 / 1.959963984540054) ** 2
        h = H[7]
        expected = max(h @ noise_beta, 0) + h @ noise_covariance @ h
        h = hidden(X[7:8], *weights[0])[0]
        assert np.isclose(variance[7], expected + h @ covariance @ h)


def check_files_hold_the_same_rows() -> None:
    """Find the head of a larger file in either format and dtype, and the same numbers in arrays."""
    larger = np.concatenate(list(blocks(BLOCK + 10)))
    with TemporaryDirectory() as name:
        folder = Path(name)
        for file in ("rows-1234-float32.npy", "rows-1234-float64.npy", "rows-1234-float32.parquet"):
            make(folder, file)
        stored = np.load(folder / "rows-1234-float32.npy")
        assert (stored == larger[:1234]).all()
        assert (np.load(folder / "rows-1234-float64.npy") == stored).all()
        table = pq.read_table(folder / "rows-1234-float32.parquet")
        assert all((table[c].to_numpy() == stored[:, k]).all() for k, c in enumerate(COLUMNS))
        rows = load(folder / "rows-1234-float32.npy", "float64")
        assert (stored[:, :-1] == rows.X).all()
        assert (stored[:, -1] == rows.y).all()
        assert rows.X.dtype == rows.y.dtype == np.float64


def check_work_is_counted_as_described() -> None:
    """Get the numbers of the table in ``work.py``, and the floors that follow from them."""
    assert work.POINT_FIT == 179_209
    assert work.INTERVAL_FIT == 658_036
    assert work.OWN_LAYERS_FIT == 957_654
    assert round(work.INTERVAL_FIT / work.POINT_FIT, 1) == 3.7
    assert round((work.HIDDEN + work.SQUARE) / work.HIDDEN, 1) == 3.0


def check_only_what_is_missing_runs() -> None:
    """Finished work stays; skipped work, failures to retry and more repeats run."""
    with TemporaryDirectory() as folder:
        store = Store(Path(folder))
        store.append("float32", "ridge", {"split": 1, "repeats": 3})
        store.append("float32", "ridge", {"split": 2, "repeats": 3, "kind": "skipped", "error": ""})
        store.append("float32", "ridge", {"split": 3, "repeats": 3, "kind": "failed", "error": ""})
        sizes = []
        for repeats, retry in ((3, False), (3, True), (5, False)):
            jobs = [Job(CASES["ridge"], rows, "float32", repeats) for rows in (1, 2, 3, 4)]
            sizes.append([job.rows for job in pending(store, jobs, retry=retry)])
        turns = [Job(CASES["ridge"], 1, "float32", 1, before) for before in (2, 3)]
        left = pending(store, turns, retry=False)
    assert sizes == [[2, 4], [2, 3, 4], [1, 2, 3, 4]]
    assert [job.before for job in left] == [3]


def check_rows_take_turns() -> None:
    """Plan what there is once a turn, sizes nowhere else, and put what turns measured together."""
    jobs = plan(200_000, (), 200_000, 2, 3)
    points = [job for job in jobs if (job.case.name, job.dtype) == ("elmband-point", "float64")]
    assert [(job.repeats, job.before) for job in points] == [(2, 0), (2, 2), (2, 4)]
    streamed = [job for job in jobs if job.case.name in GROWTH_CASES and job.dtype == GROWTH_DTYPE]
    assert [(job.rows, job.before) for job in streamed if "point" in job.case.name] == [
        (100_000, 0),
        (200_000, 0),
        (100_000, 1),
        (200_000, 1),
    ]
    one, other = (
        {
            "repeats": 1,
            "load_average": load,
            "seconds": {"fit": fit},
            "all_seconds": {"fit": [fit]},
            "cpu_seconds": {"fit": fit},
            "peak_mb": {"fit": peak},
        }
        for load, fit, peak in ((1.0, 3.0, 100.0), (2.0, 2.0, 101.0))
    )
    both = together(one, other)
    assert both["seconds"] == both["cpu_seconds"] == {"fit": 2.0}
    assert both["all_seconds"] == {"fit": [3.0, 2.0]}
    assert (both["repeats"], both["load_average"], both["peak_mb"]["fit"]) == (2, 2.0, 100.0)
    failed = {"repeats": 2, "kind": "failed", "error": ""}
    assert together(one, failed) is failed
    assert together(failed, other) is other


def check_proportional_time_doubles() -> None:
    """Give times in proportion to rows, and find 2 per doubling, whatever the step."""
    name = "elmband-npy-point"
    sizes = [100_000, 200_000, 500_000]
    runs = {n: {"split": n, "seconds": {"fit": n / 7}} for n in (20_000, *sizes)}
    summary = Summary({("float32", name): runs})
    assert summary.growth(name) == sizes
    assert np.isclose(summary.doubling(name, *sizes[1:]), 2)


if __name__ == "__main__":
    for name, check in list(globals().items()):
        if name.startswith("check_"):
            check()
            print(f"{name.removeprefix('check_').replace('_', ' ')}: yes")
