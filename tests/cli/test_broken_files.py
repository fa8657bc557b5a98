"""Broken tables get one sentence; odd ones that are in order are read."""

import numpy as np
import pandas as pd
import pytest
from forked import run
from running import is_one_sentence

from packed import zipped

pytestmark = pytest.mark.slow

pytest.importorskip("pyarrow")

ROWS = range(60)
TWO = zipped({"a.csv": b"a,y\n1,2\n", "b.csv": b"a,y\n1,2\n"})
BROKEN = {
    "empty": (b"", "it is empty"),
    "header only": (b"a,b,y\n", "no rows"),
    "ragged semicolons": (b"a;b;y\n1;2;3\n4;5\n7;8;9\n", "line 3 has another number of cells"),
    "decimals or thousands": (b"a;y\n1;1,234\n2;3,456\n", "decimal=',' or decimal='.' (--decimal)"),
    "two in an archive": (TWO, "it holds 2 files instead of one"),
    "binary junk": (bytes(range(256)) * 20, "is not text in UTF-8"),
    "no target": (b"a,b\n1,2\n3,4\n", "no column 'y'"),
    "ragged": (b"a,y\n1,2\n2\n", "line 3 has another number of cells (1) than the first (2)"),
    "mixed target": (
        b"a,y\n" + b"".join(b"%d,%s\n" % (i, b"%d" % i if i % 9 else b"high") for i in ROWS),
        "also text such as 'high'",
    ),
    "latin text": (
        b"a,y,t\n" + b"".join(b"%d,%d,\xc5bo\n" % (i, i) for i in ROWS),
        "not text in UTF-8",
    ),
    "latin names": (
        b"a\xe9,y\n" + b"".join(b"%d,%d\n" % (i, i) for i in ROWS),
        "not text in UTF-8",
    ),
    "10,000 columns": (
        (",".join(f"c{j}" for j in range(10_000)) + ",y\n").encode()
        + b"".join(b"%d," % i * 10_000 + b"%d\n" % i for i in range(20)),
        "10,001 columns or features, and beyond 4,000",
    ),
    "two of a name": (b"y,a,a\n1,2,3\n4,5,6\n", "two columns named 'a'"),
}


@pytest.mark.parametrize("name", BROKEN)
def test_fit_says_what_is_wrong_in_one_sentence(tmp_path, name):
    content, words = BROKEN[name]
    (tmp_path / "broken.csv").write_bytes(content)
    said, complained = run("fit", "broken.csv", "-t", "y", "-o", "m.safetensors", cwd=tmp_path,
                           code=1)  # fmt: skip
    assert said == ""
    assert is_one_sentence(complained)
    assert "broken.csv" in complained
    assert words in complained
    assert len(complained) < 300
    assert [path.name for path in tmp_path.iterdir()] == ["broken.csv"]


@pytest.mark.parametrize(
    ("ending", "content", "words"),
    [
        (".csv", b"", "it is empty"),
        (".csv", b"age,sex,bmi,bp,town,day\n", "no rows"),
        (".csv", b"age;sex\n1;2\n", "no column 'bmi', which the model was trained on"),
        (".csv", b"age,sex\n1,2\n", "no column 'bmi', which the model was trained on"),
        (".csv", b"age,sex,bmi,bp,town,day\nold,1,1,1,Oslo,2024-01-01\n",
         "column 'age' holds 'old', which is not a number"),
        (".csv", b"age,sex,bmi,bp,town,day\n1,1,1\n", "another number of cells (3) than"),
        (".csv", b"age,sex,bmi,bp,town,day\n1,1,1,1,\xc5bo,2024-01-01\n", "not text in UTF-8"),
        (".csv", bytes(range(256)) * 20, "is not text in UTF-8"),
        (".parquet", bytes(range(256)) * 20, "cannot be read"),
        (".arrow", b"ARROW1\0\0" + bytes(range(256)) * 20, "cannot be read"),
        (".h5", bytes(range(256)) * 20, "cannot be read"),
    ],
    ids=["empty", "header", "delimiter", "no column", "text", "ragged", "latin", "junk csv",
         "junk parquet", "junk arrow", "junk hdf5"],
)  # fmt: skip
def test_predict_says_what_is_wrong_in_one_sentence(folder, tmp_path, ending, content, words):
    path = tmp_path / f"broken{ending}"
    path.write_bytes(content)
    said, complained = run("predict", folder / "patients.safetensors", path.name, "-o", "out.csv",
                           cwd=tmp_path, code=1)  # fmt: skip
    assert said == ""
    assert is_one_sentence(complained)
    assert path.name in complained
    assert words in complained
    assert [file.name for file in tmp_path.iterdir()] == [path.name]


def test_standard_input_is_called_so(tmp_path):
    command = ("fit", "-", "-t", "y", "-o", "m.safetensors")
    _, complained = run(*command, given=b"a;b\n1;2\n", cwd=tmp_path, code=1)
    assert complained.startswith("Error: standard input has no column 'y'")
    _, complained = run(*command, given=b"", cwd=tmp_path, code=1)
    assert complained == "Error: Standard input is empty; there is nothing to read.\n"


def test_quotes_line_breaks_and_marks_of_order_are_read(tmp_path):
    rng = np.random.default_rng(0)
    table = pd.DataFrame({"a": rng.standard_normal(90), 'b "quoted",\nbroken': rng.random(90)})
    table["t"] = rng.choice(['say "A", then\nstop', "B", "Ünïcode, 漢字"], 90)
    table["y"] = table["a"] + (table["t"] == "B")
    path = tmp_path / "odd.csv"
    # As spreadsheets write it: a mark of byte order, and lines that end in two characters.
    table.to_csv(path, index=False, encoding="utf-8-sig", lineterminator="\r\n")
    run("fit", "odd.csv", "-t", "y", "--neurons", 10, "-o", "m.safetensors", cwd=tmp_path)
    run("predict", "m.safetensors", "odd.csv", "-o", "out.csv", "--keep", "t", cwd=tmp_path)
    found = pd.read_csv(tmp_path / "out.csv")
    assert found["t"].str.replace("\r\n", "\n").tolist() == table["t"].tolist()
    assert np.corrcoef(found["mean"], table["y"])[0, 1] > 0.95


def test_mixed_columns_are_text(tmp_path):
    lines = [f"{'few' if i % 3 else 4},{i % 3}" for i in ROWS]
    (tmp_path / "mixed.csv").write_text("\n".join(["a,y", *lines]), encoding="utf-8")
    run("fit", "mixed.csv", "-t", "y", "--neurons", 5, "-o", "m.safetensors", cwd=tmp_path)
    said, _ = run("info", "m.safetensors", cwd=tmp_path)
    assert "a  text  2 of 2 levels" in said
