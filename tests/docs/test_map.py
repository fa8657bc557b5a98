"""The map of the code shows all rooms there are, and no others, in an order that holds."""

import ast
import importlib.util
from pathlib import Path

import pytest
from pages import DOCS, ROOT

import elmband

SOURCE = Path(elmband.__file__).parent
pytest.importorskip("sphinx")


def drawn():
    spec = importlib.util.spec_from_file_location("rooms", DOCS / "_ext" / "rooms.py")
    rooms = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(rooms)
    return rooms


@pytest.fixture(scope="module")
def floors():
    return drawn().floors((DOCS / "map.md").read_text(encoding="utf-8"))


def there():
    """Return the rooms of the source, written as on the map."""
    files = {path.name for path in SOURCE.glob("*.py")} - {"__init__.py"}
    return files | {f"{path.parent.name}/" for path in SOURCE.glob("*/__init__.py")}


def test_every_room_is_on_the_map_once(floors):
    shown = [room for floor in floors for room in floor.rooms]
    assert len(shown) == len(set(shown))
    assert set(shown) == there()


def uses(room):
    """Yield the rooms that a room imports from."""
    place = SOURCE / room
    for path in place.rglob("*.py") if place.is_dir() else [place]:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("elmband."):
                yield node.module.split(".")[1]


def test_no_floor_uses_one_below_it(floors):
    level = {
        room.split(".")[0].rstrip("/"): k for k, floor in enumerate(floors) for room in floor.rooms
    }
    below = [
        f"{room} uses {used}"
        for place, floor in enumerate(floors)
        for room in floor.rooms
        for used in uses(room)
        if level[used] > place
    ]
    assert below == []


def test_the_picture_names_every_room_and_floor(floors):
    picture = drawn().picture(floors)
    for floor in floors:
        assert f">{floor.name}</text>" in picture
        for room in floor.rooms:
            assert f">{room}</text>" in picture


def test_there_is_one_list_only():
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    assert "docs/map.md" in text
    assert "| room |" not in text
