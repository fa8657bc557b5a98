"""``elmband export``: a model for other languages and machines."""

from time import perf_counter
from typing import Annotated

import typer

from elmband.cli._files import destination, loaded, named, writable
from elmband.cli._options import AsJson, Model, tell
from elmband.cli._outputs import check_outputs
from elmband.ground.files import appearing_whole, naming
from elmband.ground.wording import megabytes
from elmband.models.onnx_export import to_onnx

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
    begun = perf_counter()
    check_outputs([output], [model])
    proto = to_onnx(loaded(model))
    with writable(output, ".onnx") as path, appearing_whole(path) as temporary, naming(path):
        temporary.write_bytes(proto.SerializeToString())
    facts = {
        "output": output,
        "model": named(model),
        "bytes": proto.ByteSize(),
        "inputs": [value.name for value in proto.graph.input],
        "outputs": [value.name for value in proto.graph.output],
        "seconds": round(perf_counter() - begun, 3),
    }
    text = (
        f"{destination(output)}: {megabytes(proto.ByteSize())}, for any ONNX runtime; it gives "
        f"{', '.join(facts['outputs'])}"
    )
    tell(facts, text, as_json=as_json, outputs=(output,))
