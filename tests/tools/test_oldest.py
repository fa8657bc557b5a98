"""Constraints of the oldest versions are the lower bounds of pyproject.toml, all of them."""

import importlib.util
import tomllib
from pathlib import Path

import pytest
from packaging.requirements import Requirement

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def oldest():
    spec = importlib.util.spec_from_file_location("oldest", ROOT / "tools" / "oldest.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_every_dependency_is_held_at_its_lower_bound(oldest, capsys):
    oldest.main()
    held = {r.name: r for r in map(Requirement, capsys.readouterr().out.splitlines())}
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = project["optional-dependencies"]
    users = {name: extras[name] for name in extras if name not in {"docs", "test"}}
    wanted = [*project["dependencies"], *(one for group in users.values() for one in group)]
    for requirement in map(Requirement, wanted):
        if requirement.name != "elmband":
            (bound,) = requirement.specifier
            (version,) = held[requirement.name].specifier
            assert (bound.operator, version.operator) == (">=", "==")
            assert version.version == bound.version
    # Those of tests as well, but for the tools that check the source.
    assert {"pandas", "polars", "pytest"} <= set(held)
    assert {"ruff", "mypy", "sphinx", "elmband"}.isdisjoint(held)


def test_a_dependency_without_a_lower_bound_is_refused(oldest):
    project = {"name": "p", "dependencies": ["numpy>=2", "scipy"], "optional-dependencies": {}}
    with pytest.raises(ValueError, match=r"scipy in pyproject.toml has no lower bound"):
        oldest.constraints(project)


def test_extras_of_the_project_itself_are_no_dependency(oldest):
    extras = {"all": ["p[a,b]"], "a": ["dask[array]>=2025.7"], "docs": ["sphinx>=9"]}
    project = {"name": "p", "dependencies": ["numpy>=2.0"], "optional-dependencies": extras}
    assert oldest.constraints(project) == ["dask==2025.7", "numpy==2.0"]
