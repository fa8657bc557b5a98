import numpy as np
import pytest
from abstaining import Threshold, legend, noisy_rows
from matplotlib.figure import Figure

from elmband.display import ConfidentRatesDisplay
from elmband.metrics import confident_rates, selective_summary

X, Y = noisy_rows(1000)
MODEL = Threshold()
P, C = MODEL.predict(X), MODEL.confidence(X)


def texts(display):
    return [text.get_text() for text in display.texts_]


@pytest.mark.parametrize("of", ["answered", "all"])
def test_marks_stand_where_the_summary_says(of):
    display = ConfidentRatesDisplay.from_predictions(Y, P, C, of=of)
    rows = selective_summary(Y, P, C, of=of)
    points = [(row.fpr, row.tpr) for row in rows]
    np.testing.assert_array_equal(np.column_stack(display.marks_.get_data()), points)
    assert display.ax_.get_xlabel() == f"false positives / {of} negatives"
    assert display.ax_.get_ylabel() == f"true positives / {of} positives"


def test_the_line_is_that_of_the_metric_from_the_first_mark_on():
    display = ConfidentRatesDisplay.from_predictions(Y, P, C)
    rates = confident_rates(Y, P, C)
    np.testing.assert_array_equal(display.line_.get_data(), [rates.fpr[9:], rates.tpr[9:]])
    finer = ConfidentRatesDisplay.from_predictions(Y, P, C, coverages=[0.001, 1])
    assert len(finer.line_.get_xdata()) == 1000


def test_marks_are_written_in_percent():
    shares = np.array([0.01, 0.03, 0.05, 0.1, 0.3, 0.5, 1])
    display = ConfidentRatesDisplay(shares, 1 - shares**0.3, shares**0.3).plot()
    assert texts(display) == ["1 %", "3 %", "5 %", "10 %", "30 %", "50 %", "100 %"]
    for text, share in zip(display.texts_, shares, strict=True):
        assert text.xy == pytest.approx((share**0.3, 1 - share**0.3))
        assert text.get_color() == display.line_.get_color()


def test_marks_in_one_place_share_their_text():
    assert texts(ConfidentRatesDisplay.from_predictions(Y, Y, C)) == ["1-100 %"]
    fpr = [0, 0, 0.001, 0.002, 0.1, 0.3, 0.5]
    tpr = [0.9, 0.9, 0.9, 0.9, 0.8, 0.7, 0.6]
    display = ConfidentRatesDisplay([0.01, 0.03, 0.05, 0.1, 0.3, 0.5, 1], tpr, fpr).plot()
    assert texts(display) == ["1-10 %", "30 %", "50 %", "100 %"]
    assert len(display.marks_.get_xdata()) == 7


def test_few_rows_and_ties_are_marked_with_what_they_answer():
    y, p, c = [1, 0, 1, 0, 1], [1, 0, 0, 1, 1], [4, 4, 3, 2, 1]
    # Two rows at the least, for half of the rows three.
    assert texts(ConfidentRatesDisplay.from_predictions(y, p, c)) == ["40 %", "60 %", "100 %"]
    display = ConfidentRatesDisplay.from_predictions(y, p, np.zeros(5))
    assert texts(display) == ["100 %"]
    assert np.column_stack(display.marks_.get_data()).tolist() == [[0.5, 2 / 3]]


def test_points_without_rows_of_one_class_are_left_out(tmp_path):
    y, p, c = np.r_[np.ones(20), np.zeros(20)], np.ones(40), -np.arange(40)
    display = ConfidentRatesDisplay.from_predictions(y, p, c)
    assert texts(display) == ["100 %"]
    nothing = ConfidentRatesDisplay.from_predictions(np.ones(40), p, c)
    assert texts(nothing) == []
    nothing.figure_.savefig(tmp_path / "nothing.png")


def test_an_estimator_is_asked_for_predictions_and_confidence():
    words, weight = np.array(["no", "yes"])[Y], np.arange(1000)

    class Words(Threshold):
        def predict(self, X):
            return np.array(["no", "yes"])[super().predict(X)]

    display = ConfidentRatesDisplay.from_estimator(
        Words(), X, words, pos_label="yes", of="all", coverages=[0.2, 0.6], sample_weight=weight
    )
    rows = selective_summary(Y, P, C, of="all", coverages=[0.2, 0.6], sample_weight=weight)
    points = [(row.fpr, row.tpr) for row in rows]
    np.testing.assert_array_equal(np.column_stack(display.marks_.get_data()), points)
    assert legend(display) == ["Words"]


def test_several_models_share_axes():
    ax = Figure().add_subplot()
    one = ConfidentRatesDisplay.from_predictions(Y, P, C, name="one", ax=ax, linestyle="--")
    two = ConfidentRatesDisplay.from_predictions(Y, P, -C, name="two", ax=ax)
    assert one.ax_ is two.ax_ is ax
    assert one.line_.get_color() != two.line_.get_color()
    assert one.marks_.get_color() == one.line_.get_color()
    assert legend(two) == ["one", "two"]
    assert one.line_.get_linestyle() == "--"


def test_many_rows_are_thinned_and_the_line_still_meets_its_marks():
    X, y = noisy_rows(100_001)
    display = ConfidentRatesDisplay.from_estimator(MODEL, X, y)
    line = np.column_stack(display.line_.get_data())
    assert len(line) <= 2007
    for point in np.column_stack(display.marks_.get_data()):
        assert (line == point).all(axis=1).any()
    np.testing.assert_array_equal(line[-1], [display.fpr[-1], display.tpr[-1]])


def test_plot_can_be_repeated_elsewhere(tmp_path):
    display = ConfidentRatesDisplay.from_predictions(Y, P, C, name="mine")
    first = display.figure_
    assert display.plot(color="tab:red", legend=False).figure_ is not first
    assert display.ax_.get_legend() is None
    display.figure_.savefig(tmp_path / "again.png")
    assert (tmp_path / "again.png").stat().st_size > 5000


def test_without_a_name_there_is_no_legend():
    assert ConfidentRatesDisplay.from_predictions(Y, P, C).ax_.get_legend() is None


def test_refused():
    with pytest.raises(TypeError, match="object has no method confidence, which ConfidentRates"):
        ConfidentRatesDisplay.from_estimator(object(), X, Y)
    with pytest.raises(ValueError, match="coverage, tpr, fpr must be lists of one length"):
        ConfidentRatesDisplay([0.5, 1], [0, 1], [0])
    with pytest.raises(ValueError, match="of is 'some', expected 'answered' or 'all'"):
        ConfidentRatesDisplay([1], [1], [0], of="some")
    with pytest.raises(ValueError, match=r"coverages holds 10, .* did you mean 0.1\?"):
        ConfidentRatesDisplay([1], [1], [0], coverages=[10])
