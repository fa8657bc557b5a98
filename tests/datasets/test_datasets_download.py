"""Downloads from a real server on this machine: whole, broken, cached, changed."""

import gzip
import hashlib
import json
import socket
from dataclasses import replace

import numpy as np
import pytest

from elmband_experiments.datasets import catalogue, load_motorcycle
from elmband_experiments.datasets.places import read_columns
from elmband_experiments.datasets.sources import Direct, OpenML, cached, download

ROWS = 133
CSV = "rownames,times,accel\n" + "".join(f'"{k + 1}",{k / 2},{-k}\n' for k in range(ROWS))
BODY = CSV.encode()
FILE = "/csv/mcycle.csv"
ARFF = """@RELATION plasma
@ATTRIBUTE AGE INTEGER
@ATTRIBUTE SEX {Female, Male}
@ATTRIBUTE SMOKSTAT {Current_Smoker, Former, Never}
@DATA
64,Female,Former
76,Male,Current_Smoker
38,Female,Never
"""


@pytest.fixture
def entry(server):
    """Give the motorcycle set with its source on the server."""
    return replace(catalogue.MOTORCYCLE, source=Direct(server.url + FILE))


def names(folder):
    return sorted(path.name for path in folder.rglob("*") if path.is_file())


def test_a_download_is_cached_and_read_again_without_the_server(server, entry, cache):
    server.serve(FILE, BODY)
    first = read_columns(entry, fetch=True)
    np.testing.assert_array_equal(first["times"], np.arange(ROWS) / 2)
    np.testing.assert_array_equal(first["accel"], -np.arange(ROWS))
    assert names(cache) == ["mcycle.csv", "mcycle.csv.sha256"]
    record = cache / "motorcycle" / "mcycle.csv.sha256"
    assert record.read_text().strip() == hashlib.sha256(BODY).hexdigest()
    # Those who share a cache may read both.
    assert record.stat().st_mode == record.with_suffix("").stat().st_mode
    server.serve(FILE, b"", 500)
    for fetch in (True, False):
        again = read_columns(entry, fetch=fetch)
        np.testing.assert_array_equal(again["accel"], first["accel"])
    assert server.asked == [FILE]


def test_without_being_asked_nothing_is_downloaded(server, entry, cache):
    server.serve(FILE, BODY)
    with pytest.raises(FileNotFoundError, match=r"put it as heteroscedastic/mcycle\.csv\.gz into"):
        read_columns(entry)
    assert server.asked == []
    assert not cache.exists()


def test_the_loader_reads_the_cache(server, entry, cache):
    server.serve(FILE, BODY)
    # What lies in the cache under the public name was put there by a download.
    download(entry.source, cache / "motorcycle")
    data = load_motorcycle()
    assert data.X.shape == (ROWS, 1)
    assert data.path == cache / "motorcycle" / "mcycle.csv"
    assert repr(data) == "RealData(133 rows, 1 feature, target: accel; mcycle.csv)"


@pytest.mark.usefixtures("cache")
def test_a_folder_of_the_users_comes_first(server, entry, tmp_path, monkeypatch):
    server.serve(FILE, BODY)
    read_columns(entry, fetch=True)
    own = tmp_path / "own" / "heteroscedastic"
    own.mkdir(parents=True)
    (own / "mcycle.csv.gz").write_bytes(gzip.compress(b"times,accel\n" + b"1,1\n" * ROWS))
    assert read_columns(entry, own.parent)["accel"].sum() == ROWS
    monkeypatch.setenv("ELMBAND_DATA", str(own.parent))
    assert read_columns(entry)["accel"].sum() == ROWS
    # The argument goes before the variable, and what it lacks is looked for in the cache.
    assert read_columns(entry, tmp_path)["accel"].sum() < 0


@pytest.mark.parametrize(
    ("status", "body", "length", "words"),
    [
        (404, b"", 0, "the server answered 404 Not Found"),
        (503, b"busy", 4, "the server answered 503 Service Unavailable"),
        pytest.param(
            *(200, BODY[:100], len(BODY), r"IncompleteRead\(100 bytes read, 1810 more expected\)"),
            # pooch does not close what breaks off.
            marks=pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
        ),
    ],
    ids=["absent", "busy", "truncated"],
)
def test_a_broken_download_leaves_nothing_behind(server, entry, cache, status, body, length, words):
    server.serve(FILE, body, status, length)
    with pytest.raises(ConnectionError, match=words) as caught:
        read_columns(entry, fetch=True)
    assert server.url + FILE in str(caught.value)
    assert names(cache) == []
    server.serve(FILE, BODY)
    assert len(read_columns(entry, fetch=True)["accel"]) == ROWS


def test_no_network(cache):
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    with pytest.raises(ConnectionError, match=r"could not be downloaded: Connection refused\."):
        download(Direct(f"http://127.0.0.1:{port}/file.csv"), cache / "some")
    assert names(cache) == []


def test_a_known_checksum_is_compared(server, cache):
    server.serve("/f", BODY)
    right, wrong = hashlib.sha256(BODY).hexdigest(), hashlib.sha256(b"").hexdigest()
    with pytest.raises(ValueError, match="its checksum differs; nothing was kept"):
        download(Direct(server.url + "/f", f"sha256:{wrong}"), cache)
    assert names(cache) == []
    path = download(Direct(server.url + "/f", f"sha256:{right}"), cache)
    assert path.read_bytes() == BODY


def test_a_file_that_changed_in_the_cache_is_refused(server, entry, cache):
    server.serve(FILE, BODY)
    read_columns(entry, fetch=True)
    path = cache / "motorcycle" / "mcycle.csv"
    path.write_bytes(BODY.replace(b"-7", b"-8"))
    for fetch in (False, True):
        with pytest.raises(ValueError, match="has changed since it was downloaded; delete it"):
            read_columns(entry, fetch=fetch)
    path.unlink()
    assert read_columns(entry, fetch=True)["accel"].min() == 1 - ROWS


def test_a_file_without_its_record_does_not_count(server, entry, cache):
    server.serve(FILE, BODY)
    (cache / "motorcycle").mkdir(parents=True)
    (cache / "motorcycle" / "mcycle.csv").write_bytes(b"half a fi")
    assert cached(entry.source, cache / "motorcycle") is None
    assert len(read_columns(entry, fetch=True)["accel"]) == ROWS


def test_what_cannot_be_written_is_named_before_anything_is_asked(server, entry, cache):
    (cache / "motorcycle" / "mcycle.csv").mkdir(parents=True)
    with pytest.raises(IsADirectoryError, match=r"mcycle\.csv is a folder; the output needs"):
        read_columns(entry, fetch=True)
    assert server.asked == []


def openml(server, text=ARFF, md5=None):
    """Serve a set of OpenML: a description, and the file it points to."""
    body = text.encode()
    told = {
        "url": f"{server.url}/data/v1/download/52623/plasma.arff",
        "md5_checksum": md5 or hashlib.md5(body, usedforsecurity=False).hexdigest(),
    }
    server.serve("/api/v1/json/data/511", json.dumps({"data_set_description": told}).encode())
    server.serve("/data/v1/download/52623/plasma.arff", body)
    return OpenML(511, server.url)


@pytest.mark.usefixtures("cache")
def test_openml_by_its_description(server):
    source = openml(server)
    columns = ("age", "sex", "smokstat")
    entry = replace(catalogue.PLASMA, source=source, columns=columns, n_rows=3)
    found = read_columns(entry, fetch=True)
    # The codes of the original file: 1 male, 2 female; 1 never, 2 former, 3 current smoker.
    np.testing.assert_array_equal(found["sex"], [2, 1, 2])
    np.testing.assert_array_equal(found["smokstat"], [2, 3, 1])
    np.testing.assert_array_equal(found["age"], [64, 76, 38])
    assert server.asked == ["/api/v1/json/data/511", "/data/v1/download/52623/plasma.arff"]
    read_columns(entry, fetch=True)
    assert len(server.asked) == 2


def test_openml_with_another_checksum(server, cache):
    source = openml(server, md5="0" * 32)
    with pytest.raises(ValueError, match="its checksum differs"):
        download(source, cache)
    assert names(cache) == ["openml-511.json"]
    assert cached(source, cache) is None


@pytest.mark.parametrize("body", [b"<html>", b"{}", b"[]", b'{"data_set_description": {}}'])
def test_openml_that_answers_something_else(server, cache, body):
    server.serve("/api/v1/json/data/511", body)
    with pytest.raises(ValueError, match="did not answer with the description of a data set"):
        download(OpenML(511, server.url), cache)
    assert names(cache) == []


@pytest.mark.usefixtures("cache")
def test_an_unknown_word_is_named(server):
    source = openml(server, ARFF.replace("Former", "Sometimes"))
    entry = replace(catalogue.PLASMA, source=source, columns=("age",), n_rows=3)
    with pytest.raises(ValueError, match="has the value sometimes, expected one of never"):
        read_columns(entry, fetch=True)


def test_only_the_web_is_asked(server, cache, tmp_path):
    (tmp_path / "secret").write_text("1", "utf-8")
    told = {"url": (tmp_path / "secret").as_uri(), "md5_checksum": "0"}
    server.serve("/api/v1/json/data/511", json.dumps({"data_set_description": told}).encode())
    with pytest.raises(ValueError, match="is not an address on the web"):
        download(OpenML(511, server.url), cache)


def test_a_name_that_nobody_knows(cache):
    with pytest.raises(ConnectionError, match=r"nowhere\.invalid/f could not be downloaded: .+\."):
        download(Direct("https://nowhere.invalid/f"), cache)
    assert names(cache) == []
