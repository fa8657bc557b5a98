"""Folders of images and masks, written as a table of pixels."""

import os
from collections.abc import Sequence
from contextlib import ExitStack
from functools import partial
from numbers import Integral, Real
from pathlib import Path
from typing import Any

import numpy as np

from elmband.engines.engine import in_threads
from elmband.engines.progress import Verbose
from elmband.ground.files import lies_in
from elmband.sources.stream.write import Write, open_writers
from elmband_experiments.pixels.bar import PhotoBar, shown
from elmband_experiments.pixels.images import careful
from elmband_experiments.pixels.photos import Photo, check_no_photo, find_photos, split_photos
from elmband_experiments.pixels.pick import blocks, pick
from elmband_experiments.pixels.plan import (
    BALANCES,
    Balance,
    Counted,
    Share,
    check_white,
    count,
    plan,
)
from elmband_experiments.pixels.summary import PHOTO, PixelFile, PixelSummary
from elmband_experiments.pixels.windows import check_window, feature_names


def write_pixels(
    images: str | os.PathLike[str],
    masks: str | os.PathLike[str],
    out: str | os.PathLike[str],
    *,
    n_rows: int | None = None,
    balance: Balance = "natural",
    window: int = 7,
    pattern: str = "*",
    split: float | None = None,
    test_out: str | os.PathLike[str] | None = None,
    target: str = "skin",
    skip_unmatched: bool = False,
    random_state: int = 0,
    verbose: Verbose = "auto",
) -> PixelSummary:
    """Write pixels of photos to a table: the colours around each, its photo, and its class.

    The columns are the 3 · window² features of :func:`feature_names`, 0 to 255; ``photo``, the
    number of the photo, which is its place among the chosen ones sorted by name; and last the
    target, 1 where the mask is white and -1 elsewhere. All are float32. Pixels so near the border
    that their window leaves the image are not used.

    Photos come one after the other, the pixels of each in random order. Memory is that of a few
    photos, whatever the number of rows.

    Parameters
    ----------
    images, masks : path
        Folders. An image and its mask have the same name but for the ending: ``images/a.jpg`` and
        ``masks/a.png``. Hidden files, folders within, and masks without an image do not count.
        Masks are 1-bit, grey or coloured; grey of at least 128 of 255 is white. Images and masks
        are turned as their EXIF tags say, the way they are seen.
    out : path
        The end of the name chooses the format: .npy, .parquet, .h5, .csv, .csv.gz, .arrow. An
        existing file is replaced once all rows are written.
    n_rows : int or None, default=None
        Number of rows. None takes all pixels there are; with ``balance="balanced"`` all of the
        rarer class, and as many of the other. With `split` these are the rows of both files
        together, divided in proportion to their photos.
    balance : {"natural", "balanced"}, default="natural"
        "natural" draws pixels at random whatever their class, "balanced" half of the rows from
        either class; of an odd number, one more is not white. All photos give the same number of
        rows, in "balanced" of each class; a photo that has fewer gives all, and the others more.
    window : int, default=7
        Side of the square around each pixel, an odd number.
    pattern : str, default="*"
        Only images with a name like this one count, as in ``"train_*"``, with or without ending.
    split : float or None, default=None
        Share of the photos, chosen at random, whose pixels go to `out`; those of the others go
        to `test_out`. Neighbouring pixels are nearly equal: a split of rows would leak.
    test_out : path or None, default=None
        The second file of a split; both appear together, or neither does.
    target : str, default="skin"
        Name of the target column.
    skip_unmatched : bool, default=False
        Leave out images without a mask, and name them in the summary. Otherwise one is an error.
    random_state : int, default=0
        Seed. What is chosen from a photo depends on the seed, the name of the photo and the number
        of rows it gives, and on nothing else.
    verbose : bool or "auto", default="auto"
        Whether to show a progress bar; "auto" does on a terminal.

    Returns
    -------
    PixelSummary
        Files, numbers of rows by class, photos, and names of columns.

    Examples
    --------
    >>> from elmband import ELMRegressor, scan
    >>> done = write_pixels(
    ...     "images", "masks", "skin.parquet", n_rows=2_000_000, balance="balanced"
    ... )  # doctest: +SKIP
    >>> rows = scan("skin.parquet", target="skin", features=done.features)  # doctest: +SKIP
    >>> model = ELMRegressor({"linear": 147, "sigmoid": 200}).fit(rows)  # doctest: +SKIP

    The .npy format has no names: ``scan("skin.npy", target=-1, features=range(147))``.
    """
    outs = _checked_outs(Path(out), split, None if test_out is None else Path(test_out))
    _check_rows(n_rows, balance, random_state)
    features = feature_names(check_window(window))
    _check_target(target, features)
    with ExitStack() as stack:
        bar = stack.enter_context(shown(verbose))
        stack.enter_context(careful())
        # Opened first: what is wrong with a file is known before any work is done for it.
        columns = (*features, PHOTO, target)
        writers = stack.enter_context(open_writers(outs, columns, np.float32))
        photos, skipped = find_photos(
            Path(images), Path(masks), pattern, skip_unmatched=skip_unmatched
        )
        for path in outs:
            check_no_photo(path, Path(images), Path(masks), pattern)
        counted = _count_all(photos, window, bar)
        parts = split_photos(photos, split, random_state)
        plans = [
            plan([counted[photo.number] for photo in part], n, balance, random_state)
            for part, n in zip(parts, _divided(n_rows, parts, balance), strict=True)
        ]
        _write_all(plans, writers, window, random_state, bar)
    train, *test = (PixelFile.of(path, shares) for path, shares in zip(outs, plans, strict=True))
    return PixelSummary(train, test[0] if test else None, features, target, skipped)


def _count_all(photos: Sequence[Photo], window: int, bar: PhotoBar | None) -> list[Counted]:
    """Decode all masks."""
    if bar is not None:
        bar.begin_photos("masks", len(photos))
    counted = []
    for found in in_threads(partial(count, window=window), photos):
        counted.append(found)
        if bar is not None:
            bar.advance(1)
    check_white(counted)
    return counted


def _write_all(
    plans: Sequence[Sequence[Share]],
    writers: Sequence[Write],
    window: int,
    random_state: int,
    bar: PhotoBar | None,
) -> None:
    """Read the photos, in every file in the order of their numbers, and write what they give."""
    writer_of = {s: write for part, write in zip(plans, writers, strict=True) for s in part}
    giving = [share for share in writer_of if share.white + share.other]
    if bar is not None:
        n_rows = sum(share.white + share.other for share in giving)
        bar.begin_photos("pixels", len(giving), 4 * n_rows * (3 * window**2 + 2))
    choose = partial(pick, window=window, random_state=random_state)
    for picked in in_threads(choose, giving):
        for block in blocks(picked, window):
            writer_of[picked.share](block)
        if bar is not None:
            bar.advance(1)


def _divided(
    n_rows: int | None, parts: Sequence[Sequence[Photo]], balance: Balance
) -> list[int | None]:
    """Return the rows of each file, in proportion to its photos."""
    if n_rows is None:
        return [None] * len(parts)
    first = round(n_rows * len(parts[0]) / sum(map(len, parts)))
    rows = [first, n_rows - first][: len(parts)]
    least = 1 if balance == "natural" else 2
    if min(rows) < least:
        raise ValueError(
            f"{n_rows} rows were asked for, too few: every file needs {least} of them at least."
        )
    return list(rows)


def _checked_outs(out: Path, split: float | None, test_out: Path | None) -> list[Path]:
    if split is None and test_out is None:
        return [out]
    if split is None or test_out is None:
        raise ValueError(
            "A split by photo needs both the share of photos and a second file, as in split=0.7 "
            'and test_out="test.parquet".'
        )
    if not isinstance(split, Real) or isinstance(split, bool) or not 0 < split < 1:
        raise ValueError(f"split is {split!r}, expected a share between 0 and 1, as 0.7.")
    if out.resolve() == test_out.resolve() or lies_in(out, [test_out]):
        raise ValueError(f"Both files of the split are {out}; give them different names.")
    return [out, test_out]


def _check_rows(n_rows: Any, balance: Any, random_state: Any) -> None:
    if n_rows is not None and not _is_whole(n_rows, 1):
        raise ValueError(f"n_rows is {n_rows!r}, expected a whole number of at least 1, or None.")
    if balance not in BALANCES:
        raise ValueError(f'balance is {balance!r}, expected "natural" or "balanced".')
    if not _is_whole(random_state, 0):
        raise ValueError(
            f"random_state is {random_state!r}, expected a whole number of at least 0."
        )


def _is_whole(value: Any, least: int) -> bool:
    return isinstance(value, Integral) and not isinstance(value, bool) and int(value) >= least


def _check_target(target: Any, features: Sequence[str]) -> None:
    if not isinstance(target, str) or not target or target == PHOTO or target in features:
        raise ValueError(
            f"The target column is to be called {target!r}, expected a name that no other column "
            f"has: not {PHOTO}, and not {features[0]} to {features[-1]}."
        )
