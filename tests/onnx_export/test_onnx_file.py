"""What a file holds and says of itself, what runs it, and what is refused."""

import builtins
import json
import subprocess
import sys

import numpy as np
import onnx
import pandas as pd
import pytest
from exported import Session, assert_same_intervals, rows
from onnx.reference import ReferenceEvaluator
from sklearn import config_context
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import Ridge
from sklearn.pipeline import make_pipeline

import elmband
from elmband import ELMClassifier, ELMIntervalRegressor, ELMRegressor, ELMSelectiveClassifier
from elmband.models.onnx_export import _proto, to_onnx


@pytest.fixture(scope="module")
def model():
    X, y, _ = rows()
    return ELMIntervalRegressor(10, random_state=0).fit(X, y)


def notes(proto):
    return {note.key: note.value for note in proto.metadata_props}


def test_a_file_says_where_it_comes_from(model):
    proto = to_onnx(model)
    assert (proto.producer_name, proto.producer_version) == ("elmband", elmband.__version__)
    assert notes(proto) == {"model": "ELMIntervalRegressor", "calibration": "loo"}
    assert all(port.doc_string for port in (*proto.graph.input, *proto.graph.output))


def test_features_are_named():
    X, y, _ = rows()
    frame = pd.DataFrame(X, columns=["age", "größe", "x y"])
    proto = to_onnx(ELMRegressor(5, random_state=0).fit(frame, y))
    assert json.loads(notes(proto)["features"]) == ["age", "größe", "x y"]
    assert "age, größe, x y" in proto.graph.input[0].doc_string


def test_classes_and_the_statement_are_told():
    X, y, _ = rows()
    model = ELMSelectiveClassifier(10, coverage=0.5, random_state=0)
    model.fit(X, np.where(y > 0, "up", "down"))
    said = notes(to_onnx(model))
    assert json.loads(said["classes"]) == ["down", "up"]
    assert said["statement"] == model.statement_
    assert "50 %" in said["statement"]
    assert "statement" not in notes(to_onnx(ELMClassifier(5, random_state=0).fit(X, y > 0)))


@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_inputs_and_outputs_have_the_dtype_of_training(dtype):
    X, y, _ = rows(dtype=dtype)
    graph = to_onnx(ELMIntervalRegressor(10, random_state=0).fit(X, y)).graph
    kind = onnx.helper.np_dtype_to_tensor_dtype(np.dtype(dtype))
    X_port, level = graph.input
    assert X_port.type.tensor_type.elem_type == kind
    assert [d.dim_param or d.dim_value for d in X_port.type.tensor_type.shape.dim] == ["n", 3]
    assert level.type.tensor_type.elem_type == onnx.TensorProto.DOUBLE
    assert {port.type.tensor_type.elem_type for port in graph.output} == {kind}


def test_whole_numbers_of_training_are_float32_or_float64_as_in_python():
    X, y, _ = rows()
    small = ELMRegressor(5, random_state=0).fit((10 * X).astype(np.int16), y)
    large = ELMRegressor(5, random_state=0).fit((10 * X).astype(np.int64), y)
    kinds = [to_onnx(m).graph.input[0].type.tensor_type.elem_type for m in (small, large)]
    assert kinds == [onnx.TensorProto.FLOAT, onnx.TensorProto.DOUBLE]


@pytest.mark.slow
def test_weights_are_stored_once_and_half_of_covariances():
    X, y, _ = rows(900)
    size = 400
    model = ELMIntervalRegressor(size, noise="squared", calibration="gaussian", random_state=0)
    stored = len(to_onnx(model.fit(X, y)).SerializeToString()) / 8
    # A triangle and the blocks that reach over it, weights of neurons, of both outputs, and words.
    assert stored < (size**2 + 128 * size) / 2 + 6 * size + 3000
    # Three noise models share their neurons.
    log = [
        len(
            to_onnx(
                ELMIntervalRegressor(10, random_state=0, symmetric=s).fit(X, y)
            ).SerializeToString()
        )
        for s in (True, False)
    ]
    assert log[1] - log[0] < 8 * (2 * 184**2 + 6 * 900 + 1000)


def test_files_appear_where_they_are_told(model, tmp_path):
    path = tmp_path / "model.onnx"
    assert to_onnx(model, str(path)) == path
    assert path.read_bytes() == to_onnx(model).SerializeToString()
    onnx.checker.check_model(path, full_check=True)
    assert [file.name for file in tmp_path.iterdir()] == ["model.onnx"]
    with pytest.raises(NotADirectoryError, match="does not exist"):
        to_onnx(model, tmp_path / "nowhere" / "model.onnx")


@pytest.mark.one_quick
@pytest.mark.parametrize("opset", [17, 18, 20, 21])
def test_versions_of_operators(opset):
    X, y, new = rows()
    model = ELMSelectiveClassifier({"rbf_l2": 10}, coverage=0.5, random_state=0)
    proto = to_onnx(model.fit(X, np.digitize(y, [-0.5, 0.5])), opset=opset)
    assert [entry.version for entry in proto.opset_import] == [opset]
    np.testing.assert_array_equal(Session(proto)(new)["accepted"], model.accept(new))


def test_the_oldest_format_that_will_do(model):
    assert to_onnx(model).ir_version == 8
    assert {node.domain for node in to_onnx(model).graph.node} == {""}


@pytest.mark.parametrize("opset", [16, 9999, 17.0, True, "17"])
def test_versions_that_are_none_are_refused(model, opset):
    with pytest.raises(ValueError, match="opset must be a whole number from 17 to"):
        to_onnx(model, opset=opset)


def test_a_file_runs_where_elmband_is_not(model, tmp_path):
    X = rows()[2]
    np.save(tmp_path / "X.npy", X)
    to_onnx(model, tmp_path / "model.onnx")
    script = """
import sys
import numpy as np
import onnxruntime
sys.modules["elmband"] = None
options = onnxruntime.SessionOptions()
options.log_severity_level = 3
run = onnxruntime.InferenceSession("model.onnx", options).run
np.save("upper.npy", run(["upper"], {"X": np.load("X.npy")})[0])
"""
    subprocess.run([sys.executable, "-c", script], cwd=tmp_path, check=True)
    expected = model.predict_interval(X)[:, 1]
    np.testing.assert_allclose(np.load(tmp_path / "upper.npy"), expected, rtol=1e-6)


@pytest.mark.slow
def test_another_runtime_gives_the_same_answers(model):
    X, y, new = rows()
    run = ReferenceEvaluator(to_onnx(model)).run
    found = run(["lower", "upper"], {"X": new, "confidence_level": np.array(0.8)})
    expected = model.predict_interval(new, 0.8)
    np.testing.assert_allclose(np.stack(found, axis=1), expected, rtol=1e-6, atol=1e-6)
    selective = ELMSelectiveClassifier(10, coverage=0.5, random_state=0)
    selective.fit(X, np.digitize(y, [-0.5, 0.5]).astype(str))
    label, accepted = ReferenceEvaluator(to_onnx(selective)).run(["label", "accepted"], {"X": new})
    np.testing.assert_array_equal(label, selective.predict(new))
    np.testing.assert_array_equal(accepted, selective.accept(new))


def test_loaded_models_are_the_same(model, tmp_path):
    again = elmband.load(model.save(tmp_path / "model.safetensors"))
    assert to_onnx(again).SerializeToString() == to_onnx(model).SerializeToString()


@pytest.mark.slow
def test_models_of_other_array_libraries(xp):
    X, y, new = rows(650)
    with_numpy = ELMIntervalRegressor(10, random_state=0).fit(X, y)
    with config_context(array_api_dispatch=True):
        model = ELMIntervalRegressor(10, random_state=0).fit(xp.asarray(X), xp.asarray(y))
    found, expected = Session.of(model)(new), Session.of(with_numpy)(new)
    for name, values in expected.items():
        np.testing.assert_allclose(found[name], values, rtol=1e-6, atol=1e-8)


def test_functions_of_users_cannot_be_expressed():
    X, y, _ = rows()
    with pytest.raises(ValueError, match=r"neuron function .* is your own"):
        to_onnx(ELMRegressor({np.sin: 5}, random_state=0).fit(X, y))
    transformed = ELMRegressor(5, target_transform=(np.log, np.exp), random_state=0)
    with pytest.raises(ValueError, match="pair of your own functions"):
        to_onnx(transformed.fit(X, np.exp(y)))


def test_models_that_are_not_ready_are_refused():
    X, y, _ = rows()
    with pytest.raises(NotFittedError):
        to_onnx(ELMRegressor())
    for other in (Ridge().fit(X, y), make_pipeline(ELMRegressor(5)).fit(X, y), "model"):
        with pytest.raises(ValueError, match=f"model of elmband; got {type(other).__name__}"):
            to_onnx(other)
    grown = ELMIntervalRegressor(5, noise="squared", alpha=1.0, random_state=0).partial_fit(X, y)
    with pytest.raises(ValueError, match="call refresh"):
        to_onnx(grown)
    assert_same_intervals(grown.refresh(X, y), X, 1.0)
    classifier = ELMClassifier(5, alpha=1.0, random_state=0).fit(X, y > 0)
    merged = elmband.merge(classifier, classifier.untrained().partial_fit(X, y > 0))
    with pytest.raises(ValueError, match="call refresh"):
        to_onnx(merged)


def test_models_that_are_too_large_are_refused(model, monkeypatch):
    monkeypatch.setattr(_proto, "_LARGEST", 1000)
    with pytest.raises(ValueError, match="take fewer neurons"):
        to_onnx(model)


def test_a_missing_package_is_named(model, monkeypatch):
    there = builtins.__import__

    def missing(name, *args, **kwargs):
        if name == "onnx":
            raise ImportError(name)
        return there(name, *args, **kwargs)

    monkeypatch.setattr(builtins, "__import__", missing)
    with pytest.raises(ImportError, match=r"pip install 'elmband\[onnx\]'"):
        to_onnx(model)
