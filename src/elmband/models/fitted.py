"""The fitted value: all that a fit learns, whichever estimator asked for it."""

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple, Self

import numpy as np

from elmband.ground.arrays import Array, cast, double
from elmband.layers.hidden import FeatureMap, HiddenLayer
from elmband.models.decisions import Deciding
from elmband.models.grown import Grown
from elmband.models.target_units import TargetUnits
from elmband.sources.encode import EncoderState
from elmband.stacks.mean_stack import MeanStack
from elmband.sums.histograms import TrainingHistograms
from elmband.sums.row_prints import RowPrints
from elmband.uncertainty.calibrate import Calibration
from elmband.uncertainty.classes import Classes, Labels
from elmband.uncertainty.dependence import Dependences
from elmband.uncertainty.new_levels import NewLevels
from elmband.uncertainty.noise.parts import Parts
from elmband.uncertainty.noise.squared import SquaredNoise
from elmband.uncertainty.predictive import Predictive
from elmband.uncertainty.probability import Probability

STALE = (
    "Noise, covariance and calibration are older than the mean, to which rows were added; call "
    "refresh with all of them."
)


@dataclass(frozen=True, eq=False)
class Layer:
    """A single layer: Hβ, with β (L,) or (L, m) and γ as people read them."""

    features: FeatureMap
    hidden: HiddenLayer
    coef: Array
    alpha: Any

    def mean(self, X: Array) -> Array:
        """Return the mean of standardised targets, (n, m)."""
        return self.mean_of_hidden(self.features.apply(X))

    def mean_of_hidden(self, H: Array) -> Array:
        """Return Hβ, (n, m)."""
        coef = cast(self.coef, H.dtype)
        return H @ (coef[:, None] if coef.ndim == 1 else coef)


@dataclass(frozen=True, eq=False)
class NoiseStage:
    """What people read of the published noise model: its layer, its γ, and the error of a mode."""

    hidden: HiddenLayer
    # Not in older files of models that rows were added to.
    alpha: Any = None
    error: float = 0.0


class Inputs(NamedTuple):
    """What rows are: how many columns were given, their names, and what made numbers of them."""

    given: int
    given_names: Labels | None = None
    encoder: EncoderState | None = None

    @property
    def width(self) -> int:
        """How many numbers the layers take: of a table, the features made of it."""
        return self.given if self.encoder is None else len(self.encoder.names)

    @property
    def names(self) -> tuple[str, ...] | None:
        """The names of these numbers, None if they have none."""
        if self.encoder is not None:
            return self.encoder.names
        return None if self.given_names is None else tuple(map(str, self.given_names))


class Roles(NamedTuple):
    """Names of the target, of the weights and of the groups; None where they had none."""

    target: str | None = None
    weight: str | None = None
    groups: str | None = None


class Training(NamedTuple):
    """How rows were learned from, and what is known of them besides."""

    dtype: Any
    seed: int
    device: Any = None
    n_groups: int | None = None
    roles: Roles = Roles()


class Notes(NamedTuple):
    """What answers depend on, what training rows were like, and fingerprints of them, if known."""

    dependences: Dependences | None = None
    histograms: TrainingHistograms | None = None
    row_prints: RowPrints | None = None


_NO_NOTES = Notes()


@dataclass(frozen=True, eq=False)
class Fitted:
    """A fitted model: mean, noise, targets and calibration; for classes also probabilities.

    It is what is saved, exported, reported on and sent to workers. The mean is a stack or a single
    layer. The noise is None for points, a `SquaredNoise` for the published model, whose
    `noise_stage` people may look at, else a `Predictive`. Rows can be added to a model with `grown`
    sums; where noise and calibration are older than these, it is `stale`.
    """

    inputs: Inputs
    training: Training
    targets: TargetUnits
    mean: MeanStack | Layer
    noise: Predictive | SquaredNoise | None = None
    noise_stage: NoiseStage | None = None
    new_levels: NewLevels | None = None
    calibration: Calibration | None = None
    symmetric: bool = True
    reweighted: bool = False
    stale: bool = False
    classes: Classes | None = None
    probability: tuple[Probability, ...] | None = None
    deciding: Deciding | None = None
    grown: Grown | None = None
    notes: Notes = _NO_NOTES

    @property
    def layer(self) -> Layer | None:
        """The single layer, None for a stack."""
        return self.mean if isinstance(self.mean, Layer) else None

    @property
    def stack(self) -> MeanStack | None:
        """The stack, None for a single layer."""
        return self.mean if isinstance(self.mean, MeanStack) else None

    @property
    def predictive(self) -> Predictive | None:
        """The stack with models of the logarithm of the variance, None where there are none."""
        return self.noise if isinstance(self.noise, Predictive) else None

    @property
    def squared(self) -> SquaredNoise | None:
        """The published noise model, None for others."""
        return self.noise if isinstance(self.noise, SquaredNoise) else None

    @cached_property
    def score_points(self) -> np.ndarray[Any, np.dtype[np.float64]]:
        """Equally likely scores of every output, (m, k)."""
        assert self.calibration is not None
        return np.array([self.calibration.points(j) for j in range(self.targets.count)])

    def check_fresh(self) -> None:
        """Refuse to answer by a noise model that is older than the mean."""
        if self.stale:
            raise ValueError(STALE)

    def with_group_name(self, name: str | None) -> Self:
        """Return the same, with the name of the column that rows were grouped by."""
        roles = self.training.roles._replace(groups=name)
        return replace(self, training=self.training._replace(roles=roles))

    def light(self) -> Self:
        """Return the same without what answers about numbers do not need, to be sent elsewhere."""
        inputs = Inputs(self.inputs.width)
        deciding = self.deciding
        if deciding is not None:
            none = np.zeros(len(deciding.left_out.score), dtype=np.bool_)
            deciding = replace(deciding, left_out=deciding.left_out.part(none), held_out=None)
        return replace(self, inputs=inputs, deciding=deciding, grown=None, notes=_NO_NOTES)

    def parts(self, X: Array, z: float = 1.96) -> Parts:
        """Return mean and variances of standardised targets for a block of rows."""
        self.check_fresh()
        if isinstance(self.noise, Predictive):
            # Rows at the end of numbers have infinite variances, which is no reason for warnings.
            with np.errstate(over="ignore", invalid="ignore"):
                parts = self.noise.parts(X, z)
            if self.new_levels is not None:
                parts = parts.widened(self.new_levels.of_rows(X))
        else:
            noise, layer = self._published()
            H = layer.features.apply(X)
            parts = noise.parts(X, H, layer.mean_of_hidden(H), z)
        return parts.supported(self.targets.support).bounded_by_nothing()

    def totals(self, X: Array) -> Parts:
        """Return the same where only the whole variance is asked for."""
        self.check_fresh()
        if isinstance(self.noise, Predictive):
            return self.parts(X)
        noise, layer = self._published()
        H = layer.features.apply(X)
        parts = Parts.alike(double(layer.mean_of_hidden(H)), noise.total(X, H))
        return parts.supported(self.targets.support).bounded_by_nothing()

    def noise_and_model(self, X: Array) -> tuple[Array, Array, Array]:
        """Return mean, noise and what the models do not know: the variances of both in one."""
        self.check_fresh()
        if isinstance(self.noise, Predictive):
            parts = self.parts(X)
            return parts.mean, parts.noise, parts.mean_model + parts.noise_model
        noise, layer = self._published()
        H = layer.features.apply(X)
        return layer.mean_of_hidden(H), *noise.noise_and_model(X, H)

    def _published(self) -> tuple[SquaredNoise, Layer]:
        assert isinstance(self.noise, SquaredNoise)
        assert isinstance(self.mean, Layer)
        return self.noise, self.mean
