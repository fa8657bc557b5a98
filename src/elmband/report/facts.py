"""Facts on data and model."""

from collections.abc import Iterable
from datetime import UTC, datetime
from typing import Any

import numpy as np

from elmband import __version__
from elmband.report.axes import Axis, DayAxis, NumberAxis, WordsAxis
from elmband.report.first_pass import FirstPass
from elmband.report.inputs import encoder_state
from elmband.report.rows import LabelledRows

# Ranges of more features than this fill a page that nobody reads.
_MOST_RANGES = 100


def data_facts(rows: LabelledRows, first: FirstPass) -> dict[str, Any]:
    """Return sizes and ranges of the rows."""
    lines = [line for axis in rows.axes if (line := _range(axis, first)) is not None]
    return {
        "n_rows": first.n,
        "n_dropped": rows.n_dropped,
        "n_features": len(rows.axes),
        "features": lines[:_MOST_RANGES],
        "n_ranges": len(lines),
    }


def _range(axis: Axis, first: FirstPass) -> dict[str, Any] | None:
    """Return the range of numbers, or the most frequent of words; angles have neither."""
    places = list(axis.places)
    mean = np.asarray(first.features.mean)[places]
    if isinstance(axis, NumberAxis):
        low, high = (float(a[places[0]]) for a in (first.ranges.low, first.ranges.high))
        if isinstance(axis, DayAxis):
            return {"name": axis.name, "days": axis.label(low, high)}
        return {"name": axis.name, "low": low, "mean": float(mean[0]), "high": high}
    if isinstance(axis, WordsAxis) and len(places) > 1:
        most = int(mean.argmax())
        word, share = axis.words[most], float(mean[most])
        return {"name": axis.name, "words": len(places), "most": word, "share": share}
    return None


def model_facts(model: Any) -> dict[str, Any]:
    """Return the kind of model, its layers and training rows, and version and date of the page."""
    return {
        "model": type(model).__name__,
        "encoded": encoder_state(model) is not None,
        "layers": layers(model),
        "trained_on": _training_rows(model),
        "version": __version__,
        "date": datetime.now(UTC).date().isoformat(),
    }


def layers(model: Any) -> list[dict[str, Any]]:
    """Return the kinds of neurons of every hidden layer, and how many of each."""
    stack = model.fitted_.stack
    hidden = [model.hidden_] if stack is None else [m.features.hidden for m in stack.members]
    return [{"neurons": layer.n_neurons, "kinds": _kinds(layer.blocks)} for layer in hidden]


def _kinds(blocks: Iterable[Any]) -> list[str]:
    """Return the kinds of neurons; functions of the user have no telling name."""
    named = (block.kind if isinstance(block.kind, str) else "own function" for block in blocks)
    return list(dict.fromkeys(named))


def _training_rows(model: Any) -> int | None:
    """Return the number of training rows, where the model or its encoder has noted it."""
    state = encoder_state(model)
    if state is not None:
        return round(state.n_rows)
    grown = model.fitted_.grown
    return None if grown is None or grown.sums is None else round(grown.sums.n)
