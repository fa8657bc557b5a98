"""What metrics of classifiers that may abstain take, and what they refuse."""

import numpy as np
import pandas as pd
import polars as pl
import pytest

from elmband import metrics

INF, NAN = np.inf, np.nan
Y, P, C, W = [1, 0, 1, 0, 1], [1, 0, 0, 1, 1], [5.0, INF, 2.0, -INF, 2.0], [1.0, 0.5, 0.0, 2.0, 1.0]
METRICS = {
    "curve": metrics.risk_coverage_curve,
    "aurc": metrics.aurc,
    "e_aurc": metrics.e_aurc,
    "rates": metrics.confident_rates,
    "clean": metrics.coverage_without_false_positives,
    "found": lambda *args, **kw: metrics.true_positives_at_fpr(*args, 0.5, **kw),
    "summary": metrics.selective_summary,
}
every_metric = pytest.mark.parametrize("metric", METRICS.values(), ids=METRICS)
# These tell positive from negative labels.
OF_CLASSES = ("rates", "clean", "found", "summary")
class_metric = pytest.mark.parametrize("name", OF_CLASSES)


def same(one, other):
    np.testing.assert_array_equal(np.asarray(one), np.asarray(other))


@every_metric
def test_every_array_library(metric, xp):
    arrays = [xp.asarray(np.array(values)) for values in (Y, P, C)]
    weight = xp.asarray(np.array(W))
    same(metric(*arrays, sample_weight=weight), metric(Y, P, C, sample_weight=W))


@pytest.mark.torch
def test_tensors_that_carry_gradients():
    import torch  # noqa: PLC0415 (an optional dependency)

    c, w = torch.tensor(C, requires_grad=True), torch.tensor(W, requires_grad=True)
    ours = metrics.aurc(torch.tensor(Y), torch.tensor(P), c, sample_weight=w)
    assert ours == metrics.aurc(Y, P, C, sample_weight=W)


@every_metric
@pytest.mark.parametrize("series", [pd.Series, pl.Series, lambda v: pd.Series(v, index=v)])
def test_series(metric, series):
    same(
        metric(series(Y), series(P), series(C), sample_weight=series(W)),
        metric(Y, P, C, sample_weight=W),
    )


@class_metric
@pytest.mark.parametrize(
    "labels",
    [
        np.array,
        lambda v: np.array(v, dtype=object),
        pd.Series,
        pd.Categorical,
        pl.Series,
        lambda v: pl.Series(v, dtype=pl.Categorical),
        lambda v: np.array(v, dtype=np.dtypes.StringDType()),
    ],
)
def test_text_labels(name, labels):
    words = [labels([["no", "yes"][label] for label in values]) for values in (Y, P)]
    same(METRICS[name](*words, C, pos_label="yes"), METRICS[name](Y, P, C))
    same(metrics.aurc(*words, C), metrics.aurc(Y, P, C))


@class_metric
def test_labels_of_any_kind(name):
    expected = METRICS[name](Y, P, C)
    same(METRICS[name](np.array(Y, bool), np.array(P, bool), C), expected)
    same(METRICS[name](np.array(Y, bool), P, C, pos_label=True), expected)
    same(METRICS[name](np.array(Y) - 0.5, np.array(P) - 0.5, C, pos_label=0.5), expected)
    days = np.array(["2020-01-01", "2020-01-02"], "datetime64[D]")
    same(METRICS[name](days[Y], days[P], C, pos_label=days[1]), expected)


@every_metric
def test_rows_of_weight_zero_are_not_there(metric):
    kept = [0, 1, 3, 4]
    y, p, c, w = (np.array(values)[kept] for values in (Y, P, C, W))
    same(metric(Y, P, C, sample_weight=W), metric(y, p, c, sample_weight=w))
    # Not even their labels: the only row of class 7 has no weight.
    same(
        metric([7, *Y], [7, *P], [INF, *C], sample_weight=[0, *W]), metric(Y, P, C, sample_weight=W)
    )


def test_one_row():
    assert metrics.aurc([1], [1], [0.3]) == 0
    assert metrics.aurc([1], [0], [0.3]) == 1
    assert metrics.e_aurc([1], [0], [0.3]) == 0
    same(metrics.risk_coverage_curve([1], [0], [0.3]), [[1], [1], [0.3]])
    assert metrics.coverage_without_false_positives([0], [1], [0.3]) == 0
    rows = metrics.selective_summary([1], [1], [0.3])
    assert [row.answered for row in rows] == [1] * 7
    same(rows[0], [0.01, 1, 0.3, 1, 1, 0, 0, 1, NAN])


@pytest.mark.parametrize("n", [3, 10, 49, 1001])
def test_all_right_and_all_wrong(n):
    y, c = np.arange(n) % 2, np.arange(n) / 7
    w = np.linspace(0.1, 3, n)
    for weight in (None, w):
        assert metrics.aurc(y, y, c, sample_weight=weight) == 0
        assert metrics.aurc(y, 1 - y, c, sample_weight=weight) == 1
        assert metrics.e_aurc(y, y, c, sample_weight=weight) == 0
        assert metrics.e_aurc(y, 1 - y, c, sample_weight=weight) == 0
        assert metrics.coverage_without_false_positives(y, y, c, sample_weight=weight) == 1
        assert metrics.true_positives_at_fpr(y, y, c, 0, sample_weight=weight) == 1
        assert (metrics.risk_coverage_curve(y, 1 - y, c, sample_weight=weight).risk == 1).all()


def test_only_one_class():
    ones, zeros, c = np.ones(3), np.zeros(3), [1, 2, 3]
    same(metrics.confident_rates(ones, ones, c)[1:3], [[1, 1, 1], [NAN] * 3])
    same(metrics.confident_rates(zeros, zeros, c)[1:3], [[NAN] * 3, [0, 0, 0]])
    same(metrics.confident_rates(zeros, zeros, c, of="all")[1:3], [[NAN] * 3, [0, 0, 0]])
    assert metrics.coverage_without_false_positives(ones, ones, c) == 1
    assert metrics.true_positives_at_fpr(ones, [0, 1, 1], c, 0) == pytest.approx(2 / 3)
    assert np.isnan(metrics.true_positives_at_fpr(zeros, ones, c, 0.5))


def test_all_confidences_tied():
    assert metrics.aurc(Y, P, np.ones(5)) == 0.4
    same(metrics.risk_coverage_curve(Y, P, np.ones(5)), [[1], [0.4], [1]])
    assert metrics.coverage_without_false_positives(Y, P, np.ones(5)) == 0
    assert metrics.true_positives_at_fpr(Y, P, np.ones(5), 0.49) == 0
    assert {row.coverage for row in metrics.selective_summary(Y, P, np.ones(5))} == {1.0}


def test_infinite_confidences_and_both_zeros_tie():
    curve = metrics.risk_coverage_curve([1] * 6, [1] * 6, [INF, -INF, INF, 0.0, -0.0, -INF])
    same(curve.threshold, [INF, 0, -INF])
    same(curve.coverage, [1 / 3, 2 / 3, 1])


def test_without_a_positive_class_the_summary_counts_errors_only():
    rows = metrics.selective_summary(["a", "b", "c"], ["a", "b", "b"], C[:3], pos_label=None)
    assert rows[-1].risk == pytest.approx(1 / 3)
    assert np.isnan(rows[-1][-3:]).all()
    assert list(pd.DataFrame(rows).columns) == list(metrics.SelectiveRow._fields)


@every_metric
@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"y_true": []}, r"y_true has shape \(0,\), expected \(n,\) with at least one row"),
        ({"y_true": [[1]] * 5}, r"y_true has shape \(5, 1\), expected \(n,\) with"),
        ({"y_pred": P[1:]}, r"y_pred has shape \(4,\), expected \(5,\): reshape or realign"),
        ({"confidence": C[1:]}, r"confidence has shape \(4,\), expected \(5,\): reshape"),
        ({"confidence": [1, 2, 3, 4, NAN]}, "confidence holds NaN, expected none: drop or fill"),
        ({"confidence": ["sure"] * 5}, "confidence must be a rectangular array of numbers"),
        ({"sample_weight": W[1:]}, r"sample_weight has shape \(4,\), expected \(5,\)"),
        ({"sample_weight": [-1, 1, 1, 1, 1]}, "sample_weight must be 0 or more"),
        ({"sample_weight": [0] * 5}, "sample_weight must be 0 or more and not all 0"),
        ({"y_true": [1, 0, NAN, 1, 1]}, "y_true holds missing labels: drop or fill them first"),
        ({"y_pred": ["a", "b", None, "a", "a"]}, "y_pred holds missing labels"),
        ({"y_pred": pd.array([1, 0, None, 1, 1])}, "y_pred holds missing labels"),
        ({"y_pred": ["0", "1", "1", "1", "1"]}, "y_true holds numbers, y_pred text: convert"),
        ({"y_true": np.array(["0"] * 5, object)}, "y_true holds text, y_pred numbers: convert"),
        ({"y_true": [b"0"] * 5, "y_pred": ["0"] * 5}, "y_true holds bytes, y_pred text: convert"),
    ],
)
def test_refused(metric, changes, sentence):
    arguments = {"y_true": Y, "y_pred": P, "confidence": C, "sample_weight": W} | changes
    weight = arguments.pop("sample_weight")
    with pytest.raises(ValueError, match=sentence):
        metric(*arguments.values(), sample_weight=weight)


@class_metric
def test_a_positive_label_that_no_row_has(name):
    sentence = "pos_label is 7, which neither y_true nor y_pred holds: take one .* like 0"
    with pytest.raises(ValueError, match=sentence):
        METRICS[name](Y, P, C, pos_label=7)
    with pytest.raises(ValueError, match=sentence):
        METRICS[name]([7, *Y], [7, *P], [INF, *C], pos_label=7, sample_weight=[0, *W])
    with pytest.raises(ValueError, match="pos_label is 1, but labels are text: name one"):
        METRICS[name](["a", "b"], ["a", "b"], [1, 2])
    with pytest.raises(ValueError, match="pos_label is 'a', but labels are numbers: name one"):
        METRICS[name](Y, P, C, pos_label="a")
    with pytest.raises(ValueError, match=r"pos_label is 'c', which neither .* like 'b'"):
        METRICS[name](["a", "b"], ["a", "b"], [1, 2], pos_label="c")


@pytest.mark.parametrize("name", ["rates", "summary"])
def test_of_what(name):
    with pytest.raises(ValueError, match="of is 'some', expected 'answered' or 'all'"):
        METRICS[name](Y, P, C, of="some")


@pytest.mark.parametrize(
    ("coverages", "sentence"),
    [
        ([0.5, 0], "coverages holds 0, expected above 0 and up to 1: try 0.1"),
        ([10], r"coverages holds 10, expected above 0 and up to 1: did you mean 0.1\?"),
        ([NAN], "coverages holds NaN or inf"),
        ([], r"coverages has shape \(0,\), expected a list of shares"),
        (0.5, r"coverages has shape \(\), expected a list of shares"),
    ],
)
def test_coverages_refused(coverages, sentence):
    with pytest.raises(ValueError, match=sentence):
        metrics.selective_summary(Y, P, C, coverages=coverages)


@pytest.mark.parametrize(
    ("max_fpr", "sentence"),
    [
        (-0.1, "max_fpr is -0.1, expected from 0 to 1: try 0.01"),
        (5, "max_fpr is 5, expected from 0 to 1"),
        (NAN, "max_fpr holds NaN or inf"),
        ([0.1], r"max_fpr has shape \(1,\), expected \(\)"),
    ],
)
def test_bounds_refused(max_fpr, sentence):
    with pytest.raises(ValueError, match=sentence):
        metrics.true_positives_at_fpr(Y, P, C, max_fpr)
