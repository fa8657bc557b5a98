"""Commands of the distribution elmband-experiments, which say how to install it where it is not."""

import typer

from elmband.ground.experiments import absent, installed, module


def add_command(app: typer.Typer, name: str) -> None:
    """Add one of them to the command line."""
    wanted = f"elmband {name}"
    if installed():
        found = module(f"cli.{name}", wanted)
        app.command(epilog=found.EXAMPLE)(getattr(found, name))
        return
    sentence = absent(wanted)
    anything = {"allow_extra_args": True, "ignore_unknown_options": True}

    @app.command(name, help=f"{sentence}.", context_settings=anything)
    def _absent() -> None:
        raise ImportError(sentence)
