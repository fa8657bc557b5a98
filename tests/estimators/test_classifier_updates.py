"""Classifiers that rows are added to, and classifiers put together, against one fit."""

import numpy as np
import pytest

from elmband import ELMClassifier, merge, scan

RNG = np.random.default_rng(0)
N = 1500
X = RNG.uniform(-2, 2, size=(N, 3))
SCORE = np.sin(2 * X[:, 0]) + X[:, 1] + 0.5 * RNG.standard_normal(N)
TWO = np.array(["no", "yes"])[(SCORE > 0.5).astype(int)]
MANY = np.digitize(SCORE, [-1, 0.2, 1.5])
SEVERAL = np.column_stack([SCORE > 0, X[:, 2] > 0.5]).astype(int)
S = RNG.uniform(0.3, 3, size=N)
NEW = RNG.uniform(-2, 2, size=(100, 3))
PARTS = [slice(0, 400), slice(400, 900), slice(900, N)]
TARGETS = {"two": TWO, "many": MANY, "several": SEVERAL}


def layer(**options):
    return ELMClassifier(30, alpha=0.5, random_state=0, **options)


def grown(model, y, s=None, parts=PARTS):
    for part in parts:
        model.partial_fit(X[part], y[part], None if s is None else s[part])
    return model


def same(model, other, rtol=1e-8):
    for method in ("decision_function", "predict", "predict_proba"):
        expected = getattr(other, method)(NEW)
        actual = getattr(model, method)(NEW)
        if method == "predict":
            np.testing.assert_array_equal(actual, expected)
        else:
            np.testing.assert_allclose(actual, expected, rtol=rtol, atol=rtol)


@pytest.mark.slow
@pytest.mark.parametrize("s", [None, S], ids=["plain", "weighted"])
@pytest.mark.parametrize("name", TARGETS)
def test_rows_in_parts_are_rows_at_once(name, s):
    """The scaling is that of all rows, from a model that forgets them: one fit is the truth.

    All 1,500 rows are in the sample that probabilities come from.
    """
    y = TARGETS[name]
    whole = layer().fit(X, y, s)
    same(grown(layer().fit(X, y, s).untrained(), y, s), whole)


def test_rows_of_a_scan_are_added_like_others():
    y = MANY
    expected = grown(layer(), y)
    model = layer()
    for part in PARTS:
        model.partial_fit(scan((X[part], y[part]), chunk_size=111))
    np.testing.assert_allclose(model.decision_function(NEW), expected.decision_function(NEW))


def test_classes_may_be_named_before_they_are_met():
    """The first rows lack two classes, and scale with the others; the layer makes up for it."""
    order = np.argsort(MANY, kind="stable")
    first = order[MANY[order] < 2]
    model = layer().partial_fit(X[first], MANY[first], classes=[0, 1, 2, 3])
    np.testing.assert_array_equal(model.classes_, [0, 1, 2, 3])
    assert model.predict_proba(NEW).shape == (100, 4)
    assert set(model.predict(NEW)) <= {0, 1}
    rest = order[MANY[order] >= 2]
    model.partial_fit(X[rest], MANY[rest])
    whole = layer().fit(X, MANY)
    assert model.score(X, MANY) > whole.score(X, MANY) - 0.03


@pytest.mark.parametrize("classes", [["yes", "no"], np.array(["no", "yes"], dtype=object)])
def test_named_classes_are_sorted_and_may_be_named_again(classes):
    model = layer()
    for part in PARTS:
        model.partial_fit(X[part], TWO[part], classes=classes)
    same(model, grown(layer(), TWO))


def test_one_class_may_come_alone_later():
    model = grown(layer(), TWO, parts=[slice(0, 400)])
    only = TWO == "yes"
    before = model.predict_proba(NEW)[:, 1].mean()
    model.partial_fit(X[only], TWO[only])
    assert model.predict_proba(NEW)[:, 1].mean() > before + 0.1


@pytest.mark.one_quick
@pytest.mark.parametrize("name", TARGETS)
def test_merged_models_are_one_model_of_all_rows(name):
    y, part, rest = TARGETS[name], PARTS[0], slice(400, N)
    first = layer().partial_fit(X[part], y[part])
    second = first.untrained().partial_fit(X[rest], y[rest])
    expected = grown(layer(), y, parts=[part, rest])
    for both in (merge(first, second), merge(second, first)):
        same(both, expected)


def test_models_that_were_fitted_have_to_be_refreshed():
    part, rest = PARTS[0], slice(400, N)
    first = layer().fit(X[part], MANY[part])
    model = merge(first, first.untrained().partial_fit(X[rest], MANY[rest]))
    decisions = model.decision_function(NEW)
    with pytest.raises(ValueError, match="Probabilities are older than the model"):
        model.predict_proba(NEW)
    expected = grown(layer(), MANY, parts=[part, rest])
    np.testing.assert_allclose(decisions, expected.decision_function(NEW), rtol=1e-8, atol=1e-8)
    same(model.refresh(X, MANY), expected)
    assert merge(first, model).predict(NEW).shape == (100,)


@pytest.mark.parametrize("how", ["arrays", "scan"])
def test_probabilities_are_refreshed_by_rows_of_training(how):
    model = layer().fit(X[:400], MANY[:400]).partial_fit(X[400:], MANY[400:], S[400:])
    with pytest.raises(ValueError, match="call refresh with rows"):
        model.predict_proba(NEW)
    s = np.concatenate([np.ones(400), S[400:]])
    rows = (X, MANY, s) if how == "arrays" else (scan((X, MANY, s), chunk_size=333),)
    expected = layer().partial_fit(X[:400], MANY[:400], s[:400])
    expected.partial_fit(X[400:], MANY[400:], s[400:])
    same(model.refresh(*rows), expected)


def test_probabilities_of_very_many_rows_come_from_a_sample(monkeypatch):
    """A sample of 500 rows; probabilities differ by their standard error, a few hundredths."""
    monkeypatch.setattr("elmband.models.grown._KEPT_ROWS", 500)
    model = grown(layer(), TWO)
    assert len(model.fitted_.grown.sample.keys) == 500
    whole = layer().fit(X[:400], TWO[:400]).untrained()
    monkeypatch.undo()
    grown(whole, TWO)
    np.testing.assert_array_equal(model.decision_function(NEW), whole.decision_function(NEW))
    assert np.abs(model.predict_proba(NEW) - whole.predict_proba(NEW)).max() < 0.06


def test_weights_of_classes_are_those_of_their_rows():
    model = grown(layer(class_weight={"no": 0.4}), TWO, S / 3)
    same(model, grown(layer(), TWO, np.where(TWO == "no", 0.4, 1.0) * S / 3))


def test_fit_forgets_what_was_before():
    model = grown(layer(), TWO).fit(X, MANY)
    same(model, layer().fit(X, MANY))


@pytest.mark.one_quick
@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda m: m.partial_fit(X, np.full(N, "maybe")), "label 'maybe', which is none of the"),
        (lambda m: m.partial_fit(X, MANY), "label [0-3], which is none of the classes"),
        (lambda m: m.partial_fit(scan((X, MANY))), "none of the classes"),
        (lambda m: m.partial_fit(X, SEVERAL), "as many dimensions"),
        (lambda m: m.partial_fit(X), "needs y, the labels of the rows"),
        (lambda m: m.partial_fit(X, TWO[:-1]), "y must have 1500 rows"),
        (lambda m: m.partial_fit(X, TWO, classes=["no", "yes", "maybe"]), "was begun with"),
        (lambda m: m.partial_fit(X[:, :2], TWO), "2 features"),
        (lambda m: m.refresh(X, np.full(N, "maybe")), "label 'maybe'"),
    ],
)
def test_rows_that_do_not_fit_are_refused(call, sentence):
    model = grown(layer(), TWO)
    expected = model.decision_function(NEW)
    with pytest.raises(ValueError, match=sentence):
        call(model)
    np.testing.assert_array_equal(model.decision_function(NEW), expected)


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda m: m.partial_fit(X, np.zeros(N)), "rows of one class only"),
        (lambda m: m.partial_fit(X, TWO, classes=["no"]), "classes names one class only"),
        (lambda m: m.partial_fit(X, TWO, classes=["no", "maybe"]), "the label 'yes'"),
        (lambda m: m.partial_fit(X), "requires y to be passed"),
        (lambda m: m.refresh(X, TWO), "refresh is for models"),
        (lambda m: m.set_params(alpha="loo").partial_fit(X, TWO), "alpha='loo' needs all rows"),
    ],
)
def test_beginnings_that_cannot_be_are_refused(call, sentence):
    with pytest.raises(ValueError, match=sentence):
        call(layer())


@pytest.mark.parametrize(
    ("model", "sentence"),
    [
        (layer(class_weight="balanced"), "'balanced' needs all rows at once"),
        (ELMClassifier(), "is for a single layer"),
        (ELMClassifier(9, n_estimators=2), "is for a single layer"),
        (ELMClassifier(9, selection="loo"), "is for a single layer"),
    ],
)
def test_models_that_cannot_grow_do_not_offer_to(model, sentence):
    assert not hasattr(model, "partial_fit")
    with pytest.raises(AttributeError) as raised:
        model.partial_fit(X, TWO)
    assert sentence in str(raised.value.__cause__ or raised.value)


def test_a_common_factor_of_weights_given_to_refresh_changes_nothing():
    """Least squares of weighted rows left out: weights are divided by their own mean."""
    weights = np.random.default_rng(0).uniform(0.5, 2, N)
    model = ELMClassifier(30, random_state=0).partial_fit(X, TWO, weights, classes=np.unique(TWO))
    expected = model.refresh(X, TWO, weights).predict_proba(X)
    for factor in (1e-3, 50.0):
        found = model.refresh(X, TWO, factor * weights).predict_proba(X)
        np.testing.assert_allclose(found, expected, rtol=1e-9)
