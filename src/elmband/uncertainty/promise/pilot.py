"""Pilot groups: some held-out groups tell where tests begin, and are no evidence afterwards."""

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from elmband.uncertainty.promise.threshold import Floats, Ints

# One of so many groups is a pilot group.
ONE_OF = 8
# What training rows tell of risks counts as so many groups.
PRIOR_GROUPS = 20
# Rows of a group count as so many independent ones where there are no pilot groups.
ROWS_OF_A_GROUP = 8


class Expected(NamedTuple):
    """What is to be expected at every threshold: the share of groups there, and their risk."""

    shares: Floats
    risks: Floats


def pilot_groups(present: Ints) -> Ints:
    """Return some of the groups, drawn at random from their sorted labels.

    Whether a group is a pilot group depends on its label and on nothing that is measured, so
    that the others are a sample as good as all of them.
    """
    rng = np.random.default_rng(0)
    return rng.permutation(present)[: len(present) // ONE_OF]


def expected_of_pilots(rates: Iterable[Floats], n_pilots: int, risks: Floats) -> Expected:
    """Return what pilot groups tell, from the rates of those that are there at each threshold.

    One group more that is there, and one that is not, keep shares away from 0 and 1. Rates are
    drawn to the risks of training rows.
    """
    seen = np.array([(len(r), r.sum()) for r in rates])
    n, bad = seen.T
    return Expected((n + 1) / (n_pilots + 2), (bad + PRIOR_GROUPS * risks) / (n + PRIOR_GROUPS))


def shares_without(shares: Floats) -> Floats:
    """Guess the share of groups from shares of training rows, whose groups are not known."""
    return 1 - (1 - shares) ** ROWS_OF_A_GROUP
