"""Rows and models that the tests of the report share, and what a page holds."""

import json
import re
from html.parser import HTMLParser

import numpy as np
import pandas as pd

from elmband import ELMClassifier, ELMIntervalRegressor, ELMSelectiveClassifier
from elmband.report import write_report

FEATURES = ["hour", "weekday", "distance"]


def delays(n_rows, seed):
    """Flights whose delays are noisier in the evening; three features, one of few values."""
    rng = np.random.default_rng(seed)
    hour = rng.uniform(0, 24, n_rows)
    frame = pd.DataFrame(
        {
            "hour": hour,
            "weekday": rng.integers(0, 7, n_rows).astype(float),
            "distance": rng.lognormal(6, 0.5, n_rows),
        }
    )
    noise = rng.normal(size=n_rows) * (1 + hour / 4)
    delay = 5 * np.sin(hour / 4) + frame["weekday"] + noise
    return frame, pd.Series(delay.to_numpy(), name="delay")


def species(n_rows, seed, kinds=2):
    """Classes that overlap."""
    rng = np.random.default_rng(seed)
    X = pd.DataFrame(rng.normal(size=(n_rows, 3)), columns=["length", "width", "weight"])
    score = X["length"] + 0.5 * X["width"] + rng.normal(size=n_rows) * 0.6
    edges = np.quantile(score, np.arange(1, kinds) / kinds)
    names = np.array(["finch", "robin", "sparrow", "wren"])
    return X, pd.Series(names[np.searchsorted(edges, score)], name="bird")


def delay_model(**options):
    return ELMIntervalRegressor(20, random_state=0, **options).fit(*delays(1500, 0))


def bird_model(kinds=2, *, abstaining=True):
    X, y = species(1200, 0, kinds)
    if not abstaining:
        return ELMClassifier(20, random_state=0).fit(X, y)
    return ELMSelectiveClassifier(20, max_error=0.1, random_state=0).fit(X, y)


def page_of(folder, model, data, **options):
    """Write a page and return its text."""
    return write_report(model, data, folder / "report.html", **options).read_text("utf-8")


def held_in(text, place="report-data"):
    """Return the data that a page holds."""
    found = re.search(
        rf'<script type="application/json" id="{place}">(.*?)</script>', text, re.DOTALL
    )
    return json.loads(found[1])


def content_of(folder, model, data, **options):
    return held_in(page_of(folder, model, data, **options))


class Page(HTMLParser):
    """The words of a page, its tags, and the numbers that it names."""

    SILENT = ("script", "style")

    def __init__(self, text):
        super().__init__()
        self.words, self.numbers, self.tags, self.open = [], [], [], []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))
        if tag not in {"meta", "input"}:
            self.open.append((tag, dict(attrs)))

    def handle_endtag(self, tag):
        assert self.open[-1][0] == tag, f"</{tag}> closes <{self.open[-1][0]}>"
        self.open.pop()

    def handle_data(self, data):
        tag, attrs = self.open[-1] if self.open else ("", {})
        if tag == "data":
            self.numbers.append((float(attrs["value"]), data))
        elif tag not in self.SILENT:
            self.words.append(data)

    def attributes(self, tag):
        return [attrs for name, attrs in self.tags if name == tag]


def leaves(value):
    """Yield all numbers and texts of nested data."""
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, list):
        for inner in value:
            yield from leaves(inner)
    else:
        yield value


def written(text):
    """Yield the numbers that a text names, each with half a unit of its last digit."""
    for whole, fraction, power in re.findall(r"(-?\d[\d,]*)(\.\d+)?(e[+-]\d+)?", text):
        number = float(f"{whole.replace(',', '')}{fraction}{power}")
        yield number, 0.5 * 10.0 ** (int(power[1:] or 0) - max(len(fraction) - 1, 0))


def is_rounding_of(number, half, value):
    """Tell whether a number as written stands for a value, or for its percentage."""
    return any(abs(number - exact) <= half * (1 + 1e-9) for exact in (value, 100 * value))
