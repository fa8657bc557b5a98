"""Whole numbers that look like codes: suspected where means are in no order, and else never."""

import numpy as np
import polars as pl
import pytest
from forked import run
from hypothesis import given
from hypothesis import strategies as st

from elmband.cli._codes import are_codes, could_be_codes, suspected_codes
from elmband.cli._head import head_of
from elmband.sources.encode import TableEncoder
from elmband.sources.stream import scan

CHANCE = 1e-4

KINDS = {
    "hour": lambda rng, n: rng.integers(0, 24, n),
    "month": lambda rng, n: rng.integers(1, 13, n),
    "age": lambda rng, n: rng.integers(18, 91, n),
    "year": lambda rng, n: rng.integers(1952, 2008, n),
    "rating": lambda rng, n: rng.integers(1, 11, n),
    "count": lambda rng, n: rng.poisson(4, n),
    "rare count": lambda rng, n: rng.geometric(0.3, n),
}

CURVES = {
    "nothing": lambda x: 0 * x,
    "line": lambda x: x,
    "parabola": lambda x: (x - 0.4) ** 2,
    "wave": lambda x: np.sin(2 * np.pi * x),
    "day": lambda x: np.cos(2 * np.pi * (x - 0.6)),
    "saturation": lambda x: 1 - np.exp(-4 * x),
    "growth": lambda x: np.exp(3 * x) / 10,
    "step": lambda x: np.tanh(8 * (x - 0.5)),
    "any": lambda x: np.where(x > 0, 1 + x, 0),
    "most": lambda x: np.where(x < 1, x, 3),
}


def drawn(kind, seed, n=4000):
    rng = np.random.default_rng(seed)
    return KINDS[kind](rng, n).astype(float), rng


@pytest.mark.one_quick
@pytest.mark.parametrize("kind", KINDS)
@given(
    seed=st.integers(0, 10**6),
    curve=st.sampled_from(sorted(CURVES)),
    noise=st.sampled_from([0.03, 0.3, 3.0]),
)
def test_smooth_functions_of_quantities_are_none(kind, seed, curve, noise):
    x, rng = drawn(kind, seed)
    y = CURVES[curve]((x - x.min()) / np.ptp(x)) + noise * rng.normal(size=len(x))
    assert not (could_be_codes(x) and are_codes(x, y, CHANCE))


@pytest.mark.parametrize("levels", [9, 30, 200])
def test_random_means_are_codes(levels):
    """Chance orders a few means of nine values: hardly any of many."""
    found = []
    for seed in range(100):
        rng = np.random.default_rng(seed)
        x = rng.integers(0, levels, 4000).astype(float)
        y = rng.normal(size=levels)[x.astype(int)] + rng.normal(size=4000)
        found.append(could_be_codes(x) and are_codes(x, y, CHANCE))
    assert np.mean(found) >= (0.9 if levels == 9 else 1)


def test_rare_values_of_a_quantity_do_not_make_it_codes():
    """Lengths of films: most of 300 values have a few rows, whose means are noise.

    Before, when each value counted once, 12 of these 30 tables were suspected.
    """
    for seed in range(30):
        rng = np.random.default_rng(seed)
        x = np.round(rng.lognormal(4, 0.7, 5000)).clip(1)
        y = np.sin(x / 6) * (x < 110) + 2 * rng.normal(size=5000)
        assert not (could_be_codes(x) and are_codes(x, y, CHANCE))


def test_targets_that_no_column_tells_of_pass_the_test_at_its_rate():
    """Of noise alone, the F test passes as often as it says: here with 5 % instead of 0.01 %."""
    passed = []
    for seed in range(400):
        rng = np.random.default_rng(seed)
        x, y = rng.integers(0, 20, 1000).astype(float), rng.normal(size=1000)
        passed.append(are_codes(x, y, 0.05))
    # Three standard deviations above; the other conditions only make it rarer.
    assert np.mean(passed) <= 0.05 + 3 * np.sqrt(0.05 * 0.95 / 400)


@pytest.mark.parametrize(
    "x",
    [
        np.arange(6.0).repeat(50),
        np.arange(400.0).repeat(50),
        np.arange(100.0).repeat(4),
        np.arange(10.0).repeat(50) / 2,
    ],
    ids=["few", "many", "rare", "halves"],
)
def test_other_numbers_could_be_none(x):
    assert not could_be_codes(x)
    assert could_be_codes(np.arange(10.0).repeat(50))


def table(n=3000):
    rng = np.random.default_rng(0)
    region = rng.integers(0, 9, n)
    y = np.array([3, -2, 4, -1, 0, 5, -4, 2, -3])[region] + rng.normal(size=n)
    return pl.DataFrame({"region": region * 10, "age": rng.integers(20, 80, n), "y": y})


def test_columns_of_a_scan_are_looked_at():
    rows = scan(table(), target="y", encoder=TableEncoder())
    assert suspected_codes(head_of(rows)) == [("region", 9)]
    classes = table().with_columns(
        y=pl.when(pl.col("y") > 0).then(pl.lit("a")).otherwise(pl.lit("b"))
    )
    rows = scan(classes, target="y", encoder=TableEncoder())
    assert suspected_codes(head_of(rows)) == [("region", 9)]


@pytest.mark.slow
def test_the_command_says_so_once_and_not_of_what_was_said(tmp_path):
    path = tmp_path / "rows.csv"
    table().write_csv(path)
    fit = ["fit", path, "-t", "y", "--neurons", 10, "-o", tmp_path / "m.safetensors"]
    _, told = run(*fit)
    sentence = (
        "'region' holds 9 whole numbers that look like codes rather than quantities: --types "
        "region=text makes each a category."
    )
    assert told.count(sentence) == 1
    assert "'age'" not in told
    assert "looks like codes" in run("info", tmp_path / "m.safetensors")[0]
    for kind in ("text", "number", "ignore"):
        assert "look like codes" not in run(*fit, "--types", f"region={kind}")[1]
