"""elmband finds elmband-experiments where it is installed, and says what to install where not."""

import importlib
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from packaging.requirements import Requirement

import elmband
import elmband.datasets
import elmband.pixels
import elmband_experiments

ROOT = Path(__file__).parent.parent
NAMES = [
    (folder, name)
    for folder in ("datasets", "pixels")
    for name in importlib.import_module(f"elmband_experiments.{folder}").__all__
]
# None among the modules is what Python takes for one that is not there.
WITHOUT = "import sys; sys.modules['elmband_experiments'] = None\n"


def run(code, *arguments):
    return subprocess.run(
        [sys.executable, "-c", code, *arguments],
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )


def command_without(*arguments):
    code = "from elmband.cli import main\nsys.argv[0] = 'elmband'\nmain()"
    return run(WITHOUT + code, *arguments)


@pytest.fixture
def _not_installed(monkeypatch):
    monkeypatch.setitem(sys.modules, "elmband_experiments", None)


@pytest.mark.parametrize(("folder", "name"), NAMES)
def test_names_of_elmband_lead_there(folder, name):
    found = getattr(importlib.import_module(f"elmband.{folder}"), name)
    assert found is getattr(importlib.import_module(f"elmband_experiments.{folder}"), name)


@pytest.mark.usefixtures("_not_installed")
@pytest.mark.parametrize(("folder", "name"), NAMES)
def test_without_it_a_name_says_what_to_install(folder, name):
    with pytest.raises(ImportError) as caught:
        getattr(importlib.import_module(f"elmband.{folder}"), name)
    wanted = f"elmband.{folder}.{name}"
    assert str(caught.value) == (
        f"{wanted} comes with elmband-experiments: pip install elmband-experiments"
    )


@pytest.mark.usefixtures("_not_installed")
@pytest.mark.parametrize("module", [elmband.datasets, elmband.pixels])
def test_other_names_are_unknown_with_it_or_without(module):
    assert not hasattr(module, "load_everything")
    # Nothing that lists names trips over those that are elsewhere.
    assert all(hasattr(module, name) for name in dir(module))


def test_elmband_never_loads_it_by_itself():
    code = (
        "import sys, elmband.datasets, elmband.pixels\nprint('elmband_experiments' in sys.modules)"
    )
    assert run(code).stdout == "False\n"


@pytest.mark.slow
@pytest.mark.parametrize("name", ["reproduce", "pixels"])
def test_without_it_a_command_is_one_sentence(name):
    sentence = f"elmband {name} comes with elmband-experiments: pip install elmband-experiments"
    result = command_without(name, "figures", "--quick", "-o", "paper")
    assert (result.returncode, result.stdout) == (1, "")
    assert result.stderr == f"Error: {sentence}\n"
    result = command_without(name, "--help")
    assert result.returncode == 0
    assert sentence in " ".join(result.stdout.split())


def test_a_broken_one_is_not_taken_for_none(monkeypatch):
    monkeypatch.setitem(sys.modules, "elmband_experiments.datasets", None)
    with pytest.raises(ImportError, match=r"None in sys\.modules"):
        elmband.datasets.load_concrete  # noqa: B018 - looking at it imports it


def projects():
    texts = (ROOT / "pyproject.toml", ROOT / "experiments" / "pyproject.toml")
    return [tomllib.loads(path.read_text(encoding="utf-8"))["project"] for path in texts]


def test_both_have_one_version_and_one_needs_just_that_of_the_other():
    (needed,) = (r for r in map(Requirement, projects()[1]["dependencies"]) if r.name == "elmband")
    assert elmband_experiments.__version__ == elmband.__version__
    assert str(needed.specifier) == f"=={elmband.__version__}"


def test_what_it_needs_comes_with_the_tests_from_a_clone():
    core, beside = projects()
    extras = core["optional-dependencies"]
    brought = {str(Requirement(one)) for name in ("plot", "report", "test") for one in extras[name]}
    needed = {one for one in map(Requirement, beside["dependencies"]) if one.name != "elmband"}
    assert {str(one) for one in needed} <= brought
