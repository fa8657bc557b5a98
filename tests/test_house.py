"""Lint, formatting, types, and the order of the house."""

import ast
import re
import subprocess
import sys
from pathlib import Path

import pytest

import elmband

ROOT = Path(__file__).parent.parent
SOURCE = ROOT / "src" / "elmband"

# Data walks down this list: a room may use the rooms above it, never one below.
ROOMS = [
    "loading",
    "printable",
    "_arrays",
    "frames",
    "files",
    "folder_lock",
    "products",
    "moments",
    "scaling",
    "value_counts",
    "sample",
    "copies",
    "row_prints",
    "histograms",
    "rows",
    "weights",
    "device",
    "kept",
    "packing",
    "packed_file",
    "encode",
    "stream",
    "checkpoint",
    "progress",
    "blas_limit",
    "engine",
    "cluster",
    "neurons",
    "views",
    "relevance",
    "hidden",
    "blas",
    "triangular",
    "solve",
    "dual",
    "output_layer",
    "quadratic",
    "covariance",
    "bootstrap",
    "select",
    "member",
    "gradients",
    "pool",
    "uncertainty",
    "levels",
    "local_layers",
    "mean_stack",
    "ensemble",
    "families",
    "search",
    "more_rows",
    "calibrate",
    "promise",
    "left_out",
    "transform",
    "targets",
    "mean",
    "noise",
    "tails",
    "target_values",
    "precision",
    "local_fit",
    "predictive",
    "dependence",
    "new_levels",
    "cross_fit",
    "rounds",
    "classes",
    "probability",
    "confidence",
    "metrics",
    "transform_choice",
    "model_file",
    "onnx_export",
    "estimators",
    "datasets",
    "pixels",
    "display",
    "report",
    "experiments",
    "cli",
    "__main__",
]


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


def room_of(path):
    return path.relative_to(SOURCE).with_suffix("").parts[0]


def imported_rooms(path):
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.module == "elmband":
            yield from (alias.name for alias in node.names if alias.name in ROOMS)
        elif isinstance(node, ast.ImportFrom) and (node.module or "").startswith("elmband."):
            yield node.module.split(".")[1]


MODULES = [path for path in sorted(SOURCE.rglob("*.py")) if path != SOURCE / "__init__.py"]


def test_no_room_uses_one_below_it():
    below = [
        f"{path.relative_to(SOURCE)} uses {room}"
        for path in MODULES
        for room in imported_rooms(path)
        if ROOMS.index(room) > ROOMS.index(room_of(path))
    ]
    assert below == []


def test_every_room_exists():
    assert {room_of(path) for path in MODULES} == set(ROOMS)


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
KNOWING = {"_arrays", "device", "kept", "products"}


def test_there_is_no_second_copy_of_the_mathematics_for_a_device():
    found = {
        room_of(path)
        for path in MODULES
        if re.search(r"^\s*(import|from) (torch|cupy|jax)\b", path.read_text("utf-8"), re.MULTILINE)
    }
    assert found <= KNOWING
    # None of them computes what a chunk adds up to.
    sums = re.compile(r"class \w+\((\w+\.)?(Moments|TargetSums)\)")
    assert not [p for p in MODULES if room_of(p) in KNOWING and sums.search(p.read_text("utf-8"))]
