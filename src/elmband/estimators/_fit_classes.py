"""What is learned of rows left out whose classes are known: probabilities, and what is certain."""

from dataclasses import replace
from typing import Any

import numpy as np

from elmband.ground.arrays import double, to_numpy
from elmband.models.classes import answered
from elmband.models.decisions import Deciding, NoveltyLimit
from elmband.models.fitted import Fitted
from elmband.models.thresholds import ASKED, Request, ScoredRows, estimated, promised
from elmband.uncertainty.classes import Classes
from elmband.uncertainty.confidence import Confidence, Judge
from elmband.uncertainty.left_out import LeftOut
from elmband.uncertainty.mean import MeanModel
from elmband.uncertainty.probability import Probability, both_classes


def with_probability(fitted: Fitted, left_out: LeftOut) -> Fitted:
    """Calibrate probabilities on rows left out."""
    classes, scaling = fitted.classes, fitted.targets.scaling
    assert classes is not None
    target, mean, s, *_ = left_out.numpy()
    assert s is not None
    scale, centre = (to_numpy(double(a)) for a in (scaling.scale, scaling.mean))
    decisions, codes = mean * scale + centre, target * scale + centre
    if classes.single_output or classes.multilabel:
        found = tuple(
            Probability.fit(both_classes(d), (code > 0).astype(np.int64), s)
            for d, code in zip(decisions.T, codes.T, strict=True)
        )
    else:
        found = (Probability.fit(decisions, np.argmax(codes, axis=1), s),)
    return replace(fitted, probability=found)


def with_kept_probability(fitted: Fitted, mean: MeanModel) -> Fitted:
    """Calibrate probabilities on the rows that a model with new sums has kept."""
    assert fitted.grown is not None
    sample = fitted.grown.kept
    if sample is None:
        # Models merged from fits have kept no rows.
        return replace(fitted, probability=None)
    return with_probability(fitted, mean.left_out(sample))


def with_decisions(model: Any, fitted: Fitted, left_out: LeftOut) -> Fitted:
    """Learn from rows left out what is certain, and which rows to answer if that is asked for."""
    # A judge would learn from an echo of the classes that nothing can be told.
    rows = left_out.without_echo().numpy()
    assert fitted.classes is not None
    assert rows.s is not None
    assert rows.mean_model is not None
    assert rows.noise_model is not None
    scaling, zero = fitted.targets.scaling, np.zeros_like(rows.mean)
    answer = answered(scaling, rows.mean, rows.noise, rows.mean_model + rows.noise_model)
    true = answered(scaling, rows.target, zero, zero).place
    judge = None
    if model.rank_by == "probability":
        judge = Judge.fit(answer, answer.place == true, rows.s)
    confidence = Confidence(model.rank_by, judge)
    s = rows.s if (rows.s != 1).any() else None
    known = ScoredRows(confidence(answer), answer.place, true, s).small(len(fitted.classes.labels))
    deciding = Deciding(confidence, known, NoveltyLimit.of(answer, s))
    return decided(replace(fitted, deciding=deciding), request_of(model, fitted.classes), None)


def request_of(model: Any, classes: Classes | None, **changed: Any) -> Request | None:
    """Return what is asked for by the parameters of a model, some of them changed."""
    assert classes is not None
    asked = {name: getattr(model, name) for name in ASKED} | changed
    return Request.of(asked, classes.labels)


def decided(
    fitted: Fitted, request: Request | None, held_out: tuple[ScoredRows, float] | None
) -> Fitted:
    """Find thresholds by rows held out, else by those left out."""
    deciding, classes = fitted.deciding, fitted.classes
    assert deciding is not None
    assert classes is not None
    thresholds = None
    if request is not None and held_out is None:
        thresholds = estimated(request, deciding.left_out, classes.labels)
    elif request is not None and held_out is not None:
        rows, level = held_out
        thresholds = promised(request, rows, deciding.left_out, classes.labels, level)
    return replace(fitted, deciding=replace(deciding, held_out=held_out, thresholds=thresholds))
