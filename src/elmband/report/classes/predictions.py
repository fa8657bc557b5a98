"""What a classifier says of rows."""

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from elmband.estimators import ELMSelectiveClassifier
from elmband.ground.arrays import Array, Floats, Ints, double, to_numpy
from elmband.models.classes import answer, labels, shares
from elmband.models.thresholds import positive_place as positive_of
from elmband.report.inputs import placed

if TYPE_CHECKING:
    from elmband.models.fitted import Fitted


class Predictions(NamedTuple):
    """Called classes by place, their scores, probabilities (n, k), and which rows are answered.

    `score` is larger for more certain rows, on the scale of the model. A model that has not been
    asked to abstain answers all.
    """

    called: Ints
    score: Floats
    probability: Floats
    answered: Any

    @property
    def of_called(self) -> Floats:
        """The probability of the class called, (n,)."""
        return self.probability[np.arange(len(self.called)), self.called]


def predictions(model: Any, X: Array) -> Predictions:
    """Return labels, scores and probabilities of a block of rows."""
    X = placed(model, X)
    fitted: Fitted = model.fitted_
    probability = np.asarray(to_numpy(double(shares(fitted, X))))
    if not isinstance(model, ELMSelectiveClassifier):
        assert fitted.classes is not None
        called = fitted.classes.positions(np.asarray(to_numpy(labels(fitted, X))))
        score = probability[np.arange(len(called)), called]
        return Predictions(called, score, probability, np.ones(len(called), dtype=np.bool_))
    decided = answer(fitted, X)
    score = model.confidence_(decided)
    answered = np.ones(len(score), dtype=np.bool_)
    if abstains(model):
        assert fitted.deciding is not None
        assert fitted.deciding.thresholds is not None
        answered = fitted.deciding.thresholds.accepted(score, decided.place)
    return Predictions(decided.place, score, probability, answered)


def abstains(model: Any) -> bool:
    """Tell whether the model has been asked which rows to answer."""
    return getattr(model, "has_thresholds", False)


def positive_place(model: Any) -> int | None:
    """Return the place of the positive class: the second of two, or the one that was named."""
    if isinstance(model, ELMSelectiveClassifier):
        return positive_of(model.pos_label, model.classes_)
    return 1 if len(model.classes_) == 2 else None
