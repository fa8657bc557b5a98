"""Images and masks as arrays, read by Pillow, whose refusals become sentences."""

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from elmband.sources.stream.errors import reading

if TYPE_CHECKING:
    from PIL.Image import Image

Colours: TypeAlias = NDArray[np.uint8]
White: TypeAlias = NDArray[np.bool_]

# Of 0 to 255: the upper half of the greys is white.
THRESHOLD = 128


def pillow() -> Any:
    """Return Pillow's module of images, or say which command installs it: a clone may lack it."""
    try:
        from PIL import Image  # noqa: PLC0415 (an optional dependency)
    except ImportError as error:
        raise ImportError(
            "Reading images needs Pillow, which is missing: pip install pillow",
            name="PIL",
        ) from error
    return Image


@contextmanager
def careful() -> Iterator[None]:
    """Refuse images so large that Pillow suspects an attack, where it would only warn.

    Entered once around all the reading, not in every thread: filters of warnings belong to the
    whole process.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("error", pillow().DecompressionBombWarning)
        yield


def size_of(path: Path) -> tuple[int, int]:
    """Return height and width as they are in the file, from its first bytes alone."""
    with _opened(path) as image:
        width, height = image.size
    return height, width


def read_colours(path: Path) -> Colours:
    """Return red, green and blue, (h, w, 3), turned as people see the image."""
    with _opened(path) as image:
        return np.asarray(_upright(image, path).convert("RGB"))


def read_greys(path: Path) -> Colours:
    """Return the greys of a mask, (h, w), turned as people see it: 255 is white."""
    with _opened(path) as image:
        seen = _upright(image, path)
        has_alpha = seen.mode in {"LA", "PA", "RGBA"}
        if has_alpha and np.asarray(seen.getchannel("A")).min() < 255:
            # Whether hidden white is white is not for us to say.
            raise ValueError(
                f"{path} is a mask with transparent pixels; save it in black and white only."
            )
        return np.asarray(seen.convert("L"))


def _upright(image: "Image", path: Path) -> "Image":
    """Decode an image, and turn it as its EXIF tag says, which is how people see it."""
    from PIL import ImageOps  # noqa: PLC0415 (an optional dependency)

    if image.mode.startswith(("I", "F")):
        # Pillow would cut off at 255 what does not fit into 8 bits.
        raise ValueError(
            f"{path} has more than 8 bits per channel (mode {image.mode}); save it with 8 bits."
        )
    with reading(str(path), "an image"):
        seen = ImageOps.exif_transpose(image)
        # A palette may say which of its colours are transparent; as RGBA every pixel does.
        return seen.convert("RGBA") if "transparency" in seen.info else seen


@contextmanager
def _opened(path: Path) -> Iterator["Image"]:
    """Open an image file, of which Pillow reads only the beginning until more is asked for."""
    module = pillow()
    with reading(str(path), "an image"):
        try:
            image = module.open(path)
        except (module.DecompressionBombWarning, module.DecompressionBombError):
            image = None
    if image is None:
        raise ValueError(
            f"{path} has more than the {module.MAX_IMAGE_PIXELS:,} pixels that Pillow takes for "
            "safe; cut or shrink it, or raise PIL.Image.MAX_IMAGE_PIXELS if you trust it."
        )
    with image:
        yield image
