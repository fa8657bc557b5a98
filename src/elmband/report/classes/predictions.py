"""What a classifier says of rows."""

from typing import Any, NamedTuple

import numpy as np

from elmband.estimators import ELMSelectiveClassifier
from elmband.ground.arrays import Array, double, to_numpy
from elmband.report.inputs import placed
from elmband.report.tallies import Floats, Ints


class Said(NamedTuple):
    """The place of the class called, how certain it is, probabilities (n, k), which are answered.

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


def said(model: Any, X: Array) -> Said:
    """Ask the model about a block of rows."""
    X = placed(model, X)
    probability = np.asarray(to_numpy(double(model._shares(X))))  # noqa: SLF001
    if not isinstance(model, ELMSelectiveClassifier):
        labels = np.asarray(to_numpy(model._labels(X)))  # noqa: SLF001
        called = np.asarray(model._classes.positions(labels))  # noqa: SLF001
        score = probability[np.arange(len(called)), called]
        return Said(called, score, probability, np.ones(len(called), dtype=np.bool_))
    answer = model._answer(X)  # noqa: SLF001
    score = model.confidence_(answer)
    answered = np.ones(len(score), dtype=np.bool_)
    if abstains(model):
        answered = model._chosen().accepted(score, answer.place)  # noqa: SLF001
    return Said(answer.place, score, probability, answered)


def abstains(model: Any) -> bool:
    """Tell whether the model has been asked which rows to answer."""
    return getattr(model, "_thresholds", None) is not None


def positive_place(model: Any) -> int | None:
    """Return the place of the positive class: the second of two, or the one that was named."""
    if isinstance(model, ELMSelectiveClassifier):
        place: int | None = model._positive()  # noqa: SLF001
        return place
    return 1 if len(model.classes_) == 2 else None
