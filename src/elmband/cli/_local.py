"""What ``elmband`` is told, and tells, of columns whose levels have output layers of their own."""

from typing import Any

import typer

from elmband.ground.printable import on_one_line
from elmband.ground.wording import percent


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
