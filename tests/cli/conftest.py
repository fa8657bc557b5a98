"""Tables with text, dates and gaps, and models trained on them."""

import numpy as np
import pandas as pd
import pytest
from forked import run
from sklearn.datasets import load_diabetes, load_iris


@pytest.fixture(scope="session")
def folder(tmp_path_factory):
    pytest.importorskip("pyarrow")
    where = tmp_path_factory.mktemp("tables")
    rng = np.random.default_rng(0)
    X, y = load_diabetes(return_X_y=True)
    table = pd.DataFrame(X[:, :4], columns=["age", "sex", "bmi", "bp"])
    table["town"] = rng.choice(["Oslo", "Rome", "Turku"], len(y))
    table["day"] = pd.Timestamp("2024-01-01") + pd.to_timedelta(rng.integers(0, 700, len(y)), "D")
    table.loc[::7, "bmi"] = np.nan
    table.loc[::11, "town"] = None
    table["progress"] = y
    table.to_csv(where / "patients.csv", index=False)
    table.to_parquet(where / "patients.parquet")
    flowers = load_iris(as_frame=True)
    species = flowers.target_names[flowers.target]
    flowers.data.assign(species=species).sample(frac=1, random_state=0).to_csv(
        where / "iris.csv", index=False
    )
    fit = ("fit", "patients.csv", "--target", "progress", "--neurons", "30")
    run(*fit, "-o", "patients.safetensors", cwd=where)
    run("fit", "iris.csv", "-t", "species", "--neurons", "40", "--max-error", "0.05", "-o",
        "iris.safetensors", cwd=where)  # fmt: skip
    return where
