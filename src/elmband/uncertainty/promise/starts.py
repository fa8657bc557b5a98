"""Where tests over a grid of thresholds begin: where the strongest evidence is to be expected."""

import numpy as np

from elmband.uncertainty.promise.threshold import Floats

# With so many times the groups that are needed there are enough for some of them to be a pilot.
PILOTED = 3.0


def most_telling(expected: Floats, risks: Floats, limit: float) -> int:
    """Return the threshold with the strongest evidence, from what is expected at each.

    The logarithm of the p-value of n rows with a risk of r is near -n·KL(r, limit), with Kullback
    and Leibler's divergence of coins that fall with these probabilities. At stricter thresholds
    rows are too few, at looser ones too many are bad. A test that passes here has a promise to
    make, and goes on to looser thresholds.

    Numbers and risks are those of training rows or of pilot groups, never of the rows tested.
    Their scores would tell how many of the answered rows are among the most certain ones, given
    which the number of bad ones is not binomial any more.
    """
    return int(np.argmax(expected * divergence(risks, limit)))


def divergence(risks: Floats, limit: float) -> Floats:
    """Return r·log(r/limit) + (1-r)·log((1-r)/(1-limit)), 0 for risks above the limit."""
    r = np.clip(risks, 1e-300, limit)
    return r * np.log(r / limit) + (1 - r) * np.log((1 - r) / (1 - limit))
