"""Rows with errors whose probability is known, to see what becomes of promises."""

import numpy as np

from elmband.uncertainty.promise import Grid, promise


def rows(rng, n, error):
    """Draw scores, and errors with a probability that depends on them."""
    score = rng.random(n)
    return score, rng.random(n) < error(score)


def grid_of(rng, n, error, **options):
    """Make a grid by as many training rows."""
    return Grid.of(*rows(rng, n, error), **options)


# Probabilities of an error at scores between 0 and 1, the most certain last.
CURVES = {
    "at the limit": lambda u: np.full_like(u, 0.1 + 1e-9),
    "at the limit if all are answered": lambda u: np.where(u > 0.6, 0.0, 1 / 6 + 1e-9),
    "rising": lambda u: 0.5 * (1 - u) ** 2,
    "worst where most certain": lambda u: np.where(u > 0.9, 0.25, 0.3 * (1 - u)),
    "jagged": lambda u: 0.1 + 0.1 * np.sin(25 * u),
    "bad, good, bad": lambda u: np.where(u > 0.8, 0.12, np.where(u > 0.6, 0.06, 0.14)),
}
MIDDLES = (np.arange(100_000) + 0.5) / 100_000


def true_risk(error, value):
    above = MIDDLES[value <= MIDDLES]
    return float(np.mean(error(above))) if len(above) else 0.0


def tried(*arguments, **options):
    """Return a threshold, or None where there is no promise."""
    try:
        return promise(*arguments, **options)
    except ValueError:
        return None
