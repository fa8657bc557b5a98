"""Models as ONNX files, which many runtimes and languages run without elmband or Python."""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any, overload

from elmband.ground.files import appearing_whole, check_writable, naming
from elmband.models.fitted import Fitted
from elmband.models.onnx_export._answers import answers, column_inputs
from elmband.models.onnx_export._fitted import exportable, thresholds_of
from elmband.models.onnx_export._graph import Graph
from elmband.models.onnx_export._inputs import facts_of
from elmband.models.onnx_export._proto import About, checked_opset, model_proto

if TYPE_CHECKING:
    from onnx import ModelProto

__all__ = ["to_onnx"]


@overload
def to_onnx(
    model: Any, path: None = None, *, opset: int | None = None, encoder: bool = True
) -> "ModelProto": ...


@overload
def to_onnx(
    model: Any, path: str | Path, *, opset: int | None = None, encoder: bool = True
) -> Path: ...


def to_onnx(
    model: Any,
    path: str | Path | None = None,
    *,
    opset: int | None = None,
    encoder: bool = True,
) -> "ModelProto | Path":
    """Return a fitted model as an ONNX model, or write it to a file and return its path.

    The input `X` (n, n_features) has the dtype that the model was trained on, float32 or float64,
    and so have the outputs, which are named after what Python returns:

    - `ELMRegressor`: mean;
    - `ELMIntervalRegressor`: mean, lower, upper and std, at the `confidence_level` of a second
      input, which is 0.95 where it is left out;
    - `ELMClassifier`: label, decision and probability;
    - `ELMSelectiveClassifier`: the same with confidence, in float64, and accepted, if something
      was asked for.

    A model that was trained on a table with text, dates or gaps takes the table itself: in place of
    `X` there is an input (n,) for each column that its encoder uses, with its name. Columns that
    are called as something else in this list are `column_mean`, `column_label` and so on. The text
    of every input tells what it takes:

    - numbers, in the dtype of the features, booleans as 0 and 1, durations in seconds; NaN where
      missing;
    - text and categories as text, an empty one where missing (``'<missing>'`` if the fit had an
      empty level); unseen levels are `other`, as in Python;
    - dates as int64, in microseconds since 1970 on the clocks that the fit had (those of its time
      zone, not UTC), times of day since midnight; -2**63 where missing.
      ``dates.astype("M8[us]").astype("int64")`` of NumPy is that.

    The note `inputs` among the metadata is a JSON list with the column, kind, unit, time zone, mark
    of missing values, range in training and levels of every input.

    Dates in another unit are refused where a number can tell: a row has nan for an answer if its
    date lies outside the years 1 to 9999, as most numbers of nanoseconds do; or, where all training
    dates are at least a year away from 1970, within seven weeks of it and not at midnight, as
    numbers of days, seconds and milliseconds do. Of milliseconds one midnight in a thousand is not
    refused. So has a time of day that is none, or one of less than 86,400 microseconds, as all
    numbers of seconds are; milliseconds cannot be told, and no unit of a number or a duration can.

    Answers equal those of Python but for rounding: to some 12 digits in float64 (to some 6 with
    local layers, which are float32 in Python too), to some 5 in float32. Nothing is refused and no
    warning given when the file runs: a row with missing or infinite numbers has nan for an answer,
    a label that means nothing, and is not accepted; a level that is not between 0 and 1 has nan for
    bounds; where calibration rows are too few for a level, bounds are infinite. All
    rows of a call are in memory at once; give many in parts.

    Parameters
    ----------
    model : estimator
        A fitted model. Functions of your own (neurons, target transforms) cannot be expressed.
    path : str or Path, default=None
        The file to write, which appears whole or not at all.
    opset : int, default=None
        Version of the operators, 17 by default, which runtimes since 2022 know.
    encoder : bool, default=True
        Whether the encoder of the model is part of it. If not, `X` are the features that
        ``model.encoder_.transform`` makes of a table.

    Returns
    -------
    onnx.ModelProto or Path
        The model, or the path where it was written. Its metadata name the features and classes,
        inputs and columns, and say what the threshold means.

    Examples
    --------
    >>> from elmband import ELMIntervalRegressor
    >>> from elmband.datasets import make_heteroscedastic
    >>> from elmband.models.onnx_export import to_onnx
    >>> data = make_heteroscedastic(200, random_state=0)
    >>> model = ELMIntervalRegressor(20, random_state=0).fit(data.X, data.y)
    >>> [output.name for output in to_onnx(model).graph.output]
    ['mean', 'lower', 'upper', 'std']
    """
    graph = Graph(checked_opset(opset))
    if path is not None:
        check_writable(Path(path))
    fitted = exportable(model, encoder=encoder)
    answers(graph, fitted)
    proto = model_proto(graph, _about(fitted, type(model).__name__))
    if path is None:
        return proto
    with appearing_whole(Path(path)) as temporary, naming(Path(path)):
        temporary.write_bytes(proto.SerializeToString())
    return Path(path)


def _about(fitted: Fitted, kind: str) -> About:
    """Return what a file says of the model it holds."""
    notes = {"model": kind}
    if fitted.inputs.names is not None:
        notes["features"] = json.dumps(fitted.inputs.names)
    if fitted.inputs.encoder is not None:
        inputs = column_inputs(fitted.inputs.encoder)
        notes["columns"] = json.dumps(inputs)
        notes["inputs"] = json.dumps(facts_of(fitted.inputs.encoder, inputs))
    if fitted.classes is not None:
        notes["classes"] = json.dumps(fitted.classes.labels.tolist(), default=str)
    elif fitted.calibration is not None:
        notes["calibration"] = fitted.calibration.kind
    thresholds = thresholds_of(fitted)
    if thresholds is not None and fitted.classes is not None:
        notes["statement"] = thresholds.statement(fitted.classes.labels)
    return About(f"A fitted {kind} of elmband.", notes)
