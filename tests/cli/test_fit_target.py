"""What ``elmband fit`` is told of its target: scale, range, and rows that count zero times."""

import json

import numpy as np
import pandas as pd
import pytest
import typer

from elmband import load
from elmband.cli import app

pytest.importorskip("pyarrow")

FIT = ("fit", "t.csv", "--neurons", "5", "-o", "m.st")


@pytest.fixture
def here(tmp_path, monkeypatch):
    rng = np.random.default_rng(0)
    table = pd.DataFrame({"x": rng.normal(size=60), "patient": np.arange(60) // 6})
    table["price"] = np.exp(table["x"])
    table["change"] = table["x"] + 0.1 * rng.normal(size=60)
    table["kind"] = np.where(table["x"] > 0, "up", "down")
    table["count"] = np.arange(60) % 3
    table.to_csv(tmp_path / "t.csv", index=False)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def command(*parts):
    app([str(part) for part in parts], standalone_mode=False)


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (("--transform", "log"), "log needs values of change above 0; their least value"),
        (("--transform", "LOG1P"), "log1p needs values of change of at least 0; their"),
        (("--transform", "logit"), "logit needs values of change strictly between 0 and 1"),
        (("--target-range", "0,"), "--target-range 0, needs values of change at or above 0; they"),
    ],
)
@pytest.mark.usefixtures("here")
def test_targets_that_an_option_is_not_for_are_refused_in_its_words(options, sentence):
    """Before, they were told of target_transform=('logit', low, high) and pairs of functions."""
    with pytest.raises(ValueError, match=sentence) as refused:
        command(*FIT, "-t", "change", "--feature", "x", *options)
    assert str(refused.value).startswith(options[0])
    assert "'" not in str(refused.value)


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (("--transform", "box-cox"), 'none of "auto", "none", "log", "log1p" and "logit"'),
        (("--target-range", "5,1"), "must have its lower end first"),
        (("--symmetric", "perhaps"), '--symmetric .perhaps. is none of "auto", "yes" and "no"'),
    ],
)
@pytest.mark.usefixtures("here")
def test_what_is_no_scale_or_range_is_told_before_any_work(options, sentence):
    with pytest.raises(typer.BadParameter, match=sentence):
        command("fit", "t.csv", "-t", "change", "-o", "m.st", *options)


@pytest.mark.parametrize("name", ["--transform", "--target-transform"])
@pytest.mark.usefixtures("here")
def test_the_transform_has_two_names(name):
    command(*FIT, "-t", "price", "--feature", "x", name, "log")
    assert load("m.st").target_transform == "log"


@pytest.mark.parametrize(("word", "value"), [("auto", "auto"), ("yes", True), ("NO", False)])
@pytest.mark.usefixtures("here")
def test_tails_are_alike_or_not_as_asked(word, value, capsys):
    command(*FIT, "-t", "change", "--feature", "x", "--symmetric", word, "--json")
    model = load("m.st")
    assert model.symmetric == value
    assert json.loads(capsys.readouterr().out)["symmetric"] is model.symmetric_
    if value != "auto":
        assert model.symmetric_ is value
    command("info", "m.st")
    assert ("each side of the mean has bounds" in capsys.readouterr().out) != model.symmetric_


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (("--transform", "log", "--classes"), "--transform is for numbers, --classes for classes"),
        (("--symmetric", "no", "--max-error", "0.1"), "--symmetric is for numbers, --max-error"),
        (("--target-range", "0,", "--positive", "up"), "--target-range is for numbers, --positive"),
        (("--symmetric", "no", "--published"), "--symmetric no needs the default noise model"),
        (("--feature", "x", "--exclude", "kind"), "leave out --exclude"),
    ],
)
def test_options_that_do_not_go_together_are_refused_before_any_work(options, sentence, tmp_path):
    with pytest.raises(ValueError, match=sentence):
        command("fit", tmp_path / "none.csv", "-t", "y", "-o", tmp_path / "m.st", *options)


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (("--max-fpr", "0.1"), "--max-fpr needs --positive of fit, the class"),
        (("--max-fpr", "0.1", "--positive", "z"), "--positive 'z' is none of the classes 'a', 'b'"),
    ],
)
def test_wishes_that_need_a_class_are_refused_before_the_fit(here, options, sentence, monkeypatch):
    table = pd.read_csv("t.csv").assign(three=np.array(["a", "b", "c"])[np.arange(60) % 3])
    table.to_csv(here / "t.csv", index=False)
    monkeypatch.setattr("elmband.ELMSelectiveClassifier.fit", None)
    with pytest.raises(ValueError, match=sentence):
        command(*FIT, "-t", "three", "--feature", "x", *options)


@pytest.mark.usefixtures("here")
def test_what_is_for_classes_is_refused_for_numbers():
    """Before, --positive was told of an invalid parameter of an estimator."""
    with pytest.raises(ValueError, match="--positive is for classes; add --classes"):
        command(*FIT, "-t", "change", "--positive", "1")
    with pytest.raises(ValueError, match="--transform is for numbers; the target is classes"):
        command(*FIT, "-t", "kind", "--transform", "log")


@pytest.mark.slow
@pytest.mark.parametrize("target", ["price", "kind"])
def test_rows_of_weight_zero_need_no_target(here, target):
    """Before, they were refused for it: zero equals dropping the row."""
    table = pd.read_csv("t.csv")
    table.loc[table["count"] == 0, target] = None
    table.to_csv("t.csv", index=False)
    columns = ("-t", target, "--feature", "x", "--weight", "count")
    command(*FIT, *columns)
    table[table["count"] > 0].to_csv("t.csv", index=False)
    command(*FIT[:-1], "dropped.st", *columns)
    one, other = (load(here / name).predict(table[["x"]]) for name in ("m.st", "dropped.st"))
    np.testing.assert_array_equal(one, other)
    table.loc[table["count"] == 2, target] = None
    table.to_csv("t.csv", index=False)
    with pytest.raises(ValueError, match=f"'{target}' (holds|has) "):
        command(*FIT, *columns)


@pytest.mark.usefixtures("here")
def test_info_tells_of_groups(capsys):
    command(*FIT, "-t", "price", "--feature", "x", "--groups", "patient")
    command("info", "m.st")
    assert "groups      10 of patient, each left out as a whole" in capsys.readouterr().out
    command(*FIT, "-t", "price", "--feature", "x")
    command("info", "m.st")
    assert "left out as a whole" not in capsys.readouterr().out


@pytest.mark.usefixtures("here")
def test_scales_are_named_in_words(capsys):
    """Before, people were told of Log() and of BoxCox(shape=(0.5,), log_centre=(...))."""
    command(*FIT, "-t", "price", "--feature", "x", "--transform", "log")
    capsys.readouterr()
    command("info", "m.st")
    assert "\nscale       learned on the scale of logarithms\n" in capsys.readouterr().out


@pytest.mark.usefixtures("here")
def test_two_values_may_be_classes(capsys):
    table = pd.read_csv("t.csv")
    table["paid"] = (table["x"] > 0).astype(int)
    table.to_csv("t.csv", index=False)
    command(*FIT, "-t", "paid", "--feature", "x")
    assert "takes two values, 0 and 1, and is learned as a number: --classes if" in (
        " ".join(capsys.readouterr().err.split())
    )
    command(*FIT, "-t", "paid", "--feature", "x", "--classes")
    assert "two values" not in capsys.readouterr().err
