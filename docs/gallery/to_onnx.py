#!/usr/bin/env python
"""
One ONNX file
=============

A model is run by onnxruntime, which knows nothing of elmband.

Look at the bounds on the left: lines are Python's, dots are those of the file, at three levels
that were chosen after it was written. On the right is how far they are apart, where they are, in
standard deviations: by the rounding of float64, or of float32 for a model of that.
"""

import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import onnxruntime

from elmband import ELMIntervalRegressor
from elmband.datasets import make_heteroscedastic
from elmband.display import new_figure
from elmband.models.onnx_export import to_onnx

LEVELS = (0.5, 0.9, 0.99)
data = make_heteroscedastic(800, random_state=0)
grid = np.linspace(data.X.min(), data.X.max(), 400)[:, None]


def session(path: Path) -> Any:
    """Open a file; quietly, for it has an input that need not be given."""
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 3
    return onnxruntime.InferenceSession(path, options)


figure = new_figure(10, 4.5)
left, right = figure.subplots(1, 2)
with TemporaryDirectory() as folder:
    for dtype in (np.float64, np.float32):
        model = ELMIntervalRegressor(random_state=0).fit(data.X.astype(dtype), data.y)
        X = grid.astype(dtype)
        run = session(to_onnx(model, Path(folder, "model.onnx"))).run
        for number, level in enumerate(LEVELS):
            inputs = {"X": X, "confidence_level": np.array(level)}
            lower, upper, std = run(["lower", "upper", "std"], inputs)
            expected = model.predict_interval(X, level)
            error = np.abs(upper - expected[:, 1]) / std
            style = f"C{number}" + (".s"[dtype is np.float32])
            label = f"{level:.0%} in {np.dtype(dtype)}"
            right.semilogy(grid[error > 0], error[error > 0], style, markersize=2.5, label=label)
            if dtype is np.float64:
                left.plot(grid, expected, f"C{number}-", linewidth=1)
                left.plot(grid[::16], np.stack([lower, upper], axis=1)[::16], f"C{number}.")
left.plot(data.X, data.y, "k.", markersize=2, alpha=0.3)
left.set(xlabel="x", ylabel="y", title="intervals of Python (lines) and of the file (dots)")
right.set(xlabel="x", title="difference of upper bounds, in standard deviations")
right.legend(frameon=False, loc="center", ncols=2)
figure.savefig(Path(sys.argv[1] if len(sys.argv) > 1 else ".") / "to_onnx.png", dpi=120)
