"""The drawn coverage is counted anew here, row by row."""

import math
import subprocess
import sys
import tracemalloc

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from abstaining import legend
from matplotlib.figure import Figure

from elmband import ELMIntervalRegressor, ELMRegressor, TableEncoder, scan
from elmband.datasets import make_heteroscedastic
from elmband.display import IntervalCalibrationDisplay
from elmband.display.calibration import chance
from elmband.engines import engine

LEVELS = [0.2, 0.5, 0.8, 0.95]
RNG = np.random.default_rng(0)
X = RNG.normal(size=(300, 3))
Y = X[:, 0] + RNG.normal(size=300) * (1 + (X[:, 1] > 0))
NEW = RNG.normal(size=(250, 3))
NEW_Y = NEW[:, 0] + RNG.normal(size=250) * (1 + (NEW[:, 1] > 0))
WEIGHT = RNG.integers(0, 4, 250)
SIDE = np.where(NEW[:, 1] > 0, "right", "left")


@pytest.fixture(scope="module")
def model():
    return ELMIntervalRegressor({"linear": 3, "tanh": 20}, random_state=0).fit(X, Y)


def counted(model, rows, levels=LEVELS, weight=None):
    """Return the coverage of some rows at each level."""
    s = np.ones(250) if weight is None else weight
    shares = []
    for level in levels:
        low, high = model.predict_interval(NEW, level).T
        inside = sum(s[i] for i in range(250) if rows[i] and low[i] <= NEW_Y[i] <= high[i])
        shares.append(inside / s[rows].sum())
    return shares


ALL = np.ones(250, bool)


def drawn(display):
    return [curve.get_ydata() for curve in display.lines_]


def test_the_curve_is_the_share_of_targets_inside(model):
    display = IntervalCalibrationDisplay.from_estimator(model, NEW, NEW_Y, confidence_levels=LEVELS)
    (curve,) = display.lines_
    np.testing.assert_array_equal(curve.get_xdata(), LEVELS)
    np.testing.assert_allclose(curve.get_ydata(), counted(model, ALL), rtol=1e-12)
    assert legend(display) == ["ELMIntervalRegressor (250 rows)", "by chance (95 %)"]
    assert display.n.tolist() == [250]
    assert (display.ax_.get_xlim(), display.ax_.get_ylim()) == ((0, 1), (0, 1))


def test_many_levels_by_default(model):
    display = IntervalCalibrationDisplay.from_estimator(model, NEW, NEW_Y)
    levels = [k / 20 for k in range(1, 20)]
    np.testing.assert_allclose(display.confidence_levels, levels)
    np.testing.assert_allclose(drawn(display)[0], counted(model, ALL, levels), rtol=1e-12)


def test_weights_count_rows(model):
    display = IntervalCalibrationDisplay.from_estimator(
        model, NEW, NEW_Y, confidence_levels=LEVELS, sample_weight=WEIGHT
    )
    np.testing.assert_allclose(drawn(display)[0], counted(model, ALL, weight=WEIGHT), rtol=1e-12)
    assert display.n.tolist() == [WEIGHT.sum()]


@pytest.mark.parametrize("weight", [None, WEIGHT], ids=["alike", "weighted"])
@pytest.mark.parametrize("kind", ["array", "pandas", "polars"])
def test_each_group_has_a_curve(model, kind, weight):
    groups = {"array": SIDE, "pandas": pd.Series(SIDE, name="side"), "polars": pl.Series(SIDE)}
    display = IntervalCalibrationDisplay.from_estimator(
        model, NEW, NEW_Y, confidence_levels=LEVELS, groups=groups[kind], sample_weight=weight
    )
    assert display.groups == ["left", "right"]
    s = np.ones(250) if weight is None else weight
    for name, n, curve in zip(display.groups, display.n, drawn(display), strict=True):
        assert n == s[name == SIDE].sum()
        np.testing.assert_allclose(curve, counted(model, name == SIDE, weight=weight), rtol=1e-12)
    colors = [curve.get_color() for curve in display.lines_]
    markers = [curve.get_marker() for curve in display.lines_]
    assert len(set(colors)) == len(set(markers)) == 2
    bands = [band.get_facecolor()[0, :3].tolist() for band in display.bands_]
    assert bands[0] != bands[1]
    title = display.ax_.get_legend().get_title().get_text()
    assert title == ("side" if kind == "pandas" else "")


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame])
def test_tables_may_have_groups(frame):
    names = ["a", "b", "c"]
    columns = {name: X[:, k] for k, name in enumerate(names)}
    model = ELMIntervalRegressor(10, random_state=0).fit(frame(columns), Y)
    new = frame({name: NEW[:, k] for k, name in enumerate(names)})
    grouped = IntervalCalibrationDisplay.from_estimator(
        model, new, pd.Series(NEW_Y), groups=SIDE, confidence_levels=LEVELS
    )
    interval = model.predict_interval(new, LEVELS)
    given = IntervalCalibrationDisplay.from_predictions(
        NEW_Y, interval, confidence_levels=LEVELS, groups=SIDE
    )
    np.testing.assert_allclose(drawn(grouped), drawn(given), rtol=1e-12)


def test_groups_without_weight_are_none(model):
    weight = (SIDE == "left").astype(float)
    for draw in (
        IntervalCalibrationDisplay.from_estimator(
            model, NEW, NEW_Y, groups=SIDE, sample_weight=weight, confidence_levels=LEVELS
        ),
        IntervalCalibrationDisplay.from_predictions(
            NEW_Y,
            model.predict_interval(NEW, LEVELS),
            confidence_levels=LEVELS,
            groups=SIDE,
            sample_weight=weight,
        ),
    ):
        assert draw.groups == ["left"]
        np.testing.assert_allclose(drawn(draw)[0], counted(model, SIDE == "left"), rtol=1e-12)


def table():
    columns = {f"x{k}": NEW[:, k] for k in range(3)}
    return pa.table({**columns, "half": (SIDE == "left") + 0.0, "y": NEW_Y, "s": WEIGHT + 0.0})


def test_a_scan_is_drawn_like_arrays(model):
    rows = scan(table(), target="y", features=["x0", "x1", "x2"], chunk_size=37)
    display = IntervalCalibrationDisplay.from_estimator(model, rows, confidence_levels=LEVELS)
    np.testing.assert_allclose(drawn(display)[0], counted(model, ALL), rtol=1e-12)


@pytest.mark.parametrize("weight", [None, "s"])
def test_a_feature_of_a_scan_makes_groups(weight):
    features = ["x0", "x1", "half"]
    frame = table()
    model = ELMIntervalRegressor(10, random_state=0)
    model.fit(scan(frame, target="y", features=features))
    rows = scan(frame, target="y", features=features, weight=weight, chunk_size=41)
    display = IntervalCalibrationDisplay.from_estimator(
        model, rows, groups="half", confidence_levels=LEVELS
    )
    arrays = np.column_stack([frame[name].to_numpy() for name in features])
    interval = model.predict_interval(scan(frame.select(features)), LEVELS)
    given = IntervalCalibrationDisplay.from_predictions(
        NEW_Y,
        interval,
        confidence_levels=LEVELS,
        groups=arrays[:, 2],
        sample_weight=None if weight is None else WEIGHT,
    )
    assert display.groups == given.groups == [0.0, 1.0]
    np.testing.assert_array_equal(display.n, given.n)
    np.testing.assert_allclose(drawn(display), drawn(given), rtol=1e-12)
    assert display.ax_.get_legend().get_title().get_text() == "half"


def test_a_column_of_text_makes_groups_of_a_scan():
    words = np.where(np.arange(250) % 50 == 0, None, SIDE)
    words[3] = "rare"
    frame = table().append_column("side", pa.array(words.tolist(), pa.string()))
    rows = scan(frame, target="y", encoder=TableEncoder(), chunk_size=60)
    model = ELMIntervalRegressor(10, random_state=0).fit(rows)
    display = IntervalCalibrationDisplay.from_estimator(
        model, rows, groups="side", confidence_levels=LEVELS
    )
    names = np.where(words == None, "missing", np.where(words == "rare", "other", words))  # noqa: E711
    given = IntervalCalibrationDisplay.from_predictions(
        NEW_Y, model.predict_interval(rows, LEVELS), confidence_levels=LEVELS, groups=names
    )
    assert display.groups == given.groups == ["left", "missing", "other", "right"]
    np.testing.assert_allclose(drawn(display), drawn(given), rtol=1e-12)


@pytest.mark.slow
@pytest.mark.parametrize("groups", [None, "x0"])
def test_memory_does_not_grow_with_the_rows(monkeypatch, model, groups):
    # Every thread has a chunk of its own: with many cores few chunks would not reach them all.
    monkeypatch.setattr(engine, "cpu_count", lambda: 2)

    def peak(n_pieces):
        def pieces():
            for k in range(n_pieces):
                rng = np.random.default_rng(k)
                columns = {"x0": rng.integers(0, 2, 4096) + 0.0, "x1": rng.normal(size=4096)}
                yield pd.DataFrame({**columns, "x2": rng.normal(size=4096), "y": columns["x1"]})

        rows = scan(pieces, target="y", chunk_size=1024)
        tracemalloc.start()
        IntervalCalibrationDisplay.from_estimator(
            model, rows, groups=groups, confidence_levels=LEVELS
        )
        _, most = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        return most

    peak(2)
    # The bounds alone of the larger one would take 4 MB more.
    assert peak(20) < peak(4) + 1e6


def test_a_mapping_is_put_in_order(model):
    intervals = {level: model.predict_interval(NEW, level) for level in reversed(LEVELS)}
    display = IntervalCalibrationDisplay.from_predictions(NEW_Y, intervals, name="mine")
    np.testing.assert_array_equal(display.lines_[0].get_xdata(), LEVELS)
    np.testing.assert_allclose(drawn(display)[0], counted(model, ALL), rtol=1e-12)
    assert legend(display)[0] == "mine (250 rows)"


def test_other_estimators_are_asked_level_by_level():
    data = make_heteroscedastic(400, random_state=0)

    class Truth:
        def predict_interval(self, X, confidence_level):
            assert X is data.X
            return data.interval(confidence_level)

    display = IntervalCalibrationDisplay.from_estimator(Truth(), data.X, data.y)
    low, high = chance(400, display.confidence_levels)
    inside = (low <= drawn(display)[0]) & (drawn(display)[0] <= high)
    # Levels are not independent; the truth may leave the band at one of twenty.
    assert inside.mean() > 0.7
    with pytest.raises(TypeError, match="Truth cannot read a scan: give arrays"):
        IntervalCalibrationDisplay.from_estimator(Truth(), scan(data.X))


@pytest.mark.parametrize("n", [1, 7, 40])
def test_the_band_is_that_of_the_binomial_distribution(n):
    levels = np.array([0.05, 0.3, 0.5, 0.95])
    low, high = chance(n, levels)
    for p, a, b in zip(levels, low, high, strict=True):
        mass = [math.comb(n, k) * p**k * (1 - p) ** (n - k) for k in range(n + 1)]
        below = np.cumsum(mass)
        assert a == next(k for k in range(n + 1) if below[k] >= 0.025) / n
        assert b == next(k for k in range(n + 1) if below[k] >= 0.975) / n
        assert sum(mass[round(a * n) : round(b * n) + 1]) >= 0.95


def test_the_band_is_drawn_from_corner_to_corner(model):
    display = IntervalCalibrationDisplay.from_estimator(model, NEW, NEW_Y)
    corners = display.bands_[0].get_paths()[0].vertices
    for level in (0.0, 0.25, 0.5, 1.0):
        for edge in chance(250, np.array([level])):
            assert np.isclose(corners, [level, edge[0]]).all(axis=1).any()
    assert chance(250, np.array([0.0, 1.0]))[0].tolist() == [0, 1]


def test_several_models_share_axes(model):
    ax = Figure().add_subplot()
    interval = model.predict_interval(NEW, LEVELS)
    options = {"confidence_levels": LEVELS, "ax": ax}
    one = IntervalCalibrationDisplay.from_predictions(NEW_Y, interval, name="one", **options)
    two = IntervalCalibrationDisplay.from_predictions(
        NEW_Y + 1, interval, name="two", linestyle="--", **options
    )
    assert one.ax_ is two.ax_ is ax
    assert one.lines_[0].get_color() != two.lines_[0].get_color()
    assert two.lines_[0].get_linestyle() == "--"
    labels = ["one (250 rows)", "by chance (95 %)", "two (250 rows)"]
    assert sorted(legend(two)) == sorted(labels)


def test_plot_can_be_repeated_elsewhere(tmp_path):
    display = IntervalCalibrationDisplay([0.5, 0.9], [0.4, 0.8], 30)
    first = display.plot().figure_
    assert legend(display)[0] == "observed (30 rows)"
    display.plot(color="tab:red", legend=False)
    assert display.figure_ is not first
    assert display.ax_.get_legend() is None
    assert display.lines_[0].get_color() == "tab:red"
    first.savefig(tmp_path / "figure.png")


def test_wrong_models():
    with pytest.raises(TypeError, match="ELMRegressor has no predict_interval, which Interval"):
        IntervalCalibrationDisplay.from_estimator(ELMRegressor(), NEW, NEW_Y)
    both = ELMIntervalRegressor(5, random_state=0).fit(X, np.column_stack([Y, -Y]))
    with pytest.raises(ValueError, match="predicts 2 outputs, a curve is of one: give the inter"):
        IntervalCalibrationDisplay.from_estimator(both, NEW, NEW_Y)


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"groups": SIDE[:9]}, r"groups has shape \(9,\), expected \(250,\): a label per row"),
        ({"groups": np.arange(250)}, "more than 10 labels, whose curves could not be told apart"),
        ({"groups": [None, "a"] * 125}, "groups holds missing labels or mixes types"),
        ({"groups": "x0"}, "groups='x0' is for a scan: beside arrays, give a label for each row"),
        ({"groups": SIDE, "y": None}, "y must have 250 targets, one for each row of X"),
        ({"groups": SIDE, "sample_weight": [1]}, "sample_weight must have 250 numbers"),
        ({"confidence_levels": [0.5, 95]}, "95, expected strictly between 0 and 1: did you mean"),
        ({"confidence_levels": []}, "expected a list of numbers between 0 and 1"),
    ],
)
def test_wrong_arrays(model, options, sentence):
    with pytest.raises(ValueError, match=sentence):
        IntervalCalibrationDisplay.from_estimator(model, **{"X": NEW, "y": NEW_Y} | options)


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"groups": SIDE}, "groups must be the name of a feature of the scan; got ndarray"),
        ({"groups": "x22"}, "has no feature 'x22' to group by: did you mean 'x2'?"),
        ({"groups": "side"}, "to group by: name one of its features"),
        ({"groups": "x0"}, "more than 10 labels, whose curves could not be told apart"),
        ({"groups": "x0", "y": NEW_Y}, "y and weights are part of a scan: name them there"),
    ],
)
def test_wrong_scans(model, options, sentence):
    rows = scan(table(), target="y", features=["x0", "x1", "x2"], chunk_size=5)
    with pytest.raises(ValueError, match=sentence):
        IntervalCalibrationDisplay.from_estimator(model, rows, **options)


BOUNDS = np.zeros((4, 2))


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (([0] * 4, BOUNDS), "as a mapping from level to bounds, or as an array beside its"),
        (([0] * 4, {0.5: BOUNDS}, [0.5]), "as a mapping from level to bounds, or as an array"),
        (([0] * 4, {}), "expected a list of numbers between 0 and 1"),
        (([0] * 4, {0.5: BOUNDS, 0.9: BOUNDS[:3]}), r"shapes \(3, 2\) and \(4, 2\): give all"),
        (([0] * 5, {0.5: BOUNDS}), r"shape \(4, 2, 1\), expected \(5, 2, 1\): a lower and an"),
        (([[0]] * 4, {0.5: BOUNDS}), r"shape \(4, 1\), expected \(n,\): draw each output by it"),
        (([np.nan] * 4, {0.5: BOUNDS}), "y_true holds NaN or inf"),
    ],
)
def test_wrong_predictions(arguments, sentence):
    y, intervals, *levels = arguments
    with pytest.raises(ValueError, match=sentence):
        IntervalCalibrationDisplay.from_predictions(
            y, intervals, confidence_levels=levels[0] if levels else None
        )


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (([0.5], [0.5, 0.6], 3), r"must have shapes \(1, 1\) and \(1,\), for each group and level"),
        (([0.5], [1.5], 3), "coverage must be shares from 0 to 1, and n numbers of rows above 0"),
        (([0.5], [0.5], 0), "coverage must be shares from 0 to 1, and n numbers of rows above 0"),
    ],
)
def test_wrong_curves(arguments, sentence):
    with pytest.raises(ValueError, match=sentence):
        IntervalCalibrationDisplay(*arguments)


@pytest.mark.slow
def test_pyplot_is_not_touched():
    code = """
import sys
from elmband.display import IntervalCalibrationDisplay, VariancePartsDisplay
assert "matplotlib" not in sys.modules
IntervalCalibrationDisplay.from_predictions([1, 0], {0.5: [[0, 1], [0, 1]]})
VariancePartsDisplay.from_predictions({"noise": [1], "mean_model": [1], "noise_model": [1]})
assert "matplotlib" in sys.modules
assert "matplotlib.pyplot" not in sys.modules
"""
    subprocess.run([sys.executable, "-c", code], check=True)
