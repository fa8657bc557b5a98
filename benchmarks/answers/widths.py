"""The fast variance beside the exact one: how much narrower or wider, and what is covered."""

from typing import Any

import numpy as np
from benchmarks.answers.data import Floats, Task

ROWS = 10_000


def compared(fast: Any, exact: Any, task: Task) -> dict[str, dict[str, float]]:
    """Return the error of widths on rows like those of training and far from them, and coverage.

    `fast` and `exact` answer with means and bounds. The error of a row is the share by which its
    fast width differs from the exact one; "narrower" is the largest share by which one is less.
    """
    X, y = task.new(ROWS)
    found = {"on": _errors(fast(X)[1], exact(X)[1])}
    far = task.far(ROWS)
    found["off"] = _errors(fast(far)[1], exact(far)[1])
    found["on"] |= {
        "coverage": _coverage(fast(X)[1], y),
        "coverage_exact": _coverage(exact(X)[1], y),
    }
    return found


def _errors(fast: Floats, exact: Floats) -> dict[str, float]:
    ratio = (fast[:, 1] - fast[:, 0]) / (exact[:, 1] - exact[:, 0])
    off = np.abs(ratio - 1)
    return {
        "median": float(np.median(off)),
        "p99": float(np.quantile(off, 0.99)),
        "narrower": float(max(0.0, 1 - ratio.min())),
        "mean_ratio": float(ratio.mean()),
    }


def _coverage(interval: Floats, y: Floats) -> float:
    return float(np.mean((interval[:, 0] <= y) & (y <= interval[:, 1])))
