"""Constraints for pip that hold the oldest versions that elmband says it works with.

    python tools/oldest.py > oldest.txt
    python -m pip install -e '.[test]' -c oldest.txt

They are the lower bounds of ``pyproject.toml``, which so stand in one place. What only checks or
documents elmband stays at its newest.
"""

import re
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

PYPROJECT = Path(__file__).parent.parent / "pyproject.toml"
# They check the source and the pages, and say other things of them from version to version.
NOT_MET_BY_USERS = {"mypy", "ruff"}
EXTRAS_OF_OURS = {"docs"}
_BOUND = re.compile(r"(?P<name>[\w.-]+)(?:\[[\w,-]*\])?>=(?P<version>[\w.]+)")


def bounds(project: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield the name and the oldest version of every dependency, extras included."""
    extras = project["optional-dependencies"]
    groups = [extras[name] for name in extras if name not in EXTRAS_OF_OURS]
    for requirement in (one for group in [project["dependencies"], *groups] for one in group):
        found = _BOUND.fullmatch(requirement)
        if found is None and not requirement.startswith(f"{project['name']}["):
            raise ValueError(
                f"{requirement} in pyproject.toml has no lower bound: write name>=1.2."
            )
        if found is not None and found["name"] not in NOT_MET_BY_USERS:
            yield found["name"], found["version"]


def constraints(project: dict[str, Any]) -> list[str]:
    """Return the lines of a constraints file."""
    return [f"{name}=={version}" for name, version in sorted(set(bounds(project)))]


def main() -> None:
    """Print the constraints."""
    project = tomllib.loads(PYPROJECT.read_text(encoding="utf-8"))["project"]
    print("\n".join(constraints(project)))


if __name__ == "__main__":
    main()
