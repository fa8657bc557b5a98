#!/usr/bin/env python
"""
The numbers of a report
=======================

A page for people who decide, and the numbers that it carries with it.

`write_report` writes one HTML file: open it in any browser. Here its numbers are read from the
page itself, where they stand as JSON, and drawn.

Look at the left: the fewer rows the model answers, the smaller its error; the dashed line is what
answering rows at random would give. On the right, intervals are wide where the noise is, and what
they hold stays near the promise.
"""

import json
import re
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from elmband import ELMIntervalRegressor
from elmband.datasets import make_heteroscedastic
from elmband.display import new_figure
from elmband.report import write_report

train, test = (make_heteroscedastic(n, random_state=n) for n in (2000, 20_000))
model = ELMIntervalRegressor(50, random_state=0).fit(train.X, train.y)
with TemporaryDirectory() as folder:
    page = write_report(model, (test.X, test.y), Path(folder, "report.html"), title="A report")
    text = page.read_text(encoding="utf-8")
report = json.loads(re.search('id="report-data">(.*?)</script>', text)[1])

figure = new_figure(10, 4.5)
left, right = figure.subplots(1, 2)
points, start = report["people"]["points"], report["people"]["start"]
left.plot([p["share"] for p in points], [p["error"] for p in points])
left.plot(start["share"], start["error"], "o", color="C1")
left.axhline(report["people"]["error"], color="k", linestyle="--", linewidth=1)
left.set(xlabel="share of rows answered", ylabel="mean error", ylim=(0, None))
left.set_title(start["sentence"].partition(". ")[0], fontsize=9, wrap=True)
x = [(b["from"] + b["to"]) / 2 for b in report["bins"]]
right.bar(x, [b["width"] for b in report["bins"]], width=0.5, alpha=0.4)
right.set(xlabel="x", ylabel="median width of an interval")
share = right.twinx()
share.plot(x, [b["held"] for b in report["bins"]], "o", color="C1")
share.axhline(report["level"], color="C1", linestyle="--", linewidth=1)
share.set(ylabel="share that held", ylim=(0.5, 1))
held = report["promise"]["at"]
right.set_title(f"{held['held']:.1%} held, {held['level']:.0%} promised", fontsize=9)
figure.savefig(Path(sys.argv[1] if len(sys.argv) > 1 else ".") / "report.png", dpi=120)
