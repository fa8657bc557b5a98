"""Groups that are looked at first, and are no evidence afterwards."""

import numpy as np

from elmband.promise.threshold import Bools, Floats, Ints

# One of so many groups is a scout.
ONE_OF = 16
# Rows of a group count as so many independent ones where there are no scouts.
ROWS_OF_A_GROUP = 8


def scouts(present: Ints) -> Ints:
    """Return some of the groups, drawn at random from their sorted labels.

    Whether a group is a scout depends on its label and on nothing that is measured, so that the
    others are a sample as good as all of them.
    """
    rng = np.random.default_rng(0)
    return rng.permutation(present)[: len(present) // ONE_OF]


def shares_of_scouts(place: Ints, codes: Ints, counted: Bools, some: Ints, size: int) -> Floats:
    """Return the share of groups with a counted row that is answered, at every threshold.

    `place` is the strictest threshold that answers a row. One group more that is there, and one
    that is not, keep shares away from 0 and 1.
    """
    first = np.full(int(codes.max(initial=-1)) + 1, size)
    np.minimum.at(first, codes[counted], place[counted])
    there = np.cumsum(np.bincount(first[some], minlength=size + 1))[:size]
    return (there + 1) / (len(some) + 2)


def shares_without(shares: Floats) -> Floats:
    """Guess the same from shares of training rows, whose groups are not known."""
    return 1 - (1 - shares) ** ROWS_OF_A_GROUP
