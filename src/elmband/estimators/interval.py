"""The interval model: every prediction with its own interval."""

from dataclasses import KW_ONLY, dataclass
from pathlib import Path
from typing import Any, Literal, Self

from elmband.estimators._evaluate import calibrated, evaluated
from elmband.estimators._fit_layer import fit_published
from elmband.estimators._fit_stack import fit_log_variance
from elmband.estimators._model import ELMModel
from elmband.estimators._more_rows import check_one_noise_layer, refreshed, with_old_noise
from elmband.estimators._open_rows import Opened
from elmband.estimators._parameters import Settings
from elmband.estimators._sklearn import MultiOutputMixin, RegressorMixin
from elmband.estimators.ask import ask
from elmband.layers.neurons import NeuronCounts
from elmband.layers.output_layer import AlphaRule
from elmband.metrics.evaluation import Evaluation
from elmband.models import intervals
from elmband.models.fitted import Fitted
from elmband.models.grown import Grown
from elmband.sums.rows import Rows
from elmband.uncertainty.fit_predictive import Symmetric
from elmband.uncertainty.mean import MeanModel


@dataclass(eq=False, repr=False)
class ELMIntervalRegressor(MultiOutputMixin, RegressorMixin, ELMModel):
    """Extreme Learning Machine whose every prediction carries its own interval.

    A first model predicts the mean, a second one the variance of the noise, from residuals of the
    first. The weighted jackknife gives the variance of the predictions themselves, and

        PI(x) = ŷ(x) ± z · sqrt(noise(x) + σ_r²(x) + σ_y²(x)).

    By default the mean is a stack of layers chosen by leave-one-out, the noise model is linear in
    the logarithm of the variance, and z comes from residuals of training rows left out: an
    estimate that needs no held-out rows. `calibrate` replaces it by a guarantee from held-out
    rows.

    ``ELMIntervalRegressor(noise="squared", calibration="gaussian")`` is the algorithm of Akusok,
    Miche, Björk and Lendasse, "Per-sample Prediction Intervals for Extreme Learning Machines", on
    standardised targets. Standardising matters: its σ_r² has the unit of y⁴, the other two of y².

    Parameters
    ----------
    n_neurons, activation, bias, density, weight_scale, alpha, n_estimators, \
learning_rounds, max_neurons, local_layers, selection, \
target_range, precision, chunk_size, device, random_state, verbose
        As for `ELMRegressor`. With ``noise="squared"``, "auto" means 200 neurons in one layer, and
        no range is looked for.
    target_transform : "auto", None, str or tuple, default="auto"
        As for `ELMRegressor`, but "auto" chooses one: where one target a row is never negative and
        skewed, a root and a logarithm are tried on at most 1,500 rows, and the best is taken if it
        lowers the interval score of rows left out by 2 % or more. It is for rows in memory, with
        ``noise="log"`` and not with ``symmetric=False``; a scan, `partial_fit` and `merge` have
        none.
    noise : {"log", "squared"}, default="log"
        The noise model: log-variance, always positive; or least squares on squared residuals, as
        published.
    calibration : {"loo", "gaussian"}, default="loo"
        Where the multiplier z comes from: training rows left out in closed form, or the normal
        distribution, as published.
    symmetric : "auto" or bool, default="auto"
        Whether both tails of the noise are alike. If not, each has its own noise model and its
        own multiplier (``noise="log"`` only), and quantiles follow the noise past the mean. With
        "auto" they are told apart where that narrows 90 % intervals of rows left out, for all
        outputs or none; `symmetric_` tells. Where ``calibration="gaussian"`` or
        ``noise="squared"``, "auto" means alike.
    noise_neurons : int or dict, default=None
        Neurons of the noise model. By default the published model shares the hidden layer of the
        mean model (with a `selection` it has one like it); the log model takes the inputs, the
        predicted mean and 100 to 400 tanh neurons, more of them for more rows. From 300 rows on
        rows left out choose how steep they are, and which directions they look at.
    covariance : {"jackknife", "wild"}, default="jackknife"
        Published model: covariance of the output weights by the weighted jackknife, or by the
        wild bootstrap, a slower second opinion.
    mode : {"auto", "exact", "fast"}, default="auto"
        Log model: variances of the mean are sums of squares in float32 unless "exact" asks for
        float64, which takes twice the time and four times the bytes; `width_error_` tells what that
        changes. "auto" is exact where that were more than 1e-4 of widths, as with inputs that are
        nearly copies of each other and ``alpha=0``. It takes covariances from a sample. Published
        model: "fast" takes them from a sample of at least 8,192 rows and a factor of low rank, for
        about 1.7 times the time of the mean alone; `mode_error_` tells what that changes in widths.
        "auto" is exact there.
    noise_alpha : float, "auto", "loo" or "gcv", default=None
        L2 strength of the noise model; by default chosen by leave-one-out, for the published
        model by the same rule (or number) as `alpha`.

    Attributes
    ----------
    feature_relevance_, column_relevance_, relevant_directions_
        As for `ELMRegressor`, of the mean and, with ``noise="log"``, of the noise apart.
    members_, member_weights_, local_layers_, target_transform_, target_range_, \
training_histograms_, n_features_in_, feature_names_in_, target_name_
        As for `ELMRegressor`.
    hidden_, coef_, alpha_ : published model
        As for a single layer of `ELMRegressor`.
    covariance_ : array of shape (L, L) or (n_outputs, L, L)
        Published model: covariance Σ_y of the output weights, for standardised targets.
    noise_hidden_, noise_coef_, noise_alpha_, noise_covariance_
        Published model: the same for the noise model.
    mode_error_ : float
        Published model: root mean square of the relative change of widths that ``mode="fast"``
        makes, estimated on sampled rows; 0 if exact. Rows whose noise is clipped to zero may
        change more.
    width_error_ : tuple of float
        Log model: what variances of the mean in float32 change in widths, as a share of them: in
        half and in 99 % of up to 250 training rows. Zeros where they are exact.
    calibration_ : Calibration
        The multipliers in use.
    symmetric_ : bool
        Whether both tails of the noise are alike.
    target_values_ : tuple of float, None, or one for each output
        The values that bounds are among. Where targets take at most 64, as ratings do, bounds move
        to the nearest one if that makes the score of 90 % intervals of rows left out better by
        10 %: such intervals are often a single value, and cover more than they say. A least or
        greatest value of at least 2 % of the rows ends the `target_range_` then. Of other targets
        whose range ends at the least of few values, as counts that may be zero, these are the two
        lowest, if that makes the score no worse: bounds near them move there. None where
        bounds may be any number, as with ``target_range=None`` or ``target_transform=None``, and
        after `calibrate`.
    reweighted_ : bool
        Whether the mean was trained again with weights 1 / variance of the noise. That is tried
        where noise differs much between rows (``n_neurons="auto"``, ``noise="log"``), and kept if
        90 % intervals of rows left out get better by 2 %.

    Examples
    --------
    >>> from elmband import ELMIntervalRegressor
    >>> from elmband.datasets import make_heteroscedastic
    >>> data = make_heteroscedastic(500, random_state=0)
    >>> model = ELMIntervalRegressor(random_state=0).fit(data.X, data.y)
    >>> model.predict_interval(data.X[:3], confidence_level=0.9).shape
    (3, 2)
    >>> mean, std = model.predict(data.X[:3], return_std=True)
    >>> model.predict_quantiles(data.X[:3], quantiles=[0.05, 0.5, 0.95]).shape
    (3, 3)
    """

    # With metadata routing on, a Pipeline hands these to predict without being told.
    __metadata_request__predict = {"confidence_level": True, "return_std": True}  # noqa: RUF012

    _: KW_ONLY
    noise: Literal["log", "squared"] = "log"
    calibration: Literal["loo", "gaussian"] = "loo"
    symmetric: Symmetric = "auto"
    noise_neurons: NeuronCounts | None = None
    noise_alpha: AlphaRule | None = None
    covariance: Literal["jackknife", "wild"] = "jackknife"
    mode: Literal["auto", "exact", "fast"] = "auto"

    def _learned(self, opened: Opened, settings: Settings) -> Fitted:
        fit = fit_published if settings.single_layer else fit_log_variance
        return fit(self, opened, settings)[0]

    def _may_grow(self) -> bool:
        """Tell that rows can be added to the model, or why they cannot."""
        check_one_noise_layer(self)
        return super()._may_grow()

    def _regrown(self, fitted: Fitted, before: Grown | None, rows: Rows, mean: MeanModel) -> Fitted:
        """Return a model to whose mean `rows` were added; its noise is older."""
        return with_old_noise(self, fitted, before, rows, mean)

    def refresh(self, X: Any = None, y: Any = None, sample_weight: Any = None) -> Self:
        """Bring noise, covariances and multipliers up to date after `partial_fit` or `merge`.

        They need a pass over all rows that the mean was trained on, arrays or a scan. With
        ``mode="fast"`` and no rows given, a sample of them that was kept is used instead;
        `mode_error_` tells what that changes.
        """
        self.fitted_, _ = refreshed(self, X, y, sample_weight)
        return self

    @property
    def target_values_(self) -> Any:
        """The values that bounds are among, None where any number may be one."""
        targets = self._of("target_values_").targets
        found = targets.values or ((),) * targets.count
        return targets.per_output([values or None for values in found])

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
        self.fitted_ = calibrated(self, X, y, sample_weight, groups, client)
        return self

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
        return evaluated(self, X, y, sample_weight, confidence_level, client)

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
        if confidence_level is None and not return_std:
            return ask(self, X, intervals.mean_question(), out, client)
        if confidence_level is not None and return_std:
            raise ValueError("Ask predict for return_std or for a confidence_level, not for both.")
        if out is not None and client is None:
            raise ValueError("predict writes means only; predict_interval(out=) writes intervals.")
        if return_std:
            return ask(self, X, intervals.deviation_question(), out, client)
        question = intervals.interval_question(confidence_level, with_mean=True)
        return ask(self, X, question, out, client)

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
        question = intervals.interval_question(confidence_level)
        return ask(self, X, question, out, client, as_frame=as_frame)

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
        return ask(self, X, intervals.quantile_question(quantiles), out, client)

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
        return ask(self, X, intervals.variance_question(confidence_level), out, client)

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
        question = intervals.width_question(max_width, confidence_level)
        return ask(self, X, question, out, client)

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
        question = intervals.triage_question(max_width, confidence_level)
        return ask(self, X, question, out, client, as_frame=as_frame)
