"""Displays of a real classifier that abstains."""

import numpy as np
import pytest
from abstaining import legend, noisy_rows

from elmband import ELMClassifier, ELMSelectiveClassifier
from elmband.display import ConfidentRatesDisplay, RiskCoverageDisplay
from elmband.metrics import aurc, confident_rates, risk_coverage_curve

X, Y = noisy_rows(300)
NEW, TRUE = noisy_rows(500, seed=1)
NAMES = np.array(["no", "yes"])


@pytest.fixture(scope="module", params=["numbers", "text"])
def fitted(request):
    """Return a model, new labels of its kind and the positive one."""
    names = np.arange(2) if request.param == "numbers" else NAMES
    model = ELMSelectiveClassifier(20, noise="squared", random_state=0).fit(X, names[Y])
    return model, names[TRUE], names[1]


def test_risk_against_coverage_of_an_estimator(fitted):
    model, y, _ = fitted
    display = RiskCoverageDisplay.from_estimator(model, NEW, y)
    rows = y, model.predict(NEW), model.confidence(NEW)
    expected = risk_coverage_curve(*rows)
    np.testing.assert_array_equal(display.line_.get_data(), expected[:2])
    error = np.mean(y != model.predict(NEW))
    text = f"ELMSelectiveClassifier (AURC {aurc(*rows):.3g}, error {error:.3g})"
    assert legend(display) == [text]


def test_rates_of_an_estimator(fitted):
    model, y, positive = fitted
    display = ConfidentRatesDisplay.from_estimator(model, NEW, y, pos_label=positive, of="all")
    expected = confident_rates(
        y, model.predict(NEW), model.confidence(NEW), pos_label=positive, of="all"
    )
    np.testing.assert_array_equal(display.tpr, expected.tpr)
    np.testing.assert_array_equal(display.fpr, expected.fpr)


def test_the_threshold_of_a_model_is_a_point_of_its_curve(fitted):
    model, y, _ = fitted
    display = RiskCoverageDisplay.from_estimator(model, NEW, y)
    found = model.choose(coverage=0.4).evaluate(NEW, y)
    place = np.argmin(np.abs(display.coverage - found.answered))
    assert display.coverage[place] == pytest.approx(found.answered)
    assert display.risk[place] == pytest.approx(found.error)


def test_a_classifier_that_does_not_abstain_has_no_confidence():
    model = ELMClassifier(10, random_state=0).fit(X, Y)
    with pytest.raises(TypeError, match="ELMClassifier has no method confidence"):
        RiskCoverageDisplay.from_estimator(model, NEW, TRUE)
