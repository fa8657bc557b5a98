"""The commands on real files: from a table to decisions."""

import json

import numpy as np
import pandas as pd
import pytest
from forked import run

pytest.importorskip("pyarrow")
pytestmark = [pytest.mark.realdata, pytest.mark.slow]


def test_plasma(data_folder, tmp_path):
    table = pd.read_csv(data_folder / "plasma" / "plasma.csv").sample(frac=1, random_state=0)
    table[:215].to_csv(tmp_path / "train.csv", index=False)
    table[215:].to_csv(tmp_path / "test.csv", index=False)
    run("fit", "train.csv", "-t", "betaplasma", "--exclude", "retplasma", "-o", "m.safetensors",
        cwd=tmp_path)  # fmt: skip
    command = ("evaluate", "m.safetensors", "test.csv", "-t", "betaplasma", "--level", 0.9)
    told = json.loads(run(*command, "--json", cwd=tmp_path)[0])
    # Three standard errors of a share of 100 rows.
    assert told["levels"][0]["coverage"] > 0.9 - 3 * 0.03
    run("predict", "m.safetensors", "test.csv", "-o", "out.csv", "--level", 0.9, cwd=tmp_path)
    found, truth = pd.read_csv(tmp_path / "out.csv"), table[215:]["betaplasma"].to_numpy()
    covered = (truth >= found["lower_0.9"]) & (truth <= found["upper_0.9"])
    assert covered.mean() == pytest.approx(told["levels"][0]["coverage"])


def test_flights(data_folder, tmp_path):
    parquet = pytest.importorskip("pyarrow.parquet")
    file = parquet.ParquetFile(data_folder / "flights" / "flights-3m.parquet")
    table = next(file.iter_batches(batch_size=60_000)).to_pandas()
    table["delay"] = table["delay"].clip(-60, 300)
    table = table.sample(frac=1, random_state=0)
    table[:40_000].to_parquet(tmp_path / "train.parquet")
    table[40_000:].to_parquet(tmp_path / "test.parquet")
    fit = ("fit", "train.parquet", "-t", "delay", "--neurons", 30, "-o", "m.safetensors")
    told = json.loads(run(*fit, "--json", cwd=tmp_path)[0])
    assert told["rows"] == 40_000
    split = ("triage", "m.safetensors", "test.parquet", "-o", "a.parquet", "--review", "r.csv")
    told = json.loads(run(*split, "--max-width", 80, "--level", 0.9, "--json", cwd=tmp_path)[0])
    accepted = pd.read_parquet(tmp_path / "a.parquet")
    assert 0 < len(accepted) == told["accepted"] < 20_000
    rows = pd.concat([accepted["delay"], pd.read_csv(tmp_path / "r.csv")["delay"]])
    np.testing.assert_array_equal(np.sort(rows), np.sort(table[40_000:]["delay"]))
    covered = accepted["delay"].between(accepted["lower_0.9"], accepted["upper_0.9"])
    assert covered.mean() > 0.85
