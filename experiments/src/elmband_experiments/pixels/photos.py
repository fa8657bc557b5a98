"""Which images there are, which mask belongs to each, and which file its rows go to."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from hashlib import sha256
from pathlib import Path

import numpy as np

from elmband.ground.files import identity, lies_in


@dataclass(frozen=True)
class Photo:
    """An image with its mask. The number tells its rows from those of others."""

    number: int
    image: Path
    mask: Path

    @property
    def stem(self) -> str:
        """The name without ending, which image and mask share."""
        return self.image.stem

    def random(self, random_state: int, purpose: str) -> np.random.Generator:
        """Return a generator of this photo's own.

        It depends on the seed and on the photo's name only, not on other photos or their order.
        """
        text = f"{random_state} {purpose} {self.stem}"
        return np.random.default_rng(int.from_bytes(sha256(text.encode()).digest()))


def find_photos(
    images: Path, masks: Path, pattern: str, *, skip_unmatched: bool
) -> tuple[list[Photo], tuple[str, ...]]:
    """Return the photos whose name fits the pattern, and the names of images without mask.

    Photos are numbered in the order of their names.
    """
    if images.resolve() == masks.resolve():
        raise ValueError(f"Images and masks both lie in {images}; put them into two folders.")
    chosen = [path for path in _listed(images) if _fits(path, pattern)]
    if not chosen:
        raise ValueError(
            f"{images} holds no image with a name like {pattern}; check folder and pattern."
        )
    by_stem = _by_stem(chosen)
    mask_of = _by_stem(path for path in _listed(masks) if path.stem in by_stem)
    alone = [path for stem, path in by_stem.items() if stem not in mask_of]
    if alone and not skip_unmatched:
        others = f", and {len(alone) - 1} more" if len(alone) > 1 else ""
        raise ValueError(
            f"{alone[0]} has no mask {alone[0].stem}.* in {masks}{others}; add what is missing, or "
            "leave such images out with skip_unmatched=True (--skip-unmatched)."
        )
    matched = [(path, mask_of[stem]) for stem, path in by_stem.items() if stem in mask_of]
    if not matched:
        raise ValueError(f"No image of {images} has a mask of the same name in {masks}.")
    photos = [Photo(number, *pair) for number, pair in enumerate(matched)]
    return photos, tuple(path.name for path in alone)


def check_no_photo(out: Path, images: Path, masks: Path, pattern: str) -> None:
    """Refuse an output that is an image or a mask, or would be taken for one the next time."""
    folder = identity(out.parent)
    among = folder == identity(masks) or (folder == identity(images) and _fits(out, pattern))
    if among or lies_in(out, [*_listed(images), *_listed(masks)]):
        raise ValueError(
            f"{out} is an image or a mask, or lies among them and would be taken for one; name a "
            "file in another folder."
        )


def split_photos(
    photos: Sequence[Photo], share: float | None, random_state: int
) -> list[list[Photo]]:
    """Return the photos of each file: all of them, or those of training and those of test.

    The share is rounded to whole photos, one at least for each file.
    """
    if share is None:
        return [list(photos)]
    if len(photos) < 2:
        raise ValueError(f"{photos[0].image} is the only photo; a split needs two at least.")
    count = min(max(round(share * len(photos)), 1), len(photos) - 1)
    first = {photo.number for photo in in_random_order(photos, random_state, "split")[:count]}
    return [[p for p in photos if (p.number in first) is wanted] for wanted in (True, False)]


def in_random_order(photos: Iterable[Photo], random_state: int, purpose: str) -> list[Photo]:
    """Sort photos by a random number of their own."""
    return sorted(photos, key=lambda photo: photo.random(random_state, purpose).random())


def _listed(folder: Path) -> list[Path]:
    """Return the files of a folder, sorted by name; hidden ones and folders do not count."""
    if not folder.exists():
        raise FileNotFoundError(f"{folder} does not exist; check the name and the folder.")
    if not folder.is_dir():
        raise NotADirectoryError(f"{folder} is a file; give the folder that it lies in.")
    found = [path for path in folder.iterdir() if path.name[0] != "." and path.is_file()]
    if not found:
        raise ValueError(f"{folder} holds no files; check the name of the folder.")
    return sorted(found, key=lambda path: (path.stem, path.suffix))


def _fits(path: Path, pattern: str) -> bool:
    return fnmatchcase(path.name, pattern) or fnmatchcase(path.stem, pattern)


def _by_stem(paths: Iterable[Path]) -> dict[str, Path]:
    """Return the paths by their names without ending, no two of which may be alike."""
    found: dict[str, Path] = {}
    for path in paths:
        if path.stem in found:
            raise ValueError(
                f"{found[path.stem]} and {path} have one name but for the ending, so that nobody "
                "knows which image belongs to which mask; rename or remove one of them."
            )
        found[path.stem] = path
    return found
