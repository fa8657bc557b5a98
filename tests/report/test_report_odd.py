"""Pages on few rows, on huge and tiny targets, and on features with labels of any length."""

import re

import numpy as np
import pandas as pd
import pytest
from judged import bird_model, delay_model, delays, held_in, page_of, species
from test_report_browser import Visit, chromium  # noqa: F401 (a fixture)

from elmband import ELMIntervalRegressor
from elmband.report import write_report


def words_of(text):
    return re.sub(r"\s+", " ", re.sub("<[^>]+>", "", text.partition("<main>")[2]))


def test_few_rows_are_counted_as_they_are(tmp_path):
    X, y = delays(5, 1)
    words = words_of(page_of(tmp_path, delay_model(), (X, y), unit="minutes"))
    (held,) = re.findall(r"Here (\d) of 5 did", words)
    assert f"Of 5 intervals here, {held} held." in words
    assert "There is no choice among these rows" in words
    assert "With help from people" not in words


def test_one_row_is_no_plural(tmp_path):
    X, y = species(1, 1)
    words = words_of(page_of(tmp_path, bird_model(abstaining=False), (X, y)))
    assert re.search(r"Of 1 label, [01] is right", words)
    assert re.search(r"[01] of 1 row wrong", words)


def test_a_feature_without_a_part_that_stands_out_is_not_the_same_in_all_rows(tmp_path):
    X, y = species(600, 1)
    text = page_of(tmp_path, bird_model(), (X, y))
    for feature in held_in(text)["features"]:
        assert "the same in all rows" not in feature["sentence"]
    assert "of the rows there, and" not in text


@pytest.fixture(scope="module")
def odd(tmp_path_factory):
    """Write a page on huge targets, with a feature of short labels and one of long ones."""
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"a": rng.integers(0, 60, 900), "b": rng.uniform(1e6, 2e6, 900)})
    y = (X["a"] + (3 + X["a"]) * rng.normal(size=900)) * 1e12
    model = ELMIntervalRegressor(20, random_state=0).fit(X[:400], y[:400])
    path = tmp_path_factory.mktemp("odd") / "odd.html"
    return write_report(model, (X[400:], y[400:]), path)


@pytest.mark.slow
@pytest.mark.browser
def test_labels_stay_whole_when_another_feature_is_chosen(chromium, odd):  # noqa: F811
    with Visit(chromium, odd, 390, 844) as visit:
        assert [feature["name"] for feature in visit.content["features"]] == ["a", "b"]
        visit.page.get_by_label("Look along").select_option("b")
        visit.page.wait_for_timeout(300)
        for name in ("widths", "held", "parts"):
            box = visit.chart(name).bounding_box()
            labels = visit.chart(name).locator(".role-axis-label text, .role-legend-label text")
            for label in labels.all():
                place = label.bounding_box()
                assert place["x"] >= box["x"] - 1
                assert place["x"] + place["width"] <= box["x"] + box["width"] + 1


@pytest.mark.slow
@pytest.mark.browser
def test_huge_numbers_fit_cards_and_axes(chromium, odd):  # noqa: F811
    with Visit(chromium, odd, 390, 844) as visit:
        assert not [label for label in visit.labels("widths") if "000,000" in label]
        for number in visit.page.locator(".card .big data").all():
            box = number.bounding_box()
            card = number.locator("xpath=ancestor::div[1]").bounding_box()
            assert box["x"] + box["width"] <= card["x"] + card["width"]
            assert box["height"] < 45
