"""Pages of the documentation as blocks of code, each with what it is said to print."""

import re
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
GENERATED = {"examples", "gallery", "pictures", "_ext"}
# A comment that stands alone before a block says why the block cannot run.
_BLOCK = re.compile(
    r"(?:^<!-- not run: (?P<why>.+?) -->\n+)?^```(?P<kind>\w+)\n(?P<text>.*?)^```$",
    re.DOTALL | re.MULTILINE,
)


class Block(NamedTuple):
    """A block of code: its kind, its text, its line, what it prints, why it is not run."""

    kind: str
    text: str
    line: int
    printed: str | None
    why: str | None


def pages():
    """Return all pages that are written by hand."""
    found = [p for p in DOCS.rglob("*.md") if not GENERATED & set(p.relative_to(DOCS).parts)]
    others = ("README.md", "CONTRIBUTING.md", "RELEASING.md", "SECURITY.md")
    others += ("benchmarks/README.md", "experiments/README.md")
    return [*(ROOT / name for name in others), *sorted(found)]


def blocks(page):
    """Return the blocks of a page in order; a text right below code is what it prints."""
    text = page.read_text(encoding="utf-8")
    matches = list(_BLOCK.finditer(text))
    printed = {}
    for one, other in pairwise(matches):
        if other["kind"] == "text" and not text[one.end() : other.start()].strip():
            printed[one.start()] = other["text"]
    return [
        Block(
            found["kind"],
            found["text"],
            text[: found.start("text")].count("\n"),
            printed.get(found.start()),
            found["why"],
        )
        for found in matches
    ]


def steps(text):
    """Yield the commands of a transcript, each with what it printed."""
    for step in text.split("$ ")[1:]:
        command, _, printed = step.partition("\n")
        while command.endswith("\\"):
            more, _, printed = printed.partition("\n")
            command = command.removesuffix("\\") + more
        yield command, printed
