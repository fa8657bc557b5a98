"""What Pillow reads, and what it refuses."""

import subprocess
import sys

import numpy as np
import pytest
from painted import paint
from PIL import Image

from elmband_experiments.pixels import pixel_features, pixel_targets, write_pixels

RNG = np.random.default_rng(0)
IMAGE = RNG.integers(0, 256, (9, 12, 3), dtype=np.uint8)
GREYS = RNG.integers(0, 256, (9, 12), dtype=np.uint8)
GREYS[0, :4] = 0, 127, 128, 255


def read_image(path):
    return pixel_features(path, window=1)


def read_mask(path):
    return pixel_targets(path, window=1)


def saved(path, image, **options):
    image.save(path, **options)
    return path


@pytest.mark.parametrize("mode", ["RGB", "RGBA", "L", "LA", "1", "P", "CMYK"])
def test_images_of_all_modes_become_three_channels(tmp_path, mode):
    image = Image.fromarray(IMAGE).convert(mode)
    ending = "tif" if mode == "CMYK" else "png"
    found = read_image(saved(tmp_path / f"a.{ending}", image))
    np.testing.assert_array_equal(found, np.asarray(image.convert("RGB")))


@pytest.mark.parametrize("mode", ["L", "RGB", "P", "LA", "RGBA"])
def test_masks_of_all_modes_are_white_from_128(tmp_path, mode):
    image = Image.fromarray(GREYS)
    # Pillow gives a palette made from greys the same greys.
    path = saved(tmp_path / "a.png", image if mode == "L" else image.convert(mode))
    np.testing.assert_array_equal(read_mask(path), np.where(GREYS >= 128, 1, -1))


def test_masks_of_one_bit(tmp_path):
    path = saved(tmp_path / "a.png", Image.fromarray(GREYS >= 128))
    with Image.open(path) as image:
        assert image.mode == "1"
    np.testing.assert_array_equal(read_mask(path), np.where(GREYS >= 128, 1, -1))


def test_images_are_turned_as_they_are_seen(tmp_path):
    exif = Image.Exif()
    exif[0x0112] = 6  # the camera was held upright: the top of the scene is on the right
    path = saved(tmp_path / "a.png", Image.fromarray(IMAGE), exif=exif)
    np.testing.assert_array_equal(read_image(path), np.rot90(IMAGE, -1))
    path = saved(tmp_path / "m.png", Image.fromarray(GREYS), exif=exif)
    np.testing.assert_array_equal(read_mask(path), np.rot90(np.where(GREYS >= 128, 1, -1), -1))


@pytest.mark.parametrize("read", [read_image, read_mask])
def test_more_than_8_bits_are_refused(tmp_path, read):
    deep = Image.fromarray(GREYS.astype(np.uint16) * 200)
    path = saved(tmp_path / "a.png", deep)
    with pytest.raises(ValueError, match=r"a\.png has more than 8 bits per channel \(mode I"):
        read(path)
    path = saved(tmp_path / "a.tif", Image.fromarray(GREYS.astype(np.float32)))
    with pytest.raises(ValueError, match=r"a\.tif has more than 8 bits per channel \(mode F\)"):
        read(path)


@pytest.mark.parametrize("palette", [False, True])
def test_transparent_masks_are_refused_transparent_images_are_not(tmp_path, palette):
    image = Image.fromarray(np.dstack([IMAGE, GREYS]))
    if palette:
        path = saved(tmp_path / "a.png", Image.fromarray(GREYS).convert("P"), transparency=b"\0\7")
    else:
        path = saved(tmp_path / "a.png", image)
    with pytest.raises(ValueError, match=r"a\.png is a mask with transparent pixels; save it in"):
        read_mask(path)
    expected = np.dstack([GREYS] * 3) if palette else IMAGE
    np.testing.assert_array_equal(read_image(path), expected)


@pytest.mark.parametrize("read", [read_image, read_mask])
@pytest.mark.parametrize("damage", ["no image", "cut", "empty", "missing"])
def test_unreadable_files_are_one_sentence_with_their_name(tmp_path, read, damage):
    path = saved(tmp_path / "a.png", Image.fromarray(GREYS))
    content = path.read_bytes()
    path.write_bytes({"no image": b"words", "cut": content[:-60]}.get(damage, b""))
    if damage == "missing":
        path.unlink()
    with pytest.raises(ValueError, match=r"a\.png cannot be read as an image, it may be") as error:
        read(path)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("limit", [100, 50])
def test_images_too_large_for_pillow_are_one_sentence(tmp_path, monkeypatch, limit):
    # Pillow warns above the limit, and refuses above twice the limit: 108 pixels are either.
    monkeypatch.setattr(Image, "MAX_IMAGE_PIXELS", limit)
    path = saved(tmp_path / "a.png", Image.fromarray(IMAGE))
    words = rf"a\.png has more than the {limit} pixels that Pillow takes for safe; cut or shrink"
    for read in (read_image, read_mask):
        with pytest.raises(ValueError, match=words):
            read(path)


@pytest.mark.filterwarnings("ignore::PIL.Image.DecompressionBombWarning")
def test_they_are_refused_in_folders_even_where_warnings_are_not_shown(tmp_path, monkeypatch):
    paint(tmp_path, "small", size=(9, 9))
    paint(tmp_path, "vast", size=(10, 11))
    monkeypatch.setattr(Image, "MAX_IMAGE_PIXELS", 100)
    with pytest.raises(ValueError, match=r"vast\.png has more than the 100 pixels"):
        write_pixels(tmp_path / "images", tmp_path / "masks", tmp_path / "out.npy")
    assert not (tmp_path / "out.npy").exists()


@pytest.mark.slow
def test_without_pillow_one_sentence_says_what_to_install():
    program = """
import sys
sys.modules["PIL"] = None
from elmband_experiments.pixels import feature_names, pixel_features, write_pixels
feature_names()
for call in (lambda: pixel_features("a.png"), lambda: write_pixels("a", "b", "c.npy")):
    try:
        call()
    except ImportError as error:
        print(error)
"""
    command = [sys.executable, "-c", program]
    result = subprocess.run(command, capture_output=True, text=True, check=True)
    sentence = "Reading images needs Pillow, which is missing: pip install pillow\n"
    assert result.stdout == 2 * sentence
