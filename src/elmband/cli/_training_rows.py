"""A look at whether rows to be judged by were in training."""

from functools import partial
from typing import TYPE_CHECKING, Any

from elmband.cli._status import note
from elmband.estimators.labelled import count_targets
from elmband.report.inputs import labelled_rows, seen_in_training
from elmband.report.rows import total
from elmband.report.training_overlap import training_overlap
from elmband.sources.stream import Scan

if TYPE_CHECKING:
    from elmband.models.fitted import Fitted


def share_of_training(model: Any, rows: Scan) -> float | None:
    """Return the share of the rows of a scan that training saw, and say so where there are any.

    None is for models that do not know their rows, and for several targets. It takes a pass.
    """
    fitted: Fitted = model.fitted_
    known = fitted.notes.row_prints is not None and count_targets(fitted) == 1
    if not known or rows.has_weights:
        return None
    judged = labelled_rows(model, rows, ())
    found = training_overlap(total(judged, partial(seen_in_training, model), None, "fingerprints"))
    if found is None:
        return None
    if found["warns"]:
        note(found["sentence"])
    return float(found["share"])
