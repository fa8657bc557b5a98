"""What ``elmband fit`` is told, and tells, of hidden layers, those of columns included."""

from typing import Any, NamedTuple

import typer

from elmband.cli._options import option
from elmband.ground.printable import on_one_line
from elmband.ground.wording import percent


class Layers(NamedTuple):
    """Neurons as they were asked for, and parameters of layers that are not the default."""

    neurons: Any
    learning: dict[str, Any]


def read_layers(
    neurons: str, rounds: str, most: int | None, local: list[str] | None, *, published: bool
) -> Layers:
    """Read what is asked of layers; refuse what does not go together."""
    count = _neurons(neurons)
    learning = _learning(rounds, most) | read_local(local)
    if learning and (published or count != "auto"):
        raise ValueError(
            f"{option(next(iter(learning)))} needs --neurons auto, and no --published."
        )
    return Layers(count, learning)


def _neurons(text: str) -> Any:
    """Read "auto", a number, or a mix of kinds."""
    if text == "auto":
        return text
    try:
        if "=" not in text:
            return int(text)
        return {kind: int(count) for kind, count in (part.split("=") for part in text.split(","))}
    except ValueError as error:
        raise typer.BadParameter(
            f'--neurons {text!r} is neither "auto", a number, nor a mix such as '
            '"linear=8,tanh=200".'
        ) from error


def _learning(rounds: str, most: int | None) -> dict[str, Any]:
    """Return what is asked of neurons that learn, where it is not the default."""
    asked: dict[str, Any] = {} if most is None else {"max_neurons": most}
    if rounds == "auto":
        return asked
    if not rounds.isdecimal():
        raise typer.BadParameter(
            f'--learning-rounds {rounds!r} is neither "auto" nor a whole number from 0 on.'
        )
    return {"learning_rounds": int(rounds), **asked}


def read_local(columns: list[str] | None) -> dict[str, Any]:
    """Return which columns may have local layers, where it is not the default."""
    if columns is None or columns == ["auto"]:
        return {}
    for word in ("auto", "none"):
        if word in columns and len(columns) > 1:
            raise typer.BadParameter(
                f'--local-layers "{word}" stands alone, without other columns.'
            )
    return {"local_layers": None if columns == ["none"] else tuple(columns)}


def local_line(model: Any) -> str:
    """Say which columns have local layers, and what they gained."""
    parts = []
    for part, what in (("mean", "errors"), ("noise", "the size of errors")):
        named = [
            f"{on_one_line(layer.column)} ({layer.levels:,} {layer.kind}, {percent(layer.gain)})"
            for layer in model.local_layers_
            if layer.part == part
        ]
        if named:
            parts.append(f"{what} by {', then '.join(named)}")
    return f"layers of their own for every level lower {'; '.join(parts)}"
