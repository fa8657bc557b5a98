"""What ``elmband fit`` asks of a table before it learns, and of a model afterwards."""

import math
from pathlib import Path
from typing import Any

from elmband import ELMSelectiveClassifier
from elmband.cli._files import STANDARD, in_option_words, named
from elmband.cli._model import whole_number
from elmband.cli._status import UnkeptError
from elmband.models.thresholds import Request
from elmband.sources.encode.decide import UNMARKED
from elmband.sources.encode.written import is_number, marked_number

# So many classes may be in any table.
_FEWEST = 20


def check_target(rows: Any, data: str, *, classes: bool) -> bool:
    """Return whether the target is text; refuse numbers among which there is text by mistake."""
    levels = None if rows.encoder is None else rows.encoder.target_levels_
    if levels is None:
        return False
    if not classes:
        _check_numbers([str(level) for level in levels], named(data))
        _check_few(len(levels), rows.encoder.state_.n_rows, named(data))
    return True


def _check_numbers(levels: list[str], data: str) -> None:
    """Refuse levels that are numbers in the eyes of people, or among which most are."""
    marked = marked_number(levels)
    if marked is not None:
        raise ValueError(
            f"{data} has numbers such as {marked} in its target column, which are text as they are "
            f"written: write them {UNMARKED}, name the decimal point by --decimal, or take every "
            "value as a class with --classes."
        )
    words = [level for level in levels if not is_number(level)]
    if words and len(words) < len(levels) / 2:
        raise ValueError(
            f"{data} has numbers in its target column, but also text such as {words[0]!r}: "
            "mend these values, or take every value as a class with --classes."
        )
    if not words and not all(level.lstrip("+-").isdecimal() for level in levels):
        raise ValueError(
            f"{data} holds the numbers of its target column as text, such as {levels[0]!r}: make "
            "it a column of numbers, or take every value as a class with --classes."
        )


def _check_few(n_levels: int, n_rows: float, data: str) -> None:
    """Refuse names of rows, as classes of which most have a single row."""
    if n_levels > max(_FEWEST, n_rows / 2):
        raise ValueError(
            f"{data} has text in its target column, with {n_levels:,} different values in "
            f"{n_rows:,.0f} rows, which are rather names of rows than classes: choose another "
            "target, or take every value as a class with --classes."
        )


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
