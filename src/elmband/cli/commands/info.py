"""``elmband info``: what it can be asked for."""

from elmband.cli.commands._shared import AsJson, Model

EXAMPLE = "Example: [bold]elmband info delay.safetensors[/bold]"


def info(*, model: Model, as_json: AsJson = False) -> None:
    """Tell what a model was trained on, what it is made of, and what it promises."""
