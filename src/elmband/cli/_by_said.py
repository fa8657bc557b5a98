"""Groups of rows as tables for people, 80 columns wide."""

import io
from collections.abc import Iterator, Sequence
from typing import Any

from rich import box
from rich.console import Console
from rich.table import Table

from elmband.cli._by import LEAST_ROWS, OTHERS, worst_first
from elmband.ground.printable import on_one_line
from elmband.ground.wording import counted, percent, percent_exactly

_WIDTH = 80
# Groups with a line, and letters of their names.
_MOST, _LONGEST = 25, 32

_WORDS = {
    "below": "too low",
    "above": "too high",
    "more": "more errors",
    "fewer": "fewer errors",
    "chance": "within chance",
    None: "too few rows",
}
_MEANING = """\
A verdict is given where coverage is further from the level than chance explains
for so many rows and groups, and by more than one row in a hundred."""
_OF_CLASSES = """\
A verdict is given where errors are further from {limit} than chance explains
for so many rows and groups, and by more than one row in a hundred."""


def by_lines(found: list[dict[str, Any]], shown_at: Sequence[float]) -> Iterator[str]:
    """Yield the tables of all columns, and what their verdicts mean."""
    for column in found:
        groups = column["groups"]
        if "levels" not in groups[0]:
            yield _of_classes(column["column"], groups)
        else:
            known = [level["confidence_level"] for level in groups[0]["levels"]]
            for level in shown_at:
                yield _of_intervals(column["column"], groups, known.index(level), level)
        notes = [*_notes(column)]
        if notes:
            yield "\n".join(notes)
    limit = found[0].get("limit")
    yield _MEANING if limit is None else _OF_CLASSES.format(limit=percent(limit))


def _of_intervals(name: str, groups: list[dict[str, Any]], at: int, level: float) -> str:
    title = f"Coverage of {percent_exactly(level)} intervals by {_short(name)}, the worst first"
    rows = (
        (*_named(group), f"{one['coverage']:.4g}", f"{one['mean_width']:.4g}", one["verdict"])
        for group in worst_first(groups, at)
        for one in [group["levels"][at]]
    )
    head = (_short(name), "rows", "coverage", "mean width", "verdict")
    return f"{title}\n\n{_table(head, rows)}"


def _of_classes(name: str, groups: list[dict[str, Any]]) -> str:
    title = f"Errors of answered rows by {_short(name)}, the worst first"
    rows = (
        (*_named(group), f"{group['answered']:.4g}", _share(group["error"]), group["verdict"])
        for group in groups
    )
    head = (_short(name), "rows", "answered", "error", "verdict")
    return f"{title}\n\n{_table(head, rows)}"


def _table(head: Sequence[str], rows: Iterator[tuple[Any, ...]]) -> str:
    table = Table(box=box.ASCII2, show_edge=False, border_style="", pad_edge=False)
    for k, name in enumerate(head):
        right = 0 < k < len(head) - 1
        table.add_column(name, justify="right" if right else "left", no_wrap=True)
    cells = list(rows)
    for *texts, verdict in cells[:_MOST]:
        table.add_row(*texts, _WORDS[verdict])
    # Names come from data: nothing in them is markup.
    console = Console(
        file=io.StringIO(), width=_WIDTH, no_color=True, markup=False, emoji=False, highlight=False
    )
    with console.capture() as capture:
        console.print(table)
    lines = [line.rstrip() for line in capture.get().splitlines()]
    if len(cells) > _MOST:
        lines.append(f"and {counted(len(cells) - _MOST, 'more group')}, which --json lists.")
    return "\n".join(lines)


def _notes(column: dict[str, Any]) -> Iterator[str]:
    if column["pooled"]:
        yield (
            f"{column['pooled']:,} values of {_short(column['column'])} with fewer than "
            f"{LEAST_ROWS} rows each are taken together as {OTHERS}."
        )


def _named(group: dict[str, Any]) -> tuple[str, str]:
    return _short(group["label"]), f"{group['rows']:,}"


def _share(value: float | None) -> str:
    return "none answered" if value is None else f"{value:.4g}"


def _short(name: str) -> str:
    text = on_one_line(name)
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 3]}..."
