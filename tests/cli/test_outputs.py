"""Outputs that would replace or join what is read are refused before any work is done."""

import os
import shutil

import numpy as np
import pandas as pd
import pytest
import typer
from running import in_shell, is_one_sentence, run

from elmband.cli import app

pytestmark = pytest.mark.slow

pytest.importorskip("pyarrow")

ROWS = 80
FIT = ("fit", "t.csv", "-t", "y", "--neurons", 5)


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A table, rows held out, a model, and a folder with parts of the table."""
    where = tmp_path_factory.mktemp("outputs")
    rng = np.random.default_rng(0)
    table = pd.DataFrame({"x": rng.normal(size=ROWS), "z": rng.normal(size=ROWS)})
    table["y"] = table["x"] + rng.normal(size=ROWS)
    table.to_csv(where / "t.csv", index=False)
    table.to_csv(where / "held.csv", index=False)
    (where / "parts").mkdir()
    table[:40].to_csv(where / "parts" / "a.csv", index=False)
    table[40:].to_csv(where / "parts" / "b.csv", index=False)
    run(*FIT, "-o", "m.st", cwd=where)
    shutil.copy(where / "m.st", where / "m.html")
    return where


@pytest.fixture
def here(made, tmp_path, monkeypatch):
    """A copy of it to be in, with other names for its files."""
    monkeypatch.chdir(tmp_path)
    shutil.copytree(made, tmp_path, dirs_exist_ok=True)
    (tmp_path / "soft.csv").symlink_to("t.csv")
    os.link(tmp_path / "t.csv", tmp_path / "hard.csv")
    os.link(tmp_path / "m.st", tmp_path / "hard.html")
    (tmp_path / "elsewhere").symlink_to("parts", target_is_directory=True)
    return tmp_path


def contents(folder):
    found = sorted(path for path in folder.rglob("*") if path.is_file())
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in found}


def refused(here, *command, error=(ValueError, OSError)):
    """Run a command here, which ends at once with one sentence, and changes nothing."""
    before = contents(here)
    with pytest.raises(error) as caught:
        app([str(part) for part in command], standalone_mode=False)
    assert contents(here) == before
    said = str(caught.value)
    assert said.endswith(".")
    assert "\n" not in said
    return said


NAMES = ["t.csv", "./t.csv", "parts/../t.csv", "soft.csv", "hard.csv"]
TRIAGE = ("triage", "m.st", "t.csv", "--max-width", 9)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(
    "command",
    [
        FIT,
        ("fit", "held.csv", "-t", "y", "--neurons", 5, "--calibrate", "t.csv"),
        ("predict", "m.st", "t.csv"),
        ("predict", "m.st", "t.csv", "--workers", 1),
        (*TRIAGE, "--review", "r.csv"),
    ],
)
def test_an_output_is_no_input_by_any_name(here, command, name):
    said = refused(here, *command, "-o", name)
    assert f"The output {name} is the same file as the input t.csv" in said


@pytest.mark.parametrize(
    "command",
    [
        ("predict", "m.csv", "t.csv", "-o", "m.csv"),
        ("triage", "m.st", "t.csv", "--max-width", 9, "-o", "o.csv", "--review", "hard.csv"),
        ("export", "m.st", "-o", "m.st"),
        ("report", "m.html", "t.csv", "-t", "y", "-o", "hard2.html"),
        ("fit", "t.csv", "-t", "y", "--calibrate", "held.csv", "-o", "held.csv"),
    ],
)
def test_neither_models_nor_rows_held_out_are_lost(here, command):
    shutil.copy(here / "m.st", here / "m.csv")
    os.link(here / "m.html", here / "hard2.html")
    assert "same file as the input" in refused(here, *command)


@pytest.mark.parametrize("data", ["parts", "parts/*.csv", "./parts/../part*", "**/?.csv"])
@pytest.mark.parametrize("name", ["parts/a.csv", "parts/n.csv", "elsewhere/n.csv"])
def test_an_output_does_not_join_the_files_that_are_read(here, data, name):
    if data == "**/?.csv":
        # It would match the other names of the folder and of the tables too.
        (here / "elsewhere").unlink()
        name = name.replace("elsewhere", "parts")
        (here / "t.csv").unlink()
    said = refused(here, "predict", "m.st", data, "-o", name)
    assert "among the files" in said or "same file" in said


def test_a_refusal_is_one_sentence_and_a_status(here):
    _, said = run("predict", "m.st", "t.csv", "-o", "hard.csv", cwd=here, code=1)
    assert is_one_sentence(said)
    assert "The output hard.csv is the same file as the input t.csv" in said


def test_an_output_may_stand_beside_what_is_read(here):
    for data, name in (("parts/*.csv", "parts/new.parquet"), ("t.csv", "new.csv")) * 2:
        app(["predict", "m.st", data, "-o", name], standalone_mode=False)
    assert len(pd.read_csv(here / "new.csv")) == ROWS


def test_streams_that_a_shell_leads_to_the_table(here):
    before = contents(here)
    for line in (
        "elmband predict m.st - -o t.csv < t.csv",
        "elmband predict m.st t.csv -o - >> t.csv",
        "elmband predict m.st - -o - < t.csv >> t.csv",
        "elmband export - -o m.st < m.st",
    ):
        assert "is the same file as the input" in in_shell(line, here, code=1)[1]
        assert contents(here) == before
    in_shell("cat t.csv | elmband predict m.st - -o - | cat > o.csv", here)
    assert len(pd.read_csv(here / "o.csv")) == ROWS


def test_two_outputs_are_two_files(here):
    (here / "o.csv").write_text("before")
    (here / "link.csv").symlink_to("o.csv")
    os.link(here / "o.csv", here / "twin.csv")
    for other in ("o.csv", "./o.csv", "link.csv", "twin.csv"):
        outputs = ("-o", "o.csv", "--review", other)
        said = refused(here, *TRIAGE, *outputs, error=typer.BadParameter)
        assert "cannot both go to o.csv" in said
    said = refused(here, *TRIAGE, "-o", "-", "--review", "-", error=typer.BadParameter)
    assert "standard output" in said
    assert (here / "o.csv").read_text() == "before"


@pytest.mark.parametrize(
    "command",
    [("predict", "m.st", "t.csv"), FIT, ("export", "m.st"), (*TRIAGE, "--review", "r.csv")],
)
def test_outputs_that_cannot_be_written_are_refused_at_once(here, command):
    (here / "old.csv").write_text("kept")
    (here / "old.csv").chmod(0o444)
    (here / "folder.csv").mkdir()
    for name, words in {
        "nowhere/o.csv": "does not exist; make it first",
        "folder.csv": "is a folder",
        "old.csv": "is there already and read-only",
        "m.html/o.csv": "does not exist",
    }.items():
        assert words in refused(here, *command, "-o", name)


def test_a_model_is_not_written_into_its_checkpoint(here):
    (here / "ck").mkdir()
    for name in ("ck/m.st", "ck2"):
        folder = name.partition("/")[0]
        said = refused(here, *FIT, "--checkpoint", folder, "-o", name)
        assert f"The output {name} lies in the checkpoint {folder}" in said


def test_pages_of_the_paper_are_not_written_among_the_data(here):
    (here / "data" / "images").mkdir(parents=True)
    for given, out in (("--data", "data"), ("--photos", "data"), ("--photos", "data/images")):
        said = refused(here, "reproduce", "figures", given, "data", "-o", out)
        assert "which is read" in said
    (here / "file").write_text("kept")
    assert "file could not be written" in refused(here, "reproduce", "figures", "-o", "file")


def test_tables_of_the_demonstration_appear_both_or_none(here):
    (here / "demo").mkdir()
    (here / "demo" / "test.csv").mkdir()
    assert "test.csv is a folder" in refused(here, "demo", "--tables", "demo")
