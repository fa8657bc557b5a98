"""What has been written."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from elmband_experiments.pixels.plan import Share

PHOTO = "photo"
"""Name of the column with the number of the photo."""


@dataclass(frozen=True)
class PixelFile:
    """A file of pixels.

    Attributes
    ----------
    path : Path
        The file.
    n_rows : int
        Number of rows, which is that of pixels.
    n_white, n_other : int
        Number of rows with target 1 and with target -1.
    photos : dict of int to str
        Names of the images that the rows come from, by the number in the column ``photo``.
    """

    path: Path
    n_rows: int
    n_white: int
    n_other: int
    photos: dict[int, str]

    @classmethod
    def of(cls, path: Path, shares: Sequence[Share]) -> Self:
        """Return the sums of what the photos give."""
        white, other = (sum(given) for given in zip(*(s[1:] for s in shares), strict=True))
        giving = [share.counted.photo for share in shares if share.white + share.other]
        names = {photo.number: photo.image.name for photo in giving}
        return cls(path, white + other, white, other, names)


@dataclass(frozen=True)
class PixelSummary:
    """What :func:`write_pixels` wrote.

    Attributes
    ----------
    train : PixelFile
        The file, or that of training photos where there is a split.
    test : PixelFile or None
        The file of test photos.
    features : tuple of str
        Names of the feature columns, to be handed to ``scan(..., features=)``.
    target : str
        Name of the target column.
    skipped : tuple of str
        Names of the images that were left out because they have no mask.
    """

    train: PixelFile
    test: PixelFile | None
    features: tuple[str, ...]
    target: str
    skipped: tuple[str, ...]

    @property
    def files(self) -> tuple[PixelFile, ...]:
        """One file, or two where there is a split."""
        return (self.train,) if self.test is None else (self.train, self.test)

    @property
    def columns(self) -> tuple[str, ...]:
        """All columns in their order: the features, the photo, the target."""
        return (*self.features, PHOTO, self.target)
