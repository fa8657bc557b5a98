"""One table in every way that CSV is written, and what cannot be told apart."""

import io
import pickle
import zipfile

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from elmband import scan
from elmband.sources.encode import TableEncoder
from elmband.sources.stream import csv_bytes
from elmband.sources.stream.csv_dialect import CsvDialect, asked_dialect
from elmband.sources.stream.csv_sniff import dialect_of, other_delimiters
from packed import PACKED, zipped

pytest.importorskip("pyarrow")

FOUND = ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be"]
NAMED = ["cp1252", "utf-32"]


def table(n_rows=60):
    rng = np.random.default_rng(0)
    return pd.DataFrame(
        {
            "length, cm": rng.normal(size=n_rows).round(2),
            "größe": rng.choice(['say "a"; b', "c\td|e", "line\nbreak", "é,ü"], n_rows),
            "zip": rng.choice(["00501", "07030", "10001"], n_rows),
            "y": np.arange(n_rows) / 4,
        }
    )


def written(content, delimiter=",", decimal=".", encoding="utf-8", end="\n"):
    text = content.to_csv(index=False, sep=delimiter, decimal=decimal, lineterminator=end)
    return text.encode(encoding)


def read(path, **how):
    rows = scan(path, target="y", encoder=TableEncoder(), **how)
    chunks = list(rows.chunks(17))
    X, Y = (np.concatenate([getattr(c, part) for c in chunks]) for part in "XY")
    return rows.feature_names, X, Y


def dialect(tmp_path, content, name="rows.csv", **asked):
    path = tmp_path / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return dialect_of(path, asked_dialect(**asked))


@pytest.fixture(scope="module")
def plain(tmp_path_factory):
    path = tmp_path_factory.mktemp("plain") / "rows.csv"
    path.write_bytes(written(table()))
    return path, read(path)


@pytest.mark.slow
@given(
    st.sampled_from(",;\t|"),
    st.sampled_from(".,"),
    st.sampled_from(FOUND + NAMED),
    st.sampled_from(list(PACKED)),
    st.sampled_from(["\n", "\r\n"]),
    st.sampled_from([".csv", ".tsv"]),
)
def test_the_same_table_in_any_dialect_gives_the_same_chunks(
    plain, delimiter, decimal, encoding, packed, end, ending
):
    path, (names, X, Y) = plain
    path = path.with_name(f"other{ending}{packed}")
    path.write_bytes(PACKED[packed](written(table(), delimiter, decimal, encoding, end)))
    # Quoted numbers with commas, between commas, are text until somebody says so.
    how = {"decimal": decimal} if delimiter == "," else {}
    how |= {"encoding": encoding} if encoding in NAMED else {}
    found = read(path, **how)
    assert [name.replace("\r", "") for name in found[0]] == list(names)
    np.testing.assert_array_equal(found[1], X)
    np.testing.assert_array_equal(found[2], Y)


@pytest.mark.parametrize(
    ("content", "delimiter"),
    [
        ("a,b\n1,2\n3,4\n", ","),
        ("a;b\n1,5;2\n", ";"),
        ("a\tb, c\n1\t2,5\n1\t3\n", "\t"),
        ('a|"b;c"\n1|2\n', "|"),
        ("a;b,c;d\n1;2,3;4\n", ","),
        ("a\n1\n2\n", ","),
        ("note\nhello; world\nfine\n", ","),
        ("a;b;c\n1;2;3\n1;2\n1;2;3\n", ";"),
        ("a;b;c\n", ";"),
        ("a,b\n1,2\n3\n4,5\n", ","),
        ("", ","),
    ],
)
def test_what_separates_cells_is_found(tmp_path, content, delimiter):
    assert dialect(tmp_path, content).delimiter == delimiter


def test_tables_that_could_be_split_in_two_ways_are_known(tmp_path):
    found = dialect(tmp_path, "a;b,c;d\n1;2,3;4\n")
    assert other_delimiters(tmp_path / "rows.csv", found) == [";"]
    found = dialect(tmp_path, "a;b,c;d\n1;2,3;4\n", name="rows.tsv")
    assert found.delimiter in ",;"
    found = dialect(tmp_path, "a;b\n1;2,3\n")
    assert other_delimiters(tmp_path / "rows.csv", found) == []


@pytest.mark.parametrize(
    ("content", "decimal"),
    [
        ("a;b\n1,5;2\n-;3\n", ","),
        ("a;b\n1.5;2\n", "."),
        ("a;b\n1;2\n", "."),
        ('a;b\n"x, y";2\n', "."),
        ("a;b;c\n1,5;2,5;1.5\n", ","),
        ("a;b\n1,5;2.5\n", "."),
        ("a;b\n0,125;2\n1,250;2\n", ","),
        ("a;b\n1.234,5;7,5\n", ","),
        ("a;b\n1.234;x\n2.5;y\n950;z\n", "."),
        ('a,b\n"1,5",2\n', "."),
    ],
)
def test_the_decimal_point_is_found(tmp_path, content, decimal):
    assert dialect(tmp_path, content).decimal == decimal


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("a;b\n1,234;2\n2,345;3\n", "numbers such as 1,234, whose comma may come before decimals"),
        ("a;b\n950;2\n1.234;3\n2.000;3\n9.345;3\n", "whose point seems to come after thousands"),
    ],
)
def test_marks_of_thousands_are_no_guess(tmp_path, content, words):
    with pytest.raises(ValueError, match=words):
        dialect(tmp_path, content)
    assert dialect(tmp_path, content, decimal=".").decimal == "."


@pytest.mark.slow
def test_a_decimal_comma_far_down_is_told_of_with_what_names_it(tmp_path):
    path = tmp_path / "rows.csv"
    path.write_text("a;y\n" + "1;2\n" * 300_000 + "1,5;2\n")
    words = r"row 300000: column 'a' holds '1,5', .*; name the decimal point with decimal=','"
    with pytest.raises(ValueError, match=words):
        list(scan(path, target="y"))
    *_, last = scan(path, target="y", decimal=",")
    assert last.X[-1] == 1.5


@pytest.mark.parametrize(
    ("option", "given"),
    [
        ("delimiter", "ab"),
        ("delimiter", "5"),
        ("delimiter", "ü"),
        ("decimal", ";"),
        ("encoding", "klingon"),
        ("encoding", "base64"),
    ],
)
def test_dialects_that_cannot_be(plain, option, given):
    with pytest.raises(ValueError, match=f"^{option} must be .*; got {given!r}.$"):
        scan(plain[0], **{option: given})


def test_a_dialect_is_for_csv_only(tmp_path):
    np.save(tmp_path / "rows.npy", np.eye(3))
    for source in (tmp_path / "rows.npy", np.eye(3), [np.eye(3)], lambda: [np.eye(3)]):
        with pytest.raises(ValueError, match=r"decimal= \(--decimal\) is for CSV files, and .* is"):
            scan(source, decimal=",")


def test_a_file_whose_bytes_are_not_in_the_named_encoding(tmp_path):
    path = tmp_path / "rows.csv"
    path.write_bytes(b"a,y\n1,2\n\x81,3\n")
    with pytest.raises(ValueError, match=r"is not text in CP1252; name another encoding"):
        scan(path, encoding="cp1252")
    path.write_bytes(b"a,y\n" + b"1,2\n" * 300_000 + b"\x81,3\n")
    with pytest.raises(ValueError, match="text that is not in its encoding"):
        list(scan(path, target="y", encoding="cp1252"))


def test_a_fingerprint_tells_dialects_apart_that_were_named(tmp_path):
    path = tmp_path / "rows.csv"
    path.write_text('a,y\n"1,5",2\n1,3\n')
    # By what it learns from another file, so that what is read of this one makes no difference.
    encoder = TableEncoder(min_count=1).fit(pd.DataFrame({"a": ["1,5", "b"]}))
    one, other, again = (scan(path, target="y", encoder=encoder, decimal=d) for d in ".,,")
    assert one.fingerprint() != other.fingerprint() == again.fingerprint()


def test_a_dialect_goes_with_what_workers_read(tmp_path):
    path = tmp_path / "rows.csv.zip"
    path.write_bytes(PACKED[".zip"](written(table(), ";", ",", "cp1252")))
    rows = scan(path, target="y", encoder=TableEncoder(), encoding="cp1252")
    wanted = next(iter(rows))
    (part,) = pickle.loads(pickle.dumps(rows.ranges(1000)))  # noqa: S301
    np.testing.assert_array_equal(next(part.chunks(1000)).X, wanted.X)


def test_files_of_one_folder_may_be_written_differently(tmp_path):
    whole = table()
    (tmp_path / "a.csv").write_bytes(written(whole[:30]))
    (tmp_path / "b.csv.xz").write_bytes(PACKED[".xz"](written(whole[30:], "\t", ",", "utf-16")))
    (tmp_path / "whole").mkdir()
    (tmp_path / "whole" / "all.csv").write_bytes(written(whole))
    found, wanted = read(tmp_path / "*.csv*"), read(tmp_path / "whole")
    np.testing.assert_array_equal(found[1], wanted[1])


def bomb():
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("rows.csv", "a,y\n" + "1,2\n" * 100_000)
    return content.getvalue()


def locked():
    content = bytearray(zipped({"rows.csv": b"a,y\n1,2\n"}))
    for mark, flags in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        content[content.index(mark) + flags] |= 1
    return bytes(content)


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("r.csv.zip", zipped({}), "it holds 0 files instead of one"),
        ("r.csv.zip", zipped({"a": b"", "b": b""}), "it holds 2 files instead of one"),
        ("r.csv.zip", b"PK\x03\x04junk", "it is no zip file, or a damaged one"),
        ("r.csv.zip", bomb(), "takes .* bytes and would become 400,004, as in files made to do"),
        ("r.csv.zip", locked(), "rows.csv in it is locked or packed in an unusual way"),
        ("r.csv.gz", b"a,y\n1,2\n", "it is no gzip file, or a damaged one"),
        ("r.csv.bz2", b"a,y\n1,2\n", "it is no bz2 file, or a damaged one"),
        ("r.csv.zst", b"a,y\n1,2\n", "it is no zstd file, or a damaged one"),
        ("r.csv.xz", b"a,y\n1,2\n", "it is no xz file, or a damaged one"),
        ("r.csv.xz", PACKED[".xz"](b"a,y\n1,2\n")[:-20], "it is no xz file, or a damaged one"),
        ("r.csv.gz", PACKED[".gz"](b"a,y\n1,2\n")[:-9], "its end is missing"),
    ],
)
def test_packed_files_that_cannot_be_read(tmp_path, monkeypatch, name, content, words):
    monkeypatch.setattr(csv_bytes, "_LARGE", 100_000)
    (tmp_path / name).write_bytes(content)
    with pytest.raises(ValueError, match=rf"{name} cannot be read as CSV, .*: .*{words}"):
        scan(tmp_path / name)


def test_what_macos_adds_to_an_archive_does_not_count(tmp_path):
    path = tmp_path / "rows.csv.zip"
    path.write_bytes(zipped({"rows.csv": b"a,y\n1,2\n", "__MACOSX/._rows.csv": b"\0"}))
    assert len(next(iter(scan(path, target="y"))).X) == 1


def test_a_packed_file_without_its_ending_is_read(tmp_path):
    for pack in PACKED.values():
        assert dialect(tmp_path, pack(b"a;y\n1,5;2\n")).decimal == ","


@pytest.mark.parametrize(
    "header", [b"1,2\n", b"1;2\n", b"1,5;2,5\n", b"1\t2,5\n"], ids=lambda line: line.decode()
)
def test_a_first_line_of_numbers_is_no_names(tmp_path, header):
    (tmp_path / "rows.csv").write_bytes(header * 3)
    with pytest.raises(ValueError, match="begins with numbers; its first line must hold the names"):
        scan(tmp_path / "rows.csv")


def test_words_for_a_dialect():
    assert str(CsvDialect("\t", ",", "utf-16")) == (
        "cells separated by tabs, decimal commas, text in UTF-16"
    )
