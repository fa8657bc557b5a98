"""How interval models are fitted: the published two stages, or a stack with a log-variance."""

import math
import warnings
from dataclasses import replace
from typing import Any, Literal, Self

import numpy as np
from sklearn.base import is_classifier

from elmband.engines import engine
from elmband.engines.progress import Verbose
from elmband.estimators._choosing import FittedRows, fit_best_transform
from elmband.estimators._device_placement import SINGLE_LAYER_NEURONS
from elmband.estimators._scans import followed
from elmband.estimators._updates import Grown, same_rows
from elmband.estimators._validate import (
    check_alpha,
    check_choice,
    check_symmetric,
)
from elmband.estimators._variance_components import IntervalParts, SecondStage
from elmband.ground.arrays import Precision, double, to_numpy
from elmband.layers.hidden import FeatureMap, HiddenLayer
from elmband.layers.neurons import Kind, NeuronCounts
from elmband.layers.output_layer import AlphaRule, in_mean_weights
from elmband.layers.select import keep
from elmband.sources.hidden_cache import keeping
from elmband.stacks.mean_stack import MeanStack
from elmband.stacks.pool import Pool
from elmband.stacks.search import MAX_NEURONS, Rounds
from elmband.sums.rows import ArrayRows, Rows
from elmband.uncertainty.calibrate import (
    Calibration,
    OutputScores,
)
from elmband.uncertainty.cross_fit import Recipe, cross_fitted
from elmband.uncertainty.left_out import LeftOut
from elmband.uncertainty.local_fit import LocalColumns
from elmband.uncertainty.mean import MeanModel, SelectionMethod, draw_hidden
from elmband.uncertainty.new_levels import NewLevels
from elmband.uncertainty.noise.fast import multiplier_error
from elmband.uncertainty.noise.layers import smooth_spec
from elmband.uncertainty.noise.sampled import fit_fast, from_kept
from elmband.uncertainty.noise.squared import SquaredNoise
from elmband.uncertainty.predictive import NoiseSettings, Symmetric, fit_predictive
from elmband.uncertainty.target_values import LEVEL, gaining_values
from elmband.uncertainty.targets import RangeChoice, is_auto, narrowed
from elmband.uncertainty.transform import Identity, TransformChoice

# From so many rows on intervals cover as often as they say, on average over data sets.
_LEAST_ROWS = 15
# So do they for new groups from so many groups on.
_LEAST_GROUPS = 6
# Rows are worth as many as they are but for such a share.
_AS_MANY = 0.9

# What is older than the mean once rows were added.
_OF_SECOND_STAGE = (
    "covariance_",
    "noise_covariance_",
    "noise_coef_",
    "noise_alpha_",
    "mode_error_",
)


class IntervalModel(IntervalParts):
    """Parameters and fit of `ELMIntervalRegressor`, which describes them."""

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
        symmetric: Symmetric = "auto",
        noise_neurons: NeuronCounts | None = None,
        noise_alpha: AlphaRule | None = None,
        covariance: Literal["jackknife", "wild"] = "jackknife",
        mode: Literal["exact", "fast"] = "exact",
        n_estimators: int | None = None,
        learning_rounds: Rounds = "auto",
        max_neurons: int = MAX_NEURONS,
        local_layers: LocalColumns = "auto",
        selection: SelectionMethod | None = None,
        target_transform: TransformChoice = "auto",
        target_range: RangeChoice = "auto",
        precision: Precision = "auto",
        chunk_size: int | None = None,
        device: str | None = None,
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
            learning_rounds=learning_rounds,
            max_neurons=max_neurons,
            local_layers=local_layers,
            selection=selection,
            target_transform=target_transform,
            target_range=target_range,
            precision=precision,
            chunk_size=chunk_size,
            device=device,
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
        check_symmetric(self.symmetric)
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
        with keeping(rows, partly=self.mode != "fast"):
            mean = self._fit_layer(rows, specs[0], rule)
            self._fit_second(mean, rule if noise_rule is None else noise_rule)

    def _fit_second(self, mean: MeanModel, rule: AlphaRule, grown: Grown | None = None) -> None:
        """Go on from the mean: noise, covariances and multipliers, or from what has `grown`."""
        sample = None if grown is None else grown.kept
        self.noise_hidden_, features = self._noise_layer(mean)
        with engine.calm(max(mean.hidden.n_neurons, self.noise_hidden_.n_neurons)):
            if grown is None or sample is None:
                fitted = self._fit_noise(mean, features, in_mean_weights(rule, mean.weight))
            else:
                rule = in_mean_weights(rule, mean.weight)
                fitted = from_kept(mean, rule, sample, grown.squares)
        self.mode_error_ = fitted.error
        if sample is not None and self.calibration == "loo":
            self.mode_error_ = math.hypot(fitted.error, multiplier_error(sample.n))
        if fitted.selection is not None:
            self.noise_hidden_ = keep(self.noise_hidden_, fitted.selection.neurons)
        self._noise, self._predictive = fitted.without_rows(), None
        self.symmetric_, self.reweighted_ = True, False
        # Published intervals are those of the equations.
        self.__dict__.pop("_new_levels", None)
        covariances = fitted.mean_covariance, fitted.noise_covariance
        if self._single_output:
            covariances = covariances[0][0, ...], covariances[1][0, ...]
        self.covariance_, self.noise_covariance_ = covariances
        self.noise_coef_ = self._shaped(fitted.layer.coef)
        self.noise_alpha_ = self._shaped(fitted.layer.alpha * mean.weight)
        scores: tuple[OutputScores, ...] = ()
        if self.calibration == "loo":
            rows = mean.rows if sample is None else ArrayRows.of(sample)
            scores = fitted.scores(replace(mean, rows=rows))
        self.calibration_ = Calibration(self.calibration, scores)
        self._stale = False
        if sample is None:
            self._learn(lambda: fitted.left_out(mean, mean.some_rows(self._seed)))
        else:
            self._learn(lambda: fitted.left_out(mean, sample))

    def _fit_noise(
        self, mean: MeanModel, features: FeatureMap | None, rule: AlphaRule
    ) -> SquaredNoise:
        if self.mode == "fast":
            return fit_fast(mean, rule, self._seed)
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
        # One more input than X has: the predicted mean.
        smooth = smooth_spec(int(rows.like.shape[1]) + 1)
        asked = None if self.noise_neurons is None else self._layer_spec(self.noise_neurons)
        settings = NoiseSettings(
            # Steep neurons would take the places where classes meet for noise.
            spec=smooth if asked is None and is_classifier(self) else asked,
            alpha=noise_rule if isinstance(noise_rule, float) else None,
            # Normal multipliers are the same for both tails unless these are asked for.
            symmetric=self.symmetric if self.calibration == "loo" else bool(self.symmetric),
            # Layers that are asked for are least squares, and classes have no noise of their own.
            mean_rule=None if specs is not None or is_classifier(self) else rule,
        )

        def fit(rows: Rows, labels: Any, *, blind: bool = False) -> FittedRows:
            pool, stack, rounds, local = self._fit_stack(rows, labels, specs, rule, blind=blind)
            noise = settings.in_mean_weights(pool.weight)
            if blind:
                spec = noise.spec or smooth
                noise = noise._replace(symmetric=True, spec=spec, mean_rule=None)
            return FittedRows(pool, fit_predictive(pool, stack, noise, local), rounds)

        pool, fitted, chosen = fit_best_transform(self, rows, labels, fit)
        self._set_stack(fitted.predictive.stack)
        self._predictive, self._noise = fitted.predictive, None
        self.symmetric_, self.reweighted_ = fitted.symmetric, fitted.reweighted
        self._note_stack(pool, fitted.predictive.stack, fitted.predictive)
        self._stale = False
        # Scores of rows held out are for the same kind of model: one whose mean was not trained
        # again has other variances.
        decided = settings._replace(symmetric=fitted.symmetric, reweight=fitted.reweighted)
        scores: tuple[OutputScores, ...] = ()
        if self.calibration == "loo":
            rounds, most = chosen.rounds, self.max_neurons
            recipe = Recipe(specs, rule, self.n_estimators, decided, rounds, most)
            recipe = recipe.in_mean_weights(pool.weight)
            # A limit to the number of members or neurons is for each fit to keep.
            limited = self.n_estimators is not None or most < MAX_NEURONS
            known = () if limited else chosen.held_out
            found = cross_fitted(pool, recipe, fitted.row_scores, known)
            scores = found.outputs(pool.factor)
            _warn_few(pool, scores)
            scores = tuple(output.thinned() for output in scores)
        self.calibration_ = Calibration(self.calibration, scores)
        self._note_values(pool, fitted.left_out)
        self._note_new_levels(pool, fitted.predictive.stack)
        noise = decided.in_mean_weights(pool.weight)
        self._learn(lambda: chosen.left_out(noise) if chosen.has_held_out else fitted.left_out)

    def _note_values(self, pool: Pool, left_out: LeftOut) -> None:
        """Note the values of targets that bounds move to, where rows left out gain by it."""
        found = is_auto(self.target_range) and is_auto(self.target_transform)
        same = isinstance(self.target_transform_, Identity) and self.symmetric_
        if pool.classes or pool.values is None or not (found and same) or self._range is None:
            return
        values = pool.values.few()
        if not any(values):
            return
        multipliers = [self.calibration_.symmetric(LEVEL, j) for j in range(len(values))]
        self._values = gaining_values(values, left_out, self._targets, multipliers, self._range)
        if self._values is not None:
            parts = zip(self._range, pool.values.ends(), self._values, values, strict=True)
            self._range = tuple(
                narrowed(ends, other) if found == known else ends
                for ends, other, found, known in parts
            )

    def _note_new_levels(self, pool: Pool, stack: MeanStack) -> None:
        """Note what levels of categories that training did not have add to variances."""
        self.__dict__.pop("_new_levels", None)
        blocks = None if self._encoder_state is None else self._encoder_state.one_hot
        found = NewLevels.of(pool, stack.mean, blocks)
        if found is not None:
            Y = to_numpy(double(pool.distinct.rows.Y))
            multipliers = [self.calibration_.symmetric(0.9, j) for j in range(Y.shape[1])]
            self._new_levels = found.bounded(np.array(multipliers), np.ptp(Y, axis=0))

    def _may_grow(self) -> bool:
        if self.noise != "squared":
            raise AttributeError("partial_fit needs noise='squared', the published noise model.")
        if self.noise_neurons is not None or self.covariance != "jackknife":
            raise AttributeError(
                "partial_fit has one hidden layer for both models and the jackknife: leave "
                "noise_neurons and covariance as they are."
            )
        return super()._may_grow()

    def _grow(self, rows: Rows, rule: AlphaRule, before: Grown | None = None) -> MeanModel:
        self._stale = True
        for name in _OF_SECOND_STAGE:
            self.__dict__.pop(name, None)
        mean = super()._grow(rows, rule, before)
        if self.mode == "fast" and before is not None:
            assert self._grown is not None
            known = before.sums is None or before.noise is not None
            if known:
                self._grown = self._grown.with_noise(before.noise, mean, rows)
        return mean

    def refresh(self, X: Any = None, y: Any = None, sample_weight: Any = None) -> Self:
        """Bring noise, covariances and multipliers up to date after `partial_fit` or `merge`.

        They need a pass over all rows that the mean was trained on, arrays or a scan. With
        ``mode="fast"`` and no rows given, a sample of them that was kept is used instead;
        `mode_error_` tells what that changes.
        """
        grown = self._grown
        if grown is None or grown.sums is None:
            raise ValueError("refresh is for models that partial_fit or merge has changed.")
        before = getattr(self, "calibration_", None)
        if before is not None and before.kind == "conformal":
            warnings.warn(
                "refresh takes multipliers from the training rows; call calibrate again for its "
                "guarantee.",
                UserWarning,
                stacklevel=2,
            )
        rule = check_alpha(self.alpha)
        noise_rule = rule if self.noise_alpha is None else check_alpha(self.noise_alpha)
        if X is None:
            if self.mode != "fast" or grown.sample is None:
                raise ValueError(
                    "refresh needs the rows that the mean was trained on: refresh(X, y); only "
                    "mode='fast' with partial_fit from the first row on keeps a sample of them."
                )
            # Leave-one-out would need all rows.
            noise_rule = "gcv" if noise_rule in ("auto", "loo") else noise_rule
            mean = grown.mean_model(self._no_rows(), rule)
            self._fit_second(mean, noise_rule, grown)
            return self
        with followed(self, X, None):
            rows = same_rows(self._more_rows(X, y, sample_weight), grown)
            self._fit_second(grown.mean_model(rows, rule), noise_rule)
        return self

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


def _warn_few(pool: Pool, scores: tuple[OutputScores, ...]) -> None:
    """Say that so few rows, or groups, do not tell how far off a prediction may be."""
    worth = min(pool.worth, *(output.both.n for output in scores))
    n, what, least = pool.n_distinct, "different rows", _LEAST_ROWS
    if pool.labels is not None:
        n, what, least = len(np.unique(pool.labels)), "groups", _LEAST_GROUPS
    # Of targets that are all equal there is nothing to be known, and another warning says so.
    if min(n, worth) >= least or not any(output.both.t[-1] > 0 for output in scores):
        return
    told, wanted = f"{n} {what}", f"{least} {what.split()[-1]} or more"
    if worth <= _AS_MANY * n:
        told += f" whose weights make them worth {worth:.3g}"
        wanted += ", with weights that differ less"
    warnings.warn(
        f"{told} are too few to tell how far off predictions may be: their intervals are rough "
        f"guesses, so train on {wanted}.",
        UserWarning,
        stacklevel=5,
    )


for _name in _OF_SECOND_STAGE:
    setattr(IntervalModel, _name, SecondStage(_name))
