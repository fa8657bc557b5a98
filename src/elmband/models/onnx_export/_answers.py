"""What a graph answers, output by output, for every kind of model."""

from typing import NamedTuple

from elmband.models.fitted import Fitted
from elmband.models.onnx_export._classes import labels, probabilities
from elmband.models.onnx_export._confidence import accepted, answer_of, confidence_of
from elmband.models.onnx_export._fitted import dtype_of, least_confidence, thresholds_of
from elmband.models.onnx_export._graph import DOUBLE, Graph, Port, Tensor
from elmband.models.onnx_export._intervals import intervals
from elmband.models.onnx_export._mean import mean_of
from elmband.models.onnx_export._table import encoded, input_names
from elmband.models.onnx_export._units import in_units, point_mean
from elmband.sources.encode import EncoderState

_LEVEL = 0.95


class Rows(NamedTuple):
    """The input X (n, d), and a column that is 0, or nan where a row has missing numbers."""

    X: Tensor
    missing: Tensor

    @classmethod
    def of(cls, graph: Graph, fitted: Fitted) -> "Rows":
        """Add the input to a graph, or those of all columns where there is an encoder."""
        if fitted.inputs.encoder is not None:
            X = encoded(graph, fitted.inputs.encoder, column_inputs(fitted.inputs.encoder)).to(
                dtype_of(fitted)
            )
            return cls(X, (X - X).reduced("ReduceSum"))
        names = "" if fitted.inputs.names is None else f": {', '.join(fitted.inputs.names)}"
        shape = ("n", fitted.inputs.width)
        X = graph.input(
            Port("X", dtype_of(fitted), shape, f"Rows with the features of training{names}.")
        )
        return cls(X, (X - X).reduced("ReduceSum"))

    def known(self, values: Tensor) -> Tensor:
        """Return values (n, k) of rows, nan where a row has missing or infinite numbers."""
        return values + self.missing.to(values.dtype)


def column_inputs(state: EncoderState) -> dict[str, str]:
    """Return the names of inputs by those of columns, other than those of all else."""
    return input_names(state, _TEXTS)


def answers(graph: Graph, fitted: Fitted) -> None:
    """Add inputs, all operations and outputs."""
    rows = Rows.of(graph, fitted)
    if fitted.classes is not None:
        _classifier(graph, rows, fitted)
    elif fitted.calibration is not None:
        _interval_model(graph, rows, fitted)
    else:
        _output(graph, rows, fitted, "mean", point_mean(mean_of(rows.X, fitted), fitted))


def _output(graph: Graph, rows: Rows, fitted: Fitted, name: str, values: Tensor) -> None:
    """Hand values (n, m) out, (n,) where y has no axis of outputs."""
    known = rows.known(values)
    if fitted.targets.single_output:
        graph.output(name, known.flat(), ("n",), _TEXTS[name])
    else:
        graph.output(name, known, ("n", fitted.targets.count), _TEXTS[name])


def _interval_model(graph: Graph, rows: Rows, fitted: Fitted) -> None:
    level = graph.input(Port("confidence_level", DOUBLE, (), _TEXTS["confidence_level"]), _LEVEL)
    found = intervals(rows.X, level.apply("Reshape", level.whole(1)), fitted)
    for name, values in found._asdict().items():
        _output(graph, rows, fitted, name, values)


def _classifier(graph: Graph, rows: Rows, fitted: Fitted) -> None:
    classes, probability = fitted.classes, fitted.probability
    assert classes is not None
    assert probability is not None
    mean = mean_of(rows.X, fitted)
    decision = in_units(mean, fitted)
    shape: tuple[int | str, ...] = ("n", fitted.targets.count) if classes.multilabel else ("n",)
    graph.output("label", labels(decision, classes), shape, _TEXTS["label"])
    _output(graph, rows, fitted, "decision", decision)
    shares = rows.known(probabilities(decision, classes, probability))
    graph.output("probability", shares, ("n", len(classes.labels)), _TEXTS["probability"])
    if fitted.deciding is None:
        return
    answer = answer_of(rows.X, mean, fitted)
    confidence = rows.known(confidence_of(answer, fitted.deciding.confidence))
    graph.output("confidence", confidence.flat(), ("n",), _TEXTS["confidence"])
    thresholds = thresholds_of(fitted)
    if thresholds is not None:
        certain = accepted(confidence, answer.place, least_confidence(thresholds))
        graph.output("accepted", certain.flat(), ("n",), _TEXTS["accepted"])


_TEXTS = {
    "confidence_level": (
        "Share of new targets that intervals are to cover, above 0 and below 1; bounds are nan "
        "at any other."
    ),
    "mean": "Predicted mean.",
    "lower": "Lower bound of the interval.",
    "upper": "Upper bound of the interval.",
    "std": "Standard deviation; half the width of the 68.27 % interval with a transform.",
    "label": "The label of every row.",
    "decision": "Predicted value on the scale of -1 and +1.",
    "probability": "Probability of every class.",
    "confidence": "How certain the label is, larger for more certain rows.",
    "accepted": "Whether the label can be taken; the other rows are for a person.",
}
