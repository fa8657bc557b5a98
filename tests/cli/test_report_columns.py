"""``elmband report --by`` and the note on rows that were in training."""

import json
import re

import pandas as pd
import pytest
from running import run

from elmband.datasets import make_heteroscedastic

pytest.importorskip("pyarrow")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("rows")
    for name, seed in (("train", 0), ("test", 1)):
        data = make_heteroscedastic(300, random_state=seed)
        frame = pd.DataFrame({"x": data.X[:, 0], "town": ["Rome", "Oslo", ""] * 100, "y": data.y})
        frame["day"] = pd.date_range("2024-01-01", periods=300)
        frame.to_csv(folder / f"{name}.csv", index=False)
    run("fit", "train.csv", "-t", "y", "--feature", "x", "-o", "m.safetensors", "--neurons", 10,
        cwd=folder)  # fmt: skip
    return folder


def page_of(folder):
    text = (folder / "report.html").read_text("utf-8")
    return json.loads(re.search('id="report-data">(.*?)</script>', text)[1])


@pytest.mark.slow
def test_rows_are_split_by_columns_that_are_no_features(folder):
    run("report", "m.safetensors", "test.csv", "-t", "y", "--by", "town", "--by", "day", cwd=folder)
    town, day = page_of(folder)["groups"]
    assert [(line["label"], line["n"]) for line in town["rows"]] == [
        ("Oslo", 100),
        ("Rome", 100),
        ("missing", 100),
    ]
    assert day["rows"][0]["label"] == "Jan 2024"
    assert day["rows"][0]["n"] == 31
    command = ("report", "m.safetensors", "test.csv", "-t", "y", "--by", "twon")
    _, complained = run(*command, cwd=folder, code=1)
    assert "no column 'twon'" in complained


@pytest.mark.slow
@pytest.mark.parametrize("command", ["report", "evaluate"])
def test_rows_of_training_are_noted(folder, command):
    told, noted = run(command, "m.safetensors", "train.csv", "-t", "y", "--json", cwd=folder)
    assert json.loads(told)["in_training"] == 1
    assert "All of these rows were in training" in " ".join(noted.split())
    told, noted = run(command, "m.safetensors", "test.csv", "-t", "y", "--json", cwd=folder)
    assert json.loads(told)["in_training"] == 0
    assert "training" not in noted
