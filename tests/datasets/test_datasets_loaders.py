"""The loaders: what they give of a user's folder, and what they refuse."""

import gzip
import sys
from dataclasses import FrozenInstanceError
from pathlib import Path

import numpy as np
import pandas as pd
import pooch
import pytest

import elmband_experiments.datasets
from elmband_experiments.datasets import (
    catalogue,
    fetch_flights,
    load_concrete,
    load_engel,
    load_motorcycle,
    load_plasma,
    load_powerplant,
    load_skin,
)
from elmband_experiments.datasets.readers import arff_table, csv_table, plain_numbers
from elmband_experiments.datasets.sources import Direct, OpenML, cache_folder

LOADERS = {
    "concrete": (load_concrete, (1030, 8), "compressive_strength"),
    "plasma": (load_plasma, (315, 12), "betaplasma"),
    "powerplant": (load_powerplant, (200, 5), "steam_pressure"),
    "motorcycle": (load_motorcycle, (133, 1), "accel"),
    "engel": (load_engel, (235, 1), "foodexp"),
    "skin": (load_skin, (245_057, 3), "skin"),
}


@pytest.mark.realdata
@pytest.mark.parametrize("name", LOADERS)
def test_what_is_in_the_folder(data_folder, name):
    load, shape, target = LOADERS[name]
    data = load(folder=data_folder)
    assert data.X.shape == shape
    assert data.y.shape == shape[:1]
    assert data.X.dtype == data.y.dtype == np.float64
    assert len(data.feature_names) == shape[1]
    assert data.target_name == target
    assert data.target_name not in data.feature_names
    entry = catalogue.ENTRIES[name]
    assert data.path == data_folder / entry.file
    assert entry.source.page in data.DESCR
    assert entry.licence in data.DESCR
    with pytest.raises(FrozenInstanceError):
        data.y = data.X


@pytest.mark.realdata
def test_values_are_those_of_the_files(data_folder):
    frame = pd.read_csv(data_folder / "plasma" / "plasma.csv")
    data = load_plasma(folder=data_folder)
    np.testing.assert_array_equal(data.y, frame["betaplasma"])
    np.testing.assert_array_equal(data.X, frame[list(data.feature_names)])
    assert "retplasma" not in data.feature_names
    frame = pd.read_csv(data_folder / "powerplant" / "powerplant.csv")
    hot = load_powerplant("main_steam_temperature", folder=data_folder)
    np.testing.assert_array_equal(hot.y, frame["main_steam_temperature"])
    with np.load(data_folder / "skin_uci" / "skin_nonskin.npz") as stored:
        np.testing.assert_array_equal(load_skin(folder=data_folder).y == 1, stored["label"] == 1)


@pytest.mark.realdata
def test_flights_are_a_file(data_folder, cache):
    path = fetch_flights(folder=data_folder)
    assert path == data_folder / "flights" / "flights-3m.parquet"
    with pytest.raises(FileNotFoundError, match=r"flights/flights-3m\.parquet into a folder"):
        fetch_flights()
    assert not cache.exists()


@pytest.mark.realdata
def test_the_known_checksum_is_that_of_the_file(data_folder):
    path = fetch_flights(folder=data_folder)
    assert catalogue.FLIGHTS.checksum == f"sha256:{pooch.file_hash(path)}"


@pytest.mark.parametrize("name", LOADERS)
@pytest.mark.usefixtures("cache")
def test_one_sentence_says_what_to_do(name, tmp_path):
    load, _, _ = LOADERS[name]
    for folder in (None, tmp_path):
        with pytest.raises(FileNotFoundError) as caught:
            load(folder=folder)
        said = str(caught.value)
        entry = catalogue.ENTRIES[name]
        for words in (entry.file, "ELMBAND_DATA", "download=True", entry.source.page):
            assert words in said


@pytest.mark.usefixtures("cache")
def test_a_wrong_target():
    with pytest.raises(ValueError, match="target must be one of steam_pressure, main_steam_temp"):
        load_powerplant("age")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("times,accel\n1,2\n", "has 1 rows, the public file has 133"),
        ("times,speed\n" + "1,2\n" * 133, "has no column accel, it has times, speed"),
        ("times,accel\n" + "1,x\n" * 133, "holds values that are not numbers"),
        ("times,accel\n" + "1,2,3\n" * 133, "cannot be read as the data set motorcycle"),
    ],
    ids=["short", "other columns", "text", "ragged"],
)
def test_another_file_is_refused(tmp_path, text, words):
    (tmp_path / "heteroscedastic").mkdir()
    path = tmp_path / "heteroscedastic" / "mcycle.csv.gz"
    path.write_bytes(gzip.compress(text.encode()))
    with pytest.raises(ValueError, match=words) as caught:
        load_motorcycle(folder=tmp_path)
    assert str(path) in str(caught.value)


def test_a_file_that_is_not_packed_is_refused(tmp_path):
    (tmp_path / "heteroscedastic").mkdir()
    (tmp_path / "heteroscedastic" / "mcycle.csv.gz").write_bytes(b"times,accel\n1,2\n")
    with pytest.raises(ValueError, match=r"mcycle\.csv\.gz cannot be read as the data set"):
        load_motorcycle(folder=tmp_path)


def test_the_page_on_data_names_everything():
    page = Path(__file__).parents[2].joinpath("docs", "data.md").read_text("utf-8")
    for name, entry in catalogue.ENTRIES.items():
        assert f"`load_{name}(" in page
        assert entry.file in page
        assert f"{entry.n_rows:,} \N{MULTIPLICATION SIGN} " in page
        if isinstance(entry.source, OpenML):
            assert entry.source.page in page
    assert catalogue.FLIGHTS_FILE in page


def test_every_source_has_a_loader_and_an_address():
    for name, entry in catalogue.ENTRIES.items():
        assert f"load_{name}" in elmband_experiments.datasets.__all__
        assert entry.source.page.startswith("https://")
        assert isinstance(entry.source, Direct | OpenML)


@pytest.mark.skipif(sys.platform != "linux", reason="other systems have other places")
@pytest.mark.parametrize("variable", ["XDG_CACHE_HOME", None])
def test_the_system_has_a_place_for_caches(monkeypatch, tmp_path, variable):
    for name in ("ELMBAND_CACHE", "XDG_CACHE_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    if variable:
        monkeypatch.setenv(variable, str(tmp_path))
    assert cache_folder() == tmp_path.joinpath(*(() if variable else (".cache",)), "elmband")


def test_without_pooch_only_a_folder_is_looked_into(monkeypatch, tmp_path):
    monkeypatch.delenv("ELMBAND_CACHE", raising=False)
    monkeypatch.setitem(sys.modules, "pooch", None)
    with pytest.raises(ImportError, match=r"in no folder of yours need pooch: pip install pooch$"):
        load_engel(folder=tmp_path)
    (tmp_path / "heteroscedastic").mkdir()
    rows = b"income,foodexp\n" + b"2,1\n" * 235
    (tmp_path / "heteroscedastic" / "engel.csv.gz").write_bytes(gzip.compress(rows))
    assert load_engel(folder=tmp_path).X.sum() == 470


@pytest.mark.parametrize("first", ["", "7 "], ids=["plain", "numbered"])
@pytest.mark.parametrize("pack", [gzip.compress, bytes], ids=["packed", "unpacked on the way"])
def test_numbers_between_blanks(tmp_path, first, pack):
    path = tmp_path / "plant.dat.gz"
    path.write_bytes(pack(f"{first}1.5 -2e1\n{first}3 4\n".encode()))
    found = plain_numbers(path, ("a", "b"))
    np.testing.assert_array_equal(found["a"], [1.5, 3])
    np.testing.assert_array_equal(found["b"], [-20, 4])


def test_quoted_headers_and_numbers_of_rows(tmp_path):
    path = tmp_path / "some.csv"
    path.write_text('"rownames","a b","c"\n"1",2.5,3\n"2",4,5\n', "utf-8")
    found = csv_table(path)
    assert list(found) == ["rownames", "a b", "c"]
    np.testing.assert_array_equal(found["a b"], [2.5, 4])


def test_arff_names_and_codes(tmp_path):
    path = tmp_path / "some.arff"
    head = "@relation r\n@attribute Strength numeric\n@attribute S {No,Yes_often}\n@data\n"
    path.write_text(head + "1.5,No\n2,Yes_often\n", "utf-8")
    found = arff_table(path, {"s": ("yes_often", "no")}, {"strength": "y"})
    np.testing.assert_array_equal(found["y"], [1.5, 2])
    np.testing.assert_array_equal(found["s"], [2, 1])
