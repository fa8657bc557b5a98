"""Graphs as ONNX models: the only place that needs the onnx package."""

from importlib.metadata import version
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from elmband.models.onnx_export._graph import Graph, Port

if TYPE_CHECKING:
    from onnx import ModelProto, ValueInfoProto

# Runtimes since 2022 read the first; later versions add nothing that is used here.
DEFAULT_OPSET = 17
# Versions of operators for learned tables, where they are used.
_DOMAINS = {"ai.onnx.ml": 2}
# Files of this format hold at most two gigabytes.
_LARGEST = 2**31 - 2**20


class About(NamedTuple):
    """What a file says of itself: a sentence, and notes by name."""

    text: str
    notes: dict[str, str]


def checked_opset(opset: Any) -> int:
    """Return the version of the operators to use."""
    newest = _onnx().defs.onnx_opset_version()
    if opset is None:
        return DEFAULT_OPSET
    whole = isinstance(opset, int | np.integer) and not isinstance(opset, bool)
    if not whole or not DEFAULT_OPSET <= opset <= newest:
        raise ValueError(
            f"opset must be a whole number from {DEFAULT_OPSET} to {newest}, the newest that the "
            f"installed onnx knows; got {opset!r}."
        )
    return int(opset)


def model_proto(graph: Graph, about: About) -> "ModelProto":
    """Return the model of a graph."""
    onnx = _onnx()
    nodes, constants = graph.used()
    size = sum(array.nbytes for array in constants.values())
    if size > _LARGEST:
        raise ValueError(
            f"The model holds {size / 2**30:.1f} GiB of numbers, and a file of ONNX at most 2; "
            "take fewer neurons or members."
        )
    helper = onnx.helper
    made = helper.make_graph(
        [helper.make_node(n.op, n.inputs, n.outputs, **_plain(n.attributes)) for n in nodes],
        "elmband",
        [_value_info(port) for port in graph.inputs],
        [_value_info(port) for port in graph.outputs],
        [onnx.numpy_helper.from_array(array, name) for name, array in constants.items()],
    )
    named = {str(value) for n in nodes for name, value in n.attributes if name == "domain"}
    versions = {"": graph.opset} | {name: _DOMAINS[name] for name in sorted(named)}
    opsets = [helper.make_opsetid(*pair) for pair in versions.items()]
    model: ModelProto = helper.make_model(
        made,
        opset_imports=opsets,
        # The oldest format that has these operators: older runtimes refuse newer ones.
        ir_version=helper.find_min_ir_version_for(opsets),
        producer_name="elmband",
        producer_version=version("elmband"),
        doc_string=about.text,
    )
    helper.set_model_props(model, about.notes)
    return model


def _plain(attributes: Any) -> dict[str, Any]:
    """Return attributes as the onnx package takes them."""
    number_of = _onnx().helper.np_dtype_to_tensor_dtype
    return {
        name: number_of(value) if isinstance(value, np.dtype) else value
        for name, value in attributes
    }


def _value_info(port: Port) -> "ValueInfoProto":
    helper = _onnx().helper
    number = helper.np_dtype_to_tensor_dtype(port.dtype)
    info: ValueInfoProto = helper.make_tensor_value_info(port.name, number, port.shape, port.text)
    return info


def _onnx() -> Any:
    try:
        import onnx  # noqa: PLC0415 (an optional dependency)
    except ImportError as error:
        raise ImportError("to_onnx needs onnx: pip install 'elmband[onnx]'", name="onnx") from error
    return onnx
