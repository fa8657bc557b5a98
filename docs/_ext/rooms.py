"""The map of the code: a picture of its floors, and every file with its sentence.

Floors are folders of elmband, and the package beside it, ``elmband_experiments``.
"""

import ast
import re
from collections.abc import Iterator
from html import escape
from pathlib import Path
from typing import NamedTuple

from docutils import nodes
from docutils.parsers.rst import Directive
from sphinx.application import Sphinx

import elmband
import elmband_experiments

SOURCE = Path(elmband.__file__).parent
EXPERIMENTS = Path(elmband_experiments.__file__).parent


class Floor(NamedTuple):
    """A floor of the map: its folders, what stands in it, and what it hands to the next."""

    name: str
    folders: list[str]
    rooms: list[str]
    hands_on: str


def floors(page: str) -> list[Floor]:
    """Read the order of the floors from the text of the map, and their rooms from the source.

    The rooms of a floor are the files and folders in it, or its folders where it has several.
    """
    found = []
    for name, cell, handed in re.findall(r"^\| (\w+) \| (`.*?`) \| (.*?) ?\|$", page, re.MULTILINE):
        folders = re.findall(r"`(\w+)`", cell)
        rooms = [f"{folder}/" for folder in folders] if len(folders) > 1 else _rooms(folders[0])
        found.append(Floor(name, folders, rooms, handed))
    return found


def _rooms(folder: str) -> list[str]:
    """Return what stands in a folder, its private files aside where others are public."""
    place = place_of(folder)
    files = {path.name for path in place.glob("*.py")} - {"__init__.py"}
    public = {name for name in files if not name.startswith("_")} or files
    return sorted(public) + sorted(f"{path.parent.name}/" for path in place.glob("*/__init__.py"))


def place_of(folder: str) -> Path:
    """Return where a folder of the map is."""
    return EXPERIMENTS if folder == EXPERIMENTS.name else SOURCE / folder


def picture(found: list[Floor]) -> str:
    """Draw the floors from top to bottom, with what walks from one to the next."""
    parts = []
    for floor in found:
        rooms = "".join(f"<code>{escape(room)}</code>" for room in floor.rooms)
        parts.append(f'<div class="floor"><b>{escape(floor.name)}</b><p>{rooms}</p></div>')
        if floor.hands_on:
            parts.append(f'<p class="walks">↓ {escape(floor.hands_on)}</p>')
    return f'<div class="rooms">{"".join(parts)}</div>'


class _Rooms(Directive):
    """The picture."""

    def run(self) -> list[nodes.Node]:
        page = Path(self.state.document.current_source).read_text(encoding="utf-8")
        return [nodes.raw("", picture(floors(page)), format="html")]


def _modules() -> Iterator[tuple[str, str]]:
    """Yield every file of the source and the first sentence of its docstring."""
    for source in (SOURCE, EXPERIMENTS):
        for path in sorted(source.rglob("*.py"), key=lambda p: (p.parent.parts, p.name)):
            said = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or ""
            # Those of elmband without its name before them.
            name = path.relative_to(source if source == SOURCE else source.parent)
            yield name.as_posix(), said.split("\n")[0]


class _EveryFile(Directive):
    """A table of all files."""

    def run(self) -> list[nodes.Node]:
        rows = "".join(
            f"<tr><td><code>{escape(name)}</code></td><td>{escape(said)}</td></tr>"
            for name, said in _modules()
        )
        table = f'<table class="table every-file"><tbody>{rows}</tbody></table>'
        return [nodes.raw("", table, format="html")]


def setup(app: Sphinx) -> dict[str, bool]:
    """Add both to what pages can hold."""
    app.add_directive("rooms", _Rooms)
    app.add_directive("every-file", _EveryFile)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
