"""How certain a row is, by naive loops; the judge that learns it from rows left out."""

import numpy as np
import pytest
from scipy.special import expit

from elmband.uncertainty.confidence import RULES, Answer, Confidence, Judge

RNG = np.random.default_rng(0)


def drawn(n, m, seed=0):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, m)), *(rng.uniform(0.1, 1, size=(n, m)) for _ in range(2))


def leads(decision, *variances):
    """Return class, lead over the next class and variances of the lead, row by row."""
    for i, row in enumerate(decision):
        best = max(range(len(row)), key=lambda k: row[k])
        others = [k for k in range(len(row)) if k != best]
        following = max(others, key=lambda k: row[k])
        yield best, row[best] - row[following], *(v[i, best] + v[i, following] for v in variances)


@pytest.mark.parametrize("m", [3, 4, 7])
def test_many_classes_are_told_apart_by_the_lead_over_the_next_one(m):
    decision, *variances = drawn(200, m)
    expected = np.array(list(leads(decision, *variances)))
    answer = Answer.of(decision, *variances)
    np.testing.assert_array_equal(answer.place, expected[:, 0])
    np.testing.assert_allclose(np.array(answer[1:4]).T, expected[:, 1:])
    assert not answer.side.any()


def test_two_classes_are_told_apart_by_the_sign_of_one_decision():
    decision, *variances = drawn(50, 1)
    answer = Answer.of(decision, *variances)
    np.testing.assert_array_equal(answer.place, decision[:, 0] > 0)
    np.testing.assert_array_equal(answer.margin, np.abs(decision[:, 0]))
    np.testing.assert_array_equal(answer.side, np.sign(decision[:, 0]))
    for mine, theirs in zip(answer[2:4], variances, strict=True):
        np.testing.assert_array_equal(mine, theirs[:, 0])


def test_of_equal_decisions_the_first_class_is_taken_and_leads_by_nothing():
    decision = np.array([[1.0, 1.0, 0.0], [0.0, 1.0, 1.0], [2.0, 2.0, 2.0], [-1.0, 0.0, -1.0]])
    answer = Answer.of(decision, *[np.ones((4, 3))] * 2)
    assert answer.place.tolist() == np.argmax(decision, axis=1).tolist() == [0, 1, 0, 1]
    assert answer.margin.tolist() == [0.0, 0.0, 0.0, 1.0]


@pytest.mark.parametrize("m", [1, 3])
def test_rules_divide_the_margin_by_what_they_say(m):
    answer = Answer.of(*drawn(100, m))
    ratio = answer.margin / np.sqrt(answer.noise + answer.model)
    np.testing.assert_allclose(Confidence("interval")(answer), ratio)
    np.testing.assert_array_equal(Confidence("margin")(answer), answer.margin)
    np.testing.assert_allclose(Confidence("model")(answer), answer.margin / np.sqrt(answer.model))
    # Where there was nothing to learn it is what Cantelli's inequality says: P(t < 0).
    np.testing.assert_allclose(Confidence("probability")(answer), 1 - 1 / (1 + ratio**2))


@pytest.mark.parametrize("rule", RULES)
def test_no_variance_at_all_is_no_reason_to_fail(rule):
    zero = np.zeros((2, 1))
    found = Confidence(rule)(Answer.of(np.array([[0.5], [0.0]]), zero, zero))
    assert np.isfinite(found).all()
    assert found[0] > found[1]


def learned(n=4000, seed=0, weights=None):
    """Return rows whose answers are right with a known probability, and a judge of them."""
    answer = Answer.of(*drawn(n, 1, seed))
    truth = expit(0.5 + 2 * answer.margin - 2 * answer.noise)
    right = np.random.default_rng(seed + 1).random(n) < truth
    return (
        answer,
        truth,
        right,
        Judge.fit(answer, right, np.ones(n) if weights is None else weights),
    )


def test_a_judge_learns_the_probability():
    answer, truth, _, judge = learned()
    # Two coefficients of 4,000 rows have standard errors of about 0.05, p at most a quarter of it.
    assert np.abs(judge(answer) - truth).mean() < 0.03


def test_weights_of_rows_are_repetitions_to_a_judge():
    answer, _, right, _ = learned(500)
    s = RNG.integers(1, 4, size=500)
    weighted = Judge.fit(answer, right, s.astype(float))
    rows = np.repeat(np.arange(500), s)
    repeated = Judge.fit(Answer(*(a[rows] for a in answer)), right[rows], np.ones(len(rows)))
    np.testing.assert_allclose(weighted(answer), repeated(answer), rtol=1e-6)


@pytest.mark.parametrize("share", [0.0, 1.0])
def test_there_is_nothing_to_learn_where_all_rows_are_alike(share):
    answer = Answer.of(*drawn(50, 1))
    assert Judge.fit(answer, np.full(50, bool(share)), np.ones(50)) is None


def test_beyond_the_rows_that_taught_it_a_judge_is_no_more_certain():
    answer, _, _, judge = learned()
    largest = judge(answer._replace(margin=np.full(4000, answer.margin.max())))
    for factor in (10, 1e3, 1e6):
        far = judge(answer._replace(margin=factor * (1 + answer.margin)))
        np.testing.assert_allclose(far, largest)
        noisy = judge(answer._replace(noise=factor * answer.noise.max() * np.ones(4000)))
        loudest = judge(answer._replace(noise=np.full(4000, answer.noise.max())))
        np.testing.assert_allclose(noisy, loudest)


def test_a_model_less_certain_than_of_all_others_makes_a_row_less_certain():
    answer, _, _, judge = learned()
    factors = np.array([1.0, 1.5, 10.0, 1e6])
    most = answer.model.max()
    found = [judge(answer._replace(model=np.full(4000, most * f))) for f in factors]
    assert (np.diff(found, axis=0) < 0).all()
    assert found[-1].max() < 1e-10


def test_features_that_are_all_the_same_do_not_count():
    answer = learned()[0]._replace(noise=np.zeros(4000), model=np.full(4000, 0.3))
    right = RNG.random(4000) < expit(2 * answer.margin)
    judge = Judge.fit(answer, right, np.ones(4000))
    assert np.isfinite(judge(answer)).all()
    order = np.argsort(answer.margin)
    assert np.diff(judge(answer)[order]).mean() > 0


def test_with_few_wrong_rows_the_margin_decides():
    answer = Answer.of(*drawn(300, 1))
    right = np.ones(300, dtype=bool)
    right[np.argsort(answer.margin)[:2]] = False
    found = Judge.fit(answer, right, np.ones(300))(answer)
    ranks = np.argsort(np.argsort(found)), np.argsort(np.argsort(answer.margin))
    assert np.corrcoef(*ranks)[0, 1] > 0.9


def test_the_judge_weighs_features_and_their_products():
    """Written out with every product, as it was learned."""
    rng = np.random.default_rng(0)
    n = 400
    side = np.where(rng.random(n) < 0.5, -1.0, 1.0)
    margin, noise, model = rng.gamma(2.0, size=(3, n))
    answer = Answer((side > 0).astype(np.int64), margin, noise, model, side)
    right = rng.random(n) < 1 - np.exp(-1 - margin)
    judge = Judge.fit(answer, right, np.ones(n))
    wild = answer._replace(margin=3 * margin, model=10 * model)
    columns = [wild.margin, np.log(wild.noise + 0.05), np.log(wild.model) / 2, wild.side]
    basic = np.stack(columns, axis=1)
    x = np.clip(basic, judge.low, judge.high)
    products = [x[:, i] * x[:, j] for i in range(4) for j in range(i, 4)]
    features = np.column_stack([x, *products])
    logit = ((features - judge.centre) / judge.scale) @ judge.coef + judge.intercept
    logit -= 10 * np.maximum(basic[:, 2] - judge.high[2], 0)
    np.testing.assert_allclose(judge(wild), 1 / (1 + np.exp(-logit)), rtol=1e-10)
    assert (basic > judge.high).any()
