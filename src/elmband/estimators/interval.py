"""The interval model: mean, noise, their uncertainty, and multipliers that keep the promise."""

import math
from collections.abc import Callable, Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal, Self

from elmband import engine
from elmband._arrays import Array, Precision, cast, double, namespace, place
from elmband.calibrate import (
    Calibration,
    OutputScores,
    ScoreBins,
    output_scores,
    score_bins,
    two_sided,
)
from elmband.estimators._scans import check_targets, followed, refuse_beside_scan
from elmband.estimators._updates import check_same_rows
from elmband.estimators._validate import (
    Levels,
    check_alpha,
    check_choice,
    check_chunk_size,
    check_levels,
    held_out_rows,
)
from elmband.estimators._variance import VarianceParts
from elmband.estimators.point import SINGLE_LAYER_NEURONS, ELMRegressor
from elmband.hidden import FeatureMap, HiddenLayer, LayerSpec
from elmband.mean import MeanModel, SelectionMethod, draw_hidden
from elmband.metrics.evaluation import Evaluation
from elmband.metrics.streaming import IntervalSums, interval_sums
from elmband.moments import Chunk
from elmband.neurons import Kind, NeuronCounts
from elmband.noise.parts import Parts
from elmband.noise.squared import SquaredNoise
from elmband.output_layer import AlphaRule
from elmband.predictive import NoiseSettings, Predictive, fit_predictive
from elmband.progress import Verbose
from elmband.rows import DEFAULT_CHUNK_SIZE, ArrayRows, Rows
from elmband.select import keep
from elmband.stream import Scan
from elmband.transform import Identity, TransformChoice

# The default layer of the log-variance: every input and the predicted mean, and smooth neurons.
_NOISE_NEURONS = 100
_NOISE_SCALE = 0.5
# The share of a normal distribution within one standard deviation, 68.27 %.
_ONE_DEVIATION = math.erf(math.sqrt(0.5))


class ELMIntervalRegressor(ELMRegressor):
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
    n_neurons, activation, bias, density, weight_scale, alpha, n_estimators, selection, \
target_transform, \
precision, chunk_size, random_state, verbose
        As for `ELMRegressor`. With ``noise="squared"``, "auto" means 200 neurons in one layer.
    noise : {"log", "squared"}, default="log"
        The noise model: log-variance, always positive; or least squares on squared residuals, as
        published.
    calibration : {"loo", "gaussian"}, default="loo"
        Where the multiplier z comes from: training rows left out in closed form, or the normal
        distribution, as published.
    symmetric : bool, default=True
        Whether both tails of the noise are alike. If not, each has its own noise model and its
        own multiplier (``noise="log"`` only).
    noise_neurons : int or dict, default=None
        Neurons of the noise model. By default the published model shares the hidden layer of the
        mean model (with a `selection` it has one like it); the log model takes the inputs, the
        predicted mean and 100 tanh neurons.
    covariance : {"jackknife", "wild"}, default="jackknife"
        Published model: covariance of the output weights by the weighted jackknife, or by the
        wild bootstrap, a slower second opinion.
    mode : {"exact", "fast"}, default="exact"
        Published model: "fast" takes covariances from a sample of at least 8,192 rows and a factor
        of low rank, for about 1.7 times the time of the mean alone; `mode_error_` tells what that
        changes in widths. The log model always takes them from a sample.
    noise_alpha : float, "auto", "loo" or "gcv", default=None
        L2 strength of the noise model; by default chosen by leave-one-out, for the published
        model by the same rule (or number) as `alpha`.

    Attributes
    ----------
    members_, member_weights_, target_transform_, n_features_in_, feature_names_in_
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
    calibration_ : Calibration
        The multipliers in use.

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

    def __init__(
        self,
        n_neurons: NeuronCounts | Literal["auto"] = "auto",
        *,
        activation: Kind = "tanh",
        bias: bool = True,
        density: float = 1.0,
        weight_scale: float = 1.0,
        alpha: AlphaRule = "auto",
        noise: Literal["log", "squared"] = "log",
        calibration: Literal["loo", "gaussian"] = "loo",
        symmetric: bool = True,
        noise_neurons: NeuronCounts | None = None,
        noise_alpha: AlphaRule | None = None,
        covariance: Literal["jackknife", "wild"] = "jackknife",
        mode: Literal["exact", "fast"] = "exact",
        n_estimators: int | None = None,
        selection: SelectionMethod | None = None,
        target_transform: TransformChoice = None,
        precision: Precision = "auto",
        chunk_size: int | None = None,
        random_state: Any = None,
        verbose: Verbose = "auto",
    ) -> None:
        super().__init__(
            n_neurons,
            activation=activation,
            bias=bias,
            density=density,
            weight_scale=weight_scale,
            alpha=alpha,
            n_estimators=n_estimators,
            selection=selection,
            target_transform=target_transform,
            precision=precision,
            chunk_size=chunk_size,
            random_state=random_state,
            verbose=verbose,
        )
        self.noise = noise
        self.calibration = calibration
        self.symmetric = symmetric
        self.noise_neurons = noise_neurons
        self.noise_alpha = noise_alpha
        self.covariance = covariance
        self.mode = mode

    def _fit(self, X: Any, y: Any, sample_weight: Any, groups: Any) -> None:
        check_choice(self.noise, ("log", "squared"), "noise")
        check_choice(self.calibration, ("loo", "gaussian"), "calibration")
        check_choice(self.covariance, ("jackknife", "wild"), "covariance")
        check_choice(self.mode, ("exact", "fast"), "mode")
        rule = check_alpha(self.alpha)
        noise_rule = (
            None if self.noise_alpha is None else check_alpha(self.noise_alpha, "noise_alpha")
        )
        if self.noise == "squared":
            self._fit_squared(X, y, sample_weight, groups, rule, noise_rule)
        else:
            self._fit_log(X, y, sample_weight, groups, rule, noise_rule)

    def _fit_squared(
        self, X: Any, y: Any, weight: Any, groups: Any, rule: AlphaRule, noise_rule: Any
    ) -> None:
        """Run the published algorithm."""
        if groups is not None or not self.symmetric or (self.n_estimators or 1) > 1:
            raise ValueError(
                "groups, symmetric=False and n_estimators need noise='log'; the published noise "
                "model has one layer and leaves out single rows."
            )
        special = (self.noise_neurons, self.selection) != (None, None)
        if self.mode == "fast" and (special or self.covariance != "jackknife"):
            raise ValueError(
                "mode='fast' has one hidden layer for both models and the jackknife: leave "
                "noise_neurons, selection and covariance as they are."
            )
        specs = self._specs() or [self._layer_spec(SINGLE_LAYER_NEURONS)]
        rows, _ = self._training(X, y, weight, None)
        mean = self._fit_layer(rows, specs[0], rule)
        self._fit_second(mean, rule if noise_rule is None else noise_rule)

    def _fit_second(self, mean: MeanModel, rule: AlphaRule, sample: Chunk | None = None) -> None:
        """Go on from the mean: noise, covariances and multipliers, or all from a sample of rows."""
        self.noise_hidden_, features = self._noise_layer(mean)
        if sample is None:
            fitted = self._fit_noise(mean, features, rule)
        else:
            fitted = SquaredNoise.from_sample(mean, rule, sample)
        self.mode_error_ = fitted.error
        if fitted.selection is not None:
            self.noise_hidden_ = keep(self.noise_hidden_, fitted.selection.neurons)
        self._noise: SquaredNoise | None = fitted.without_rows()
        self._predictive: Predictive | None = None
        covariances = fitted.mean_covariance, fitted.noise_covariance
        if self._single_output:
            covariances = covariances[0][0, ...], covariances[1][0, ...]
        self.covariance_, self.noise_covariance_ = covariances
        self.noise_coef_ = self._shaped(fitted.layer.coef)
        self.noise_alpha_ = self._shaped(fitted.layer.alpha)
        scores: tuple[OutputScores, ...] = ()
        if self.calibration == "loo":
            rows = mean.rows if sample is None else ArrayRows(*sample)
            scores = fitted.scores(replace(mean, rows=rows))
        self.calibration_ = Calibration(self.calibration, scores)
        self._stale = False

    def _fit_noise(
        self, mean: MeanModel, features: FeatureMap | None, rule: AlphaRule
    ) -> SquaredNoise:
        if self.mode == "fast":
            return SquaredNoise.fit_fast(mean, rule, self._seed)
        return SquaredNoise.fit(
            mean,
            features,
            rule,
            selection=self.selection,
            covariance=self.covariance,
            seed=self._seed,
        )

    def _fit_log(
        self, X: Any, y: Any, weight: Any, groups: Any, rule: AlphaRule, noise_rule: Any
    ) -> None:
        """Fit a stack, a log-variance on top, and scores of rows left out."""
        if isinstance(noise_rule, str) and noise_rule != "loo":
            raise ValueError("noise_alpha must be a number or 'loo' where noise='log'.")
        if self.selection is not None or self.covariance != "jackknife":
            raise ValueError("selection and covariance='wild' need noise='squared'.")
        specs = self._specs()
        rows, labels = self._training(X, y, weight, groups)
        settings = NoiseSettings(
            spec=self._log_spec(int(rows.like.shape[1])),
            alpha=noise_rule if isinstance(noise_rule, float) else None,
            symmetric=bool(self.symmetric),
        )
        pool, stack = self._fit_stack(rows, labels, specs, rule)
        fitted = fit_predictive(pool, stack, settings)
        self._set_stack(fitted.predictive.stack)
        self._predictive, self._noise = fitted.predictive, None
        self._stale = False
        self.calibration_ = Calibration(self.calibration, fitted.scores)

    def _log_spec(self, n_features: int) -> LayerSpec:
        if self.noise_neurons is not None:
            return self._layer_spec(self.noise_neurons)
        # One more input than X has: the predicted mean.
        mix = {"linear": n_features + 1, "tanh": _NOISE_NEURONS}
        return LayerSpec.parse(mix, weight_scale=_NOISE_SCALE)

    def _may_grow(self) -> bool:
        if self.noise != "squared":
            raise AttributeError("partial_fit needs noise='squared', the published noise model.")
        if self.noise_neurons is not None or self.covariance != "jackknife":
            raise AttributeError(
                "partial_fit has one hidden layer for both models and the jackknife: leave "
                "noise_neurons and covariance as they are."
            )
        return super()._may_grow()

    def _grow(self, rows: Rows, rule: AlphaRule) -> MeanModel:
        self._stale = True
        return super()._grow(rows, rule)

    def refresh(self, X: Any = None, y: Any = None, sample_weight: Any = None) -> Self:
        """Bring noise, covariances and multipliers up to date after `partial_fit` or `merge`.

        They need a pass over all rows that the mean was trained on, arrays or a scan. With
        ``mode="fast"`` and no rows given, a sample of them that was kept is used instead;
        `mode_error_` tells what that changes.
        """
        grown = self._grown
        if grown is None or grown.sums is None:
            raise ValueError("refresh is for models that partial_fit or merge has changed.")
        rule = check_alpha(self.alpha)
        noise_rule = rule if self.noise_alpha is None else check_alpha(self.noise_alpha)
        if X is None:
            if self.mode != "fast" or grown.sample is None:
                raise ValueError(
                    "refresh needs the rows that the mean was trained on: refresh(X, y); only "
                    "mode='fast' with partial_fit from the first row on keeps a sample of them."
                )
            self._fit_second(grown.mean_model(self._no_rows(), rule), noise_rule, grown.sample.rows)
            return self
        with followed(self, X, None):
            rows = self._more_rows(X, y, sample_weight).scaled(grown.targets, self._dtype)
            check_same_rows(rows, grown.sums.n)
            self._fit_second(grown.mean_model(rows, rule), noise_rule)
        return self

    def _check_fresh(self) -> None:
        if getattr(self, "_stale", False):
            raise ValueError(
                "Noise, covariance and calibration are older than the mean, to which rows were "
                "added; call refresh with all of them."
            )

    def calibrate(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Replace the multipliers by those of split conformal prediction on held-out rows.

        If these rows and new rows are exchangeable and training did not see either, an interval
        at `confidence_level` covers a new target with at least that probability. With n rows the
        level can be at most n / (n + 1); beyond, intervals are infinite and a warning says so.
        A `target_transform` changes nothing in that: bounds mapped back cover the same targets.
        The scores of a scan are counted in bins of 0.25 %, upwards, which keeps the guarantee.
        """
        X = self._new_rows(X, "calibrate")
        if isinstance(X, Scan):
            refuse_beside_scan(y=y, sample_weight=sample_weight)
            check_targets(self, X, int(self._targets.mean.shape[0]))
            scores = engine.total(X, self._score_bins).scores()
        else:
            Y, s = held_out_rows(X, y, sample_weight, int(self._targets.mean.shape[0]))
            parts = Parts(*self._by_chunk(X, lambda part: tuple(self._totals(part))))
            scores = self._scores(self._errors(Y, parts), parts, s)
        self.calibration_ = Calibration("conformal", scores)
        return self

    def _errors(self, Y: Array, parts: Parts) -> Array:
        """Return the errors of standardised, transformed targets."""
        T = self.target_transform_.forward(Y)
        return (T - double(self._targets.mean)) / double(self._targets.scale) - double(parts.mean)

    def _score_bins(self, rows: Chunk) -> ScoreBins:
        parts = self._totals(rows.X)
        variances = (parts.total, parts.above, parts.below)
        return score_bins(self._errors(rows.Y, parts), variances, rows.s)

    @staticmethod
    def _scores(e: Array, parts: Parts, s: Array | None) -> tuple[OutputScores, ...]:
        """Divide errors e (n, m) by standard deviations, for every output."""
        s = namespace(e).ones_like(e[:, 0]) if s is None else s
        totals = (parts.total, parts.above, parts.below)
        return tuple(
            output_scores(e[:, j], [v[:, j] for v in totals], s) for j in range(e.shape[1])
        )

    def evaluate(
        self, X: Any, y: Any = None, sample_weight: Any = None, confidence_level: Any = 0.95
    ) -> Evaluation:
        """Return error, coverage, width and scores on rows that training did not see.

        Rows are arrays or a scan, of any number: memory does not grow with them.
        """
        levels = check_levels(confidence_level)
        X = self._new_rows(X, "evaluate")
        n_outputs = int(self._targets.mean.shape[0])
        if isinstance(X, Scan):
            refuse_beside_scan(y=y, sample_weight=sample_weight)
            check_targets(self, X, n_outputs)
            rows: Iterable[Chunk] = X
        else:
            Y, s = held_out_rows(X, y, sample_weight, n_outputs)
            size = check_chunk_size(self.chunk_size, DEFAULT_CHUNK_SIZE)
            rows = ArrayRows(X, Y, s, size)

        def chunk_map(chunk: Chunk) -> IntervalSums:
            parts = self._totals(chunk.X)
            mean, std = self._in_units(parts.mean, chunk.X), self._std(parts, chunk.X)
            xp = namespace(chunk.X)
            bounds = [
                xp.stack(self._bounds(parts, level, chunk.X), axis=2) for level in levels.values
            ]
            interval = xp.stack(bounds, axis=3)
            return interval_sums(chunk.Y, mean, std, interval, chunk.s, levels.values)

        return engine.total(rows, chunk_map).summary()

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
        ``(mean, interval)``, which a `Pipeline` can pass through. With a `target_transform` the
        median stands for the mean, and half the width of the central 68.27 % interval for the std.
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
        return self._shaped(self._in_units(parts.mean, X)), self._interval(parts, levels, X)

    def _mean_and_std(self, X: Array) -> tuple[Array, ...]:
        parts = self._totals(X)
        return self._shaped(self._in_units(parts.mean, X)), self._shaped(self._std(parts, X))

    def _std(self, parts: Parts, X: Array) -> Array:
        """Return standard deviations in the units of y, (n, m)."""
        if not isinstance(self.target_transform_, Identity):
            return self._half_width(parts, X)
        std = namespace(X).sqrt(double(parts.total)) * self._per_output(self.calibration_.std, X)
        return self._scaled(std, X)

    def predict_interval(
        self, X: Any, confidence_level: Any = 0.95, *, out: str | Path | None = None
    ) -> Any:
        """Return lower and upper bounds, (n, 2), or (n, m, 2) for m outputs.

        X is an array or a scan. A list of k levels adds a last axis of length k. A file name `out`
        streams mean, lower and upper bounds to a .parquet, .npy, .h5, .csv or .arrow file, and
        returns its path.
        """
        levels = check_levels(confidence_level)
        if out is None:
            return self._streamed(
                X,
                "predict_interval",
                lambda part: self._interval(self._totals(part), levels, part),
                [],
                None,
            )
        names = [f"{side}_{level:g}" for level in levels.values for side in ("lower", "upper")]
        return self._streamed(
            X,
            "predict_interval",
            lambda part: self._table(part, levels),
            self._names("mean", *names),
            out,
        )

    def _table(self, X: Array, levels: Levels) -> Array:
        """Return mean and bounds side by side, (n, m, 1 + 2k)."""
        parts = self._totals(X)
        columns = [self._in_units(parts.mean, X)]
        for level in levels.values:
            columns += self._bounds(parts, level, X)
        return namespace(X).stack(columns, axis=2)

    def predict_quantiles(self, X: Any, quantiles: Any = (0.05, 0.5, 0.95)) -> Array:
        """Return quantiles of every row, (n, k), or (n, m, k) for m outputs; they never cross.

        A single quantile gives (n,) or (n, m). The median is what `predict` returns.
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

        return self._streamed(X, "predict_quantiles", block, [], None)

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

    def _tupled(
        self, X: Any, method: str, function: Callable[[Array], tuple[Array, ...]]
    ) -> tuple[Array, ...]:
        """Return the arrays that `function` gives for blocks of rows, joined."""
        X = self._new_rows(X, method)
        return self._by_chunk(X, function)

    def _parts(self, X: Array, z: float = 1.96) -> Parts:
        """Return mean and variances of standardised targets for a block of rows."""
        self._check_fresh()
        if self._predictive is not None:
            return self._predictive.parts(X, z)
        return self._squared_parts(X, z)

    def _totals(self, X: Array) -> Parts:
        """Return the same where only the whole variance is asked for."""
        self._check_fresh()
        if self._noise is None:
            return self._parts(X)
        H = self._features.apply(X)
        return Parts.alike(self._layer_mean(H), self._noise.total(X, H))

    def _squared_parts(self, X: Array, z: float) -> Parts:
        assert self._noise is not None
        H = self._features.apply(X)
        return self._noise.parts(X, H, self._layer_mean(H), z)

    def _interval(self, parts: Parts, levels: Levels, X: Array) -> Array:
        """Return bounds (n, m, 2, k), without the axes that nobody asked for."""
        xp = namespace(X)
        columns = [xp.stack(self._bounds(parts, level, X), axis=2) for level in levels.values]
        bounds = columns[0] if levels.single else xp.stack(columns, axis=3)
        return bounds[:, 0, ...] if self._single_output else bounds

    def _bounds(self, parts: Parts, level: float, X: Array) -> list[Array]:
        """Return both bounds of the central interval at `level`, in the units of y, each (n, m)."""
        if level == 0:
            return [self._in_units(parts.mean, X)] * 2
        calibration, outputs = self.calibration_, range(int(self._targets.mean.shape[0]))
        if self.symmetric:
            pairs = [(calibration.symmetric(level, j),) * 2 for j in outputs]
            variances = (parts.total, parts.total)
        else:
            pairs = [calibration.tails(level, j) for j in outputs]
            variances = (parts.below, parts.above)
        z = place(pairs, X, namespace(X).float64)
        return [
            self._in_units(double(parts.mean) + sign * z[:, k] * namespace(X).sqrt(double(v)), X)
            for k, (sign, v) in enumerate(zip((-1, 1), variances, strict=True))
        ]

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

    def _noise_layer(self, mean: MeanModel) -> tuple[HiddenLayer, FeatureMap | None]:
        """Draw the published noise model's own hidden layer, if it shall have one."""
        if self.noise_neurons is None and self.selection is None:
            return mean.hidden, None
        if self.noise_neurons is not None:
            spec = self._layer_spec(self.noise_neurons)
        else:
            # Neurons selected for the mean may not be able to tell the level of r².
            spec = (self._specs() or [self._layer_spec(SINGLE_LAYER_NEURONS)])[0]
        # Another seed: the noise model's neurons shall not repeat those of the mean model.
        hidden = draw_hidden(mean.rows, mean.inputs, spec, self._seed + 1)
        features = FeatureMap(mean.inputs, hidden).to(mean.rows.like, mean.rows.dtype)
        return hidden, features
