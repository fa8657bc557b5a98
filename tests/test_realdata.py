"""The published mode on the paper's four real tasks, read from ELMBAND_DATA."""

import numpy as np
import pandas as pd
import pytest

from elmband.metrics import nmpiw, picp
from published import published

pytestmark = [pytest.mark.realdata, pytest.mark.slow]

PLANT_INPUTS = [
    "gas_flow",
    "turbine_valves_opening",
    "superheater_spray_flow",
    "gas_dampers",
    "air_flow",
]


def load(folder, task):
    if task == "concrete":
        frame = pd.read_csv(folder / "concrete" / "concrete.csv.gz")
        return frame.drop(columns="compressive_strength"), frame["compressive_strength"]
    if task == "plasma":
        frame = pd.read_csv(folder / "plasma" / "plasma.csv")
        return frame.drop(columns=["betaplasma", "retplasma"]), frame["betaplasma"]
    frame = pd.read_csv(folder / "powerplant" / "powerplant.csv")
    return frame[PLANT_INPUTS], frame[task]


# Median coverage and width (both in %) of 15 random 70/30 splits at nominal 90 %. The published
# mode under-covers on concrete and the power plant, because residuals of training rows are too
# small: these ranges pin down that known behaviour, they are not a goal.
EXPECTED = {
    "concrete": ((82, 90), (20, 26)),
    "plasma": ((90.5, 95), (40, 50)),
    "steam_pressure": ((78, 88), (11, 17)),
    "main_steam_temperature": ((80, 88), (22, 30)),
}


@pytest.mark.parametrize("task", EXPECTED)
def test_coverage_and_width_are_those_known_of_the_published_mode(data_folder, task):
    X, y = load(data_folder, task)
    results = []
    for seed in range(15):
        order = np.random.default_rng(seed).permutation(len(y))
        train, test = np.split(order, [int(0.7 * len(y))])
        model = published(random_state=seed).fit(X.iloc[train], y.iloc[train])
        interval = model.predict_interval(X.iloc[test], confidence_level=0.9)
        results.append((100 * picp(y.iloc[test], interval), 100 * nmpiw(y.iloc[test], interval)))
    for value, (low, high) in zip(np.median(results, axis=0), EXPECTED[task], strict=True):
        assert low < value < high


def test_the_published_plasma_row_is_reproduced(data_folder):
    """Published: 92.63 % covered, width 40.66 %, the median of 30 splits that are not known.

    Medians of 30 splits scatter by 3 points of width, hence 300 splits here.
    """
    X, y = load(data_folder, "plasma")
    results = []
    for seed in range(300):
        order = np.random.default_rng(seed).permutation(len(y))
        train, test = np.split(order, [int(0.7 * len(y))])
        model = published(100, selection="op-elm", random_state=seed)
        interval = model.fit(X.iloc[train], y.iloc[train]).predict_interval(X.iloc[test], 0.9)
        results.append((100 * picp(y.iloc[test], interval), 100 * nmpiw(y.iloc[test], interval)))
    coverage, width = np.median(results, axis=0)
    assert abs(coverage - 92.63) < 2
    assert abs(width - 40.66) < 2


@pytest.mark.parametrize("task", EXPECTED)
def test_units_do_not_matter_on_real_data(data_folder, task):
    X, y = load(data_folder, task)
    model = published(50, random_state=0)
    interval = model.fit(X, y).predict_interval(X)
    moved = model.fit(X * 1e3, 100 * y - 7).predict_interval(X * 1e3)
    np.testing.assert_allclose(moved, 100 * interval - 7, rtol=1e-5)
