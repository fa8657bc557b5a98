"""The page that binds figures and tables with what was published, and why they differ."""

import re
from importlib import resources
from typing import Any

from elmband import __version__

HIDDEN_TABLES = frozenset({"uniform_curves"})
"""Tables too long for a page; their files are linked like all others."""

_PERCENT = frozenset({"picp", "nmpiw", "published_picp", "published_nmpiw"})


def page(facts: dict[str, Any]) -> str:
    """Return the page as HTML; figures and tables are files beside it."""
    from jinja2 import Environment, PackageLoader, StrictUndefined  # noqa: PLC0415 (an extra)

    environment = Environment(
        loader=PackageLoader("elmband_experiments.paper", "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["shown"] = shown
    environment.filters["together"] = together
    environment.filters["heading"] = heading
    style = resources.files("elmband.report").joinpath("page", "page.css").read_text("utf-8")
    text: str = environment.get_template("reproduce.html").render(
        **facts, style=style, version=__version__, hidden=HIDDEN_TABLES
    )
    return text


def together(text: str) -> str:
    r"""Keep numbers on one line with their units.

    Examples
    --------
    >>> together("12.3 % of 40 ms").split(" ")
    ['12.3\xa0%', 'of', '40\xa0ms']
    """
    return re.sub(r"(?<=\d) (?=%|m?s\b)", "\N{NO-BREAK SPACE}", text)


def shown(value: Any, name: str = "") -> str:
    """Write a value of a table for people.

    Examples
    --------
    >>> shown(0.12345), shown(92.631, "picp"), shown(None), shown([1.0, 2.0]), shown(12345)
    ('0.123', '92.63', '-', '1 to 2', '12,345')
    """
    if value is None:
        return "-"
    if isinstance(value, list):
        return " to ".join(shown(part) for part in value)
    if isinstance(value, bool) or not isinstance(value, int | float):
        return str(value)
    if isinstance(value, int):
        return f"{value:,}"
    if name in _PERCENT:
        return f"{value:.2f}"
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.3g}"


def heading(name: str) -> str:
    """Write the name of a column for people.

    Examples
    --------
    >>> heading("published_picp"), heading("width_over_true")
    ('published PICP', 'width over true')
    """
    words = name.replace("_", " ")
    for short in ("picp", "nmpiw", "tpr", "fpr"):
        words = words.replace(short, short.upper())
    return words
