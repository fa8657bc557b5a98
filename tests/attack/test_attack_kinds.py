"""Coverage of 90 % intervals by the defaults, for each kind of data that they must survive."""

import numpy as np
import pytest
from attacked import judged
from kinds import KINDS

# By the number of training rows: the fewer, the more draws vary.
SEEDS = {300: 6, 100: 12, 30: 18}
MANY_SEEDS = {300: 16, 100: 40, 30: 60}
# Bands are for many draws. One fit varies by 2, 3 and 6 points, so the standard errors of fewer are
# larger by 0.3, 0.4 and 0.7 points: twice that is allowed for.
SPREAD = {300: 0.007, 100: 0.008, 30: 0.013}
# One fit to outliers varies by 8 points, and the same sum gives 2.5.
VARIED = {"outliers": 0.025}
FEW = 3
QUICK = [
    "cauchy inputs",
    "t2 noise",
    "zero or one",
    "counts",
    "prices",
    "no noise",
    "half exact",
    "lognormal noise",
    "three values",
    "constant columns",
    "useless columns",
    "30 rows",
]
# Coverage of one fit varies by 2 points (by 6 with 30 rows), so the mean of three by 1.2 (3.5).
SLACK = {300: 0.035, 30: 0.09}
# An interval score relative to that of one interval for all rows is at most this.
USEFUL = 1.1
# A mean of least squares is dragged by outliers, quantiles of all targets are not; thirty rows that
# tell nothing cost something; and [0, 1] for all rows is hard to beat by bounds that are symmetric.
LESS_USEFUL = {"outliers": 4.0, "zero or one": 1.2, "30 rows, nothing": 1.3, "30 prices": 1.3}
# Conformal intervals of a single fit have a coverage with the distribution Beta(0.9 n, 0.1 n),
# which is below .81, .75 and .6 with a probability of less than 1e-4; of 2,000 test rows it is off
# by up to 2 points more.
LOWEST = {300: 0.79, 100: 0.73, 30: 0.58}
# Outliers and smooth surfaces without noise make all rows of a draw miss together.
HARD = (KINDS["outliers"], KINDS["no noise"], KINDS["no noise, a line"])
# New rows are like old ones: more than twenty times the range of all targets is no interval.
WIDEST = 20


def _outside(what, value, band, slack):
    low, high = band[0] - slack, band[1] + slack
    return [] if low <= value <= high else [f"{what} is {value:.3f}, not {low:.3f} to {high:.3f}"]


def coverage_complaints(kind, found, slack=0.0):
    """Return in sentences what is wrong with the mean coverage of some fits."""
    complaints = _outside("coverage", np.mean([f.coverage for f in found]), kind.band, slack)
    if kind.parts is not None:
        for k, value in enumerate(np.mean([f.parts for f in found], axis=0)):
            complaints += _outside(f"coverage of part {k}", value, kind.part_band, slack)
    return complaints


def worst_complaints(kind, found):
    """Return in sentences what is wrong with the worst of many fits."""
    lowest = min(f.coverage for f in found)
    # With neurons that learn the worst of six draws of outliers was covered 0.684 to 0.690.
    least = LOWEST[kind.n] - (0.12 if kind in HARD else 0.0)
    return _outside("coverage of the worst draw", lowest, (least, 1.0), 0.0)


def bound_complaints(kind, found):
    """Return in sentences what is wrong with single bounds."""
    complaints = [] if all(f.finite for f in found) else ["a mean or a bound is not finite"]
    widest = max(f.widest for f in found)
    # Thirty rows tell less of the range of targets.
    most = WIDEST if kind.n > 30 else 2 * WIDEST
    if not (widest <= most or kind.far or kind is KINDS["outliers"]):
        complaints.append(f"an interval is {widest:.3g} times as wide as the range of targets")
    negative = max(f.negative for f in found)
    if kind.nonnegative and negative > 0:
        complaints.append(f"{100 * negative:.0f} % of lower bounds are negative, targets never are")
    return complaints


@pytest.mark.one_quick
@pytest.mark.parametrize("name", QUICK)
def test_a_few_draws_are_covered_about_as_they_should(name):
    kind = KINDS[name]
    found = [judged(kind, seed) for seed in range(FEW)]
    assert coverage_complaints(kind, found, SLACK[kind.n]) + bound_complaints(kind, found) == []


def all_complaints(name, seeds, slack=0.0):
    """Return in sentences what is wrong with as many draws of a kind."""
    kind = KINDS[name]
    found = [judged(kind, seed) for seed in range(100, 100 + seeds)]
    complaints = coverage_complaints(kind, found, slack) + worst_complaints(kind, found)
    complaints += bound_complaints(kind, found)
    score, limit = np.mean([f.relative_score for f in found]), LESS_USEFUL.get(name, USEFUL)
    if not score <= limit:
        complaints.append(f"one interval for all rows is better: {score:.2f} is over {limit}")
    return complaints


@pytest.mark.slow
@pytest.mark.parametrize("name", KINDS)
def test_draws_are_covered_as_they_should_on_average(name):
    n = KINDS[name].n
    assert all_complaints(name, SEEDS[n], VARIED.get(name, SPREAD[n])) == []


@pytest.mark.long
@pytest.mark.parametrize("name", KINDS)
def test_many_draws_are_covered_as_they_should_on_average(name):
    """The standard error of the mean is 0.5 points with 300 rows, 1 to 2 with fewer."""
    assert all_complaints(name, MANY_SEEDS[KINDS[name].n]) == []
