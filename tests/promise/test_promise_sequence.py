import itertools
import math
import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binom
from simulated import CURVES, grid_of, rows, tried

from elmband.uncertainty.promise import Grid, Risk, promise
from elmband.uncertainty.promise.bounds import rows_needed
from elmband.uncertainty.promise.held_out import pilot_groups
from elmband.uncertainty.promise.sequence import _walk

KINDS = ["error", "fpr", "fdr"]


class Told:
    """Evidence with a p-value that was told beforehand."""

    n = 1
    observed = 0.0

    def __init__(self, p):
        self.p = p

    def p_value(self, limit):  # noqa: ARG002
        return self.p


@given(
    st.lists(st.sampled_from([0.001, 0.03, 0.06, 0.09, 0.2]), min_size=1, max_size=12), st.data()
)
def test_tests_go_on_from_their_start_until_one_fails(p, data):
    start = data.draw(st.integers(0, len(p) - 1))
    told = [Told(value) for value in p]
    walk = _walk(iter(told), start, 0.1, 0.08)
    passing = list(itertools.takewhile(lambda value: value <= 0.08, p[start:]))
    assert walk.first is told[start]
    assert (walk.last and walk.last.place) == (start + len(passing) - 1 if passing else None)


def naive_fpr(truly, called, score, grid, limit, delta):
    """Walk the grid while the binomial tail is small enough."""
    best = None
    for value in grid.thresholds:
        bad = int(np.sum(called & ~truly & (score >= value)))
        if binom.cdf(bad, int(np.sum(~truly)), limit) > delta:
            break
        best = (value, bad / np.sum(~truly))
    return best


def test_false_positive_rates_walk_from_the_strictest_threshold():
    rng = np.random.default_rng(6)
    grid = Grid.of(rng.normal(size=300), rng.random(300) < 0.1, size=50)
    for _ in range(50):
        score = rng.normal(size=400).round(1)
        truly, called = rng.random(400) < 0.3, rng.random(400) < 0.4
        found = promise(Risk.fpr(truly, called), score, grid, limit=0.1, confidence=0.95)
        value, observed = naive_fpr(truly, called, score, grid, 0.1, 0.05)
        assert (found.value, found.observed) == (value, pytest.approx(observed))
        assert found.n == np.sum(~truly)
        assert found.answered == np.mean(score >= value)


def test_promises_say_what_was_seen_at_their_threshold():
    rng = np.random.default_rng(7)
    score, wrong = rows(rng, 3000, CURVES["rising"])
    groups = rng.integers(0, 400, 3000)
    grid = grid_of(rng, 500, CURVES["rising"])
    by_rows = promise(Risk.error(wrong), score, grid, limit=0.05)
    answered = score >= by_rows.value
    assert (by_rows.n, by_rows.observed) == (answered.sum(), pytest.approx(wrong[answered].mean()))
    np.testing.assert_array_equal(by_rows.answers(score), answered)
    by_groups = promise(Risk.error(wrong), score, grid, limit=0.05, groups=groups)
    pilots = pilot_groups(np.unique(groups))
    assert len(pilots) == 49
    answered = (score >= by_groups.value) & ~np.isin(groups, pilots)
    rates = [wrong[answered & (groups == g)].mean() for g in set(groups[answered])]
    assert (by_groups.n, by_groups.observed) == (len(rates), pytest.approx(np.mean(rates)))
    for found in (by_rows, by_groups):
        assert found.observed < found.bound <= 0.05


def test_promises_made_together_share_what_may_go_wrong():
    rng = np.random.default_rng(10)
    score, wrong = rows(rng, 2000, CURVES["rising"])
    grid = grid_of(rng, 500, CURVES["rising"])
    three = promise(Risk.error(wrong), score, grid, limit=0.08, confidence=0.7, together=3)
    alone = promise(Risk.error(wrong), score, grid, limit=0.08, confidence=0.9)
    assert (three.value, three.bound) == (alone.value, pytest.approx(alone.bound))
    assert three.sentence.startswith("Promised with 70 % confidence, together with 2 others: ")


def test_rows_may_come_in_any_order_and_groups_have_any_names_in_their_order():
    rng = np.random.default_rng(11)
    score, wrong = rows(rng, 3000, CURVES["rising"])
    groups, order = rng.integers(0, 300, 3000), rng.permutation(3000)
    grid = grid_of(rng, 500, CURVES["rising"])
    names = np.array([f"photo {g:03}" for g in groups])
    one = promise(Risk.error(wrong), score, grid, limit=0.1, groups=groups)
    shuffled = Risk.error(wrong[order])
    assert promise(shuffled, score[order], grid, limit=0.1, groups=names[order]) == one


def test_every_row_is_answered_if_none_is_wrong():
    found = promise(
        Risk.error(np.zeros(45, bool)),
        np.ones(45),
        Grid.of(np.ones(9), np.zeros(9, bool)),
        limit=0.05,
    )
    assert (found.value, found.answered, found.observed) == (-math.inf, 1, 0)
    assert found.bound == pytest.approx(1 - 0.1 ** (1 / 45))
    assert found.sentence == (
        "Promised with 90 % confidence: at most 5 % of the answered rows are wrong. It was 0 % of "
        "45 rows held out, which bounds it by 4.99 %; 100 % of all rows were answered."
    )


def test_sentences_name_the_denominator():
    truly, called, score = np.zeros(200, bool), np.arange(200) < 1, np.ones(200)
    grid = Grid.of(np.ones(9), np.zeros(9, bool))
    fpr = promise(Risk.fpr(truly, called, "spam"), score, grid, limit=0.1, together=2)
    assert fpr.sentence == (
        "Promised with 90 % confidence, together with 1 other: at most 10 % of the rows that are "
        "truly not spam, answered or not, are answered as spam. It was 0.5 % of 200 rows held out, "
        "which bounds it by 2.35 %; 100 % of all rows were answered."
    )
    risk = Risk.fdr(~truly, ~truly, "spam")
    fdr = promise(risk, score, grid, limit=0.1, groups=np.arange(200) // 2)
    assert fdr.sentence == (
        "Promised with 90 % confidence: at most 10 % of the rows answered as spam are truly not "
        "spam in the average group. It was 0 % over 88 groups held out, which bounds it by "
        f"{100 * fdr.bound:.3g} %; 100 % of all rows were answered."
    )


def refusal(*arguments, **options):
    with pytest.raises(ValueError, match="It cannot be promised") as caught:
        promise(*arguments, **options)
    return str(caught.value)


def test_too_few_rows_are_told_how_many_it_takes():
    said = refusal(
        Risk.error(np.zeros(44, bool)),
        np.ones(44),
        Grid.of(np.ones(9), np.zeros(9, bool)),
        limit=0.05,
    )
    assert said == (
        "It cannot be promised with 90 % confidence that at most 5 % of the answered rows are "
        "wrong: the share has to be that of at least 45 rows held out, even if none is bad, and "
        "there are 44, which can promise 5.1 % at the least; hold out more rows, or ask for a "
        "higher limit or less confidence."
    )
    few = np.zeros(100, bool)
    said = refusal(
        Risk.error(few),
        np.ones(100),
        Grid.of(np.ones(9), np.zeros(9, bool)),
        limit=0.05,
        groups=np.arange(100) // 5,
    )
    assert "at least 48 groups held out, even if none is bad, and there are 20, which can " in said
    assert "can promise 11.4 % at the least" in said


def test_exactly_the_rows_or_groups_said_to_be_needed_are_enough():
    for limit in (0.02, 0.1):
        n = rows_needed(limit, 0.1)
        good, grid = np.zeros(n, bool), Grid.of(np.arange(9), np.zeros(9, bool))
        assert promise(Risk.error(good), np.ones(n), grid, limit=limit).answered == 1
        assert refusal(Risk.error(good[1:]), np.ones(n - 1), grid, limit=limit)


def test_rows_that_are_wrong_too_often_are_told_what_was_seen():
    wrong, grid = np.arange(200) % 5 == 0, Grid.of(np.ones(9), np.zeros(9, bool))
    said = refusal(Risk.error(wrong), np.ones(200), grid, limit=0.1)
    assert said == (
        "It cannot be promised with 90 % confidence that at most 10 % of the answered rows are "
        "wrong: at the threshold where tests began, which answers 100 % of all rows, it was 20 % "
        "of 200 rows held out, which bounds it only by 24.1 %. That is no less than the limit, so "
        "that more rows alone would not help. Ask for a higher limit or less confidence, or hold "
        "out more rows: new ones, since a promise that is tried for again and again on the same "
        "ones holds less surely than it says."
    )


@pytest.mark.parametrize("grouped", [False, True])
def test_as_many_rows_or_groups_as_a_refusal_says_are_enough_if_the_risk_stays(grouped):
    grid, wrong = Grid.of(np.ones(9), np.zeros(9, bool)), np.arange(100) % 25 == 0
    groups = np.arange(100) if grouped else None
    said = refusal(Risk.error(wrong), np.ones(100), grid, limit=0.05, groups=groups)
    (n,) = re.findall(r"it takes some ([\d,]+) (?:rows|groups) held out", said)
    n = int(n.replace(",", ""))
    assert n > 300
    more, ones = np.arange(2 * n) % 25 == 0, np.ones(2 * n)
    for times, enough in [(0.5, False), (1.2, True)]:
        k = int(times * n)
        names = np.arange(k) if grouped else None
        # The groups that are looked at first are no evidence, which is why it takes some more.
        made = tried(Risk.error(more[:k]), ones[:k], grid, limit=0.05, groups=names)
        assert (made is not None) is enough


def test_a_limit_that_was_called_the_least_is_the_least_one():
    grid, good = Grid.of(np.ones(9), np.zeros(9, bool)), np.zeros(30, bool)
    for groups, least in [(None, 0.0739), (np.arange(30), 0.0775)]:
        assert tried(Risk.error(good), np.ones(30), grid, limit=least, groups=groups)
        said = refusal(Risk.error(good), np.ones(30), grid, limit=least - 1e-4, groups=groups)
        assert f"there are 30, which can promise {100 * least:.3g} % at the least" in said


def test_a_common_factor_of_weights_changes_nothing():
    """Fifteen rows are fifteen rows, whatever each of them weighs."""
    rng = np.random.default_rng(12)
    score, wrong = rows(rng, 1500, CURVES["rising"])
    grid = grid_of(rng, 500, CURVES["rising"])
    for s in (np.ones(1500), rng.uniform(0.5, 1.5, 1500)):
        one = promise(Risk.error(wrong), score, grid, limit=0.1, sample_weight=s)
        ten = promise(Risk.error(wrong), score, grid, limit=0.1, sample_weight=10 * s)
        assert (one.value, one.sentence) == (ten.value, ten.sentence)
    few = Risk.error(np.zeros(15, bool)), np.ones(15), grid
    assert "and there are 15," in refusal(*few, limit=0.01, sample_weight=np.full(15, 10.0))


@pytest.mark.parametrize("grouped", [False, True])
def test_a_row_of_weight_zero_might_as_well_not_be_there(grouped):
    rng = np.random.default_rng(13)
    score, wrong = rows(rng, 1500, CURVES["rising"])
    groups, s = rng.integers(0, 300, 1500), rng.integers(0, 3, 1500).astype(float)
    grid, there = grid_of(rng, 500, CURVES["rising"]), s > 0
    options = {"limit": 0.12, "sample_weight": s}
    fewer = options | {"sample_weight": s[there]}
    if grouped:
        options |= {"groups": groups}
        fewer |= {"groups": groups[there]}
    one = promise(Risk.error(wrong), score, grid, **options)
    assert promise(Risk.error(wrong[there]), score[there], grid, **fewer) == one


def test_weights_count_in_shares_and_cost_rows():
    rng = np.random.default_rng(14)
    score, wrong = rows(rng, 3000, CURVES["rising"])
    s = rng.integers(1, 5, 3000).astype(float)
    found = promise(
        Risk.error(wrong), score, grid_of(rng, 500, CURVES["rising"]), limit=0.1, sample_weight=s
    )
    mine = score >= found.value
    assert found.observed == pytest.approx(np.average(wrong[mine], weights=s[mine]))
    assert found.n == pytest.approx(s[mine].sum() ** 2 / np.sum(s[mine] ** 2))
    assert found.answered == pytest.approx(s[mine].sum() / s.sum())


def test_thresholds_that_answer_no_row_are_no_evidence():
    """All held-out scores are below those of the grid, so that only the last one answers any."""
    wrong = np.arange(30) < 20
    said = refusal(
        Risk.error(wrong), np.zeros(30), Grid.of(np.arange(1, 9), np.zeros(8, bool)), limit=0.1
    )
    assert "it was that of no rows held out, which bounds it only by 100 %" in said


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("grouped", [False, True])
def test_no_rows_and_one_class_are_too_few(kind, grouped):
    for n in (0, 40):
        ones = np.ones(n, bool)
        risk = {
            "error": Risk.error(ones[:0]),
            "fpr": Risk.fpr(ones, ones),
            "fdr": Risk.fdr(ones, ~ones),
        }[kind]
        score = np.arange(len(risk.bad), dtype=float)
        groups = np.arange(len(score)) if grouped else None
        assert "there are 0;" in refusal(
            risk, score, Grid.of(score, np.zeros(len(score), bool)), limit=0.1, groups=groups
        )


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ({"limit": 0}, "limit=0 cannot be kept to; give a share"),
        ({"limit": 1}, "limit=1 cannot be kept to; give a share"),
        ({"confidence": 0}, "confidence=0 cannot be had; give a probability"),
        ({"confidence": 1.0}, r"confidence=1\.0 cannot be had; give a probability"),
        ({"confidence": 95}, "confidence=95 cannot be had; give a probability"),
        ({"together": 0}, "together=0 is not a number of promises"),
        ({"groups": np.zeros((50, 1))}, r"groups has shape \(50, 1\), score has 50 rows"),
        ({"score": np.full(50, np.nan)}, "score is nan in 50 rows; leave these rows out"),
        ({"score": np.zeros((50, 2))}, r"score has shape \(50, 2\), the risk has 50 rows"),
    ],
)
def test_promises_refuse_with_a_sentence(arguments, sentence):
    options = {"score": np.zeros(50), "limit": 0.1} | arguments
    with pytest.raises(ValueError, match=sentence):
        promise(
            Risk.error(np.zeros(50, bool)), options.pop("score"), Grid.of([0.0], [False]), **options
        )
