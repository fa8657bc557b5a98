"""Files that are damaged or hostile are refused with a sentence, soon, and run nothing."""

import json
import os
import pickle
import random
import subprocess
import sys
import tracemalloc
import warnings
from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import save_file

from elmband import ELMRegressor, load
from models import zoo
from models.forged import changed, forge, parts

DAMAGED = r"is no model file, or it is damaged or was changed\.$"
BROKEN = r"is damaged or was changed: its model does not work\.$"
SENTENCE = f"{DAMAGED}|{BROKEN}"


@pytest.fixture(scope="module")
def tiny(tmp_path_factory):
    """Return the smallest file that there is, and what its model predicts."""
    model = ELMRegressor(1, random_state=0).fit(zoo.X, zoo.Y)
    path = model.save(tmp_path_factory.mktemp("tiny") / "model")
    return path.read_bytes(), model.predict(zoo.NEW)


def refused(path, content, sentence=SENTENCE):
    path.write_bytes(content)
    with pytest.raises(ValueError, match=sentence) as caught:
        load(path)
    # One sentence, which names the file.
    assert str(caught.value).startswith(str(path))
    assert "\n" not in str(caught.value)


# Damage.


def test_a_file_cut_short_anywhere(tiny, tmp_path):
    content, _ = tiny
    for length in range(0, len(content), 3):
        refused(tmp_path / "model", content[:length])


def test_a_file_with_something_more(tiny, tmp_path):
    content, _ = tiny
    refused(tmp_path / "model", content + b"\0")
    refused(tmp_path / "model", content + content)


@pytest.mark.slow
def test_every_byte_counts(tiny, tmp_path):
    """A change is found, or it is one of blanks between words, which changes nothing."""
    content, expected = tiny
    path, found = tmp_path / "model", 0
    for place in range(len(content)):
        flipped = bytearray(content)
        flipped[place] ^= 1 << random.Random(place).randrange(8)
        path.write_bytes(flipped)
        try:
            model = load(path)
        except ValueError as error:
            assert str(error).startswith(str(path))  # noqa: PT017
            found += 1
        else:
            np.testing.assert_array_equal(model.predict(zoo.NEW), expected)
    assert found > 0.9 * len(content)


@pytest.mark.slow
def test_a_thousand_random_changes_of_many_bytes(tiny, tmp_path):
    content, expected = tiny
    path = tmp_path / "model"
    for seed in range(1000):
        chance = random.Random(seed)
        start = chance.randrange(len(content))
        size = chance.randrange(1, 40)
        path.write_bytes(content[:start] + chance.randbytes(size) + content[start + size :])
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            try:
                model = load(path)
            except ValueError:
                continue
        np.testing.assert_array_equal(model.predict(zoo.NEW), expected)


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"\0",
        b"\0" * 8,
        b"\0" * 1000,
        b"\xff" * 1000,
        b"A model of many words, and not one of them true.",
        json.dumps({"elmband": 1}).encode(),
        pickle.dumps(zoo.fitted("layer")),
        b"PK\x03\x04" + b"\0" * 100,
        (2).to_bytes(8, "little") + b"{}",
        (4).to_bytes(8, "little") + b"null",
        (2).to_bytes(8, "little") + b"[]",
        (4).to_bytes(8, "little") + b'"\xff"',
        (24).to_bytes(8, "little") + b'{"__metadata__":{"a":1}}',
        (20).to_bytes(8, "little") + b'{"__metadata__":[1]}',
        (10**6).to_bytes(8, "little") + b"[" * 10**6,
        (2**62).to_bytes(8, "little") + b"{}",
        *(random.Random(seed).randbytes(10 ** (1 + seed % 4)) for seed in range(20)),
    ],
    ids=lambda content: repr(content[:20]),
)
def test_files_of_something_else(tmp_path, content):
    path = tmp_path / "model"
    refused(path, content, f"{DAMAGED}|is a safetensors file, but not of an elmband model")


def test_safetensors_of_other_models(tmp_path):
    for metadata in (None, {"format": "pt"}):
        save_file({"a": np.zeros(3)}, tmp_path / "other", metadata)
        refused(
            tmp_path / "other",
            (tmp_path / "other").read_bytes(),
            "is a safetensors file, but not of an elmband model",
        )


@pytest.mark.parametrize("dtype", ["BF16", "F8_E4M3", "C64", "X"])
def test_numbers_that_numpy_does_not_have(tmp_path, dtype):
    tensor = {"dtype": dtype, "shape": [1], "data_offsets": [0, 2]}
    header = json.dumps({"__metadata__": {"elmband": "{}"}, "a": tensor}).encode()
    refused(tmp_path / "model", len(header).to_bytes(8, "little") + header + b"\0\0", DAMAGED)


def test_files_of_huge_models_of_others_are_not_read(tmp_path):
    size, path = 10**10, tmp_path / "huge"
    tensor = {"dtype": "U8", "shape": [size], "data_offsets": [0, size]}
    header = json.dumps({"a": tensor}).encode()
    path.write_bytes(len(header).to_bytes(8, "little") + header)
    os.truncate(path, size + 8 + len(header))
    tracemalloc.start()
    try:
        with pytest.raises(ValueError, match="not of an elmband model"):
            load(path)
        assert tracemalloc.get_traced_memory()[1] < 1e6
    finally:
        tracemalloc.stop()


# Places.


def test_places_without_a_file(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"^There is no model file .*nowhere\.$"):
        load(tmp_path / "nowhere")
    with pytest.raises(IsADirectoryError, match="is a folder; load needs the name of a file"):
        load(tmp_path)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no pipes with names")
def test_a_pipe_is_not_waited_for(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(ValueError, match="is a device or a pipe, and no model file"):
        load(tmp_path / "pipe")


def test_what_the_system_refuses_is_a_sentence(tmp_path, monkeypatch):
    path = zoo.fitted("layer").save(tmp_path / "model")

    def refuse(*_):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "open", refuse)
    with pytest.raises(PermissionError, match=r"model cannot be read: Permission denied\.$"):
        load(path)


# Forgery: the checksum is right.


@pytest.fixture(scope="module")
def originals(tmp_path_factory):
    """Return header and arrays of a model, by its name."""
    folder = tmp_path_factory.mktemp("originals")
    return lambda name: parts(zoo.fitted(name).save(folder / "model"))


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::RuntimeWarning", "ignore:.*calibration rows:UserWarning")
@pytest.mark.parametrize(
    "name",
    [
        "every kind of neuron",
        "learned intervals",
        "stack of two, two outputs",
        "box-cox",
        "refreshed",
        "noise selected",
        "text",
        "labels",
        "max_error of three",
        "promise by class",
    ],
)
def test_changed_models_are_refused_or_predict_nonsense(originals, name, tmp_path):
    original, loaded = originals(name), 0
    for seed in range(150):
        path = forge(tmp_path / "model", *changed(*original, f"{name} {seed}"))
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            try:
                model = load(path)
            except ValueError:
                continue
        loaded += 1
        for method in ("predict", "predict_interval", "predict_proba", "confidence", "triage"):
            options = {"max_width": 1.0} if hasattr(model, "predict_interval") else {}
            try:
                getattr(model, method)(zoo.NEW, **(options if method == "triage" else {}))
            except (ValueError, AttributeError) as error:
                # Parameters are checked where they are used, with sentences.
                assert str(error)  # noqa: PT017
    assert loaded < 75


ATTRIBUTES = [
    *("predict", "fit", "save", "_means", "_restore", "get_params", "__class__", "__init__"),
    *("__dict__", "__setstate__", "__getattr__", "__module__", "_doc_link_template"),
    *("_repr_html_", "_metadata_request", "_device", "classes_", "anything", "", "a b", "é"),
]


@pytest.mark.one_quick
@pytest.mark.parametrize("name", ATTRIBUTES)
def test_nothing_but_attributes_of_models_is_set(originals, name, tmp_path):
    for value in ("x", {"array": "one", "shape": []}):
        header, arrays = originals("layer")
        header["state"][name] = value
        arrays["one"] = np.ones(1)
        with pytest.raises(ValueError, match=BROKEN):
            load(forge(tmp_path / "model", header, arrays))


# What these attributes may be besides.
NULLABLE = {"_grown", "_held_out", "_declared", "probability_", "_thresholds"}
NUMBERS = {"_seed", "alpha_", "noise_alpha_", "mode_error_"}


@pytest.mark.one_quick
@pytest.mark.parametrize("value", [None, 1, "x", {"tuple": []}, {"array": "a0", "shape": [1]}])
@pytest.mark.parametrize("name", ["refreshed", "max_error of three"])
def test_no_attribute_is_of_another_type(originals, name, value, tmp_path):
    original, arrays = originals(name)
    arrays["a0"] = np.zeros(1)
    initial = vars(type(zoo.fitted(name))())
    for attribute in original["state"].keys() - initial.keys():
        if attribute in (NULLABLE if value is None else NUMBERS if value == 1 else ()):
            continue
        header = original | {"state": original["state"] | {attribute: value}}
        with pytest.raises(ValueError, match=SENTENCE):
            load(forge(tmp_path / "model", header, arrays))


@pytest.mark.parametrize("attribute", ["n_features_in_", "_targets", "_dtype", "_single_output"])
def test_what_every_model_has_may_not_be_missing(originals, attribute, tmp_path):
    header, arrays = originals("layer")
    header["state"][attribute] = None
    with pytest.raises(ValueError, match=SENTENCE):
        load(forge(tmp_path / "model", header, arrays))


def empty_scores(state):
    state["calibration_"]["parts"]["outputs"]["tuple"] = []


def fewer_outputs(state):
    outputs = state["calibration_"]["parts"]["outputs"]["tuple"]
    outputs[1] = {"tuple": []}


def other_sums(state):
    for name, shape in (("HtH", [1, 1]), ("HtY", [1, 1]), ("YtY", [1])):
        state["_grown"]["parts"]["sums"]["parts"][name] = {"array": "one", "shape": shape}


def other_sample(state):
    rows = state["_grown"]["parts"]["sample"]["parts"]["rows"]["parts"]
    rows["X"], rows["Y"] = ({"array": "one", "shape": [1, 1]},) * 2


def unknown_places(state):
    places = state["_left_out"]["parts"]["called"]
    state["_left_out"]["parts"]["called"] = {"array": "places", "shape": places["shape"]}


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("published, two outputs", empty_scores),
        ("published, two outputs", fewer_outputs),
        ("log-variance", empty_scores),
        ("conformal", empty_scores),
        ("grown layer", other_sums),
        ("grown layer", other_sample),
        ("coverage", unknown_places),
    ],
)
def test_parts_that_are_not_used_at_once_fit_too(originals, name, change, tmp_path):
    header, arrays = originals(name)
    change(header["state"])
    arrays |= {"one": np.ones(1), "places": np.full(zoo.N, 7, np.uint8)}
    with pytest.raises(ValueError, match=SENTENCE):
        load(forge(tmp_path / "model", header, arrays))


@pytest.mark.parametrize("count", [0, -3, 2, 4, 10**12, 2**63, 10**30])
def test_models_of_other_numbers_of_features(originals, count, tmp_path):
    header, arrays = originals("layer")
    header["state"]["n_features_in_"] = count
    with pytest.raises(ValueError, match=BROKEN):
        load(forge(tmp_path / "model", header, arrays))


@pytest.mark.parametrize(
    ("header", "sentence"),
    [
        (None, DAMAGED),
        (1, DAMAGED),
        ("elmband", DAMAGED),
        ([], DAMAGED),
        ({}, DAMAGED),
        ({"format": 1}, DAMAGED),
        ({"format": 2}, "was written by elmband None, whose format is newer: install that vers"),
        ({"format": 2, "version": "9.1"}, "was written by elmband 9.1, whose format is newer"),
        ({"format": 2, "version": "\x1b[2J\n9"}, r"elmband \[2J9, whose format"),
        ({"format": 2, "version": ["9"] * 10**5}, r"elmband \['9', '9', '9', '9',, whose"),
        ({"format": "1"}, "whose format is newer"),
        ({"format": True}, "whose format is newer"),
        ({"format": 1, "version": "0", "model": "ELMRegressor", "state": None}, DAMAGED),
        ({"format": 1, "version": "0", "model": "ELMRegressor", "state": []}, DAMAGED),
        ({"format": 1, "version": "0", "model": "ELMRegressor", "state": {}}, BROKEN),
        (
            {"format": 1, "version": "0", "model": "PointModel", "state": {}},
            "holds a model of the unknown kind 'PointModel'",
        ),
        (
            {"format": 1, "version": "0", "model": "os\n" * 10**5, "state": {}},
            r"holds a model of the unknown kind 'os\\nos",
        ),
        ({"format": 1, "version": "0", "model": ["ELMRegressor"], "state": {}}, "unknown kind"),
    ],
    ids=lambda part: str(part)[:60],
)
def test_headers_of_other_kinds(header, sentence, tmp_path):
    path = forge(tmp_path / "model", header, {"a0": np.zeros(3)})
    refused(path, path.read_bytes(), sentence)


@pytest.mark.parametrize("text", ["", "[" * 10**5, '{"a":' * 10**5, "{", "1" * 10**4, "\0"])
def test_headers_that_are_no_json(text, tmp_path):
    save_file({"a": np.zeros(1)}, tmp_path / "model", {"elmband": text})
    refused(tmp_path / "model", (tmp_path / "model").read_bytes(), DAMAGED)


def test_a_checksum_that_is_missing_or_wrong(tiny, tmp_path):
    path = tmp_path / "model"
    path.write_bytes(tiny[0])
    header, arrays = parts(path)
    header["version"] = "9"
    content = forge(path, header, arrays).read_bytes()
    load(path)
    refused(path, content.replace(header["digest"].encode(), b"0" * 64), DAMAGED)
    refused(path, content.replace(b"digest", b"duress"), DAMAGED)


@pytest.mark.parametrize("model", ["ELMRegressor", "ELMIntervalRegressor", "ELMClassifier"])
def test_the_state_of_another_model(originals, model, tmp_path):
    header, arrays = originals("coverage")
    header["model"] = model
    with pytest.raises(ValueError, match=BROKEN):
        load(forge(tmp_path / "model", header, arrays))


def small(originals, tmp_path, attribute, tree):
    """Forge a model with something at the beginning of its state."""
    header, arrays = originals("layer")
    header["state"] = {attribute: tree} | {**header["state"], attribute: tree}
    arrays |= {"none": np.empty((0, 1)), "a": np.zeros(3), "b": np.zeros(1)}
    arrays |= {"letters": np.zeros(7, np.uint32), "long": np.zeros(1000)}
    return forge(tmp_path / "model", header, arrays)


@pytest.mark.parametrize(
    ("attribute", "tree"),
    [
        ("hidden_", {"same": 0}),
        ("coef_", {"array": "none", "shape": [0, 2**40]}),
        ("coef_", {"array": "none", "shape": [0, 10**6, 10**6]}),
        ("coef_", {"array": "b", "shape": [2**40]}),
        ("coef_", {"array": "b", "shape": [-1]}),
        ("feature_names_in_", {"letters": "letters", "n": 10**12}),
        ("feature_names_in_", {"letters": "letters", "n": -1}),
        ("n_neurons", json.loads('{"list":[' * 70 + "1" + "]}" * 70)),
        ("alpha", {"float": "0x1p99999999"}),
    ],
    ids=lambda part: str(part)[:40],
)
def test_claims_take_no_memory(originals, attribute, tree, tmp_path):
    path = small(originals, tmp_path, attribute, tree)
    tracemalloc.start()
    try:
        with pytest.raises(ValueError, match=SENTENCE):
            load(path)
        assert tracemalloc.get_traced_memory()[1] < 1e6
    finally:
        tracemalloc.stop()


def test_a_layer_that_would_take_for_ever_to_walk_through(originals, tmp_path):
    neuron = {"kind": "tanh", "weights": {"array": "long", "shape": [1, 1000]}}
    neuron |= {"bias": {"array": "long", "shape": [1000]}, "passes": False}
    blocks = [{"kind": "Neurons", "parts": neuron}] + [{"same": 1}] * 100_000
    tree = {"kind": "HiddenLayer", "parts": {"blocks": {"tuple": blocks}}}
    with pytest.raises(ValueError, match=DAMAGED) as caught:
        load(small(originals, tmp_path, "hidden_", tree))
    assert "larger than its file can be" in str(caught.value.__cause__)


def test_too_much_text_is_not_read(originals, tmp_path):
    path = small(originals, tmp_path, "alpha", "x" * 10**7)
    with pytest.raises(ValueError, match=DAMAGED) as caught:
        load(path)
    assert "too long" in str(caught.value.__cause__)


@pytest.mark.slow
def test_many_small_arrays_are_no_trouble(originals, tmp_path):
    header, arrays = originals("layer")
    arrays |= {f"x{k}": np.zeros(1) for k in range(20_000)}
    load(forge(tmp_path / "model", header, arrays))


def test_text_of_parameters_is_only_text_in_notebooks(originals, tmp_path):
    header, arrays = originals("layer")
    header["state"]["activation"] = "<script>alert(1)</script>"
    model = load(forge(tmp_path / "model", header, arrays))
    assert "<script>alert" not in model._repr_html_()


WATCHED = """
import sys
from pathlib import Path
from elmband import load
events = []
load(sys.argv[1])
WATCHED = ("exec", "compile", "import", "os.system", "os.exec", "subprocess.Popen", "marshal.loads",
           "pickle.find_class", "ctypes.dlopen", "socket.connect", "os.remove", "os.rename")
def hook(event, args):
    if event in WATCHED or (event == "open" and args[1] not in ("r", "rb")):
        events.append((event, args))
sys.addaudithook(hook)
for path in sys.argv[1:]:
    try:
        load(path)
    except ValueError:
        pass
found, events = events, []
print(found)
"""


@pytest.mark.slow
def test_nothing_is_run_imported_or_written(originals, tmp_path):
    """Python itself tells of everything that is."""
    paths = [forge(tmp_path / "whole", *originals("layer"))]
    header, arrays = originals("layer")
    for number, kind in enumerate(["os.system", "subprocess.Popen", "exec", "antigravity"]):
        for state in ({"hidden_": {"kind": kind, "parts": {"args": "echo"}}}, {"activation": kind}):
            header["state"] |= state
            paths.append(forge(tmp_path / f"{number}-{len(paths)}", header, arrays))
    (tmp_path / "pickle").write_bytes(pickle.dumps(zoo.fitted("layer")))
    command = [sys.executable, "-c", WATCHED, *paths, tmp_path / "pickle"]
    result = subprocess.run(command, capture_output=True, text=True, check=True)
    assert result.stdout == "[]\n"
