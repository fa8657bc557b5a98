"""The colours around a pixel as features, and its place in the mask as target."""

import os
from pathlib import Path
from typing import Any

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import NDArray

from elmband_experiments.pixels.images import THRESHOLD, Colours, careful, read_colours, read_greys

CHANNELS = "rgb"


def check_window(window: Any) -> int:
    """Return the side of a window, which has a pixel in its middle."""
    whole = isinstance(window, (int, np.integer)) and not isinstance(window, bool)
    if not whole or window < 1 or window % 2 == 0:
        raise ValueError(f"The window must be odd and at least 1, as 7 is; got {window!r}.")
    return int(window)


def feature_names(window: int = 7) -> tuple[str, ...]:
    """Return the names of the features of a pixel, in their order: row, column, channel.

    Parameters
    ----------
    window : int, default=7
        Side of the square around the pixel, an odd number.

    Returns
    -------
    tuple of str
        Channel, rows down and columns right of the pixel: ``r_-3_2`` is the red three rows
        above and two columns to the right, ``b_0_0`` the blue of the pixel itself.

    Examples
    --------
    >>> feature_names(1)
    ('r_0_0', 'g_0_0', 'b_0_0')
    >>> names = feature_names(7)
    >>> len(names), names[0], names[3], names[-1]
    (147, 'r_-3_-3', 'r_-3_-2', 'b_3_3')
    """
    margin = check_window(window) // 2
    around = range(-margin, margin + 1)
    return tuple(f"{c}_{row}_{column}" for row in around for column in around for c in CHANNELS)


def windows(image: Colours, window: int) -> NDArray[np.uint8]:
    """Return all windows within an image, as a view.

    The channels of a pixel are neighbours in memory, and so are the pixels of a row: a window of
    side k is k stretches of 3k bytes, and the view has shape (h - k + 1, w - k + 1, k, 3k).
    """
    h, w, _ = image.shape
    rows = np.ascontiguousarray(image).reshape(h, 3 * w)
    return sliding_window_view(rows, (window, 3 * window))[:, ::3]


def inner(values: NDArray[Any], window: int) -> NDArray[Any]:
    """Return what belongs to the pixels whose window lies within the image."""
    margin = window // 2
    h, w = values.shape[:2]
    return values[margin : h - margin, margin : w - margin]


def pixel_features(image: Any, window: int = 7) -> NDArray[np.float32]:
    """Return the features of all pixels of an image whose window lies within it.

    They are those of :func:`write_pixels`, so that a model trained there predicts a whole image.
    Pixels at the border have none: the result is smaller than the image by ``window // 2`` on
    every side.

    Parameters
    ----------
    image : path or array of shape (h, w, 3)
        An image file, or red, green and blue of 0 to 255 as uint8. An array can be cut into
        strips that overlap by ``window - 1`` rows where all features at once, 588 bytes for
        every pixel, would not fit in memory.
    window : int, default=7
        Side of the square around each pixel, an odd number.

    Returns
    -------
    ndarray of shape (h - window + 1, w - window + 1, 3 * window**2)
        The colours of each window, float32, named by :func:`feature_names`.

    Examples
    --------
    >>> image = np.arange(5 * 6 * 3, dtype=np.uint8).reshape(5, 6, 3)
    >>> X = pixel_features(image, window=3)
    >>> X.shape
    (3, 4, 27)
    >>> bool((X[0, 0].reshape(3, 3, 3) == image[:3, :3]).all())
    True

    A model predicts rows, which become a picture again: ``model.predict(X.reshape(-1,
    27)).reshape(X.shape[:2])``. One that was trained on columns with names asks for them here too:
    ``pandas.DataFrame(X.reshape(-1, 27), columns=feature_names(3))``.
    """
    side = check_window(window)
    label = "The image"
    if isinstance(image, (str, os.PathLike)):
        label = str(image)
        with careful():
            image = read_colours(Path(image))
    image = np.asarray(image)
    if image.dtype != np.uint8 or image.ndim != 3 or image.shape[2] != 3:
        raise ValueError(
            f"An image has shape {image.shape} and type {image.dtype}, expected (h, w, 3) and "
            "uint8: red, green and blue of 0 to 255."
        )
    check_size(label, image.shape[:2], side)
    found = windows(image, side)
    return found.reshape(*found.shape[:2], -1).astype(np.float32)


def pixel_targets(mask: Any, window: int = 7) -> NDArray[np.float32]:
    """Return the targets of all pixels that :func:`pixel_features` has features of.

    Parameters
    ----------
    mask : path or array of shape (h, w)
        A mask file, or greys of 0 to 255 as uint8, or booleans.
    window : int, default=7
        Side of the square around each pixel, an odd number.

    Returns
    -------
    ndarray of shape (h - window + 1, w - window + 1)
        1 where the mask is white, which is grey of at least 128, and -1 elsewhere; float32.

    Examples
    --------
    >>> pixel_targets(np.array([[0, 128], [255, 127]], np.uint8), window=1)
    array([[-1.,  1.],
           [ 1., -1.]], dtype=float32)
    """
    side = check_window(window)
    label = "The mask"
    if isinstance(mask, (str, os.PathLike)):
        label = str(mask)
        with careful():
            mask = read_greys(Path(mask))
    mask = np.asarray(mask)
    if mask.dtype not in {np.dtype(np.uint8), np.dtype(np.bool_)} or mask.ndim != 2:
        raise ValueError(
            f"A mask has shape {mask.shape} and type {mask.dtype}, expected (h, w) and uint8 of 0 "
            "to 255, or bool."
        )
    check_size(label, mask.shape, side)
    return as_targets(inner(mask if mask.dtype == np.bool_ else mask >= THRESHOLD, side))


def as_targets(white: NDArray[np.bool_]) -> NDArray[np.float32]:
    """Return 1 for white and -1 for anything else."""
    return np.where(white, np.float32(1), np.float32(-1))


def check_size(label: str, size: tuple[int, ...], window: int) -> None:
    """Refuse an image that no window fits into."""
    if min(size) < window:
        raise ValueError(
            f"{label} is {size[1]} by {size[0]} pixels, smaller than the window of {window} by "
            f"{window}; choose a smaller window, or leave the image out."
        )
