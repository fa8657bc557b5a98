"""How often intervals hold, or labels are wrong, in each group of rows: levels of any column."""

import math
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np

from elmband import ELMSelectiveClassifier
from elmband.cli._options import option
from elmband.engines.progress import shown
from elmband.report.classes.predictions import predictions as class_predictions
from elmband.report.first_pass import MOST_ROWS, Drawn, number_keys
from elmband.report.group_levels import Cut, find_cut
from elmband.report.inputs import labelled_rows
from elmband.report.intervals.predictions import predictions as interval_predictions
from elmband.report.rows import Block, total
from elmband.report.shares import Share, group_verdict
from elmband.report.tallies import ByLabel
from elmband.sums.moments import Several

# Words with fewer rows are taken together where there are several.
LEAST_ROWS = 10
OTHERS = "all others"
# What is beyond chance, in the words of the report; everything else chance explains.
_OF_COVERAGE = {"broken": "below", "cautious": "above"}
_OF_ERRORS = {"broken": "more", "cautious": "fewer"}
_WORSE = ("below", "more")
_RANKS = {"below": 0, "more": 0, None: 2}

Line = dict[str, Any]


def check_by(by: list[str] | None, **others: Any) -> None:
    """Refuse what does not go together with groups of rows."""
    for name, value in others.items():
        if by and value is not None:
            raise ValueError(
                f"--by counts rows of this process, each of them once: leave {option(name)} out."
            )
    for name in by or ():
        if (by or []).count(name) > 1:
            raise ValueError(f"--by names {name!r} twice; once is enough.")


def groups_by(
    model: Any, scan: Any, by: Sequence[str], levels: Sequence[float], found: Any
) -> list[dict[str, Any]]:
    """Return coverage and width, or answers and errors, for the levels of some columns.

    Rows are read twice, in flat memory: for a sample that decides how values are cut, and to
    count. `found` is the evaluation of all rows.
    """
    rows = labelled_rows(model, scan, by)
    with shown("auto", rows.nbytes) as bar:
        drawn: Several = total(rows, _sampled, bar, "groups")
        cuts = [find_cut(sample.y) for sample in drawn.parts]
        if isinstance(model, ELMSelectiveClassifier):
            limit = _limit(model, found)
            count, more = partial(_count_classes, model, cuts), {"limit": limit}
            told: Any = partial(_of_classes, limit=limit)
        else:
            more = {}
            count = partial(_count_intervals, model, tuple(levels), cuts)
            told = partial(_of_intervals, tuple(levels))
        sums: Several = total(rows, count, bar, "predictions")
    return [
        {"column": group.name, **more, **_column(cut, part, told)}
        for group, cut, part in zip(rows.groups, cuts, sums.parts, strict=True)
    ]


def _sampled(block: Block) -> Several:
    """Draw labels of each column."""
    keys, nothing = number_keys(block.numbers), np.empty((block.n, 0))
    return Several(tuple(Drawn(MOST_ROWS, keys, nothing, labels).cut() for labels in block.groups))


def _count_intervals(
    model: Any, levels: tuple[float, ...], cuts: Sequence[Cut], block: Block
) -> Several:
    """Sum rows, intervals that held and their widths, for every level."""
    answer = interval_predictions(model, block.X, levels)
    lower, upper = answer.lower, answer.upper
    held = (lower <= block.y[:, None]) & (block.y[:, None] <= upper)
    # Both bounds may lie at the same infinite end.
    unbounded = np.isinf(lower) | np.isinf(upper)
    with np.errstate(invalid="ignore"):
        width = np.where(unbounded, np.inf, upper - lower)
    return _summed(block, cuts, np.column_stack([np.ones(block.n), held, width]))


def _count_classes(model: Any, cuts: Sequence[Cut], block: Block) -> Several:
    """Sum rows, answered ones, and answered ones that are wrong."""
    answer = class_predictions(model, block.X)
    wrong = answer.answered & (answer.called != block.y)
    return _summed(block, cuts, np.column_stack([np.ones(block.n), answer.answered, wrong]))


def _summed(block: Block, cuts: Sequence[Cut], values: Any) -> Several:
    parts = (
        ByLabel.of(cut.codes(labels), values.astype(np.float64), cut.values(labels))
        for cut, labels in zip(cuts, block.groups, strict=True)
    )
    return Several(tuple(parts))


def _column(cut: Cut, found: ByLabel, told: Any) -> dict[str, Any]:
    """Return the groups of a column, the worst first.

    Verdicts allow for all groups that there are, as those of the report do.
    """
    told = partial(told, looks=len(found.sums))
    names = [
        cut.name(code, float(low), float(high))
        for code, low, high in zip(found.labels, found.low, found.high, strict=True)
    ]
    groups = [_group(name, part, told) for name, part in zip(names, found.sums, strict=True)]
    rare = [] if cut.ordered else [k for k, group in enumerate(groups) if _is_rare(group)]
    if len(rare) < 2:
        return {"pooled": 0, "groups": worst_first(groups)}
    kept = [group for k, group in enumerate(groups) if k not in set(rare)]
    together = _group(OTHERS, found.sums[rare].sum(axis=0), told)
    return {"pooled": len(rare), "groups": worst_first([*kept, together])}


def _group(label: str, sums: Any, told: Any) -> Line:
    return {"label": label, "rows": round(float(sums[0])), **told(sums)}


def _is_rare(group: Line) -> bool:
    """Tell whether a group has few rows, and is not worse than chance explains all the same."""
    judged = group.get("levels", [group])
    return group["rows"] < LEAST_ROWS and not any(one["verdict"] in _WORSE for one in judged)


def worst_first(groups: list[Line], at: int = 0) -> list[Line]:
    """Sort groups, by their intervals of the level in this place: first what is beyond chance.

    Then come those that are as many standard deviations off, and at last those without a verdict.
    """

    def place(group: Line) -> tuple[int, float]:
        judged = group["levels"][at] if "levels" in group else group
        return _RANKS.get(judged["verdict"], 1), judged["deviations"]

    return sorted(groups, key=place)


def _of_intervals(levels: tuple[float, ...], sums: Any, *, looks: int) -> Line:
    n, count = float(sums[0]), len(levels)
    held, width = sums[1 : 1 + count].tolist(), sums[1 + count :].tolist()
    return {
        "levels": [
            {
                "confidence_level": level,
                "coverage": h / n,
                "mean_width": w / n,
                **_judged(h, n, level, looks, _OF_COVERAGE),
            }
            for level, h, w in zip(levels, held, width, strict=True)
        ]
    }


def _of_classes(sums: Any, *, looks: int, limit: float) -> Line:
    n, answered, wrong = (float(value) for value in sums)
    return {
        "answered": answered / n,
        "error": wrong / answered if answered else None,
        **_judged(answered - wrong, answered, 1 - limit, looks, _OF_ERRORS),
    }


def _judged(part: float, n: float, level: float, looks: int, words: Mapping[str, str]) -> Line:
    """Return whether a share is off beyond chance, and by how many standard deviations.

    A single row tells nothing.
    """
    verdict = group_verdict(Share.of(part, n, looks=looks), n, level)
    sd = math.sqrt(max(level * (1 - level), 1e-12) / max(n, 1))
    return {
        "verdict": None if verdict is None else words.get(verdict, "chance"),
        "deviations": (part / n - level) / sd if n else 0.0,
    }


def _limit(model: Any, found: Any) -> float:
    """Return the share of errors that groups are compared with: what was asked for, or all rows."""
    if model.max_error is not None:
        return float(model.max_error)
    return 0.0 if math.isnan(found.error) else float(found.error)
