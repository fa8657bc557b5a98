"""``evaluate --tolerance`` ends with status 3 where a model misses what it was asked for."""

import json

import numpy as np
import pandas as pd
import pytest

from elmband.cli import app
from elmband.cli._status import UnkeptError
from elmband.cli._tolerance import Compared

pytest.importorskip("pyarrow")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    where = tmp_path_factory.mktemp("tolerance")
    rng = np.random.default_rng(0)
    table = pd.DataFrame({"x": rng.normal(size=600), "e": rng.normal(size=600)})
    table["y"] = table["x"] + table["e"]
    table["kind"] = np.where(table["y"] > 0, "up", "down")
    table.to_csv(where / "t.csv", index=False)
    # Less noise than in training, and more: intervals are too wide there, and too narrow.
    for name, factor in (("calm", 0.2), ("wild", 3.0)):
        table.assign(y=table["x"] + factor * table["e"]).to_csv(where / f"{name}.csv", index=False)
    fit = ("fit", where / "t.csv", "--feature", "x", "--neurons", "5", "-o")
    command(*fit, where / "m.st", "-t", "y")
    command(*fit, where / "c.st", "-t", "kind", "--max-error", "0.2")
    command(*fit, where / "s.st", "-t", "kind", "--coverage", "0.5")
    command(*fit, where / "n.st", "-t", "kind")
    return where


def command(*parts):
    app([str(part) for part in parts], standalone_mode=False)


@pytest.mark.parametrize(
    ("data", "words"),
    [
        ("calm.csv", "instead of 0.9, more than was asked for: they are too wide; --tolerance"),
        ("wild.csv", "instead of 0.9; --tolerance allows 0.05"),
    ],
)
def test_intervals_are_missed_in_both_directions(folder, data, words, capsys):
    """Before, intervals that cover all rows were as asked for."""
    asked = ("evaluate", folder / "m.st", folder / data, "--level", "0.9", "--json")
    with pytest.raises(UnkeptError, match=words):
        command(*asked, "--tolerance", "0.05")
    assert json.loads(capsys.readouterr().out)["kept"] is False
    command(*asked, "--tolerance", "0.6")
    assert json.loads(capsys.readouterr().out)["kept"] is True


def test_rows_like_those_of_training_are_within_chance(folder, capsys):
    command("evaluate", folder / "m.st", folder / "t.csv", "--tolerance", "0.06", "--json")
    assert json.loads(capsys.readouterr().out)["kept"] is True


def test_fewer_errors_than_allowed_never_count(folder, capsys):
    table = pd.read_csv(folder / "t.csv")
    table.assign(kind=np.where(table["x"] > 0, "up", "down")).to_csv(folder / "easy.csv")
    command("evaluate", folder / "c.st", folder / "easy.csv", "--tolerance", "0.01", "--json")
    told = json.loads(capsys.readouterr().out)
    assert (told["kept"], told["error"] < 0.1) == (True, True)
    table.assign(kind=np.where(table["x"] > 0, "down", "up")).to_csv(folder / "hard.csv")
    with pytest.raises(UnkeptError, match=r"answered rows that are right is .* instead of 0.8"):
        command("evaluate", folder / "c.st", folder / "hard.csv", "--tolerance", "0.01")


@pytest.mark.parametrize("scale", [0.1, 10])
def test_more_or_fewer_answers_than_asked_for_count(folder, scale):
    table = pd.read_csv(folder / "t.csv")
    table.assign(x=scale * table["x"]).to_csv(folder / "other.csv")
    with pytest.raises(UnkeptError, match=r"share of rows that are answered is .* instead of 0.5"):
        command("evaluate", folder / "s.st", folder / "other.csv", "--tolerance", "0.1")


def test_a_model_that_was_asked_for_nothing_cannot_miss_it(folder):
    with pytest.raises(ValueError, match="asked for nothing that --tolerance could check"):
        command("evaluate", folder / "n.st", folder / "t.csv", "--tolerance", "0.1")


def test_the_tolerance_itself_is_allowed():
    assert Compared("It is", 0.9, 0.95, both=True).missed(0.05) is None
    assert Compared("It is", 0.9, 0.85, both=True).missed(0.05) is None
    assert Compared("It is", 0.9, 0.8, both=True).missed(0.05) == "It is 0.8 instead of 0.9"
    assert Compared("It is", 0.9, 1.0, both=False).missed(0.05) is None
