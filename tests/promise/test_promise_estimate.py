import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from elmband.uncertainty.promise import Risk, coverage_threshold, estimate

KINDS = ["error", "fpr", "fdr"]


@st.composite
def labelled(draw, min_size=1):
    """Rows with tied scores, weights that are small counts, and three groups."""
    row = st.tuples(
        st.integers(-3, 3), st.booleans(), st.booleans(), st.integers(0, 3), st.integers(0, 2)
    )
    rows = np.array(draw(st.lists(row, min_size=min_size, max_size=25))).reshape(-1, 5)
    score, truly, called, weight, group = rows.T
    return score.astype(float), truly.astype(bool), called.astype(bool), weight, group


def risk_of(kind, truly, called):
    return Risk.error(truly != called) if kind == "error" else getattr(Risk, kind)(truly, called)


def ratio(kind, truly, called, answered):
    """Return the definition of a risk for rows listed one by one, None for 0 / 0."""
    rows = list(zip(truly, called, answered, strict=True))
    bad, counted = {
        "error": (sum(a and t != c for t, c, a in rows), sum(a for *_, a in rows)),
        "fpr": (sum(a and c and not t for t, c, a in rows), sum(not t for t, *_ in rows)),
        "fdr": (sum(a and c and not t for t, c, a in rows), sum(a and c for _, c, a in rows)),
    }[kind]
    return Fraction(int(bad), int(counted)) if counted else None


def loosest(kind, score, truly, called, limit, groups=None):
    """Try every distinct score; return the loosest one that is fine, with its risk."""
    groups = np.zeros(len(score)) if groups is None else groups
    for value in sorted(set(score)):
        parts = [groups == g for g in set(groups)]
        found = [ratio(kind, truly[p], called[p], score[p] >= value) for p in parts]
        found = [r for r in found if r is not None]
        if found and sum(found) / len(found) <= limit:
            return (-math.inf if value == min(score) else value), sum(found) / len(found)
    return math.inf, math.nan


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("limit", ["1/20", "1/4", "1/3", "1/2"])
@given(labelled())
def test_estimates_are_the_loosest_of_all_thresholds(kind, limit, rows):
    score, truly, called, *_ = rows
    found = estimate(risk_of(kind, truly, called), score, limit=float(Fraction(limit)))
    value, observed = loosest(kind, score, truly, called, Fraction(limit))
    assert found.value == value
    assert found.observed == pytest.approx(float(observed), nan_ok=True)
    assert found.answered == pytest.approx(np.mean(score >= value))
    assert (found.kind, found.confidence, found.risk) == ("estimate", None, kind)


@pytest.mark.one_quick
@pytest.mark.parametrize("kind", KINDS)
@given(labelled())
def test_estimates_for_groups_average_their_rates(kind, rows):
    score, truly, called, _, groups = rows
    found = estimate(risk_of(kind, truly, called), score, limit=0.25, groups=groups)
    value, observed = loosest(kind, score, truly, called, Fraction(1, 4), groups)
    assert found.value == value
    assert found.observed == pytest.approx(float(observed), nan_ok=True)


@pytest.mark.one_quick
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("grouped", [False, True])
@given(labelled())
def test_weights_are_counts_in_shares(kind, grouped, rows):
    score, truly, called, weight, groups = rows
    again = np.repeat(np.arange(len(score)), weight)
    risk, repeated = risk_of(kind, truly, called), risk_of(kind, truly[again], called[again])
    weighed = estimate(
        risk, score, limit=0.3, sample_weight=weight, groups=groups if grouped else None
    )
    counted = estimate(repeated, score[again], limit=0.3, groups=groups[again] if grouped else None)
    assert weighed.value == counted.value
    for name in ("observed", "answered", *(("n",) if grouped else ())):
        expected = pytest.approx(getattr(counted, name), nan_ok=True)
        assert getattr(weighed, name) == expected
    # Repetitions are more rows, weights are not.
    assert weighed.n <= counted.n + 1e-9
    ten = estimate(
        risk, score, limit=0.3, sample_weight=10 * weight, groups=groups if grouped else None
    )
    assert (ten.value, ten.n) == (weighed.value, pytest.approx(weighed.n))


def test_limits_do_not_suffer_from_rounding():
    """1 - 0.93 is less than 0.07 in binary numbers."""
    risk = Risk.error(np.arange(100) < 7)
    assert estimate(risk, np.arange(100.0), limit=1 - 0.93).value == -math.inf


def test_estimates_that_answer_nothing_say_so():
    found = estimate(Risk.error(np.ones(5, bool)), np.arange(5.0), limit=0.1)
    assert found.value == math.inf
    assert not found.answers(np.array([1e9])).any()
    assert found.sentence == (
        "No threshold was found at which at most 10 % of the answered rows are wrong: no row is "
        "answered."
    )


def test_no_rows_at_all_answer_nothing():
    none = np.zeros(0, bool)
    for risk in (Risk.error(none), Risk.fpr(none, none), Risk.fdr(none, none)):
        for groups in (None, np.zeros(0, int)):
            found = estimate(risk, np.zeros(0), limit=0.1, groups=groups)
            assert (found.value, found.n, found.answered) == (math.inf, 0, 0)


def test_one_class_alone_has_nothing_to_count_and_answers_nothing():
    ones = np.ones(4, bool)
    assert estimate(Risk.fpr(ones, ones), np.arange(4.0), limit=0.1).value == math.inf
    assert estimate(Risk.fdr(ones, ~ones), np.arange(4.0), limit=0.1).value == math.inf


def test_estimates_tell_what_they_are():
    found = estimate(Risk.error(np.arange(20) < 2), np.arange(20.0), limit=0.05)
    assert found.value == 2  # one wrong row of nineteen is too many, and two of twenty are
    assert found.sentence == (
        "Estimated, not promised: at most 5 % of the answered rows are wrong. "
        "It was 0 % of 18 rows; 90 % of all rows were answered."
    )


@given(labelled(), st.integers(1, 20))
def test_coverage_is_never_less_than_asked_nor_more_than_ties_ask(rows, twentieths):
    score, _, _, weight, _ = rows
    if not weight.sum():
        return
    coverage = Fraction(twentieths, 20)
    found = coverage_threshold(score, float(coverage), sample_weight=weight)
    total = int(weight.sum())
    shares = {v: Fraction(int(weight[score >= v].sum()), total) for v in set(score)}
    if coverage == 1:
        assert (found.value, found.answered) == (-math.inf, 1)
    else:
        assert found.value == max(v for v, share in shares.items() if share >= coverage)
        assert found.answered == pytest.approx(float(shares[found.value]))


def test_coverage_does_not_suffer_from_rounding():
    for n in (10, 100, 1000):
        for percent in range(1, 100):
            found = coverage_threshold(np.arange(n), percent / 100)
            assert found.value == n - -(n * percent // -100)


def test_coverage_tells_what_it_is():
    found = coverage_threshold(np.arange(1000), 0.8)
    assert (found.kind, found.risk, found.observed) == ("estimate", "coverage", 0.8)
    assert found.sentence == (
        "Estimated, not promised: 80 % of all rows are answered. It was 80 % of 1,000 rows."
    )


def test_all_tied_rows_are_answered_together():
    assert coverage_threshold(np.ones(9), 0.1).answered == 1
    assert estimate(Risk.error(np.arange(9) < 3), np.ones(9), limit=0.3).value == math.inf
    assert estimate(Risk.error(np.arange(9) < 3), np.ones(9), limit=0.4).value == -math.inf


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ({"limit": 0}, "limit=0 cannot be kept to"),
        ({"limit": 1.0}, "limit=1.0 cannot be kept to"),
        ({"limit": math.nan}, "limit=nan cannot be kept to"),
        ({"limit": 0.1, "score": [1.0, math.nan, 2.0]}, "score is nan in 1 rows"),
        ({"limit": 0.1, "score": [1.0, 2.0]}, r"score has shape \(2,\), the risk has 3 rows"),
        ({"limit": 0.1, "sample_weight": [1, -1, 1]}, "sample_weight has shape"),
        ({"limit": 0.1, "groups": [1, 2]}, r"groups has shape \(2,\), score has 3 rows"),
    ],
)
def test_estimates_refuse_with_a_sentence(arguments, sentence):
    risk = Risk.error(np.zeros(3, bool))
    with pytest.raises(ValueError, match=sentence):
        estimate(risk, arguments.pop("score", [1.0, 2.0, 3.0]), **arguments)


@pytest.mark.parametrize("coverage", [0, -0.1, 1.1, math.nan])
def test_coverage_has_to_be_a_share(coverage):
    with pytest.raises(ValueError, match="is no share of rows to answer"):
        coverage_threshold(np.arange(4), coverage)


def test_coverage_needs_a_row():
    with pytest.raises(ValueError, match="There are no rows"):
        coverage_threshold(np.zeros(0), 0.5)


def test_risks_are_told_by_true_and_false():
    with pytest.raises(ValueError, match=r"wrong has shape \(3,\) and dtype int64"):
        Risk.error(np.arange(3))
    with pytest.raises(ValueError, match="is_positive has 3 rows, called_positive has 4"):
        Risk.fpr(np.ones(3, bool), np.ones(4, bool))
