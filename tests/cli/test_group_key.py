"""Columns that look like the key of groups, and columns that do not."""

import numpy as np
import pandas as pd
import pytest

from elmband import scan
from elmband.cli._group_key import group_key
from elmband.sources.encode import TableEncoder


def found(table, target="y"):
    key = group_key(scan(table, target=target, encoder=TableEncoder()))
    return None if key is None else key.name


def patients(seed, n_groups=40, each=8, own=1.0, slope=1.0):
    """Visits of patients, whose targets share a part of their own."""
    rng = np.random.default_rng(seed)
    patient = np.repeat(np.arange(n_groups), each)
    rng.shuffle(patient)
    x = rng.normal(size=len(patient))
    noise = 0.5 * rng.normal(size=len(patient))
    effect = own * rng.normal(size=n_groups)[patient]
    table = pd.DataFrame({"dose": x, "y": slope * x + effect + noise})
    ages, sexes = rng.integers(20, 90, n_groups), rng.choice(["f", "m"], n_groups)
    return table, patient, pd.DataFrame({"age": ages[patient], "sex": sexes[patient]})


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("named", [True, False])
def test_patients_are_found_by_their_targets_alone(seed, named):
    table, patient, _ = patients(seed)
    numbers = np.random.default_rng(seed).permutation(1000)[patient]
    table["patient"] = [f"p{k:03}" for k in numbers] if named else numbers
    assert found(table) == "patient"


@pytest.mark.parametrize("seed", range(5))
def test_patients_are_found_by_what_does_not_change(seed):
    """Targets have an ICC of about 0.3: too little without an age and a sex."""
    table, patient, same = patients(seed, n_groups=60, each=10, own=0.36, slope=0.3)
    table["id"] = [f"p{k}" for k in patient]
    assert found(table) is None
    assert found(pd.concat([table, same], axis=1)) == "id"


def test_patients_are_found_by_classes():
    table, patient, same = patients(0, n_groups=60, own=2.0)
    table["id"] = patient * 7919 % 1009
    table["y"] = np.where(table["y"] > 0, "ill", "well")
    assert found(pd.concat([table, same], axis=1)) == "id"


def test_the_coarsest_key_is_told():
    table, patient, same = patients(1, n_groups=30, each=20)
    table["patient"] = [f"p{k}" for k in patient]
    table["visit"] = [f"p{k}/{j % 4}" for k, j in zip(patient, range(len(patient)), strict=True)]
    assert found(pd.concat([table, same], axis=1)) == "patient"


@pytest.mark.parametrize("own", [0.0, 0.3])
def test_airports_whose_delays_are_nearly_alike_are_no_key(own):
    """They have a city and a state each, but their rows tell little of each other."""
    for seed in range(5):
        table, airport, same = patients(seed, n_groups=100, each=50, own=own)
        table["airport"] = [f"A{k}" for k in airport]
        assert found(pd.concat([table, same], axis=1)) is None


@pytest.mark.parametrize("seed", range(20))
def test_few_rows_that_are_alike_by_chance_are_no_key(seed):
    table, brand, _ = patients(seed, n_groups=12, each=3, own=0.0)
    table["brand"] = [f"b{k}" for k in brand]
    assert found(table) is None


@pytest.mark.parametrize("seed", range(5))
def test_a_brand_that_prices_depend_on_in_part_is_no_key(seed):
    table, brand, _ = patients(seed, n_groups=30, each=60, own=0.3)
    table["brand"] = [f"b{k}" for k in brand]
    table["origin"] = [f"c{k % 5}" for k in brand]
    assert found(table) is None


def test_numbers_by_which_targets_go_up_and_down_are_no_key():
    rng = np.random.default_rng(0)
    hour = rng.integers(0, 24, 2000)
    age = rng.integers(20, 80, 2000)
    table = pd.DataFrame({"hour": hour, "age": age, "decade": age // 10, "adult": age > 40})
    table["night"] = (hour < 6) | (hour > 21)
    table["part"] = hour // 8
    table["y"] = 5 * np.sin(hour / 4) + age / 10 + 0.1 * rng.normal(size=2000)
    assert found(table) is None
    texts = table.assign(hour=[f"{k:02}:00" for k in hour], age=[f"{k}" for k in age])
    assert found(texts) is None


@pytest.mark.parametrize("column", ["every row", "constant", "two", "gaps", "floats"])
def test_columns_of_other_kinds_are_no_key(column):
    table, patient, _ = patients(0)
    rng = np.random.default_rng(0)
    table["k"] = {
        "every row": [f"r{k}" for k in range(len(table))],
        "constant": 1,
        "two": patient % 2,
        "gaps": None,
        "floats": rng.normal(size=40)[patient],
    }[column]
    assert found(table) is None


@pytest.mark.realdata
def test_real_tables_without_groups(data_folder):
    for name, target in (
        ("flights/flights-3m.parquet", "delay"),
        ("tabular/bike.parquet", "y"),
        ("tabular/pol.parquet", "y"),
        ("plasma/plasma.csv", "betaplasma"),
        ("concrete/concrete.csv.gz", "compressive_strength"),
        ("heteroscedastic/rent99.csv.gz", "rent"),
    ):
        assert found(data_folder / name, target) is None, name


@pytest.mark.realdata
def test_the_patients_of_a_real_table(data_folder):
    """Of 42 people, whose number is centred in this table as all columns are."""
    assert found(data_folder / "tabular/parkinsons.parquet") == "x00"
