"""What classifiers are asked, and say of a block of rows: labels, probabilities, decisions."""

from functools import partial
from typing import Any

import numpy as np

from elmband.ground.arrays import Array, double, namespace, place, to_numpy
from elmband.models.decisions import REASONS, Triage
from elmband.models.fitted import Fitted
from elmband.models.question import Columns, Question, column, fields
from elmband.models.thresholds import Thresholds
from elmband.sources.device import moved
from elmband.sums.scaling import Scaling
from elmband.uncertainty.confidence import Answer
from elmband.uncertainty.probability import both_classes


def decision_question() -> Question:
    """Ask for ŷ on the scale of ±1."""
    return Question("decision_function", decisions, partial(column, name="decision"))


def label_question() -> Question:
    """Ask for the label of every row."""
    columns = partial(column, name="label")
    return Question("predict", labels, columns, typed=True, series="predict")


def probability_question(classes: Any) -> Question:
    """Ask for the probability of every one of the classes."""
    return Question("predict_proba", shares, partial(_share_columns, classes=classes))


def _share_columns(answer: Array, classes: Any) -> Columns:
    return {f"probability_{label}": answer[:, k] for k, label in enumerate(classes)}


def confidence_question() -> Question:
    """Ask how certain labels are."""
    return Question("confidence", _confidence, partial(column, name="confidence"))


def _confidence(fitted: Fitted, X: Array) -> Array:
    found = answer(fitted, X)
    assert fitted.deciding is not None
    return _placed(fitted.deciding.confidence(found), X)


def accept_question(thresholds: Thresholds) -> Question:
    """Ask which rows are answered."""
    columns = partial(column, name="accepted")
    return Question("accept", partial(_accepted, thresholds=thresholds), columns)


def _accepted(fitted: Fitted, X: Array, thresholds: Thresholds) -> Array:
    found = answer(fitted, X)
    assert fitted.deciding is not None
    return _placed(thresholds.accepted(fitted.deciding.confidence(found), found.place), X)


def triage_question(thresholds: Thresholds) -> Question:
    """Ask for labels, which of them are accepted, how certain they are, and why others are not."""
    answer = partial(_triage, thresholds=thresholds)
    return Question("triage", answer, fields, kind=Triage, typed=True, words=REASONS)


def _triage(fitted: Fitted, X: Array, thresholds: Thresholds) -> Triage:
    found = answer(fitted, X, whole=True)
    assert fitted.deciding is not None
    assert fitted.classes is not None
    score = fitted.deciding.confidence(found)
    accepted = thresholds.accepted(score, found.place)
    reasons = REASONS.take(fitted.deciding.novelty.reasons(found, accepted))
    return Triage(fitted.classes.labels.take(found.place), accepted, score, reasons)


def all_question(thresholds: Thresholds | None = None) -> Question:
    """Ask for labels, probabilities and confidence at once, with thresholds for reasons as well."""
    answer = partial(_all, thresholds=thresholds)
    return Question("predict_proba", answer, _in_parts, typed=True)


def _in_parts(parts: tuple[Any, ...]) -> Columns:
    return dict(zip(("label", "probability", "confidence", "reason"), parts, strict=False))


def _all(fitted: Fitted, X: Array, thresholds: Thresholds | None) -> tuple[Any, ...]:
    assert fitted.classes is not None
    if fitted.deciding is None:
        told = decisions(fitted, X)
        return fitted.classes.decided(told), shares_of(fitted, told)
    found, told = answer_and_decisions(fitted, X, whole=thresholds is not None)
    score = fitted.deciding.confidence(found)
    parts = fitted.classes.decided(told), shares_of(fitted, told), _placed(score, X)
    if thresholds is None:
        return parts
    accepted = thresholds.accepted(score, found.place)
    return *parts, REASONS.take(fitted.deciding.novelty.reasons(found, accepted))


def _placed(values: Any, like: Array) -> Array:
    """Return an array in the library of the rows, of its own dtype."""
    if isinstance(like, np.ndarray):
        return values
    xp = namespace(like)
    return place(values, like, xp.bool if values.dtype == np.bool_ else xp.float64)


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
