"""What a fitted model is made of: the only place that knows where models keep it."""

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from elmband.ground.arrays import Array, to_numpy
from elmband.layers.hidden import FeatureMap
from elmband.sources.encode import EncoderState
from elmband.stacks.mean_stack import MeanStack
from elmband.sums.scaling import Scaling
from elmband.uncertainty.calibrate import Calibration
from elmband.uncertainty.classes import Classes
from elmband.uncertainty.confidence import Confidence
from elmband.uncertainty.new_levels import NewLevels
from elmband.uncertainty.noise.squared import SquaredNoise
from elmband.uncertainty.predictive import Predictive
from elmband.uncertainty.probability import Probability
from elmband.uncertainty.targets import Columns, Support
from elmband.uncertainty.transform import Transform


@dataclass(frozen=True, eq=False)
class Fitted:
    """A fitted model in parts; those that its kind does not have are None.

    The mean is that of a `stack`, or of one layer with `features` and `coef`. What training targets
    say of others is `support`, `range` and `smearing`, see `elmband.uncertainty.targets`; bounds
    move to `values`, see `elmband.uncertainty.target_values`. `least` are the thresholds of all
    classes, and `statement` says what they mean. The `encoder` makes features of
    a table; without one, features are the input.
    """

    kind: str
    n_features: int
    feature_names: list[str] | None
    single_output: bool
    targets: Scaling
    transform: Transform
    support: Support | None
    range: Columns | None
    values: Columns | None
    smearing: Columns | None
    stack: MeanStack | None
    features: FeatureMap | None
    coef: Array | None
    noise: SquaredNoise | None
    predictive: Predictive | None
    new_levels: NewLevels | None
    calibration: Calibration | None
    symmetric: bool
    classes: Classes | None
    probability: tuple[Probability, ...] | None
    confidence: Confidence | None
    least: list[float] | None
    statement: str | None
    encoder: EncoderState | None

    @classmethod
    def of(cls, model: Any, *, encoder: bool = True) -> Self:
        """Take a model apart, or say why it cannot be exported."""
        if not hasattr(model, "_mean_of"):
            raise ValueError(
                f"to_onnx takes a model of elmband; got {type(model).__name__}. Export the steps "
                "of a Pipeline one by one."
            )
        check_is_fitted(model)
        state = vars(model)
        if state.get("_stale", False):
            raise ValueError(
                "Noise, covariance and calibration are older than the mean, to which rows were "
                "added; call refresh before to_onnx."
            )
        if "_classes" in state and state.get("probability_") is None:
            raise ValueError(
                "Probabilities are older than the model, which rows were added to; call refresh "
                "before to_onnx."
            )
        table, thresholds = state.get("_encoder_state"), state.get("_thresholds")
        names = state.get("feature_names_in_") if table is None else table.names
        stack = state["_stack"]
        return cls(
            kind=type(model).__name__,
            n_features=int(state["n_features_in_"]) if table is None else len(table.names),
            feature_names=None if names is None else [str(name) for name in names],
            single_output=bool(state["_single_output"]),
            targets=state["_targets"],
            transform=state["target_transform_"],
            support=state.get("_support"),
            range=state.get("_range"),
            values=state.get("_values"),
            smearing=state.get("_smearing"),
            stack=stack,
            features=None if stack is not None else state["_features"],
            coef=None if stack is not None else state["coef_"],
            noise=state.get("_noise"),
            predictive=state.get("_predictive"),
            new_levels=state.get("_new_levels"),
            calibration=state.get("calibration_"),
            symmetric=bool(state.get("symmetric_", state.get("symmetric", True))),
            classes=state.get("_classes"),
            probability=state.get("probability_"),
            confidence=state.get("confidence_"),
            least=None if thresholds is None else _least(thresholds),
            statement=None if thresholds is None else model.statement_,
            encoder=table if encoder else None,
        )

    @property
    def dtype(self) -> np.dtype[Any]:
        """The dtype of inputs, products and outputs."""
        features = self.features if self.stack is None else self.stack.members[0].features
        assert features is not None
        dtype: np.dtype[Any] = to_numpy(features.inputs.mean).dtype
        return dtype

    @property
    def n_outputs(self) -> int:
        """Number of targets."""
        return int(self.targets.mean.shape[0])


def _least(thresholds: Any) -> list[float]:
    """Return the least confidence of each class that is answered."""
    return [-np.inf if t is None else float(t.value) for t in thresholds.by_class]
