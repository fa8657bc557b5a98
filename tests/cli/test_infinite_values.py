"""Values that cannot be are told of with the file, the rows and the column that hold them."""

import pickle

import numpy as np
import pandas as pd
import pytest

from elmband import ELMIntervalRegressor, scan
from elmband.cli import app
from elmband.cli._cluster import _answered
from elmband.sources.encode import TableEncoder
from elmband.sources.stream.file_table import FileTable

pytest.importorskip("pyarrow")


@pytest.fixture
def here(tmp_path, monkeypatch):
    """A folder to be in, with two models, and tables whose row 71 has an infinite value."""
    monkeypatch.chdir(tmp_path)
    # Small batches: rows are counted from the first of all.
    monkeypatch.setattr(FileTable.chunks, "__defaults__", (30,))
    rng = np.random.default_rng(0)
    table = pd.DataFrame({"a": rng.normal(size=80), "b": rng.normal(size=80)})
    y = table["a"] + rng.normal(size=80)
    table.assign(y=y).to_parquet("good.parquet")
    model = ELMIntervalRegressor(5, random_state=0)
    model.fit(scan("good.parquet", target="y", encoder=TableEncoder())).save("encoded.st")
    model.fit(table, y).save("plain.st")
    table.loc[71, "b"] = np.inf
    for end in ("csv", "parquet"):
        getattr(table, f"to_{end}")(f"bad.{end}", index=False)
    return tmp_path


@pytest.mark.one_quick
@pytest.mark.parametrize("model", ["encoded", "plain"])
@pytest.mark.parametrize("command", ["predict", "triage"])
def test_an_infinite_value_is_told_of_with_its_place(here, command, model):
    more = ["--review", "r.parquet", "--max-width", "9"] if command == "triage" else []
    with pytest.raises(ValueError, match="infinite") as caught:
        app([command, f"{model}.st", "bad.parquet", "-o", "o.parquet", *more],
            standalone_mode=False)  # fmt: skip
    where = {"encoded": "row 71", "plain": "rows 60 to 79"}[model]
    assert str(caught.value).startswith(f"bad.parquet, {where}: column 'b' holds 1 ")
    assert not (here / "o.parquet").exists()


@pytest.mark.usefixtures("here")
def test_an_infinite_value_of_a_csv_file_is_told_of_with_its_place():
    with pytest.raises(ValueError, match=r"^bad\.csv, row 71: column 'b' holds 1 infinite"):
        app(["predict", "encoded.st", "bad.csv", "-o", "o.csv"], standalone_mode=False)


def test_rows_of_which_nothing_is_known_are_told_of(here, capsys):
    table = pd.read_parquet("good.parquet")
    table.loc[[40, 71], "b"] = 1e308
    table.to_parquet("far.parquet")
    ELMIntervalRegressor({"linear": 2}, random_state=0).fit(
        table[["a", "b"]][:40], table["y"][:40]
    ).save("linear.st")
    app(["predict", "linear.st", "far.parquet", "-o", "o.parquet"], standalone_mode=False)
    assert (
        "Note: 2 rows have infinite bounds, as where a value is too large"
        in capsys.readouterr().err
    )
    lower = pd.read_parquet(here / "o.parquet")["lower_0.95"]
    assert np.flatnonzero(np.isinf(lower)).tolist() == [40, 71]


@pytest.mark.usefixtures("here")
def test_workers_name_the_file_as_well():
    encoder = TableEncoder().fit(pd.read_parquet("good.parquet")[["b"]])
    bad = pd.read_parquet("bad.parquet")
    with pytest.raises(ValueError, match=r"^bad\.parquet: column 'b' holds 1 infinite value"):
        _answered(bad, encoder.transform, "bad.parquet")


def test_the_error_can_be_sent_from_a_worker():
    encoder = TableEncoder().fit(pd.DataFrame({"b": [0.0, 1.0, 3.0]}))
    with pytest.raises(ValueError, match="column 'b'") as caught:
        encoder.transform(pd.DataFrame({"b": [np.inf]}))
    assert str(pickle.loads(pickle.dumps(caught.value))) == str(caught.value)  # noqa: S301 - our own
