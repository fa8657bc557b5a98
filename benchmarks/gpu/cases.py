"""What is timed: fits and intervals by where the rows are, by neurons, and without end."""

import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import torch
from benchmarks.gpu.checks import OPTIONS
from benchmarks.gpu.data import FEATURES, NEURONS, endless, layer, rows, written
from benchmarks.gpu.measure import peak, timed
from sklearn import config_context

from elmband import ELMIntervalRegressor, ELMRegressor, scan
from elmband.sources.device import where

# Rows of a block that is made on the fly, and of the chunk that it is sent as.
BLOCK = 2**19


def fit_work(n_neurons: int) -> int:
    """Return the necessary operations per row of an exact interval fit that keeps H.

    The hidden layer once, HᵀH, leverage by a triangular factor, and two weighted HᵀH, each of
    which is symmetric: L² instead of 2·L².
    """
    return 2 * FEATURES * (n_neurons - FEATURES) + 4 * n_neurons**2


def by_place(n: int) -> Iterator[dict[str, Any]]:
    """Time the paper's size by where the rows are."""
    X, y = rows(n)
    there = torch.from_numpy(X).cuda(), torch.from_numpy(y).cuda()
    with config_context(array_api_dispatch=True):
        for precision in ("auto", "high", "fast", "float64"):
            model = ELMIntervalRegressor(layer(347), precision=precision, **OPTIONS)
            yield _row("fit", f"resident, {precision}", timed(lambda m=model: m.fit(*there)))
            if precision in ("auto", "fast"):
                found = timed(lambda m=model: m.predict_interval(there[0]))
                yield _row("predict_interval", f"resident, {precision}", found)
        point = ELMRegressor(layer(347), alpha=1e-3, random_state=0)
        yield _row("fit, mean only", "resident, auto", timed(lambda: point.fit(*there)))
    there = ()
    torch.cuda.empty_cache()
    model = ELMIntervalRegressor(layer(347), device="cuda", **OPTIONS)
    pinned = torch.empty(X.shape, pin_memory=True)
    pinned.copy_(torch.from_numpy(X))
    yield _row("fit", "pinned memory", timed(lambda: model.fit(pinned.numpy(), y)))
    yield _row("fit", "NumPy array", timed(lambda: model.fit(X, y)))
    yield _row("predict_interval", "NumPy array", timed(lambda: model.predict_interval(X)))
    with tempfile.TemporaryDirectory() as folder:
        for kind, path in written(Path(folder), X, y).items():
            target = -1 if kind == "npy" else f"x{FEATURES}"
            opened = scan(path, target=target)
            yield _row("fit", f"{kind} file", timed(lambda s=opened: model.fit(s), 3))


def by_neurons(n: int) -> Iterator[dict[str, Any]]:
    """Time fits on resident rows with more neurons, and what share of the work that is."""
    for n_neurons in NEURONS:
        m = n if n_neurons < NEURONS[-1] else n // 4
        X, y = (torch.from_numpy(a).cuda() for a in rows(m))
        model = ELMIntervalRegressor(layer(n_neurons), **OPTIONS)
        with config_context(array_api_dispatch=True):
            found = timed(lambda a=(model, X, y): a[0].fit(a[1], a[2]), 3)
        rate = m * fit_work(n_neurons) / found.wall
        yield {"neurons": n_neurons, "rows": m, "wall": found.wall, "rate": rate}


def without_end(n: int, *, pinned: bool) -> dict[str, Any]:
    """Stream rows that are made on the fly, none of which stays on the GPU."""
    model = ELMIntervalRegressor(layer(347), device="cuda", chunk_size=BLOCK, **OPTIONS)
    share, where._SHARE = where._SHARE, 0.0  # noqa: SLF001
    try:
        small = peak(lambda: model.fit(scan(endless(8 * BLOCK, BLOCK, pinned=pinned))))
        rows_ = scan(endless(n, BLOCK, pinned=pinned))
        seconds: list[float] = []
        large = peak(lambda: seconds.append(timed(lambda: model.fit(rows_), 1).wall))
    finally:
        where._SHARE = share  # noqa: SLF001
    # Four passes: scales, HᵀH, covariance of the mean, covariance of the noise.
    nbytes = 4 * n * (FEATURES + 2) * 4
    work = n * (3 * 2 * FEATURES * 200 + 4 * 347**2)
    return {
        "rows": n,
        "pinned": pinned,
        "wall": seconds[0],
        "bytes_rate": nbytes / seconds[0],
        "rate": work / seconds[0],
        "peak_small": small,
        "peak_large": large,
    }


def _row(what: str, where: str, found: Any) -> dict[str, Any]:
    return {"what": what, "where": where, "wall": found.wall, "gpu": found.gpu}
