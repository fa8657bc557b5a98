"""Bars are compared with the shares that models tell."""

import numpy as np
import pytest
from abstaining import legend

from elmband import ELMIntervalRegressor, ELMRegressor
from elmband.display import RelevanceDisplay, new_figure

RNG = np.random.default_rng(0)
X = RNG.normal(size=(300, 5))
Y = 2 * X[:, 1] + X[:, 0] + np.exp(X[:, 3]) * RNG.normal(size=300)


@pytest.fixture(scope="module")
def model():
    return ELMIntervalRegressor(20, random_state=0).fit(X, Y)


def test_bars_are_shares(model):
    display = RelevanceDisplay.from_estimator(model)
    found = model.feature_relevance_
    for name in ("mean", "noise"):
        shares = dict(zip(found.names, getattr(found, name), strict=True))
        drawn = [bar.get_width() for bar in display.bars_[name]]
        assert drawn == [shares[feature] for feature in display.names_]
    assert display.names_[:2] == ["x1", "x0"]
    assert legend(display) == ["the mean", "the noise"]
    labels = [text.get_text() for text in display.ax_.get_yticklabels()]
    assert labels == display.names_


def test_bars_of_an_input_do_not_hide_each_other(model):
    display = RelevanceDisplay.from_estimator(model)
    for mean, noise in zip(display.bars_["mean"], display.bars_["noise"], strict=True):
        assert mean.get_y() + mean.get_height() == pytest.approx(noise.get_y())


def test_few_are_drawn_the_one_of_the_noise_among_them(model):
    display = RelevanceDisplay.from_estimator(model, max_features=2)
    assert set(display.names_) == {"x1", "x3"}


def test_without_noise_there_is_one_bar_for_each():
    point = ELMRegressor(20, random_state=0).fit(X, Y)
    display = RelevanceDisplay.from_estimator(point, ax=new_figure().add_subplot())
    assert list(display.bars_) == ["mean"]
    assert display.ax_.get_legend() is None


def test_directions_are_told(model):
    text = RelevanceDisplay.from_estimator(model, directions=True).ax_.get_xlabel()
    share = model.relevant_directions_.mean.shares[0]
    assert f"{100 * share:.0f} % along +" in text
    assert "x1" in text


def test_what_cannot_be_drawn_is_refused(model):
    with pytest.raises(TypeError, match="has no feature_relevance_"):
        RelevanceDisplay.from_estimator(object())
    with pytest.raises(ValueError, match="whole number"):
        RelevanceDisplay.from_estimator(model, max_features=0)
    with pytest.raises(AttributeError, match="once the model is fitted"):
        RelevanceDisplay.from_estimator(ELMRegressor())
