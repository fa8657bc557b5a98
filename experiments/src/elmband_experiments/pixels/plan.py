"""How many pixels of each class come from every photo."""

from bisect import bisect_right
from collections.abc import Sequence
from typing import Literal, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from elmband_experiments.pixels.images import THRESHOLD, read_greys, size_of
from elmband_experiments.pixels.photos import Photo, in_random_order
from elmband_experiments.pixels.windows import check_size, inner

Balance: TypeAlias = Literal["natural", "balanced"]
Counts: TypeAlias = NDArray[np.int64]

BALANCES = ("natural", "balanced")


class Counted(NamedTuple):
    """A photo, and how many of its pixels with a whole window are white and how many are not.

    `black` says that all of the mask is.
    """

    photo: Photo
    white: int
    other: int
    black: bool


class Share(NamedTuple):
    """What a photo gives: so many of its white pixels, so many of the others."""

    counted: Counted
    white: int
    other: int


def count(photo: Photo, window: int) -> Counted:
    """Decode a mask and count its pixels; of the image only the size is read."""
    size, mask = size_of(photo.image), read_greys(photo.mask)
    # The image may yet be turned by its EXIF tag: whether both lie alike is seen later.
    if sorted(size) != sorted(mask.shape):
        raise other_size(photo, size, mask.shape)
    check_size(str(photo.image), size, window)
    white = inner(mask, window) >= THRESHOLD
    found = int(white.sum())
    return Counted(photo, found, white.size - found, black=not mask.any())


def other_size(photo: Photo, image: Sequence[int], mask: Sequence[int]) -> ValueError:
    """Return the refusal of an image and a mask that do not fit onto each other."""
    return ValueError(
        f"{photo.image} is {image[1]} by {image[0]} pixels, its mask {photo.mask} is {mask[1]} by "
        f"{mask[0]}; they must have one size."
    )


def check_white(counted: Sequence[Counted]) -> None:
    """Refuse masks of small numbers, as 0 and 1, which nobody would tell from black."""
    grey = next((found for found in counted if not found.black), None)
    if grey is not None and not any(found.white for found in counted):
        raise ValueError(
            f"No mask has a white pixel, and {grey.photo.mask} is not black: white is {THRESHOLD} "
            "to 255, so multiply masks of 0 and 1 by 255."
        )


def plan(
    counted: Sequence[Counted], n_rows: int | None, balance: Balance, random_state: int
) -> list[Share]:
    """Return what each photo gives to a table of `n_rows` rows.

    All photos give the same number, or all they have where that is less: then the others give
    more. With balance this holds for each class by itself. Where the number of rows is no
    multiple of that of the photos, those that give one more are chosen at random.

    Without balance, how many of a photo's rows are white is left to chance, as it is where
    pixels are drawn without a look at the mask.
    """
    turn = _turns([found.photo for found in counted], random_state)
    halves = _balanced if balance == "balanced" else _natural
    of_white, of_other = halves(counted, n_rows, random_state, turn)
    pairs = zip(counted, of_white.tolist(), of_other.tolist(), strict=True)
    return [Share(*pair) for pair in pairs]


def _balanced(
    counted: Sequence[Counted], n_rows: int | None, _: int, turn: Counts
) -> tuple[Counts, Counts]:
    """Return what each photo gives of both classes, as many of one as of the other."""
    white = np.array([found.white for found in counted])
    other = np.array([found.other for found in counted])
    n = 2 * max(1, int(min(white.sum(), other.sum()))) if n_rows is None else n_rows
    _check_enough("white", white, n // 2, n)
    _check_enough("not white", other, n - n // 2, n)
    return shares(white, n // 2, turn), shares(other, n - n // 2, turn)


def _natural(
    counted: Sequence[Counted], n_rows: int | None, random_state: int, turn: Counts
) -> tuple[Counts, Counts]:
    """Return what each photo gives of both classes where nobody looks at the mask."""
    have = np.array([found.white + found.other for found in counted])
    n = int(have.sum()) if n_rows is None else n_rows
    if n > have.sum():
        raise ValueError(
            f"{n:,} rows were asked for, {_photos(have)} {have.sum():,} pixels with a whole "
            "window; ask for fewer rows."
        )
    given = shares(have, n, turn)
    white = [
        found.photo.random(random_state, "white").hypergeometric(found.white, found.other, k)
        for found, k in zip(counted, given, strict=True)
    ]
    return np.array(white), given - white


def shares(have: Counts, wanted: int, turn: Counts) -> Counts:
    """Divide `wanted` among photos that have so many: all the same as far as they have it.

    Everyone gives min(have, level) for the highest level that is not too much, and the first in
    `turn` of those who have more give one more, until it is enough.
    """
    levels = range(int(have.max()) + 1)
    level = bisect_right(levels, wanted, key=lambda k: int(np.minimum(have, k).sum())) - 1
    given = np.minimum(have, level)
    able = turn[have[turn] > level]
    given[able[: wanted - given.sum()]] += 1
    return given


def _turns(photos: list[Photo], random_state: int) -> Counts:
    """Return the places of photos in a random order, which no file name decides."""
    place = {photo.number: k for k, photo in enumerate(photos)}
    order = in_random_order(photos, random_state, "turn")
    return np.array([place[photo.number] for photo in order])


def _check_enough(name: str, have: Counts, wanted: int, n: int) -> None:
    if have.sum() < wanted:
        raise ValueError(
            f"Half of {n:,} rows are to be {name}, {_photos(have)} {have.sum():,} such pixels with "
            'a whole window; ask for fewer rows, or for the classes as they come, "natural".'
        )


def _photos(have: Counts) -> str:
    return "the only photo has" if len(have) == 1 else f"the {len(have):,} photos have"
