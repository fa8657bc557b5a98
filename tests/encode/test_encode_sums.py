"""Sums that do not depend on the order of rows, and counts in bounded memory."""

from collections import Counter
from fractions import Fraction
from functools import reduce
from operator import add

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from elmband.sources.encode.counts import LONGEST, count_levels
from elmband.sources.encode.raw import Nothing, Numbers, Words
from elmband.sources.encode.texts import TextSums, added
from elmband.sources.encode.texts import sum_column as sum_of
from elmband.sources.encode.value_sums import ONE, exact_sum
from elmband.sources.encode.written import Place
from elmband.sums.moments import Moments

FLOATS = st.lists(st.floats(allow_nan=False, allow_infinity=False), max_size=50)


def sum_column(raw, s):
    return sum_of(raw, s, Place("X", np.arange(len(raw.missing))))


@given(FLOATS)
def test_sums_are_exact(values):
    total = exact_sum(np.array(values, dtype=np.float64))
    assert Fraction(total, ONE) == sum(map(Fraction, values), Fraction(0))


@given(FLOATS.filter(len), st.randoms())
def test_sums_are_the_same_in_any_order_and_cut(values, random):
    whole = sum_column(Numbers(np.array(values)), None)
    shuffled = random.sample(values, len(values))
    cut = random.randrange(len(values))
    pieces = [part for part in (shuffled[:cut], shuffled[cut:]) if part]
    sums = reduce(added, (sum_column(Numbers(np.array(part)), None) for part in pieces))
    assert (sums.totals, sums.n, sums.missing) == (whole.totals, whole.n, whole.missing)
    assert (sums.low[0], sums.high[0]) == (min(values), max(values))


@given(
    st.lists(st.tuples(st.floats(-100, 100), st.integers(0, 3)), min_size=1, max_size=30).filter(
        lambda rows: any(count for _, count in rows)
    )
)
def test_weights_are_counts(rows):
    values, counts = (np.array(column, dtype=np.float64) for column in zip(*rows, strict=True))
    kept = counts > 0
    weighted = sum_column(Numbers(values[kept]), counts[kept])
    repeated = sum_column(Numbers(np.repeat(values, counts.astype(int))), None)
    assert weighted.n == repeated.n
    np.testing.assert_allclose(weighted.means, repeated.means, rtol=1e-12, atol=1e-12)


def words(values):
    levels = sorted(set(values) - {None})
    codes = [-1 if value is None else levels.index(value) for value in values]
    return Words(np.array(codes, dtype=np.int64), levels)


@given(st.lists(st.none() | st.sampled_from("abcdef"), min_size=1, max_size=40))
def test_levels_are_counted(values):
    sums = count_levels(words(values), None)
    known = Counter(value for value in values if value is not None)
    assert sums.counts == known
    assert (sums.n, sums.missing, sums.lost, sums.gone) == (
        len(values),
        values.count(None),
        0,
        False,
    )


@given(
    st.lists(st.lists(st.integers(0, 30), min_size=1, max_size=40), min_size=1, max_size=8),
    st.integers(1, 8),
)
def test_counts_of_many_levels_lack_no_more_than_they_say(parts, capacity):
    sums = reduce(add, (count_levels(words([f"{v:02}" for v in p]), None, capacity) for p in parts))
    true = Counter(f"{v:02}" for part in parts for v in part)
    assert len(sums.counts) <= capacity
    assert sums.lost <= sums.n / (capacity + 1)
    assert sums.n == sum(true.values())
    for level, count in true.items():
        assert sums.counts.get(level, 0) <= count <= sums.counts.get(level, 0) + sums.lost
    assert sums.gone == (len(sums.counts) < len(true))


def test_long_texts_are_no_levels():
    sums = count_levels(words(["a" * LONGEST, "b" * (LONGEST + 1)] * 3), None)
    assert sums.counts == {"a" * LONGEST: 3}
    assert sums.gone


def test_missing_values_alone_add_to_anything():
    numbers = sum_column(Numbers(np.array([1.0, 2.0])), None)
    levels = sum_column(words(["a", "b"]), None)
    nothing = sum_column(Nothing(3), None)
    for one, other in ((numbers, nothing), (nothing, numbers)):
        sums = added(one, other)
        assert (sums.n, sums.missing, sums.means) == (5 * ONE, 3 * ONE, (1.5,))
    for one, other in ((levels, nothing), (nothing, levels)):
        sums = added(one, other)
        assert isinstance(sums, TextSums)
        assert (sums.levels.n, sums.levels.missing) == (5, 3)
    assert added(nothing, nothing).n == 6 * ONE
    with pytest.raises(ValueError, match="holds text, rows before it numbers; make it one type"):
        added(numbers, levels)


def test_sums_of_all_rooms_have_names_of_their_own():
    # Checkpoints find the kinds of sums by their names.
    def kinds(of):
        return [kind for below in of.__subclasses__() for kind in (below, *kinds(below))]

    names = [kind.__name__ for kind in kinds(Moments) if kind.__module__.startswith("elmband.")]
    assert len(set(names)) == len(names)
