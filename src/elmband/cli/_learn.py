"""What ``elmband fit`` asks of a table before it learns, and of a model afterwards."""

import math
from pathlib import Path
from typing import Any

from elmband import ELMSelectiveClassifier
from elmband.cli._files import STANDARD, named
from elmband.cli._model import whole_number
from elmband.cli._option_words import in_option_words
from elmband.cli._status import UnkeptError
from elmband.models.request import Request
from elmband.sources.stream.csv_decimal import misread_in


def check_target(rows: Any, data: str, *, classes: bool) -> bool:
    """Return whether the target is text; refuse numbers among which there is text by mistake."""
    levels = None if rows.encoder is None else rows.encoder.target_levels_
    if levels is None:
        return False
    number = None if classes else misread_in([str(level) for level in levels])
    if number is not None:
        raise ValueError(
            f"{named(data)} has numbers such as {number} in its target column, which are text as "
            "they are written: write them without separators of thousands, name the decimal "
            "point by --decimal, or take every value as a class with --classes."
        )
    words = [str(level) for level in levels if not _is_number(str(level))]
    if not classes and words and len(words) < len(levels) / 2:
        raise ValueError(
            f"{named(data)} has numbers in its target column, but also text such as {words[0]!r}: "
            "mend these values, or take every value as a class with --classes."
        )
    return True


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def positive_class(rows: Any, name: str) -> Any:
    """Return the class that a name stands for, as it is in the table."""
    levels = None if rows.encoder is None else rows.encoder.target_levels_
    if levels is None:
        return whole_number(name)
    # False and True are written in many ways.
    found = (level for level in levels if str(level).lower() == name.lower())
    return name if name in levels else next(found, name)


def check_wishes(model: ELMSelectiveClassifier, rows: Any) -> None:
    """Refuse what these classes cannot be asked for, where their names are known before a fit."""
    levels = None if rows.encoder is None else rows.encoder.target_levels_
    if levels is not None:
        Request.of(model.get_params(), levels)


def check_apart(data: str, held_out: str) -> None:
    """Refuse rows that training has seen: nothing could be promised by them."""
    there = STANDARD not in (data, held_out) and Path(data).exists() and Path(held_out).exists()
    if there and Path(data).samefile(held_out):
        raise ValueError(
            f"{held_out} is what the model is trained on; --calibrate needs other rows, which "
            "training does not see."
        )


def promised(model: Any, held_out: Any, asked: dict[str, float], groups: Any = None) -> None:
    """Turn estimates of a model into promises, by rows held out, which may belong to groups."""
    labels = {} if groups is None else {"groups": groups}
    if not isinstance(model, ELMSelectiveClassifier) or not asked:
        model.calibrate(held_out, **labels)
        return
    # Rows are judged first, without a wish: what is refused afterwards is the wish.
    model.set_params(**dict.fromkeys(asked))
    model.calibrate(held_out, **labels)
    choose(model, asked)


def choose(model: ELMSelectiveClassifier, asked: dict[str, float]) -> None:
    """Ask a model for something that its data may not keep."""
    try:
        model.choose(**asked)  # type: ignore[arg-type]
    except ValueError as error:
        raise UnkeptError(in_option_words(str(error))) from error
    check_kept(model)


def check_kept(model: Any) -> None:
    """Refuse a model that answers no row at all, since none is certain enough."""
    if not isinstance(model, ELMSelectiveClassifier) or not model.has_thresholds:
        return
    thresholds = model.thresholds_.values()
    if all(threshold is not None and threshold.value == math.inf for threshold in thresholds):
        raise UnkeptError(f"{model.statement_} Ask for less, or give more rows.")


def learned(model: Any) -> dict[str, Any]:
    """Return what a model has learned, in plain types."""
    classes = hasattr(model, "classes_")
    facts: dict[str, Any] = {"kind": "classes" if classes else "numbers"}
    if classes:
        facts["classes"] = model.classes_.tolist()
    if model.encoder_ is not None:
        facts["left_out"] = dict(model.encoder_.dropped_)
    if isinstance(model, ELMSelectiveClassifier) and model.has_thresholds:
        facts["statement"] = model.statement_
    return facts
