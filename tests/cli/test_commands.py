"""What the commands do on tables with text, dates and gaps."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from forked import run

from elmband import load

pytestmark = pytest.mark.slow

pytest.importorskip("pyarrow")


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
    told = json.loads(said)
    taken, left = pd.read_csv(certain), pd.read_parquet(review)
    assert (len(taken), len(left)) == (told["accepted"], told["review"])
    assert sum(told["reasons"].values()) == told["rows"] == 150
    assert told["statement"].startswith("Estimated, not promised: 60 % of all rows")
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
    assert "town  text     3 of 3 levels, missing" in said


def test_numbers_of_classes_and_published_mode(folder, tmp_path):
    rows = np.random.default_rng(0).standard_normal((300, 3))
    np.save(tmp_path / "rows.npy", np.column_stack([rows, rows[:, 0] > 0]))
    run("fit", tmp_path / "rows.npy", "-t", "-1", "--classes", "--published", "--neurons",
        "linear=3,tanh=10", "-o", tmp_path / "m.safetensors", cwd=folder)  # fmt: skip
    assert load(tmp_path / "m.safetensors").classes_.tolist() == [0, 1]


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["info", "nothing.safetensors"], "There is no model file nothing.safetensors"),
        (["info", "patients.csv"], "is no model file, or it is damaged"),
        (["predict", "patients.safetensors", "iris.csv", "-o", "x.csv"], "age"),
        (["triage", "patients.safetensors", "patients.csv", "-o", "x.csv", "--review", "z.csv"],
         "--max-width"),
        (["fit", "patients.csv", "-t", "progress", "-o", "no/m.safetensors"], "does not exist"),
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


@pytest.mark.parametrize(
    "command",
    [
        *("fit", "predict", "evaluate", "triage", "report", "info", "export", "pixels", "demo"),
        "reproduce",
    ],
)
def test_help_has_an_example(command):
    said, _ = run(command, "--help")
    assert f"Example: elmband {command}" in said


def test_missing_text_means_the_same_to_fit_and_predict(folder, tmp_path):
    out = tmp_path / "out.csv"
    run("predict", "patients.safetensors", "patients.csv", "-o", out, cwd=folder)
    model = load(folder / "patients.safetensors")
    table = pd.read_parquet(folder / "patients.parquet")
    X = pd.DataFrame(model.encoder_.transform(table), columns=model.feature_names_in_)
    np.testing.assert_allclose(pd.read_csv(out)["mean"], model.predict(X))


def test_columns_may_change_their_look_far_down(folder, tmp_path):
    # Arrow tells types by the first megabyte: whole numbers, and no text at all.
    rows = pd.DataFrame({"bmi": np.zeros(150_000, dtype=int), "note": None, "id": 7})
    rows.loc[149_999, "bmi"] = 1
    for name in ("age", "sex", "bp"):
        rows[name] = 0.01
    rows["town"], rows["day"] = "Oslo", "2024-05-05"
    text = rows.to_csv(index=False).rstrip().rpartition("\n")[0]
    text += '\n0.5,"far, ""down""\nhere",7,0.01,0.01,0.01,Oslo,2024-05-05\n'
    (tmp_path / "long.csv").write_text(text, encoding="utf-8")
    run("predict", "patients.safetensors", tmp_path / "long.csv", "-o", tmp_path / "out.parquet",
        "--keep", "note", "--keep", "id", cwd=folder)  # fmt: skip
    found = pd.read_parquet(tmp_path / "out.parquet")
    assert len(found) == 150_000
    assert found["note"].iloc[-1] == 'far, "down"\nhere'
    assert found["id"].dtype == np.int64
    assert found["mean"].round(6).nunique() == 2


def test_the_page_and_the_onnx_file_tell_what_was_written(folder, tmp_path):
    pytest.importorskip("onnx")
    page, graph = tmp_path / "report.html", tmp_path / "model.onnx"
    said, _ = run("report", "patients.safetensors", "patients.csv", "-t", "progress", "-o", page,
                  "--json", cwd=folder)  # fmt: skip
    told = json.loads(said)
    assert (told["rows"], told["level"], told["output"]) == (442, 0.9, str(page))
    assert told["bytes"] == page.stat().st_size
    command = ("evaluate", "patients.safetensors", "patients.csv", "-t", "progress", "--level", 0.9)
    (level,) = json.loads(run(*command, "--json", cwd=folder)[0])["levels"]
    assert told["coverage"] == pytest.approx(level["coverage"])
    assert told["mean_width"] == pytest.approx(level["mean_width"])
    assert page.read_text(encoding="utf-8").startswith("<!")
    told = json.loads(run("export", "iris.safetensors", "-o", graph, "--json", cwd=folder)[0])
    assert told["bytes"] == Path(graph).stat().st_size
    assert {"label", "probability", "confidence", "accepted"} == set(told["outputs"]) - {"decision"}


def test_fit_tells_machines_what_it_learned(folder, tmp_path):
    command = ("fit", "iris.csv", "-t", "species", "--neurons", 20, "--exclude", "sepal width (cm)")
    told = json.loads(run(*command, "-o", tmp_path / "m.safetensors", "--json", cwd=folder)[0])
    assert (told["rows"], told["features"], told["kind"]) == (150, 3, "classes")
    assert told["classes"] == ["setosa", "versicolor", "virginica"]
    assert told["bytes"] == (tmp_path / "m.safetensors").stat().st_size
    assert "statement" not in told


def test_tables_to_try_the_commands_on(tmp_path):
    told = json.loads(run("demo", "--tables", ".", "--json", cwd=tmp_path)[0])
    assert told["rows"] == {"train.csv": 331, "test.csv": 111}
    train, test = (pd.read_csv(tmp_path / name) for name in told["rows"])
    assert list(train.columns) == list(test.columns)
    assert train.columns[-1] == "progress"
    assert len(pd.concat([train, test]).drop_duplicates()) == 442
