"""Calendar numbers of a graph are those of the calendar of Python."""

import datetime as dt
import math

import numpy as np
import pytest
from exported import Session
from hypothesis import given
from hypothesis import strategies as st

from elmband.models.onnx_export._calendar import calendar_parts, known_times
from elmband.models.onnx_export._graph import WHOLE, Graph, Port, joined
from elmband.models.onnx_export._proto import About, model_proto
from elmband.sources.encode.calendar import PARTS, calendar


def date(year, month=1, day=1):
    return dt.datetime.combine(dt.date(year, month, day), dt.time())


@pytest.fixture(scope="module")
def parts_of():
    """Return a function from microseconds (n,) to parts (n, 7)."""
    graph = Graph(17)
    times = graph.input(Port("t", WHOLE, ("n", 1), ""))
    missing, known = known_times(times)
    parts = calendar_parts(known)
    graph.output("y", joined([parts[name] for name in PARTS]), ("n", len(PARTS)), "")
    graph.output("missing", missing, ("n", 1), "")
    run = Session(model_proto(graph, About("", {}))).inner.run
    return lambda times: run(["y", "missing"], {"t": np.asarray(times, np.int64)[:, None]})


def by_python(moment):
    """Return the parts of a moment, by the calendar of the standard library."""
    start, end = date(moment.year), date(moment.year + 1)
    midnight = dt.datetime.combine(moment.date(), dt.time())
    turns = [(midnight - start) / (end - start), moment.weekday() / 7]
    turns.append((moment - midnight) / dt.timedelta(days=1))
    waves = [f(2 * math.pi * turn) for turn in turns for f in (math.sin, math.cos)]
    return [moment.year + (moment - start) / (end - start), *waves]


def microseconds(moment):
    return (moment - date(1970)) // dt.timedelta(microseconds=1)


@given(st.datetimes(max_value=date(9998, 12, 31)))
def test_any_moment_of_nine_thousand_years(parts_of, moment):
    found, missing = parts_of([microseconds(moment)])
    np.testing.assert_allclose(found[0], by_python(moment), rtol=1e-14, atol=2e-15)
    assert not missing


@pytest.mark.slow
def test_edges_of_all_years(parts_of):
    years = range(1, 9999)
    edges = [(1, 1), (2, 28), (3, 1), (12, 31)]
    moments = [date(year, month, day) for year in years for month, day in edges]
    found, _ = parts_of([microseconds(moment) for moment in moments])
    expected = np.array([by_python(moment) for moment in moments])
    np.testing.assert_allclose(found, expected, rtol=1e-14, atol=2e-15)


def test_all_that_numpy_can_hold(parts_of):
    times = np.random.default_rng(0).integers(-(2**62), 2**62, 1000)
    found, _ = parts_of(times)
    np.testing.assert_allclose(found, calendar(times.astype("M8[us]")), rtol=1e-14, atol=2e-15)


def test_a_missing_date_is_told(parts_of):
    times = np.array(["NaT", "1970-01-01"], "M8[us]").astype(np.int64)
    found, missing = parts_of(times)
    assert missing[:, 0].tolist() == [True, False]
    assert np.isfinite(found).all()
