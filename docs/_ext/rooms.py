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
WIDTH, LEFT, TALL, GAP, GLYPH = 860, 130, 30, 8, 7.4


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


def _places(rooms: list[str]) -> Iterator[tuple[str, float, int, float]]:
    """Yield rooms with the place of their box, line by line, and its width."""
    x, line = float(LEFT), 0
    for room in rooms:
        wide = GLYPH * len(room) + 18
        if x + wide > WIDTH - 10:
            x, line = float(LEFT), line + 1
        yield room, x, line, wide
        x += wide + GAP


def _floor(floor: Floor, top: int) -> tuple[str, int]:
    """Return the drawing of a floor, and where it ends."""
    boxes = list(_places(floor.rooms))
    deep = (boxes[-1][2] + 1) * (TALL + GAP) + GAP
    parts = [
        f'<rect class="floor" x="4" y="{top}" width="{WIDTH - 8}" height="{deep}" rx="8"/>',
        f'<text class="name" x="18" y="{top + 29}">{escape(floor.name)}</text>',
    ]
    for room, x, line, wide in boxes:
        y = top + GAP + line * (TALL + GAP)
        parts += [
            f'<rect class="room" x="{x:.0f}" y="{y}" width="{wide:.0f}" height="{TALL}" rx="5"/>',
            f'<text class="file" x="{x + 9:.0f}" y="{y + 20}">{escape(room)}</text>',
        ]
    return "".join(parts), top + deep


def picture(found: list[Floor]) -> str:
    """Draw the floors from top to bottom, with what walks from one to the next."""
    parts, y = [], 4
    for floor in found:
        drawn, y = _floor(floor, y)
        parts.append(drawn)
        if floor.hands_on:
            arrow = f'<path class="arrow" d="M60 {y + 3}v22m-5 -7l5 7l5 -7"/>'
            parts.append(f'{arrow}<text class="walks" x="78" y="{y + 19}">')
            parts.append(f"{escape(floor.hands_on)}</text>")
            y += 29
    names = ", ".join(floor.name for floor in found)
    return (
        f'<div class="rooms"><svg role="img" aria-label="Floors of the code: {names}" '
        f'viewBox="0 0 {WIDTH} {y + 4}">{"".join(parts)}</svg></div>'
    )


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
