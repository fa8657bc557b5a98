"""Exit statuses: what they mean, and that nothing is written but with status 0."""

import json

import numpy as np
import pandas as pd
import pytest
from running import in_shell, is_one_sentence, run

pytestmark = pytest.mark.slow

pytest.importorskip("pyarrow")


def test_the_main_help_tells_all_statuses():
    words = " ".join(run("--help")[0].split())
    for meaning in (
        "0 done",
        "1 a problem",
        "2 wrong usage",
        "3 the data",
        "130 interrupted",
        "143 (129) told to end",
    ):
        assert meaning in words


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["fit"], "Missing argument"),
        (["nonsense"], "No such command"),
        (["predict", "m", "d.csv", "-o", "x.csv", "--level", "95"], "95 does not lie between 0"),
        (["fit", "d.csv", "-t", "y", "-o", "m", "--neurons", "many"], "'many' is neither"),
        (["fit", "d.csv", "-t", "y", "-o", "m", "--max-error", ".1", "--coverage", ".5"],
         "--coverage and --max-error cannot both be asked for"),
        (["triage", "m", "d.csv", "-o", "x.pdf", "--review", "z.csv"], "none of the endings"),
        (["triage", "m", "d.csv", "-o", "-", "--review", "-"], "cannot both go to standard output"),
        (["predict", "-", "-", "-o", "x.csv"], "cannot both come from standard input"),
        (["report", "m", "d.csv", "-t", "y", "-o", "x.pdf"], "let it end in .html"),
    ],
)  # fmt: skip
def test_wrong_usage_is_2_whatever_the_files(tmp_path, arguments, sentence):
    said, complained = run(*arguments, cwd=tmp_path, code=2)
    assert said == ""
    assert sentence in complained
    assert list(tmp_path.iterdir()) == []


@pytest.fixture(scope="module")
def noise(tmp_path_factory):
    """Two kinds of rows, and labels that have nothing to do with them."""
    where = tmp_path_factory.mktemp("noise")
    rng = np.random.default_rng(0)
    for name in ("train.csv", "held.csv"):
        table = pd.DataFrame({"a": np.arange(60) % 2})
        table["answer"] = np.where(rng.random(60) < 0.5, "no", "yes")
        table.to_csv(where / name, index=False)
    return where


def test_a_promise_that_rows_held_out_cannot_keep_is_3(noise):
    command = ("fit", "train.csv", "-t", "answer", "--neurons", 5, "--calibrate", "held.csv")
    said, complained = run(*command, "--max-error", 0.01, "-o", "m.safetensors", cwd=noise, code=3)
    assert said == ""
    assert is_one_sentence(complained)
    assert "It cannot be promised with 95 % confidence" in complained
    assert not (noise / "m.safetensors").exists()


def test_a_promise_that_is_kept(folder, tmp_path):
    rows = pd.read_csv(folder / "iris.csv")
    rows[::2].to_csv(tmp_path / "train.csv", index=False)
    rows[1::2].to_csv(tmp_path / "held.csv", index=False)
    held, out = tmp_path / "held.csv", tmp_path / "m.safetensors"
    command = ("fit", tmp_path / "train.csv", "-t", "species", "--neurons", 20, "--calibrate", held)
    told = json.loads(run(*command, "--max-error", 0.2, "-o", out, "--json", cwd=folder)[0])
    assert told["statement"].startswith("Promised with 95 % confidence: at most 20 %")


def test_a_wish_that_no_row_can_keep_is_3(noise):
    run("fit", "train.csv", "-t", "answer", "--neurons", "linear=1", "-o", "any.safetensors",
        cwd=noise)  # fmt: skip
    command = ("triage", "any.safetensors", "held.csv", "-o", "a.csv", "--review", "b.csv")
    _, complained = run(*command, "--max-error", 0.0001, cwd=noise, code=3)
    assert "no row is answered" in complained
    _, complained = run(*command, cwd=noise, code=1)
    assert "--coverage 0.8" in complained
    assert not (noise / "a.csv").exists()


def test_tolerance_makes_a_check_of_an_evaluation(folder, tmp_path):
    table = pd.read_parquet(folder / "patients.parquet")
    table["progress"] += np.where(np.arange(len(table)) % 2, 300, 0)
    table.to_csv(tmp_path / "shifted.csv", index=False)
    command = ("evaluate", "patients.safetensors", tmp_path / "shifted.csv", "-t", "progress")
    said, complained = run(*command, "--tolerance", 0.05, "--json", cwd=folder, code=3)
    told = json.loads(said)
    assert told["kept"] is False
    seen, kept = complained.splitlines(keepends=True)
    assert seen.startswith("Note: 50 % of these rows are equal to rows of training")
    assert is_one_sentence(kept)
    share = told["levels"][0]["coverage"]
    assert f"Intervals of 50 % cover a share of {share:.4g} instead of 0.5" in complained
    right = ("evaluate", "patients.safetensors", "patients.csv", "-t", "progress")
    assert json.loads(run(*right, "--tolerance", 0.05, "--json", cwd=folder)[0])["kept"] is True
    flowers = ("evaluate", "iris.safetensors", "iris.csv", "-t", "species", "--tolerance", 0.01)
    assert "answered" in run(*flowers, cwd=folder)[0]


def test_closed_streams_are_told_of(folder):
    _, complained = in_shell("elmband predict iris.safetensors - -o x.csv <&-", folder, code=1)
    assert complained == "Error: Standard input is closed; there is nothing to read.\n"
    _, complained = in_shell("elmband predict iris.safetensors iris.csv -o - >&-", folder, code=1)
    assert complained == "Error: Standard output could not be written: it is closed.\n"
    assert not (folder / "x.csv").exists()
