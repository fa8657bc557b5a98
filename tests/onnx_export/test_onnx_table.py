"""A graph that takes a table answers what Python answers through the encoder."""

import json

import numpy as np
import onnx
import pyarrow as pa
import pyarrow.compute as pc
import pytest
from exported import TOLERANCE, Session, assert_close, tolerance
from onnx.reference import ReferenceEvaluator
from tables import given, goal, narrow, new_rows, table

from elmband import (
    ELMClassifier,
    ELMIntervalRegressor,
    ELMRegressor,
    ELMSelectiveClassifier,
    TableEncoder,
    load,
    scan,
)
from elmband.models.onnx_export import to_onnx

# New rows have gaps everywhere, where the fit had none too: that is what files must do the same.
pytestmark = pytest.mark.filterwarnings("ignore:Column .* has missing values")


def rows_of(frame, y, **options):
    encoder = TableEncoder(**options)
    return scan(frame.append_column("y", pa.array(y)), target="y", encoder=encoder)


def columns(proto):
    notes = {note.key: note.value for note in proto.metadata_props}
    return json.loads(notes["columns"])


def asked(model, frame, dtype="float64", level=None):
    """Run the graph on a table."""
    proto = to_onnx(model)
    run = Session(proto)
    inputs = given(frame, columns(proto), dtype)
    if level is not None:
        inputs["confidence_level"] = np.array(level)
    return dict(zip(run.names, run.inner.run(None, inputs), strict=True))


@pytest.fixture(scope="module")
def interval_model():
    frame = table()
    rows = rows_of(frame, goal(frame), categorical=["code"])
    return ELMIntervalRegressor({"linear": 5, "tanh": 20}, random_state=0).fit(rows)


@pytest.mark.parametrize("level", [0.5, 0.95])
def test_intervals_of_a_table_with_everything(interval_model, level):
    model, new = interval_model, new_rows()
    rows = scan(new, encoder=model.encoder_)
    mean, std = model.predict(rows, return_std=True)
    interval = model.predict_interval(rows, level)
    found = asked(model, new, level=level)
    scale = float(model.predict(rows).std())
    # Sines of float64 angles differ in the last digits.
    times = tolerance(interval_model) / TOLERANCE["float64"]
    assert_close(found["mean"], mean, scale, times=10)
    assert_close(found["std"], std, scale, times)
    assert_close(found["lower"], interval[:, 0], scale, times)
    assert_close(found["upper"], interval[:, 1], scale, times)


def test_a_model_that_was_fitted_to_a_table_itself():
    frame, new = table(), new_rows()
    model = ELMRegressor(20, random_state=0).fit(frame, goal(frame))
    with pytest.warns(UserWarning, match="beyond the training rows"):
        expected = model.predict(new)
    names = columns(to_onnx(model))
    inputs = given(new, names)
    # Without categories= these are numbers.
    inputs["code"] = new["code"].to_numpy()
    found = Session(to_onnx(model)).inner.run(None, inputs)[0]
    assert_close(found, expected, float(expected.std()), times=10)
    features = to_onnx(model, encoder=False)
    notes = {
        note.key: json.loads(note.value)
        for note in features.metadata_props
        if note.key == "features"
    }
    assert notes["features"] == model.encoder_.get_feature_names_out().tolist()


@pytest.mark.slow
def test_every_column_is_seen_by_the_model(interval_model):
    new = table(40, seed=9)
    before = asked(interval_model, new)["mean"]
    for name in columns(to_onnx(interval_model)):
        lost = new.set_column(new.schema.get_field_index(name), name, pa.nulls(40, new[name].type))
        assert not np.allclose(asked(interval_model, lost)["mean"], before), name


@pytest.mark.parametrize("make", [ELMRegressor, ELMIntervalRegressor])
def test_narrow_tables_are_float32(make):
    frame, new = narrow(), new_rows().select(narrow(1).column_names)
    model = make(20, random_state=0).fit(rows_of(frame, goal(frame)))
    assert model.encoder_.state_.dtype == "float32"
    found = asked(model, new, "float32")["mean"]
    expected = model.predict(scan(new, encoder=model.encoder_))
    assert expected.dtype == np.float32
    assert_close(found, expected, float(expected.std()))


@pytest.mark.one_quick
@pytest.mark.parametrize("classes", [["low", "high"], ["low", "middle", "high"]])
@pytest.mark.parametrize("make", [ELMClassifier, ELMSelectiveClassifier])
def test_classes_of_a_table(make, classes):
    frame, new = table(), new_rows()
    y = goal(frame)
    edges = np.quantile(y, np.linspace(0, 1, len(classes) + 1)[1:-1])
    rows = rows_of(frame, np.array(classes)[np.searchsorted(edges, y)], categorical=["code"])
    options = {"coverage": 0.7} if make is ELMSelectiveClassifier else {}
    model = make(20, random_state=0, **options).fit(rows)
    found, rows = asked(model, new), scan(new, encoder=model.encoder_)
    assert found["label"].tolist() == model.predict(rows).tolist()
    assert_close(found["probability"], model.predict_proba(rows), 1.0, times=10)
    if options:
        # A confidence is a logistic curve of logarithms: it is as steep as these are uncertain.
        np.testing.assert_allclose(found["confidence"], model.confidence(rows), rtol=1e-6)
        assert found["accepted"].tolist() == model.accept(rows).tolist()


def test_float32_products_of_float64_features():
    frame, new = table(), new_rows()
    model = ELMRegressor(20, precision="float32", random_state=0)
    model.fit(rows_of(frame, goal(frame), categorical=["code"]))
    expected = model.predict(scan(new, encoder=model.encoder_))
    found = asked(model, new)["mean"]
    error = np.abs(found - expected) / (np.abs(expected) + expected.std())
    # Years far away are large in float32, on both sides.
    assert error.max() < 10 * TOLERANCE["float32"]


def test_names_texts_and_types_of_inputs(interval_model):
    proto = to_onnx(interval_model)
    ports = {port.name: port for port in proto.graph.input}
    used = [column.name for column in interval_model.encoder_.state_.used]
    assert columns(proto) == {
        name: f"column_{name}" if name in {"mean", "label"} else name for name in used
    }
    assert list(ports) == [columns(proto)[name] for name in used] + ["confidence_level"]
    kinds = {name: port.type.tensor_type.elem_type for name, port in ports.items()}
    types = onnx.TensorProto
    assert kinds["column_mean"] == kinds["flag"] == kinds["took"] == types.DOUBLE
    assert kinds["column_label"] == kinds["code"] == types.STRING
    assert kinds["when"] == kinds["clock"] == types.INT64
    said = {name: port.doc_string for name, port in ports.items()}
    took = interval_model.encoder_.state_.used[-2]
    ends = f"{took.low:g} to {took.high:g} in training"
    assert said["took"] == f"Column 'took': durations in seconds; NaN where missing; {ends}."
    flag = "Column 'flag': numbers, booleans as 0 and 1; NaN where missing; 0 to 1 in training."
    assert said["flag"] == flag
    empty = "Column 'empty': text; '<missing>' where missing; levels are "
    assert said["empty"] in {f"{empty}'', 'full'.", f"{empty}'full', ''."}
    assert "; 2019-11-05 to 2022-04-18 in training." in said["when"]
    assert said["code"].startswith("Column 'code': text, whole numbers without a point; ''")
    assert "since 1970-01-01 00:00 on the clocks of America/New_York; -2**63" in said["zoned"]
    assert "since midnight" in said["clock"]


def test_a_stranger_reads_what_the_columns_were(interval_model):
    proto = to_onnx(interval_model)
    notes = {note.key: note.value for note in proto.metadata_props}
    facts = {fact["column"]: fact for fact in json.loads(notes["inputs"])}
    assert {name: fact["input"] for name, fact in facts.items()} == columns(proto)
    label = facts["label"]
    assert (label["kind"], label["missing"], label["unseen"]) == (
        "text",
        "",
        "mean of training rows",
    )
    assert set(label["levels"]) == {"red", "blue", "gréen", "a rare one"}
    assert facts["took"]["unit"] == "seconds"
    frame = table()
    low, high = pc.min_max(frame["mean"]).as_py().values()
    assert (facts["mean"]["training_low"], facts["mean"]["training_high"]) == (low, high)
    zoned = facts["zoned"]
    assert (zoned["unit"], zoned["time_zone"]) == ("microseconds", "America/New_York")
    assert zoned["since"] == "1970-01-01T00:00:00"
    days = pc.min_max(frame["day"]).as_py()
    assert facts["day"]["training_low"] == days["min"].isoformat()
    assert facts["day"]["training_high"] == days["max"].isoformat()
    assert "training_low" not in facts["clock"]


# Dates in other units than microseconds.


def dated(dates):
    """Return a model of nothing but dates, and what it answers to numbers."""
    frame = pa.table({"t": pa.array(dates.astype("M8[us]"))})
    model = ELMRegressor(5, random_state=0).fit(rows_of(frame, np.arange(len(dates)) % 5.0))
    run = Session(to_onnx(model))
    return lambda numbers: run.inner.run(None, {"t": np.asarray(numbers, dtype=np.int64)})[0]


DAYS = np.arange("2005-01-01", "2024-01-01", 97, dtype="M8[D]")
TIMES = DAYS.astype("M8[s]") + 3600 * 7 + 59


@pytest.mark.parametrize("unit", ["D", "s", "ms", "ns"])
def test_dates_in_another_unit_have_no_answer(unit):
    answer = dated(DAYS)
    for dates in (DAYS, TIMES, DAYS + 3000):
        numbers = dates.astype(f"M8[{unit}]").astype(np.int64)
        # Of milliseconds one midnight in a thousand is another midnight near 1970.
        assert np.isnan(answer(numbers)).mean() >= (0.98 if unit == "ms" else 1.0)
        assert np.isfinite(answer(dates.astype("M8[us]").astype(np.int64))).all()


def test_dates_that_may_be_meant_have_an_answer():
    answer = dated(DAYS)
    odd = ["1600-02-29", "1970-01-01", "1970-02-01", "0001-01-01", "9999-12-31T23:59"]
    assert np.isfinite(answer(np.array(odd, dtype="M8[us]").astype(np.int64))).all()
    # Where training was near 1970 all of its dates are dates, and nanoseconds are none.
    births = np.arange("1940-01-01", "2024-01-01", 97, dtype="M8[D]")
    answer = dated(births)
    near = np.arange("1969-11-01", "1970-03-01", dtype="M8[h]").astype("M8[us]").astype(np.int64)
    assert np.isfinite(answer(near)).all()
    numbers = births.astype("M8[ns]").astype(np.int64)
    years = numbers.astype("M8[us]").astype("M8[Y]").astype(np.int64) + 1970
    np.testing.assert_array_equal(np.isnan(answer(numbers)), (years < 1) | (years > 9999))
    assert np.isnan(answer(numbers)).mean() > 0.8


def test_times_of_day_in_another_unit_have_no_answer():
    seconds = np.arange(0, 86400, 611)
    clock = pa.array((seconds * 10**6).tolist(), pa.time64("us"))
    frame = pa.table({"t": clock})
    model = ELMRegressor(5, random_state=0).fit(rows_of(frame, np.arange(len(seconds)) % 5.0))
    run = Session(to_onnx(model))

    def missing(numbers):
        return np.isnan(run.inner.run(None, {"t": np.asarray(numbers, dtype=np.int64)})[0])

    assert not missing(seconds * 10**6).any()
    assert missing(seconds)[1:].all()
    assert missing(seconds * 10**9)[1:].all()
    assert missing([-1, 86400 * 10**6]).all()
    # Missing ones and midnight are no other unit.
    assert not missing([np.iinfo(np.int64).min, 0]).any()


def test_a_column_without_a_name_has_an_input():
    n = 60
    frame = pa.table({"": np.arange(n) % 7, "column_": np.arange(n) % 5})
    model = ELMRegressor(5, random_state=0).fit(rows_of(frame, np.arange(n) % 3 + 0.0))
    assert columns(to_onnx(model)) == {"": "column_column_", "column_": "column_"}
    found = asked(model, frame, model.encoder_.state_.dtype)["mean"]
    np.testing.assert_allclose(found, model.predict(scan(frame, encoder=model.encoder_)), rtol=1e-6)


def test_columns_may_be_called_like_anything_within():
    def inner_names(proto):
        graph = proto.graph
        return [name for node in graph.node for name in node.output] + [
            constant.name for constant in graph.initializer
        ]

    X = np.random.default_rng(0).normal(size=(60, 40))
    y = X[:, 0] + X[:, 1]
    plain = pa.table({f"x{k}": X[:, k] for k in range(40)})
    first = ELMRegressor(5, random_state=0).fit(rows_of(plain, y))
    known = [name for name in inner_names(to_onnx(first)) if name != "mean"][:40]
    assert "unsqueeze_0" in known
    frame = pa.table({name: X[:, k] for k, name in enumerate(reversed(known))})
    second = ELMRegressor(5, random_state=0).fit(rows_of(frame, y))
    assert columns(to_onnx(second)) == {name: name for name in frame.column_names}
    np.testing.assert_allclose(
        asked(second, frame)["mean"],
        second.predict(scan(frame, encoder=second.encoder_)),
        rtol=1e-9,
    )


def test_infinite_numbers_have_no_answer(interval_model):
    new = table(5, seed=3)
    lengths = pa.array([1.0, np.inf, 2.0, -np.inf, None])
    found = asked(interval_model, new.set_column(0, "mean", lengths))["mean"]
    assert np.isnan(found).tolist() == [False, True, False, True, False]


def test_empty_text_is_missing(interval_model):
    new = table(30, seed=3)
    place = new.schema.get_field_index("label")
    empty = new.set_column(place, "label", pa.array([""] * 30))
    lost = new.set_column(place, "label", pa.nulls(30, pa.string()))
    expected = interval_model.predict(scan(lost, encoder=interval_model.encoder_))
    np.testing.assert_allclose(asked(interval_model, empty)["mean"], expected, rtol=1e-10)


def test_without_the_encoder_features_are_the_input(interval_model):
    new = new_rows()
    run = Session.of(interval_model, encoder=False)
    features = interval_model.encoder_.transform(new)
    found = run(features)["mean"]
    expected = interval_model.predict(scan(new, encoder=interval_model.encoder_))
    assert_close(found, expected, float(expected.std()))
    proto = interval_model.to_onnx(encoder=False)
    assert [port.name for port in proto.graph.input] == ["X", "confidence_level"]
    assert [domain.domain for domain in proto.opset_import] == [""]


def test_a_saved_model_is_exported_alike(interval_model, tmp_path):
    path = interval_model.save(tmp_path / "model.safetensors")
    again = load(path).to_onnx(tmp_path / "model.onnx")
    assert again.read_bytes() == to_onnx(interval_model).SerializeToString()


def test_the_reference_evaluator_agrees():
    frame, new = table(), new_rows()
    model = ELMRegressor(5, random_state=0).fit(rows_of(frame, goal(frame), categorical=["code"]))
    proto = to_onnx(model)
    (found,) = ReferenceEvaluator(proto).run(None, given(new, columns(proto)))
    expected = model.predict(scan(new, encoder=model.encoder_))
    assert_close(found, expected, float(expected.std()), times=10)


@pytest.mark.parametrize("opset", [17, 21])
def test_versions_of_operators(interval_model, opset):
    proto = to_onnx(interval_model, opset=opset)
    domains = {domain.domain: domain.version for domain in proto.opset_import}
    assert domains == {"": opset, "ai.onnx.ml": 2}
    new = new_rows()
    inputs = given(new, columns(proto))
    mean = Session(proto).inner.run(["mean"], inputs)[0]
    np.testing.assert_allclose(mean, asked(interval_model, new)["mean"], rtol=1e-12)


def test_columns_of_an_array_are_numbered():
    rng = np.random.default_rng(0)
    X = np.where(rng.random((80, 2)) < 0.2, np.nan, rng.normal(size=(80, 2)))
    rows = scan((X, rng.normal(size=80)), encoder=TableEncoder())
    model = ELMRegressor(5, random_state=0).fit(rows)
    proto = to_onnx(model)
    assert columns(proto) == {"x0": "x0", "x1": "x1"}
    (found,) = Session(proto).inner.run(None, {"x0": X[:, 0], "x1": X[:, 1]})
    np.testing.assert_allclose(found, model.predict(scan(X, encoder=model.encoder_)), rtol=1e-9)
