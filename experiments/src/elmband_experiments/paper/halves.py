"""Pixels of photos in two files, to train on and to judge by, whatever their number."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

import numpy as np

from elmband.sources.stream import Scan, scan
from elmband.sources.stream.write import open_writers
from elmband_experiments.paper.base import Floats, Settings
from elmband_experiments.pixels import write_pixels

WINDOW = 7
INPUTS = 3 * WINDOW**2
# Behind the colours stand the number of the photo and the target, 1 for skin and -1 elsewhere.
COLUMNS, PHOTO, TARGET = INPUTS + 2, INPUTS, INPUTS + 1


class Halves(NamedTuple):
    """Files of pixels to train on and to judge by."""

    train: Path
    test: Path


def rows_of(path: Path) -> Scan:
    """Return the pixels of a file: colours as features, and the target."""
    return scan(path, features=list(range(INPUTS)), target=TARGET)


def targets_of(path: Path) -> Floats:
    """Return the targets of a file alone."""
    chunks = scan(path, features=[PHOTO], target=TARGET).chunks()
    return np.concatenate([np.asarray(chunk.Y[:, 0], np.float64) for chunk in chunks])


@contextmanager
def pixels(settings: Settings, n: int, *, by_photo: bool) -> Iterator[Halves]:
    """Draw pixels, half of each class, in halves by photo or at random; the files vanish after."""
    assert settings.photos is not None
    with TemporaryDirectory(dir=settings.scratch, prefix="pixels-") as folder:
        train, test, whole = (Path(folder, f"{name}.npy") for name in ("train", "test", "whole"))
        options: Any = {"split": 0.5, "test_out": test} if by_photo else {}
        write_pixels(
            settings.photos / "images",
            settings.photos / "masks",
            train if by_photo else whole,
            n_rows=n,
            balance="balanced",
            window=WINDOW,
            random_state=settings.seed,
            verbose=False,
            **options,
        )
        if not by_photo:
            split_at_random(whole, Halves(train, test), settings.seed)
            whole.unlink()
        yield Halves(train, test)


def split_at_random(whole: Path, halves: Halves, seed: int) -> None:
    """Write each row to one of two files of the same length, chunk by chunk."""
    rows = scan(whole)
    n, start = len(rows), 0
    chosen = np.random.default_rng(seed).permutation(n) < n // 2
    names = [str(k) for k in range(COLUMNS)]
    files = [halves.train, halves.test]
    with open_writers(files, names, np.float32) as (write_train, write_test):
        for chunk in rows.chunks():
            mine = chosen[start : start + len(chunk.X)]
            write_train(chunk.X[mine])
            write_test(chunk.X[~mine])
            start += len(chunk.X)
