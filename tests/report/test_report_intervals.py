"""Every number on a page about intervals, against plain NumPy on all rows."""

import re
from datetime import UTC, datetime

import numpy as np
import pytest
from judged import FEATURES, content_of, delay_model, delays, is_rounding_of, leaves, written
from recomputed import Judged, Near, depends_on, grouped, overlap, same
from sklearn.metrics import mean_absolute_error, r2_score, root_mean_squared_error

import elmband

N_ROWS = 5000
LEVEL = 0.85


@pytest.fixture(scope="module", params=["log", "squared", "one-sided"])
def judged(request, tmp_path_factory):
    options = {
        "log": {},
        "squared": {"noise": "squared", "calibration": "gaussian"},
        "one-sided": {"symmetric": False, "target_transform": None},
    }[request.param]
    model = delay_model(**options)
    X, y = delays(N_ROWS, 1)
    region = np.where(X["distance"] < 300, "near", np.where(X["distance"] < 800, "far", "away"))
    content = content_of(
        tmp_path_factory.mktemp("page"),
        model,
        (X, y),
        confidence_level=LEVEL,
        group=region,
        unit="minutes",
    )
    return content, Judged(model, X, y, LEVEL), region, model


@pytest.mark.slow
def test_the_page_has_no_number_that_is_not_checked_here(judged):
    content, truth, region, model = judged
    shown = [FEATURES.index(name) for name in content["shown"]]
    sources = {"loo": "training rows left out one by one", "gaussian": "the normal distribution"}
    expected = {
        "kind": "intervals",
        "title": "How far to trust predictions of delay",
        "target": "delay",
        "unit": "minutes",
        "rows": N_ROWS,
        "certainty": 0.95,
        "level": LEVEL,
        "typical": {
            "width": Near(float(np.median(truth.width))),
            "error": Near(float(np.median(truth.error))),
        },
        "promise": truth.promise(),
        **truth.beside(),
        "worth": {
            "guarantee": False,
            "source": sources[model.calibration],
            "sentence": content["worth"]["sentence"],
        },
        "impossible": expected_impossible(truth, model),
        "training": overlap(content, truth.X, truth.y, np.column_stack(delays(1500, 0))),
        "groups": [expected_groups(truth, region)],
        "features": content["features"],
        "bins": [
            truth.bin(
                line,
                truth.X[:, column_of(content, line["feature"])],
                sum(other["feature"] == line["feature"] for other in content["bins"]),
            )
            for line in content["bins"]
        ],
        "people": {
            "points": [truth.point(p, k) for k, p in enumerate(content["people"]["points"])],
            "start": min(content["people"]["points"], key=lambda p: abs(p["share"] - 0.7)),
            "error": float(truth.error.mean()),
        },
        "parts": {"noise": float(truth.noise.mean()), "unknown": float(1 - truth.noise.mean())},
        "depends": depends_on(content, model, noise=model.noise == "log"),
        "shown": [feature["name"] for feature in content["features"][:3]],
        "misses": truth.rows(truth.error / truth.std, 10, shown, ~truth.held),
        "widest": truth.rows(truth.width, 5, shown),
        "narrowest": truth.rows(-truth.width, 5, shown),
        "scores": {
            "mae": float(mean_absolute_error(truth.y, truth.mean)),
            "rmse": float(root_mean_squared_error(truth.y, truth.mean)),
            "r2": float(r2_score(truth.y, truth.mean)),
        },
        "target_range": {
            "low": float(truth.y.min()),
            "mean": float(truth.y.mean()),
            "high": float(truth.y.max()),
        },
        "data": {
            "n_rows": N_ROWS,
            "n_dropped": 0,
            "n_ranges": 3,
            "n_features": 3,
            "features": [
                {
                    "name": name,
                    "low": float(column.min()),
                    "mean": float(column.mean()),
                    "high": float(column.max()),
                }
                for name, column in zip(FEATURES, truth.X.T, strict=True)
            ],
        },
        "facts": {
            "model": "ELMIntervalRegressor",
            "encoded": False,
            "layers": [{"neurons": 20, "kinds": ["tanh"]}],
            "trained_on": 1500 if model.noise == "squared" else None,
            "version": elmband.__version__,
            "date": datetime.now(UTC).date().isoformat(),
        },
    }
    same(content, expected)


def expected_groups(truth, region):
    names = sorted(set(region), key=lambda name: -np.count_nonzero(region == name))
    return grouped("group", [truth.group(name, region == name, 3) for name in names])


def expected_impossible(truth, model):
    low, high = model.target_range_
    assert not np.isfinite(high)
    low = low if np.isfinite(low) else 0.0 if truth.y.min() >= 0 else None
    if low is None:
        return None
    return {"n": int((truth.lower < low).sum()), "low": low, "high": None}


def column_of(content, feature):
    return FEATURES.index(content["features"][feature]["name"])


@pytest.mark.one_quick
def test_bins_of_a_feature_hold_every_row_once_and_about_as_many_each(judged):
    content, truth, *_ = judged
    for k, feature in enumerate(content["features"]):
        lines = [line for line in content["bins"] if line["feature"] == k]
        assert sum(line["n"] for line in lines) == N_ROWS
        ends = [line[end] for line in lines for end in ("from", "to")]
        assert ends == sorted(ends)
        if feature["name"] == "weekday":
            assert [line["label"] for line in lines] == ["0", "1", "2", "3", "4", "5", "6"]
        else:
            assert {line["n"] for line in lines} == {N_ROWS // 10}
        for line in lines:
            assert all(
                is_rounding_of(*number, end)
                for number, end in zip(
                    written(line["label"]), (line["from"], line["to"]), strict=False
                )
            )
    assert truth.n == N_ROWS


def test_what_is_said_of_a_feature_is_what_its_bins_say(judged):
    content, *_ = judged
    assert next(f["name"] for f in content["features"]) == "hour"
    assert {f["name"] for f in content["features"]} == set(FEATURES)
    for k, feature in enumerate(content["features"]):
        lines = [line for line in content["bins"] if line["feature"] == k]
        assert feature["narrow"] == min(lines, key=lambda line: line["width"])
        assert feature["wide"] == max(lines, key=lambda line: line["width"])
        assert feature["least"] == min(lines, key=lambda line: line["high"])
        assert feature["ratio"] == feature["wide"]["width"] / feature["narrow"]["width"]
        known = list(leaves([*(feature[name] for name in ("narrow", "wide", "least"))]))
        assert_numbers_are_known(feature["sentence"], known)


def test_steps_of_the_slider_go_up_to_all_rows_and_say_what_they_are(judged):
    content, *_ = judged
    points = content["people"]["points"]
    shares = [point["share"] for point in points]
    assert shares == sorted(set(shares))
    assert shares[-1] == 1
    assert len(points) > 90
    assert np.diff(shares).max() < 0.02
    for point in points:
        known = [*leaves(point), content["people"]["error"]]
        assert_numbers_are_known(re.sub(r"[\d.]+ of \d+ held", "", point["sentence"]), known)
        if point["n"] < 100:
            count = round(point["held"] * point["n"])
            assert point["sentence"].endswith(f"answered, {count} of {point['n']} held.")


def assert_numbers_are_known(sentence, known):
    values = [v for v in known if isinstance(v, int | float)]
    for number in written(sentence):
        assert any(is_rounding_of(*number, value) for value in values), (number, sentence)


def test_uncertain_rows_are_where_the_noise_is(judged):
    content, *_ = judged
    hour = content["features"][0]
    assert hour["wide"]["from"] > 20
    assert hour["narrow"]["to"] < 6
    start = content["people"]["start"]
    assert start["error"] < 0.9 * content["people"]["error"] < start["rest_error"]
