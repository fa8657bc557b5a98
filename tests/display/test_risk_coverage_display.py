import subprocess
import sys

import numpy as np
import pytest
from abstaining import Threshold, legend, noisy_rows
from matplotlib.figure import Figure

from elmband.display import RiskCoverageDisplay
from elmband.metrics import aurc, risk_coverage_curve

X, Y = noisy_rows(200)
MODEL = Threshold()
P, C = MODEL.predict(X), MODEL.confidence(X)


def test_the_curve_is_that_of_the_metric():
    display = RiskCoverageDisplay.from_predictions(Y, P, C)
    curve = risk_coverage_curve(Y, P, C)
    np.testing.assert_array_equal(display.line_.get_data(), curve[:2])
    np.testing.assert_array_equal(display.coverage, curve.coverage)
    error = (Y != P).mean()
    assert display.base_.get_data() == ([1.0], [error])
    assert set(display.level_.get_ydata()) == {error}
    assert legend(display) == [f"AURC {aurc(Y, P, C):.3g}, error {error:.3g}"]


def test_an_estimator_is_asked_for_predictions_and_confidence():
    weight = np.arange(200)
    drawn = RiskCoverageDisplay.from_estimator(MODEL, X, Y, sample_weight=weight)
    given = RiskCoverageDisplay.from_predictions(Y, P, C, sample_weight=weight, name="Threshold")
    np.testing.assert_array_equal(drawn.line_.get_data(), given.line_.get_data())
    assert legend(drawn) == legend(given)
    assert legend(drawn)[0].startswith("Threshold (AURC")
    assert legend(RiskCoverageDisplay.from_estimator(MODEL, X, Y, name="mine"))[0][:4] == "mine"


def test_several_models_share_axes():
    ax = Figure().add_subplot()
    worse = RiskCoverageDisplay.from_predictions(Y, 1 - P, C, name="worse", ax=ax)
    better = RiskCoverageDisplay.from_predictions(Y, P, C, name="better", ax=ax, linestyle="--")
    assert worse.ax_ is better.ax_ is ax
    assert worse.figure_ is ax.figure
    assert worse.line_.get_color() != better.line_.get_color()
    assert better.base_.get_color() == better.level_.get_color() == better.line_.get_color()
    assert better.line_.get_linestyle() == "--"
    assert [label.split()[0] for label in legend(better)] == ["worse", "better"]
    # The second one, though lower, leaves the first in sight.
    assert ax.get_ylim()[1] > worse.risk.max()


def test_a_wild_beginning_does_not_flatten_the_rest():
    y, c = np.ones(1000), -np.arange(1000)
    p = np.r_[0, np.ones(989), np.zeros(10)]
    display = RiskCoverageDisplay.from_predictions(y, p, c)
    assert display.line_.get_ydata()[0] == 1
    # At 1 % one of 10 rows is wrong, and no larger part has more wrong.
    assert display.ax_.get_ylim()[1] == pytest.approx(1.1 * 0.1)


@pytest.mark.parametrize(("n", "drawn"), [(2000, 2000), (2001, 2000), (100_000, 2000)])
def test_many_rows_are_thinned_and_both_ends_kept(n, drawn):
    X, y = noisy_rows(n)
    display = RiskCoverageDisplay.from_estimator(MODEL, X, y)
    points = np.column_stack(display.line_.get_data())
    assert len(points) == drawn
    curve = np.column_stack([display.coverage, display.risk])
    assert len(curve) == n
    np.testing.assert_array_equal(points[[0, -1]], curve[[0, -1]])
    assert np.isin(points[:, 0], curve[:, 0]).all()
    assert np.diff(points[:, 0]).max() <= 2 / drawn


def test_the_last_row_is_drawn_however_light():
    X, y = noisy_rows(3000)
    order = np.argsort(-np.abs(X[:, 0]))
    weight = np.r_[np.ones(2999), 1e-10]
    display = RiskCoverageDisplay.from_estimator(MODEL, X[order], y[order], sample_weight=weight)
    assert display.line_.get_ydata()[-1] == display.risk[-1] != display.risk[-2]


def test_ties_leave_one_point_that_can_be_seen(tmp_path):
    display = RiskCoverageDisplay.from_predictions(Y, P, np.zeros(200))
    assert len(display.line_.get_xdata()) == 1
    assert display.base_.get_marker() == "o"
    display.figure_.savefig(tmp_path / "one.png")


@pytest.mark.parametrize(("p", "top"), [(Y, 0.1), (1 - Y, 1.1)], ids=["right", "wrong"])
def test_all_right_and_all_wrong(p, top):
    display = RiskCoverageDisplay.from_predictions(Y, p, C)
    bottom, highest = display.ax_.get_ylim()
    assert bottom < 0
    assert highest == pytest.approx(top)


def test_axes_count_in_percent():
    ax = RiskCoverageDisplay.from_predictions(Y, P, C).ax_
    ax.figure.canvas.draw()
    assert [t.get_text() for t in ax.get_xticklabels()] == [f"{k} %" for k in range(0, 101, 20)]
    assert ax.get_xlabel() == "coverage: answered rows"
    assert ax.get_ylabel() == "risk: wrong among the answered"


def test_plot_can_be_repeated_elsewhere():
    display = RiskCoverageDisplay([0.5, 1], [0.1, 0.2], name="mine")
    first = display.plot().figure_
    assert legend(display) == ["mine (error 0.2)"]
    assert display.plot(color="tab:red", legend=False).figure_ is not first
    assert display.base_.get_color() == "tab:red"
    assert display.ax_.get_legend() is None


def test_an_estimator_without_confidence():
    with pytest.raises(TypeError, match="object has no method confidence, which RiskCoverageDis"):
        RiskCoverageDisplay.from_estimator(object(), X, Y)


@pytest.mark.parametrize("arrays", [([0.5, 1], [0.1]), ([], []), ([[1]], [[0]])])
def test_wrong_shapes(arrays):
    with pytest.raises(ValueError, match="coverage, risk must be lists of one length"):
        RiskCoverageDisplay(*arrays)


@pytest.mark.slow
def test_pyplot_is_not_touched():
    code = """
import sys
from elmband.display import ConfidentRatesDisplay, RiskCoverageDisplay
assert "matplotlib" not in sys.modules
for display in (RiskCoverageDisplay, ConfidentRatesDisplay):
    display.from_predictions([1, 0, 0], [1, 0, 1], [3, 2, 1])
assert "matplotlib" in sys.modules
assert "matplotlib.pyplot" not in sys.modules
"""
    subprocess.run([sys.executable, "-c", code], check=True)
