"""What ``elmband fit`` is told of neurons that learn."""

import numpy as np
import pandas as pd
import pytest
import typer

from elmband import load
from elmband.cli import app

FIT = ("fit", "t.csv", "-t", "y", "-o", "m.st")


@pytest.fixture
def here(tmp_path, monkeypatch):
    rng = np.random.default_rng(0)
    table = pd.DataFrame(rng.normal(size=(150, 3)), columns=list("abc"))
    table["y"] = np.sin(2 * table["a"]) + 0.1 * rng.normal(size=150)
    table.to_csv(tmp_path / "t.csv", index=False)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def command(*parts):
    app([str(part) for part in parts], standalone_mode=False)


@pytest.mark.slow
def test_rounds_and_a_budget_are_handed_on(here):
    command(*FIT, "--learning-rounds", 0, "--max-neurons", 300)
    model = load(here / "m.st")
    assert (model.learning_rounds, model.max_neurons) == (0, 300)
    assert sum(member.features.hidden.n_neurons for member in model.members_) <= 300


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (
            ("--learning-rounds", "often"),
            "'often' is neither \"auto\" nor a whole number from 0 on",
        ),
        (("--learning-rounds", "-1"), "'-1' is neither \"auto\" nor a whole number from 0 on"),
        (("--learning-rounds", 2, "--neurons", 10), "--learning-rounds needs --neurons auto"),
        (("--max-neurons", 50, "--published"), "--max-neurons needs --neurons auto"),
    ],
)
def test_what_cannot_be_had_gets_a_sentence(here, options, sentence):
    with pytest.raises((ValueError, typer.BadParameter), match=sentence):
        command(*FIT, *options)
    assert not (here / "m.st").exists()
