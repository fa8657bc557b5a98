"""Rows and levels that Python would refuse, and batches of any size."""

import numpy as np
import pytest
from exported import Session, assert_close, rows

from elmband import ELMClassifier, ELMIntervalRegressor, ELMRegressor, ELMSelectiveClassifier

DTYPES = ("float64", "float32")


def models(dtype):
    X, y, _ = rows(dtype=dtype)
    third = np.digitize(y, [-0.5, 0.5])
    return {
        "point": ELMRegressor(10, random_state=0).fit(X, y),
        "stack": ELMRegressor(10, n_estimators=2, random_state=0).fit(X, np.stack([y, -y], axis=1)),
        "interval": ELMIntervalRegressor(10, random_state=0).fit(X, y),
        "published": ELMIntervalRegressor(10, noise="squared", random_state=0).fit(X, y),
        "transformed": ELMIntervalRegressor(
            10, symmetric=False, target_transform="log1p", random_state=0
        ).fit(X, np.exp(y)),
        "classifier": ELMClassifier(10, random_state=0).fit(X, third.astype(str)),
        "selective": ELMSelectiveClassifier(10, coverage=0.5, random_state=0).fit(X, third),
        "two classes": ELMSelectiveClassifier(10, coverage=1.0, random_state=0).fit(X, y > 0),
    }


@pytest.fixture(scope="module", params=DTYPES)
def sessions(request):
    found = {name: Session.of(model) for name, model in models(request.param).items()}
    return found, rows(dtype=request.param)[2]


@pytest.mark.slow
@pytest.mark.parametrize("dtype", DTYPES)
def test_point_models_predict_the_mean(dtype):
    _, y, new = rows(dtype=dtype)
    for model in (models(dtype)["point"], models(dtype)["stack"]):
        run = Session.of(model)
        assert run.names == ["mean"]
        assert_close(run(new)["mean"], model.predict(new), np.std(y))


def test_transformed_means_of_a_point_model():
    X, y, new = rows()
    model = ELMRegressor(10, target_transform="box-cox", random_state=0).fit(X, np.exp(y))
    assert_close(Session.of(model)(new)["mean"], model.predict(new), 1.0)


@pytest.mark.slow
def test_batches_of_any_size_have_the_same_answers(sessions):
    for run in sessions[0].values():
        whole = run(sessions[1])
        single = run(sessions[1][:1])
        for name, values in whole.items():
            assert single[name].shape == (1, *values.shape[1:])
            if values.dtype.kind == "f":
                np.testing.assert_allclose(single[name], values[:1], rtol=1e-4, atol=1e-5)
            else:
                np.testing.assert_array_equal(single[name], values[:1])


def test_a_batch_without_rows_has_no_answers(sessions):
    for run in sessions[0].values():
        whole, empty = run(sessions[1]), run(sessions[1][:0])
        for name, values in whole.items():
            assert empty[name].shape == (0, *values.shape[1:])
            assert empty[name].dtype == values.dtype


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_rows_with_missing_numbers_have_no_answer_and_change_no_other(sessions, value):
    for run in sessions[0].values():
        X = sessions[1][:5].copy()
        expected = run(X)
        X[2, 1] = value
        for name, values in run(X).items():
            if name == "label":
                continue
            others = [0, 1, 3, 4]
            np.testing.assert_array_equal(values[others], expected[name][others])
            if name == "accepted":
                assert not values[2]
            else:
                assert np.isnan(values[2]).all()


@pytest.mark.parametrize("level", [0.0, 1.0, -0.1, 95.0, np.nan, np.inf])
def test_levels_that_are_none_have_no_bounds(sessions, level):
    for name in ("interval", "published", "transformed"):
        run = sessions[0][name]
        found, expected = run(sessions[1], level), run(sessions[1], 0.9)
        assert np.isnan(found["lower"]).all()
        assert np.isnan(found["upper"]).all()
        np.testing.assert_array_equal(found["mean"], expected["mean"])
        np.testing.assert_array_equal(found["std"], expected["std"])


def test_the_level_is_095_where_none_is_given(sessions):
    run = sessions[0]["interval"]
    np.testing.assert_array_equal(run(sessions[1])["upper"], run(sessions[1], 0.95)["upper"])
