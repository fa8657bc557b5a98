"""The page itself: what it says, what it must not run, and how it is written."""

import re
import sys
from base64 import b64encode
from hashlib import sha256

import numpy as np
import pandas as pd
import pytest
from judged import (
    Page,
    bird_model,
    delay_model,
    delays,
    held_in,
    is_rounding_of,
    leaves,
    page_of,
    species,
    written,
)

from elmband import ELMIntervalRegressor
from elmband.report import write_report

# Words of the page itself, in which a hundred is a unit.
PHRASES = ("of 100", "Of 100")


@pytest.fixture(scope="module", params=["intervals", "classes", "several classes", "certain"])
def text(request, tmp_path_factory):
    folder = tmp_path_factory.mktemp("page")
    if request.param == "intervals":
        return page_of(folder, delay_model(), delays(3000, 1), group="weekday", unit="minutes")
    if request.param == "classes":
        X, y = species(3000, 1)
        site = np.where(X["weight"] < 0, "coast", "hill")
        return page_of(folder, bird_model(), (X, y), group=site)
    if request.param == "several classes":
        return page_of(folder, bird_model(4), species(3000, 1, 4))
    return page_of(folder, bird_model(abstaining=False), species(3000, 1))


@pytest.mark.slow
def test_every_number_in_the_text_is_one_of_the_data(text):
    page, content = Page(text), held_in(text)
    known = {float(v) for v in leaves(content) if isinstance(v, int | float)}
    assert len(page.numbers) > 150
    for value, shown in page.numbers:
        assert value in known, (value, shown)
        (number,) = written(shown)
        assert is_rounding_of(*number, value), (value, shown)


@pytest.mark.slow
def test_there_are_no_other_digits(text):
    page, content = Page(text), held_in(text)
    words = " ".join(page.words)
    texts = sorted({v for v in leaves(content) if isinstance(v, str)}, key=len, reverse=True)
    for known in (*texts, *PHRASES):
        words = words.replace(known, "")
    assert re.findall(r"\d+", words) == []


def test_there_are_no_holes_in_the_text(text):
    words = " ".join(Page(text).words)
    assert "unknown" not in words
    assert "None" not in words
    assert "nan" not in words.split()
    assert "{" not in words


def test_the_page_is_one_file_that_asks_for_nothing(text):
    page = Page(text)
    for tag, attrs in page.tags:
        assert "src" not in attrs, tag
        assert attrs.get("href", "#").startswith("#")
    assert not {"link", "img", "iframe", "form"} & {tag for tag, _ in page.tags}
    (policy,) = [a["content"] for a in page.attributes("meta") if "http-equiv" in a]
    assert policy.startswith("default-src 'none'; script-src 'sha256-")
    scripts = re.findall(r'<script type="module">(.*?)</script>', text, re.DOTALL)
    assert len(scripts) == 2
    for script in scripts:
        assert f"'sha256-{b64encode(sha256(script.encode()).digest()).decode()}'" in policy
    assert "'unsafe-inline'" not in policy.split("style-src")[0]


def test_the_page_can_be_read_aloud_and_by_keyboard(text):
    page = Page(text)
    assert page.attributes("html") == [{"lang": "en"}]
    ranks = [int(tag[1]) for tag, _ in page.tags if re.fullmatch("h[1-6]", tag)]
    assert ranks[0] == 1
    assert ranks.count(1) == 1
    assert max(np.diff(ranks)) == 1
    ids = [attrs["id"] for _, attrs in page.tags if "id" in attrs]
    assert len(ids) == len(set(ids))
    for attrs in page.attributes("label"):
        assert attrs["for"] in ids
    assert {attrs["id"] for attrs in page.attributes("input") + page.attributes("select")} == {
        attrs["for"] for attrs in page.attributes("label")
    }
    for attrs in page.attributes("a"):
        assert attrs["href"][1:] in ids
    charts = [attrs for attrs in page.attributes("div") if "data-chart" in attrs]
    assert len(charts) >= 3
    for attrs in charts:
        assert attrs["role"] == "img"
        assert len(attrs["aria-label"]) > 40
    for attrs in page.attributes("th"):
        assert attrs["scope"] in {"col", "row"}
    assert {a["data-chart"] for a in charts} == set(held_in(text, "report-charts"))


@pytest.mark.slow
def test_the_page_does_not_grow_with_the_rows(tmp_path):
    model = delay_model()
    small, large = (page_of(tmp_path, model, delays(n, 1)) for n in (2000, 40_000))
    assert len(large) < 1.02 * len(small)
    assert len(large) < 1_300_000


HOSTILE = [
    "<script>document.title = 'owned'</script>",
    '"><img src=x onerror="document.title=1">',
    "</script><script>alert(1)</script>",
    "{{ 7 * 7 }}",
    "'; alert(1); '",
]


def hostile_page(folder):
    """Write a page in which every text that comes from data is an attack."""
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(600, 5)), columns=HOSTILE)
    y = pd.Series(X[HOSTILE[0]] + rng.normal(size=600), name="<b onclick=alert(1)>price</b>")
    group = np.array(HOSTILE)[rng.integers(0, 5, 600)]
    model = ELMIntervalRegressor(10, random_state=0).fit(X, y)
    return write_report(
        model,
        (X, y),
        folder / "hostile.html",
        group=group,
        unit="<i>€</i>",
        title="</title><script>alert(1)</script>",
    )


@pytest.mark.slow
def test_text_from_data_stays_text(tmp_path):
    text = hostile_page(tmp_path).read_text("utf-8")
    page = Page(text)
    assert len(page.attributes("script")) == 4
    assert {tag for tag, _ in page.tags}.isdisjoint({"img", "b", "i"})
    assert not any(name.startswith("on") for _, attrs in page.tags for name in attrs)
    assert "49" not in [word for words in page.words for word in words.split()]
    content = held_in(text)
    assert {feature["name"] for feature in content["features"]} == set(HOSTILE)
    assert content["unit"] == "<i>€</i>"
    for name in HOSTILE:
        assert name in " ".join(page.words)


@pytest.mark.slow
def test_hostile_classes_stay_text(tmp_path):
    X, y = species(800, 0)
    labels = np.where(y == "finch", HOSTILE[0], HOSTILE[2])
    model = bird_model()
    model.fit(X, labels)
    page = Page(page_of(tmp_path, model, (X, labels)))
    assert len(page.attributes("script")) == 4
    assert HOSTILE[2] in " ".join(page.words)


def test_a_page_that_fails_leaves_the_old_one(tmp_path, monkeypatch):
    path = tmp_path / "report.html"
    path.write_text("old")

    def fail(content):
        raise RuntimeError(content["kind"])

    monkeypatch.setattr("elmband.report.write.page", fail)
    with pytest.raises(RuntimeError, match="intervals"):
        write_report(delay_model(), delays(100, 1), path)
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize(
    ("name", "error", "sentence"),
    [
        ("report.pdf", ValueError, "let it end in .html"),
        ("missing/report.html", OSError, "does not exist; make it first"),
    ],
)
def test_a_name_that_cannot_be_is_refused_before_any_work(name, error, sentence, tmp_path):
    with pytest.raises(error, match=sentence):
        write_report(delay_model(), (None, None), tmp_path / name)


def test_a_missing_library_is_named_with_what_installs_it(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "vl_convert", None)
    with pytest.raises(ImportError, match=r"needs vl_convert: pip install 'elmband\[report\]'"):
        write_report(delay_model(), (None, None), tmp_path / "report.html")


def test_the_title_is_the_users(tmp_path):
    text = page_of(tmp_path, delay_model(), delays(200, 1), title="Delays & trust")
    assert "<title>Delays &amp; trust</title>" in text
    assert "<h1>Delays &amp; trust</h1>" in text


@pytest.mark.slow
def test_words_follow_the_numbers(tmp_path):
    model = delay_model()
    X, y = delays(3000, 1)
    kept = page_of(tmp_path, model, (X, y))
    assert "The promise is kept." in kept
    broken = page_of(tmp_path, model, (X, y * 3))
    assert "The promise is not kept" in broken
    cautious = page_of(tmp_path, model, (X, model.predict(X)))
    assert "That is more than promised" in cautious
    assert "Every interval held its true value." in cautious
    far = np.append(model.predict(X[:10]), [1e3, -1e3])
    few = page_of(tmp_path, model, (X[:12], far))
    assert "too few to tell" in few
