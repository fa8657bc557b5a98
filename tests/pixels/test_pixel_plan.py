from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from elmband_experiments.pixels.photos import Photo, split_photos
from elmband_experiments.pixels.plan import Counted, check_white, plan, shares


def photo(number):
    return Photo(number, Path(f"images/p{number}.jpg"), Path(f"masks/p{number}.png"))


def counted(*pairs):
    return [Counted(photo(k), *pair, black=False) for k, pair in enumerate(pairs)]


def one_by_one(have, wanted, turn):
    """Everyone gives one in turn, round after round, as long as they have any."""
    given = np.zeros_like(have)
    while given.sum() < wanted:
        # Who gives in the last, incomplete round is decided by the turn.
        for k in [k for k in turn if given[k] < have[k]]:
            if given.sum() < wanted:
                given[k] += 1
    return given


@given(st.lists(st.integers(0, 12), min_size=1, max_size=8), st.data())
def test_shares_are_those_of_giving_one_by_one(have, data):
    have = np.array(have)
    wanted = data.draw(st.integers(0, int(have.sum())))
    turn = np.array(data.draw(st.permutations(range(len(have)))))
    np.testing.assert_array_equal(shares(have, wanted, turn), one_by_one(have, wanted, turn))


@given(
    st.lists(st.tuples(st.integers(0, 50), st.integers(0, 50)), min_size=1, max_size=6),
    st.sampled_from(["natural", "balanced"]),
    st.integers(0, 3),
    st.data(),
)
def test_a_plan_has_the_rows_asked_for_and_no_photo_gives_what_it_has_not(
    pairs, balance, seed, data
):
    white, other = (sum(values) for values in zip(*pairs, strict=True))
    most = white + other if balance == "natural" else 2 * min(white, other)
    n_rows = data.draw(st.none() | st.integers(1, most)) if most else 0
    if n_rows == 0:
        return
    found = plan(counted(*pairs), n_rows, balance, seed)
    given_white, given_other = sum(s.white for s in found), sum(s.other for s in found)
    assert given_white + given_other == (most if n_rows is None else n_rows)
    assert all(s.white <= s.counted.white and s.other <= s.counted.other for s in found)
    if balance == "balanced":
        assert given_other - given_white in {0, 1}
    whole = [s.white + s.other for s in found]
    short = [sum(pair) for pair in pairs]
    if balance == "natural":
        # Whoever gives less than another by two has no more.
        assert all(g >= max(whole) - 1 or g == s for g, s in zip(whole, short, strict=True))


def test_too_few_whites_in_one_photo_come_from_the_others():
    found = plan(counted((2, 100), (60, 100), (60, 3)), 120, "balanced", 0)
    assert [s.white for s in found] == [2, 29, 29]
    assert sorted(s.other for s in found) == [3, 28, 29]


def test_who_gives_one_more_is_not_decided_by_the_name():
    first = [plan(counted(*[(5, 5)] * 40), 10, "natural", seed) for seed in range(3)]
    giving = [[k for k, s in enumerate(found) if s.white + s.other] for found in first]
    assert all(len(numbers) == 10 for numbers in giving)
    assert len({tuple(numbers) for numbers in giving}) == 3
    assert min(max(numbers) for numbers in giving) > 20


def test_whites_come_by_chance_as_often_as_they_are_there():
    draws = [plan(counted((300, 700)), 100, "natural", seed)[0].white for seed in range(400)]
    # Hypergeometric: mean 30, variance 100 · 0.3 · 0.7 · 900 / 999.
    assert np.mean(draws) == pytest.approx(30, abs=4 * np.sqrt(18.9 / 400))
    assert np.var(draws) == pytest.approx(18.9, rel=4 * np.sqrt(2 / 400))


@pytest.mark.parametrize(
    ("pairs", "n_rows", "balance", "words"),
    [
        ([(3, 9)], 13, "natural", r"^13 rows were asked for, the only photo has 12 pixels with a"),
        ([(3, 9)] * 2, 25, "natural", r"^25 rows were asked for, the 2 photos have 24 pixels"),
        ([(3, 9)] * 2, 14, "balanced", r"^Half of 14 rows are to be white, the 2 photos have 6 "),
        ([(9, 3)] * 2, 13, "balanced", r"^Half of 13 rows are to be not white, the 2 photos have "),
        ([(9, 0)] * 2, None, "balanced", r"are to be not white, the 2 photos have 0 such pixels"),
        ([(0, 9)] * 2, None, "balanced", r"are to be white, the 2 photos have 0 such pixels"),
    ],
)
def test_more_than_there_is_cannot_be_had(pairs, n_rows, balance, words):
    with pytest.raises(ValueError, match=words):
        plan(counted(*pairs), n_rows, balance, 0)


def test_masks_of_small_numbers_are_not_taken_for_black():
    black, grey = Counted(photo(0), 0, 9, black=True), Counted(photo(1), 0, 9, black=False)
    with pytest.raises(ValueError, match=r"^No mask has a white pixel, and masks.p1\.png is not"):
        check_white([black, grey])
    check_white([black, black])
    check_white([black, grey, Counted(photo(2), 1, 8, black=False)])


@pytest.mark.parametrize(("share", "expected"), [(0.5, 5), (0.7, 7), (0.01, 1), (0.99, 9)])
def test_a_split_has_its_share_of_photos(share, expected):
    photos = [photo(number) for number in range(10)]
    train, test = split_photos(photos, share, 0)
    assert len(train) == expected
    assert sorted(p.number for p in train + test) == list(range(10))
    numbers = [p.number for p in train]
    assert numbers == sorted(numbers)
    assert split_photos(photos[::-1], share, 0)[0] == train[::-1]


def test_a_split_is_random():
    photos = [photo(number) for number in range(10)]
    firsts = {tuple(p.number for p in split_photos(photos, 0.5, seed)[0]) for seed in range(5)}
    assert len(firsts) == 5


def test_one_photo_cannot_be_split():
    with pytest.raises(ValueError, match=r"p0\.jpg is the only photo; a split needs two at least"):
        split_photos([photo(0)], 0.5, 0)
