"""Values that people meet in a notebook say what matters in one line."""

import re
import warnings
from dataclasses import dataclass

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone

from elmband import ELMIntervalRegressor, ELMRegressor, ELMSelectiveClassifier, TableEncoder, scan
from elmband.metrics.streaming import interval_sums
from elmband.uncertainty.calibrate import two_sided

RNG = np.random.default_rng(0)
X = RNG.normal(size=(150, 3))
Y = X[:, 0] + RNG.normal(size=150)
BOTH = np.column_stack([Y, -Y])


def line(value):
    """Return what a value shows of itself, which is never an array."""
    text = repr(value)
    assert len(text) < 300
    assert "\n" not in text
    assert "array(" not in text
    return text


def wave(z):
    return np.sin(z)


@pytest.fixture(scope="module")
def model():
    return ELMIntervalRegressor({"linear": 3, "tanh": 20}, random_state=0).fit(X, Y)


def test_layers(model):
    (member,) = model.members_
    alpha = f"{float(member.alpha[0]):.3g}"
    assert line(member) == (f"Member(23 neurons: 3 linear, 20 tanh; n_inputs=3, alpha={alpha})")
    hidden = member.features.hidden
    assert line(hidden) == "HiddenLayer(23 neurons: 3 linear, 20 tanh; n_inputs=3)"
    assert line(member.features) == "FeatureMap(23 neurons: 3 linear, 20 tanh; n_inputs=3)"
    assert [line(block) for block in hidden.blocks] == [
        "Neurons(3 linear, passed through; n_inputs=3)",
        "Neurons(20 tanh; n_inputs=3)",
    ]
    assert line(member.features.inputs) == "Scaling(n_columns=3)"


def test_functions_of_your_own_have_their_name():
    model = ELMRegressor({wave: 5}, alpha=0.1, random_state=0).fit(X, Y)
    assert line(model.hidden_) == "HiddenLayer(5 neurons: 5 wave; n_inputs=3)"


def test_many_outputs():
    wide = np.column_stack([BOTH, BOTH])
    model = ELMIntervalRegressor(20, random_state=0).fit(X, wide)
    assert line(model.members_[0]).endswith(", ...)")
    assert line(model.calibration_) == "Calibration('loo', 150 rows; n_outputs=4)"
    assert re.search(r"rmse=[\d.]+\.\.[\d.]+,", line(model.evaluate(X, wide)))


def test_output_layers():
    model = ELMIntervalRegressor(30, noise="squared", random_state=0).fit(X, BOTH)
    assert line(model.fitted_.noise.layer) == "OutputLayer(n_neurons=30, n_outputs=2)"


def multipliers(text):
    return [float(found) for found in re.findall(r"([\w.]+) at \d+ %", text)]


def test_calibrations_show_multipliers(model):
    text = line(model.calibration_)
    assert text.startswith("Calibration('loo', 150 rows; multipliers ")
    used = [model.calibration_.symmetric(level, 0) for level in (0.5, 0.9, 0.95)]
    np.testing.assert_allclose(multipliers(text), used, rtol=0.01)
    scores = model.calibration_.outputs[0].both
    assert line(scores) == f"Scores(150 rows, from {scores.t[0]:.3g} to {scores.t[-1]:.3g})"


def test_too_few_rows_are_shown_without_a_warning():
    few = ELMIntervalRegressor(10, random_state=0).fit(X, Y).calibrate(X[:12], Y[:12])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        text = line(few.calibration_)
    assert "12 rows" in text
    assert multipliers(text)[2] == np.inf


def test_normal_multipliers_are_known():
    model = ELMIntervalRegressor(10, calibration="gaussian", random_state=0).fit(X, Y)
    assert line(model.calibration_) == (
        "Calibration('gaussian'; multipliers of the normal distribution)"
    )
    assert model.calibration_.symmetric(0.95, 0) == two_sided(0.95)


def test_evaluations(model):
    found = model.evaluate(X, Y, confidence_level=[0.5, 0.6, 0.7, 0.8, 0.9])
    assert line(found) == (
        f"Evaluation(n=150, rmse={found.rmse:.3g}, mae={found.mae:.3g}, r2={found.r2:.3g}, "
        f"nll={found.nll:.3g}, coverage {found.levels[0].coverage:.3g} at 50 %, "
        f"coverage {found.levels[1].coverage:.3g} at 60 %, "
        f"coverage {found.levels[2].coverage:.3g} at 70 %, ... 2 more)"
    )
    mean, std = model.predict(X, return_std=True)
    interval = model.predict_interval(X, [0.5])[:, None]
    sums = interval_sums(Y[:, None], mean[:, None], std[:, None], interval, None, [0.5])
    assert line(sums) == "IntervalSums(150 rows, levels 0.5; n_outputs=1)"


def test_thresholds_say_what_they_mean():
    model = ELMSelectiveClassifier(20, coverage=0.8, random_state=0).fit(X, Y > 0)
    threshold = model.thresholds_[True]
    assert line(threshold) == f"Threshold({threshold.value:.4g}: {model.statement_})"
    assert line(model.fitted_.deciding.thresholds) == (
        f"Thresholds({threshold.value:.4g}, the same for all classes)"
    )
    assert line(model.fitted_.deciding.left_out) == "ScoredRows(150 rows)"
    assert line(model.confidence_.judge) == "Judge(14 features of answers)"
    line(model.confidence_)


def test_thresholds_of_many_classes():
    y = np.digitize(Y, np.quantile(Y, np.linspace(0, 1, 13)[1:-1]))
    model = ELMSelectiveClassifier(20, coverage=0.5, per_class=True, random_state=0).fit(X, y)
    text = line(model.fitted_.deciding.thresholds)
    assert text.endswith(", ... 2 more, one for each class)")


def test_encoders_and_their_fingerprints():
    words = RNG.choice([f"level {k:02d}" for k in range(40)], 150)
    frame = pd.DataFrame({"word": words, "x": X[:, 0], "y": Y})
    encoder = TableEncoder(min_count=1).fit(frame[["word", "x"]])
    width = len(encoder.state_.names)
    assert line(encoder.state_) == f"EncoderState(2 columns to {width} features, float64)"
    # A state that looks the same is not the same to a checkpoint.
    frame["word"] = [word.replace("level", "grade") for word in words]
    other = TableEncoder(min_count=1).fit(frame[["word", "x"]])
    assert repr(other.state_) == repr(encoder.state_)
    prints = {scan(frame, target="y", encoder=e).fingerprint() for e in (encoder, other)}
    assert len(prints) == 2


def test_dataclasses_of_users_show_and_compare_parameters_before_a_fit():
    @dataclass
    class Mine(ELMRegressor):
        extra: int = 3

    assert "extra=3" in repr(Mine())
    assert "fitted_" not in repr(Mine())
    assert Mine(alpha=0.5) == clone(Mine(alpha=0.5)) != Mine()
