"""Local layers as part of the default models."""

import numpy as np
import pandas as pd
import pytest
import sklearn

from elmband import (
    ELMClassifier,
    ELMIntervalRegressor,
    ELMRegressor,
    TableEncoder,
    load,
    scan,
)
from rough import LEVELS, rough

N = 10_500
OPTIONS = {"random_state": 0, "learning_rounds": 0, "max_neurons": 600}
TRAIN, TEST = rough(N, 0), rough(4000, 1)


@pytest.fixture(scope="module")
def model():
    return ELMIntervalRegressor(**OPTIONS).fit(TRAIN.X, TRAIN.y)


@pytest.fixture(scope="module")
def blind():
    return ELMIntervalRegressor(**OPTIONS, local_layers=None).fit(TRAIN.X, TRAIN.y)


def interval_score(model, rows):
    low, high = model.predict_interval(rows.X, confidence_level=0.9).T
    missed = np.maximum(low - rows.y, 0) + np.maximum(rows.y - high, 0)
    return np.mean(high - low + 20 * missed)


def by_level(model):
    """Return the coverage of every level."""
    low, high = model.predict_interval(TEST.X, confidence_level=0.9).T
    level = TEST.X[:, 3].astype(int)
    return np.bincount(level, (low <= TEST.y) & (high >= TEST.y)) / np.bincount(level)


def rmse(model, rows):
    return np.sqrt(np.mean((model.predict(rows.X) - rows.mean) ** 2))


def test_levels_that_matter_are_found_and_told(model, blind):
    assert [(one.column, one.part, one.levels) for one in model.local_layers_] == [
        ("x3", "mean", 40),
        ("x3", "noise", 40),
    ]
    assert all(one.gain > 0.01 for one in model.local_layers_)
    assert blind.local_layers_ == ()


def test_means_and_intervals_gain_by_them_and_stay_honest(model, blind):
    assert rmse(model, TEST) < 0.8 * rmse(blind, TEST)
    assert interval_score(model, TEST) < 0.92 * interval_score(blind, TEST)
    covered = by_level(model)
    assert 0.88 < covered.mean() < 0.92
    # 100 rows of each level: coverage varies by 3 points by chance alone.
    assert np.std(covered) < min(np.std(by_level(blind)), 0.07)


@pytest.mark.parametrize("seed", range(3))
def test_nothing_is_found_where_there_is_nothing(seed):
    rows = rough(N, seed, is_rough=False)
    assert ELMIntervalRegressor(**OPTIONS).fit(rows.X, rows.y).local_layers_ == ()


@pytest.mark.long
@pytest.mark.parametrize("seed", range(20))
def test_nothing_is_found_in_twenty_draws(seed):
    rows = rough(N, 100 + seed, is_rough=False)
    assert ELMIntervalRegressor(**OPTIONS).fit(rows.X, rows.y).local_layers_ == ()


def test_small_tables_have_none():
    rows = rough(3000, 0)
    assert ELMRegressor(**OPTIONS).fit(rows.X, rows.y).local_layers_ == ()


@pytest.mark.slow
def test_errors_fall_as_rows_grow():
    errors = []
    for n in (10_500, 60_000):
        rows = rough(n, 0)
        errors.append(rmse(ELMRegressor(**OPTIONS).fit(rows.X, rows.y), TEST))
    assert errors[1] < 0.8 * errors[0]


def test_a_point_model_has_the_same_layers(model):
    point = ELMRegressor(**OPTIONS).fit(TRAIN.X, TRAIN.y)
    np.testing.assert_allclose(point.predict(TEST.X), model.predict(TEST.X), rtol=1e-6, atol=1e-6)


def test_rows_of_a_new_level_fall_back_to_the_stack_and_are_wider(model):
    known, new = TEST.X[:500].copy(), TEST.X[:500].copy()
    new[:, 3] = 41.0
    added, _ = model.fitted_.stack.local.mean_and_variance(new)
    assert not added.any()
    variance = model.predict_variance(known).mean_model.mean()
    assert model.predict_variance(new).mean_model.mean() > 2 * variance


def test_files_and_onnx_give_the_same(model, tmp_path):
    onnxruntime = pytest.importorskip("onnxruntime")
    X = TEST.X[:300].copy()
    X[:6, 3] = [-1, 0, 38.5, 39, 39.4, 77]
    wanted = model.predict_interval(X, confidence_level=0.8)
    again = load(model.save(tmp_path / "model.safetensors"))
    assert np.array_equal(again.predict_interval(X, confidence_level=0.8), wanted)
    assert again.local_layers_ == model.local_layers_
    session = onnxruntime.InferenceSession(model.to_onnx().SerializeToString())
    lower, upper = session.run(["lower", "upper"], {"X": X, "confidence_level": np.array([0.8])})
    np.testing.assert_allclose(np.column_stack([lower, upper]), wanted, rtol=1e-4, atol=1e-4)


def test_order_and_chunks_change_next_to_nothing(model):
    order = np.random.default_rng(0).permutation(N)
    other = ELMRegressor(**OPTIONS, chunk_size=997).fit(TRAIN.X[order], TRAIN.y[order])
    np.testing.assert_allclose(other.predict(TEST.X), model.predict(TEST.X), atol=2e-3)


def test_units_change_next_to_nothing(model):
    other = ELMRegressor(**OPTIONS).fit(TRAIN.X * 1000 - 3, TRAIN.y * 50 + 7)
    found = (other.predict(TEST.X * 1000 - 3) - 7) / 50
    np.testing.assert_allclose(found, model.predict(TEST.X), atol=2e-3)


def table(rows):
    """Return the rows as a table with text, a date of the same level, and a number beside."""
    level = rows.X[:, 3].astype(int)
    days = np.datetime64("2024-02-01") + level.astype("m8[D]")
    minutes = (np.arange(len(level)) * 7 % 1440).astype("m8[m]")
    columns = {f"x{j}": rows.X[:, j] for j in range(3)}
    return pd.DataFrame(columns | {"day": days.astype("M8[m]") + minutes, "y": rows.y})


@pytest.mark.slow
def test_days_of_a_scan_have_layers_as_those_of_a_table(tmp_path):
    path = tmp_path / "rows.parquet"
    table(TRAIN).to_parquet(path)
    rows = scan(path, target="y", encoder=TableEncoder())
    model = ELMIntervalRegressor(**OPTIONS).fit(rows, checkpoint=tmp_path / "kept")
    assert model.local_layers_[0][:4] == ("day", "mean", "days", 40)
    new = scan(path, encoder=model.encoder_)
    low, high = model.predict_interval(new, confidence_level=0.9).T
    # Rows that it was trained on are covered a little more often.
    assert 0.88 < np.mean((low <= TRAIN.y) & (high >= TRAIN.y)) < 0.95
    again = ELMIntervalRegressor(**OPTIONS, chunk_size=1500, local_layers=["day"]).fit(rows)
    np.testing.assert_allclose(again.predict(new), model.predict(new), atol=2e-3)
    # Days that the fit did not have.
    later = table(TEST).assign(day=lambda t: t["day"] + pd.Timedelta(days=300))
    X = model.encoder_.transform(later.drop(columns="y"))
    assert not model.fitted_.stack.local.mean_and_variance(X)[0].any()


@pytest.mark.slow
def test_two_classes_have_them_too():
    sign = np.where(TRAIN.y > TRAIN.mean.mean(), "yes", "no")
    model = ELMClassifier(**OPTIONS).fit(TRAIN.X, sign)
    assert [one[:3] for one in model.local_layers_] == [("x3", "mean", "values")]
    without = ELMClassifier(**OPTIONS, local_layers=None).fit(TRAIN.X, sign)
    truth = np.where(TEST.y > TRAIN.mean.mean(), "yes", "no")
    assert np.mean(model.predict(TEST.X) == truth) > np.mean(without.predict(TEST.X) == truth)


@pytest.mark.slow
def test_weights_and_several_tails():
    s = np.random.default_rng(0).integers(1, 4, N)
    model = ELMIntervalRegressor(**OPTIONS, symmetric=False)
    model.fit(TRAIN.X, TRAIN.y, sample_weight=s)
    assert model.local_layers_
    low, high = model.predict_interval(TEST.X, confidence_level=0.9).T
    assert 0.87 < np.mean((low <= TEST.y) & (high >= TEST.y)) < 0.93


@pytest.mark.slow
@pytest.mark.torch
def test_tensors_give_the_same_layers(model):
    torch = pytest.importorskip("torch")
    with sklearn.config_context(array_api_dispatch=True):
        X, y = torch.asarray(TRAIN.X), torch.asarray(TRAIN.y)
        found = ELMIntervalRegressor(**OPTIONS).fit(X, y)
        bounds = found.predict_interval(torch.asarray(TEST.X), confidence_level=0.9)
    wanted = model.predict_interval(TEST.X, confidence_level=0.9)
    assert [one[:4] for one in found.local_layers_] == [one[:4] for one in model.local_layers_]
    np.testing.assert_allclose(bounds.numpy(), wanted, atol=0.05)


@pytest.mark.slow
def test_levels_of_next_to_no_weight_are_as_those_of_few_rows():
    rows = rough(16_000, 0)
    s = np.where(rows.X[:, 3] >= LEVELS // 2, 1e-3, 1.0)
    model = ELMIntervalRegressor(**OPTIONS).fit(rows.X, rows.y, sample_weight=s)
    assert model.local_layers_[0].levels == LEVELS // 2
    low, high = model.predict_interval(TEST.X, confidence_level=0.9).T
    heavy = TEST.X[:, 3] < LEVELS // 2
    assert 0.87 < np.mean(((low <= TEST.y) & (high >= TEST.y))[heavy]) < 0.94
    # As many as were 12 before.
    assert np.median((high - low)[~heavy]) < 6


def test_codes_between_known_ones_have_no_level():
    model = ELMRegressor(**OPTIONS, local_layers=["x3"])
    rows = rough(14_000, 2)
    known = rows.X[:, 3] % 5 != 3
    model.fit(rows.X[known], rows.y[known])
    added, variances = model.fitted_.stack.local.contributions(TEST.X)
    new = TEST.X[:, 3] % 5 == 3
    assert not added[:, new].any()
    assert added[:, ~new].any(axis=1).all()
    assert variances[0, new].min() > np.median(variances[0, ~new])


@pytest.mark.parametrize(
    ("rows", "words"),
    [(TRAIN, "do not fall enough"), (rough(300, 0), "take 10,000 different rows")],
    ids=["no gain", "few rows"],
)
def test_columns_asked_for_in_vain_are_told_of(rows, words):
    with pytest.warns(UserWarning, match=f"No level of x1 has a layer of its own: .*{words}"):
        ELMRegressor(**OPTIONS, local_layers=["x1"]).fit(rows.X, rows.y)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"local_layers": "x3"}, "must be 'auto', None or a list"),
        ({"local_layers": 3}, "must be 'auto', None or a list"),
        ({"local_layers": ["x9"]}, "no column; there are x0, x1, x2, x3"),
        ({"local_layers": ["x3"], "n_neurons": 10}, "needs n_neurons='auto'"),
    ],
)
def test_what_cannot_be_is_refused(options, words):
    with pytest.raises(ValueError, match=words):
        ELMRegressor(**options).fit(TRAIN.X[:200], TRAIN.y[:200])


def test_groups_and_several_outputs_are_refused_where_columns_are_named():
    model = ELMRegressor(local_layers=["x3"], learning_rounds=0)
    with pytest.raises(ValueError, match="beside groups"):
        model.fit(TRAIN.X[:200], TRAIN.y[:200], groups=np.arange(200) // 4)
    with pytest.raises(ValueError, match="one output; y has 2"):
        model.fit(TRAIN.X[:200], np.column_stack([TRAIN.y, TRAIN.mean])[:200])
