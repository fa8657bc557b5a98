"""The real tasks: what is read, and the published row of plasma."""

import gzip
import hashlib
import json
import shutil
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from elmband_experiments.datasets import catalogue
from elmband_experiments.datasets.sources import Direct, OpenML
from elmband_experiments.paper import Settings
from elmband_experiments.paper.models import DEFAULT
from elmband_experiments.paper.table import (
    BY_TIME,
    FEW,
    METHODS,
    OP_ELM,
    RANDOM,
    arranged,
    draw,
    measured,
    sentences,
)
from elmband_experiments.paper.tasks import TASKS, by_time, load, splits
from elmband_experiments.paper.uniform import WIDTHS, boundary
from elmband_experiments.paper.uniform import run as run_uniform
from loopback import serving

pytestmark = [pytest.mark.realdata, pytest.mark.slow]

SHAPES = {"concrete": (1030, 8), "plasma": (315, 12), "pressure": (200, 5), "temperature": (200, 5)}


@pytest.mark.parametrize("name", SHAPES)
def test_rows_are_those_of_the_files(data_folder, name):
    X, y = load(TASKS[name], data_folder)
    frame = pd.read_csv(data_folder / TASKS[name].file)
    assert X.shape == SHAPES[name]
    np.testing.assert_array_equal(y, frame[TASKS[name].target])
    np.testing.assert_array_equal(X, frame[list(TASKS[name].features)])
    one, other = (next(splits(X, y, 1, seed)) for seed in (0, 1))
    assert len(one.y) == int(0.7 * len(y))
    assert len(one.y) + len(one.y_test) == len(y)
    assert (one.y_test != other.y_test).any()
    whole = np.sort(np.concatenate([one.y, one.y_test]))
    np.testing.assert_array_equal(whole, np.sort(y))


def test_a_file_that_is_not_there_is_named(tmp_path, monkeypatch):
    monkeypatch.setenv("ELMBAND_CACHE", str(tmp_path / "no cache"))
    with pytest.raises(FileNotFoundError, match=r"put it as plasma/plasma\.csv into a folder"):
        load(TASKS["plasma"], tmp_path)


def test_the_split_by_time_judges_what_comes_later(data_folder):
    X, y = load(TASKS["pressure"], data_folder)
    split = by_time(X, y)
    np.testing.assert_array_equal(split.y, y[:140])
    np.testing.assert_array_equal(split.X_test, X[140:])
    assert [task.name for task in TASKS.values() if task.in_order] == ["pressure", "temperature"]
    settings = Settings(data=data_folder)
    parts = arranged(TASKS["pressure"], BY_TIME, 30, settings)
    assert len(parts) == 10
    row = measured(TASKS["pressure"], OP_ELM, METHODS[OP_ELM], parts[:4], BY_TIME)
    ours = measured(TASKS["pressure"], DEFAULT, METHODS[DEFAULT], parts[:1], BY_TIME)
    assert (row["split"], row["fits"], row["published_picp"]) == ("by time", 4, None)
    # The plant drifts: what holds for random rows does not hold for later ones.
    assert row["picp"] < 75
    assert ours["picp"] > 85


@pytest.fixture(scope="module")
def plasma(data_folder):
    return load(TASKS["plasma"], data_folder)


@pytest.mark.parametrize("seed", [0, 1])
def test_the_published_row_of_plasma(plasma, seed):
    """Published: 92.63 % covered, width 40.66 %, from 30 splits that are not known.

    Medians of 30 splits scatter by about one point of coverage and three of width: within three
    points and nine is the same result.
    """
    parts = list(splits(*plasma, 30, seed))
    row = measured(TASKS["plasma"], OP_ELM, METHODS[OP_ELM], parts)
    assert abs(row["picp"] - row["published_picp"]) < 3
    assert abs(row["nmpiw"] - row["published_nmpiw"]) < 9
    assert row["nmpiw_quartiles"][0] < row["nmpiw"] < row["nmpiw_quartiles"][1]


def test_concrete_as_close_as_found(data_folder):
    """Published: 91.59 % covered, width 34.01 %. With 30 neurons the width is that one.

    Coverage stays about 3.5 points below, as residuals of training rows are too small.
    """
    parts = list(splits(*load(TASKS["concrete"], data_folder), 30, 0))
    row = measured(TASKS["concrete"], FEW, METHODS[FEW], parts)
    assert abs(row["picp"] - row["published_picp"]) < 5
    assert abs(row["nmpiw"] - row["published_nmpiw"]) < 2.5


def serve_openml(server, entry, data_folder):
    """Serve a set as OpenML does, numbers and codes as numbers."""
    frame = pd.read_csv(data_folder / entry.file)
    head = "".join(f"@attribute {name.upper()} numeric\n" for name in frame)
    body = f"@relation r\n{head}@data\n{frame.to_csv(index=False, header=False)}".encode()
    told = {
        "url": f"{server.url}/{entry.name}.arff",
        "md5_checksum": hashlib.md5(body, usedforsecurity=False).hexdigest(),
    }
    number = entry.source.number
    server.serve(f"/api/v1/json/data/{number}", json.dumps({"data_set_description": told}).encode())
    server.serve(f"/{entry.name}.arff", body)
    return OpenML(number, server.url)


def serve_plain(server, entry, data_folder):
    """Serve a set as DaISy does, packed and without a header."""
    frame = pd.read_csv(data_folder / entry.file)
    text = frame.to_csv(index=False, header=False, sep=" ")
    server.serve("/powerplant.dat.gz", gzip.compress(text.encode()))
    return Direct(f"{server.url}/powerplant.dat.gz")


def test_asked_to_download_the_command_finds_all_it_needs(data_folder, tmp_path, monkeypatch):
    monkeypatch.delenv("ELMBAND_DATA", raising=False)
    monkeypatch.setenv("ELMBAND_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    with serving() as server:
        for entry in (catalogue.CONCRETE, catalogue.PLASMA, catalogue.POWERPLANT):
            serve = serve_plain if entry.name == "powerplant" else serve_openml
            moved = replace(entry, source=serve(server, entry, data_folder))
            monkeypatch.setattr(f"elmband_experiments.paper.base.{entry.name.upper()}", moved)
        assert "powerplant" in Settings().missing("data")
        assert server.asked == []
        assert Settings(download=True).missing("data") is None
    # The server is gone; the cache is enough.
    assert Settings().missing("data") is None
    for task in TASKS.values():
        for mine, theirs in zip(load(task), load(task, data_folder), strict=True):
            np.testing.assert_array_equal(mine, theirs)


@pytest.mark.parametrize("name", TASKS)
def test_without_a_cache_and_with_another_seed_numbers_change_within_their_spread(
    data_folder, tmp_path, monkeypatch, name
):
    """The difference of two medians of 12 splits, against its standard error.

    A median of n normal values has a standard error of 1.25 s/√n, and s is the range of the
    middle half over 1.35; four standard errors of the difference are allowed.
    """
    monkeypatch.delenv("ELMBAND_DATA", raising=False)
    monkeypatch.setenv("ELMBAND_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    rows, count = [], 12
    with serving() as server:
        task = TASKS[name]
        serve = serve_plain if task.in_order else serve_openml
        task = replace(
            task, entry=replace(task.entry, source=serve(server, task.entry, data_folder))
        )
        for seed in (0, 1):
            X, y = load(task, download=True)
            parts = list(splits(X, y, count, seed))
            rows.append(measured(task, OP_ELM, METHODS[OP_ELM], parts))
            shutil.rmtree(tmp_path / "cache")
        assert len(server.asked) == (2 if task.in_order else 4)
    one, other = rows
    assert one["nmpiw"] != other["nmpiw"]
    for score in ("picp", "nmpiw"):
        halves = [np.diff(row[f"{score}_quartiles"])[0] for row in rows]
        error = 1.2533 * np.hypot(*halves) / 1.349 / np.sqrt(count)
        # Coverage comes in steps of one test row.
        step = 100 / len(parts[0].y_test) if score == "picp" else 0
        assert abs(one[score] - other[score]) < 4 * error + step


def test_the_median_is_over_splits_and_the_seed_decides(plasma):
    def found(seed, count=3):
        parts = list(splits(*plasma, count, seed))
        row = measured(TASKS["plasma"], OP_ELM, METHODS[OP_ELM], parts)
        return row["picp"], row["nmpiw"]

    assert found(0) == found(0)
    assert found(0)[1] != found(1)[1]
    widths = []
    for k, split in enumerate(splits(*plasma, 3, 0)):
        interval = METHODS[OP_ELM](split, k)
        spread = split.y_test.max() - split.y_test.min()
        widths.append(100 * np.mean(interval[:, 1] - interval[:, 0]) / spread)
    assert found(0)[1] == pytest.approx(np.median(widths))


def test_the_plane_shows_every_method_and_what_was_published(plasma):
    # One task stands for all: the drawing does not look at what the numbers are.
    parts = list(splits(*plasma, 1, 0))
    once = [measured(TASKS["plasma"], name, fit, parts) for name, fit in METHODS.items()]
    rows = [
        {**row, "task": task.name, "split": split}
        for task in TASKS.values()
        for split in (RANDOM, BY_TIME)[: 1 + task.in_order]
        for row in once
    ]
    figure = draw(rows)
    said = sentences(rows)
    assert len(said) == 6
    assert sum("the last 30 % judged by the first 70 %" in line for line in said) == 2
    (legend,) = figure.legends
    named = {text.get_text() for text in legend.get_texts()}
    assert named == {*METHODS, "published"}
    titles = [task.title for task in TASKS.values()]
    timed = [f"{title}, split by time" for title in titles[2:]]
    assert [ax.get_title() for ax in figure.axes] == titles + timed


def test_uniform_intervals_by_loop():
    y, mean = np.array([0.0, 1.0, 4.0]), np.array([0.5, 1.0, 2.0])
    found = boundary(y, mean)
    for width, coverage in zip(WIDTHS, found, strict=True):
        inside = [abs(a - b) <= width * 4 / 2 for a, b in zip(y, mean, strict=True)]
        assert coverage == sum(inside) / 3


def test_per_sample_points_stand_beside_uniform_ones(data_folder):
    result = run_uniform(Settings(seed=0, quick=True, data=data_folder))
    points, curves = result.tables["uniform"], result.tables["uniform_curves"]
    assert len(points) == 6
    for point in points:
        line = [c for c in curves if (c["task"], c["mode"]) == (point["task"], point["mode"])]
        x, y = ([c[name] for c in line] for name in ("nmpiw", "picp"))
        assert (np.diff(y) >= 0).all()
        assert np.interp(point["nmpiw"], x, y) == pytest.approx(point["uniform_picp_at_same_width"])
        # A heteroscedastic interval cannot be far from the boundary on these sets.
        assert abs(point["picp"] - point["uniform_picp_at_same_width"]) < 10
