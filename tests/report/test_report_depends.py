"""What a page says that predictions depend on, beside what the model says."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from judged import held_in

from elmband import ELMClassifier, ELMIntervalRegressor
from elmband.models.fitted import Notes
from elmband.report import write_report
from elmband.report.depends import depends

RNG = np.random.default_rng(0)
X = pd.DataFrame(RNG.normal(size=(400, 12)), columns=[f"column {k}" for k in range(12)])
MEAN = 3 * X["column 2"] + X["column 7"]
Y = MEAN + np.exp(X["column 4"]) * RNG.normal(size=400)


@pytest.fixture(scope="module")
def model():
    return ELMIntervalRegressor({"linear": 12, "tanh": 10}, random_state=0).fit(X, Y)


def test_rows_are_the_shares_of_the_model(model):
    found, shares = depends(model), model.feature_relevance_.to_dict()
    assert len(found["rows"]) == 10
    assert found["rows"][0]["label"] == "column 2"
    for row in found["rows"]:
        assert row["mean"] == shares["mean"][row["label"]]
        assert row["noise"] == shares["noise"][row["label"]]
    assert found["rest"] == pytest.approx(1 - sum(row["mean"] for row in found["rows"]))


def test_sentences_name_what_matters(model):
    found = depends(model)
    assert found["sentence"].startswith("The prediction depends most on column 2, with ")
    assert "then on column 7" in found["sentence"]
    assert found["noise_sentence"].startswith("The noise depends most on column 4, with ")


def test_noise_that_is_the_same_everywhere_is_said_to_be():
    y = MEAN + RNG.normal(size=400)
    same = ELMIntervalRegressor({"linear": 12, "tanh": 10}, noise_alpha=1e9, random_state=0)
    assert "nearly the same everywhere" in depends(same.fit(X, y))["noise_sentence"]


def test_the_section_is_on_the_page(model, tmp_path):
    path = write_report(model, (X, Y), tmp_path / "page.html")
    text = path.read_text("utf-8")
    assert 'data-chart="depends"' in text
    assert "what does the noise depend on?" in text
    assert held_in(text)["depends"]["rows"] == depends(model)["rows"]


def test_of_classes_the_mean_is_told(tmp_path):
    model = ELMClassifier(20, random_state=0).fit(X, Y > 0)
    text = write_report(model, (X, Y > 0), tmp_path / "page.html").read_text("utf-8")
    assert "What does the prediction depend on?" in text
    assert held_in(text)["depends"]["noise"] is False


def test_a_model_that_does_not_know_has_no_such_section(tmp_path):
    model = ELMIntervalRegressor(20, random_state=0).fit(X, Y)
    model.fitted_ = replace(model.fitted_, notes=Notes())
    text = write_report(model, (X, Y), tmp_path / "page.html").read_text("utf-8")
    assert held_in(text)["depends"] is None
    assert 'data-chart="depends"' not in text
    assert "#depends" not in text
