"""What fits and predicts the mean: the work behind `ELMRegressor`."""

from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal, NamedTuple, Self

import numpy as np
from sklearn.base import is_classifier
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted, validate_data

from elmband.engines import engine
from elmband.engines.progress import Verbose
from elmband.estimators._clusters import (
    check_collection,
    is_dask,
    lazy_result,
    spread,
)
from elmband.estimators._device_placement import SINGLE_LAYER_NEURONS
from elmband.estimators._local import LocalSummary, local_summaries
from elmband.estimators._noting import NotingModel
from elmband.estimators._scans import (
    BlockMap,
    Result,
    answering,
    check_new_scan,
    check_out,
    followed,
    in_blocks,
    refuse_beside_groups,
)
from elmband.estimators._tables import input_names, inputs_of, rows_to_fit
from elmband.estimators._updates import Grown
from elmband.estimators._validate import (
    check_alpha,
    check_choice,
    check_local_layers,
    check_locality,
    check_max_neurons,
    check_members,
    check_precision,
    check_rounds,
    check_same_library,
    warn_constant,
    warn_no_local_layers,
)
from elmband.ground.arrays import (
    Array,
    Precision,
    cast,
    epsilon,
    namespace,
    place,
)
from elmband.layers.hidden import LayerSpec
from elmband.layers.neurons import Kind, NeuronCounts
from elmband.layers.output_layer import AlphaRule, in_mean_weights
from elmband.sources.hidden_cache import keeping
from elmband.sources.stream import Scan
from elmband.stacks.ensemble import Stack
from elmband.stacks.mean_stack import MeanStack
from elmband.stacks.pool import Pool, weighty_rows
from elmband.stacks.search import MAX_NEURONS, Rounds, fit_stack, pool_rows
from elmband.sums.products import precisely
from elmband.sums.rows import Rows
from elmband.sums.weights import bounded_weights
from elmband.uncertainty.left_out import LeftOut
from elmband.uncertainty.local_fit import (
    LocalColumns,
    LocalFit,
    LocalSettings,
    fit_local,
    known_columns,
    on_device,
)
from elmband.uncertainty.mean import (
    SELECTION_METHODS,
    MeanModel,
    SelectionMethod,
    fit_mean,
    standardised,
)
from elmband.uncertainty.noise.output import NoiseModels
from elmband.uncertainty.predictive import stack_left_out
from elmband.uncertainty.rounds import ChosenRounds, chosen_rounds
from elmband.uncertainty.targets import (
    Columns,
    RangeChoice,
    Support,
    smearing_points,
)
from elmband.uncertainty.transform import Identity, TransformChoice

_OF_ONE_LAYER = (
    "_features",
    "hidden_",
    "coef_",
    "alpha_",
    "covariance_",
    "mode_error_",
    "noise_hidden_",
    "noise_coef_",
    "noise_alpha_",
    "noise_covariance_",
)


class FittedStack(NamedTuple):
    """A stack, the rows that it was judged on, how often its neurons might learn, local layers."""

    pool: Pool
    stack: Stack
    rounds: ChosenRounds
    local: LocalFit | None


class PointModel(NotingModel):
    """Layers that predict numbers: the work behind `ELMRegressor`, which describes parameters."""

    # The single layer with the sums of its rows, which can be added to.
    _grown: Grown | None = None
    # Equally likely errors of rows left out, where targets are transformed.
    _smearing: Columns | None = None

    def __init__(
        self,
        n_neurons: NeuronCounts | Literal["auto"] = "auto",
        *,
        activation: Kind = "tanh",
        bias: bool = True,
        density: float = 1.0,
        weight_scale: float = 1.0,
        alpha: AlphaRule = "auto",
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
        self.n_neurons = n_neurons
        self.activation = activation
        self.bias = bias
        self.density = density
        self.weight_scale = weight_scale
        self.alpha = alpha
        self.n_estimators = n_estimators
        self.learning_rounds = learning_rounds
        self.max_neurons = max_neurons
        self.local_layers = local_layers
        self.selection = selection
        # Not "transform": scikit-learn takes whatever has that attribute for a transformer.
        self.target_transform = target_transform
        self.target_range = target_range
        self.precision = precision
        self.chunk_size = chunk_size
        self.device = device
        self.random_state = random_state
        self.verbose = verbose

    def fit(
        self,
        X: Any,
        y: Any = None,
        sample_weight: Any = None,
        groups: Any = None,
        *,
        checkpoint: str | Path | None = None,
        client: Any = None,
    ) -> Self:
        """Train on rows X (n, d) and targets y (n,) or (n, m), or on a scan that holds both.

        X is an array of numbers, or a table of pandas, Polars or Arrow. Text, categories, dates and
        missing values in a table are made into numbers by a `TableEncoder`, which the model keeps
        as `encoder_` and uses for every table that it is asked about.

        Only ratios of weights matter, but a number `alpha` acts on weights as given, as in
        scikit-learn's `Ridge`. A row is left out with all of its weight, and copies of a row in
        memory leave together, so that whole weights equal repeats. Rows with the same label in
        `groups` are left out together wherever rows are left out. A scan is taken into memory for
        that; ``scan.groups(column)`` gives the labels of its rows.

        With a folder `checkpoint`, a fit on a scan that was ended, by whatever, goes on from where
        it was when it is called again; the folder is emptied at the end.

        X and y may be Dask arrays or data frames, which are summed where they are. With a
        `client`, a `distributed.Client` or any `concurrent.futures.Executor`, its workers read
        the files of a scan.
        """
        refuse_beside_groups(groups, checkpoint=checkpoint, client=client)
        with followed(self, X, checkpoint, client), precisely(check_precision(self.precision)):
            rows = rows_to_fit(X, sample_weight) if client is None else spread(X, client)
            self._fit(rows, y, sample_weight, groups)
        self._note_roles(X, y, sample_weight, groups)
        return self

    def _fit(self, X: Any, y: Any, sample_weight: Any, groups: Any) -> None:
        rule = check_alpha(self.alpha)
        specs = self._specs()
        rows, labels = self._training(X, y, sample_weight, groups)
        if specs is not None and len(specs) == 1 and labels is None:
            one_pass = self.selection is None and (isinstance(rule, float) or rule == "gcv")
            with nullcontext() if one_pass else keeping(rows):
                mean = self._fit_layer(rows, specs[0], rule)
            self._learn(lambda: mean.left_out(mean.some_rows(self._seed)))
        elif self.selection is not None:
            raise ValueError("selection is for a single layer without groups or n_estimators.")
        else:
            pool, stack, chosen, local = self._fit_stack(rows, labels, specs, rule)
            members = tuple(fitted.member for fitted in stack.fitted)
            found = MeanStack(members, stack.weights)
            if local is not None:
                found = replace(found, local=on_device(local.layers, stack.weights))
            self._set_stack(found)
            self._note_stack(pool, found, None)
            self._learn(
                chosen.left_out
                if chosen.has_held_out
                else lambda: stack_left_out(pool, stack, local)
            )

    def _learn(self, left_out: Callable[[], LeftOut]) -> None:
        """Learn more from rows left out, once the model is fitted: how targets lie about means."""
        self._smearing = None
        if not isinstance(self.target_transform_, Identity):
            self._smearing = smearing_points(left_out())

    def predict(self, X: Any, *, out: str | Path | None = None) -> Any:
        """Return the predicted mean of every row of an array or of a scan, (n,) or (n, m).

        It is the mean of y whatever the `target_transform`. A file name `out` streams the result to
        a .parquet, .npy, .h5, .csv or .arrow file, and returns its path.
        """
        return self._streamed(X, "predict", self._means, self._names("mean"), out)

    def _means(self, X: Array) -> Array:
        """Return what `predict` returns for a block of rows."""
        mean = self._mean_of(X)
        if self._smearing is None:
            return self._shaped(self._in_units(self._supported(mean), X))
        points = place(self._smearing, mean)
        return self._shaped(self._averaged(mean, [points[:, k] for k in range(points.shape[1])], X))

    def _streamed(
        self, X: Any, method: str, function: BlockMap, columns: list[str], out: str | Path | None
    ) -> Any:
        """Apply `function` to blocks of checked rows, and join or write what it returns."""
        # Labels, marks and reasons of a triage are of several types.
        if is_dask(X) and method != "triage":
            check_is_fitted(self)
            check_collection(self, X, reset=False)
            named = columns or [method]
            return lazy_result(X, lambda part: self._joined(part, function), named, out)
        X = self._new_rows(X, method)
        check_out(X, out)
        with answering(self, X, method) as on_chunks:
            blocks = on_chunks(self._worked(function), self._blocks(X))
            return in_blocks(blocks, Result(columns, out))

    def _joined(self, X: Array, function: BlockMap) -> Array:
        """Return what `function` makes of rows of this machine."""
        blocks = engine.on_chunks(self._worked(function), self._blocks(X))
        return in_blocks(blocks, Result([], None))

    def _names(self, *columns: str) -> list[str]:
        """Return names of columns in files, numbered where there are several outputs."""
        check_is_fitted(self)
        if self._single_output:
            return list(columns)
        outputs = range(int(self._targets.mean.shape[0]))
        return [f"{column}_{output}" for output in outputs for column in columns]

    def _specs(self) -> list[LayerSpec] | None:
        """Return the layers asked for, or None where they are to be chosen."""
        count = check_members(self.n_estimators)
        if self.selection is not None:
            check_choice(self.selection, SELECTION_METHODS, "selection")
        chosen = self.n_neurons == "auto" and self.selection is None
        if isinstance(self.local_layers, list | tuple) and not chosen:
            check_locality(single=True, groups=False, outputs=1)
        if isinstance(self.n_neurons, str) and self.n_neurons == "auto":
            single = self._layer_spec(SINGLE_LAYER_NEURONS)
            return None if self.selection is None else [single]
        return [self._layer_spec(self.n_neurons)] * (count or 1)

    def _layer_spec(self, n_neurons: NeuronCounts) -> LayerSpec:
        return LayerSpec.parse(
            n_neurons,
            self.activation,
            bias=self.bias,
            density=self.density,
            weight_scale=self.weight_scale,
        )

    def _fit_layer(self, rows: Rows, spec: LayerSpec, rule: AlphaRule) -> MeanModel:
        with engine.calm(spec.n_neurons):
            mean = fit_mean(rows, spec, rule, self._dtype, self._seed, self.selection)
        warn_constant(mean.constant, mean.targets, self.target_transform_)
        self._grown = Grown.of(mean) if hasattr(self, "partial_fit") else None
        self._set_layer(mean)
        self._note_layer(mean)
        return mean

    def _set_layer(self, mean: MeanModel) -> None:
        self.__dict__.pop("members_", None)
        self._note_nothing()
        # Without a transform a single layer is least squares, and nothing else.
        self._support = None
        if mean.ends is not None and not isinstance(self.target_transform_, Identity):
            transform = self.target_transform_
            self._support = Support.of(mean.ends, mean.targets, transform, len(mean.rows))
        self._range = self._asked_range(int(mean.targets.mean.shape[0]), mean.ends)
        self._values = None
        self._stack: MeanStack | None = None
        self._features, self._targets = mean.features, mean.targets
        self.hidden_ = mean.hidden
        self.coef_ = self._shaped(mean.layer.coef)
        # A number that gives the same model again, with the same weights.
        self.alpha_ = self._shaped(mean.layer.alpha * mean.weight)

    def _fit_stack(
        self,
        rows: Rows,
        labels: Any,
        specs: list[LayerSpec] | None,
        rule: AlphaRule,
        *,
        blind: bool = False,
    ) -> FittedStack:
        """Fit a stack, of `blind` neurons where it is only to be compared with others."""
        rows, labels = weighty_rows(rows, labels)
        rows, worth, factor = bounded_weights(rows, labels)
        scaled = standardised(rows, self._dtype)
        warn_constant(scaled.constant, scaled.targets, self.target_transform_)
        eps = epsilon(self._dtype, namespace(rows.like))
        size = max(pool_rows(len(scaled.rows)), *(spec.n_neurons for spec in specs or ()), 0)
        pool = Pool.of(
            scaled.rows,
            scaled.inputs,
            labels,
            size,
            self._seed,
            eps,
            classes=is_classifier(self),
        )
        pool = replace(
            pool,
            weight=scaled.weight,
            worth=worth,
            factor=factor,
            values=scaled.values,
            prints=scaled.prints,
            may_narrow=self.precision == "auto",
        )
        self._targets = scaled.targets
        if not blind:
            self._note_ends(scaled.ends, len(scaled.rows))
        rule = in_mean_weights(rule, scaled.weight)
        chosen = ChosenRounds(0)
        if specs is None and not blind:
            chosen = chosen_rounds(pool, rule, check_rounds(self.learning_rounds))
        most = check_max_neurons(self.max_neurons)
        stack = fit_stack(
            pool, specs, rule, self.n_estimators, chosen.rounds, most, found=chosen.stack
        )
        settings = self._local_settings(specs, groups=labels is not None, pool=pool)
        local = None if blind else fit_local(pool, stack, settings)
        if not blind and local is None and isinstance(settings.columns, tuple):
            warn_no_local_layers(settings.columns, pool.n_distinct)
        return FittedStack(pool, stack, chosen, local)

    def _local_settings(
        self, specs: list[LayerSpec] | None, *, groups: bool, pool: Pool
    ) -> LocalSettings:
        """Return which columns may have local layers; refuse those that cannot be."""
        d, table, names = int(pool.rows.like.shape[1]), self._encoder_state, input_names(self)
        columns = check_local_layers(self.local_layers, known_columns(table, names, d))
        if isinstance(columns, tuple):
            outputs = int(self._targets.mean.shape[0])
            check_locality(single=specs is not None, groups=groups, outputs=outputs)
        return LocalSettings(None if specs is not None else columns, table, names)

    @property
    def local_layers_(self) -> tuple[LocalSummary, ...]:
        """The columns whose levels have output layers of their own, in the order of the layers."""
        if not hasattr(self, "_targets"):
            raise AttributeError("local_layers_ exists once the model is fitted.")
        return local_summaries(self._stack, self._predictive_noise())

    def _predictive_noise(self) -> tuple[NoiseModels, ...]:
        """Return the noise models, none where there is only a mean."""
        predictive = getattr(self, "_predictive", None)
        return () if predictive is None else predictive.noise

    @property
    def member_weights_(self) -> Array:
        """Weights of the members of a stack, (n_members, n_outputs)."""
        if getattr(self, "_stack", None) is None:
            raise AttributeError("member_weights_ exists once a stack is fitted.")
        return self._stack.weights  # type: ignore[union-attr]

    def _set_stack(self, stack: MeanStack) -> None:
        # What a single layer of an earlier fit has left behind.
        for name in _OF_ONE_LAYER:
            self.__dict__.pop(name, None)
        self._note_nothing()
        self._grown = None
        self._stack = stack
        self.members_ = stack.members

    def _new_rows(self, X: Any, method: str) -> Array:
        """Check rows to predict: their features, and that their array library is that of fit."""
        check_is_fitted(self)
        if is_dask(X):
            raise ValueError(f"{method} takes arrays or a scan; X is a Dask collection.")
        if isinstance(X, Scan):
            check_new_scan(self, X)
        elif self._encoder_state is not None:
            X = inputs_of(self, X, method, finite=self._device is None)
        else:
            # A device checks numbers faster.
            finite = self._device is None
            X = validate_data(self, X, dtype="numeric", reset=False, ensure_all_finite=finite)
        if self._device is None:
            like = np.empty((0, 1)) if isinstance(X, Scan) else X
            check_same_library(self, like, self._targets.mean, method)
        return X

    def _mean_of(self, X: Array) -> Array:
        """Return the mean of standardised targets, (n, m)."""
        if self._stack is not None:
            return self._stack.mean(X)
        return self._layer_mean(self._features.apply(X))

    def _layer_mean(self, H: Array) -> Array:
        """Return Hβ of a single layer, (n, m)."""
        coef = cast(self.coef_, H.dtype)
        return H @ (coef[:, None] if self._single_output else coef)

    def _shaped(self, values: Array) -> Array:
        """Drop the axis of outputs, the last, where y had none; a single number is a float."""
        if not self._single_output:
            return values
        return float(values[0]) if values.ndim == 1 else values[..., 0]

    def __sklearn_is_fitted__(self) -> bool:
        # A fit that was refused has noted features already.
        return hasattr(self, "_targets")

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.array_api_support = True
        tags.target_tags.positive_only = self.target_transform in ("log", "box-cox")
        return tags
