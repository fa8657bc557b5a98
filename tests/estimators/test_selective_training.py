"""Training of a classifier that abstains: weights, growing, files, and scikit-learn's tools."""

import pickle

import numpy as np
import pytest
from noisy_classes import noisy_classes
from sklearn.base import clone
from sklearn.metrics import make_scorer
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler

from elmband import ELMSelectiveClassifier, load, merge, scan
from elmband.estimators import _scans
from elmband.metrics import aurc

TRAIN, TEST = noisy_classes(400, 0), noisy_classes(1500, 1)
KINDS = {"log": {}, "squared": {"noise": "squared"}}


def selective(**parameters):
    return ELMSelectiveClassifier(30, **{"random_state": 0, "coverage": 0.5, **parameters})


def assert_same_answers(one, other, rtol=1e-6):
    found, expected = one.triage(TEST.X), other.triage(TEST.X)
    np.testing.assert_array_equal(found.label, expected.label)
    np.testing.assert_allclose(found.confidence, expected.confidence, rtol=rtol)
    np.testing.assert_array_equal(found.reason, expected.reason)


@pytest.mark.parametrize("asked", [{"coverage": 0.4}, {"max_error": 0.1, "per_class": True}])
@pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS)
def test_weights_of_rows_are_repetitions(kind, asked):
    X, y, s = TRAIN.X[:200], TRAIN.y[:200], np.random.default_rng(0).integers(0, 4, size=200)
    parameters = {"alpha": 0.1, "coverage": None, **kind, **asked}
    weighted = selective(**parameters).fit(X, y, s.astype(float))
    repeated = selective(**parameters).fit(np.repeat(X, s, axis=0), np.repeat(y, s))
    assert_same_answers(weighted, repeated)
    for mine, theirs in zip(
        weighted.thresholds_.values(), repeated.thresholds_.values(), strict=True
    ):
        assert mine.value == pytest.approx(theirs.value)
        assert mine.answered == pytest.approx(theirs.answered)
        # Repetitions are more rows, weights are not.
        assert mine.n == pytest.approx(theirs.n)


@pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS)
def test_weights_of_classes_are_weights_of_their_rows(kind):
    weights = {0: 0.25, 1: 1.0}
    classes = selective(class_weight=weights, **kind).fit(TRAIN.X, TRAIN.y)
    rows = selective(**kind).fit(TRAIN.X, TRAIN.y, np.where(TRAIN.y == 1, 1.0, 0.25))
    assert_same_answers(classes, rows)
    plain = selective(**kind).fit(TRAIN.X, TRAIN.y)
    assert classes.predict(TEST.X).mean() > plain.predict(TEST.X).mean()
    # A share of rows as weighted: those of the second class count four times.
    score, called, true, s, _ = classes.fitted_.deciding.left_out
    accepted = classes.fitted_.deciding.thresholds.accepted(score, called)
    expected = np.where(true == 1, 1.0, 0.25)
    np.testing.assert_allclose(s, expected / expected.mean())
    assert 0.5 <= s @ accepted / s.sum() < 0.5 + 1 / s.sum()


@pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS)
def test_a_scan_gives_the_model_of_its_rows(kind, monkeypatch):
    monkeypatch.setattr(_scans, "_KEPT_BYTES", 0)
    model = selective(alpha=0.1, max_error=0.1, coverage=None, **kind)
    expected = clone(model).fit(TRAIN.X, TRAIN.y)
    model.fit(scan((TRAIN.X, TRAIN.y), chunk_size=130))
    assert_same_answers(model, expected)
    assert model.statement_ == expected.statement_


def test_groups_are_left_out_together():
    rows = noisy_classes(100, 3)
    rng = np.random.default_rng(0)
    X = np.repeat(rows.X, 4, axis=0) + 0.01 * rng.standard_normal((400, 2))
    y, groups = np.repeat(rows.y, 4), np.repeat(np.arange(100), 4)
    alone, grouped = (
        selective(coverage=None, max_error=0.08).fit(X, y, groups=g) for g in (None, groups)
    )
    # Siblings give the class of a row away, so that errors look rarer than they are.
    assert alone.thresholds_[0].answered > grouped.thresholds_[0].answered + 0.1
    test = noisy_classes(3000, 4)
    assert alone.evaluate(test.X, test.y).error > grouped.evaluate(test.X, test.y).error


def growing(**parameters):
    return selective(noise="squared", alpha=0.1, **parameters)


def test_a_model_that_grew_is_refreshed_before_it_decides():
    first, second = slice(0, 150), slice(150, 400)
    model = growing().partial_fit(TRAIN.X[first], TRAIN.y[first])
    model.partial_fit(TRAIN.X[second], TRAIN.y[second])
    assert model.predict(TEST.X).shape == (1500,)
    stale = "older than the mean, to which rows were added; call refresh"
    calls = [
        lambda: model.confidence(TEST.X),
        lambda: model.accept(TEST.X),
        lambda: model.triage(TEST.X),
        lambda: model.evaluate(TEST.X, TEST.y),
        lambda: model.calibrate(TEST.X, TEST.y),
        lambda: model.choose(coverage=0.1),
    ]
    for call in calls:
        with pytest.raises(ValueError, match=stale):
            call()
    with pytest.raises(AttributeError, match=stale):
        _ = model.statement_
    model.refresh(TRAIN.X, TRAIN.y)
    assert 0.4 < model.accept(TEST.X).mean() < 0.6
    assert model.statement_.startswith("Estimated")


@pytest.mark.parametrize("rule", ["probability", "margin"])
def test_rows_added_to_a_fit_give_the_fit_of_all(rule):
    model = growing(rank_by=rule).fit(TRAIN.X, TRAIN.y)
    before = model.confidence(TEST.X)
    empty = model.untrained()
    parts = [
        empty.partial_fit(TRAIN.X[::2], TRAIN.y[::2]),
        model.untrained().partial_fit(TRAIN.X[1::2], TRAIN.y[1::2]),
    ]
    both = merge(*parts)
    with pytest.raises(ValueError, match="call refresh"):
        both.confidence(TEST.X)
    both.refresh(TRAIN.X, TRAIN.y)
    np.testing.assert_allclose(both.confidence(TEST.X), before, rtol=1e-6)


def test_the_fast_mode_refreshes_from_the_rows_it_kept():
    model = growing(mode="fast")
    for part in np.array_split(np.arange(400), 3):
        model.partial_fit(TRAIN.X[part], TRAIN.y[part])
    model.refresh()
    exact = growing().partial_fit(TRAIN.X[:134], TRAIN.y[:134])
    exact.partial_fit(TRAIN.X[134:], TRAIN.y[134:]).refresh(TRAIN.X, TRAIN.y)
    np.testing.assert_allclose(model.predict_proba(TEST.X), exact.predict_proba(TEST.X), atol=1e-6)
    assert 0.4 < model.accept(TEST.X).mean() < 0.6


def test_a_class_that_the_first_rows_lack():
    rows = noisy_classes(600, 3, 3)
    first = rows.y < 2
    model = growing(max_error=0.2, coverage=None, per_class=True)
    model.partial_fit(rows.X[first], rows.y[first], classes=[0, 1, 2])
    model.partial_fit(rows.X[~first], rows.y[~first])
    model.refresh(rows.X, rows.y)
    assert list(model.thresholds_) == [0, 1, 2]
    assert set(model.predict(rows.X)) == {0, 1, 2}
    assert set(model.triage(rows.X).label[model.accept(rows.X)]) == {0, 1, 2}


def test_a_wrong_request_is_refused_by_partial_fit_too():
    with pytest.raises(ValueError, match="max_error must be a share"):
        growing(coverage=None, max_error=3).partial_fit(TRAIN.X, TRAIN.y)


def test_a_promise_ends_with_the_model_it_was_made_for():
    model = growing(coverage=None, max_error=0.1).fit(TRAIN.X, TRAIN.y)
    estimate = model.statement_
    model.calibrate(TEST.X, TEST.y)
    assert model.statement_.startswith("Promised")
    assert model.fit(TRAIN.X, TRAIN.y).statement_ == estimate
    model.calibrate(TEST.X, TEST.y)
    model.partial_fit(TEST.X, TEST.y)
    assert not hasattr(model, "statement_")
    both = (np.concatenate([a, b]) for a, b in zip(TRAIN[:2], TEST[:2], strict=True))
    model.refresh(*both)
    assert model.statement_.startswith("Estimated")
    assert model.choose(max_error=0.2).statement_.startswith("Estimated")


def test_a_fit_that_is_refused_leaves_the_promise():
    model = selective(coverage=None, max_error=0.1).fit(TRAIN.X, TRAIN.y)
    promise = model.calibrate(TEST.X, TEST.y).statement_
    with pytest.raises(ValueError, match="NaN"):
        model.fit(np.full((400, 2), np.nan), TRAIN.y)
    assert model.statement_ == promise
    assert model.choose(max_error=0.1).statement_ == promise


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS)
def test_copies_and_files_answer_alike(kind, tmp_path):
    model = selective(coverage=None, max_error=0.1, per_class=True, **kind)
    names = np.array(["no", "yes"])
    model.fit(TRAIN.X, names[TRAIN.y])
    model.choose(max_error=0.15).calibrate(TEST.X, names[TEST.y], groups=np.arange(1500) // 2)
    copies = [
        pickle.loads(pickle.dumps(model)),  # noqa: S301 - our own bytes
        load(model.save(tmp_path / "model.safetensors")),
    ]
    for again in copies:
        assert again.statement_ == model.statement_
        assert_same_answers(again, model, rtol=1e-12)
        assert again.choose(max_error=0.2).thresholds_ == model.choose(max_error=0.2).thresholds_
        model.choose(max_error=0.15)
    assert clone(model).get_params() == model.get_params()
    assert not hasattr(clone(model), "classes_")


def test_a_pipeline_predicts():
    pipeline = make_pipeline(MinMaxScaler(), selective()).fit(TRAIN.X, TRAIN.y)
    alone = selective().fit(TRAIN.X, TRAIN.y)
    np.testing.assert_array_equal(pipeline.predict(TEST.X), alone.predict(TEST.X))
    rows = pipeline[:-1].transform(TEST.X)
    # Inputs are standardised inside, so another scaler before changes nothing but rounding.
    np.testing.assert_allclose(pipeline[-1].confidence(rows), alone.confidence(TEST.X), rtol=1e-5)


@pytest.mark.slow
def test_a_grid_search_selects_a_rule_by_its_ranking():
    def area(model, X, y):
        return -aurc(y, model.predict(X), model.confidence(X))

    rules = ["margin", "probability"]
    search = GridSearchCV(selective(), {"rank_by": rules}, scoring=area, cv=3)
    search.fit(*noisy_classes(900, 5)[:2])
    assert search.best_params_ == {"rank_by": "probability"}
    search = GridSearchCV(selective(), {"n_neurons": [1, 30]}, cv=3).fit(TRAIN.X, TRAIN.y)
    assert search.best_params_ == {"n_neurons": 30}
    accuracy = make_scorer(lambda y, called: np.mean(y == called))
    np.testing.assert_array_equal(
        cross_val_score(selective(), TRAIN.X, TRAIN.y, cv=3),
        cross_val_score(selective(), TRAIN.X, TRAIN.y, cv=3, scoring=accuracy),
    )


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS)
def test_a_model_does_not_keep_the_training_rows(kind, tmp_path):
    sizes = []
    for n in (25_000, 50_000):
        rows = noisy_classes(n, 0)
        X = np.column_stack([rows.X, np.random.default_rng(0).standard_normal((n, 8))])
        model = ELMSelectiveClassifier(347, coverage=0.5, alpha=1.0, random_state=0, **kind)
        model.fit(X, rows.y)
        sizes.append(model.save(tmp_path / f"{n}.safetensors").stat().st_size)
        assert len(model.fitted_.deciding.left_out.score) <= 20_500
    assert sizes[1] < 1.01 * sizes[0]
    assert max(sizes) < 5e6
