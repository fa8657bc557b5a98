"""Metrics of classifiers that may abstain, against loops over all thresholds in exact fractions."""

from fractions import Fraction
from itertools import product
from math import ceil

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import accuracy_score, confusion_matrix, roc_curve

from elmband import metrics

INF = np.inf
NAN = np.nan
SHARES = (Fraction(1, 100), Fraction(7, 100), Fraction(3, 10), Fraction(1, 2), Fraction(1))
# A row is (label, prediction, confidence, weight); few confidences make many ties.
ROWS = st.lists(
    st.tuples(
        st.integers(0, 1),
        st.integers(0, 1),
        st.sampled_from([-INF, -1.0, 0.0, 0.5, 2.0, INF]),
        st.integers(0, 3),
    ),
    min_size=1,
    max_size=12,
).filter(lambda rows: any(row[3] for row in rows))


def columns(rows):
    """Arrays of labels, predictions, confidences and weights."""
    return [np.array(column) for column in zip(*rows, strict=True)]


def every_metric(y, p, c, w):
    """All numbers that the module computes for these rows."""
    kw = {"sample_weight": w, "pos_label": 1}
    return [
        *metrics.risk_coverage_curve(y, p, c, sample_weight=w)[:2],
        metrics.aurc(y, p, c, sample_weight=w),
        metrics.e_aurc(y, p, c, sample_weight=w),
        *metrics.confident_rates(y, p, c, **kw)[:3],
        *metrics.confident_rates(y, p, c, of="all", **kw)[:3],
        metrics.coverage_without_false_positives(y, p, c, **kw),
        metrics.true_positives_at_fpr(y, p, c, 0.3, **kw),
        *(row[:2] + row[3:] for row in metrics.selective_summary(y, p, c, **kw)),
    ]


def agree(ours, exact):
    ours = np.asarray(ours, dtype=float)
    np.testing.assert_allclose(ours, np.array(exact, dtype=float), rtol=1e-12, atol=1e-14)


def all_agree(ours, others):
    for one, other in zip(ours, others, strict=True):
        agree(one, other)


def share(part, whole):
    return Fraction(part, whole) if whole else NAN


def naive(rows):
    """One dictionary for each threshold, by counting its answered rows anew."""
    rows = [row for row in rows if row[3]]
    everything = _count(rows)
    for threshold in sorted({row[2] for row in rows}, reverse=True):
        n = _count([row for row in rows if row[2] >= threshold])
        yield n | {
            "threshold": threshold,
            "coverage": Fraction(n["n"], everything["n"]),
            "risk": Fraction(n["wrong"], n["n"]),
            "tpr": share(n["tp"], n["pos"]),
            "fpr": share(n["fp"], n["neg"]),
            "tpr_of_all": share(n["tp"], everything["pos"]),
            "fpr_of_all": share(n["fp"], everything["neg"]),
        }


def _count(rows):
    kinds = {
        "n": lambda y, p: True,  # noqa: ARG005 (the arguments of the others)
        "wrong": lambda y, p: y != p,
        "pos": lambda y, p: y == 1,  # noqa: ARG005
        "neg": lambda y, p: y != 1,  # noqa: ARG005
        "tp": lambda y, p: y == p == 1,
        "fp": lambda y, p: y != 1 and p == 1,
    }
    return {name: sum(w for y, p, _, w in rows if kind(y, p)) for name, kind in kinds.items()}


@given(ROWS)
def test_the_curve_counts_the_answered_rows(rows):
    y, p, c, w = columns(rows)
    curve = metrics.risk_coverage_curve(y, p, c, sample_weight=w)
    for name in ("coverage", "risk", "threshold"):
        agree(getattr(curve, name), [part[name] for part in naive(rows)])
    assert curve.coverage[-1] == 1


@given(ROWS)
def test_aurc_is_the_mean_risk_at_which_rows_are_answered(rows):
    y, p, c, w = columns(rows)
    parts = {part["threshold"]: part["risk"] for part in naive(rows)}
    mean = sum(row[3] * parts[row[2]] for row in rows if row[3]) / sum(w.tolist())
    area = metrics.aurc(y, p, c, sample_weight=w)
    agree(area, mean)
    assert 0 <= area <= 1
    assert metrics.risk_coverage_curve(y, p, c, sample_weight=w).area == area


@pytest.mark.one_quick
@pytest.mark.parametrize(
    "right", [(1, 1, 1, 1), (1, 1, 1, 0), (1, 1, 0, 0), (1, 0, 0, 0), (0,) * 4]
)
def test_e_aurc_is_the_excess_over_the_best_of_all_confidences(right):
    y = np.ones(4)
    areas = {c: metrics.aurc(y, right, c) for c in product(range(4), repeat=4)}
    best = min(areas.values())
    for c, area in areas.items():
        agree(metrics.e_aurc(y, right, c), area - best)


@given(ROWS, st.floats(0.1, 10))
def test_e_aurc_of_any_weights_is_not_negative(rows, unit):
    y, p, c, w = columns(rows)
    excess = metrics.e_aurc(y, p, c, sample_weight=w * unit)
    assert excess >= 0
    # Rows that count more or less than one are finer or coarser, by less than one row in all.
    fine = metrics.e_aurc(y, p, c, sample_weight=w * 0.3)
    assert abs(metrics.e_aurc(y, p, c, sample_weight=w) - fine) <= 1 / w.sum()


def test_e_aurc_of_shares_is_the_limit_of_many_rows():
    y, p, c = [1, 1, 1], [1, 0, 0], [1.0, 3.0, 2.0]
    repeated = metrics.e_aurc(y, p, c, sample_weight=np.array([1, 2, 2]) * 10**9)
    shares = metrics.e_aurc(y, p, c, sample_weight=[0.1, 0.2, 0.2])
    assert repeated < shares < repeated + 1e-9  # less than one of 5e9 rows


@pytest.mark.parametrize("n", [1, 2, 7, 1000, 100_000])
@pytest.mark.parametrize("wrong", [0.0, 0.01, 0.5, 1.0])
def test_right_before_wrong_has_no_excess(n, wrong):
    p = np.arange(n) >= round(n * (1 - wrong))
    # Digammas of n rows are n times less exact than the number one.
    assert 0 <= metrics.e_aurc(np.zeros(n), p, -np.arange(n)) <= 1e-14 * np.log(n + 2)


@given(ROWS)
def test_rates_count_the_answered_rows(rows):
    y, p, c, w = columns(rows)
    parts = list(naive(rows))
    for of, suffix in (("answered", ""), ("all", "_of_all")):
        rates = metrics.confident_rates(y, p, c, of=of, sample_weight=w)
        for name, exact in (("tpr", "tpr" + suffix), ("fpr", "fpr" + suffix)):
            agree(getattr(rates, name), [part[exact] for part in parts])
        agree(rates.coverage, [part["coverage"] for part in parts])
        agree(rates.threshold, [part["threshold"] for part in parts])


@given(ROWS)
def test_the_largest_part_without_false_positives(rows):
    y, p, c, w = columns(rows)
    clean = [part["coverage"] for part in naive(rows) if part["fp"] == 0]
    ours = metrics.coverage_without_false_positives(y, p, c, sample_weight=w)
    agree(ours, max(clean, default=0))


@given(ROWS, st.sampled_from([0, *SHARES]))
def test_true_positives_of_the_largest_part_with_few_false_ones(rows, bound):
    y, p, c, w = columns(rows)
    parts = list(naive(rows))
    few = [part["tp"] for part in parts if part["fp"] <= bound * parts[-1]["neg"]]
    ours = metrics.true_positives_at_fpr(y, p, c, float(bound), sample_weight=w)
    agree(ours, share(max(few, default=0), parts[-1]["pos"]))


@pytest.mark.slow
@given(ROWS)
def test_the_summary_answers_as_many_rows_as_asked(rows):
    y, p, c, w = columns(rows)
    ours = metrics.selective_summary(y, p, c, coverages=[float(s) for s in SHARES], sample_weight=w)
    parts = list(naive(rows))
    for line, asked in zip(ours, SHARES, strict=True):
        part = next(part for part in parts if part["n"] >= ceil(asked * parts[-1]["n"]))
        agree(line.answered, part["n"])
        agree(line.accuracy, 1 - part["risk"])
        agree(line.false_positives, part["fp"])
        for name in ("coverage", "threshold", "risk", "tpr", "fpr"):
            agree(getattr(line, name), part[name])
        assert line.asked == float(asked)


def test_the_summary_has_the_row_asked_for_whatever_the_rounding():
    n = 100
    y = np.ones(n)
    for count in range(1, n + 1):
        # 0.07 * 100 is above 7, and 0.01 added up seven times is above 0.07.
        for coverage in (count / n, sum([0.01] * count)):
            (row,) = metrics.selective_summary(y, y, np.arange(n), coverages=[min(coverage, 1)])
            assert row.answered == count
    summary = metrics.selective_summary(y, y, np.arange(n), sample_weight=np.full(n, 0.1))
    agree([row.answered for row in summary], [0.1, 0.3, 0.5, 1, 3, 5, 10])


def test_a_bound_holds_the_row_that_reaches_it_whatever_the_rounding():
    # The first three of ten negative rows are false positives, one positive row after each.
    y, p = [0, 1] * 10, [1, 1] * 3 + [0, 1] * 7
    for weight in (None, np.full(20, 0.1)):  # 0.1 added up three times is above 0.3
        for bound, found in ((0.1, 1), (0.2, 2), (0.3, 10), (0.3 - 1e-9, 2)):
            ours = metrics.true_positives_at_fpr(y, p, -np.arange(20), bound, sample_weight=weight)
            agree(ours, found / 10)


@given(ROWS)
def test_weights_are_repetitions(rows):
    y, p, c, w = columns(rows)
    repeated = (np.repeat(values, w) for values in (y, p, c))
    all_agree(every_metric(y, p, c, w), every_metric(*repeated, None))


@pytest.mark.slow
@given(ROWS, st.randoms(use_true_random=False))
def test_order_of_rows_and_scale_of_confidence_do_not_matter(rows, random):
    ours = every_metric(*columns(rows))
    y, p, c, w = columns(random.sample(rows, len(rows)))
    all_agree(ours, every_metric(y, p, np.arctan(c) * 3 - 1, w))


def test_everything_positive_makes_a_roc_curve():
    rng = np.random.default_rng(0)
    y, c = rng.integers(0, 2, 300), rng.integers(0, 50, 300)
    ours = metrics.confident_rates(y, np.ones(300), c, of="all")
    fpr, tpr, threshold = roc_curve(y, c, drop_intermediate=False)
    all_agree((ours.fpr, ours.tpr, ours.threshold), (fpr[1:], tpr[1:], threshold[1:]))


def test_all_rows_have_the_scores_of_scikit_learn():
    rng = np.random.default_rng(1)
    y, p, c, w = *rng.choice(["ant", "bee", "fly"], (2, 200)), rng.normal(size=200), rng.random(200)
    row = metrics.selective_summary(y, p, c, pos_label="bee", sample_weight=w)[-1]
    agree(row.accuracy, accuracy_score(y, p, sample_weight=w))
    (tn, fp), (fn, tp) = confusion_matrix(y == "bee", p == "bee", sample_weight=w)
    agree(row[-3:], [fp, tp / (tp + fn), fp / (fp + tn)])


def test_five_rows_by_hand():
    # Answers from the most confident on: right, right, wrong and right tied, wrong.
    y, p, c = [1, 0, 0, 1, 1], [1, 0, 1, 1, 0], [9.0, 7.0, 4.0, 4.0, -2.0]
    agree(metrics.risk_coverage_curve(y, p, c).risk, [0, 0, 1 / 4, 2 / 5])
    agree(metrics.aurc(y, p, c), (0 + 0 + 1 / 4 + 1 / 4 + 2 / 5) / 5)
    agree(metrics.e_aurc(y, p, c), (1 / 4 + 1 / 4 + 2 / 5 - 1 / 4 - 2 / 5) / 5)
    assert metrics.coverage_without_false_positives(y, p, c) == 0.4
    assert metrics.true_positives_at_fpr(y, p, c, 0.4) == pytest.approx(1 / 3)
    assert metrics.true_positives_at_fpr(y, p, c, 0.5) == pytest.approx(2 / 3)
