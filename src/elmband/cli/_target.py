"""What ``elmband fit`` is told, and tells, of the range and the scale of its target."""

import math
from typing import Annotated, Any

import typer

from elmband.targets import told_range
from elmband.transform import Identity

Transform = Annotated[
    str,
    typer.Option(
        "--target-transform",
        help='Scale to learn the target on: "auto" (for a target that is never negative and '
        'skewed, if intervals gain 2 % by it), "none", "log", "log1p" or "logit". '
        "Predictions are means all the same.",
    ),
]
Range = Annotated[
    str,
    typer.Option(
        "--target-range",
        help='What predictions and bounds cannot leave: "auto" (found in the data: never negative, '
        'or a share between 0 and 1), "none", or two ends as in "0,100" or "0,".',
        metavar="LOW,HIGH",
    ),
]


def read_transform(text: str) -> str | None:
    """Read a transform; names that are none are refused by the model."""
    return None if text.lower() == "none" else text


def read_range(text: str) -> Any:
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
    return low, high


def target_facts(model: Any) -> dict[str, Any]:
    """Return the range and the scale in use, in plain types; nothing where there are none."""
    facts: dict[str, Any] = {}
    low, high = model.target_range_
    if not math.isinf(low) or not math.isinf(high):
        # JSON does not know infinity.
        facts["target_range"] = [None if math.isinf(end) else end for end in (low, high)]
    if not isinstance(model.target_transform_, Identity):
        facts["target_transform"] = repr(model.target_transform_)
    return facts


def target_lines(model: Any, target: str) -> list[str]:
    """Say in one line each what was found of the target, and how it is switched off."""
    lines = []
    ends = told_range((model.target_range_,))
    if ends and model.target_range == "auto":
        lines.append(
            f"Predictions and bounds of {target} stay {ends}, as in all rows (--target-range none "
            "if they need not)."
        )
    if model.target_transform == "auto" and not isinstance(model.target_transform_, Identity):
        lines.append(
            f"Learned on the scale {model.target_transform_!r}, where intervals are better by 2 % "
            "or more (--target-transform none if not wanted)."
        )
    return lines
