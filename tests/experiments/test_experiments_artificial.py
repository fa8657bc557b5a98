"""Figures on artificial data: their numbers against the known truth, and against themselves."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import norm

from elmband import ELMIntervalRegressor
from elmband.datasets import make_heteroscedastic
from elmband_experiments.paper import EXPERIMENTS, Settings
from elmband_experiments.paper.bands import Case, estimate, study
from elmband_experiments.paper.panels import GRID

QUICK = Settings(seed=0, quick=True)
BY_NAME = {experiment.name: experiment for experiment in EXPERIMENTS}
FIGURES = [experiment.name for experiment in EXPERIMENTS if experiment.group == "figures"]
BOTH = {"published mode", "elmband's defaults"}


def published_by_hand(data, seed):
    layer = {"linear": 1, "tanh": 10}
    model = ELMIntervalRegressor(
        layer, noise_neurons=layer, noise="squared", calibration="gaussian", random_state=seed
    )
    return model.fit(data.X, data.y)


def test_there_are_five_figures_and_all_modes_are_in_those_with_a_model(paper):
    assert FIGURES == ["kinds", "truth", "sizes", "constant", "thirty"]
    for name in set(FIGURES) - {"truth"}:
        assert {row["mode"] for row in paper.tables[name]} == BOTH


def test_the_true_intervals_cover_what_they_say(paper):
    (row,) = paper.tables["truth"]
    # Three standard errors of a share of 100,000 rows.
    assert abs(row["coverage"] - 0.95) < 3 * np.sqrt(0.95 * 0.05 / 100_000)
    assert 9.5 < row["largest_over_least_std"] < 10.1


def test_the_coverage_of_uniform_intervals_is_the_one_computed_by_hand(paper):
    data, test = (make_heteroscedastic(n, random_state=k) for n, k in ((500, 0), (5000, 10_000)))
    model = published_by_hand(data, 0)
    half = 1.959963984540054 * np.std(data.y - model.predict(data.X))
    expected = np.mean(np.abs(test.y - model.predict(test.X)) <= half)
    found = paper.tables["kinds"][0]
    assert found["interval"] == "Uniform"
    # The mean of training residuals is nearly zero, so that their spread is the RMSE.
    assert abs(found["coverage"] - expected) < 0.002


def test_only_per_sample_intervals_of_the_defaults_hold_everywhere(paper):
    rows = {(r["mode"], r["interval"]): r for r in paper.tables["kinds"]}
    for mode in BOTH:
        assert rows[mode, "Uniform"]["coverage_quietest_fifth"] > 0.99
        assert rows[mode, "Uniform"]["coverage_noisiest_fifth"] < 0.85
        assert rows[mode, "Confidence"]["coverage"] < 0.5
    ours = rows["elmband's defaults", "Per-sample prediction"]
    for name in ("coverage", "coverage_quietest_fifth", "coverage_noisiest_fifth"):
        assert 0.9 < ours[name] < 0.99


@pytest.mark.parametrize("mode", sorted(BOTH))
def test_more_data_leave_less_doubt(paper, mode):
    few, many = (row for row in paper.tables["sizes"] if row["mode"] == mode)
    assert (few["rows"], many["rows"]) == (100, 1000)
    assert many["noise_model_share"] < few["noise_model_share"] / 2
    assert many["mean_model_share"] < few["mean_model_share"] / 2
    assert abs(many["width_over_true"] - 1) < 0.1


def test_constant_noise_is_found_with_enough_rows(paper):
    for row in paper.tables["constant"]:
        if row["rows"] == 1000:
            assert abs(row["coverage"] - 0.95) < 0.015
            assert abs(row["width_over_true"] - 1) < 0.05


def test_thirty_rows_make_intervals_wider_than_the_truth(paper):
    rows = paper.tables["thirty"]
    assert len(rows) == 4
    assert all(row["width_over_true"] > 1.1 for row in rows)


def test_the_band_is_that_of_the_predicted_noise():
    model = published_by_hand(make_heteroscedastic(100, random_state=3), 3)
    one, parts = estimate(model), model.predict_variance(GRID[:, None])
    # In published mode the multiplier is the normal one, and σ_r acts on standardised targets.
    scale = np.std(make_heteroscedastic(100, random_state=3).y)
    spread = 1.959963984540054 * np.sqrt(parts.noise_model) * scale
    outer = norm.ppf(0.975) * np.sqrt(parts.noise + spread)
    inside = parts.noise > 0
    np.testing.assert_allclose(one.band[1, 1][inside], (one.mean + outer)[inside], rtol=1e-6)
    assert (one.band[0, 0] >= one.band[0, 1]).all()


def test_the_seed_decides(paper):
    run, table = BY_NAME["thirty"].run, paper.tables["thirty"]
    assert run(QUICK).tables["thirty"] == table
    other = run(replace(QUICK, seed=1)).tables["thirty"]
    assert [row["mode"] for row in other] == [row["mode"] for row in table]
    assert all(a["coverage"] != b["coverage"] for a, b in zip(other, table, strict=True))


@pytest.mark.slow
def test_a_study_tells_of_its_parts():
    told = []
    cases = [Case(40, 0.2), Case(30)]
    study("some", cases, replace(QUICK, tell=lambda *words: told.append(words)))
    modes = ("published mode", "elmband's defaults")
    assert told[:2] == [(f"40 rows, noise 0.2, {mode}", 0.0) for mode in modes]
    assert told[2:] == [(f"30 rows, {mode}", 0.5) for mode in modes]
