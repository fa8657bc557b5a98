"""Coverage at many levels, counted for all rows or group by group."""

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import _safe_indexing

from elmband.display.labels import check_few, each_group, labels_beside, labels_of_scan
from elmband.estimators import ELMIntervalRegressor
from elmband.ground.arrays import Floats, to_numpy
from elmband.metrics import calibration_curve
from elmband.metrics.evaluation import Evaluation
from elmband.models.fitted import Fitted
from elmband.sources.stream import Scan, scan

# The label of every row, and the scores of those rows that are marked.
Labelled: TypeAlias = tuple[NDArray[Any], Callable[[NDArray[np.bool_]], Evaluation]]

LEVELS = tuple(k / 20 for k in range(1, 20))
"""Where coverage is looked at."""


class Curve(NamedTuple):
    """The coverage (k,) of `n` rows, and their group."""

    group: Any
    n: float
    coverage: Floats


class Rows(NamedTuple):
    """Rows as users have them: arrays, or a scan that has targets and weights itself."""

    X: Any
    y: Any = None
    groups: Any = None
    weight: Any = None


def observed(estimator: Any, rows: Rows, levels: Floats) -> list[Curve]:
    """Ask a model for its intervals, and count the targets inside.

    A scan is read once, and no more than a chunk of it is in memory. Other models than those of
    elmband are asked level by level.
    """
    if not isinstance(estimator, ELMIntervalRegressor):
        return _of_others(estimator, rows, levels)
    _check_single(estimator)
    X, y, groups, weight = rows
    if groups is None:
        found = estimator.evaluate(X, y, weight, confidence_level=levels)
        return [Curve(None, found.n, _coverages(found))]
    if not isinstance(X, Scan):
        return _added([_beside(estimator, rows, levels)])
    if y is not None or weight is not None:
        raise ValueError("y and weights are part of a scan: name them there, scan(..., target=).")
    return _added(_scanned(estimator, X, groups, levels))


def count_inside(rows: Rows, intervals: Any, levels: Floats) -> list[Curve]:
    """Count the targets inside intervals (n, 2, k)."""
    y, bounds = (np.asarray(to_numpy(values), dtype=np.float64) for values in (rows.y, intervals))
    if y.ndim != 1:
        raise ValueError(f"y_true has shape {y.shape}, expected (n,): draw each output by itself")
    if bounds.shape != (len(y), 2, len(levels)):
        raise ValueError(
            f"intervals have shape {bounds.shape}, expected {(len(y), 2, len(levels))}: a lower "
            "and an upper end for each row and level"
        )
    s = None if rows.weight is None else np.asarray(to_numpy(rows.weight), dtype=np.float64)
    if rows.groups is None:
        return [_counted(None, y, bounds, levels, s)]
    return [
        _counted(name, y[part], bounds[part], levels, _some(s, part))
        for name, part in each_group(labels_beside(rows.groups, len(y)), s)
    ]


def _counted(name: Any, y: Floats, bounds: Floats, levels: Floats, s: Floats | None) -> Curve:
    curve = calibration_curve(y, bounds, confidence_levels=levels, sample_weight=s)
    return Curve(name, float(len(y) if s is None else s.sum()), curve.observed)


def _some(values: Any, part: NDArray[np.bool_]) -> Any:
    return None if values is None else values[part]


def _of_others(estimator: Any, rows: Rows, levels: Floats) -> list[Curve]:
    name = type(estimator).__name__
    if not hasattr(estimator, "predict_interval"):
        raise TypeError(f"{name} has no predict_interval, which IntervalCalibrationDisplay draws")
    if isinstance(rows.X, Scan):
        raise TypeError(f"{name} cannot read a scan: give arrays, or a model of elmband")
    asked = [estimator.predict_interval(rows.X, confidence_level=level) for level in levels]
    return count_inside(rows, np.stack([to_numpy(bounds) for bounds in asked], axis=-1), levels)


def _check_single(model: Any) -> None:
    fitted = getattr(model, "fitted_", None)
    outputs = fitted.targets.count if isinstance(fitted, Fitted) else 1
    if outputs > 1:
        raise ValueError(
            f"the model predicts {outputs} outputs, a curve is of one: give the intervals of one "
            "output to from_predictions"
        )


def _coverages(found: Evaluation) -> Floats:
    return np.array([float(np.ravel(level.coverage)[0]) for level in found.levels])


def _added(parts: Any) -> list[Curve]:
    """Add up rows and hits, group by group."""
    sums: dict[Any, tuple[float, Any]] = {}
    for labels, judge in parts:
        for name, part in each_group(labels):
            found = judge(part)
            n, inside = sums.get(name, (0.0, 0.0))
            sums[name] = n + found.n, inside + found.n * _coverages(found)
        check_few(len(sums))
    return [Curve(name, n, inside / n) for name, (n, inside) in sorted(sums.items())]


def _beside(model: Any, rows: Rows, levels: Floats) -> Labelled:
    """Return the labels of rows in memory, and what scores some of them."""
    X, y, groups, weight = rows
    labels = labels_beside(groups, np.shape(X)[0])
    if y is None or np.shape(y)[:1] != labels.shape:
        raise ValueError(f"y must have {len(labels)} targets, one for each row of X")
    if weight is not None:
        s = np.asarray(to_numpy(weight))
        if s.shape != labels.shape:
            raise ValueError(f"sample_weight must have {len(labels)} numbers, one for each row")
        # Rows of weight 0 make no group.
        kept = np.flatnonzero(s)
        X, y, weight, labels = (
            _safe_indexing(X, kept),
            _safe_indexing(y, kept),
            s[kept],
            labels[kept],
        )

    def judge(part: NDArray[np.bool_]) -> Evaluation:
        at = np.flatnonzero(part)
        some = _safe_indexing(X, at), _safe_indexing(y, at), _some(weight, part)
        found: Evaluation = model.evaluate(*some, confidence_level=levels)
        return found

    return labels, judge


def _scanned(model: Any, rows: Scan, groups: Any, levels: Floats) -> Iterator[Labelled]:
    """Yield the same for a scan, chunk by chunk."""
    labels_of = labels_of_scan(rows, groups)
    for chunk in rows:

        def judge(part: NDArray[np.bool_], chunk: Any = chunk) -> Evaluation:
            some = tuple(values[part] for values in chunk if values is not None)
            found: Evaluation = model.evaluate(scan(some), confidence_level=levels)
            return found

        yield labels_of(chunk.X), judge
