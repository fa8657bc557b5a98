"""Labels of a scan are those that its own encoder has put numbers in place of."""

import numpy as np
import pandas as pd
import pytest

from elmband import ELMClassifier, ELMSelectiveClassifier, TableEncoder, scan
from elmband.report import write_report

N = 200
RNG = np.random.default_rng(0)
FRAME = pd.DataFrame({"size": RNG.normal(size=N), "town": RNG.choice(["Oslo", "Rome"], N)})
RISE = FRAME["size"] + (FRAME["town"] == "Rome") + 0.3 * RNG.normal(size=N)
# In the order of the alphabet these are other places than in that of the numbers.
WORDS = np.array(["low", "mid", "high"])[np.digitize(RISE, [0, 1])]
PLACES = np.digitize(RISE, [0, 1])


def selective(**options):
    return ELMSelectiveClassifier(15, coverage=0.7, random_state=0, **options)


@pytest.mark.parametrize("labels", [WORDS, RISE.to_numpy() > 0.5], ids=["text", "flags"])
@pytest.mark.parametrize("how", [pd.Series, np.asarray], ids=["named", "array"])
def test_a_classifier_of_a_table_judges_and_learns_scans(labels, how, tmp_path):
    y = how(labels) if how is np.asarray else how(labels, name="label")
    model = selective().fit(FRAME, y)
    table = FRAME.assign(label=labels)
    rows = scan(table, target="label", encoder=model.encoder_)
    assert model.evaluate(rows) == model.evaluate(FRAME, y)
    write_report(model, rows, tmp_path / "report.html")
    if how is pd.Series:
        learned = selective().fit(scan(table, target="label", encoder=TableEncoder()))
        assert learned.encoder_.state_ == model.encoder_.state_
    grown = ELMClassifier(10, alpha=1.0, random_state=0).partial_fit(FRAME, y)
    expected = ELMClassifier(10, alpha=1.0, random_state=0).partial_fit(FRAME, y)
    grown.partial_fit(scan(table, target="label", encoder=grown.encoder_))
    np.testing.assert_allclose(
        grown.predict_proba(FRAME), expected.partial_fit(FRAME, y).predict_proba(FRAME), rtol=1e-9
    )


def test_words_are_not_taken_for_the_numbers_that_a_model_knows(tmp_path):
    numbers = FRAME[["size"]]
    rows = scan(numbers.assign(label=WORDS), target="label", encoder=TableEncoder())
    model = selective().fit(numbers, PLACES)
    for ask in (model.evaluate, model.calibrate):
        with pytest.raises(ValueError, match=r"'(low|mid|high)', which is none of the classes"):
            ask(rows)
    with pytest.raises(ValueError, match=r"'(low|mid|high)', which is none of the classes"):
        write_report(model, rows, tmp_path / "report.html")
    grown = ELMClassifier(10, random_state=0).partial_fit(numbers, PLACES)
    with pytest.raises(ValueError, match="an encoder that knows other classes than ELMClassifier"):
        grown.partial_fit(rows)
    # A model that knows the words takes them from any encoder.
    model = selective().fit(numbers, WORDS)
    assert model.evaluate(rows) == model.evaluate(numbers, WORDS)
