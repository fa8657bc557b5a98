"""What an interval model answers: intervals, quantiles, variances, scores and calibration."""

import math
from pathlib import Path
from typing import Any, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from elmband.engines import engine
from elmband.estimators._clusters import (
    check_collection,
    held_out_on_cluster,
    is_dask,
    is_dask_frame,
    refuse_on_cluster,
    spread,
)
from elmband.estimators._scans import check_targets, judging, refuse_beside_scan, scan_rows
from elmband.estimators._validate import (
    Levels,
    check_chunk_size,
    check_levels,
    held_out_rows,
    labels_of_rows,
    level_name,
)
from elmband.estimators._variance import VarianceParts
from elmband.estimators._variance_components import IntervalParts
from elmband.ground.arrays import Array, cast, double, namespace, place
from elmband.ground.frames import framed
from elmband.metrics.evaluation import Evaluation
from elmband.metrics.streaming import IntervalSums, interval_sums
from elmband.sources.stream import Scan
from elmband.sums.moments import Chunk
from elmband.sums.rows import DEFAULT_CHUNK_SIZE, ArrayRows, Rows
from elmband.uncertainty.calibrate import (
    Calibration,
    RowScores,
    ScoreBins,
    row_scores,
    score_bins,
    two_sided,
)
from elmband.uncertainty.noise.parts import Parts
from elmband.uncertainty.target_values import nearest_values
from elmband.uncertainty.targets import is_auto, values_range
from elmband.uncertainty.transform import Identity

# The share of a normal distribution within one standard deviation, 68.27 %.
_ONE_DEVIATION = math.erf(math.sqrt(0.5))


class IntervalAnswers(IntervalParts):
    """Predictions of `ELMIntervalRegressor`, from the noise model and multipliers of a fit."""

    def calibrate(
        self, X: Any, y: Any = None, sample_weight: Any = None, groups: Any = None
    ) -> Self:
        """Replace the multipliers by those of split conformal prediction on held-out rows.

        If these rows and new rows are exchangeable and training did not see either, an interval
        at `confidence_level` covers a new target with at least that probability. With n rows the
        level can be at most n / (n + 1); beyond, intervals are infinite and a warning says so.
        A `target_transform` changes nothing in that: bounds mapped back cover the same targets.
        The scores of a scan are counted in bins of 0.25 %, upwards, which keeps the guarantee.

        Only ratios of `sample_weight` matter: rows count as their effective number (Σs)² / Σs²,
        and rows of weight zero not at all. With `groups`, one label for each row of an array, a
        table or a scan, which is taken into memory, the guarantee is for a row of a new group,
        drawn like these: each group counts once, shared by its rows, and with K groups the level
        can be at most K / (K + 1).
        """
        if is_dask(X):
            refuse_on_cluster(groups=groups)
            scores = engine.total(self._on_cluster(X, y, sample_weight), self._score_bins).scores()
            return self._guaranteed(Calibration("conformal", scores))
        X = self._new_rows(X, "calibrate")
        if isinstance(X, Scan) and groups is not None:
            # Groups need all rows at once.
            refuse_beside_scan(y=y, sample_weight=sample_weight)
            check_targets(self, X, int(self._targets.mean.shape[0]))
            rows = scan_rows(
                X, lambda chunk: chunk, np.float64, self.chunk_size, whole=True
            ).whole()
            X, y, sample_weight = rows
        if isinstance(X, Scan):
            refuse_beside_scan(y=y, sample_weight=sample_weight)
            check_targets(self, X, int(self._targets.mean.shape[0]))
            with judging(self, X):
                scores = engine.total(self._sent(X), self._score_bins, "calibrate").scores()
        else:
            Y, s = held_out_rows(X, y, sample_weight, int(self._targets.mean.shape[0]))
            totals = self._by_chunk(X, "calibrate", lambda part: tuple(self._totals(part)))
            parts = Parts(*totals)
            found = self._row_scores(self._errors(Y, parts), parts, s)
            if groups is not None:
                labels = labels_of_rows(groups, len(found.s))
                return self._guaranteed(Calibration("conformal", found.of_groups(labels), "groups"))
            scores = found.outputs()
        return self._guaranteed(Calibration("conformal", scores))

    def _guaranteed(self, calibration: Calibration) -> Self:
        """Take multipliers with a guarantee, which is for all values, those yet unseen as well."""
        if self._values is not None and self._range is not None:
            pairs = zip(self._values, self._range, strict=True)
            self._range = tuple(values_range(*pair) for pair in pairs)
        self._values, self.calibration_ = None, calibration
        return self

    def _errors(self, Y: Array, parts: Parts) -> Array:
        """Return the errors of standardised, transformed targets."""
        T = self.target_transform_.forward(self._in_domain(Y))
        centre, scale = (place(a, T) for a in (self._targets.mean, self._targets.scale))
        return (T - centre) / scale - double(parts.mean)

    def _in_domain(self, Y: Array) -> Array:
        """Return targets that a transform chosen by itself can take; others are at its end."""
        if not is_auto(self.target_transform) or isinstance(self.target_transform_, Identity):
            return Y
        assert self._support is not None
        end = place(self._support.bound_limits[0], Y) * double(self._targets.scale)
        least = self.target_transform_.inverse((end + double(self._targets.mean))[None, :])
        return namespace(Y).maximum(Y, place(least, Y))

    def _score_bins(self, rows: Chunk) -> ScoreBins:
        parts = self._totals(rows.X)
        variances = (parts.total, parts.above, parts.below)
        return score_bins(self._errors(rows.Y, parts), variances, rows.s)

    @staticmethod
    def _row_scores(e: Array, parts: Parts, s: Array | None) -> RowScores:
        """Divide errors e (n, m) by standard deviations, for every output."""
        s = namespace(e).ones_like(e[:, 0]) if s is None else s
        return row_scores(e, (parts.total, parts.above, parts.below), s)

    def _on_cluster(self, X: Any, y: Any, sample_weight: Any, client: Any = None) -> Rows:
        """Return labelled rows of Dask collections, or of a scan that workers read."""
        check_is_fitted(self)
        n_outputs = int(self._targets.mean.shape[0])
        if is_dask(X):
            check_collection(self, X, reset=False)
        else:
            refuse_beside_scan(y=y, sample_weight=sample_weight)
            check_targets(self, self._new_rows(X, "evaluate"), n_outputs)
        return held_out_on_cluster(spread(X, client), y, sample_weight, n_outputs, self.chunk_size)

    def _labelled_rows(self, X: Any, y: Any, sample_weight: Any) -> Any:
        """Return labelled rows of this machine, where they are worked on."""
        X = self._new_rows(X, "evaluate")
        n_outputs = int(self._targets.mean.shape[0])
        if isinstance(X, Scan):
            refuse_beside_scan(y=y, sample_weight=sample_weight)
            check_targets(self, X, n_outputs)
            return self._sent(X)
        Y, s = held_out_rows(X, y, sample_weight, n_outputs)
        size = check_chunk_size(self.chunk_size, DEFAULT_CHUNK_SIZE)
        return self._sent(ArrayRows(X, Y, s, size))

    def evaluate(
        self,
        X: Any,
        y: Any = None,
        sample_weight: Any = None,
        confidence_level: Any = 0.95,
        *,
        client: Any = None,
    ) -> Evaluation:
        """Return error, coverage, width and scores on rows that training did not see.

        Rows are arrays, Dask collections or a scan, of any number: memory does not grow with them.
        With a `client`, its workers read the files of a scan.
        """
        levels = check_levels(confidence_level)
        if is_dask(X) or client is not None:
            rows: Any = self._on_cluster(X, y, sample_weight, client)
        else:
            rows = self._labelled_rows(X, y, sample_weight)

        def chunk_map(chunk: Chunk) -> IntervalSums:
            parts = self._totals(chunk.X)
            mean, std = self._mean_in_units(parts, chunk.X), self._std(parts, chunk.X)
            xp = namespace(chunk.X)
            bounds = [
                xp.stack(self._bounds(parts, level, chunk.X), axis=2) for level in levels.values
            ]
            interval = xp.stack(bounds, axis=3)
            return interval_sums(chunk.Y, mean, std, interval, chunk.s, levels.values)

        with judging(self, X):
            return engine.total(rows, chunk_map, "evaluate").summary()

    def predict(
        self,
        X: Any,
        *,
        return_std: bool = False,
        confidence_level: Any = None,
        out: str | Path | None = None,
    ) -> Any:
        """Return the predicted mean of every row of an array or of a scan, (n,) or (n, m).

        With `return_std`, return ``(mean, std)``; with a `confidence_level`, return
        ``(mean, interval)``, which a `Pipeline` can pass through. With a `target_transform` half
        the width of the central 68.27 % interval stands for the std.
        A file name `out` streams the means to a .parquet, .npy, .h5, .csv or .arrow file.
        """
        if confidence_level is None and not return_std:
            return super().predict(X, out=out)
        if confidence_level is not None and return_std:
            raise ValueError("Ask predict for return_std or for a confidence_level, not for both.")
        if out is not None:
            raise ValueError("predict writes means only; predict_interval(out=) writes intervals.")
        if confidence_level is not None:
            levels = check_levels(confidence_level)
            mean, interval = self._tupled(X, "predict", lambda part: self._mean_and(part, levels))
            return mean, interval
        mean, std = self._tupled(X, "predict", self._mean_and_std)
        return mean, std

    def _mean_and(self, X: Array, levels: Levels) -> tuple[Array, ...]:
        parts = self._totals(X)
        return self._shaped(self._mean_in_units(parts, X)), self._interval(parts, levels, X)

    def _mean_and_std(self, X: Array) -> tuple[Array, ...]:
        parts = self._totals(X)
        return self._shaped(self._mean_in_units(parts, X)), self._shaped(self._std(parts, X))

    def _std(self, parts: Parts, X: Array) -> Array:
        """Return standard deviations in the units of y, (n, m)."""
        if not isinstance(self.target_transform_, Identity):
            return self._half_width(parts, X)
        std = namespace(X).sqrt(double(parts.total)) * self._per_output(self.calibration_.std, X)
        return self._scaled(std, X)

    def predict_interval(
        self,
        X: Any,
        confidence_level: Any = 0.95,
        *,
        out: str | Path | None = None,
        as_frame: bool = False,
    ) -> Any:
        """Return lower and upper bounds, (n, 2), or (n, m, 2) for m outputs.

        X is an array, a table or a scan. A list of k levels adds a last axis of length k. A Dask
        array gives another one, a Dask data frame a table, both computed when asked for. With
        `as_frame`, return mean, lower and upper bounds as a table of the library of X. A file name
        `out` streams the same to a .parquet, .npy, .h5, .csv or .arrow file, and returns its path.
        """
        levels = check_levels(confidence_level)

        def table(part: Array) -> Array:
            return self._table(part, levels)

        as_frame = as_frame or is_dask_frame(X)
        if out is None and not as_frame:
            return self._streamed(
                X,
                "predict_interval",
                lambda part: self._interval(self._totals(part), levels, part),
                [],
                None,
            )
        ends = [level_name(level) for level in levels.values]
        if len(set(ends)) < len(ends):
            raise ValueError("confidence_level names a level twice; columns need different names.")
        names = [f"{side}_{end}" for end in ends for side in ("lower", "upper")]
        columns = self._names("mean", *names)
        found = self._streamed(X, "predict_interval", table, columns, out)
        if out is not None or is_dask_frame(X):
            return found
        flat = found.reshape(found.shape[0], -1)
        return framed(dict(zip(columns, flat.T, strict=True)), X)

    def _table(self, X: Array, levels: Levels) -> Array:
        """Return mean and bounds side by side, (n, m, 1 + 2k)."""
        parts = self._totals(X)
        columns = [self._mean_in_units(parts, X)]
        for level in levels.values:
            columns += self._bounds(parts, level, X)
        return namespace(X).stack(columns, axis=2)

    def predict_quantiles(
        self, X: Any, quantiles: Any = (0.05, 0.5, 0.95), *, out: str | Path | None = None
    ) -> Any:
        """Return quantiles of every row, (n, k), or (n, m, k) for m outputs; they never cross.

        A single quantile gives (n,) or (n, m). The median of symmetric noise is what `predict`
        returns, or lies below it with a `target_transform`; where `symmetric_` is False it has half
        of the targets on either side. Where bounds are among `target_values_` so are quantiles.
        A file name `out` streams them to a .parquet, .npy, .h5, .csv or .arrow file.
        """
        levels = check_levels(quantiles, "quantiles")

        def block(part: Array) -> Array:
            parts = self._totals(part)
            columns = [
                self._bounds(parts, abs(2 * q - 1), part)[int(q > 0.5)] for q in levels.values
            ]
            values = namespace(part).stack(columns, axis=-1)
            values = values[..., 0] if levels.single else values
            return values[:, 0, ...] if self._single_output else values

        columns = self._names(*(f"quantile_{level_name(q)}" for q in levels.values))
        return self._streamed(X, "predict_quantiles", block, columns, out)

    def predict_variance(self, X: Any, confidence_level: float = 0.95) -> VarianceParts:
        """Return the variance in named parts, each (n,) or (n, m).

        `confidence_level` is that of the bounds of the noise variance. With a `target_transform`
        parts are those of transformed targets; intervals and `return_std` are in units of y.
        """
        levels = check_levels(confidence_level)
        if not levels.single:
            raise ValueError("predict_variance takes a single confidence_level.")
        z = two_sided(levels.values[0])

        def block(part: Array) -> tuple[Array, ...]:
            parts, unit = self._parts(part, z), double(self._targets.scale)
            chosen = (getattr(parts, name) for name in VarianceParts._fields)
            return tuple(self._shaped(self._scaled(v * unit, part)) for v in chosen)

        return VarianceParts(*self._tupled(X, "predict_variance", block))

    def _interval(self, parts: Parts, levels: Levels, X: Array) -> Array:
        """Return bounds (n, m, 2, k), without the axes that nobody asked for."""
        xp = namespace(X)
        columns = [xp.stack(self._bounds(parts, level, X), axis=2) for level in levels.values]
        bounds = columns[0] if levels.single else xp.stack(columns, axis=3)
        return bounds[:, 0, ...] if self._single_output else bounds

    def _bounds(self, parts: Parts, level: float, X: Array) -> list[Array]:
        """Return both bounds of the central interval at `level`, in the units of y, each (n, m)."""
        calibration, outputs = self.calibration_, range(int(self._targets.mean.shape[0]))
        if level == 0 and (self._alike or calibration.kind == "gaussian"):
            return [self._among_values(self._in_units(parts.mean, X), 0)] * 2
        if self._alike:
            pairs = [(calibration.symmetric(level, j),) * 2 for j in outputs]
            below, above = parts.total, parts.total
        else:
            pairs = [calibration.tails(level, j) for j in outputs]
            below, above = parts.below, parts.above
        z = place(pairs, X, namespace(X).float64)
        # A median is a single number even where nothing is known of the noise.
        ends = (-math.inf, math.inf) if level else (double(parts.mean),) * 2
        lower = _bound(parts.mean, -z[:, 0], below, above, ends[0])
        upper = _bound(parts.mean, z[:, 1], below, above, ends[1])
        sides = (-1, 1) if level else (0, 0)
        return [
            self._among_values(self._in_units(bound, X), side)
            for bound, side in zip((lower, upper), sides, strict=True)
        ]

    def _among_values(self, bound: Array, side: int) -> Array:
        """Return bounds (n, m) of a side, those of targets that take few values among these."""
        return bound if self._values is None else nearest_values(bound, self._values, side)

    @property
    def target_values_(self) -> Any:
        """The values that bounds are among, None where any number may be one."""
        check_is_fitted(self)
        if self._values is None:
            return None if self._single_output else (None,) * int(self._targets.mean.shape[0])
        found = tuple(values or None for values in self._values)
        return found[0] if self._single_output else found

    def _half_width(self, parts: Parts, X: Array) -> Array:
        """Return what one standard deviation is where bounds are not alike, (n, m)."""
        xp = namespace(X)
        low, high = self._bounds(parts, _ONE_DEVIATION, X)
        # Both bounds may lie at the same infinite end of the range.
        low = xp.where(xp.isinf(high), 0.0, low)
        return xp.abs(high - low) / 2

    def _per_output(self, function: Any, X: Array) -> Array:
        """Return a number for every output as an array (m,)."""
        values = [function(j) for j in range(int(self._targets.mean.shape[0]))]
        return place(values, X, namespace(X).float64)

    def _scaled(self, std: Array, X: Array) -> Array:
        """Return standardised deviations in the units of y."""
        return cast(double(std) * double(self._targets.scale), self._result_dtype(X))


def _bound(mean: Array, z: Array, below: Array, above: Array, end: Any) -> Array:
    """Return the mean and z (m,) deviations of the side they go to, `end` where that is unknown."""
    xp = namespace(mean)
    std = xp.sqrt(double(xp.where(z < 0, below, above)))
    bound = double(mean) + z * std
    # Where mean and variance are both too large for a number, anything may happen.
    return xp.where(xp.isinf(std) | xp.isnan(bound), end, bound)
