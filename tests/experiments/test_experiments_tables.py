"""The real tasks: what is read, and the published row of plasma."""

import numpy as np
import pandas as pd
import pytest

from elmband.experiments import Settings
from elmband.experiments.table import FEW, METHODS, OP_ELM, draw, measured
from elmband.experiments.tasks import TASKS, load, splits
from elmband.experiments.uniform import WIDTHS, boundary
from elmband.experiments.uniform import run as run_uniform

pytestmark = pytest.mark.realdata

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


def test_a_file_that_is_not_there_is_named(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"plasma\.csv does not exist; let ELMBAND_DATA"):
        load(TASKS["plasma"], tmp_path)


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
    parts = list(splits(*plasma, 1, 0))
    rows = [
        measured(task, name, fit, parts) for task in TASKS.values() for name, fit in METHODS.items()
    ]
    figure = draw(rows)
    (legend,) = figure.legends
    named = {text.get_text() for text in legend.get_texts()}
    assert named == {*METHODS, "published"}
    assert [ax.get_title() for ax in figure.axes] == [task.title for task in TASKS.values()]


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
