"""What models say they depend on, for functions of which it is known."""

from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from elmband import (
    ELMClassifier,
    ELMIntervalRegressor,
    ELMRegressor,
    ELMSelectiveClassifier,
    TableEncoder,
    load,
    scan,
)
from elmband.models.fitted import Notes

RNG = np.random.default_rng(0)
X = RNG.standard_normal((3000, 8))
NOISE = RNG.standard_normal(3000)
FEW = slice(0, 250)
Y = np.sin(3 * X[:, 0]) + X[:, 1] * X[:, 2] + 0.1 * np.exp(0.8 * X[:, 3]) * NOISE
# E[(3 cos 3x)²] = 4.5 (1 + e^-18), and E[x²] = 1 twice.
TRUE = np.array([4.5, 1, 1, 0, 0, 0, 0, 0]) / 6.5


@cache
def fitted(rows=3000):
    return ELMIntervalRegressor(random_state=0).fit(X[:rows], Y[:rows])


@cache
def blind():
    """Fit few rows without learning: quick."""
    return ELMIntervalRegressor(learning_rounds=0, random_state=0).fit(X[FEW], Y[FEW])


@pytest.mark.slow
def test_shares_are_those_of_the_squared_gradients():
    found = fitted().feature_relevance_
    # At 750 rows the share of x0 has a standard deviation of 0.0095: 0.03 is three of them.
    np.testing.assert_allclose(found.mean, TRUE, atol=0.03)
    assert found.mean.sum() == pytest.approx(1)
    assert found.noise.sum() == pytest.approx(1)
    assert found.names == tuple(f"x{j}" for j in range(8))


@pytest.mark.slow
def test_noise_depends_on_what_it_depends_on():
    found = fitted().feature_relevance_
    # The log-variance is 1.6 x3 and no more; the rest is what 3,000 rows do not tell.
    assert found.noise[3] > 0.65
    assert found.noise_varies


@pytest.mark.slow
def test_noise_that_is_the_same_everywhere_is_said_to_be():
    y = np.sin(X[:, 0]) + 0.3 * NOISE
    found = ELMIntervalRegressor(learning_rounds=0, random_state=0).fit(X[:1000], y[:1000])
    assert not found.feature_relevance_.noise_varies


@pytest.mark.slow
def test_the_first_direction_is_that_of_a_ridge_function():
    y = np.sin((X[:, 0] + X[:, 1]) * 2**-0.5 * 2) + 0.1 * NOISE
    found = ELMRegressor(random_state=0).fit(X[:1000], y[:1000]).relevant_directions_.mean
    true = np.array([1, 1, 0, 0, 0, 0, 0, 0]) * 2**-0.5
    assert abs(found.vectors[0] @ true) > np.cos(np.radians(10))
    assert found.shares[0] > 0.9
    assert (np.diff(found.shares) <= 0).all()
    np.testing.assert_allclose(
        found.vectors @ found.vectors.T, np.eye(len(found.shares)), atol=1e-9
    )


@pytest.mark.slow
def test_noise_that_follows_the_mean_depends_on_the_inputs_of_the_mean():
    y = X[:, 0] + 2 + 0.1 * np.exp(X[:, 0] / 2) * NOISE
    model = ELMIntervalRegressor(learning_rounds=0, target_transform=None, random_state=0)
    assert model.fit(X[:1000], y[:1000]).feature_relevance_.noise[0] > 0.9


def test_units_change_nothing():
    scales, shifts = 10.0 ** np.arange(-4, 4), np.arange(8)
    model = ELMIntervalRegressor(learning_rounds=0, random_state=0)
    other = model.fit(X[FEW] * scales + shifts, 1e3 * Y[FEW] - 7)
    for name in ("mean", "noise"):
        one, two = (getattr(m.feature_relevance_, name) for m in (blind(), other))
        np.testing.assert_allclose(one, two, atol=1e-5)


@pytest.mark.slow
@pytest.mark.parametrize("rows", [250, 3000])
def test_the_order_of_rows_changes_nothing(rows):
    order = np.random.default_rng(1).permutation(rows)
    model = ELMIntervalRegressor(random_state=0).fit(X[:rows][order], Y[:rows][order])
    for name in ("mean", "noise"):
        one, two = (getattr(m.feature_relevance_, name) for m in (fitted(rows), model))
        np.testing.assert_allclose(one, two, atol=1e-6)
    one, two = (m.training_histograms_ for m in (fitted(rows), model))
    np.testing.assert_array_equal(one.inputs.weights, two.inputs.weights)
    np.testing.assert_allclose(one.targets.cuts, two.targets.cuts)


def test_a_saved_model_keeps_it(tmp_path):
    again = load(blind().save(tmp_path / "model.safetensors"))
    np.testing.assert_array_equal(again.feature_relevance_.noise, blind().feature_relevance_.noise)
    assert repr(again.feature_relevance_) == repr(blind().feature_relevance_)
    one, two = again.relevant_directions_, blind().relevant_directions_
    np.testing.assert_array_equal(one.noise.vectors, two.noise.vectors)
    one, two = again.training_histograms_, blind().training_histograms_
    np.testing.assert_array_equal(one.inputs.cuts, two.inputs.cuts)
    np.testing.assert_array_equal(one.targets.weights, two.targets.weights)


def test_a_model_without_it_says_so():
    model = ELMRegressor(20, random_state=0).fit(X[FEW], Y[FEW])
    model.fitted_ = replace(model.fitted_, notes=Notes())
    for name in ("feature_relevance_", "relevant_directions_", "training_histograms_"):
        with pytest.raises(AttributeError, match=f"{name} is not known"):
            getattr(model, name)
        assert not hasattr(ELMRegressor(), name)


def test_added_rows_make_it_unknown():
    model = ELMRegressor(20, alpha="gcv", random_state=0).fit(X[FEW], Y[FEW])
    assert hasattr(model, "feature_relevance_")
    assert not hasattr(model.partial_fit(X[FEW], Y[FEW]), "feature_relevance_")


def test_frames_give_names():
    frame = pd.DataFrame(X[FEW], columns=list("abcdefgh"))
    model = ELMRegressor(50, random_state=0).fit(frame, Y[FEW])
    assert model.feature_relevance_.names == tuple("abcdefgh")
    listed = model.feature_relevance_.to_dict()
    assert listed["noise"] is None
    assert list(listed["mean"].values()) == sorted(listed["mean"].values(), reverse=True)


@pytest.mark.parametrize("activation", ["tanh", "sigmoid", "relu", "rbf_l2", "laplace", "rbf_l1"])
@pytest.mark.parametrize("noise", ["squared", "log"])
def test_single_layers_have_it(noise, activation):
    y = 3 * X[:, 0] + X[:, 1]
    model = ELMIntervalRegressor(50, activation=activation, noise=noise, random_state=0)
    found = model.fit(X[FEW], y[FEW] + NOISE[FEW]).feature_relevance_
    # Of a linear function the shares are 0.9 and 0.1.
    assert found.mean[0] > 0.6
    assert (found.noise is None) == (noise == "squared")


@pytest.mark.parametrize("kind", [ELMClassifier, ELMSelectiveClassifier])
def test_classifiers_have_it(kind):
    model = kind(learning_rounds=0, random_state=0).fit(X[FEW], X[FEW, 0] > 0)
    assert model.feature_relevance_.mean[0] > 0.7
    shares = model.training_histograms_.targets.shares[:, 0]
    np.testing.assert_allclose(shares, [np.mean(X[FEW, 0] <= 0), np.mean(X[FEW, 0] > 0)])


def test_columns_of_a_table_have_the_shares_of_their_features(tmp_path):
    word = np.array(["red", "green", "blue"])[np.arange(250) % 3]
    frame = pd.DataFrame({"size": X[FEW, 0], "colour": word, "y": (word == "red") * 2.0})
    frame.to_csv(tmp_path / "rows.csv", index=False)
    model = ELMRegressor(learning_rounds=0, random_state=0)
    model.fit(scan(tmp_path / "rows.csv", target="y", encoder=TableEncoder()))
    found, columns = model.feature_relevance_, model.column_relevance_
    assert columns.names == ("size", "colour")
    assert columns.mean[1] == pytest.approx(found.mean[1:].sum())
    assert columns.mean[1] > 0.9


def test_single_layers_of_many_rows_do_without(tmp_path, monkeypatch):
    monkeypatch.setattr("elmband.estimators._scans.few_rows", lambda *_: 0)
    np.save(tmp_path / "rows.npy", np.column_stack([X[FEW], Y[FEW]]))
    rows = scan(tmp_path / "rows.npy", target=-1)
    assert not hasattr(ELMRegressor(20, random_state=0).fit(rows), "feature_relevance_")
    model = ELMRegressor(learning_rounds=0, random_state=0).fit(rows)
    assert model.feature_relevance_.mean.sum() == pytest.approx(1)


def test_collections_have_it():
    dask = pytest.importorskip("dask.array")
    rows, targets = (dask.from_array(a[FEW], chunks=(100, *a.shape[1:])) for a in (X, Y))
    model = ELMRegressor(learning_rounds=0, random_state=0).fit(rows, targets)
    assert model.feature_relevance_.mean.sum() == pytest.approx(1)


def test_chunks_of_scans_change_nothing(tmp_path):
    np.save(tmp_path / "rows.npy", np.column_stack([X[FEW], Y[FEW]]))
    rows = [scan(tmp_path / "rows.npy", target=-1, chunk_size=size) for size in (60, 250)]
    model = ELMIntervalRegressor(learning_rounds=0, random_state=0)
    one, two = (model.fit(part).training_histograms_ for part in rows)
    np.testing.assert_array_equal(one.inputs.weights, two.inputs.weights)
    assert one.inputs.weights.sum(axis=0)[0] == pytest.approx(250)


def test_a_model_of_an_earlier_version_says_that_it_does_not_know():
    old = Path(__file__).parent.parent / "models" / "0.1.0.dev0" / "interval.safetensors"
    with pytest.raises(AttributeError, match="feature_relevance_ is not known of this model: it"):
        load(old).feature_relevance_  # noqa: B018


@pytest.mark.slow
def test_columns_of_many_levels_count_by_how_much_they_change_the_target():
    """Before, a hundred levels had 0.80 of the mean beside a number that mattered as much."""
    rng = np.random.default_rng(0)
    level, x = rng.integers(0, 100, 2000), rng.normal(size=2000)
    effect = rng.normal(size=100)
    table = pd.DataFrame({"level": [f"level {k}" for k in level], "x": x})
    y = effect[level] / effect[level].std() + x
    model = ELMIntervalRegressor({"linear": 101}, learning_rounds=0, random_state=0).fit(table, y)
    shares = model.column_relevance_.to_dict()["mean"]
    assert 0.4 < shares["level"] < 0.6
