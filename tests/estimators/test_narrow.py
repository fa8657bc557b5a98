"""Regression that abstains: rows with narrow intervals are accepted, the others get a reason."""

import numpy as np
import pandas as pd
import pyarrow.parquet as pq
import pytest
from sklearn import config_context

from elmband import ELMIntervalRegressor, scan
from elmband.datasets import make_heteroscedastic
from elmband.ground.arrays import namespace, to_numpy
from elmband.models.intervals import REASONS

DATA = make_heteroscedastic(600, random_state=0)
MODEL = ELMIntervalRegressor(30, random_state=0).fit(DATA.X, DATA.y)
GRID = np.linspace(-6, 6, 101)[:, None]


@pytest.mark.parametrize("level", [0.5, 0.95])
def test_rows_are_accepted_by_the_width_of_their_interval(level):
    low, high = MODEL.predict_interval(GRID, level).T
    limit = np.median(high - low)
    accepted = MODEL.accept(GRID, max_width=limit, confidence_level=level)
    np.testing.assert_array_equal(accepted, high - low <= limit)
    assert 0 < accepted.sum() < len(GRID)


def test_triage_says_what_and_why():
    found = MODEL.triage(GRID, max_width=1.0)
    np.testing.assert_array_equal(found.mean, MODEL.predict(GRID))
    np.testing.assert_array_equal(found.interval, MODEL.predict_interval(GRID))
    np.testing.assert_array_equal(found.accepted, MODEL.accept(GRID, max_width=1.0))
    parts = MODEL.predict_variance(GRID)
    unknown = parts.mean_model + parts.noise_model > parts.noise
    expected = np.where(unknown, "unlike training rows", "noisy here")
    np.testing.assert_array_equal(found.reason, np.where(found.accepted, "accepted", expected))
    # Far outside the data the model knows that it does not know.
    assert found.reason[0] == found.reason[-1] == "unlike training rows"


def test_every_output_must_be_narrow():
    Y = np.column_stack([DATA.y, 10 * DATA.y])
    model = ELMIntervalRegressor(30, random_state=0).fit(DATA.X, Y)
    widths = np.diff(model.predict_interval(DATA.X), axis=2)[:, :, 0]
    limits = np.median(widths, axis=0)
    accepted = model.accept(DATA.X, max_width=limits)
    np.testing.assert_array_equal(accepted, (widths <= limits).all(axis=1))
    assert model.triage(DATA.X, max_width=limits).interval.shape == (600, 2, 2)
    common = model.accept(DATA.X, max_width=float(limits[1]))
    np.testing.assert_array_equal(common, (widths <= limits[1]).all(axis=1))


def test_infinite_intervals_are_never_narrow():
    model = ELMIntervalRegressor(30, random_state=0).fit(DATA.X, DATA.y)
    model.calibrate(DATA.X[:5], DATA.y[:5])
    with pytest.warns(UserWarning, match="infinite"):
        assert not model.accept(GRID, max_width=1e300).any()


def test_scans_stream_to_files(tmp_path):
    np.save(tmp_path / "x.npy", GRID)
    rows = scan(tmp_path / "x.npy")
    path = MODEL.accept(rows, max_width=1.0, out=tmp_path / "accepted.npy")
    np.testing.assert_array_equal(np.load(path)[:, 0] > 0, MODEL.accept(GRID, max_width=1.0))


@pytest.mark.parametrize("outputs", [1, 2])
def test_triage_and_variances_stream_to_tables_as_they_are(tmp_path, outputs):
    Y = DATA.y if outputs == 1 else np.column_stack([DATA.y, 10 * DATA.y])
    model = ELMIntervalRegressor(30, random_state=0).fit(DATA.X, Y)
    frame = pd.DataFrame(GRID)
    found = pd.read_parquet(model.triage(scan(GRID), max_width=2, out=tmp_path / "t.parquet"))
    expected = model.triage(frame, max_width=2, as_frame=True)
    many = model.triage(np.tile(GRID, (700, 1)), max_width=2, out=tmp_path / "many.parquet")
    assert pq.ParquetFile(many).metadata.num_row_groups == 2
    pd.testing.assert_frame_equal(found, expected, check_dtype=False)
    parts = pd.read_csv(model.predict_variance(GRID, out=tmp_path / "v.csv"))
    end = "" if outputs == 1 else "_0"
    total = model.predict_variance(GRID).total.reshape(len(GRID), -1)
    np.testing.assert_allclose(parts[f"total{end}"], total[:, 0], rtol=1e-12)
    assert len(parts.columns) == 6 * outputs


def test_triage_and_quantiles_stream_to_files_of_numbers(tmp_path):
    found = np.load(MODEL.triage(GRID, max_width=1, out=tmp_path / "t.npy"))
    expected = MODEL.triage(GRID, max_width=1)
    np.testing.assert_array_equal(found[:, 0], expected.mean)
    np.testing.assert_array_equal(found[:, 1:3], expected.interval)
    np.testing.assert_array_equal(found[:, 3], expected.accepted)
    assert [REASONS[int(place)] for place in found[:, 4]] == expected.reason.tolist()
    out = MODEL.predict_quantiles(scan(GRID, chunk_size=7), (0.1, 0.9), out=tmp_path / "q.parquet")
    quantiles = pd.read_parquet(out)
    assert list(quantiles.columns) == ["quantile_0.1", "quantile_0.9"]
    np.testing.assert_allclose(quantiles, MODEL.predict_quantiles(GRID, (0.1, 0.9)), rtol=1e-6)


def test_nothing_is_written_where_something_is_wrong(tmp_path):
    for out, sentence in (("t.txt", "known extensions"), ("none/t.csv", "none")):
        with pytest.raises((ValueError, OSError), match=sentence):
            MODEL.triage(GRID, max_width=1, out=tmp_path / out)
    with pytest.raises(ValueError, match="max_width must be"):
        MODEL.triage(GRID, max_width=-1, out=tmp_path / "t.csv")
    np.save(tmp_path / "x.npy", GRID)
    with pytest.raises(ValueError, match="is what the scan reads"):
        MODEL.triage(scan(tmp_path / "x.npy"), max_width=1, out=tmp_path / "x.npy")
    assert [path.name for path in tmp_path.iterdir()] == ["x.npy"]


@pytest.mark.one_quick
def test_other_libraries_answer_in_kind(xp):
    with config_context(array_api_dispatch=True):
        model = ELMIntervalRegressor(30, random_state=0)
        model.fit(xp.asarray(DATA.X), xp.asarray(DATA.y))
        rows = xp.asarray(GRID)
        accepted = model.accept(rows, max_width=1.0)
        assert namespace(accepted) is namespace(rows)
        reason = model.triage(rows, max_width=1.0).reason
    np.testing.assert_array_equal(to_numpy(accepted), MODEL.accept(GRID, max_width=1.0))
    assert set(reason) <= {"accepted", "noisy here", "unlike training rows"}


def test_a_width_of_zero_accepts_what_is_certain():
    X = np.random.default_rng(0).uniform(-2, 2, (600, 1))
    model = ELMIntervalRegressor(random_state=0).fit(X, np.sign(X[:, 0]))
    rows = np.linspace(-2, 2, 50)[:, None]
    interval = model.predict_interval(rows, 0.95)
    accepted = model.accept(rows, max_width=0)
    np.testing.assert_array_equal(accepted, interval[:, 0] == interval[:, 1])
    assert accepted.any()


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ({"max_width": -1}, "max_width must be zero or more"),
        ({"max_width": [1.0, 2.0]}, "such a number for each of 1 outputs"),
        ({"max_width": np.nan}, "max_width must be zero or more"),
        ({"max_width": 1.0, "confidence_level": [0.5, 0.9]}, "a single confidence_level"),
    ],
)
def test_bad_wishes_get_a_sentence(arguments, sentence):
    with pytest.raises(ValueError, match=sentence):
        MODEL.accept(GRID, **arguments)


@pytest.mark.parametrize("library", ["pandas", "polars", "pyarrow"])
def test_answers_come_as_the_table_that_came_in(library):
    module = pytest.importorskip(library)
    columns = {"x": GRID[:, 0]}
    make = module.table if library == "pyarrow" else module.DataFrame
    frame, training = make(columns), make({"x": DATA.X[:, 0]})
    model = ELMIntervalRegressor(30, random_state=0).fit(training, DATA.y)
    found = model.predict_interval(frame, [0.5, 0.9], as_frame=True)
    assert type(found) is type(frame)
    interval = MODEL.predict_interval(GRID, [0.5, 0.9])
    expected = {
        "mean": MODEL.predict(GRID),
        "lower_0.5": interval[:, 0, 0],
        "upper_0.5": interval[:, 1, 0],
        "lower_0.9": interval[:, 0, 1],
        "upper_0.9": interval[:, 1, 1],
    }
    names = found.column_names if library == "pyarrow" else list(found.columns)
    assert names == list(expected)
    for name, values in expected.items():
        np.testing.assert_allclose(np.asarray(found[name]), values)
    table = model.triage(frame, max_width=1.0, as_frame=True)
    plain = MODEL.triage(GRID, max_width=1.0)
    np.testing.assert_allclose(np.asarray(table["upper"]), plain.interval[:, 1])
    np.testing.assert_array_equal(np.asarray(table["accepted"]), plain.accepted)
    np.testing.assert_array_equal(np.asarray(table["reason"]).astype(str), plain.reason)


def test_a_pandas_index_is_kept():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(GRID, columns=["x"], index=range(500, 500 + len(GRID)))
    model = ELMIntervalRegressor(30, random_state=0).fit(frame, GRID[:, 0])
    found = model.predict_interval(frame, as_frame=True)
    assert list(found.index) == list(frame.index)


def test_arrays_have_no_frame_to_answer_in():
    with pytest.raises(ValueError, match="which is a ndarray"):
        MODEL.predict_interval(GRID, as_frame=True)
