import subprocess
import sys

import numpy as np
import pandas as pd
import polars as pl
import pytest
from matplotlib.collections import LineCollection, PolyCollection
from matplotlib.figure import Figure

from elmband.datasets import make_heteroscedastic, noise_std, projection
from elmband.display import IntervalDisplay, new_figure


class Truth:
    """An estimator that knows the first column's truth."""

    def predict(self, X):
        return projection(np.asarray(X)[:, 0])

    def predict_interval(self, X, confidence_level):
        half = (1 + confidence_level) * noise_std(np.asarray(X)[:, 0])
        return np.column_stack([self.predict(X) - half, self.predict(X) + half])


@pytest.fixture
def data():
    return make_heteroscedastic(50, random_state=0)


def legend(display):
    return [text.get_text() for text in display.ax_.get_legend().get_texts()]


def test_one_input_gives_a_band_sorted_by_it(data):
    display = IntervalDisplay.from_estimator(Truth(), data.X, data.y, confidence_level=0.9)
    x, mean = display.line_.get_data()
    np.testing.assert_array_equal(x, np.sort(data.X[:, 0]))
    np.testing.assert_array_equal(mean, projection(x))
    assert isinstance(display.interval_, PolyCollection)
    corners = display.interval_.get_paths()[0].vertices
    half = 1.9 * noise_std(x)
    for end in (projection(x) - half, projection(x) + half):
        for corner in np.column_stack([x, end]):
            assert np.isclose(corners, corner).all(axis=1).any()
    assert legend(display) == ["90 % interval", "predicted mean", "rows"]
    assert (display.ax_.get_xlabel(), display.ax_.get_ylabel()) == ("x", "y")


def test_rows_are_drawn_where_they_are(data):
    display = IntervalDisplay.from_estimator(Truth(), data.X, data.y)
    points = np.asarray(display.rows_.get_offsets())
    np.testing.assert_array_equal(points, np.column_stack([data.X[:, 0], data.y]))


def test_several_inputs_give_one_bar_per_row_over_the_predicted_mean(data):
    X = np.column_stack([data.X, data.X**2])
    display = IntervalDisplay.from_estimator(Truth(), X, data.y)
    x, mean = display.line_.get_data()
    np.testing.assert_array_equal(x, np.sort(data.mean))
    np.testing.assert_array_equal(mean, x)
    assert isinstance(display.interval_, LineCollection)
    order = np.argsort(data.mean)
    half = 1.95 * data.std[order]
    for segment, middle, h in zip(display.interval_.get_segments(), mean, half, strict=True):
        np.testing.assert_allclose(segment, [[middle, middle - h], [middle, middle + h]])
    assert display.ax_.get_xlabel() == "predicted y"


def test_no_input_is_like_several(data):
    interval = data.interval(0.95)
    display = IntervalDisplay.from_predictions(None, data.y, data.mean, interval)
    assert isinstance(display.interval_, LineCollection)
    assert legend(display)[0] == "interval"


def test_without_targets_no_rows_are_drawn(data):
    display = IntervalDisplay.from_estimator(Truth(), data.X, None)
    assert display.rows_ is None
    assert legend(display) == ["95 % interval", "predicted mean"]


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame])
@pytest.mark.parametrize("series", [pd.Series, lambda y, name: pl.Series(name, y)])
def test_names_of_columns_become_labels(data, frame, series):
    X, y = frame({"distance": data.X[:, 0]}), series(data.y, name="delay")
    ax = IntervalDisplay.from_estimator(Truth(), X, y).ax_
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("distance", "delay")
    wide = frame({"distance": data.X[:, 0], "speed": data.y})
    ax = IntervalDisplay.from_estimator(Truth(), wide, y).ax_
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("predicted delay", "delay")


def test_given_axes_are_used(data):
    figure = Figure()
    left, right = figure.subplots(1, 2)
    display = IntervalDisplay.from_estimator(Truth(), data.X, data.y, ax=right)
    assert display.ax_ is right
    assert display.figure_ is figure
    assert not left.has_data()


def test_plot_can_be_repeated_elsewhere(data):
    display = IntervalDisplay(data.X, data.y, data.mean, data.interval())
    first = display.plot().figure_
    assert display.plot(color="tab:red", legend=False).figure_ is not first
    assert display.line_.get_color() == "tab:red"
    assert display.ax_.get_legend() is None


@pytest.mark.one_quick
@pytest.mark.parametrize("n_samples", [1, 2, 20_000])
def test_few_and_many_rows_can_be_saved(n_samples, tmp_path):
    data = make_heteroscedastic(n_samples, random_state=0)
    display = IntervalDisplay.from_estimator(Truth(), data.X, data.y)
    display.figure_.savefig(tmp_path / "figure.png")
    assert (tmp_path / "figure.png").stat().st_size > 5000


@pytest.mark.slow
def test_pyplot_is_not_touched():
    code = """
import sys
import numpy as np
from elmband.display import IntervalDisplay
assert "matplotlib" not in sys.modules
x = np.arange(3.0)
IntervalDisplay.from_predictions(x, x, x, np.column_stack([x - 1, x + 1]))
assert "matplotlib" in sys.modules
assert "matplotlib.pyplot" not in sys.modules
"""
    subprocess.run([sys.executable, "-c", code], check=True)


def test_missing_matplotlib_names_the_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    with pytest.raises(ImportError, match=r"pip install 'elmband\[plot\]'"):
        new_figure()


def test_estimator_without_intervals(data):
    with pytest.raises(TypeError, match="object has no predict_interval"):
        IntervalDisplay.from_estimator(object(), data.X, data.y)


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"x": np.zeros(4)}, r"x must have shape \(5,\) to match mean, got \(4,\)"),
        ({"y": np.zeros((5, 1))}, r"y must have shape \(5,\) to match mean, got \(5, 1\)"),
        ({"mean": np.zeros((5, 1))}, r"mean must have one dimension, got shape \(5, 1\)"),
        ({"interval": np.zeros((2, 5))}, r"interval must have shape \(5, 2\) to match mean"),
    ],
)
def test_wrong_shapes(changes, sentence):
    arguments = {
        "x": np.zeros(5),
        "y": np.zeros(5),
        "mean": np.zeros(5),
        "interval": np.zeros((5, 2)),
    }
    with pytest.raises(ValueError, match=sentence):
        IntervalDisplay.from_predictions(**arguments | changes)
