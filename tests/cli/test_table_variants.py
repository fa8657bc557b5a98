"""One table written in many ways: the same model and the same bounds, or one sentence about it."""

import bz2
import gzip
import io
import json
import lzma
import re
import zipfile

import numpy as np
import pandas as pd
import pytest
from forked import run
from running import is_one_sentence

from elmband import TableEncoder
from elmband.sources.encode.notes import ColumnWarning

pyarrow = pytest.importorskip("pyarrow")
pytestmark = pytest.mark.slow

TRAIN, TEST = 260, 60
FIT = ("--target", "price", "--neurons", "20")


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(4)
    n = TRAIN + TEST
    day = pd.Timestamp("2024-01-01") + pd.to_timedelta(rng.integers(0, 600, n), "D")
    made = pd.DataFrame(
        {
            "size": np.round(rng.uniform(20, 90, n), 2),
            "rooms": rng.integers(1, 6, n),
            "town": rng.choice(["Oslo", "Rome", "Turku"], n),
            "sold": day.strftime("%Y-%m-%d"),
        }
    )
    price = 3 * made["size"] + 10 * made["rooms"] + 40 * (made["town"] == "Oslo")
    made["price"] = np.round(price + rng.normal(0, 12, n), 1)
    return made


def as_csv(text, folder, name, ending=".csv", wrapped=bytes, encoding="utf-8"):
    path = folder / f"{name}{ending}"
    path.write_bytes(wrapped(text.encode(encoding)))
    return path.name


def zipped(content):
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("table.csv", content)
    return made.getvalue()


def halves(table, folder, write):
    """Write the rows to train on and those to predict."""
    folder.mkdir(exist_ok=True)
    return write(table.head(TRAIN), "train"), write(table.tail(TEST), "test")


def bounds(folder, train, test, *options, fit=()):
    """Fit and predict by the command; return answers and what was said on the way."""
    told = run("fit", train, *FIT, *fit, *options, "-o", "m.safetensors", cwd=folder)
    asked = ("predict", "m.safetensors", test, "--level", "0.9", *options)
    more = run(*asked, "-o", "answers.parquet", cwd=folder)
    return pd.read_parquet(folder / "answers.parquet"), "".join((*told, *more))


@pytest.fixture(scope="module")
def expected(table, tmp_path_factory):
    folder = tmp_path_factory.mktemp("plain")

    def write(part, name):
        return as_csv(part.to_csv(index=False), folder, name)

    return bounds(folder, *halves(table, folder, write))[0]


def dialect(**how):
    ending, wrapped, encoding = (
        how.pop(key, default)
        for key, default in (("ending", ".csv"), ("wrapped", bytes), ("encoding", "utf-8"))
    )
    return lambda part, folder, name: as_csv(
        part.to_csv(index=False, **how), folder, name, ending, wrapped, encoding
    )


def zstandard(content):
    return pyarrow.compress(content, codec="zstd", asbytes=True)


WRITTEN = {
    "semicolons": dialect(sep=";"),
    "semicolons and decimal commas": dialect(sep=";", decimal=","),
    "tabs": dialect(sep="\t", ending=".tsv"),
    "tabs in csv": dialect(sep="\t"),
    "bars": dialect(sep="|"),
    "a mark of the byte order": dialect(encoding="utf-8-sig"),
    "UTF-16": dialect(encoding="utf-16"),
    "DOS line ends": dialect(lineterminator="\r\n"),
    "all in quotes": dialect(quoting=1),
    "gzip": dialect(ending=".csv.gz", wrapped=gzip.compress),
    "bzip2": dialect(ending=".csv.bz2", wrapped=bz2.compress),
    "xz": dialect(ending=".csv.xz", wrapped=lzma.compress),
    "zip": dialect(ending=".csv.zip", wrapped=zipped),
    "zstandard": dialect(ending=".csv.zst", wrapped=zstandard),
    "blank lines at the end": lambda part, folder, name: as_csv(
        part.to_csv(index=False) + "\n\n", folder, name
    ),
}


@pytest.mark.parametrize("how", WRITTEN)
def test_however_a_table_is_written_bounds_are_the_same(table, expected, tmp_path, how):
    found, _ = bounds(
        tmp_path,
        *halves(table, tmp_path, lambda part, name: WRITTEN[how](part, tmp_path, name)),
    )
    pd.testing.assert_frame_equal(found, expected, rtol=1e-9, check_names=True)


def test_columns_are_found_by_name_in_any_order(table, expected, tmp_path):
    def write(part, name):
        part = part[["price", "town", "sold", "size", "rooms"]] if name == "test" else part
        return as_csv(part.to_csv(index=False), tmp_path, name)

    found, _ = bounds(tmp_path, *halves(table, tmp_path, write))
    pd.testing.assert_frame_equal(found, expected, rtol=1e-9)


def test_parquet_with_dates_as_text_is_the_same(table, expected, tmp_path):
    def write(part, name):
        part.to_parquet(tmp_path / f"{name}.parquet", index=False)
        return f"{name}.parquet"

    found, _ = bounds(tmp_path, *halves(table, tmp_path, write))
    pd.testing.assert_frame_equal(found, expected, rtol=1e-9)


@pytest.mark.parametrize(
    "form", ["%Y/%m/%d", "%d.%m.%Y", "%m/%d/%Y", "%d/%m/%Y", "%Y-%m-%dT%H:%M:%S"]
)
def test_dates_in_other_forms_are_the_same(table, expected, tmp_path, form):
    other = table.assign(sold=pd.to_datetime(table["sold"]).dt.strftime(form))
    found, _ = bounds(
        tmp_path,
        *halves(other, tmp_path, lambda part, name: dialect()(part, tmp_path, name)),
    )
    pd.testing.assert_frame_equal(found, expected, rtol=1e-9)


def test_dates_whose_order_nobody_can_tell_stay_text_and_fit_says_so(table, tmp_path):
    first = pd.to_datetime(table["sold"]).dt.strftime("%m")
    other = table.assign(sold=first + "/" + "0" + (table["rooms"]).astype(str) + "/2024")
    other.to_csv(tmp_path / "train.csv", index=False)
    said, complained = run("fit", "train.csv", *FIT, "-o", "m.safetensors", cwd=tmp_path)
    assert "sold" in said + complained
    assert "--types sold=date:" in said + complained
    run("fit", "train.csv", *FIT, "--types", "sold=date:mdy", "-o", "m.safetensors", cwd=tmp_path)
    facts = json.loads(run("info", "m.safetensors", "--json", cwd=tmp_path)[0])
    assert "dates" in json.dumps(facts)


MARKS = ["-", ".", "?", "N/A", "#N/A", "none", "null", " - ", "NA", ""]


@pytest.mark.parametrize("mark", MARKS)
def test_a_mark_of_absence_among_numbers_is_a_missing_value(table, tmp_path, mark):
    answers = []
    for number, value in enumerate((mark, "")):
        cells = table["size"].astype(str)
        cells[5], cells[77] = value, value
        folder = tmp_path / str(number)
        other = table.assign(size=cells)
        files = halves(other, folder, lambda part, name, here=folder: dialect()(part, here, name))
        answers.append(bounds(folder, *files)[0])
    pd.testing.assert_frame_equal(*answers, rtol=1e-9)


def broken(table, folder, *options, **columns):
    """Fit to a table with other columns, which is refused, and return the sentence."""
    table.assign(**columns).to_csv(folder / "train.csv", index=False)
    _, complained = run("fit", "train.csv", *FIT, *options, "-o", "m", cwd=folder, code=1)
    assert is_one_sentence(complained), complained
    assert not (folder / "m").exists()
    return complained


def test_stray_words_among_numbers_are_told_by_row_with_what_to_do(table, tmp_path):
    cells = table["size"].astype(str)
    cells[[3, 40, 41, 100, 200, 250]] = "unknown yet"
    complained = broken(table, tmp_path, size=cells)
    assert "'size'" in complained
    assert "unknown yet" in complained
    assert "row 3" in complained or "rows 3" in complained
    assert "--types size=number" in complained
    said, noted = run("fit", "train.csv", *FIT, "--types", "size=number", "-o", "m", cwd=tmp_path)
    assert "6" in said + noted
    facts = json.loads(run("info", "m", "--json", cwd=tmp_path)[0])
    assert "size=missing" in json.dumps(facts)


def test_one_stray_word_far_down_is_told_by_row(table, tmp_path):
    # Beyond the first block, by which Arrow tells types.
    many = pd.concat([table] * 300, ignore_index=True)
    cells = many["size"].astype(str)
    cells[90_000] = "tall"
    complained = broken(many, tmp_path, size=cells)
    assert "'size'" in complained
    assert "tall" in complained
    assert "90000" in complained or "90,000" in complained
    assert "--types size=text" in complained


def test_missing_targets_are_dropped_on_request_only(table, tmp_path):
    gaps = table["price"].copy()
    gaps[[2, 9, 30]] = np.nan
    assert "--drop-missing-targets" in broken(table, tmp_path, price=gaps)
    said, noted = run("fit", "train.csv", *FIT, "--drop-missing-targets", "-o", "m", cwd=tmp_path)
    assert "3 rows" in said + noted


def test_a_table_without_any_target_is_told_of(table, tmp_path):
    complained = broken(table, tmp_path, "--drop-missing-targets", price=np.nan)
    assert "There is no row with a weight above zero and a target" in complained


def test_weights_of_text_are_told_of(table, tmp_path):
    """Before, the advice was on features."""
    complained = broken(table, tmp_path, "--weight", "town")
    assert "column 'town' is of type string, not numbers; name a column of numbers" in complained


def test_a_renamed_column_is_missed_by_name(table, tmp_path):
    table.to_csv(tmp_path / "train.csv", index=False)
    table.rename(columns={"town": "Town"}).to_csv(tmp_path / "test.csv", index=False)
    run("fit", "train.csv", *FIT, "-o", "m", cwd=tmp_path)
    _, complained = run("predict", "m", "test.csv", "-o", "a.csv", cwd=tmp_path, code=1)
    assert is_one_sentence(complained)
    assert "'town'" in complained
    assert not (tmp_path / "a.csv").exists()


def test_a_new_level_is_answered_with_a_note(table, tmp_path):
    table.to_csv(tmp_path / "train.csv", index=False)
    table.head(20).assign(town="Bergen").to_csv(tmp_path / "test.csv", index=False)
    run("fit", "train.csv", *FIT, "-o", "m", cwd=tmp_path)
    _, noted = run("predict", "m", "test.csv", "-o", "a.csv", cwd=tmp_path)
    assert "town" in noted
    assert np.isfinite(pd.read_csv(tmp_path / "a.csv").to_numpy()).all()


def test_two_columns_of_one_name_are_refused(table, tmp_path):
    text = table.to_csv(index=False).replace("rooms", "size", 1)
    as_csv(text, tmp_path, "train")
    _, complained = run("fit", "train.csv", *FIT, "-o", "m", cwd=tmp_path, code=1)
    assert is_one_sentence(complained)
    assert "two columns named 'size'" in complained


def test_text_in_another_encoding_is_named_with_its_option(table, tmp_path):
    text = table.replace({"town": {"Turku": "Åbo"}}).to_csv(index=False)
    as_csv(text, tmp_path, "train", encoding="latin-1")
    _, complained = run("fit", "train.csv", *FIT, "-o", "m", cwd=tmp_path, code=1)
    assert is_one_sentence(complained)
    assert "--encoding" in complained
    run("fit", "train.csv", *FIT, "--encoding", "latin-1", "-o", "m", cwd=tmp_path)
    facts = run("info", "m", "--json", cwd=tmp_path)[0]
    assert "Åbo" in json.dumps(json.loads(facts), ensure_ascii=False)


MARKED = {"$1234": "${:.0f}", "thousands": "{:,.0f}", "percent": "{:.1f}%", "unit": "{:.2f} m2"}


@pytest.mark.parametrize("form", MARKED.values(), ids=MARKED)
def test_numbers_with_currencies_percent_signs_and_units_are_told_of(table, tmp_path, form):
    """Before, prices in dollars were left out, and a target of percents was learned as classes."""
    cells = (table["size"] * 100).map(form.format)
    table.assign(size=cells).to_csv(tmp_path / "train.csv", index=False)
    _, noted = run("fit", "train.csv", *FIT, "-o", "learned", cwd=tmp_path)
    assert f"Note: 'size' has numbers such as {cells[0]} and is read as text: write" in noted
    complained = broken(table, tmp_path, "--types", "size=number", size=cells)
    assert "no value of it is one" in complained
    complained = broken(table, tmp_path, price=cells)
    assert re.search("numbers such as .* in its target column", complained)
    assert "--classes" in complained
    with pytest.warns(ColumnWarning, match="read as text: write them without currencies"):
        TableEncoder().fit(table.assign(size=cells))


def test_a_target_of_numbers_as_text_is_told_of(table, tmp_path):
    table.assign(price=table["price"].astype(str)).to_parquet(tmp_path / "train.parquet")
    _, complained = run("fit", "train.parquet", *FIT, "-o", "m", cwd=tmp_path, code=1)
    assert is_one_sentence(complained)
    assert "holds the numbers of its target column as text" in complained


def test_names_of_rows_are_no_classes(table, tmp_path):
    """Before, each was a class, and a fit of 398 rows took 12 seconds."""
    names = table["town"] + table.index.astype(str)
    assert "rather names of rows than classes" in broken(table, tmp_path, price=names)


def test_a_word_among_the_truths_is_told_by_row(table, tmp_path):
    table.to_csv(tmp_path / "train.csv", index=False)
    run("fit", "train.csv", *FIT, "-o", "m", cwd=tmp_path)
    cells = table["price"].astype(str)
    cells[17] = "unknown"
    table.assign(price=cells).to_csv(tmp_path / "test.csv", index=False)
    _, complained = run("evaluate", "m", "test.csv", cwd=tmp_path, code=1)
    assert is_one_sentence(complained)
    assert "test.csv, row 17: column 'price' holds 'unknown', which is not a number" in complained


@pytest.mark.parametrize("form", ["%d-%b-%y", "%d. %m. %Y", "%A, %d %B %Y", "%d %b %Y %I:%M %p"])
def test_dates_of_letters_and_spreadsheets_are_dates(table, tmp_path, form):
    days = pd.to_datetime(table["sold"]).dt.strftime(form)
    table.assign(sold=days).to_csv(tmp_path / "train.csv", index=False)
    run("fit", "train.csv", *FIT, "-o", "m", cwd=tmp_path)
    said, _ = run("info", "m", cwd=tmp_path)
    assert "sold   dates    year, season, weekday" in said


@pytest.mark.parametrize("form", ["%Y-%m", "%b-%y", "%Y-%m-%d 10:20 CET"])
def test_what_looks_like_dates_and_is_not_read_is_told_of(table, tmp_path, form):
    days = pd.to_datetime(table["sold"]).dt.strftime(form)
    table.assign(sold=days).to_csv(tmp_path / "train.csv", index=False)
    _, noted = run("fit", "train.csv", *FIT, "-o", "m", cwd=tmp_path)
    assert f"Note: 'sold' holds what looks like dates, such as '{days[0]}', in a form" in noted


def test_whole_numbers_that_look_like_dates_are_told_of(table, tmp_path):
    days = pd.to_datetime(table["sold"]).dt.strftime("%Y%m%d")
    table.assign(sold=days).to_csv(tmp_path / "train.csv", index=False)
    _, noted = run("fit", "train.csv", *FIT, "-o", "m", cwd=tmp_path)
    assert f"'sold' holds whole numbers such as {days[0]} that look like dates" in noted
    assert "--types sold=date makes dates of them" in noted
    _, noted = run("fit", "train.csv", *FIT, "--types", "sold=date", "-o", "m", cwd=tmp_path)
    assert "sold" not in noted
    assert "sold   dates" in run("info", "m", cwd=tmp_path)[0]


def test_huge_numbers_that_hardly_differ_do_not_drown_the_others(table, tmp_path):
    """Before, they were taken for constant, and no longer for near each other."""
    both = []
    for name, first in (("small", 0), ("huge", 10**18)):
        table.assign(id=first + 7 * np.arange(len(table))).to_csv(tmp_path / name, index=False)
        (tmp_path / name).rename(tmp_path / f"{name}.csv")
        run("fit", f"{name}.csv", *FIT, "-o", "m", cwd=tmp_path)
        said, _ = run("evaluate", "m", f"{name}.csv", "--json", cwd=tmp_path)
        both.append(json.loads(said)["rmse"])
    assert both[1] < 1.2 * both[0]


@pytest.mark.parametrize("above", ["Sales of houses\n", "# made by hand\n\n"])
def test_a_title_above_a_table_is_told_of(table, tmp_path, above):
    as_csv(above + table.to_csv(index=False), tmp_path, "train")
    _, complained = run("fit", "train.csv", *FIT, "-o", "m", cwd=tmp_path, code=1)
    assert is_one_sentence(complained)
    assert "mend it, or take out lines that are no rows." in complained


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("", "empty"),
        ("size,rooms,price\n", "no rows"),
        ("size,rooms,price\n1,2,3\n", "row"),
        ("size,rooms,price\n1,2\n3,4,5\n", "line 2"),
        ("size,rooms,cost\n1,2,3\n4,5,6\n", "'price'"),
    ],
)
def test_what_is_no_table_gets_one_sentence(tmp_path, text, word):
    as_csv(text, tmp_path, "train")
    _, complained = run("fit", "train.csv", *FIT, "-o", "m", cwd=tmp_path, code=1)
    assert is_one_sentence(complained)
    assert word in complained.lower()
    assert not (tmp_path / "m").exists()
