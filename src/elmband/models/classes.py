"""What a classifier says of a block of rows: labels, probabilities, how certain it is."""

from typing import Any

import numpy as np

from elmband.ground.arrays import Array, double, namespace, to_numpy
from elmband.models.fitted import Fitted
from elmband.sources.device import moved
from elmband.sums.scaling import Scaling
from elmband.uncertainty.confidence import Answer
from elmband.uncertainty.probability import both_classes


def decisions(fitted: Fitted, X: Array) -> Array:
    """Return ŷ on the scale of ±1: (n,) for two classes, else (n, n_classes)."""
    return _decisions_of(fitted, fitted.mean.mean(X), X)


def _decisions_of(fitted: Fitted, mean: Array, X: Array) -> Array:
    return fitted.targets.shaped(fitted.targets.smeared(mean, X))


def labels(fitted: Fitted, X: Array) -> Any:
    """Return the label of every row, (n,), or columns of 0 and 1."""
    assert fitted.classes is not None
    return fitted.classes.decided(decisions(fitted, X))


def shares(fitted: Fitted, X: Array) -> Array:
    """Return the probability of every class, (n, n_classes)."""
    return shares_of(fitted, decisions(fitted, X))


def shares_of(fitted: Fitted, found: Array) -> Array:
    """Return the same from what `decisions` has found."""
    classes = fitted.classes
    assert classes is not None
    if fitted.probability is None:
        raise ValueError(
            "Probabilities are older than the model, which rows were added to; call refresh "
            "with rows that it was trained on."
        )
    if classes.single_output:
        return fitted.probability[0](both_classes(found))
    if not classes.multilabel:
        return fitted.probability[0](found)
    each = [p(both_classes(found[:, j]))[:, 1] for j, p in enumerate(fitted.probability)]
    return namespace(found).stack(each, axis=1)


def answered(scaling: Scaling, mean: Any, noise: Any, model: Any) -> Answer:
    """Return answers from standardised means and variances, each (n, m)."""
    scale, centre = (to_numpy(double(a)) for a in (scaling.scale, scaling.mean))
    variances = (to_numpy(double(v)) * scale**2 for v in (noise, model))
    return Answer.of(to_numpy(double(mean)) * scale + centre, *variances)


def answer(fitted: Fitted, X: Array, *, whole: bool = False) -> Answer:
    """Return what is said of a block of rows, without variances that the rule does not need.

    The answer is `whole` where reasons need them all the same.
    """
    return answer_and_decisions(fitted, X, whole=whole)[0]


def answer_and_decisions(fitted: Fitted, X: Array, *, whole: bool = False) -> tuple[Answer, Array]:
    """Return an answer, and ŷ as `decisions` does, from one look at the rows."""
    fitted.check_fresh()
    assert fitted.deciding is not None
    here = isinstance(X, np.ndarray)
    if fitted.training.device is not None and here:
        X = moved(X, fitted.training.device)
    scaling = fitted.targets.scaling
    if fitted.deciding.confidence.rule == "margin" and not whole:
        mean = fitted.mean.mean(X)
        noise = model = namespace(mean).zeros_like(mean)
    else:
        mean, noise, model = fitted.noise_and_model(X)
    told = _decisions_of(fitted, mean, X)
    return answered(scaling, mean, noise, model), to_numpy(told) if here else told
