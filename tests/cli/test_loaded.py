"""Help, the version and the completion of shells load nothing that computes."""

import inspect
import subprocess
import sys
from importlib import import_module

import pytest
from running import ENVIRONMENT

HEAVY = {"numpy", "scipy", "sklearn", "pandas", "pyarrow", "joblib"}
# What a process has loaded when it ends, in the last line of its errors.
SCRIPT = """
import atexit, os, sys
loaded = lambda: print(*{name.partition(".")[0] for name in sys.modules}, file=sys.stderr)
atexit.register(loaded)
sys.argv[0] = "elmband"
from elmband.cli import main
main()
"""
COMMANDS = ["fit", "predict", "evaluate", "triage", "report", "info", "export", "pixels", "demo"]
COMMANDS += ["reproduce"]


def ended(*arguments, **environment):
    """Return what a command prints, and the packages that it has loaded."""
    result = subprocess.run(
        [sys.executable, "-c", SCRIPT, *arguments],
        capture_output=True,
        text=True,
        check=False,
        env={**ENVIRONMENT, **environment},
        timeout=60,
    )
    return result.stdout, set(result.stderr.splitlines()[-1].split())


@pytest.mark.parametrize("option", ["--help", "--version"])
def test_options_of_all_commands(option):
    said, loaded = ended(option)
    assert "elmband" in said
    assert not HEAVY & loaded


@pytest.mark.slow
@pytest.mark.parametrize("command", COMMANDS)
def test_help_of_a_command(command):
    said, loaded = ended(command, "--help")
    assert f"elmband {command}" in said
    assert not HEAVY & loaded


@pytest.mark.parametrize(
    ("line", "offered"),
    [
        ("elmband ", "triage"),
        ("elmband triage model data.csv -o a.csv --max-", "--max-width"),
        ("elmband pixels images masks --balance ", "balanced"),
    ],
)
def test_completion(line, offered):
    place = str(len(line.split(" ")) - 1)
    asked = {"COMP_WORDS": line, "COMP_CWORD": place, "_ELMBAND_COMPLETE": "complete_bash"}
    said, loaded = ended(**asked)
    assert offered in said
    assert not HEAVY & loaded


@pytest.mark.parametrize("command", COMMANDS)
def test_what_is_asked_for_is_what_is_done(command):
    package = "elmband_experiments" if command in {"pixels", "reproduce"} else "elmband"
    asked, done = (
        inspect.signature(getattr(import_module(f"{package}.cli{folder}.{command}"), command))
        for folder in (".commands", "")
    )
    assert list(asked.parameters) == list(done.parameters)
    for name, one in asked.parameters.items():
        # The type is the first argument of its Annotated.
        assert one.annotation.__origin__ == done.parameters[name].annotation
        # Defaults stand in one place.
        assert done.parameters[name].default is inspect.Parameter.empty
