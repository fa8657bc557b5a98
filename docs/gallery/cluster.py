#!/usr/bin/env python
"""
Rows on a cluster
=================

Dask workers read their own files, send back nothing but sums, and write their own answers.

Look at the colours: each is a file of results that some worker wrote, for the rows of one file.
Look at the right: what the cluster learned is what one process learns, but for the last digits.
The cluster lives in this process here; `Client("tcp://scheduler:8786")` is one of many machines.
"""

import sys
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pandas as pd
from distributed import Client

from elmband import ELMIntervalRegressor, scan
from elmband.datasets import DOMAIN, make_heteroscedastic
from elmband.display import new_figure

# Fewer than 100,000 rows in all would be fetched and learned from here.
FILES, ROWS = 4, 30_000
neurons = {"linear": 1, "tanh": 10}
model = ELMIntervalRegressor(neurons, alpha=1.0, noise="squared", random_state=0)

with (
    TemporaryDirectory() as name,
    Client(processes=False, n_workers=2, threads_per_worker=1, dashboard_address=None) as client,
):
    folder = Path(name)
    data = make_heteroscedastic(ROWS * FILES, random_state=0)
    # Sorted by x: each file has a stretch of it.
    table = np.column_stack([data.X, data.y])[np.argsort(data.X[:, 0])]
    for k, part in enumerate(np.split(table, FILES)):
        np.save(folder / f"rows-{k}.npy", part)
    files = folder / "rows-*.npy"
    known, new = scan(files, target=-1), scan(files, features=[0])
    model.fit(known, client=client)
    out = model.triage(new, max_width=1.5, confidence_level=0.9, client=client, out=folder / "out")
    parts = [pd.read_parquet(path) for path in sorted(out.iterdir())]
    rows = [np.load(path)[:, 0] for path in sorted(folder.glob("rows-*.npy"))]
    alone = ELMIntervalRegressor(**model.get_params()).fit(known)

grid = np.linspace(*DOMAIN, 200)[:, None]
figure = new_figure(10, 4.5)
left, right = figure.subplots(1, 2)
for k, (x, part) in enumerate(zip(rows, parts, strict=True)):
    left.fill_between(x[::50], part.lower[::50], part.upper[::50], alpha=0.5, label=f"part {k}")
    review = ~part.accepted.to_numpy()
    left.plot(x[review][::50], part["mean"][review][::50], "k.", markersize=2)
left.set(xlabel="x", title="90 % intervals; dots: wider than 1.5, for a person")
left.legend(frameon=False)
gap = np.abs(model.predict_interval(grid) - alone.predict_interval(grid)).max(axis=1)
right.semilogy(grid[:, 0], np.maximum(gap, 1e-17))
right.set(xlabel="x", title="bounds: cluster and one process apart", ylim=(1e-17, 1e-6))
figure.savefig(Path(sys.argv[1] if len(sys.argv) > 1 else ".") / "cluster.png", dpi=120)
