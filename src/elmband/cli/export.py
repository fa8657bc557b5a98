"""``elmband export``: a model for other languages and machines."""

from time import perf_counter

from elmband.cli._files import destination, loaded, named, writable
from elmband.cli._options import tell
from elmband.cli._outputs import check_outputs
from elmband.ground.files import appearing_whole, naming
from elmband.ground.wording import megabytes
from elmband.models.onnx_export import to_onnx


def export(
    *,
    model: str,
    output: str,
    as_json: bool,
) -> None:
    """Do what was asked for."""
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
