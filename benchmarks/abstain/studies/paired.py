"""False positives and errors of a rule as a share of those of one threshold for all.

Both rank the answers of the same model, and both answer the same number of rows. A threshold for
all rows can have few false positives merely because nearly all it answers is called negative. So
the comparison is made twice: among the most certain rows of all, and among as many of the most
certain rows that are called positive.

Rows of a photo are not independent. The bootstrap draws photos, and finds thresholds anew for each
draw.
"""

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from benchmarks.abstain.answers import AnswerFiles, Judged
from benchmarks.abstain.data import RULES, SETS
from numpy.typing import NDArray

Floats = NDArray[np.float64]

UNIFORM = "elm-margin"
COVERAGES = (0.03, 0.05, 0.1)
RESAMPLES = 2000
SEED = 20240229
LEVEL = 0.95
AHEAD = 3
"""Rows are looked at up to so many times the largest coverage: no draw of photos needs more."""


class Counts(NamedTuple):
    """Sums over `COVERAGES` for draws of photos, each (draws,); `called` are called positive."""

    false_positives: Floats
    wrong: Floats
    called: Floats
    false_among_called: Floats


class Spread(NamedTuple):
    """How many photos have false positives at the largest coverage, and those of the worst two."""

    photos: int
    worst_two: float


def study(files: AnswerFiles, set_name: str) -> dict[str, Any]:
    """Return ratios to the uniform threshold with their intervals, by rule."""
    splits = [k for k in range(SETS[set_name].n_splits) if _whole(files, set_name, k)]
    if not splits:
        raise ValueError(f"there are no answers of {', '.join(RULES)} on {set_name} yet")
    draws, n_rows = None, 0
    sums: dict[str, list[Counts]] = {rule: [] for rule in RULES}
    photos: dict[str, Spread] = {}
    for k in splits:
        for rule in RULES:
            judged = files.read(set_name, rule, k)
            assert judged is not None
            n_rows = len(judged.y)
            draws = drawn(judged.groups) if draws is None else draws
            sums[rule].append(counts(judged, draws))
            photos.setdefault(rule, spread(judged))
    total = {rule: Counts(*map(sum, zip(*some, strict=True))) for rule, some in sums.items()}
    return {
        "seeds": len(splits),
        "rows": n_rows,
        "resamples": RESAMPLES,
        "rules": {
            rule: compared(total[rule], total[UNIFORM]) | photos[rule]._asdict() for rule in RULES
        },
    }


def _whole(files: AnswerFiles, set_name: str, k: int) -> bool:
    return all(files.path(set_name, rule, k).exists() for rule in RULES)


def drawn(groups: NDArray[Any]) -> Floats:
    """Return how often each group is drawn, (1 + resamples, groups); first the groups as is."""
    n = int(groups.max()) + 1
    rng = np.random.default_rng(SEED)
    there = np.unique(groups)
    draws = np.zeros((1 + RESAMPLES, n))
    draws[0, there] = 1
    draws[1:, there] = rng.multinomial(len(there), np.full(len(there), 1 / len(there)), RESAMPLES)
    return draws


def counts(judged: Judged, draws: Floats) -> Counts:
    """Sum up the most certain rows of every draw."""
    wrong, called = judged.label != judged.y, judged.label == 1
    most = int(AHEAD * max(COVERAGES) * len(wrong))
    order = np.argsort(-judged.confidence, kind="stable")
    first, positive = order[:most], order[called[order]][:most]
    wanted = draws @ np.bincount(judged.groups, minlength=draws.shape[1])
    columns = [(wrong & called)[first], wrong[first], called[first]]
    in_all = _sums(judged.groups[first], columns, draws, wanted)
    in_called = _sums(judged.groups[positive], [wrong[positive]], draws, wanted)
    return Counts(*in_all, *in_called)


def _sums(
    groups: NDArray[Any], columns: Sequence[NDArray[np.bool_]], draws: Floats, wanted: Floats
) -> Floats:
    """Return sums of each column over the coverages, (columns, draws)."""
    places = [np.flatnonzero(column) for column in columns]
    found = np.zeros((len(columns), len(draws)))
    for b, row in enumerate(draws):
        answered = np.cumsum(row[groups])
        ends = np.searchsorted(answered, np.multiply(COVERAGES, wanted[b]) * (1 - 1e-12))
        if ends[-1] == len(groups):
            raise ValueError("a draw of photos has too few rows; look further ahead")
        for j, place in enumerate(places):
            weight = np.cumsum(np.append(0.0, row[groups[place]]))
            found[j, b] = weight[np.searchsorted(place, ends, side="right")].sum()
    return found


def spread(judged: Judged) -> Spread:
    """Tell how false positives are spread over photos."""
    most = int(max(COVERAGES) * len(judged.y))
    first = np.argsort(-judged.confidence, kind="stable")[:most]
    false = first[(judged.label[first] == 1) & (judged.y[first] != 1)]
    by_photo = np.sort(np.bincount(judged.groups[false], minlength=2))[::-1]
    share = float(by_photo[:2].sum() / len(false)) if len(false) else np.nan
    return Spread(int(np.sum(by_photo > 0)), share)


def compared(ours: Counts, uniform: Counts) -> dict[str, Any]:
    """Return numbers and ratios with the interval of the bootstrap."""
    fields = ("false_positives", "wrong", "false_among_called")
    pairs = {name: (getattr(ours, name), getattr(uniform, name)) for name in fields}
    return {
        **{name: float(getattr(ours, name)[0]) for name in Counts._fields},
        "ratios": {name: list(ratio(*pair)) for name, pair in pairs.items()},
    }


def ratio(ours: Floats, uniform: Floats) -> Iterator[float]:
    """Yield the ratio, then the lower and the upper end of its interval; 0 / 0 counts as 1."""
    share = np.where(ours == uniform, 1.0, np.inf)
    share = np.divide(ours, uniform, out=share, where=uniform > 0)
    yield float(share[0])
    # The observed ratios next to the ends: infinite ones cannot be interpolated.
    yield float(np.quantile(share[1:], (1 - LEVEL) / 2, method="lower"))
    yield float(np.quantile(share[1:], (1 + LEVEL) / 2, method="higher"))
