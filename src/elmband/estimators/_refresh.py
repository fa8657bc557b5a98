"""Noise, covariances and multipliers anew, once rows were added to the mean."""

import warnings
from typing import Any

from elmband.estimators._fit_intervals import with_second
from elmband.estimators._fit_mean import LeftOutRows
from elmband.estimators._more_rows import grown_of, no_rows
from elmband.estimators._open_rows import more_rows
from elmband.estimators._scans import followed
from elmband.estimators._validate import check_alpha
from elmband.ground.callers import level_of_caller
from elmband.models.fitted import Fitted
from elmband.models.grown import same_rows

_ONLY_GROWN = "refresh is for models that partial_fit or merge has changed."


def refreshed(model: Any, X: Any, y: Any, weight: Any) -> tuple[Fitted, LeftOutRows]:
    """Return a model whose noise is as old as its mean, and what is said of rows left out."""
    known: Fitted | None = vars(model).get("fitted_")
    if known is None:
        raise ValueError(_ONLY_GROWN)
    grown = grown_of(known, _ONLY_GROWN)
    if known.calibration is not None and known.calibration.kind == "conformal":
        warnings.warn(
            "refresh takes multipliers from the training rows; call calibrate again for its "
            "guarantee.",
            UserWarning,
            stacklevel=level_of_caller(),
        )
    rule = check_alpha(model.alpha)
    noise_rule = rule if model.noise_alpha is None else check_alpha(model.noise_alpha)
    if X is None:
        if model.mode != "fast" or grown.sample is None:
            raise ValueError(
                "refresh needs the rows that the mean was trained on: refresh(X, y); only "
                "mode='fast' with partial_fit from the first row on keeps a sample of them."
            )
        # Leave-one-out would need all rows.
        noise_rule = "gcv" if noise_rule in ("auto", "loo") else noise_rule
        mean = grown.mean_model(no_rows(known), rule)
        return with_second(model, known, mean, noise_rule, from_grown=True)
    with followed(model, X, None):
        rows = same_rows(more_rows(model, X, y, weight), grown)
        return with_second(model, known, grown.mean_model(rows, rule), noise_rule)
