"""Values taken apart and put together: nothing is lost, and nothing else comes out."""

import json
import math
from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass
from enum import IntEnum
from typing import Any, Literal, NamedTuple

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from elmband.layers.hidden import HiddenLayer
from elmband.layers.neurons import Neurons
from elmband.sums.moments import Chunk, Count, Gram, Pieces, Several
from elmband.sums.packing import Packer, UnknownKindError, Unpacker, digest, fits
from elmband.sums.scaling import Scaling

KINDS = [Chunk, Count, Gram, HiddenLayer, Neurons, Pieces, Scaling, Several]


def again(value, kinds=KINDS):
    """Take a value apart and put it together, by way of text."""
    packer = Packer(kinds)
    tree = json.loads(json.dumps(packer.tree(value)))
    return Unpacker(packer.arrays, kinds).value(tree)


def unpacked(tree, arrays=None, kinds=KINDS):
    return Unpacker(arrays or {}, kinds).value(tree)


PLAIN = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: (
        st.lists(inner)
        | st.lists(inner).map(tuple)
        | st.dictionaries(st.text() | st.integers() | st.tuples(st.booleans()), inner)
    ),
    max_leaves=12,
)


@pytest.mark.slow
@given(PLAIN)
def test_plain_values_come_back(value):
    found = again(value)
    assert found == value
    assert repr(found) == repr(value)


@given(
    hnp.arrays(
        hnp.floating_dtypes(sizes=(16, 32, 64)) | hnp.integer_dtypes() | hnp.boolean_dtypes(),
        hnp.array_shapes(min_dims=0, min_side=0),
    )
)
def test_arrays_come_back_to_the_bit(array):
    found = again(array)
    assert found.dtype == array.dtype.newbyteorder("<")
    np.testing.assert_array_equal(found, array)


@given(hnp.arrays(hnp.unicode_string_dtypes(), hnp.array_shapes(max_dims=1)))
def test_text_comes_back(array):
    found = again(array)
    np.testing.assert_array_equal(found, array)
    assert found.dtype == array.dtype.newbyteorder("<")


@pytest.mark.slow
@given(st.lists(st.text()))
def test_objects_that_are_text_come_back(words):
    array = np.array(words, dtype=object)
    found = again(array)
    assert found.dtype == object
    assert found.tolist() == words


def test_numbers_that_json_does_not_have():
    assert again(-math.inf) == -math.inf
    assert math.isnan(again(math.nan))
    assert str(again(-0.0)) == "-0.0"
    assert again(2**200) == 2**200


def test_numbers_of_numpy_become_python():
    values = [np.float32(0.5), np.int8(3), np.bool_(True), np.str_("a"), np.float64(0.1)]  # noqa: FBT003
    found = again(values)
    assert found == [0.5, 3, True, "a", 0.1]
    assert [type(value) for value in found] == [float, int, bool, str, float]


def test_relatives_of_plain_types_become_plain():
    class Words(list):
        pass

    class Level(IntEnum):
        LOW = 1

    found = again([Words("ab"), OrderedDict(a=Level.LOW)])
    assert found == [["a", "b"], {"a": 1}]
    assert [type(value) for value in found] == [list, dict]


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_types_of_numbers(dtype):
    assert again(dtype) is dtype
    assert again(np.dtype(dtype)) is dtype


def test_records_come_back():
    rows = Chunk(np.eye(2), np.ones((2, 1)), None)
    found = again((rows, Count(3.0)))
    assert type(found[0]) is Chunk
    np.testing.assert_array_equal(found[0].X, np.eye(2))
    assert found[0].s is None
    assert found[1].n == 3.0


def test_what_is_shared_stays_shared_and_is_stored_once():
    array = np.arange(6.0)
    scaling = Scaling(array, array + 1)
    packer = Packer(KINDS)
    tree = packer.tree([scaling, scaling, array, array.reshape(2, 3), array[::-1]])
    found = Unpacker(packer.arrays, KINDS).value(tree)
    assert found[0] is found[1]
    assert found[0].mean is found[2]
    assert np.shares_memory(found[2], found[3])
    assert found[3].shape == (2, 3)
    # The array, the array plus one, and the reversed one, which is another.
    assert len(packer.arrays) == 3


def test_arrays_that_come_and_go_are_not_taken_for_each_other():
    """Their memory may be that of one before, which is gone."""
    packer = Packer()
    trees = [packer.tree(np.full(100, float(k))) for k in range(50)]
    found = [Unpacker(packer.arrays, []).value(tree) for tree in trees]
    assert [array[0] for array in found] == list(range(50))


@pytest.mark.parametrize("order", ["<", ">"])
def test_the_order_of_bytes_does_not_matter(order):
    for array in (np.arange(3, dtype=f"{order}i4"), np.array(["a", "bc"], dtype=f"{order}U2")):
        packer = Packer()
        tree = packer.tree(array)
        assert all(a.dtype.str[0] in "<|" for a in packer.arrays.values())
        np.testing.assert_array_equal(Unpacker(packer.arrays, []).value(tree), array)


class Foreign(NamedTuple):
    a: int


@pytest.mark.parametrize(
    ("value", "reason"),
    [
        (len, "a builtin_function_or_method is neither"),
        (np.tanh, "a ufunc is neither"),
        (lambda x: x, "a function is neither"),
        (Foreign(1), "a Foreign is neither"),
        (Foreign, "a type is neither"),
        (object(), "a object is neither"),
        ({1, 2}, "a set is neither"),
        (b"bytes", "a bytes is neither"),
        (1j, "a complex is neither"),
        (np.array([1j]), "an array of complex128"),
        (np.array([b"a"]), r"an array of \|S1"),
        (np.array(["2020-01-01"], dtype="M8[D]"), "an array of datetime64"),
        (np.array([1, None], dtype=object), "an array of object"),
        (np.array([["a"]]), "an array of <U1"),
        (np.zeros(2, dtype=[("a", "f8")]), "an array of"),
    ],
    ids=lambda value: value if isinstance(value, str) else type(value).__name__,
)
def test_what_cannot_be_taken_apart_is_named(value, reason):
    with pytest.raises(UnknownKindError, match=reason):
        Packer(KINDS).tree([value])


def test_other_libraries_are_welcome_only_if_asked_for(xp):
    array = xp.asarray([1.0, 2.0])
    if isinstance(array, np.ndarray):
        pytest.skip("NumPy is no other library")
    with pytest.raises(UnknownKindError, match="Only NumPy arrays are kept"):
        Packer().tree(array)
    packer = Packer(foreign=True)
    found = Unpacker(packer.arrays, []).value(packer.tree([array, xp.float32]))
    np.testing.assert_array_equal(found[0], [1.0, 2.0])
    assert found[1] is np.float32


A = np.arange(6.0)
EMPTY = np.empty((0, 3))


@pytest.mark.parametrize(
    "tree",
    [
        1.5,
        [],
        {},
        {"a": 1},
        {"float": 1.0},
        {"float": "pi"},
        {"float": "0x1p5000"},
        {"tuple": "abc"},
        {"list": {"0": 1}},
        {"dict": [[1]]},
        {"dict": [[1, 2, 3]]},
        {"dict": [["a"], 1]},
        {"dict": [[{"list": []}, 1]]},
        {"same": 0},
        {"same": -1},
        {"same": "0"},
        {"same": [0]},
        {"dtype": "int8"},
        {"dtype": "__class__"},
        {"dtype": ["float32"]},
        {"array": "b", "shape": [6]},
        {"array": ["a"], "shape": [6]},
        {"array": "a"},
        {"array": "a", "shape": 6},
        {"array": "a", "shape": "6"},
        {"array": "a", "shape": [-1]},
        {"array": "a", "shape": [-2, -3]},
        {"array": "a", "shape": [2, 2]},
        {"array": "a", "shape": [6.0]},
        {"array": "a", "shape": [True, 6]},
        {"array": "a", "shape": [2**64]},
        {"array": "a", "shape": [1] * 100 + [6]},
        {"array": "none", "shape": [0, 2**62]},
        {"array": "none", "shape": [0, 2**11, 2**11]},
        {"array": "complex", "shape": [6]},
        {"letters": "a", "n": 2},
        {"letters": "bytes", "n": 4},
        {"letters": "letters", "n": 0},
        {"letters": "letters", "n": -1},
        {"letters": "letters", "n": 4},
        {"letters": "far", "n": 1},
        {"letters": "none", "n": 1},
        {"words": "a"},
        {"words": "bytes"},
        {"words": "number"},
        {"words": "none"},
        {"kind": "Scaling"},
        {"kind": "Scaling", "parts": []},
        {"kind": "Scaling", "parts": {}},
        {"kind": "Scaling", "parts": {"mean": None, "scale": None}},
        {"kind": "Scaling", "parts": {"mean": 1, "scale": 1}},
        {"kind": "Scaling", "parts": {"mean": {"words": "words"}, "scale": {"words": "words"}}},
        {"kind": "Count", "parts": {"n": "1"}},
        {"kind": "Count", "parts": {"n": True}},
        {"kind": "Count", "parts": {"n": 1, "m": 1}},
        {"kind": "Count", "parts": {"self": 1}},
        {"kind": "Count", "parts": {"__class__": 1}},
        {"kind": "Chunk", "parts": {"_cls": 1}},
        {"kind": "Several", "parts": {"parts": {"tuple": [{"same": 0}]}}},
        {"kind": "Several", "parts": {"parts": {"tuple": [1]}}},
        {"kind": "HiddenLayer", "parts": {"blocks": {"tuple": [1]}}},
        {"kind": "HiddenLayer", "parts": {"blocks": {"list": []}}},
        {"kind": "os.system", "parts": {}},
        {"kind": "print", "parts": {}},
        {"kind": "__class__", "parts": {}},
        {"kind": ["Count"], "parts": {}},
    ],
    ids=str,
)
def test_what_is_no_value_is_refused(tree):
    arrays = {
        "a": A,
        "none": EMPTY,
        "complex": A.astype(complex),
        "bytes": np.frombuffer(b"{}{}", np.uint8),
        "number": np.frombuffer(b"[1]", np.uint8),
        "words": np.frombuffer(b'["a"]', np.uint8),
        "letters": np.arange(6, dtype=np.uint32),
        "far": np.array([0x110000], np.uint32),
    }
    with pytest.raises(ValueError, match=r"."):
        unpacked(tree, arrays)


def test_kinds_come_in_their_shapes_only():
    def scaling(mean, scale):
        arrays = {"a": A, "b": A[:2].copy()}
        parts = {"mean": {"array": "a", "shape": mean}, "scale": scale}
        shapes = {Scaling: {"mean": "d", "scale": "d"}}
        return unpacked({"kind": "Scaling", "parts": parts}, arrays, shapes)

    assert scaling([6], {"array": "a", "shape": [6]}).mean.shape == (6,)
    for mean, scale in [([6, 1], {"same": 1}), ([6], {"array": "b", "shape": [2]})]:
        with pytest.raises(ValueError, match=r"axes|as long"):
            scaling(mean, scale)


def test_missing_parts_have_their_defaults():
    parts = {name: {"array": "a", "shape": shape} for name, shape in (("weights", [2, 3]),)}
    parts |= {"kind": "tanh", "bias": {"array": "b", "shape": [3]}}
    found = unpacked({"kind": "Neurons", "parts": parts}, {"a": A, "b": A[:3].copy()})
    assert found.passes is False


def test_functions_do_not_come_from_files():
    parts = {"weights": {"array": "a", "shape": [6, 1]}, "bias": {"array": "a", "shape": [6]}}
    for kind in (1, None, {"dtype": "float64"}, {"array": "a", "shape": [6]}):
        with pytest.raises(ValueError, match="another type"):
            unpacked({"kind": "Neurons", "parts": {"kind": kind, **parts}}, {"a": A})


def test_deep_nests_are_refused_soon():
    tree: Any = 1
    for _ in range(10_000):
        tree = {"list": [tree]}
    with pytest.raises(ValueError, match="too deeply"):
        unpacked(tree)


def test_kinds_of_one_name_are_told_apart():
    """Those of any kind are: for files that last, kinds are given and their names are short."""
    other = dataclass(frozen=True)(type("Count", (), {"__annotations__": {"n": float}}))
    packer = Packer()
    tree = packer.tree((Count(1.0), other(2.0)))
    found = Unpacker({}, [Count, other]).value(tree)
    assert [type(value) for value in found] == [Count, other]
    assert Packer([Count]).tree(Count(1.0))["kind"] == "Count"


def test_sets_come_back_in_the_same_text():
    words = [f"word {k}" for k in range(50)]
    trees = [Packer().tree(frozenset(some)) for some in (words, words[::-1])]
    assert trees[0] == trees[1]
    assert again(frozenset(words)) == frozenset(words)


def laughs(levels, width=10):
    """Return a tree that doubles over and over by naming what it had before."""
    parts = [{"kind": "Several", "parts": {"parts": {"tuple": [{"array": "a", "shape": [6]}]}}}]
    for number in range(levels):
        # Arrays are counted too: the first object is 0, its array 1, the next object 2.
        last = 0 if number == 0 else number + 1
        tuples = {"tuple": [{"same": last}] * width}
        parts.append({"kind": "Several", "parts": {"parts": tuples}})
    return {"list": parts}


def test_a_little_text_does_not_become_a_forest():
    assert len(unpacked(laughs(2), {"a": A})) == 3
    with pytest.raises(ValueError, match="larger than its file"):
        unpacked(laughs(30), {"a": A})


def test_an_array_is_not_met_for_ever():
    array = np.zeros(1_000_000)
    tree = {"list": [{"array": "a", "shape": [1_000_000]}] * 40}
    assert len(unpacked(tree, {"a": array})) == 40
    with pytest.raises(ValueError, match="larger than its file"):
        unpacked({"list": tree["list"] * 2}, {"a": array})


@pytest.mark.parametrize(
    ("value", "hint", "expected"),
    [
        (1, int, True),
        (True, int, False),
        (True, bool, True),
        (1, bool, False),
        (1, float, True),
        (1.5, float, True),
        (True, float, False),
        ("1", float, False),
        ("a", str, True),
        (None, str | None, True),
        (1, str | None, False),
        (None, type(None), True),
        ("a", Literal["a", "b"], True),
        ("c", Literal["a", "b"], False),
        ((1, 2), tuple[int, ...], True),
        ((1, "2"), tuple[int, ...], False),
        ([1, 2], tuple[int, ...], False),
        ((1, 2.0), tuple[int, float], True),
        ((1,), tuple[int, float], False),
        ({"a": 1.0}, Mapping[str, float], True),
        ({"a": "b"}, Mapping[str, float], False),
        ({1: 1.0}, Mapping[str, float], False),
        ([], Mapping[str, float], False),
        ({"a": "b"}, dict[str, Any], True),
        ({1: "b"}, dict[str, Any], False),
        ([1], list[int], True),
        (["1"], list[int], False),
        ((1,), list[int], False),
        (frozenset(["a"]), frozenset[str], True),
        (frozenset([1]), frozenset[str], False),
        (A, Any, True),
        (A, Any | None, True),
        (Count(1.0), Any, True),
        (np.array(["a"]), Any, False),
        ("a", Any, False),
        (None, Any, False),
        (A, np.ndarray[Any, np.dtype[np.float64]], True),
        (A.astype(np.float32), np.ndarray[Any, np.dtype[np.float64]], False),
        (np.array(["a"]), np.ndarray[Any, Any], True),
        (1, np.ndarray[Any, Any], False),
        (np.float32, type, True),
    ],
    ids=str,
)
def test_values_are_what_annotations_say(value, hint, expected):
    assert fits(value, hint) is expected


@given(st.integers(0, 5), st.integers(0, 7))
def test_a_digest_tells_every_bit(place, bit):
    known = digest({"a": A}, "text")
    changed = A.copy()
    changed.view(np.uint8)[8 * place] ^= 1 << bit
    others = [
        digest({"a": changed}, "text"),
        digest({"b": A}, "text"),
        digest({"a": A.reshape(2, 3)}, "text"),
        digest({"a": A}, "test"),
        digest({}, "text"),
    ]
    assert known == digest({"a": A.copy()}, "text")
    assert known not in others
