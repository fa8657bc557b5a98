"""Promises: what they say, and when they are refused."""

import numpy as np
import pytest
from noisy_classes import noisy_classes

from elmband import ELMSelectiveClassifier, scan
from elmband.models.thresholds import ScoredRows
from elmband.uncertainty.promise.held_out import pilot_groups

TRAIN = noisy_classes(400, 0)
HELD_OUT = noisy_classes(1500, 1)
NEW = noisy_classes(300, 2).X


def selective(rows=TRAIN, **wish):
    model = ELMSelectiveClassifier(30, noise="squared", random_state=0, **wish)
    return model.fit(rows.X, rows.y)


def state(model):
    return model.get_params(), model.thresholds_, model.statement_, model.accept(NEW).tolist()


@pytest.mark.parametrize(
    ("asked", "claim"),
    [
        ({"max_error": 0.1}, "at most 10 % of the answered rows are wrong."),
        (
            {"max_fpr": 0.05},
            "at most 5 % of the rows that are truly not 1, answered or not, are answered as 1.",
        ),
        ({"min_precision": 0.9}, "at most 10 % of the rows answered as 1 are truly not 1."),
        (
            {"min_precision": 0.9, "pos_label": 0},
            "at most 10 % of the rows answered as 0 are truly not 0.",
        ),
    ],
)
def test_a_promise_says_what_it_promises(asked, claim):
    model = selective(**asked)
    assert model.statement_.startswith(f"Estimated, not promised: {claim}")
    assert model.calibrate(HELD_OUT.X, HELD_OUT.y, confidence_level=0.9) is model
    assert model.statement_.startswith(f"Promised with 90 % confidence: {claim}")
    for threshold in model.thresholds_.values():
        assert threshold.kind == "promise"
        assert threshold.confidence == 0.9
        assert threshold.observed < threshold.bound <= threshold.limit
        assert threshold.answered == pytest.approx(model.accept(HELD_OUT.X).mean())


def test_the_counts_of_a_promise_are_those_of_the_rows_held_out():
    model = selective(max_error=0.1).calibrate(HELD_OUT.X, HELD_OUT.y)
    accepted = model.accept(HELD_OUT.X)
    wrong = model.predict(HELD_OUT.X) != HELD_OUT.y
    threshold = model.thresholds_[0]
    assert threshold.n == accepted.sum()
    assert threshold.observed == pytest.approx(wrong[accepted].mean())
    assert threshold.confidence == 0.95


def test_each_class_has_its_promise_and_all_hold_together():
    rows = noisy_classes(600, 0, 3), noisy_classes(4000, 1, 3)
    model = selective(rows[0], max_error=0.2, per_class=True).calibrate(rows[1].X, rows[1].y)
    lines = model.statement_.splitlines()
    for k, line in enumerate(lines):
        assert line.startswith(
            f"Rows called {k}: Promised with 95 % confidence, together with 2 others: at most 20 "
            f"% of the rows answered as {k} are wrong."
        )
    called, accepted = model.predict(rows[1].X), model.accept(rows[1].X)
    for k, threshold in model.thresholds_.items():
        mine = accepted & (called == k)
        assert threshold.n == mine.sum()
        assert threshold.observed == pytest.approx(np.mean(rows[1].y[mine] != k))
        assert threshold.answered == pytest.approx(accepted.mean())


def test_a_one_sided_promise_per_class_leaves_the_others_answered():
    model = selective(max_fpr=0.03, per_class=True).calibrate(HELD_OUT.X, HELD_OUT.y)
    assert model.thresholds_[0] is None
    accepted, called = model.accept(HELD_OUT.X), model.predict(HELD_OUT.X)
    assert accepted[called == 0].all()
    negative = HELD_OUT.y == 0
    assert model.thresholds_[1].n == negative.sum()
    observed = (accepted & (called == 1))[negative].mean()
    assert model.thresholds_[1].observed == pytest.approx(observed)
    assert "together" not in model.statement_


def test_a_coverage_stays_an_estimate_and_is_that_of_the_rows_held_out():
    model = selective(coverage=0.4).calibrate(HELD_OUT.X, HELD_OUT.y)
    assert model.statement_.startswith("Estimated, not promised: 40 % of all rows are answered.")
    assert model.accept(HELD_OUT.X).sum() == 600


def test_what_is_asked_for_after_calibration_is_promised_too():
    model = selective().calibrate(HELD_OUT.X, HELD_OUT.y, confidence_level=0.9)
    chosen = model.choose(max_error=0.1)
    direct = selective(max_error=0.1).calibrate(HELD_OUT.X, HELD_OUT.y, confidence_level=0.9)
    assert chosen.thresholds_ == direct.thresholds_
    assert chosen.choose(coverage=0.5).thresholds_[0].kind == "estimate"
    assert chosen.choose(max_fpr=0.05).thresholds_[0].kind == "promise"


def test_too_few_rows_are_refused_with_their_number_and_the_model_stays_as_it_was():
    model = selective(max_error=0.01)
    before = state(model)
    # (1 - 0.01)ⁿ ≤ 0.05 takes 299 rows.
    sentence = (
        r"cannot be promised with 95 % confidence .* at least 299 rows held out.*are 100, which"
    )
    with pytest.raises(ValueError, match=sentence):
        model.calibrate(HELD_OUT.X[:100], HELD_OUT.y[:100])
    assert state(model) == before
    # A promise that was made before stays, too.
    model.choose(max_error=0.1).calibrate(HELD_OUT.X, HELD_OUT.y)
    before = state(model)
    with pytest.raises(ValueError, match="at least 29 rows"):
        model.calibrate(HELD_OUT.X[:20], HELD_OUT.y[:20])
    with pytest.raises(ValueError, match="cannot be promised"):
        model.choose(max_error=0.0005)
    assert state(model) == before


def test_a_risk_that_is_too_high_is_refused():
    rng = np.random.default_rng(0)
    model = selective(max_error=0.05)
    with pytest.raises(ValueError, match="at the threshold where tests began, which answers"):
        model.calibrate(HELD_OUT.X, rng.integers(2, size=1500))


def test_a_refusal_says_for_which_class():
    few = np.flatnonzero((HELD_OUT.y == 1) | (np.arange(1500) < 10))
    model = selective(max_error=0.1, per_class=True)
    sentence = "For rows called 0: It cannot be promised with 95 % confidence that at most 10 % of"
    with pytest.raises(ValueError, match=sentence):
        model.calibrate(HELD_OUT.X[few], HELD_OUT.y[few])


def test_a_scan_is_held_out_as_its_rows_are():
    model = selective(max_error=0.1)
    expected = model.calibrate(HELD_OUT.X, HELD_OUT.y).thresholds_
    model.choose(coverage=0.5)
    model.calibrate(scan((HELD_OUT.X, HELD_OUT.y), chunk_size=333))
    assert model.choose(max_error=0.1).thresholds_ == expected
    groups = np.arange(1500) // 3
    model.choose(max_error=0.15)
    grouped = model.calibrate(HELD_OUT.X, HELD_OUT.y, groups=groups).thresholds_
    model.calibrate(scan((HELD_OUT.X, HELD_OUT.y), chunk_size=333), groups=groups)
    assert model.thresholds_ == grouped


@pytest.mark.parametrize("labels", ["numbers", "text"])
def test_with_groups_the_promise_is_for_the_average_group(labels):
    groups = np.arange(1500) // 5
    groups = groups.astype(str) if labels == "text" else groups
    model = selective(max_error=0.15).calibrate(HELD_OUT.X, HELD_OUT.y, groups=groups)
    assert "at most 15 % of the answered rows are wrong in the average group" in model.statement_
    accepted, wrong = model.accept(HELD_OUT.X), model.predict(HELD_OUT.X) != HELD_OUT.y
    # Some groups tell where to begin, and nothing else.
    mine = accepted & ~np.isin(groups, np.unique(groups)[pilot_groups(np.arange(300))])
    rates = [wrong[(groups == g) & mine].mean() for g in np.unique(groups[mine])]
    threshold = model.thresholds_[1]
    assert threshold.n == len(rates)
    assert threshold.observed == pytest.approx(np.mean(rates))


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"confidence_level": 95}, "Did you mean 0.95"),
        ({"confidence_level": [0.9, 0.95]}, "calibrate takes a single confidence_level"),
        ({"groups": np.arange(10)}, "groups must have one label for each of the 1500 rows"),
        (
            {"groups": np.array([None, "a", "b"] * 500, dtype=object)},
            "groups holds missing labels or mixes types",
        ),
        ({"groups": np.r_[np.nan, np.arange(1499.0)]}, "groups holds missing labels"),
    ],
)
def test_wrong_options_are_refused_in_a_sentence(options, sentence):
    model = selective(max_error=0.1)
    before = state(model)
    with pytest.raises(ValueError, match=sentence):
        model.calibrate(HELD_OUT.X, HELD_OUT.y, **options)
    assert state(model) == before


def test_wrong_rows_are_refused_in_a_sentence():
    model, (X, y, _) = selective(max_error=0.1), HELD_OUT
    calls = {
        "y is needed": lambda: model.calibrate(X),
        "X has 1500 rows, y has 1499": lambda: model.calibrate(X, y[1:]),
        "y holds the label 7, which is none": lambda: model.calibrate(
            X, np.where(X[:, 0] > 0, y, 7)
        ),
        "expecting 2 features": lambda: model.calibrate(X[:, :1], y),
        "sample_weight must have one number": lambda: model.calibrate(X, y, np.ones(3)),
        "no rows with a weight above zero": lambda: model.calibrate(X, y, np.zeros(1500)),
        "Weights are part of a scan": lambda: model.calibrate(scan((X, y)), None, y),
        "y is part of a scan": lambda: model.calibrate(scan((X, y)), y),
        "has 0 targets": lambda: model.calibrate(scan(X)),
    }
    for sentence, call in calls.items():
        with pytest.raises(ValueError, match=sentence):
            call()


def test_weights_count_in_shares_and_not_as_rows():
    model, (X, y, _) = selective(max_error=0.1), HELD_OUT
    plain = model.calibrate(X, y).statement_
    assert model.calibrate(X, y, np.full(1500, 10.0)).statement_ == plain
    assert model.calibrate(scan((X, y, np.full(1500, 0.1)), chunk_size=333)).statement_ == plain
    with pytest.raises(ValueError, match=r"at least 299 rows held out.*are 15, which"):
        model.choose(coverage=0.5).calibrate(X[:15], y[:15], np.full(15, 10.0)).choose(
            max_error=0.01
        )
    s = np.random.default_rng(3).integers(0, 3, size=1500).astype(float)
    model = selective(max_error=0.15).calibrate(X, y, s)
    accepted, wrong = model.accept(X), model.predict(X) != y
    threshold = model.thresholds_[0]
    mine = s[accepted]
    assert threshold.observed == pytest.approx(np.average(wrong[accepted], weights=mine))
    assert threshold.n == pytest.approx(mine.sum() ** 2 / np.sum(mine**2))
    dropped = selective(max_error=0.15).calibrate(X[s > 0], y[s > 0], s[s > 0])
    assert dropped.thresholds_ == model.thresholds_


def test_few_bytes_of_a_row_are_kept():
    model = selective(max_error=0.1).calibrate(HELD_OUT.X, HELD_OUT.y)
    rows, _ = model.fitted_.deciding.held_out
    assert sum(a.nbytes for a in rows if a is not None) == 10 * 1500


def test_places_of_many_classes_take_two_bytes():
    places = np.arange(1000) % 300
    rows = ScoredRows(np.zeros(1000), places, places).small(300)
    assert rows.called.dtype == rows.true.dtype == np.uint16
    np.testing.assert_array_equal(rows.called, places)
    assert ScoredRows(np.zeros(3), places[:3], places[:3]).small(256).true.dtype == np.uint8
