"""What all estimators are: parameters, a fitted value, and the ways to save it."""

import math
from copy import copy
from copyreg import __newobj__  # type: ignore[attr-defined]
from dataclasses import KW_ONLY, dataclass, field, replace
from pathlib import Path
from typing import Any, Literal, Self, SupportsIndex

from sklearn.exceptions import NotFittedError
from sklearn.utils import Tags
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from elmband.engines.progress import Verbose
from elmband.estimators._clusters import spread
from elmband.estimators._local_layers import LocalSummary, local_summaries
from elmband.estimators._more_rows import check_single_layer, with_more
from elmband.estimators._open_rows import Opened, open_rows
from elmband.estimators._parameters import Settings, settings_of
from elmband.estimators._progress import fit_progress
from elmband.estimators._relevant import (
    UNKNOWN,
    FeatureRelevance,
    RelevantDirections,
    column_relevance,
    feature_relevance,
    relevant_directions,
)
from elmband.estimators._saved import (
    is_plain_state,
    packed,
    plain_state,
    take_plain_state,
)
from elmband.estimators._scans import refuse_beside_groups
from elmband.estimators._sklearn import BaseEstimator
from elmband.estimators.tables import rows_to_fit
from elmband.ground.arrays import Array, Precision
from elmband.ground.files import check_writable
from elmband.layers.hidden import HiddenLayer
from elmband.layers.member import Member
from elmband.layers.neurons import Kind, NeuronCounts
from elmband.layers.output_layer import AlphaRule
from elmband.models import onnx_export
from elmband.models.fitted import STALE, Fitted, Layer, NoiseStage
from elmband.models.grown import Grown
from elmband.sources.encode import TableEncoder
from elmband.stacks.search import MAX_NEURONS, Rounds
from elmband.sums.histograms import TrainingHistograms
from elmband.sums.packed_file import write
from elmband.sums.products import precisely
from elmband.sums.rows import Rows
from elmband.uncertainty.calibrate import Calibration
from elmband.uncertainty.local_fit import LocalColumns
from elmband.uncertainty.mean import MeanModel, SelectionMethod
from elmband.uncertainty.noise.squared import SquaredNoise
from elmband.uncertainty.targets import RangeChoice
from elmband.uncertainty.transform import Transform, TransformChoice


@dataclass(eq=False, repr=False)
class ELMModel(BaseEstimator):
    """Parameters of all estimators, which `ELMRegressor` describes, and what they have fitted.

    Parameters are fields, each declared once: `dataclass` makes the `__init__` that scikit-learn
    asks for, which stores them and does nothing else.

    `fitted_` is the frozen value that a fit returns; attributes read parts of it.
    """

    n_neurons: NeuronCounts | Literal["auto"] = "auto"
    _: KW_ONLY
    activation: Kind = "tanh"
    bias: bool = True
    density: float = 1.0
    weight_scale: float = 1.0
    alpha: AlphaRule = "auto"
    n_estimators: int | None = None
    learning_rounds: Rounds = "auto"
    max_neurons: int = MAX_NEURONS
    local_layers: LocalColumns = "auto"
    selection: SelectionMethod | None = None
    # Not "transform": scikit-learn takes whatever has that attribute for a transformer.
    target_transform: TransformChoice = "auto"
    target_range: RangeChoice = "auto"
    precision: Precision = "auto"
    chunk_size: int | None = None
    device: str | None = None
    random_state: Any = None
    verbose: Verbose = "auto"
    fitted_: Fitted = field(init=False, repr=False, compare=False)

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
        if groups is not None:
            refuse_beside_groups(groups, checkpoint=checkpoint, client=client)
        settings = settings_of(self, grouped=groups is not None)
        with fit_progress(self, X, checkpoint, client), precisely(settings.precision):
            rows = rows_to_fit(X, sample_weight) if client is None else spread(X, client)
            opened = self._opened(rows, y, sample_weight, groups)
            self.fitted_ = self._learned(opened, settings)
        return self

    def _opened(
        self, X: Any, y: Any, weight: Any, groups: Any = None, declared: Any = None
    ) -> Opened:
        """Check the rows of a fit; `declared` are classes that they may lack."""
        del declared
        return open_rows(self, X, y, weight, groups)

    def _learned(self, opened: Opened, settings: Settings) -> Fitted:
        """Fit rows, and return all that was learned."""
        raise NotImplementedError

    def _may_grow(self) -> bool:
        """Tell that rows can be added to the model, or why they cannot."""
        return check_single_layer(self)

    def _regrown(self, fitted: Fitted, before: Grown | None, rows: Rows, mean: MeanModel) -> Fitted:
        """Return a model to whose mean `rows` were added, with what follows from it alone."""
        del self, before, rows, mean
        return fitted

    @available_if(lambda self: self._may_grow())  # type: ignore[untyped-decorator]
    def partial_fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Add rows, arrays or a scan, to those that the model was trained on.

        The model has a single layer. The first rows decide on the scaling of inputs and targets,
        for all that follow: let them be typical. γ is a number or chosen by generalised
        cross-validation.
        """
        with fit_progress(self, X, None):
            self.fitted_ = with_more(
                self, X, y, sample_weight, None, opening=self._opened, regrown=self._regrown
            )
        return self

    def untrained(self) -> Self:
        """Return a model with the same hidden layer and scalings and no rows.

        Train it by `partial_fit` on other rows, anywhere, and put both together with `merge`.
        """
        if not self.__sklearn_is_fitted__() or self.fitted_.grown is None:
            raise ValueError("Only a fitted single layer can be copied untrained.")
        other = copy(self)
        other.fitted_ = replace(self.fitted_, grown=self.fitted_.grown.emptied())
        return other

    def _part(self, name: str, value: Any, absent: str = "") -> Any:
        """Return a part of a model for an attribute, which may be missing."""
        if value is None:
            raise AttributeError(absent or f"{type(self).__name__} has no {name} as it was fitted.")
        return value

    def _of(self, name: str) -> Fitted:
        """Return what was fitted, for an attribute that exists since then."""
        if not self.__sklearn_is_fitted__():
            raise NotFittedError(f"{name} exists once the model is fitted.")
        return self.fitted_

    def _single(self, name: str) -> Layer:
        layer: Layer = self._part(name, self._of(name).layer)
        return layer

    @property
    def hidden_(self) -> HiddenLayer:
        """The neurons of a single layer."""
        return self._single("hidden_").hidden

    @property
    def coef_(self) -> Array:
        """Output weights β of a single layer, (L,) or (L, n_outputs)."""
        return self._single("coef_").coef

    @property
    def alpha_(self) -> Any:
        """The L2 strength used in a single layer."""
        return self._single("alpha_").alpha

    @property
    def members_(self) -> tuple[Member, ...]:
        """The layers of a stack."""
        stack = self._part("members_", self._of("members_").stack)
        return stack.members  # type: ignore[no-any-return]

    @property
    def member_weights_(self) -> Array:
        """Weights of the members of a stack, (n_members, n_outputs)."""
        absent = "member_weights_ exists once a stack is fitted."
        stack = self.fitted_.stack if self.__sklearn_is_fitted__() else None
        return self._part("member_weights_", stack, absent).weights

    @property
    def target_transform_(self) -> Transform:
        """The transform in use, with `forward` and `inverse` on arrays (n, n_outputs)."""
        return self._of("target_transform_").targets.transform

    @property
    def target_range_(self) -> Any:
        """The range that predictions and bounds stay in, (low, high), or one for each output."""
        targets = self._of("target_range_").targets
        return targets.per_output(targets.range or ((-math.inf, math.inf),) * targets.count)

    @property
    def local_layers_(self) -> tuple[LocalSummary, ...]:
        """The columns whose levels have output layers of their own, in the order of the layers."""
        return local_summaries(self._of("local_layers_"))

    @property
    def encoder_(self) -> TableEncoder | None:
        """The encoder of the tables that the model was trained on, None for plain numbers."""
        state = self._of("encoder_").inputs.encoder
        return None if state is None else TableEncoder.from_state(state)

    @property
    def target_name_(self) -> str | None:
        """The name of the column that the model was trained to predict, None if it had none."""
        return self._of("target_name_").training.roles.target

    @property
    def feature_relevance_(self) -> FeatureRelevance:
        """The share of each input in how the mean changes, and in how the noise changes."""
        return feature_relevance(self._of("feature_relevance_"), "feature_relevance_")

    @property
    def column_relevance_(self) -> FeatureRelevance:
        """The same by the columns of a table, where an encoder makes several inputs of one."""
        return column_relevance(self._of("column_relevance_"))

    @property
    def relevant_directions_(self) -> RelevantDirections:
        """Directions of standardised inputs in which the mean changes, and the noise."""
        return relevant_directions(self._of("relevant_directions_"))

    @property
    def training_histograms_(self) -> TrainingHistograms:
        """Small histograms of the inputs and the targets of training rows, never rows."""
        notes = self._of("training_histograms_").notes
        absent = f"training_histograms_ {UNKNOWN}"
        found: TrainingHistograms = self._part("", notes.histograms, absent)
        return found

    @property
    def calibration_(self) -> Calibration:
        """The multipliers of intervals."""
        found: Calibration = self._part("calibration_", self._of("calibration_").calibration)
        return found

    @property
    def symmetric_(self) -> bool:
        """Whether both tails of the noise are alike."""
        self._part("symmetric_", self._of("symmetric_").noise)
        return self.fitted_.symmetric

    @property
    def reweighted_(self) -> bool:
        """Whether the mean was trained again with weights 1 / variance of the noise."""
        fitted = self._of("reweighted_")
        self._part("reweighted_", fitted.noise or fitted.stale or None)
        return fitted.reweighted

    def _published(self, name: str) -> tuple[SquaredNoise, NoiseStage]:
        """Return the published noise model, for an attribute that goes when rows are added."""
        fitted = self._of(name)
        self._part(name, None if fitted.stale else True, STALE)
        return self._part(name, fitted.squared), self._part(name, fitted.noise_stage)

    @property
    def covariance_(self) -> Array:
        """Covariance Σ_y of the output weights of the published model."""
        noise, _ = self._published("covariance_")
        return self.fitted_.targets.first(noise.mean_covariance)

    @property
    def noise_covariance_(self) -> Array:
        """Covariance Σ_r of the output weights of the published noise model."""
        noise, _ = self._published("noise_covariance_")
        return self.fitted_.targets.first(noise.noise_covariance)

    @property
    def noise_hidden_(self) -> HiddenLayer:
        """The neurons of the published noise model."""
        stage: NoiseStage = self._part("noise_hidden_", self._of("noise_hidden_").noise_stage)
        return stage.hidden

    @property
    def noise_coef_(self) -> Array:
        """Output weights of the published noise model."""
        noise, _ = self._published("noise_coef_")
        return self.fitted_.targets.shaped(noise.layer.coef)

    @property
    def noise_alpha_(self) -> Any:
        """The L2 strength of the published noise model."""
        return self._published("noise_alpha_")[1].alpha

    @property
    def mode_error_(self) -> float:
        """Root mean square of the relative change of widths that ``mode="fast"`` makes."""
        return self._published("mode_error_")[1].error

    @property
    def width_error_(self) -> tuple[float, float]:
        """What variances of the mean in float32 change in widths: in half and in 99 % of rows."""
        error = self._part("width_error_", self._of("width_error_").predictive).error
        return error.typical, error.most

    def __sklearn_is_fitted__(self) -> bool:
        # A fit that was refused has noted features already.
        return "fitted_" in vars(self)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.array_api_support = True
        tags.target_tags.positive_only = self.target_transform in ("log", "box-cox")
        return tags

    def save(self, path: str | Path) -> Path:
        """Write the model to a .safetensors file, to be read by `elmband.load`.

        The file holds numbers and text only: nothing in it is run when it is loaded. Models with
        functions of your own (neurons, target transforms) cannot be saved. Models trained on other
        array libraries are loaded on NumPy. A generator `random_state` is not kept.
        """
        check_is_fitted(self)
        check_writable(Path(path))
        return write(path, packed(self))

    def to_onnx(
        self, path: str | Path | None = None, *, opset: int | None = None, encoder: bool = True
    ) -> Any:
        """Return the model in the ONNX format, or write it to a file and return its path.

        See `elmband.models.onnx_export.to_onnx` for inputs and outputs. An encoder of tables is
        part of it, with an input for each column; with ``encoder=False`` its features are the
        input.
        """
        return onnx_export.to_onnx(self, path, opset=opset, encoder=encoder)

    # Pickle and copy take the model as it is, with functions and arrays of any library. Tools like
    # skops ask for its state, and have their users vouch for every type in it: it is plain.

    def __reduce_ex__(self, protocol: SupportsIndex) -> Any:
        kind = type(self)
        if (kind.__getstate__, kind.__reduce__) != (ELMModel.__getstate__, object.__reduce__):
            return super().__reduce_ex__(protocol)
        return __newobj__, (kind,), dict(vars(self))

    def __getstate__(self) -> dict[str, Any]:
        try:
            return plain_state(self)
        except ValueError:
            return dict(vars(self))

    def __setstate__(self, state: dict[str, Any]) -> None:
        if not is_plain_state(state):
            super().__setstate__(state)
        else:
            take_plain_state(self, state)
