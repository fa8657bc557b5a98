"""Where walks over a grid begin, and how much each may err."""

from typing import NamedTuple

import numpy as np

from elmband.promise.grid import Grid
from elmband.promise.threshold import Floats

# With so many times the groups that are needed there is enough for scouts, and for two walks.
SCOUTED = 3.0
TWO_WALKS = 4.0
# The stricter walk begins where so many times the groups are expected that it needs.
AMPLE = 1.3


class Start(NamedTuple):
    """The place of a threshold in its grid, and the part of delta that is brought there."""

    place: int
    part: float


def most_telling(grid: Grid, expected: Floats, limit: float) -> int:
    """Return where the strongest evidence is to be expected.

    The logarithm of the p-value of n rows with a risk of r is near -n·KL(r, limit), with Kullback
    and Leibler's divergence of coins that fall with these probabilities. At stricter thresholds
    rows are too few, at looser ones too many are bad. A walk that begins here and gets past its
    first step has a promise to make, and goes on to looser thresholds.

    Numbers and risks are those of training rows, never of the rows held out. Their scores would
    tell how many of the answered rows are among the most certain ones, given which the number of
    bad ones is not binomial any more.
    """
    return int(np.argmax(expected * divergence(grid.risks(limit), limit)))


def divergence(risks: Floats, limit: float) -> Floats:
    """Return r·log(r/limit) + (1-r)·log((1-r)/(1-limit)), 0 for risks above the limit."""
    r = np.clip(risks, 1e-300, limit)
    return r * np.log(r / limit) + (1 - r) * np.log((1 - r) / (1 - limit))


def of_rows(grid: Grid, available: float, limit: float) -> list[Start]:
    """Begin once, at the most telling threshold: rows held out are like training rows."""
    return [Start(most_telling(grid, available * grid.shares, limit), 1.0)]


def of_groups(
    grid: Grid, expected: Floats, limit: float, available: int, needed: int, needed_by_half: int
) -> list[Start]:
    """Begin where groups are hardly more than are needed, with enough of them at two places.

    Training rows do not tell how risks differ from group to group. A single bad group may spoil
    all looser thresholds, so that the strictest one with enough groups is the safer start.
    """
    telling = most_telling(grid, expected, limit)
    if available < SCOUTED * needed:
        return [Start(telling, 1.0)]
    two = available >= TWO_WALKS * needed
    enough = AMPLE * (needed_by_half if two else needed)
    strict = min(int(np.searchsorted(expected, enough)), len(expected) - 1)
    if not two or telling <= strict:
        return [Start(strict, 1.0)]
    return [Start(strict, 0.5), Start(telling, 0.5)]
