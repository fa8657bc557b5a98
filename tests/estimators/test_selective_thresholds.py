"""Thresholds that are estimated: against naive loops, and what may be asked for."""

import math

import numpy as np
import pytest
from noisy_classes import noisy_classes
from sklearn.exceptions import NotFittedError

from elmband import ELMSelectiveClassifier

TRAIN = {k: noisy_classes(400, 0, k) for k in (2, 3)}
FAR = np.array([[40.0, 40.0], [-40.0, 10.0]])
WEIGHTS = np.random.default_rng(1).uniform(0.5, 2, size=400)


def selective(k=2, s=None, **wish):
    model = ELMSelectiveClassifier(30, noise="squared", random_state=0, **wish)
    return model.fit(TRAIN[k].X, TRAIN[k].y, s)


@pytest.fixture(scope="module", params=[(2, None), (3, None), (2, WEIGHTS), (3, WEIGHTS)])
def undecided(request):
    """Return a model that nothing was asked of, of two or three classes, weighted or not."""
    k, s = request.param
    return selective(k, s, pos_label=k - 1)


def left_out(model):
    """Return what is known of training rows left out, as plain arrays."""
    score, called, true, s, _ = model.fitted_.deciding.left_out
    return score, called.astype(int), true.astype(int), np.ones(400) if s is None else s


def loosest(score, bad, counted, s, limit, *, answered_only):
    """Try every threshold, and return the loosest that keeps to the limit."""
    found = math.inf
    for threshold in sorted(set(score.tolist()), reverse=True):
        answered = score >= threshold
        n = s[counted & answered].sum() if answered_only else s[counted].sum()
        if n > 0 and s[bad & answered].sum() <= limit * n + 1e-9:
            found = threshold
    return found


def naive(model, wish, value, *, per_class):
    """Return which training rows are answered, by definition."""
    score, called, true, s = left_out(model)
    positive = len(model.classes_) - 1
    if wish == "max_error":
        parts = [called == k for k in set(called)] if per_class else [np.ones(400, dtype=bool)]
        accepted = np.zeros(400, dtype=bool)
        for part in parts:
            rows = score[part], (called != true)[part], np.ones(part.sum(), dtype=bool), s[part]
            accepted |= part & (score >= loosest(*rows, value, answered_only=True))
        return accepted
    bad = (called == positive) & (true != positive)
    if per_class:
        score = np.where(called == positive, score, -math.inf)
    if wish == "max_fpr":
        least = loosest(score, bad, true != positive, s, value, answered_only=False)
    else:
        least = loosest(score, bad, called == positive, s, 1 - value, answered_only=True)
    return (score >= least) | (per_class & (called != positive))


WISHES = [
    ("max_error", 0.05),
    ("max_error", 0.15),
    ("max_fpr", 0.02),
    ("max_fpr", 0.05),
    ("min_precision", 0.9),
    ("min_precision", 0.97),
]


@pytest.mark.one_quick
@pytest.mark.parametrize("per_class", [False, True])
@pytest.mark.parametrize(("wish", "value"), WISHES)
def test_as_many_rows_are_answered_as_the_limit_allows(undecided, wish, value, per_class):
    model = undecided.choose(**{wish: value}, per_class=per_class)
    score, called, _, s = left_out(model)
    expected = naive(model, wish, value, per_class=per_class)
    accepted = model.fitted_.deciding.thresholds.accepted(score, called)
    np.testing.assert_array_equal(accepted, expected)
    assert 0 < accepted.sum() < 400
    for threshold in model.thresholds_.values():
        if threshold is not None:
            assert threshold.kind == "estimate"
            assert threshold.answered == pytest.approx(s[accepted].sum() / s.sum())
            assert threshold.observed <= threshold.limit + 1e-9


def test_one_sided_thresholds_per_class_always_answer_the_others(undecided):
    model = undecided.choose(max_fpr=0.01, per_class=True)
    *others, positive = model.thresholds_.values()
    assert others == [None] * (len(model.classes_) - 1)
    assert math.isfinite(positive.value)
    X = TRAIN[len(model.classes_)].X
    assert model.accept(X)[model.predict(X) != model.classes_[-1]].all()
    assert model.statement_.splitlines()[0] == "Rows called 0: Always answered."


@pytest.mark.parametrize("share", [0.1, 0.5, 0.83])
def test_a_coverage_is_exact_on_training_rows_left_out(share):
    model = selective(coverage=share)
    score, called, *_ = left_out(model)
    accepted = model.fitted_.deciding.thresholds.accepted(score, called)
    assert accepted.sum() == math.ceil(400 * share)
    assert score[accepted].min() > score[~accepted].max()
    model.choose(coverage=share, per_class=True)
    accepted = model.fitted_.deciding.thresholds.accepted(score, called)
    for place in (0, 1):
        count = (called == place).sum()
        assert accepted[called == place].sum() == math.ceil(count * share)


def test_rows_that_tie_are_answered_together():
    rows = noisy_classes(60, 5)
    # Copies are one row with the weight of all.
    X, y = np.repeat(rows.X, 4, axis=0), np.repeat(rows.y, 4)
    model = ELMSelectiveClassifier(20, coverage=0.51, random_state=0).fit(X, y)
    score, called, *_ = model.fitted_.deciding.left_out
    accepted = model.fitted_.deciding.thresholds.accepted(score, called)
    assert accepted.sum() == math.ceil(0.51 * 60)


@pytest.mark.parametrize("rule", ["probability", "interval", "margin", "model"])
def test_a_coverage_of_one_answers_every_row_however_odd(rule):
    model = selective(coverage=1.0, rank_by=rule)
    assert model.accept(np.concatenate([TRAIN[2].X, FAR])).all()
    assert model.choose(coverage=1, per_class=True).accept(FAR).all()


@pytest.mark.slow
@pytest.mark.parametrize("parameters", [{}, {"noise": "squared"}], ids=["log", "squared"])
def test_about_as_many_new_rows_are_answered_as_asked_for(parameters):
    shares = []
    for seed in range(6):
        train, test = noisy_classes(500, 30 + seed), noisy_classes(4000, 40 + seed)
        model = ELMSelectiveClassifier(30, **parameters, random_state=seed).fit(train.X, train.y)
        asked = (0.1, 0.5, 0.9)
        shares.append([model.choose(coverage=c).accept(test.X).mean() for c in asked])
    # The mean of six quantiles of 500 rows has a standard error of 0.9 % at most.
    np.testing.assert_allclose(np.mean(shares, axis=0), asked, atol=0.03)


@pytest.mark.slow
def test_about_as_many_new_answers_are_wrong_as_allowed():
    found = []
    for seed in range(6):
        train, test = noisy_classes(500, 30 + seed), noisy_classes(4000, 40 + seed)
        model = ELMSelectiveClassifier(30, max_error=0.1, random_state=seed).fit(train.X, train.y)
        found.append(model.evaluate(test.X, test.y).error)
    # Chosen as the loosest of all thresholds the estimate is optimistic, by its standard error:
    # some 250 rows are answered, of which a tenth is wrong.
    assert 0.07 < np.mean(found) < 0.13


REQUESTS = [
    {"coverage": 0.3},
    {"coverage": 0.3, "per_class": True},
    {"max_error": 0.05},
    {"max_fpr": 0.02, "pos_label": 0},
    {"min_precision": 0.9, "per_class": True},
]


@pytest.mark.one_quick
@pytest.mark.parametrize("asked", REQUESTS, ids=str)
def test_to_choose_is_to_fit_with_that_request(asked):
    chosen = selective(max_error=0.2).choose(**asked)
    fitted = selective(**asked)
    assert chosen.thresholds_ == fitted.thresholds_
    assert chosen.statement_ == fitted.statement_
    assert chosen.get_params() == fitted.get_params()
    new = noisy_classes(200, 7).X
    for mine, theirs in zip(chosen.triage(new), fitted.triage(new), strict=True):
        np.testing.assert_array_equal(mine, theirs)


@pytest.mark.one_quick
@pytest.mark.parametrize(
    ("asked", "sentence"),
    [
        ({"coverage": 0.5, "max_error": 0.1}, "coverage and max_error are asked for at once; ask"),
        ({"coverage": 0}, "coverage must be a share between 0 and 1; got 0"),
        ({"coverage": 1.1}, "coverage must be a share between 0 and 1; got 1.1"),
        ({"coverage": 30}, "Did you mean 0.3"),
        ({"max_error": 1}, "max_error must be a share between 0 and 1; got 1"),
        ({"max_error": "0.1"}, "max_error must be a share between 0 and 1; got '0.1'"),
        ({"max_error": True}, "max_error must be a share"),
        ({"max_error": math.nan}, "max_error must be a share"),
        ({"min_precision": 1.0}, "min_precision must be a share"),
        ({"max_fpr": 0.1, "pos_label": 7}, "pos_label=7 is none of the classes 0, 1"),
        ({"coverage": 0.1, "pos_label": "yes"}, "pos_label='yes' is none of the classes 0, 1"),
    ],
    ids=str,
)
def test_what_cannot_be_asked_for_is_refused_in_a_sentence(asked, sentence):
    with pytest.raises(ValueError, match=sentence):
        selective(**asked)
    model = selective(coverage=0.4)
    before = model.get_params(), model.thresholds_
    with pytest.raises(ValueError, match=sentence):
        model.choose(**asked)
    # A refusal leaves the model as it was.
    assert (model.get_params(), model.thresholds_) == before


def test_a_wrong_request_is_refused_before_anything_is_fitted(monkeypatch):
    def fit(*_, **__):
        raise AssertionError

    monkeypatch.setattr("elmband.estimators._fit_layer.fit_mean", fit)
    for wrong in ({"max_error": 2}, {"pos_label": 5}, {"rank_by": "luck"}):
        with pytest.raises(ValueError, match=r"must be|none of the classes"):
            selective(**wrong)


def test_an_unknown_rule_is_refused_in_a_sentence():
    with pytest.raises(ValueError, match="rank_by must be 'probability' or 'interval' or"):
        selective(rank_by="luck")


@pytest.mark.parametrize("wish", ["max_fpr", "min_precision"])
def test_of_three_classes_one_must_be_named_positive(wish):
    with pytest.raises(ValueError, match=f"{wish} needs pos_label, the class whose false answers"):
        selective(3, **{wish: 0.1})
    model = selective(3)
    with pytest.raises(ValueError, match=f"{wish} needs pos_label"):
        model.choose(**{wish: 0.1})
    assert "answered as 2" in model.choose(**{wish: 0.1}, pos_label=2).statement_


def test_several_labels_a_row_are_refused():
    with pytest.raises(ValueError, match="y has 2 labels a row, each of them a decision"):
        ELMSelectiveClassifier(10).fit(TRAIN[2].X, np.column_stack([TRAIN[2].y, 1 - TRAIN[2].y]))


def test_without_a_request_there_are_labels_and_confidence_and_nothing_else():
    model, (X, y, _) = selective(), TRAIN[2]
    assert model.confidence(X).shape == model.predict(X).shape == (400,)
    for call in (model.accept, model.triage, lambda X: model.evaluate(X, y)):
        with pytest.raises(ValueError, match=r"Nothing says which rows to answer: ask for a cov"):
            call(X)
    for name in ("statement_", "thresholds_"):
        # Tools that look for attributes find none.
        assert not hasattr(model, name)
        with pytest.raises(AttributeError, match="Nothing says which rows to answer"):
            getattr(model, name)
    with pytest.raises(ValueError, match="choose needs one of coverage, max_error, max_fpr"):
        model.choose(per_class=True)
    assert not model.has_thresholds
    assert model.choose(coverage=0.5).has_thresholds


def test_before_fit_everything_asks_for_it():
    model, (X, y, _) = ELMSelectiveClassifier(coverage=0.5), TRAIN[2]
    calls = (model.accept, model.triage, model.confidence, model.predict)
    pairs = (model.evaluate, model.calibrate)
    for call in (*(lambda c=c: c(X) for c in calls), *(lambda c=c: c(X, y) for c in pairs)):
        with pytest.raises(NotFittedError):
            call()
    with pytest.raises(NotFittedError):
        model.choose(coverage=0.1)
    assert not hasattr(model, "statement_")


def test_where_no_threshold_keeps_to_the_limit_no_row_is_answered():
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((300, 2)), rng.integers(2, size=300)
    model = ELMSelectiveClassifier(10, max_error=0.001, rank_by="margin", random_state=0).fit(X, y)
    assert model.statement_.startswith("No threshold was found at which at most 0.1 % of the ans")
    assert not model.accept(X).any()
    found = model.triage(X)
    assert "accepted" not in found.reason
    assert model.evaluate(X, y).answered == 0


def test_statements_say_whose_rows_they_are_about():
    text = selective(3, max_error=0.2, per_class=True).statement_.splitlines()
    assert [line.split(" are wrong")[0] for line in text] == [
        f"Rows called {k}: Estimated, not promised: at most 20 % of the rows answered as {k}"
        for k in range(3)
    ]
    assert len({line.rsplit(";", 1)[1] for line in text}) == 1
    one = selective(3, max_error=0.2).statement_
    assert one.startswith("Estimated, not promised: at most 20 % of the answered rows are wrong.")


def test_a_class_that_no_row_was_called():
    rows = noisy_classes(300, 3)
    y = np.where(np.arange(300) == 0, 2, rows.y)
    model = ELMSelectiveClassifier(20, coverage=0.5, per_class=True, random_state=0)
    model.fit(rows.X, y)
    assert model.thresholds_[2] is None
    model.choose(max_error=0.1)
    # No row tells how often it would be wrong.
    assert model.thresholds_[2].value == math.inf
