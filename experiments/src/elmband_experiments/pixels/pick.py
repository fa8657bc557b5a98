"""The chosen pixels of a photo, as blocks of rows."""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from elmband_experiments.pixels.images import THRESHOLD, Colours, read_colours, read_greys
from elmband_experiments.pixels.plan import Share, other_size
from elmband_experiments.pixels.windows import as_targets, inner, windows

# Rows are gathered in blocks of at most so many bytes, however many a photo gives.
_BLOCK_BYTES = 2**23


class Picked(NamedTuple):
    """A decoded photo, the places of its chosen pixels in random order, and which are white.

    Places count the pixels with a whole window, row by row.
    """

    share: Share
    image: Colours
    places: NDArray[np.int64]
    white: NDArray[np.bool_]


def pick(share: Share, window: int, random_state: int) -> Picked:
    """Read a photo and choose its pixels, by random numbers of its own."""
    photo = share.counted.photo
    image, mask = read_colours(photo.image), read_greys(photo.mask)
    if image.shape[:2] != mask.shape:
        raise other_size(photo, image.shape, mask.shape)
    white = (inner(mask, window) >= THRESHOLD).ravel()
    found = int(white.sum())
    if (found, white.size - found) != share.counted[1:3]:
        raise ValueError(f"{photo.mask} changed while it was being read; write the table again.")
    rng = photo.random(random_state, "pixels")
    chosen = [
        rng.choice(np.flatnonzero(there), k, replace=False, shuffle=False)
        for there, k in ((white, share.white), (~white, share.other))
    ]
    places = np.concatenate(chosen)
    rng.shuffle(places)
    return Picked(share, image, places, white[places])


def blocks(picked: Picked, window: int) -> Iterator[NDArray[np.float32]]:
    """Yield the rows of a photo: features, number of the photo, target.

    Only the windows of the chosen pixels are ever copied.
    """
    view = windows(picked.image, window)
    width = view.shape[2] * view.shape[3]
    size = max(1, _BLOCK_BYTES // (4 * (width + 2)))
    for start in range(0, len(picked.places), size):
        part = slice(start, start + size)
        rows, columns = np.divmod(picked.places[part], view.shape[1])
        block = np.empty((len(rows), width + 2), np.float32)
        block[:, :width] = view[rows, columns].reshape(len(rows), width)
        block[:, -2] = picked.share.counted.photo.number
        block[:, -1] = as_targets(picked.white[part])
        yield block
