"""``elmband fit --local-layers``, and what is told of columns with layers of their own."""

import json

import numpy as np
import polars as pl
import pytest
from running import run

from rough import rough

QUICK = ("--learning-rounds", "0", "--max-neurons", "600")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("local")
    rows = rough(10_500, 0, levels=30)
    days = (np.datetime64("2026-03-01T12:00") + 1440 * rows.X[:, 3].astype(int)).astype("M8[us]")
    columns = {f"x{j}": rows.X[:, j] for j in range(3)}
    columns |= {"when": days, "y": rows.y}
    pl.DataFrame(columns).write_parquet(folder / "rows.parquet")
    pl.DataFrame(columns).head(400).write_csv(folder / "few.csv")
    return folder


@pytest.mark.slow
def test_a_fit_tells_of_local_layers_and_so_do_info_and_the_report(folder):
    fit = ("fit", "rows.parquet", "--target", "y", "-o", "m.safetensors")
    said, _ = run(*fit, *QUICK, cwd=folder)
    assert "Layers of their own for every level lower errors by when (30 days, " in said
    facts = json.loads(run("info", "m.safetensors", "--json", cwd=folder)[0])
    assert facts["local_layers"][0]["part"] == "mean"
    assert "local " in run("info", "m.safetensors", cwd=folder)[0]
    run("report", "m.safetensors", "few.csv", "--target", "y", "-o", "page.html", cwd=folder)
    page = (folder / "page.html").read_text()
    assert "Every level of when (30 days, " in page
    run("predict", "m.safetensors", "few.csv", "-o", "bounds.csv", cwd=folder)
    assert not np.isnan(pl.read_csv(folder / "bounds.csv")["mean"].to_numpy()).any()


def test_none_has_none_and_a_column_asked_for_in_vain_is_told_of(folder):
    fit = ("fit", "few.csv", "--target", "y", "-o", "few.safetensors", *QUICK)
    assert "Layers" not in run(*fit, "--local-layers", "none", cwd=folder)[0]
    said = run(*fit, "--local-layers", "when", cwd=folder)
    assert "No level of when has a layer of its own" in " ".join(said)


@pytest.mark.parametrize(
    ("asked", "words", "code"),
    [
        (("auto", "when"), "stands alone", 2),
        (("town",), "names 'town', which is no column", 1),
    ],
)
def test_what_cannot_be_is_refused(folder, asked, words, code):
    options = [part for name in asked for part in ("--local-layers", name)]
    fit = ("fit", "few.csv", "--target", "y", "-o", "no.safetensors")
    _, complained = run(*fit, *options, cwd=folder, code=code)
    assert words in " ".join(complained.split())
    assert not (folder / "no.safetensors").exists()


def test_layers_of_ones_own_have_none(folder):
    fit = ("fit", "few.csv", "--target", "y", "-o", "no.safetensors", "--neurons", "20")
    _, complained = run(*fit, "--local-layers", "when", cwd=folder, code=1)
    assert "needs --neurons auto" in " ".join(complained.split())
