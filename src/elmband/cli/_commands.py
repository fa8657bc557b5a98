"""Commands that import what they work with when they are called.

``commands/NAME.py`` says what a command can be asked for, which is all that its help and the
completion of shells need; ``NAME.py`` does it.
"""

from functools import wraps
from importlib import import_module
from types import ModuleType
from typing import Any

import typer

from elmband.cli._status import loading
from elmband.cli.commands import demo, evaluate, export, fit, info, predict, report, triage
from elmband.ground.experiments import absent, installed, module


def add_commands(app: typer.Typer) -> None:
    """Add all commands to the command line, in the order of its help."""
    for asked in (fit, predict, evaluate, triage, report, info, export):
        _add(app, asked)
    _add_experiment(app, "pixels")
    _add(app, demo)
    _add_experiment(app, "reproduce")


def _add(app: typer.Typer, asked: ModuleType) -> None:
    """Add a command by the module that says what it can be asked for."""
    package, _, name = asked.__name__.rpartition(".commands.")
    signature = getattr(asked, name)

    @wraps(signature)
    def command(**given: Any) -> None:
        with loading():
            work = import_module(f"{package}.{name}")
        getattr(work, name)(**given)

    app.command(epilog=asked.EXAMPLE)(command)


def _add_experiment(app: typer.Typer, name: str) -> None:
    """Add a command of elmband-experiments, or one that says how to install it."""
    wanted = f"elmband {name}"
    if installed():
        _add(app, module(f"cli.commands.{name}", wanted))
        return
    sentence = absent(wanted)
    anything = {"allow_extra_args": True, "ignore_unknown_options": True}

    @app.command(name, help=f"{sentence}.", context_settings=anything)
    def _absent() -> None:
        raise ImportError(sentence)
