"""Labels as codes and back, and what a class weighs."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.preprocessing import LabelBinarizer
from sklearn.utils import compute_class_weight

from elmband.engines.engine import total
from elmband.ground.arrays import namespace, to_numpy
from elmband.sums.moments import Chunk
from elmband.sums.rows import ArrayRows
from elmband.uncertainty.classes import Classes, LabelCounts

RNG = np.random.default_rng(0)
KINDS = {
    "text": np.array(["ash", "birch", "oak"]),
    "objects": np.array(["ash", "birch", "oak"], dtype=object),
    "whole": np.array([-3, 0, 12]),
    "small": np.array([1, 2, 200], dtype=np.uint8),
    "floats": np.array([-1.0, 0.0, 2.0]),
}


def classes_of(y, class_weight=None, s=None):
    return Classes.counted(LabelCounts.of(y, s), class_weight)


@given(st.lists(st.integers(-5, 5), min_size=1, max_size=40), st.integers(1, 7))
def test_counts_of_parts_add_up_to_those_of_all(values, size):
    y = np.array(values)
    s = 1.0 + np.arange(len(y)) % 3
    parts = [LabelCounts.of(y[k : k + size], s[k : k + size]) for k in range(0, len(y), size)]
    whole = parts[0]
    for part in parts[1:]:
        whole = whole + part
    labels, owner = np.unique(y, return_inverse=True)
    np.testing.assert_array_equal(whole.labels, labels)
    expected = [s[owner == k].sum() for k in range(len(labels))]
    np.testing.assert_allclose(whole.counts, expected)


def test_counts_run_through_the_engine_on_rows_sorted_by_class():
    y = np.repeat([3.0, 5.0, 9.0], [500, 20, 4000])
    rows = ArrayRows(np.zeros((len(y), 1)), y[:, None], chunk_size=100)
    found = total(rows, lambda chunk: LabelCounts.of(chunk.Y[:, 0]))
    np.testing.assert_array_equal(found.labels, [3, 5, 9])
    np.testing.assert_array_equal(found.counts, [500, 20, 4000])


def test_more_than_a_thousand_labels_are_numbers():
    values = np.arange(1001)
    with pytest.raises(ValueError, match="more than 1000 distinct values"):
        LabelCounts.of(values)
    first, second = LabelCounts.of(values[:600]), LabelCounts.of(values[600:])
    with pytest.raises(ValueError, match="use a regressor"):
        first + second
    assert len((first + LabelCounts.of(values[500:1000])).labels) == 1000


@pytest.mark.parametrize("kind", KINDS)
def test_codes_are_one_against_the_rest(kind):
    labels = KINDS[kind]
    y = labels[RNG.integers(3, size=50)]
    expected = LabelBinarizer(neg_label=-1).fit_transform(y)
    found = classes_of(y)
    np.testing.assert_array_equal(found.codes(y), expected)
    np.testing.assert_array_equal(found.labels, labels)
    assert not found.single_output
    two = classes_of(y[y != labels[1]])
    assert two.single_output
    codes = two.codes(np.array([labels[2], labels[0]], dtype=labels.dtype))
    np.testing.assert_array_equal(codes, [1, -1])


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("number", [2, 3])
def test_decisions_give_the_labels_back(kind, number):
    labels = KINDS[kind][:number]
    y = labels[np.arange(30) % number]
    found = classes_of(y)
    noisy = found.codes(y) * RNG.uniform(0.1, 2, (30, 1) if number == 3 else 30)
    decided = found.decided(noisy)
    np.testing.assert_array_equal(decided, y)
    assert decided.dtype == (np.int64 if kind == "floats" else y.dtype)


@pytest.mark.one_quick
@pytest.mark.parametrize("labels", [[0, 1], [0, 1, 7], [False, True], [0.0, 4.0]], ids=str)
def test_labels_come_back_in_the_library_of_the_decisions(xp, labels):
    y = np.array(labels)[np.arange(12) % len(labels)]
    found = classes_of(y)
    decided = found.decided(xp.asarray(found.codes(y)))
    assert namespace(decided) is namespace(xp.asarray([1.0]))
    np.testing.assert_array_equal(to_numpy(decided), y)


def test_text_comes_back_as_numpy(xp):
    y = np.array(["a", "b", "a"])
    found = classes_of(y)
    np.testing.assert_array_equal(found.decided(xp.asarray(found.codes(y))), y)


def test_whole_numbers_in_floats_are_classes_and_others_are_not():
    assert classes_of(np.array([1.0, 2.0, 1.0])).labels.dtype == np.int64
    assert Classes.named(np.array([0.0, 1.0]), None).labels.dtype == np.int64
    # An int64 does not hold these.
    assert classes_of(np.array([1e20, 0.0])).labels.dtype == np.float64
    with pytest.raises(ValueError, match=r"holds 0\.5, which is no class"):
        classes_of(np.array([0.0, 0.5, 1.0]))


@pytest.mark.parametrize("weighted", [False, True])
def test_balanced_weights_are_those_of_scikit_learn(weighted):
    y = np.array(["a", "b", "b", "c", "c", "c", "c"])
    s = np.array([2, 1, 3, 0, 1, 1, 2]) if weighted else np.ones(7, dtype=int)
    found = classes_of(y, "balanced", s.astype(float))
    expected = compute_class_weight("balanced", classes=np.unique(y), y=np.repeat(y, s))
    np.testing.assert_allclose(found.weights, expected, rtol=1e-15)
    given = found.row_weights(y, s)
    np.testing.assert_allclose(given, s * expected[np.unique(y, return_inverse=True)[1]])
    sums = [given[y == label].sum() for label in "abc"]
    np.testing.assert_allclose(sums, s.sum() / 3)


def test_a_class_without_weight_is_none():
    found = classes_of(np.array([0, 1, 2]), "balanced", np.array([1.0, 0.0, 1.0]))
    np.testing.assert_array_equal(found.labels, [0, 2])
    np.testing.assert_array_equal(found.weights, [1, 1])
    with pytest.raises(ValueError, match="rows of one class only"):
        classes_of(np.array([0, 1]), None, np.array([1.0, 0.0]))


def test_a_dictionary_weighs_the_classes_it_names():
    found = classes_of(np.array([3, 4, 5]), {4: 0.5, 5: 2})
    np.testing.assert_array_equal(found.weights, [1, 0.5, 2])
    np.testing.assert_array_equal(found.row_weights(np.array([5, 3]), None), [2, 1])
    np.testing.assert_array_equal(found.row_weights(np.array([5, 3]), 3.0), [6, 3])
    assert classes_of(np.array([3, 4])).row_weights(np.array([3]), None) is None


@pytest.mark.parametrize(
    ("class_weight", "sentence"),
    [
        ("even", "must be None, 'balanced' or a dictionary.*got 'even'"),
        ([1, 2], "must be None, 'balanced' or a dictionary"),
        (2.0, "must be None, 'balanced' or a dictionary"),
        ({0: 1, 7: 2}, "names the class 7, which y does not have"),
        ({"0": 1}, "names the class '0', which y does not have"),
        ({0: -1}, "must be a positive number; it is -1 for the class 0"),
        ({0: 0}, "must be a positive number"),
        ({0: np.nan}, "must be a positive number; it is nan"),
        ({0: np.inf}, "must be a positive number; it is inf"),
        ({0: "much"}, "must be a positive number; it is 'much'"),
        ({0: None}, "must be a positive number; it is None"),
    ],
    ids=str,
)
def test_weights_that_cannot_be_are_refused(class_weight, sentence):
    with pytest.raises(ValueError, match=sentence):
        classes_of(np.array([0, 1]), class_weight)


@pytest.mark.parametrize(
    ("known", "y", "label"),
    [
        (["a", "c"], ["a", "b"], "'b'"),
        (["a", "c"], ["a", "z"], "'z'"),
        (["0", "1"], [0, 1], "0"),
        ([0, 1], ["0", "1"], "'0'"),
        ([0, 1], [1, 2], "2"),
        ([0, 1], [1.0, 0.5], "0.5"),
        (np.array(["a", "c"], dtype=object), [3, 4], "3"),
    ],
    ids=str,
)
def test_labels_that_are_not_known_are_named(known, y, label):
    found = Classes.named(np.array(known), None)
    with pytest.raises(ValueError, match=f"the label {label}, which is none of the classes"):
        found.positions(np.array(y))


def test_names_of_one_class_are_too_few():
    with pytest.raises(ValueError, match="classes names one class only"):
        Classes.named(np.array(["a"]), None)


def test_several_labels_are_columns_of_0_and_1():
    found = Classes(np.arange(3), multilabel=True)
    y = RNG.integers(2, size=(20, 3))
    for kind in (np.int64, np.float64, np.bool_):
        codes = found.codes(y.astype(kind))
        np.testing.assert_array_equal(codes, 2.0 * y - 1)
    np.testing.assert_array_equal(found.decided(codes), y)
    for value in (2, -1, 0.5):
        wrong = y.astype(float)
        wrong[4, 1] = value
        with pytest.raises(ValueError, match=f"hold 0 and 1; column 1 of y holds {value}"):
            found.codes(wrong)


@pytest.mark.parametrize("s", [None, np.array([1.0, 2.0, 3.0])], ids=["plain", "weighted"])
def test_chunks_of_a_scan_are_coded_and_weighed(s):
    found = Classes(np.array([2, 7]), np.array([0.5, 3.0]))
    chunk = Chunk(RNG.standard_normal((3, 2)), np.array([[7.0], [2.0], [2.0]]), s)
    X, Y, weights, *_ = found.prepare(chunk)
    assert X is chunk.X
    np.testing.assert_array_equal(Y, [[1], [-1], [-1]])
    np.testing.assert_array_equal(weights, [3, 0.5, 0.5] if s is None else [3, 1, 1.5])
    many = Classes(np.array([2, 5, 7])).prepare(chunk)
    np.testing.assert_array_equal(many.Y, [[-1, -1, 1], [1, -1, -1], [1, -1, -1]])
    assert many.s is s
