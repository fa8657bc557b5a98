"""Forged files whose checksum is right: what they may hold, and how long they are looked at."""

import struct
import time

import numpy as np
import pytest

from elmband import load, scan
from elmband.sums.packing import Unpacker, is_plain
from models import zoo
from models.forged import forge, parts

SENTENCE = r"is no model file, or it is damaged or was changed\.$|its model does not work\.$"


@pytest.fixture(scope="module")
def originals(tmp_path_factory):
    """Return header and arrays of a model, by its name."""
    folder = tmp_path_factory.mktemp("originals")
    return lambda name: parts(zoo.fitted(name).save(folder / "model"))


def refused(path):
    with pytest.raises(ValueError, match=SENTENCE) as caught:
        load(path)
    assert "\n" not in str(caught.value)
    return str(caught.value.__cause__)


# Work is bounded by the size of a file.

# Python's hash of a whole number is what is left of it by this.
PRIME = 2**61 - 1


@pytest.mark.parametrize("kind", ["dict", "frozenset", "floats", "tuples"])
def test_keys_that_collide_are_refused_at_once(originals, kind, tmp_path):
    header, arrays = originals("layer")
    keys = [k * PRIME for k in range(20_000)]
    if kind == "floats":
        keys = [{"float": float(k * PRIME).hex()} for k in range(1, 20_000)]
    if kind == "tuples":
        keys = [{"tuple": [k]} for k in keys]
    tree = {"frozenset": keys} if kind == "frozenset" else {"dict": [[k, 1] for k in keys]}
    header["state"] = {"class_weight": tree} | header["state"]
    path = forge(tmp_path / "model", header, arrays)
    began = time.process_time()
    said = refused(path)
    # These took 3 s of comparisons, and 25 times that if five times as many.
    assert time.process_time() - began < 1.5
    assert "collide" in said or kind == "floats"


@pytest.mark.slow
def test_keys_that_people_have_are_no_trouble():
    pairs = [[k, 1] for k in (-2, -1, 0, 1, "a", 2**61 - 1)]
    made = Unpacker({}, []).value({"dict": pairs})
    assert list(made) == [-2, -1, 0, 1, "a", 2**61 - 1]
    assert len(Unpacker({}, []).value({"dict": [[k, 1] for k in range(10**5)]})) == 10**5


def npy(path, shape, dtype="<f8", content=b""):
    header = f"{{'descr': '{dtype}', 'fortran_order': False, 'shape': {shape}, }}"
    header += " " * (-(10 + len(header) + 1) % 8) + "\n"
    path.write_bytes(
        b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode() + content
    )
    return path


@pytest.mark.parametrize(
    "shape",
    [
        (2**32, 2**32),
        (2**63, 2),
        (2**62, 4),
        (2**40, 2**24),
        (3, 2**61),
        (-1, 3),
        (2, -3),
        (-4, -4),
    ],
)
def test_arrays_that_claim_more_than_numbers_can_count(shape, tmp_path):
    path = npy(tmp_path / "rows.npy", shape, content=bytes(8))
    with pytest.raises(ValueError, match=r"rows\.npy .*(incomplete|damaged)") as caught:
        scan(path, target=-1)
    assert "\n" not in str(caught.value)


# What has to be finite is.

WEIGHTS = ["weights", "bias", "coef", "centre", "intercept", "mean", "scale", "weights"]


def arrays_of(tree, names):
    """Yield the names of arrays that are parts with such names."""
    if isinstance(tree, dict):
        for name, part in tree.items():
            if name in names and isinstance(part, dict) and "array" in part:
                yield part["array"]
            yield from arrays_of(part, names)
    elif isinstance(tree, list):
        for part in tree:
            yield from arrays_of(part, names)


@pytest.mark.parametrize("odd", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize(
    "name", ["layer", "stack", "default", "published", "two classes", "coverage", "grown layer"]
)
def test_weights_that_are_not_finite_are_refused(originals, name, odd, tmp_path):
    header, arrays = originals(name)
    found = sorted(set(arrays_of(header["state"], {*WEIGHTS, "coef_"})))
    assert len(found) > 3
    for array in found:
        # Judges of certainty hold infinity for what does not vary.
        changed = arrays[array].copy()
        if not np.isfinite(changed).all() or not changed.size:
            continue
        changed.reshape(-1)[changed.size // 2] = odd
        path = forge(tmp_path / "model", header, arrays | {array: changed})
        if array in set(arrays_of(header["state"].get("confidence_"), set(WEIGHTS))):
            continue
        refused(path)


def test_scales_are_positive_and_scores_in_order(originals, tmp_path):
    header, arrays = originals("log-variance")
    for names, change in (({"scale"}, lambda a: -a), ({"t", "cumulated"}, lambda a: a[::-1])):
        for array in set(arrays_of(header["state"], names)):
            changed = np.ascontiguousarray(change(arrays[array]))
            refused(forge(tmp_path / "model", header, arrays | {array: changed}))


def test_finite_weights_that_answer_nothing_finite(originals, tmp_path):
    header, arrays = originals("layer")
    name = next(arrays_of(header["state"], {"coef_", "coef"}))
    changed = {name: np.full_like(arrays[name], 1e308)}
    refused(forge(tmp_path / "model", header, arrays | changed))


@pytest.mark.parametrize("model", ["log-variance", "by the margin", "box-cox", "normal"])
def test_numbers_of_half_precision_are_refused(originals, tmp_path, model):
    header, arrays = originals(model)
    floats = [name for name, array in arrays.items() if array.dtype.kind == "f"]
    assert floats
    for name in floats:
        changed = {name: arrays[name].astype(np.float16)}
        refused(forge(tmp_path / "model", header, arrays | changed))


# Parameters are what their annotations say.


@pytest.mark.parametrize(
    ("parameter", "value"),
    [
        ("n_neurons", {"list": [1]}),
        ("n_neurons", {"dict": [["tanh", "many"]]}),
        ("alpha", {"tuple": []}),
        ("alpha", "best"),
        ("bias", "yes"),
        ("density", None),
        ("chunk_size", {"float": "0x1.8p0"}),
        ("chunk_size", "x"),
        ("precision", 7),
        ("verbose", "<script>"),
        ("device", 3),
        ("random_state", {"list": []}),
        ("target_transform", {"kind": "Identity", "parts": {}}),
        ("n_estimators", {"array": "a0", "shape": [1]}),
    ],
)
def test_parameters_of_other_types_are_refused(originals, parameter, value, tmp_path):
    header, arrays = originals("layer")
    header["state"][parameter] = value
    refused(forge(tmp_path / "model", header, arrays | {"a0": np.zeros(1)}))


def test_parameters_that_mean_the_same_are_welcome():
    assert is_plain(1, bool)
    assert is_plain(3.0, int)
    assert is_plain([0, None], tuple[float | None, float | None])
    assert not is_plain(2, bool)
    assert not is_plain(2.5, int)
    assert not is_plain(float("nan"), int)
    assert not is_plain([0], tuple[float | None, float | None])


def test_a_promise_for_all_classes_has_a_threshold(originals, tmp_path):
    header, arrays = originals("promise")
    header["state"]["_thresholds"]["parts"]["by_class"] = {"tuple": [None, None]}
    refused(forge(tmp_path / "model", header, arrays))


@pytest.mark.parametrize("attribute", ["confidence_", "_left_out"])
def test_a_model_that_abstains_knows_how_certain_it_is(originals, attribute, tmp_path):
    header, arrays = originals("coverage")
    del header["state"][attribute]
    refused(forge(tmp_path / "model", header, arrays))
