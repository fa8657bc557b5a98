"""Lint, formatting, types, and the order of the house."""

import ast
import re
import subprocess
import sys
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

import elmband

ROOT = Path(__file__).parent.parent
SOURCE = ROOT / "src" / "elmband"
EXPERIMENTS = ROOT / "experiments" / "src" / "elmband_experiments"


@pytest.mark.parametrize(
    "command",
    [
        ["ruff", "check", "."],
        ["ruff", "format", "--check", "."],
        pytest.param(["mypy"], marks=pytest.mark.slow),
    ],
    ids=["lint", "formatting", "types"],
)
def test_tools_find_nothing(command):
    result = subprocess.run(
        [sys.executable, "-m", *command], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert result.returncode == 0, result.stdout + result.stderr


MODULES = [path for path in sorted(SOURCE.rglob("*.py")) if path.parent != SOURCE]
PACKAGES = {package.name: package for package in (SOURCE, EXPERIMENTS)}


def module_of(path):
    """Return the dotted name of a file, as a tuple that begins with its package."""
    (package,) = (package for package in PACKAGES.values() if path.is_relative_to(package))
    parts = path.relative_to(package.parent).with_suffix("").parts
    return parts[:-1] if parts[-1] == "__init__" else parts


def imports(path):
    """Yield the modules of our packages that a file imports, as tuples."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        name = tuple((getattr(node, "module", None) or "").split("."))
        if isinstance(node, ast.ImportFrom) and name[0] in PACKAGES:
            # A module may be imported by name from its folder.
            for alias in node.names:
                inner = PACKAGES[name[0]].joinpath(*name[1:], alias.name)
                is_module = inner.with_suffix(".py").exists() or inner.is_dir()
                yield (*name, alias.name) if is_module else name


def folders(package):
    return sorted(path for path in package.iterdir() if (path / "__init__.py").exists())


# Floors are compared in tests/docs/test_map.py; here, what stands within each of them.
FLOORS = [*folders(SOURCE), EXPERIMENTS, *folders(EXPERIMENTS)]


@pytest.mark.parametrize("floor", FLOORS, ids=lambda floor: floor.name)
def test_no_room_uses_another_in_a_circle(floor):
    own = module_of(floor / "__init__.py")
    size, uses = len(own) + 1, {}
    for path in floor.rglob("*.py"):
        found = {used[:size] for used in imports(path) if used[: size - 1] == own}
        uses.setdefault(module_of(path)[:size], set()).update(found - {own})
    uses.pop(own)
    graph = {room: used - {room} for room, used in uses.items()}
    tuple(TopologicalSorter(graph).static_order())  # raises CycleError


# Files that still use what another room keeps for itself; they may become fewer.
BEHIND_DOORS = {
    f"models/onnx_export/{name}.py" for name in ("_classes", "_confidence", "_noise", "_units")
}


def test_rooms_use_nothing_private_of_another_room():
    found = set()
    for path in MODULES:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            package, *inner = (getattr(node, "module", None) or "").split(".")
            if package != "elmband" or inner[:1] in ([], [path.relative_to(SOURCE).parts[0]]):
                continue
            used = [*inner, *(alias.name for alias in node.names)]
            if any(name.startswith("_") and not name.startswith("__") for name in used):
                found.add(path.relative_to(SOURCE).as_posix())
    assert found <= BEHIND_DOORS


def test_public_names_are_documented_and_importable():
    for name in elmband.__all__:
        assert getattr(elmband, name) is not None
        if name != "__version__":
            assert getattr(elmband, name).__doc__


def test_the_readme_gives_the_test_command_that_ci_runs():
    command = "python -m pip install -e '.[test]' && python -m pytest"
    assert command in (ROOT / "README.md").read_text(encoding="utf-8")
    assert command in (ROOT / ".ci" / "run").read_text(encoding="utf-8")


# These know of devices. All others are mathematics, which is written once for every library.
KNOWING = {
    ("ground", "arrays"),
    ("sources", "device"),
    ("sources", "hidden_cache"),
    ("sums", "products"),
}


def test_there_is_no_second_copy_of_the_mathematics_for_a_device():
    found = {
        module_of(path)[1:3]
        for path in MODULES
        if re.search(r"^\s*(import|from) (torch|cupy|jax)\b", path.read_text("utf-8"), re.MULTILINE)
    }
    assert found <= KNOWING
    # None of them computes what a chunk adds up to.
    sums = re.compile(r"class \w+\((\w+\.)?(Moments|TargetSums)\)")
    assert not [
        p for p in MODULES if module_of(p)[1:3] in KNOWING and sums.search(p.read_text("utf-8"))
    ]
