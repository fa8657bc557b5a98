"""Reports on real data, read from ELMBAND_DATA."""

import numpy as np
import pandas as pd
import pytest
from judged import Page, held_in, page_of

from elmband import ELMIntervalRegressor, ELMSelectiveClassifier

pytestmark = [pytest.mark.realdata, pytest.mark.slow]


def halves(n_rows):
    order = np.random.default_rng(0).permutation(n_rows)
    return order[: n_rows // 2], order[n_rows // 2 :]


def judged_page(folder, frame, target, **options):
    """Train on one half of the rows, and report on the other."""
    y = frame.pop(target)
    train, test = halves(len(y))
    model = ELMIntervalRegressor(50, random_state=0).fit(frame.iloc[train], y.iloc[train])
    X, y = frame.iloc[test], y.iloc[test]
    return page_of(folder, model, (X, y), **options), model.evaluate(X, y, confidence_level=0.9)


@pytest.mark.parametrize("name", ["concrete", "plasma"])
def test_small_tables(data_folder, tmp_path, name):
    frame = pd.read_csv(next((data_folder / name).glob("*.csv*")))
    frame = frame.drop(columns="retplasma", errors="ignore")
    target = {"concrete": "compressive_strength", "plasma": "betaplasma"}[name]
    text, scores = judged_page(tmp_path, frame, target)
    content = held_in(text)
    assert content["scores"]["mae"] == pytest.approx(scores.mae)
    assert content["promise"]["at"]["held"] == pytest.approx(scores.levels[0].coverage)
    assert target in " ".join(Page(text).words)


def test_flights_are_trusted_less_in_the_evening(data_folder, tmp_path):
    path = data_folder / "flights" / "flights-3m.parquet"
    flights = pd.read_parquet(path, columns=["date", "delay", "distance", "origin"])
    flights = flights.sample(40_000, random_state=0)
    airport = flights["origin"].iloc[halves(len(flights))[1]]
    frame = pd.DataFrame(
        {
            "hour": flights["date"].dt.hour + flights["date"].dt.minute / 60,
            "distance": flights["distance"].astype(float),
            "delay": flights["delay"].clip(-60, 300).astype(float),
        }
    )
    text, scores = judged_page(tmp_path, frame, "delay", unit="minutes", group=airport)
    content = held_in(text)
    hour = content["features"][0]
    assert hour["name"] == "hour"
    assert hour["wide"]["from"] > 18
    assert hour["wide"]["width"] > 1.5 * hour["narrow"]["width"]
    assert content["scores"]["rmse"] == pytest.approx(scores.rmse)
    (groups,) = content["groups"]
    assert groups["name"] == "origin"
    assert groups["n_others"] > 100
    # The model does not know the airport, and some are much worse than others.
    assert groups["lowest"]["held"] < 0.87 < content["promise"]["at"]["held"]


def test_skin_pixels_are_answered_as_asked(data_folder, tmp_path):
    with np.load(data_folder / "skin_uci" / "skin_nonskin.npz") as stored:
        X = pd.DataFrame(stored["BGR"].astype(float), columns=["blue", "green", "red"])
        y = pd.Series(np.where(stored["label"] == 1, "skin", "other"), name="pixel")
    order = np.random.default_rng(0).permutation(len(y))[:30_000]
    train, promised, test = np.split(order, [5000, 15_000])
    model = ELMSelectiveClassifier(30, max_error=0.005, pos_label="skin", random_state=0)
    model.fit(X.iloc[train], y.iloc[train]).calibrate(X.iloc[promised], y.iloc[promised])
    content = held_in(page_of(tmp_path, model, (X.iloc[test], y.iloc[test])))
    assert content["promise"]["statement"][0].startswith("Promised with 95 % confidence")
    assert content["promise"]["verdict"] == "kept"
    assert content["promise"]["error"] < content["people"]["error"]
    assert content["positive"] == "skin"
