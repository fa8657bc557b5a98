"""``evaluate --by``: coverage and width, or answers and errors, for the levels of any column."""

import json

import numpy as np
import pandas as pd
import pytest

from elmband import load, scan
from elmband.cli import app
from elmband.report.write import written_report

pytest.importorskip("pyarrow")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    where = tmp_path_factory.mktemp("by")
    rng = np.random.default_rng(0)
    n = 1500
    table = pd.DataFrame({"x": rng.normal(size=n)})
    table["town"] = rng.choice(["Rome", "Oslo", "Bari"], n, p=[0.5, 0.4, 0.1])
    table["day"] = pd.Timestamp("2024-01-01") + pd.to_timedelta(rng.integers(0, 360, n), "D")
    table["shop"] = np.where(np.arange(n) < 1485, "big", [f"shop {k // 2}" for k in range(n)])
    # Bari is wilder than a model without it can know.
    noise = rng.normal(size=n) * np.where(table["town"] == "Bari", 4.0, 1.0)
    table["y"] = table["x"] + noise
    table["kind"] = np.where(table["y"] > 0, "up", "down")
    table.loc[::50, "town"] = None
    table.iloc[:500].to_csv(where / "train.csv", index=False)
    table.iloc[500:].to_csv(where / "test.csv", index=False)
    table.iloc[500:].to_parquet(where / "test.parquet", row_group_size=130)
    fit = ("fit", where / "train.csv", "--feature", "x", "--neurons", "5", "-o")
    command(*fit, where / "m.st", "-t", "y")
    command(*fit, where / "c.st", "-t", "kind", "--max-error", "0.1")
    return where


def command(*parts):
    app([str(part) for part in parts], standalone_mode=False)


def told(capsys, *parts):
    capsys.readouterr()
    command("evaluate", *parts, "--json")
    return json.loads(capsys.readouterr().out)


def by_label(column):
    return {group["label"]: group for group in column["groups"]}


@pytest.mark.parametrize("data", ["test.csv", "test.parquet"])
def test_groups_are_those_of_a_table_in_memory(folder, data, capsys):
    (column,) = told(capsys, folder / "m.st", folder / data, "--by", "town")["by"]
    table = pd.read_csv(folder / "test.csv")
    bounds = load(folder / "m.st").predict_interval(table[["x"]], [0.9, 0.5, 0.95])
    table["town"] = table["town"].fillna("missing")
    found = by_label(column)
    assert set(found) == set(table["town"])
    for label, rows in table.groupby("town"):
        group = found[label]
        assert group["rows"] == len(rows)
        assert [level["confidence_level"] for level in group["levels"]] == [0.9, 0.5, 0.95]
        for k, level in enumerate(group["levels"]):
            low, high = bounds[rows.index, :, k].T
            held = (low <= rows["y"]) & (rows["y"] <= high)
            assert level["coverage"] == pytest.approx(held.mean())
            assert level["mean_width"] == pytest.approx((high - low).mean())


def test_the_worst_come_first_and_chance_gets_no_verdict(folder, capsys):
    (column,) = told(capsys, folder / "m.st", folder / "test.csv", "--by", "town")["by"]
    first, *others = column["groups"]
    assert (first["label"], first["levels"][0]["verdict"]) == ("Bari", "below")
    assert first["levels"][0]["coverage"] < 0.6
    assert by_label(column)["missing"]["levels"][0]["verdict"] == "chance"
    assert "below" not in {group["levels"][0]["verdict"] for group in others}
    off = [group["levels"][0]["deviations"] for group in others]
    assert off == sorted(off)


def test_too_many_may_hold_as_well(folder, tmp_path, capsys):
    table = pd.read_csv(folder / "test.csv")
    table.assign(y=table["x"] + 0.01 * (table["y"] - table["x"])).to_csv(tmp_path / "calm.csv")
    (column,) = told(capsys, folder / "m.st", tmp_path / "calm.csv", "--by", "town")["by"]
    assert by_label(column)["Rome"]["levels"][0]["verdict"] == "above"


def test_a_single_row_gets_no_verdict_and_comes_last(folder, tmp_path, capsys):
    table = pd.read_csv(folder / "test.csv").assign(shop="big")
    table.loc[5, ["shop", "y"]] = "alone", 1e6
    table.to_csv(tmp_path / "alone.csv")
    asked = (folder / "m.st", tmp_path / "alone.csv", "--by", "shop")
    (column,) = told(capsys, *asked)["by"]
    last = column["groups"][-1]
    assert (last["label"], last["rows"], last["levels"][0]["verdict"]) == ("alone", 1, None)
    command("evaluate", *asked)
    assert "too few rows" in capsys.readouterr().out


def test_rare_words_are_taken_together_with_a_note(folder, capsys):
    asked = (folder / "m.st", folder / "test.csv", "--by", "shop")
    (column,) = told(capsys, *asked)["by"]
    assert {label: group["rows"] for label, group in by_label(column).items()} == {
        "big": 985,
        "all others": 15,
    }
    assert column["pooled"] == 8
    command("evaluate", *asked)
    said = capsys.readouterr().out
    assert "8 values of shop with fewer than 10 rows each are taken together as all others." in said


def test_numbers_are_cut_at_quantiles_and_dates_into_months(folder, capsys):
    found = told(capsys, folder / "m.st", folder / "test.csv", "--by", "x", "--by", "day")["by"]
    numbers, dates = found
    assert [group["rows"] for group in numbers["groups"]] == [100] * 10
    months = pd.read_csv(folder / "test.csv", parse_dates=["day"])["day"].dt.strftime("%b %Y")
    rows = {label: group["rows"] for label, group in by_label(dates).items()}
    assert rows == months.value_counts().to_dict()


def test_rows_without_a_target_are_in_no_group(folder, tmp_path, capsys):
    table = pd.read_csv(folder / "test.csv")
    table.loc[::3, "y"] = None
    table.to_csv(tmp_path / "gaps.csv")
    asked = ("--by", "town", "--drop-missing-targets")
    (column,) = told(capsys, folder / "m.st", tmp_path / "gaps.csv", *asked)["by"]
    expected = table[table["y"].notna()]["town"].fillna("missing").value_counts().to_dict()
    rows = {label: group["rows"] for label, group in by_label(column).items()}
    assert rows == expected


def test_classes_have_answers_and_errors(folder, capsys):
    found = told(capsys, folder / "c.st", folder / "test.csv", "--by", "town")
    (column,) = found["by"]
    assert column["limit"] == 0.1
    table = pd.read_csv(folder / "test.csv")
    answers = load(folder / "c.st").triage(table[["x"]])
    table["answered"], table["wrong"] = answers.accepted, answers.label != table["kind"]
    table["town"] = table["town"].fillna("missing")
    for label, rows in table.groupby("town"):
        group, taken = by_label(column)[label], rows[rows["answered"]]
        assert group["answered"] == pytest.approx(rows["answered"].mean())
        assert group["error"] == pytest.approx(taken["wrong"].mean())
    assert column["groups"][0]["label"] == "Bari"
    assert column["groups"][0]["verdict"] == "more"


def test_people_get_a_table_that_fits_80_columns(folder, tmp_path, capsys):
    table = pd.read_csv(folder / "test.csv")
    long = "a town of [bold]many[/bold] letters, "
    table["town"] = table["town"].replace("Rome", 4 * long)
    table.rename(columns={"town": long}).to_csv(tmp_path / "long.csv", index=False)
    for model in ("m.st", "c.st"):
        command("evaluate", folder / model, tmp_path / "long.csv", "--by", long)
        said = capsys.readouterr().out.partition("the worst first")[2]
        assert max(map(len, said.splitlines())) <= 80
        assert "a town of [bold]many[/bold] l..." in said
        assert "Bari" in said


def test_one_table_for_each_level_that_was_asked_for(folder, capsys):
    asked = (folder / "m.st", folder / "test.csv", "--by", "town")
    command("evaluate", *asked)
    assert capsys.readouterr().out.count("Coverage of 90 % intervals by town") == 1
    command("evaluate", *asked, "--level", "0.8", "--level", "0.5")
    said = capsys.readouterr().out
    assert said.index("Coverage of 80 % intervals") < said.index("Coverage of 50 % intervals")
    assert "Coverage of 90 %" not in said


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (("--by", "twn"), "did you mean 'town'"),
        (("--by", "y"), "^'y' is the target"),
        (("--by", "town", "--by", "town"), "--by names 'town' twice"),
        (("--by", "town", "--weight", "x"), "leave --weight out"),
        (("--by", "town", "--workers", "2"), "leave --workers out"),
    ],
)
def test_what_cannot_be_grouped_gets_one_sentence(folder, options, sentence):
    with pytest.raises(ValueError, match=sentence) as refused:
        command("evaluate", folder / "m.st", folder / "test.csv", *options)
    assert "\n" not in str(refused.value)


def test_the_report_gives_the_same_verdicts(folder, tmp_path, capsys):
    pytest.importorskip("vl_convert")
    table = pd.read_csv(folder / "test.csv")
    table["shop"] = [f"shop {k // 20}" for k in range(len(table))]
    table.loc[:7, ["shop", "y"]] = "odd", 1e3
    table.loc[8:16, "shop"] = [f"new {k}" for k in range(9)]
    table.to_csv(tmp_path / "many.csv")
    (column,) = told(capsys, folder / "m.st", tmp_path / "many.csv", "--by", "shop")["by"]
    page = tmp_path / "page.html"
    content = written_report(
        load(folder / "m.st"),
        scan(tmp_path / "many.csv", target="y", features=["x"]),
        page,
        confidence_level=0.9,
        title=None,
        by=["shop"],
        unit=None,
    )
    (shown,) = content["groups"]
    words = {"broken": "below", "cautious": "above", None: None}
    report = {line["label"]: words.get(line["verdict"], "chance") for line in shown["rows"]}
    found = {group["label"]: group["levels"][0]["verdict"] for group in column["groups"]}
    assert report["odd"] == found["odd"] == "below"
    assert report.items() <= found.items()
    # All groups that fall short have a line, however few rows they have.
    assert shown["n_below"] == list(report.values()).count("below")
    assert shown["n_others"] == shown["count"] - len(report) > 20


def test_a_report_cannot_be_split_by_its_target(folder, tmp_path):
    with pytest.raises(ValueError, match="'y' is the target"):
        command(
            "report", folder / "m.st", folder / "test.csv", "--by", "y", "-o", tmp_path / "p.html"
        )
