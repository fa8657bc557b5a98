"""At home in scikit-learn."""

import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest
from mixed import mixed
from sklearn import config_context
from sklearn.base import clone
from sklearn.compose import ColumnTransformer
from sklearn.linear_model import Ridge
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

from elmband import ELMIntervalRegressor
from elmband.sources.encode import TableEncoder


@pytest.mark.one_quick
@parametrize_with_checks([TableEncoder()])
def test_the_checks_of_scikit_learn_pass(estimator, check):
    check(estimator)


def target(table):
    size = table["size"].fill_null(3.0).to_numpy()
    blue = np.array([value == "blue" for value in table["colour"].to_pylist()])
    noise = np.random.default_rng(3).normal(size=len(size))
    return size + 4 * blue + 0.3 * noise


def test_a_pipeline_on_a_table_of_everything():
    table = mixed(800)
    frame, y = table.to_pandas(), target(table)
    model = make_pipeline(
        TableEncoder(), ELMIntervalRegressor({"linear": 29, "tanh": 20}, random_state=0)
    )
    model.fit(frame[:600], y[:600])
    mean, interval = model.predict(frame[600:], confidence_level=0.9)
    assert np.mean((mean - y[600:]) ** 2) < 0.5 * y.var()
    inside = (interval[:, 0] <= y[600:]) & (y[600:] <= interval[:, 1])
    # Of 200 rows 180 are expected, give or take 3 times 4.2.
    assert 165 <= inside.sum() <= 195
    again = model.predict(pl.from_arrow(table)[600:])
    np.testing.assert_array_equal(again, mean)


def test_parameters_are_found_by_search():
    table = mixed(300)
    search = GridSearchCV(
        make_pipeline(TableEncoder(), StandardScaler(), Ridge()),
        {"tableencoder__max_levels": [1, 50]},
        cv=3,
    ).fit(table.to_pandas(), target(table))
    assert search.best_params_ == {"tableencoder__max_levels": 50}


def test_clones_have_parameters_only():
    encoder = TableEncoder(7, min_count=2, categorical=["count"], dtype="float32").fit(mixed())
    again = clone(encoder)
    assert again.get_params() == encoder.get_params()
    assert not hasattr(again, "state_")
    assert pickle.loads(pickle.dumps(encoder)).state_ == encoder.state_  # noqa: S301


@pytest.mark.parametrize(("library", "kind"), [("pandas", pd.DataFrame), ("polars", pl.DataFrame)])
def test_features_may_be_a_table_again(library, kind):
    frame = mixed(50).to_pandas().set_index(np.arange(100, 150))
    X = TableEncoder().fit_transform(frame)
    with config_context(transform_output=library):
        table = TableEncoder().fit(frame).transform(frame)
    assert isinstance(table, kind)
    assert list(table.columns) == list(TableEncoder().fit(frame).get_feature_names_out())
    np.testing.assert_array_equal(table.to_numpy(), X)
    if library == "pandas":
        assert list(table.index) == list(frame.index)
    assert isinstance(TableEncoder().set_output(transform=library).fit_transform(frame), kind)


def test_some_columns_of_a_table():
    frame = mixed(50).to_pandas()
    some = ColumnTransformer([("text", TableEncoder(), ["colour", "size"])], remainder="drop")
    X = some.fit_transform(frame)
    assert some.get_feature_names_out()[-2:].tolist() == ["text__size", "text__size=missing"]
    np.testing.assert_array_equal(X, TableEncoder().fit_transform(frame[["colour", "size"]]))
