"""What ``elmband fit`` is told of columns, and what it tells."""

import numpy as np
import pandas as pd
import pytest
import typer
from forked import run
from running import is_one_sentence

from elmband.cli._types import read_levels, read_types

pytestmark = pytest.mark.slow
N = 200


@pytest.fixture
def path(tmp_path):
    rng = np.random.default_rng(0)
    days = pd.Timestamp("2012-01-01") + pd.to_timedelta(rng.integers(0, 900, N), unit="D")
    hp = rng.integers(40, 200, N).astype(str).astype(object)
    hp[3], hp[5] = "-", "?"
    table = pd.DataFrame(
        {
            "hp": hp,
            "when": days.strftime("%m/%d/%Y"),
            "order": ["3/4/2012", "4/5/2012"] * (N // 2),
            "place": np.repeat([f"place {k}" for k in range(20)], N // 20),
            "a=b": rng.integers(0, 5, N),
            "id": np.arange(N),
            "y": rng.normal(size=N),
        }
    )
    table.to_csv(tmp_path / "rows.csv", index=False)
    return tmp_path / "rows.csv"


@pytest.fixture
def fit(path):
    model = path.with_name("model.safetensors")
    return lambda *more, code=0: run(
        *["fit", path, "-t", "y", "--neurons", 5, "-o", model], *more, code=code
    )


@pytest.mark.slow
def test_columns_are_what_they_are_said_to_be(fit, path):
    done, told = fit("--types", "order=date:dmy,a=b=text", "--types", "id=ignore")
    assert "Columns left out: id" in done
    assert "'order'" not in told
    summary, _ = run("info", path.with_name("model.safetensors"))
    lines = {line.split()[0]: line for line in summary.splitlines() if line}
    assert lines["hp"].endswith("value, missing")
    assert "text that is dates, month/day/year" in lines["when"]
    assert "text that is dates, day/month/year" in lines["order"]
    assert "5 of 5 levels" in lines["a=b"]
    assert "left out: ignored" in lines["id"]
    answers, _ = run("predict", path.with_name("model.safetensors"), path, "-o", "-")
    assert answers.count("\n") == N + 1


def test_what_people_may_not_expect_is_told(fit):
    _, told = fit("--max-levels", 5)
    assert (
        "Note: 'place' has 15 of 20 levels that are rare or too many and share one mark; "
        "--max-levels 20 gives 15 more their own."
    ) in told
    assert (
        "Note: 'order' holds dates that may be day/month/year or month/day/year, as nothing in "
        "them tells which: it stays text, --types order=date:dmy or --types order=date:mdy makes"
    ) in told


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (["--types", "plaze=text"], "Error: types names 'plaze', which is no column to lea"),
        (["--types", "y=text"], "Error: --types names 'y', which is the target and no feature."),
        (["--weight", "id", "--types", "id=text"], "--types names 'id', which is the weight"),
        (["--types", "order=date"], "--types order=date:dmy or --types order=date:mdy"),
        (["--types", "place=date"], "row 0: column 'place' holds 'place 0', which is not a date"),
    ],
)
def test_types_that_cannot_be_are_one_sentence(fit, options, sentence):
    _, told = fit(*options, code=1)
    assert is_one_sentence(told)
    assert sentence in told


@pytest.mark.slow
def test_a_few_words_among_numbers_are_told_with_their_rows(fit, path):
    lines = path.read_text().splitlines()
    lines[8] = "soon" + lines[8][lines[8].index(",") :]
    path.write_text("\n".join(lines))
    _, told = fit(code=1)
    assert is_one_sentence(told)
    assert (
        "rows.csv: column 'hp' holds numbers in 197 rows and text in 1, such as 'soon' (row 7)"
        in (told)
    )
    _, told = fit("--types", "hp=number")
    assert "Note: 'hp' is to be numbers, and holds text in 1 row, such as 'soon' (row 7)" in told
    _, told = fit("--types", "hp=text")
    assert "'soon'" not in told


def test_names_are_quoted_as_a_shell_needs_them(fit, path):
    """Before, options in errors broke at the blanks of a name."""
    text = path.read_text().replace("hp,when,order", "engine hp,when,day of order", 1)
    path.write_text(text)
    _, told = fit("--types", "day of order=date", code=1)
    assert "(--types 'day of order=date:dmy' or --types 'day of order=date:mdy')" in told
    lines = text.splitlines()
    lines[8] = "soon" + lines[8][lines[8].index(",") :]
    path.write_text("\n".join(lines))
    assert "(--types 'engine hp=number')" in fit(code=1)[1]


def test_short_dates_with_days_above_12_are_not_said_to_have_none(fit, path):
    """Before, 19.08.22 and the like were told of with a reason that was not true."""
    path.write_text(
        path.read_text().replace("3/4/2012", "19.08.22").replace("4/5/2012", "02.09.21")
    )
    _, told = fit()
    assert "day/month/year or year/month/day, as nothing in them tells which" in told


def test_columns_without_a_name_are_left_out_visibly(fit, path):
    path.write_text("".join(f"{line},\n" for line in path.read_text().splitlines()))
    assert "Columns left out: id, ''" in fit("--types", "id=ignore")[0].replace("'', id", "id, ''")
    summary, _ = run("info", path.with_name("model.safetensors"))
    assert "\n''     nothing   left out: it has no values" in summary


@pytest.mark.parametrize("mark", [" ", "'", "\u00a0", "\u202f"])
def test_numbers_with_any_mark_after_thousands_are_told_of(fit, path, mark):
    """Before, only commas and points were known: such a column was left out without a note."""
    lines = path.read_text().splitlines()
    cells = [f"{k % 9 + 1}{mark}{100 + k}" for k in range(N)]
    path.write_text("\n".join(f"{a},{b}" for a, b in zip(lines, ["pay", *cells], strict=True)))
    _, told = fit()
    assert f"has numbers such as 1{mark}100 and is read as text: write them without" in told


def test_files_without_names_have_no_types(tmp_path):
    np.save(tmp_path / "rows.npy", np.random.default_rng(0).normal(size=(50, 3)))
    fit = ["fit", tmp_path / "rows.npy", "-t", "2", "--neurons", 5, "-o", tmp_path / "m"]
    _, told = run(*fit, "--types", "x0=text", code=1)
    assert is_one_sentence(told)
    assert "--types and --max-levels are for tables whose columns have names" in told


@pytest.mark.parametrize(
    ("texts", "sentence"),
    [
        (["zip"], "'zip' says no type; write NAME=TYPE"),
        (["zip=word"], "says 'word'; a column may be number, text, date"),
        (["a=text,b"], "'b' says no type"),
        (["a=text", "a=date"], "says two things of 'a'; say one"),
    ],
)
def test_types_that_are_none(texts, sentence):
    with pytest.raises(typer.BadParameter, match=sentence):
        read_types(texts)


def test_levels_are_a_number_or_left_to_the_rule():
    assert read_levels("auto") == "auto"
    assert read_levels("150") == 150
    for text in ("0", "-1", "1.5", "many"):
        with pytest.raises(typer.BadParameter, match=r"--max-levels .* is neither \"auto\" nor a"):
            read_levels(text)
