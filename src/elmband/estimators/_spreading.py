"""Answers of interval models and of classifiers that abstain, to rows on a cluster as well."""

from pathlib import Path
from typing import Any, Self

from elmband.engines.engine import total
from elmband.estimators._clusters import is_dask, refuse_on_cluster, spread
from elmband.estimators._distributed_predict import lazy_answers, written_elsewhere
from elmband.estimators._interval_triage import NarrowAnswers
from elmband.estimators._scans import judging
from elmband.estimators._selective_predict import Deciding
from elmband.estimators._written import written_here
from elmband.metrics.decided import SelectiveEvaluation
from elmband.uncertainty.calibrate import Calibration


class SpreadIntervals(NarrowAnswers):
    """Answers of `ELMIntervalRegressor`.

    With a `client` of workers, a `distributed.Client` or any `concurrent.futures.Executor`, X is a
    scan whose files they read, and `out` is a folder that they write Parquet files to.
    """

    def calibrate(
        self,
        X: Any,
        y: Any = None,
        sample_weight: Any = None,
        groups: Any = None,
        *,
        client: Any = None,
    ) -> Self:
        """Replace the multipliers by those of split conformal prediction on held-out rows.

        If these rows and new rows are exchangeable and training did not see either, an interval
        at `confidence_level` covers a new target with at least that probability. With n rows the
        level can be at most n / (n + 1); beyond, intervals are infinite and a warning says so.
        A `target_transform` changes nothing in that: bounds mapped back cover the same targets.
        The scores of a scan or of Dask collections are counted in bins of 0.25 %, upwards, which
        keeps the guarantee. With a `client`, its workers read the files of a scan.

        Only ratios of `sample_weight` matter: rows count as their effective number (Σs)² / Σs²,
        and rows of weight zero not at all. With `groups`, one label for each row of an array or
        table, the guarantee is for a row of a new group, drawn like these: each group counts
        once, shared by its rows, and with K groups the level can be at most K / (K + 1).
        """
        if client is None:
            return super().calibrate(X, y, sample_weight, groups)
        refuse_on_cluster(groups=groups)
        rows = self._on_cluster(X, y, sample_weight, client)
        with judging(self, X):
            scores = total(rows, self._score_bins, "calibrate").scores()
        return self._guaranteed(Calibration("conformal", scores))

    def predict(
        self,
        X: Any,
        *,
        return_std: bool = False,
        confidence_level: Any = None,
        out: str | Path | None = None,
        client: Any = None,
    ) -> Any:
        """Return the predicted mean of every row of an array or of a scan, (n,) or (n, m).

        With `return_std`, return ``(mean, std)``; with a `confidence_level`, return
        ``(mean, interval)``, which a `Pipeline` can pass through. With a `target_transform` half
        the width of the central 68.27 % interval stands for the std.
        A file name `out` streams the means to a .parquet, .npy, .h5, .csv or .arrow file. A Dask
        collection gives others, computed when asked for. With a `client`, its workers read the
        files of a scan and write all that is asked for to a folder `out` of Parquet files.
        """
        options = {"return_std": return_std, "confidence_level": confidence_level}
        if client is not None:
            return written_elsewhere(self, X, client, out, "predict", options)
        if is_dask(X) and out is None and (return_std or confidence_level is not None):
            return lazy_answers(self, X, "predict", options)
        return super().predict(X, **options, out=out)

    def predict_interval(
        self,
        X: Any,
        confidence_level: Any = 0.95,
        *,
        out: str | Path | None = None,
        as_frame: bool = False,
        client: Any = None,
    ) -> Any:
        """Return lower and upper bounds, (n, 2), or (n, m, 2) for m outputs.

        X is an array, a table or a scan. A list of k levels adds a last axis of length k. A Dask
        array gives another one, a Dask data frame a table, both computed when asked for. With
        `as_frame`, return mean, lower and upper bounds as a table of the library of X. A file name
        `out` streams the same to a .parquet, .npy, .h5, .csv or .arrow file, and returns its path.
        With a `client`, its workers read the files of a scan and write the same to a folder `out`
        of Parquet files.
        """
        if client is not None:
            options = {"confidence_level": confidence_level}
            return written_elsewhere(self, X, client, out, "predict", options)
        return super().predict_interval(X, confidence_level, out=out, as_frame=as_frame)

    def predict_quantiles(
        self,
        X: Any,
        quantiles: Any = (0.05, 0.5, 0.95),
        *,
        out: str | Path | None = None,
        client: Any = None,
    ) -> Any:
        """Return quantiles of every row, (n, k), or (n, m, k) for m outputs; they never cross.

        A single quantile gives (n,) or (n, m). The median of symmetric noise is what `predict`
        returns; where `symmetric_` is False it has half of the targets on either side. A file name
        `out` streams them to a .parquet, .npy, .h5, .csv or .arrow file. With a `client`, its
        workers read the files of a scan and write to a folder `out` of Parquet files.
        """
        if client is not None:
            options = {"quantiles": quantiles}
            return written_elsewhere(self, X, client, out, "predict_quantiles", options)
        return super().predict_quantiles(X, quantiles, out=out)

    def predict_variance(
        self,
        X: Any,
        confidence_level: float = 0.95,
        *,
        out: str | Path | None = None,
        client: Any = None,
    ) -> Any:
        """Return the variance in named parts, each (n,) or (n, m).

        `confidence_level` is that of the bounds of the noise variance. With a `target_transform`
        parts are those of transformed targets; intervals and `return_std` are in units of y. A
        Dask array gives parts that are Dask arrays, a Dask data frame a table. A file name `out`
        streams them to a .parquet, .npy, .h5, .csv or .arrow file. With a `client`, its workers
        read the files of a scan and write to a folder `out` of Parquet files.
        """
        options = {"confidence_level": confidence_level}
        if client is not None:
            return written_elsewhere(self, X, client, out, "predict_variance", options)
        if out is not None:
            return written_here(self, X, out, "predict_variance", options)
        if is_dask(X):
            return lazy_answers(self, X, "predict_variance", options)
        return super().predict_variance(X, confidence_level)

    def accept(
        self,
        X: Any,
        *,
        max_width: Any,
        confidence_level: float = 0.95,
        out: str | Path | None = None,
        client: Any = None,
    ) -> Any:
        """Return which rows have an interval of at most `max_width`, (n,) of bool.

        With several outputs all intervals must be as narrow; `max_width` may then be a list. A
        file name `out` streams the result to a .parquet, .npy, .h5, .csv or .arrow file. With a
        `client`, its workers read the files of a scan and write to a folder `out` of Parquet files.
        """
        options = {"max_width": max_width, "confidence_level": confidence_level}
        if client is not None:
            return written_elsewhere(self, X, client, out, "accept", options)
        return super().accept(X, **options, out=out)

    def triage(
        self,
        X: Any,
        *,
        max_width: Any,
        confidence_level: float = 0.95,
        as_frame: bool = False,
        out: str | Path | None = None,
        client: Any = None,
    ) -> Any:
        """Return predictions, which of them are accepted, and why the others are not.

        It is an `IntervalTriage`, or with `as_frame` a table of the library of X. A Dask array
        gives one of Dask arrays, a Dask data frame a table. A file name `out` streams the table to
        a .parquet, .csv or .arrow file, or numbers to a .npy or .h5 file, with the reason as its
        place: 0 accepted, 1 noisy here, 2 unlike training rows. With a `client`, its workers read
        the files of a scan and write the table to a folder `out` of Parquet files.
        """
        options = {"max_width": max_width, "confidence_level": confidence_level}
        if client is not None:
            return written_elsewhere(self, X, client, out, "triage", options)
        if out is not None:
            return written_here(self, X, out, "triage", options)
        if is_dask(X):
            return lazy_answers(self, X, "triage", options)
        return super().triage(X, **options, as_frame=as_frame)


class SpreadDecisions(Deciding):
    """Answers of `ELMSelectiveClassifier`; see `SpreadIntervals` for a `client`."""

    def confidence(self, X: Any, *, out: str | Path | None = None, client: Any = None) -> Any:
        """Return how certain every row is by the rule `rank_by`, larger for more certain rows.

        A file name `out` streams it to a .parquet, .npy, .h5, .csv or .arrow file. With a
        `client`, its workers read the files of a scan and write to a folder `out` of Parquet files.
        """
        if client is not None:
            return written_elsewhere(self, X, client, out, "confidence", {})
        return super().confidence(X, out=out)

    def accept(self, X: Any, *, out: str | Path | None = None, client: Any = None) -> Any:
        """Return which rows are answered, (n,) of bool.

        A file name `out` streams it to a .parquet, .npy, .h5, .csv or .arrow file. With a
        `client`, its workers read the files of a scan and write to a folder `out` of Parquet files.
        """
        if client is not None:
            return written_elsewhere(self, X, client, out, "accept", {})
        return super().accept(X, out=out)

    def triage(
        self,
        X: Any,
        *,
        as_frame: bool = False,
        out: str | Path | None = None,
        client: Any = None,
    ) -> Any:
        """Return labels, which of them are accepted, how certain they are, and the reasons.

        It is a `Triage` of NumPy arrays, or with `as_frame` a table of the library of X. A file
        name `out` streams the table to a .parquet, .csv or .arrow file, or numbers to a .npy or
        .h5 file, with the reason as its place: 0 accepted, 1 between classes, 2 noisy here,
        3 unlike training rows.

        A Dask array gives a `Triage` of Dask arrays, a Dask data frame a table. With a `client`,
        its workers read the files of a scan and write the table, reasons in words, to a folder
        `out` of Parquet files.
        """
        if client is not None:
            return written_elsewhere(self, X, client, out, "triage", {})
        if out is not None:
            return written_here(self, X, out, "triage", {})
        if is_dask(X):
            return lazy_answers(self, X, "triage", {})
        return super().triage(X, as_frame=as_frame)

    def evaluate(
        self, X: Any, y: Any = None, sample_weight: Any = None, *, client: Any = None
    ) -> SelectiveEvaluation:
        """Return shares answered and wrong on rows that training did not see.

        Rows are arrays, Dask collections or a scan, of any number: memory does not grow with them.
        With a `client`, its workers read the files of a scan.
        """
        return super().evaluate(spread(X, client), y, sample_weight)
