"""``elmband export``: a model for other languages and machines."""

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from elmband import load
from elmband.files import check_writable
from elmband.onnx_export import to_onnx

EXAMPLE = "Example: [bold]elmband export delay.safetensors -o delay.onnx[/bold]"


def export(
    *,
    model: Annotated[str, typer.Argument(help="Model file.", show_default=False)],
    output: Annotated[
        Path, typer.Option("--output", "-o", help="ONNX file to write.", show_default=False)
    ],
) -> None:
    """Write the model in the ONNX format, which runs without elmband and without Python.

    It takes rows X and a confidence_level, and gives mean, lower, upper and std, or for classes
    labels, probabilities and what is accepted.
    """
    check_writable(output)
    to_onnx(load(model), output)
    size = output.stat().st_size / 1e6
    text = f"{output}: {size:.2f} MB, for any ONNX runtime"
    Console(highlight=False, soft_wrap=True).print(text, markup=False)
