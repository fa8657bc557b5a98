"""``elmband fit --groups``: rows that belong together are left out together."""

import json

import numpy as np
import pandas as pd
import pytest
from forked import run

from elmband import ELMIntervalRegressor, ELMSelectiveClassifier, load, scan
from elmband.cli import _groups, app
from elmband.sources.encode import TableEncoder

pytest.importorskip("pyarrow")

pytestmark = pytest.mark.slow

N_GROUPS, EACH = 40, 6
FIT = ("fit", "my visits.csv", "-t", "y", "--neurons", "10")


def visits(seed=0):
    rng = np.random.default_rng(seed)
    patient = np.repeat(rng.permutation(900)[:N_GROUPS], EACH)
    x = rng.normal(size=len(patient))
    effect = np.repeat(rng.normal(size=N_GROUPS), EACH)
    y = x + effect + 0.3 * rng.normal(size=len(patient))
    table = pd.DataFrame({"x": x, "é patient": [f"{k:03}" for k in patient], "y": y})
    return table.sample(frac=1, random_state=seed, ignore_index=True)


@pytest.fixture
def here(tmp_path, monkeypatch):
    visits().to_csv(tmp_path / "my visits.csv", index=False)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def command(*parts):
    app([str(part) for part in parts], standalone_mode=False)


def test_the_model_is_that_of_groups_in_python(here):
    command(*FIT, "--groups", "é patient", "-o", "m.st")
    model, table = load(here / "m.st"), visits()
    X = table[["x"]]
    own = ELMIntervalRegressor(10, random_state=0).fit(X, table["y"], groups=table["é patient"])
    np.testing.assert_array_equal(model.predict_interval(X), own.predict_interval(X))
    assert list(model.feature_names_in_) == ["x"]


def test_groups_are_said_and_prediction_does_not_need_them(here):
    table = visits()
    table[["x"]].to_csv(here / "new.csv", index=False)
    fitted = json.loads(run(*FIT, "--groups", "é patient", "-o", "m.st", "--json", cwd=here)[0])
    assert (fitted["groups"], fitted["features"], fitted["rows"]) == (N_GROUPS, 1, len(table))
    said, complained = run("predict", "m.st", "new.csv", "-o", "-", cwd=here)
    assert len(said.splitlines()) == len(table) + 1
    assert "Note" not in complained


def test_a_key_of_groups_is_told_once_and_not_where_groups_are_named(here):
    _, complained = run(*FIT, "-o", "m.st", cwd=here)
    zeros, complained = complained.splitlines(keepends=True)
    assert zeros == (
        "Note: Column 'é patient' of my visits.csv has whole numbers that begin with zeros, and is "
        "read as text: --types 'é patient=number' if they are amounts.\n"
    )
    assert complained == (
        "Note: Rows with the same 'é patient' are alike (40 levels in a sample); if new rows will "
        "come with new ones, --groups 'é patient' gives intervals for these.\n"
    )
    assert run(*FIT, "--exclude", "é patient", "-o", "m.st", cwd=here)[1] == complained
    assert run(*FIT, "--groups", "é patient", "-o", "m.st", cwd=here)[1] == ""


def test_rows_of_weight_zero_belong_to_no_group(here):
    table = visits().assign(w=np.arange(N_GROUPS * EACH) % 3)
    table.to_parquet(here / "w.parquet")
    grouped = ("--groups", "é patient", "--weight", "w")
    command("fit", "w.parquet", "-t", "y", "--neurons", "10", *grouped, "-o", "m.st")
    X, y, s, labels = table[["x"]], table["y"], table["w"], table["é patient"]
    own = ELMIntervalRegressor(10, random_state=0).fit(X, y, sample_weight=s, groups=labels)
    given = load(here / "m.st").predict_interval(X)
    np.testing.assert_allclose(given, own.predict_interval(X), rtol=1e-12)


def test_groups_of_rows_held_out_are_counted(here, monkeypatch):
    table = visits()
    table["y"] = np.where(table["y"] > 0, "ill", "well")
    table.to_csv(here / "classes.csv", index=False)
    held = visits(1)
    held["y"] = np.where(held["y"] > 0, "ill", "well")
    held.to_csv(here / "held.csv.gz", index=False)
    seen = []
    calibrate = ELMSelectiveClassifier.calibrate

    def spy(self, X, **options):
        seen.append(options["groups"])
        return calibrate(self, X, **options)

    monkeypatch.setattr(ELMSelectiveClassifier, "calibrate", spy)
    command("fit", "classes.csv", "-t", "y", "--neurons", 10, "--groups", "é patient", "--coverage",
            0.5, "--calibrate", "held.csv.gz", "-o", "m.st")  # fmt: skip
    (labels,) = seen
    _, expected = np.unique(held["é patient"], return_inverse=True)
    assert len(set(zip(labels.tolist(), expected.tolist(), strict=True))) == N_GROUPS
    assert len(labels) == len(held)


@pytest.mark.parametrize(
    ("more", "words"),
    [
        (("--groups", "nobody"), "--groups names 'nobody', which is none of the columns"),
        (("--groups", "y"), "which is the target or the weight already"),
        (("--groups", "é patient", "--feature", "é patient"), "leave it out of --feature"),
        (("--groups", "é patient", "--published"), "leave --published out"),
        (("--groups", "é patient", "--checkpoint", "ck"), "leave --checkpoint out"),
        (("--groups", "é patient", "--workers", "2"), "leave --workers out"),
    ],
)
def test_what_does_not_go_together_with_groups(here, more, words):
    with pytest.raises(ValueError, match=words):
        command(*FIT, *more, "-o", "m.st")
    assert [path.name for path in here.iterdir()] == ["my visits.csv"]


def test_groups_that_are_missing_or_without_names(here):
    table = visits()
    table.loc[3:4, "é patient"] = None
    table.to_csv(here / "gaps.csv", index=False)
    with pytest.raises(ValueError, match="'é patient' names no group for 2 of these rows"):
        command("fit", "gaps.csv", "-t", "y", "--groups", "é patient", "-o", "m.st")
    np.save(here / "t.npy", table[["x", "y"]].to_numpy())
    with pytest.raises(ValueError, match="--groups is for tables whose columns have names"):
        command("fit", "t.npy", "-t", "1", "--groups", "0", "-o", "m.st")


def test_tables_too_large_for_memory_are_refused(here, monkeypatch):
    monkeypatch.setattr(_groups, "_MOST", 800)
    with pytest.raises(ValueError, match=r"240 rows of 1 features, .* at most 100 of them"):
        command(*FIT, "--groups", "é patient", "-o", "m.st")
    assert not (here / "m.st").exists()


def test_groups_too_large_to_be_left_out_are_refused(here, monkeypatch):
    monkeypatch.setattr(_groups, "_LARGEST", 5)
    with pytest.raises(ValueError, match=r"A group of 'é patient' has 6 rows .* take 5 rows"):
        command(*FIT, "--groups", "é patient", "-o", "m.st")
    assert not (here / "m.st").exists()


def test_numbers_of_groups_do_not_depend_on_how_files_are_cut(here):
    table = visits()
    (here / "parts").mkdir()
    for k in range(3):
        table[80 * k : 80 * (k + 1)].to_parquet(here / "parts" / f"{k}.parquet")
    whole = scan(table, target="y", features="x", encoder=TableEncoder()).groups("é patient")
    parts = scan(here / "parts", target="y", features="x", encoder=TableEncoder())
    np.testing.assert_array_equal(parts.groups("é patient"), whole)
    _, expected = np.unique(table["é patient"], return_inverse=True)
    np.testing.assert_array_equal(whole, expected)


def test_columns_that_cannot_be_read_do_not_stop_a_fit(here):
    table = visits()
    table["z"] = [[k, k] for k in range(len(table))]
    (here / "parts" / "year=2024").mkdir(parents=True)
    table.to_parquet(here / "parts" / "year=2024" / "a.parquet")
    fit = ("fit", "parts", "-t", "y", "--neurons", 5, "--feature", "x")
    command(*fit, "-o", "m.st")
    command(*fit, "--groups", "é patient", "-o", "g.st")


def test_labels_of_rows_that_pandas_writes_are_no_columns(here):
    visits().sample(frac=1, random_state=0).to_parquet(here / "t.parquet")
    fit = ("fit", "t.parquet", "-t", "y", "--neurons", 5, "-o", "m.st")
    for more in (("--groups", "é patient"), ("--exclude", "é patient")):
        command(*fit, *more)
        assert list(load(here / "m.st").feature_names_in_) == ["x"]
