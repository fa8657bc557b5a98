"""The graph holds nothing twice and nothing that is not used."""

import numpy as np
import pytest

from elmband.models.onnx_export._graph import DOUBLE, Graph, Port, joined, where


@pytest.fixture
def x():
    return Graph(17).input(Port("X", DOUBLE, ("n", 3), "rows"))


def names(nodes):
    return [node.op for node in nodes]


def test_equal_operations_are_one_node(x):
    x.graph.output("y", (x + 1.0) * (x + 1.0), ("n", 3), "")
    nodes, constants = x.graph.used()
    assert names(nodes) == ["Add", "Mul", "Identity"]
    assert nodes[1].inputs == (nodes[0].outputs[0],) * 2
    assert len(constants) == 1


def test_equal_constants_are_stored_once_and_different_ones_apart(x):
    graph = x.graph
    weights = np.arange(3.0)
    same = [graph.constant(weights), graph.constant(weights.copy()), x.beside([0, 1, 2])]
    assert len({tensor.name for tensor in same}) == 1
    others = [weights[None, :], weights.astype(np.float32), weights + 1, np.array(["a", "b"])]
    assert len({graph.constant(other).name for other in others} | {same[0].name}) == 5


def test_text_that_only_differs_in_one_letter_is_different(x):
    words = [np.array(["yes", "no"], dtype=object), np.array(["yes", "on"], dtype=object)]
    first, second = (x.graph.constant(word) for word in words)
    assert first.name != second.name


def test_what_no_output_needs_is_left_out(x):
    _ = (x * 2.0).apply("Exp")
    x.graph.output("y", x - 1.0, ("n", 3), "")
    nodes, constants = x.graph.used()
    assert names(nodes) == ["Sub", "Identity"]
    assert [float(value) for value in constants.values()] == [1.0]


def test_an_input_with_a_default_keeps_it(x):
    x.graph.input(Port("level", DOUBLE, (), "level"), 0.95)
    x.graph.output("y", -x, ("n", 3), "")
    assert x.graph.used()[1] == {"level": 0.95}


def test_a_conversion_to_the_same_dtype_is_none(x):
    assert x.to(np.float64) is x
    assert x.to(np.float32).dtype == np.float32
    assert joined([x]) is x
    assert x.split(1) == [x]


def test_comparisons_are_truth_values_and_choices_are_not(x):
    assert (x > 0.0).dtype == np.bool_
    assert where(x < 0.0, 0.0, x).dtype == np.float64
    assert where(x < 0.0, x, 1).dtype == np.float64


def test_reductions_follow_the_version_of_operators(x):
    later = Graph(18).input(Port("X", DOUBLE, ("n", 3), "rows"))
    for tensor, inputs in ((x, 1), (later, 2)):
        tensor.graph.output("y", tensor.reduced("ReduceMax"), ("n", 1), "")
        assert len(tensor.graph.used()[0][0].inputs) == inputs
