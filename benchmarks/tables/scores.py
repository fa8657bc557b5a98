"""What bounds of test rows are worth."""

from typing import Any

import numpy as np
from benchmarks.tables.rival import LEVEL


def scored(y: Any, answers: Any) -> dict[str, Any]:
    """Return RMSE, interval score and coverage, overall and by fifths of the predicted mean."""
    mean, low, high = (np.asarray(column, dtype=float) for column in np.asarray(answers).T)
    covered = (low <= y) & (y <= high)
    missed = np.maximum(low - y, 0) + np.maximum(y - high, 0)
    fifths = np.array_split(np.argsort(mean, kind="stable"), 5)
    return {
        "rmse": float(np.sqrt(np.mean((y - mean) ** 2))),
        "score": float(np.mean(high - low + 2 / (1 - LEVEL) * missed)),
        "coverage": float(covered.mean()),
        "fifths": [float(covered[rows].mean()) for rows in fifths],
        "impossible": int(((low < 0) & (y.min() >= 0)).sum()),
        "rows": len(y),
    }
