"""What ``elmband fit`` is told, and tells, of the range and the scale of its target."""

import math
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import typer

from elmband.cli._options import option
from elmband.uncertainty.targets import told_range
from elmband.uncertainty.transform import BoxCox, Identity, Log, Log1p, Logit, TargetError

# Powers that have names.
_ROOTS = {0.5: "square roots", 0.25: "fourth roots"}


# What to take instead of a transform that is not for the target.
_INSTEAD = {
    "log": "Take log1p for values of at least 0, or none.",
    "log1p": "Add a constant to the column, or take none.",
    "logit": "Take none; --target-range keeps predictions between two ends as well.",
}


def read_numbers(transform: str, ends: str, symmetric: str) -> dict[str, Any]:
    """Return what is asked of a model of numbers, where it is not the default."""
    asked = {
        "target_transform": _read_transform(transform),
        "target_range": _read_range(ends),
        "symmetric": _read_symmetric(symmetric),
    }
    return {name: value for name, value in asked.items() if value != "auto"}


def target_option(name: str) -> str:
    """Return a parameter of targets as the option that people know it by."""
    return "--transform" if name == "target_transform" else option(name)


def check_numbers(asked: dict[str, Any], *, published: bool, **of_classes: Any) -> None:
    """Refuse what is for numbers beside what is for classes, or for another noise model."""
    for name in asked:
        for other, value in of_classes.items():
            if value not in (None, False):
                raise ValueError(
                    f"{target_option(name)} is for numbers, {option(other)} for classes; leave "
                    "one of them out."
                )
    if published and asked.get("symmetric") is False:
        raise ValueError(
            "--symmetric no needs the default noise model; leave it out, or --published."
        )


def _read_symmetric(text: str) -> bool | str:
    """Read "auto", "yes" or "no"."""
    known: dict[str, bool | str] = {"auto": "auto", "yes": True, "no": False}
    if text.lower() not in known:
        raise typer.BadParameter(f'--symmetric {text!r} is none of "auto", "yes" and "no".')
    return known[text.lower()]


def _read_transform(text: str) -> str | None:
    """Read the name of a transform, or "none"."""
    if text.lower() not in ("auto", "none", *_INSTEAD):
        raise typer.BadParameter(
            f'--transform {text!r} is none of "auto", "none", "log", "log1p" and "logit".'
        )
    return None if text.lower() == "none" else text.lower()


def _read_range(text: str) -> Any:
    """Read "auto", "none", or two ends with a comma between them."""
    if text.lower() in ("auto", "none"):
        return None if text.lower() == "none" else "auto"
    try:
        low, high = (float(end) if end.strip() else None for end in text.split(","))
    except ValueError as error:
        raise typer.BadParameter(
            f'--target-range {text!r} is neither "auto", "none", nor two ends such as "0,100" '
            'or "0,".'
        ) from error
    if low is not None and high is not None and not low < high:
        raise typer.BadParameter(f"--target-range {text!r} must have its lower end first.")
    return low, high


@contextmanager
def option_words(target: str) -> Iterator[None]:
    """Say what is wrong with a target in the words of the options that were given."""
    try:
        yield
    except TargetError as error:
        advice = _INSTEAD.get(error.value, "Give a range that no row leaves, or none.")
        named = target_option(error.parameter)
        raise ValueError(
            f"{named} {error.value} needs values of {target} {error.needs}; "
            f"{error.found.replace('its values', 'they').replace('its', 'their')}. {advice}"
        ) from error


def target_facts(model: Any) -> dict[str, Any]:
    """Return the range and the scale in use, in plain types; nothing where there are none."""
    facts: dict[str, Any] = {}
    low, high = model.target_range_
    if not math.isinf(low) or not math.isinf(high):
        # JSON does not know infinity.
        facts["target_range"] = [None if math.isinf(end) else end for end in (low, high)]
    if getattr(model, "target_values_", None) is not None:
        facts["target_values"] = list(model.target_values_)
    if not isinstance(model.target_transform_, Identity):
        facts["target_transform"] = repr(model.target_transform_)
    if hasattr(model, "symmetric_"):
        facts["symmetric"] = bool(model.symmetric_)
    return facts


def scale_words(transform: Any) -> str:
    """Return a scale as people call it.

    Examples
    --------
    >>> from elmband.uncertainty.transform import BoxCox, Log, Logit
    >>> [scale_words(one) for one in (Log(), BoxCox((0.5,), (3.0,)), Logit(0.0, 100.0))]
    ['logarithms', 'square roots', 'logits between 0 and 100']
    """
    if isinstance(transform, BoxCox) and len(transform.shape) == 1:
        (shape,) = transform.shape
        return _ROOTS.get(shape, f"powers of {shape:.3g} (Box-Cox)")
    if isinstance(transform, Logit):
        return f"logits between {transform.low:g} and {transform.high:g}"
    return {Log: "logarithms", Log1p: "logarithms of 1 + target"}.get(
        type(transform), "functions of your own"
    )


def has_all_values(model: Any) -> bool:
    """Tell whether bounds are among all values that a target takes, not the two lowest alone."""
    return len(model.target_values_) > 2 or not math.isinf(model.target_range_[1])


def target_lines(model: Any, target: str) -> list[str]:
    """Say in one line each what was found of the target, and how it is switched off."""
    lines = []
    ends = told_range((model.target_range_,))
    if ends and model.target_range == "auto":
        lines.append(
            f"Predictions and bounds of {target} stay {ends}, as in all rows (--target-range none "
            "if they need not)."
        )
    values = getattr(model, "target_values_", None)
    if values is not None and not has_all_values(model):
        low, next_one = (f"{value:g}" for value in values)
        lines.append(
            f"Bounds of {target} near {low} and {next_one}, the lowest values that it takes, are "
            "these (--target-range none if not wanted)."
        )
    elif values is not None:
        lines.append(
            f"Bounds of {target} are among the {len(values)} values that it takes: intervals are "
            "much better so, and cover more than they say (--target-range none if not wanted)."
        )
    if model.target_transform == "auto" and not isinstance(model.target_transform_, Identity):
        lines.append(
            f"Learned on the scale of {scale_words(model.target_transform_)}, where intervals are "
            "better by 2 % or more (--transform none if not wanted)."
        )
    if model.symmetric == "auto" and not model.symmetric_:
        lines.append(
            "Errors above and below the mean are unlike: each side has bounds of its own "
            "(--symmetric yes if not wanted)."
        )
    return lines
