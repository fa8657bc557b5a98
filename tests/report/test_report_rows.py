"""The same page from arrays, frames and scans, whichever way their rows are cut."""

import json

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet
import pytest
from judged import bird_model, content_of, delay_model, delays, held_in, page_of, species
from sklearn import config_context

from elmband import ELMIntervalRegressor, ELMRegressor, ELMSelectiveClassifier, load, scan
from elmband.report import rows as report_rows
from elmband.report import write_report
from elmband.sources.encode import TableEncoder

N_ROWS = 5000


@pytest.fixture(scope="module")
def model():
    return delay_model()


@pytest.fixture(scope="module")
def flights():
    return delays(N_ROWS, 1)


@pytest.fixture
def file(tmp_path, flights):
    X, y = flights
    columns = {**{name: X[name].to_numpy() for name in X}, "delay": y.to_numpy()}
    path = tmp_path / "flights.parquet"
    pa.parquet.write_table(pa.table(columns), path, row_group_size=777)
    return path


@pytest.mark.slow
def test_a_scan_gives_the_same_page_as_a_frame(tmp_path, model, flights, file):
    whole = content_of(tmp_path, model, flights, group="weekday")
    assert content_of(tmp_path, model, scan(file, target="delay"), group="weekday") == whole
    small = scan(file, target="delay", chunk_size=123)
    assert content_of(tmp_path, model, small, group="weekday") == whole


@pytest.mark.slow
def test_other_frames_and_bare_arrays_give_the_same_numbers(tmp_path, flights, model):
    X, y = flights
    whole = content_of(tmp_path, model, (X, y))
    assert content_of(tmp_path, model, (pl.from_pandas(X), pl.Series("delay", y))) == whole
    # A model of bare arrays, since one that knows names wants them.
    bare = ELMIntervalRegressor(20, random_state=0)
    train, target = delays(1500, 0)
    bare.fit(train.to_numpy(), target.to_numpy())
    found = content_of(tmp_path, bare, [X.to_numpy(), y.to_numpy()])
    assert found["title"] == "How far to trust predictions of the target"
    assert {feature["name"] for feature in found["features"]} == {
        "column 0",
        "column 1",
        "column 2",
    }
    assert found["promise"] == whole["promise"]
    assert found["people"] == whole["people"]


@pytest.mark.slow
def test_blocks_of_another_size_change_nothing_but_last_digits(
    tmp_path, model, flights, monkeypatch
):
    whole = content_of(tmp_path, model, flights)
    monkeypatch.setattr(report_rows.engine, "BLOCK_ROWS", 501)
    found = content_of(tmp_path, model, flights)
    assert json.dumps(rounded(found)) == json.dumps(rounded(whole))


def rounded(value, digits=9):
    if isinstance(value, dict):
        return {name: rounded(inner, digits) for name, inner in value.items()}
    if isinstance(value, list):
        return [rounded(inner, digits) for inner in value]
    return float(f"{value:.{digits}g}") if isinstance(value, float) else value


@pytest.mark.slow
def test_the_array_library_changes_nothing(tmp_path, xp):
    (X, y), (rows, true) = (
        tuple(part.to_numpy().copy() for part in delays(n, seed))
        for n, seed in ((650, 0), (3000, 1))
    )
    model = ELMIntervalRegressor(10, alpha=1.0, noise_alpha=1.0, random_state=0).fit(X, y)
    whole = content_of(tmp_path, model, (rows, true), group=1)
    with config_context(array_api_dispatch=True):
        model.fit(xp.asarray(X), xp.asarray(y))
        found = content_of(tmp_path, model, (xp.asarray(rows), xp.asarray(true)), group=1)
    assert rounded(found["promise"], 7) == rounded(whole["promise"], 7)
    assert rounded(found["bins"], 7) == rounded(whole["bins"], 7)
    assert rounded(found["groups"], 7) == rounded(whole["groups"], 7)


@pytest.mark.slow
@pytest.mark.torch
def test_a_device_changes_nothing(tmp_path):
    X, y = (part.to_numpy().copy() for part in delays(3000, 1))
    options = {"alpha": 1.0, "noise_alpha": 1.0, "random_state": 0}
    pages = [
        content_of(tmp_path, ELMIntervalRegressor(10, device=device, **options).fit(X, y), (X, y))
        for device in (None, "cpu")
    ]
    assert rounded(pages[0]["promise"], 7) == rounded(pages[1]["promise"], 7)
    birds, names = species(1000, 0)
    birds = birds.to_numpy().copy()
    pages = [
        content_of(
            tmp_path,
            ELMSelectiveClassifier(10, device=device, coverage=0.5, **options).fit(birds, names),
            (birds, names),
        )
        for device in (None, "cpu")
    ]
    assert pages[0]["right"] == pages[1]["right"]
    model = ELMIntervalRegressor(10, device="cpu", **options).fit(X, y)
    with pytest.raises(ValueError, match="Input X contains NaN"):
        content_of(tmp_path, model, (X * np.nan, y))


@pytest.mark.slow
def test_a_function_that_makes_rows_is_read_twice(tmp_path, model, flights):
    X, y = flights
    passes = []

    def pieces():
        passes.append(1)
        for start in range(0, N_ROWS, 900):
            part = slice(start, start + 900)
            yield X.iloc[part].assign(delay=y.iloc[part])

    found = content_of(tmp_path, model, scan(pieces, target="delay"))
    assert found == content_of(tmp_path, model, flights)
    # One call for the first piece, and one for each pass.
    assert len(passes) == 3


@pytest.mark.slow
def test_a_loaded_model_gives_the_same_page(tmp_path, model, flights):
    again = load(model.save(tmp_path / "model.safetensors"))
    assert content_of(tmp_path, again, flights) == content_of(tmp_path, model, flights)


@pytest.mark.slow
def test_groups_by_feature_labels_or_another_scan_are_the_same(tmp_path, model, flights, file):
    X, _ = flights
    rows = scan(file, target="delay")
    named = content_of(tmp_path, model, rows, group="weekday")["groups"]
    assert named[0]["name"] == "weekday"
    assert [line["label"] for line in named[0]["rows"]] == list("0123456")
    assert content_of(tmp_path, model, rows, group=1)["groups"] == named
    assert content_of(tmp_path, model, rows, group=X["weekday"])["groups"] == named
    beside = scan(file, features="weekday")
    assert content_of(tmp_path, model, rows, group=beside)["groups"] == named
    text = X["weekday"].map(lambda day: f"{day:.0f}").rename("weekday")
    (by_text,) = content_of(tmp_path, model, flights, group=text)["groups"]
    # Text is in the order of its rows.
    assert sorted(by_text.pop("rows"), key=lambda line: line["label"]) == named[0].pop("rows")
    assert by_text == named[0]


def test_groups_with_few_rows_are_taken_together(tmp_path, model, flights):
    labels = np.arange(N_ROWS) % 40
    labels[labels > 30] = 0
    (found,) = content_of(tmp_path, model, flights, group=labels)["groups"]
    assert found["count"] == 31
    assert len(found["rows"]) == 20
    assert found["rows"][0]["label"] == "0"
    assert found["n_others"] == 11
    assert found["others"]["n"] == N_ROWS - sum(line["n"] for line in found["rows"])


@pytest.mark.slow
def test_text_and_missing_targets_of_a_table(tmp_path, flights):
    X, y = flights
    origin = np.array(["ATL", "LGA", "ORD"])[np.arange(N_ROWS) % 3]
    origin[7] = "XYZ"
    target = y.to_numpy().copy()
    target[:10] = np.nan
    path = tmp_path / "named.parquet"
    columns = {"hour": X["hour"].to_numpy(), "origin": origin, "delay": target}
    pa.parquet.write_table(pa.table(columns), path)
    train = pa.table({name: values[3000:] for name, values in columns.items()})
    model = ELMIntervalRegressor(20, random_state=0)
    model.fit(scan(train, target="delay", encoder=TableEncoder()))
    rows = scan(path, target="delay", encoder=model.encoder_, missing_target="drop")
    text = page_of(tmp_path, model, rows, group="origin")
    content = held_in(text)
    assert content["rows"] == N_ROWS - 10
    assert content["data"]["n_dropped"] == 10
    assert "rows without a target are left out" in text
    assert "Text, dates and missing values of these rows were turned into numbers" in text
    (groups,) = content["groups"]
    assert groups["name"] == "origin"
    counts = {line["label"]: line["n"] for line in groups["rows"]}
    assert counts == {name: np.count_nonzero(origin[10:] == name) for name in ("ATL", "LGA", "ORD")}


@pytest.mark.slow
def test_words_that_training_did_not_know_are_groups_by_their_names(tmp_path, flights):
    X, y = flights
    origin = np.array(["ATL", "LGA"])[np.arange(N_ROWS) % 2].astype(object)
    table = {"hour": X["hour"].to_numpy(), "origin": origin, "delay": y.to_numpy()}
    model = ELMIntervalRegressor(20, random_state=0)
    model.fit(scan(pd.DataFrame(table), target="delay", encoder=TableEncoder()))
    table["origin"] = np.where(np.arange(N_ROWS) < 100, "XYZ", origin)
    rows = scan(pd.DataFrame(table), target="delay", encoder=model.encoder_)
    content = content_of(tmp_path, model, rows, group="origin")
    counts = {line["label"]: line["n"] for line in content["groups"][0]["rows"]}
    assert counts == {"ATL": 2450, "LGA": 2450, "XYZ": 100}
    place = [feature["name"] for feature in content["features"]].index("origin")
    bins = {line["label"]: line["n"] for line in content["bins"] if line["feature"] == place}
    assert bins == {"ATL": 2450, "LGA": 2450, "not seen in training": 100}


@pytest.mark.slow
def test_text_labels_in_arrays_and_numbers_in_a_scan(tmp_path):
    X, y = species(2000, 1)
    whole = content_of(tmp_path, bird_model(), (X, y))
    codes = (y == "robin").astype(int)
    model = bird_model()
    model.fit(species(1200, 0)[0], (species(1200, 0)[1] == "robin").astype(int))
    table = pa.table({**{name: X[name].to_numpy() for name in X}, "bird": codes.to_numpy()})
    pa.parquet.write_table(table, tmp_path / "birds.parquet")
    found = content_of(tmp_path, model, scan(tmp_path / "birds.parquet", target="bird"))
    assert found["labels"] == ["0", "1"]
    assert found["right"]["table"] == whole["right"]["table"]


@pytest.mark.one_quick
@pytest.mark.parametrize(
    ("data", "options", "sentence"),
    [
        ("arrays", {"group": "wekday"}, "no column 'wekday' to group by; did you mean 'weekday'"),
        ("arrays", {"group": "zone"}, "no column 'zone' .* give labels of all rows"),
        ("arrays", {"group": 7}, "group=7 is none of the 3 features"),
        ("arrays", {"group": [1, 2]}, r"group has shape \(2,\), expected one label"),
        ("scan", {"group": [1, 2]}, "group has 2 labels, which is not one for each row"),
        ("scan", {"group": np.ones(N_ROWS + 1)}, "which is not one for each row"),
        ("arrays", {"confidence_level": 90}, "strictly between 0 and 1; got 90. Did you mean 0.9"),
        ("arrays", {"confidence_level": [0.5, 0.9]}, "a single confidence_level"),
        ("one", {}, "data is of type ndarray; give scan"),
        ("weights", {}, "leave weight= out of the scan"),
        ("no target", {}, "has 0 targets"),
        ("short", {}, "y must have 5000 rows"),
    ],
)
def test_what_makes_no_report_is_refused_in_a_sentence(
    data, options, sentence, tmp_path, model, flights, file
):
    X, y = flights
    given = {
        "arrays": (X, y),
        "scan": scan(file, target="delay"),
        "one": np.ones((3, 3)),
        "weights": scan(file, target="delay", features=["hour", "weekday"], weight="distance"),
        "no target": scan(file, features=["hour", "weekday", "distance"]),
        "short": (X, y[:-1]),
    }[data]
    used = model
    if data == "weights":
        used = ELMIntervalRegressor(5, random_state=0).fit(X[["hour", "weekday"]], y)
    with pytest.raises(ValueError, match=sentence):
        write_report(used, given, tmp_path / "report.html", **options)
    assert sorted(tmp_path.iterdir()) == [file]


def test_groups_of_other_rows_are_refused(tmp_path, model, file, flights):
    X, _ = flights
    shorter = scan(X.iloc[:-1], features="weekday")
    with pytest.raises(ValueError, match="has not as many rows as the data"):
        write_report(model, scan(file, target="delay"), tmp_path / "r.html", group=shorter)
    with pytest.raises(ValueError, match="scan a single column"):
        write_report(
            model, scan(file, target="delay"), tmp_path / "r.html", group=scan(X, features=[0, 1])
        )


def test_models_that_make_no_report_are_refused(tmp_path, flights):
    X, y = flights
    several = ELMIntervalRegressor(5).fit(X[:100], np.column_stack([y, y])[:100])
    few = delay_model().calibrate(X[:20], y[:20])
    cases = [
        (ELMRegressor(5).fit(X, y), "ELMClassifier or ELMSelectiveClassifier; got ELMRegressor"),
        (several, "train a model for each"),
        (ELMIntervalRegressor(), "not fitted yet"),
        (few, "Intervals at 99 % are infinite"),
    ]
    for model, sentence in cases:
        with pytest.raises(ValueError, match=sentence):
            write_report(model, (X, y), tmp_path / "report.html", confidence_level=0.99)
    assert not list(tmp_path.iterdir())


def test_levels_without_a_finite_interval_are_left_out(tmp_path, flights):
    X, y = flights
    few = delay_model().calibrate(X[:20], y[:20])
    levels = content_of(tmp_path, few, (X, y))["promise"]["levels"]
    assert [line["level"] for line in levels][-2:] == [0.9, 0.95]


def test_a_handful_of_rows_is_enough(tmp_path, model):
    found = content_of(tmp_path, model, delays(3, 5), group="weekday")
    assert found["rows"] == 3
    assert found["people"]["points"][-1]["n"] == 3
    assert len(found["widest"]) == 3


def test_a_page_does_not_replace_the_rows_it_is_about(tmp_path, model, file):
    page = tmp_path / "page.html"
    page.hardlink_to(file)
    rows = scan(file, target="delay", encoder=model.encoder_)
    before = file.read_bytes()
    with pytest.raises(ValueError, match="is what the scan reads"):
        write_report(model, rows, page)
    assert page.read_bytes() == before
