"""Answers before the first false positive: an ensemble beside each of its members.

The ensemble with seed s has the layers that single models with the seeds s, s + 1, ... have, so
that each ensemble is compared with what it is made of. The first false positive is that of a single
row of a single photo. The bootstrap draws photos, the same ones for all models.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from benchmarks.abstain.answers import Judged
from benchmarks.abstain.data import Split
from benchmarks.abstain.rivals.elm import of_layers
from benchmarks.abstain.scores import score
from benchmarks.abstain.studies.paired import LEVEL, drawn
from benchmarks.scale.watch import Watch
from numpy.typing import NDArray

Floats = NDArray[np.float64]

MEMBERS, ENSEMBLES = 5, 5
KEYS = ("no_fp", "found0.001", "aurc")


class Model(NamedTuple):
    """Scores of a model's answers, and the share before the first false positive by draw."""

    scores: dict[str, Any]
    shares: Floats


def study(split: Split) -> dict[str, Any]:
    """Return scores of ensembles and of their members, and the interval of the difference."""
    draws = drawn(split.test.groups)
    whole, parts = [], []
    for k in range(ENSEMBLES):
        first = k * MEMBERS
        whole.append(model(split, MEMBERS, first, draws))
        parts.append([model(split, 1, first + j, draws) for j in range(MEMBERS)])
    return compared(whole, parts)


def model(split: Split, count: int, seed: int, draws: Floats) -> Model:
    """Train and judge a model of so many layers."""
    answers = of_layers(count, split, seed, Watch())
    judged = Judged(split.test.y, *answers, split.test.groups)
    return Model(score(judged, 1), shares_before(judged, draws))


def shares_before(judged: Judged, draws: Floats) -> Floats:
    """Return the share of rows answered before the first false positive of every draw.

    A draw ends at the first false positive of its photos; rows before it count as often as their
    photo is drawn. A tie with a false positive is not before it.
    """
    order = np.argsort(-judged.confidence, kind="stable")
    y, label, confidence, groups = (column[order] for column in judged)
    false = np.flatnonzero((label == 1) & (y == 0))
    photos, first = np.unique(groups[false], return_index=True)
    n_groups = draws.shape[1]
    ends = np.searchsorted(-confidence, -confidence[false[first]])
    # The last end is that of draws without any false positive.
    ends, photos = np.append(ends, len(y)), np.append(photos, n_groups)
    before = np.stack([np.bincount(groups[:end], minlength=n_groups) for end in ends])
    there = np.column_stack([draws, np.ones(len(draws))])[:, photos] > 0
    stop = np.where(there, ends, len(y)).argmin(axis=1)
    return np.asarray(np.vecdot(draws, before[stop]) / (draws @ before[-1]))


def compared(whole: Sequence[Model], parts: Sequence[Sequence[Model]]) -> dict[str, Any]:
    """Return means, and how often an ensemble answers more than one of its members."""
    of_members = [[member.scores["no_fp"] for member in some] for some in parts]
    ours = [ensemble.scores["no_fp"] for ensemble in whole]
    wins = [x > y for x, some in zip(ours, of_members, strict=True) for y in some]
    singles = [member for some in parts for member in some]
    gain = np.mean([m.shares for m in whole], axis=0) - np.mean([m.shares for m in singles], axis=0)
    tails = np.quantile(gain[1:], [(1 - LEVEL) / 2, (1 + LEVEL) / 2])
    return {
        "members": MEMBERS,
        "ensemble": {key: float(np.mean([m.scores[key] for m in whole])) for key in KEYS},
        "single": {key: float(np.mean([m.scores[key] for m in singles])) for key in KEYS},
        "seeds": [
            {"ensemble": x, "members": some} for x, some in zip(ours, of_members, strict=True)
        ],
        "wins": float(np.mean(wins)),
        "gain": [float(gain[0]), *map(float, tails)],
    }
