"""The drawn areas are added up anew here."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from abstaining import legend
from hypothesis import given
from hypothesis import strategies as st
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure

from elmband import ELMIntervalRegressor, ELMRegressor, scan
from elmband.display import VariancePartsDisplay
from elmband.display.bins import binned

RNG = np.random.default_rng(0)
X = RNG.normal(size=(300, 2))
Y = X[:, 0] + RNG.normal(size=300) * (1 + (X[:, 1] > 0))
NEW = RNG.normal(size=(500, 2))
STACK = ("noise", "noise_model", "mean_model")


@pytest.fixture(scope="module")
def model():
    return ELMIntervalRegressor({"linear": 2, "tanh": 15}, random_state=0).fit(X, Y)


def edges(area, at):
    """Return the lower and the upper edge of an area at one of its places."""
    corners = area.get_paths()[0].vertices
    found = corners[np.isclose(corners[:, 0], at), 1]
    return found.min(), found.max()


def assert_stacked(display, x, parts):
    """Check all areas: parts (rows, 3) lie on top of each other."""
    tops = np.cumsum(parts, axis=1)
    for k, name in enumerate(STACK):
        for i in range(0, len(x), 7):
            bottom = tops[i, k - 1] if k else 0.0
            np.testing.assert_allclose(
                edges(display.areas_[name], x[i]), (bottom, tops[i, k]), rtol=1e-9, atol=1e-12
            )
    np.testing.assert_allclose(display.total_.get_xdata(), x)
    np.testing.assert_allclose(display.total_.get_ydata(), tops[:, -1])


def test_parts_lie_on_top_of_each_other_along_a_feature(model):
    display = VariancePartsDisplay.from_estimator(model, NEW, feature=1, bins=None)
    parts = model.predict_variance(NEW)
    order = np.argsort(NEW[:, 1])
    columns = np.column_stack([getattr(parts, name) for name in STACK])[order]
    assert_stacked(display, NEW[order, 1], columns)
    np.testing.assert_allclose(display.total, parts.total)
    low, high = (line.get_ydata() for line in display.bounds_)
    np.testing.assert_allclose(low, parts.noise_lower[order])
    np.testing.assert_allclose(high, parts.noise_upper[order])
    assert display.ax_.get_xlabel() == "feature 1"
    assert display.ax_.get_ylabel() == "variance, in squared units of y"


def test_many_rows_are_means_of_bins(model):
    display = VariancePartsDisplay.from_estimator(model, NEW, feature=0, bins=50)
    parts = model.predict_variance(NEW)
    order = np.argsort(NEW[:, 0])
    # Ten rows of five hundred for each of fifty bins.
    mean = [values[order].reshape(50, 10).mean(axis=1) for values in (NEW[:, 0], *parts)]
    named = dict(zip(parts._fields, mean[1:], strict=True))
    assert_stacked(display, mean[0], np.column_stack([named[name] for name in STACK]))
    np.testing.assert_allclose(display.bounds_[1].get_ydata(), named["noise_upper"])


def test_rows_are_sorted_by_their_total_where_features_are_many(model):
    display = VariancePartsDisplay.from_estimator(model, NEW, bins=None)
    parts = model.predict_variance(NEW)
    order = np.argsort(parts.total)
    columns = np.column_stack([getattr(parts, name) for name in STACK])[order]
    assert_stacked(display, (np.arange(500) + 0.5) / 500, columns)
    assert display.ax_.get_xlim() == (0, 1)
    assert display.ax_.get_xlabel() == "rows, from the most certain to the least"
    display.figure_.canvas.draw()
    assert display.ax_.get_xticklabels()[-1].get_text() == "100 %"


def test_a_few_wild_rows_do_not_flatten_the_rest():
    noise = np.r_[np.ones(995), np.full(5, 1e6)]
    parts = {"noise": noise, "mean_model": 0 * noise, "noise_model": 0 * noise}
    display = VariancePartsDisplay.from_predictions(parts)
    assert display.total_.get_ydata()[-1] > 1000
    assert display.ax_.get_ylim() == (0, 1.3)


def test_the_only_feature_is_the_axis_and_bounds_are_optional():
    x = np.array([3.0, 1.0, 2.0])
    parts = {"noise": [1, 2, 3], "mean_model": [0, 0, 1], "noise_model": [1, 1, 1]}
    display = VariancePartsDisplay.from_predictions(parts, x, x_label="age", y_label="delay")
    assert_stacked(display, [1, 2, 3], np.array([[2, 1, 0], [3, 1, 1], [1, 1, 0]]))
    assert display.bounds_ == []
    assert legend(display) == ["noise", "uncertain noise", "uncertain mean", "total"]
    assert (display.ax_.get_xlabel(), display.ax_.get_xlim()) == ("age", (1, 3))
    assert display.ax_.get_ylabel() == "variance, in squared units of delay"


@pytest.mark.one_quick
@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame])
def test_features_have_names(frame):
    columns = {"age": X[:, 0], "size": X[:, 1]}
    model = ELMIntervalRegressor(10, random_state=0).fit(frame(columns), Y)
    display = VariancePartsDisplay.from_estimator(model, frame(columns), feature="size", bins=None)
    np.testing.assert_array_equal(display.total_.get_xdata(), np.sort(X[:, 1]))
    assert display.ax_.get_xlabel() == "size"
    single = ELMIntervalRegressor(10, random_state=0).fit(frame({"age": X[:, 0]}), Y)
    assert (
        VariancePartsDisplay.from_estimator(single, frame({"age": X[:, 0]})).ax_.get_xlabel()
        == "age"
    )
    bare = ELMIntervalRegressor(10, random_state=0).fit(X[:, :1], Y)
    assert VariancePartsDisplay.from_estimator(bare, X[:, :1]).ax_.get_xlabel() == "x"


def test_a_scan_is_drawn_like_a_table(model):
    rows = scan(pd.DataFrame(NEW, columns=["a", "b"]), chunk_size=90)
    for feature in (None, "b", -1):
        display = VariancePartsDisplay.from_estimator(model, rows, feature=feature)
        place = None if feature is None else 1
        given = VariancePartsDisplay.from_estimator(model, NEW, feature=place)
        np.testing.assert_allclose(display.total_.get_data(), given.total_.get_data())
        assert display.ax_.get_xlabel() == ("b" if feature else given.ax_.get_xlabel())


def test_transformed_targets_are_named():
    model = ELMIntervalRegressor(10, target_transform="log", random_state=0).fit(X, np.exp(Y))
    ax = VariancePartsDisplay.from_estimator(model, X).ax_
    assert ax.get_ylabel() == "variance, in squared units of the transformed y"
    named = VariancePartsDisplay.from_estimator(model, X, y_label="log price").ax_
    assert named.get_ylabel() == "variance, in squared units of log price"


def test_parts_differ_without_colours(model):
    areas = VariancePartsDisplay.from_estimator(model, NEW).areas_
    shades = [
        np.dot(to_rgb(areas[name].get_facecolor()[0]), [0.299, 0.587, 0.114]) for name in STACK
    ]
    assert (np.diff(shades) < -0.2).all()


@pytest.mark.slow
@pytest.mark.parametrize("n", [1, 2, 20_000])
def test_few_and_many_rows_can_be_saved(n, tmp_path):
    noise = RNG.random(n)
    parts = {"noise": noise, "mean_model": noise, "noise_model": noise}
    for x in (None, noise):
        display = VariancePartsDisplay.from_predictions(parts, x)
        assert len(display.total_.get_xdata()) == min(n, 100)
        display.figure_.savefig(tmp_path / "figure.png")


def test_given_axes_are_used_and_plot_can_be_repeated():
    parts = {"noise": [0.0], "mean_model": [0.0], "noise_model": [0.0]}
    left, right = Figure().subplots(1, 2)
    display = VariancePartsDisplay.from_predictions(parts, [5.0], ax=right)
    assert (display.ax_, display.figure_) == (right, right.figure)
    assert not left.has_data()
    assert display.plot(legend=False).ax_ is not right
    assert display.ax_.get_legend() is None


@pytest.mark.slow
@given(
    st.lists(st.integers(-5, 5) | st.floats(-1e3, 1e3), min_size=1, max_size=60),
    st.none() | st.integers(1, 70),
)
def test_bins_keep_sums_and_equal_places_together(x, bins):
    x = np.array(x, dtype=np.float64)
    values = np.random.default_rng(0).random((len(x), 2))
    found = binned(x, values, bins)
    distinct = len(np.unique(x))
    assert len(found.x) == distinct if bins is None or distinct <= bins else len(found.x) <= bins
    assert (np.diff(found.x) > 0).all()
    assert found.rows.sum() == len(x)
    np.testing.assert_allclose(found.rows @ found.means, values.sum(axis=0))
    np.testing.assert_allclose(found.rows @ found.x, x.sum(), atol=1e-9)


def test_wrong_models(model):
    with pytest.raises(TypeError, match="ELMRegressor has no predict_variance, which Variance"):
        VariancePartsDisplay.from_estimator(ELMRegressor(), X)
    with pytest.raises(ValueError, match="feature=2 is none of the 2 features of X"):
        VariancePartsDisplay.from_estimator(model, X, feature=2)
    with pytest.raises(ValueError, match="X has no feature 'age': name one that it has"):
        VariancePartsDisplay.from_estimator(model, X, feature="age")
    table = pd.DataFrame({"size": X[:, 0], "town": np.where(X[:, 1] > 0, "Oslo", "Rome")})
    of_table = ELMIntervalRegressor(5, random_state=0).fit(table, Y)
    with pytest.raises(ValueError, match="feature 'town' is no column of numbers: draw along"):
        VariancePartsDisplay.from_estimator(of_table, table, feature="town")
    both = ELMIntervalRegressor(5, random_state=0).fit(X, np.column_stack([Y, -Y]))
    with pytest.raises(ValueError, match=r"got shapes \(300, 2\): take one output of several"):
        VariancePartsDisplay.from_estimator(both, X)


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"noise": None}, "parts has no 'noise': give what predict_variance returns"),
        ({"noise": [1]}, r"lists of one length with at least one number each, got shapes \(1,\),"),
        ({"noise": [1, -1]}, "variances must be finite and at least 0, one for each row"),
        ({"noise_upper": [1, np.inf]}, "variances must be finite and at least 0, one for each"),
        ({"noise_lower": [1]}, "variances must be finite and at least 0, one for each row"),
        ({"x": [1]}, r"x must have 2 finite numbers, one for each row; its shape is \(1,\)"),
        ({"x": [1, np.nan]}, "x must have 2 finite numbers"),
        ({"bins": 0}, "bins must be a whole number of at least 1 or None; got 0"),
        ({"bins": 1.5}, "bins must be a whole number of at least 1 or None; got 1.5"),
    ],
)
def test_wrong_parts(changes, sentence):
    parts = {"noise": [1, 1], "mean_model": [1, 1], "noise_model": [1, 1]} | changes
    options = {name: parts.pop(name) for name in ("x", "bins") if name in parts}
    with pytest.raises(ValueError, match=sentence):
        VariancePartsDisplay.from_predictions(parts, **options)
