"""Models know the name of what they predict, and of the columns of weights and groups."""

from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pytest

from elmband import (
    ELMClassifier,
    ELMIntervalRegressor,
    ELMRegressor,
    ELMSelectiveClassifier,
    load,
    merge,
    scan,
)

RNG = np.random.default_rng(0)
TABLE = pd.DataFrame(RNG.normal(size=(60, 2)), columns=["a", "b"])
TABLE["price"] = TABLE["a"] + 0.1 * RNG.normal(size=60)
TABLE["rise"] = (TABLE["a"] > 0).astype(int)
TABLE["often"] = 1.0 + np.arange(60) % 2
X = TABLE[["a", "b"]].to_numpy()

MODELS = [
    (ELMRegressor, "price"),
    (ELMIntervalRegressor, "price"),
    (ELMClassifier, "rise"),
    (ELMSelectiveClassifier, "rise"),
]


def of_series(model, target):
    return model.fit(TABLE[["a", "b"]], TABLE[target])


def of_scan(model, target):
    return model.fit(scan(TABLE, target=target, features=["a", "b"]))


@pytest.mark.parametrize("fit", [of_series, of_scan])
@pytest.mark.parametrize(("kind", "target"), MODELS)
def test_the_name_is_that_of_the_column_and_outlives_a_file(kind, target, fit, tmp_path):
    model = fit(kind(5, random_state=0), target)
    assert model.target_name_ == target
    assert load(model.save(tmp_path / "m.safetensors")).target_name_ == target
    # Another fit forgets it.
    assert model.fit(X, TABLE[target].to_numpy()).target_name_ is None


@pytest.mark.parametrize(
    "y",
    [
        TABLE["price"].to_numpy(),
        pd.Series(TABLE["price"].to_numpy()),
        TABLE["price"].rename(7),
        pl.Series(TABLE["price"].to_numpy()),
        TABLE[["price", "a"]],
    ],
    ids=["array", "without a name", "a number", "empty", "several"],
)
def test_targets_without_a_name_have_none(y):
    assert ELMRegressor(5).fit(X, y).target_name_ is None


def test_a_series_of_polars_has_a_name():
    y = pl.Series("price", TABLE["price"].to_numpy())
    assert ELMRegressor(5).fit(X, y).target_name_ == "price"


def test_before_a_fit_there_is_none():
    assert not hasattr(ELMRegressor(), "target_name_")


def test_rows_added_later_keep_the_name(tmp_path):
    model = ELMRegressor(5, random_state=0).partial_fit(TABLE[["a", "b"]], TABLE["price"])
    other = model.untrained().partial_fit(TABLE[["a", "b"]], TABLE["price"].to_numpy())
    model.partial_fit(TABLE[["a", "b"]], TABLE["price"].to_numpy())
    assert model.target_name_ == merge(model, other).target_name_ == "price"
    assert load(merge(model, other).save(tmp_path / "m.safetensors")).target_name_ == "price"


def test_dask_columns_have_names_and_dask_arrays_have_none():
    dask = pytest.importorskip("dask")
    dd, da = pytest.importorskip("dask.dataframe"), pytest.importorskip("dask.array")
    with dask.config.set(scheduler="synchronous"):
        table = dd.from_pandas(TABLE, npartitions=2)
        model = ELMRegressor(5).fit(table[["a", "b"]], table["price"])
        assert model.target_name_ == "price"
        arrays = da.from_array(X, chunks=30), da.from_array(TABLE["price"].to_numpy(), chunks=30)
        assert ELMRegressor(5).fit(*arrays).target_name_ is None


def test_weights_and_groups_are_known_by_their_names():
    rows = scan(TABLE, target="price", features=["a"], weight="often")
    assert rows.weight_name == "often"
    assert scan(TABLE, target="price").weight_name is None
    assert ELMRegressor(5).fit(rows).fitted_.training.roles.weight == "often"
    groups = pd.Series(np.arange(60) // 6, name="patient")
    model = ELMIntervalRegressor(5).fit(X, TABLE["price"], TABLE["often"], groups)
    assert model.fitted_.training.roles == ("price", "often", "patient")


def test_models_of_earlier_versions_do_not_know():
    files = sorted((Path(__file__).parent.parent / "models" / "0.1.0.dev1").glob("*.safetensors"))
    assert files
    assert {load(file).target_name_ for file in files} == {None}
