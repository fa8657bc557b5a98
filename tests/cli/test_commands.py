"""The commands on real files, run as a user would: in processes of their own."""

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_diabetes, load_iris

from elmband import load

pytest.importorskip("pyarrow")


def run(*arguments, given=None, cwd=None, code=0):
    """Run elmband; return what it printed and what it complained about."""
    result = subprocess.run(
        [sys.executable, "-m", "elmband", *map(str, arguments)],
        input=given,
        capture_output=True,
        cwd=cwd,
        check=False,
        env={**os.environ, "COLUMNS": "200", "NO_COLOR": "1"},
    )
    said, complained = result.stdout.decode(), result.stderr.decode()
    assert result.returncode == code, said + complained
    assert "Traceback" not in complained
    assert "Warning" not in complained
    return said, complained


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Tables with text, dates and gaps, and models trained on them."""
    where = tmp_path_factory.mktemp("tables")
    rng = np.random.default_rng(0)
    X, y = load_diabetes(return_X_y=True)
    table = pd.DataFrame(X[:, :4], columns=["age", "sex", "bmi", "bp"])
    table["town"] = rng.choice(["Oslo", "Rome", "Turku"], len(y))
    table["day"] = pd.Timestamp("2024-01-01") + pd.to_timedelta(rng.integers(0, 700, len(y)), "D")
    table.loc[::7, "bmi"] = np.nan
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


def test_predictions_are_those_of_the_model(folder, tmp_path):
    out = tmp_path / "out.parquet"
    run("predict", "patients.safetensors", "patients.parquet", "-o", out, "--level", "0.5",
        "--level", "0.9", "--keep", "town", cwd=folder)  # fmt: skip
    found = pd.read_parquet(out)
    expected = ["town", "mean", "lower_0.5", "upper_0.5", "lower_0.9", "upper_0.9"]
    assert list(found.columns) == expected
    model = load(folder / "patients.safetensors")
    table = pd.read_parquet(folder / "patients.parquet")
    X = pd.DataFrame(model.encoder_.transform(table), columns=model.feature_names_in_)
    np.testing.assert_allclose(found["mean"], model.predict(X))
    interval = model.predict_interval(X, 0.9)
    np.testing.assert_allclose(found[["lower_0.9", "upper_0.9"]], interval)
    covered = (table["progress"] >= found["lower_0.9"]) & (table["progress"] <= found["upper_0.9"])
    assert 0.85 < covered.mean() < 0.97


def test_standard_input_and_output(folder):
    text = (folder / "patients.csv").read_bytes()
    said, _ = run("predict", "patients.safetensors", "-", "-o", "-", given=text, cwd=folder)
    lines = said.splitlines()
    assert lines[0] == '"mean","lower_0.95","upper_0.95"'
    assert len(lines) == 443
    packed = (folder / "patients.parquet").read_bytes()
    again, _ = run("predict", "patients.safetensors", "-", "-o", "-", given=packed, cwd=folder)
    assert again == said


def test_evaluate_for_people_and_for_machines(folder):
    command = ("evaluate", "patients.safetensors", "patients.csv", "-t", "progress")
    said, _ = run(*command, cwd=folder)
    assert "coverage" in said
    facts = json.loads(run(*command, "--json", cwd=folder)[0])
    assert facts["n"] == 442
    assert [level["confidence_level"] for level in facts["levels"]] == [0.5, 0.9, 0.95]
    said, _ = run("evaluate", "iris.safetensors", "iris.csv", "-t", "species", cwd=folder)
    assert "answered" in said


def test_triage_loses_no_row(folder, tmp_path):
    certain, review = tmp_path / "certain.csv", tmp_path / "review.parquet"
    said, _ = run("triage", "iris.safetensors", "iris.csv", "-o", certain, "--review", review,
                  "--coverage", "0.6", "--json", cwd=folder)  # fmt: skip
    counts = json.loads(said)
    taken, left = pd.read_csv(certain), pd.read_parquet(review)
    assert len(taken) == counts["accepted"]
    assert len(taken) + len(left) == sum(counts.values()) == 150
    assert set(taken["reason"]) == {"accepted"}
    assert "accepted" not in set(left["reason"])
    assert (taken["label"] == taken["species"]).mean() > 0.98
    run("triage", "patients.safetensors", "patients.csv", "-o", certain, "--review", review,
        "--max-width", "150", "--level", "0.8", cwd=folder)  # fmt: skip
    widths = pd.read_csv(certain).eval("`upper_0.8` - `lower_0.8`")
    assert widths.max() <= 150


def test_info(folder):
    facts = json.loads(run("info", "iris.safetensors", "--json", cwd=folder)[0])
    assert facts["classes"] == ["setosa", "versicolor", "virginica"]
    assert facts["statement"].startswith("Estimated, not promised: at most 5 %")
    said, _ = run("info", "patients.safetensors", cwd=folder)
    assert "town=Oslo" in said


def test_numbers_of_classes_and_published_mode(folder, tmp_path):
    rows = np.random.default_rng(0).standard_normal((300, 3))
    np.save(tmp_path / "rows.npy", np.column_stack([rows, rows[:, 0] > 0]))
    run("fit", tmp_path / "rows.npy", "-t", "-1", "--classes", "--published", "--neurons",
        "linear=3,tanh=10", "-o", tmp_path / "m.safetensors", cwd=folder)  # fmt: skip
    assert load(tmp_path / "m.safetensors").classes_.tolist() == [0, 1]


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (b"", "Empty CSV file"),
        (b"a,b,y\n", "no rows"),
        (b"a;b;y\n1;2;3\n4;5;6\n", "y"),
        (bytes(range(256)) * 20, ""),
        (b"a,b\n1,2\n3,4\n", "'y'"),
        (b"a,y\n1,2\n2\n", ""),
        (b"a,y\nx,1\ny,high\n", ""),
        (b"a,y\n\xff\xfe,1\n\xe9,2\n", ""),
    ],
    ids=["empty", "header", "delimiter", "junk", "no target", "ragged", "mixed", "not utf-8"],
)
def test_broken_tables_get_one_sentence(tmp_path, content, sentence):
    (tmp_path / "broken.csv").write_bytes(content)
    _, complained = run("fit", "broken.csv", "-t", "y", "-o", "m.safetensors", cwd=tmp_path, code=1)
    assert complained.startswith("Error: ")
    assert sentence in complained
    assert complained.count("\n") == 1
    assert [path.name for path in tmp_path.iterdir()] == ["broken.csv"]


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["info", "nothing.safetensors"], "There is no model file nothing.safetensors"),
        (["info", "patients.csv"], "is no model file, or it is damaged"),
        (["predict", "patients.safetensors", "iris.csv", "-o", "x.csv"], "age"),
        (["predict", "patients.safetensors", "patients.csv", "-o", "x.pdf"], "endings"),
        (["triage", "patients.safetensors", "patients.csv", "-o", "x.csv", "--review", "z.csv"],
         "--max-width"),
        (["fit", "patients.csv", "-t", "progress", "-o", "no/m.safetensors"], "does not exist"),
        (["fit", "patients.csv", "-t", "progress", "--neurons", "many", "-o", "x.safetensors"],
         "--neurons 'many'"),
        (["fit", "patients.csv", "-t", "progress", "--exclude", "wrong", "-o", "x.safetensors"],
         "--exclude names 'wrong'"),
        (["fit", "patients.csv", "-t", "progress", "--max-error", ".1", "-o", "x.safetensors"],
         "--max-error is for classes"),
    ],
)  # fmt: skip
def test_mistakes_get_one_sentence(folder, arguments, sentence):
    before = set(folder.iterdir())
    _, complained = run(*arguments, cwd=folder, code=1)
    assert sentence in complained
    assert set(folder.iterdir()) == before


def test_wrong_usage_has_its_own_status(folder):
    run("fit", cwd=folder, code=2)
    run("nonsense", cwd=folder, code=2)


@pytest.mark.parametrize(
    "command", ["fit", "predict", "evaluate", "triage", "report", "info", "export", "pixels"]
)
def test_help_has_an_example(command):
    said, _ = run(command, "--help")
    assert f"Example: elmband {command}" in said


def test_a_closed_pipe_ends_quietly(folder):
    command = (
        f"{sys.executable} -m elmband predict patients.safetensors patients.csv -o - | head -1"
    )
    result = subprocess.run(
        ["/bin/bash", "-c", command], cwd=folder, capture_output=True, check=True, env=os.environ
    )
    assert result.stdout.decode().strip() == '"mean","lower_0.95","upper_0.95"'
    assert b"Traceback" not in result.stderr


def test_the_page_and_the_onnx_file_are_written(folder, tmp_path):
    pytest.importorskip("onnx")
    run("report", "patients.safetensors", "patients.csv", "-t", "progress", "-o",
        tmp_path / "report.html", cwd=folder)  # fmt: skip
    assert Path(tmp_path / "report.html").read_text(encoding="utf-8").startswith("<!")
    run("export", "patients.safetensors", "-o", tmp_path / "model.onnx", cwd=folder)
    assert (tmp_path / "model.onnx").stat().st_size > 1000
