"""The sets of the benchmark and their splits. Of two classes 1 is the positive one.

===============  ==================================================================================
``skin-200k``    pixels of photos with the colours around them, as many of skin as of anything else:
                 200,000 of the photos named ``train_*`` and 200,000 of those named ``test_*``;
                 splits differ by the seed of the method only
``skin-2m``      the same with 2,000,000 rows each
``skin-photos``  pixels of 400 photos to train, of the other 1,000 to judge, chosen at random
``skin-uci``     colours of single pixels, of which many occur again and again: rows are split so
                 that no colour is on both sides; skin is positive
``cancer``       scikit-learn's breast cancer data, malignant is positive
``digits``       scikit-learn's digits, ten classes
===============  ==================================================================================

Photos and UCI's colours are read from the folder named by ``ELMBAND_DATA``. Tables of pixels are
written once. Every split is the same on every machine.
"""

import os
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.datasets import load_breast_cancer, load_digits

from elmband_experiments.pixels import write_pixels

Array = NDArray[Any]
Splitter = Callable[[int], "Split"]

SPLIT_SEED = 20240229
TRAINING_PHOTOS, ALL_PHOTOS, PHOTO_ROWS = 400, 1400, 300_000
RULES = ("elm-probability", "elm-interval", "elm-model", "elm-margin")


class Part(NamedTuple):
    """Rows: inputs (n, d), labels (n,), and groups (n,) of rows that belong together."""

    X: Array
    y: Array
    groups: Array


class Split(NamedTuple):
    """Rows to train on and rows to judge by."""

    train: Part
    test: Part


@dataclass(frozen=True)
class BenchmarkSet:
    """A named set: `load` takes a folder for tables and returns the function from k to a split.

    Attributes
    ----------
    label : str
        What the report calls it.
    n_splits : int
        Splits that every method does; of a set whose splits are seeds, that seeded methods do.
    seeds : bool
        Whether splits differ by the seed of the method only.
    grouped : bool
        Whether rows come in photos.
    positive : int or None
        The positive class.
    methods : tuple of str
        The methods that run on it, all if empty.
    """

    name: str
    label: str
    n_splits: int
    load: Callable[[Path], Splitter]
    seeds: bool = False
    grouped: bool = False
    positive: int | None = 1
    methods: tuple[str, ...] = ()


def thinned(split: Split, rows: int) -> Split:
    """Return about so many rows of either part, from everywhere."""
    steps = (max(len(part.y) // rows, 1) for part in split)
    train, test = (
        Part(*(column[::step] for column in part)) for part, step in zip(split, steps, strict=True)
    )
    return Split(train, test)


def data_folder() -> Path:
    """Return the folder named by ``ELMBAND_DATA``, or say what is missing."""
    name = os.environ.get("ELMBAND_DATA", "")
    if not name:
        raise ValueError(
            "ELMBAND_DATA is not set: let it name the folder with the data, or choose "
            "--sets cancer,digits"
        )
    if not Path(name).is_dir():
        raise ValueError(f"ELMBAND_DATA names {name}, which is not a folder")
    return Path(name)


def _pixels(rows: int, folder: Path) -> Splitter:
    """Return pixels of the photos that are named for training and for test."""
    names = "train", "test"
    paths = [folder / f"{name}-{rows}.npy" for name in names]
    for name, path in zip(names, paths, strict=True):
        if not path.exists():
            _write(path, rows, pattern=f"{name}_*")
    split = Split(*map(_read, paths))
    return lambda _: split


def _photos(folder: Path) -> Splitter:
    """Return pixels of photos that are chosen at random, few for training."""
    train, test = folder / "photos-train.npy", folder / "photos-test.npy"
    if not (train.exists() and test.exists()):
        _write(train, PHOTO_ROWS, split=TRAINING_PHOTOS / ALL_PHOTOS, test_out=test)
    split = Split(_read(train), _read(test))
    return lambda _: split


def _write(path: Path, rows: int, **options: Any) -> None:
    photos = data_folder() / "skin_abdomen"
    path.parent.mkdir(parents=True, exist_ok=True)
    images, masks = photos / "images", photos / "masks"
    write_pixels(images, masks, path, n_rows=rows, balance="balanced", verbose=False, **options)


def _read(path: Path) -> Part:
    """Read a table of pixels: colours, number of the photo, 1 or -1; float32 all of them."""
    table = np.load(path, mmap_mode="r")
    X = np.ascontiguousarray(table[:, :-2])
    return Part(X, (table[:, -1] > 0).astype(np.int64), table[:, -2].astype(np.int64))


def _uci(_: Path) -> Splitter:
    """Split colours: the rows of half of the distinct ones to either side."""
    with np.load(data_folder() / "skin_uci" / "skin_nonskin.npz") as file:
        X, label = file["BGR"].astype(np.float32), file["label"]
    _, colour = np.unique(X, axis=0, return_inverse=True)
    return partial(_cut, X, (label == 1).astype(np.int64), colour.reshape(-1))


def _bundled(load: Callable[..., Any], _: Path, *, flip: bool) -> Splitter:
    """Split one of scikit-learn's sets, of which all rows are groups of their own."""
    X, y = load(return_X_y=True)
    return partial(_cut, X, 1 - y if flip else y, np.arange(len(y)))


def _cut(X: Array, y: Array, groups: Array, k: int) -> Split:
    """Return the k-th random half of the groups for training, the other half for test."""
    count = int(groups.max()) + 1
    order = np.random.default_rng([SPLIT_SEED, k]).permutation(count)
    chosen = np.zeros(count, dtype=np.bool_)
    chosen[order[: count // 2]] = True
    mask = chosen[groups]
    train, test = (Part(X[rows], y[rows], groups[rows]) for rows in (mask, ~mask))
    return Split(train, test)


_SETS = (
    BenchmarkSet(
        "skin-200k",
        "skin, pixels of photos, 200,000 rows to train and 200,000 to judge",
        5,
        partial(_pixels, 200_000),
        seeds=True,
        grouped=True,
    ),
    BenchmarkSet(
        "skin-photos",
        "skin, 400 photos to train and 1,000 to judge",
        1,
        _photos,
        seeds=True,
        grouped=True,
        methods=RULES,
    ),
    BenchmarkSet("skin-uci", "skin, UCI, colours of single pixels", 3, _uci),
    BenchmarkSet("cancer", "breast cancer", 10, partial(_bundled, load_breast_cancer, flip=True)),
    BenchmarkSet("digits", "digits", 5, partial(_bundled, load_digits, flip=False), positive=None),
    BenchmarkSet(
        "skin-2m",
        "skin, pixels of photos, 2,000,000 rows to train and 2,000,000 to judge",
        1,
        partial(_pixels, 2_000_000),
        seeds=True,
        grouped=True,
        methods=(*RULES, "elm-log", "elm-ensemble", "elmband", "logistic", "boosting"),
    ),
)
SETS = {one.name: one for one in _SETS}
FULL_ONLY = ("skin-2m",)


def choose_sets(names: str, *, full: bool) -> list[BenchmarkSet]:
    """Return the sets named in a list with commas; by default all, the large one if `full`."""
    if not names:
        return [one for one in _SETS if full or one.name not in FULL_ONLY]
    wanted = [name.strip() for name in names.split(",")]
    unknown = [name for name in wanted if name not in SETS]
    if unknown:
        raise ValueError(f"no such set: {', '.join(unknown)}; known are {', '.join(SETS)}")
    return [SETS[name] for name in SETS if name in wanted]
