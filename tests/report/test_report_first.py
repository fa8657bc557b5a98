"""What a page says first: rows of training, guarantees, limits, and one interval for all rows."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from judged import bird_model, delay_model, delays, held_in, page_of, species

from elmband import ELMIntervalRegressor, load
from elmband.models.fitted import Notes
from elmband.report.training_overlap import training_overlap
from elmband.sums.row_prints import SeenRows


@pytest.fixture(scope="module")
def model():
    return delay_model()


def seen(n_rows, n_compared, n_found, each=1):
    """Return counts of rows, of which so many `each` are equal to one of training."""
    hits = np.full(n_found // each, each) if n_found else np.zeros(3, dtype=int)
    return SeenRows(n_rows, n_compared, hits)


def test_training_rows_are_called_so(model, tmp_path):
    text = page_of(tmp_path, model, delays(1500, 0))
    found = held_in(text)["training"]
    assert found["share"] == 1
    assert found["n_compared"] > 1000
    assert "of these rows were in training" in text
    assert "flattering" in text
    assert 'class="warning"' in text
    # Neither kept nor wider than need be: nothing of that is known.
    assert "That says little of new rows:" in text
    assert "The promise is kept" not in text
    assert "wider than they need to be" not in text


def test_a_part_from_training_is_estimated(model, tmp_path):
    (old, y), (new, z) = delays(1500, 0), delays(3000, 1)
    rows = pd.concat([old[:1000], new]), pd.concat([y[:1000], z])
    text = page_of(tmp_path, model, rows)
    found = held_in(text)["training"]
    # A quarter, within four standard errors.
    assert found["share"] == pytest.approx(0.25, abs=4 * (0.25 * 0.75 / found["n_compared"]) ** 0.5)
    assert "of these rows are equal to rows of training" in text


def test_new_rows_are_said_to_be_new_as_far_as_is_known(model, tmp_path):
    text = page_of(tmp_path, model, delays(1500, 1))
    assert "none of them was there" in text
    assert "flattering" not in text


def test_models_that_do_not_know_say_nothing(model, tmp_path):
    X, y = delays(1500, 0)
    old = load(model.save(tmp_path / "model"))
    old.fitted_ = replace(old.fitted_, notes=Notes())
    text = page_of(tmp_path, old, (X, y))
    assert held_in(text)["training"] is None
    for words in ("in training, compared", "fingerprints", "did not see", "unseen"):
        assert words not in text.split('id="report-data"')[0]


def test_classes_that_were_in_training(tmp_path):
    model = bird_model()
    assert held_in(page_of(tmp_path, model, species(1200, 0)))["training"]["share"] == 1
    assert held_in(page_of(tmp_path, model, species(1200, 1)))["training"]["share"] == 0


@pytest.mark.parametrize(
    ("rows", "sentence"),
    [
        (seen(50, 50, 0), "Not one of these rows was in training"),
        (seen(50, 50, 50), "All of these rows were in training"),
        (seen(50, 50, 5), "10 % of these rows are equal to rows of training"),
        (seen(500, 500, 1), "One of these rows is equal to a row of training"),
        (
            seen(5000, 5000, 3),
            "0.06 % of these rows are equal to rows of training",
        ),
        (seen(900, 300, 300), "Nearly all or all of these rows were in training"),
        (seen(900, 300, 30), "About 10 % of these rows"),
        (seen(900, 300, 0), "Of these rows, 300 could be compared"),
        (seen(700, 700, 600, each=20), "85.7 % of these rows are equal to rows of training"),
        # Too few to tell.
        (seen(900, 9, 0), None),
        (seen(900, 0, 0), None),
        (None, None),
    ],
)
def test_sentences_on_training_rows(rows, sentence):
    found = training_overlap(rows)
    assert found is None if sentence is None else found["sentence"].startswith(sentence)
    if found is not None:
        few = 0 < found["share"] < 0.01
        usual = rows.n_repeated > rows.n_found / 2
        assert found["warns"] == (found["n_found"] > 0 and not usual)
        assert ("need not mean" in found["sentence"]) == usual
        assert ("too few to matter" in found["sentence"]) == few
        assert ("flattering" in found["sentence"]) == (found["warns"] and not few)


def test_targets_that_have_no_place_on_the_scale_of_the_model_are_judged_all_the_same(tmp_path):
    X, y = delays(600, 0)
    model = ELMIntervalRegressor(10, target_transform="log", random_state=0).fit(X, np.exp(y / 9))
    content = held_in(page_of(tmp_path, model, (X, np.exp(y / 9) - 1)))
    assert content["training"] is None
    assert content["rows"] == 600


def test_a_guarantee_is_called_one(model, tmp_path):
    assert "This is an estimate from training rows left out" in page_of(
        tmp_path, model, delays(300, 1)
    )
    calibrated = delay_model().calibrate(*delays(500, 7))
    text = page_of(tmp_path, calibrated, delays(300, 1))
    assert held_in(text)["worth"]["guarantee"]
    assert "This is a guarantee for new rows of the same kind" in text
    birds = bird_model()
    assert not held_in(page_of(tmp_path, birds, species(300, 1)))["worth"]["guarantee"]
    birds.calibrate(*species(3000, 5))
    assert held_in(page_of(tmp_path, birds, species(300, 1)))["worth"]["guarantee"]


def test_bounds_beyond_what_can_be_are_counted(tmp_path):
    rng = np.random.default_rng(0)
    X = rng.uniform(size=(800, 2))
    y = rng.exponential(size=800)
    options = {"target_transform": None, "symmetric": True, "random_state": 0}
    free = ELMIntervalRegressor(10, target_range=None, **options).fit(X, y)
    text = page_of(tmp_path, free, (X, y))
    found = held_in(text)["impossible"]
    assert found == {
        "n": int((free.predict_interval(X, 0.9)[:, 0] < 0).sum()),
        "low": 0,
        "high": None,
    }
    assert found["n"] > 50
    assert "intervals reach beyond what can be" in text
    kept = ELMIntervalRegressor(10, target_range=(0, 9), **options).fit(X, y)
    text = page_of(tmp_path, kept, (X, y))
    assert held_in(text)["impossible"] == {"n": 0, "low": 0, "high": 9}
    assert "No interval reaches beyond what can be" in text
    # A handful of rows does not tell.
    assert held_in(page_of(tmp_path, free, (X[:9], y[:9])))["impossible"] is None


@pytest.mark.slow
def test_a_model_that_knows_nothing_is_no_better_than_one_interval(tmp_path):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(1500, 2)), rng.normal(size=1500)
    model = ELMIntervalRegressor(10, random_state=0).fit(X[:700], y[:700])
    text = page_of(tmp_path, model, (X[700:], y[700:]))
    ratio = held_in(text)["constant"]["score_ratio"]
    assert ratio == pytest.approx(1, abs=0.1)
    assert ("the model is no better than that" in text) == (ratio >= 1)


@pytest.mark.parametrize("value", [3.0, 0.0, -1e300, 1e300])
def test_targets_that_are_all_alike(model, tmp_path, value):
    X, y = delays(60, 1)
    text = page_of(tmp_path, model, (X, y * 0 + value))
    constant = held_in(text)["constant"]
    assert constant["width"] == 0
    assert constant["score_ratio"] is None
    assert "would have no width" in text
