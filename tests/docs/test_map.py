"""The map of the code shows all folders there are, and no others, in an order that holds."""

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
    """Return the folders of the source, and the package beside it."""
    return {path.parent.name for path in SOURCE.glob("*/__init__.py")} | {"elmband_experiments"}


def test_every_folder_is_a_floor_once(floors):
    shown = [folder for floor in floors for folder in floor.folders]
    assert len(shown) == len(set(shown))
    assert set(shown) == there()
    # Nothing but the way in stands beside them.
    assert {path.name for path in SOURCE.glob("*.py")} == {"__init__.py", "__main__.py"}


def uses(folder):
    """Yield the folders that the files of a folder import from."""
    for path in drawn().place_of(folder).rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom):
                package, *inner = (node.module or "").split(".")
                if package == "elmband_experiments":
                    yield path.name, package
                elif package == "elmband" and inner:
                    yield path.name, inner[0]


def test_no_floor_uses_one_below_it(floors):
    level = {folder: k for k, floor in enumerate(floors) for folder in floor.folders}
    order = [folder for floor in floors for folder in floor.folders]
    below = [
        f"{path} uses {used}"
        for folder in order
        for path, used in uses(folder)
        if level[used] > level[folder] or order.index(used) > order.index(folder)
    ]
    assert below == []


def test_the_picture_names_every_room_and_floor(floors):
    picture = drawn().picture(floors)
    for floor in floors:
        assert f"<b>{floor.name}</b>" in picture
        for room in floor.rooms:
            assert f"<code>{room}</code>" in picture


def test_there_is_one_list_only():
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    assert "docs/map.md" in text
    assert "| room |" not in text
