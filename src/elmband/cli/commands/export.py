"""``elmband export``: what it can be asked for."""

from typing import Annotated

import typer

from elmband.cli.commands._shared import AsJson, Model

EXAMPLE = "Example: [bold]elmband export delay.safetensors -o delay.onnx[/bold]"


def export(
    *,
    model: Model,
    output: Annotated[
        str,
        typer.Option("--output", "-o", help="ONNX file to write; - is standard output."),
    ],
    as_json: AsJson = False,
) -> None:
    """Write the model in the ONNX format, which runs without elmband and without Python.

    It takes rows and a confidence_level, and gives mean, lower, upper and std, or for classes
    labels, probabilities and what is accepted. With --json its inputs and outputs are named.
    """
