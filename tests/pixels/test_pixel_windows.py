import numpy as np
import pytest
from painted import all_rows, paint
from PIL import Image

from elmband_experiments.pixels import feature_names, pixel_features, pixel_targets

RNG = np.random.default_rng(0)
IMAGE = RNG.integers(0, 256, (11, 13, 3), dtype=np.uint8)
MASK = RNG.random((11, 13)) < 0.5


@pytest.mark.parametrize("window", [1, 3, 7, 11])
def test_features_and_targets_are_those_of_a_double_loop(window):
    X, y = pixel_features(IMAGE, window), pixel_targets(MASK, window)
    assert X.dtype == y.dtype == np.float32
    assert X.shape == (12 - window, 14 - window, 3 * window**2)
    expected = all_rows(IMAGE, MASK, window)
    np.testing.assert_array_equal(X.reshape(-1, X.shape[2]), expected[:, :-2])
    np.testing.assert_array_equal(y.ravel(), expected[:, -1])


@pytest.mark.parametrize("window", [1, 5])
def test_names_say_where_a_colour_comes_from(window):
    names, X, margin = feature_names(window), pixel_features(IMAGE, window), window // 2
    assert len(set(names)) == len(names) == X.shape[2]
    for k, name in enumerate(names):
        channel, down, right = name.split("_")
        expected = IMAGE[5 + int(down), 6 + int(right), "rgb".index(channel)]
        assert X[5 - margin, 6 - margin, k] == expected


def test_files_give_what_their_arrays_give(tmp_path):
    image, mask = paint(tmp_path, "a")
    image_path, mask_path = tmp_path / "images" / "a.png", tmp_path / "masks" / "a.png"
    np.testing.assert_array_equal(pixel_features(image_path), pixel_features(image))
    np.testing.assert_array_equal(pixel_targets(str(mask_path)), pixel_targets(mask))


def test_images_of_pillow_and_views_are_arrays_too():
    np.testing.assert_array_equal(pixel_features(Image.fromarray(IMAGE)), pixel_features(IMAGE))
    turned = IMAGE[::-1, ::2]
    np.testing.assert_array_equal(pixel_features(turned, 3), pixel_features(turned.copy(), 3))


@pytest.mark.parametrize("window", [0, 4, -3, 7.0, True, "7"])
def test_a_window_has_a_middle(window):
    with pytest.raises(ValueError, match=r"^The window must be odd and at least 1, as 7 is; got"):
        pixel_features(IMAGE, window)
    with pytest.raises(ValueError, match=r"^The window must be odd"):
        feature_names(window)


@pytest.mark.parametrize("image", [IMAGE / 255, IMAGE[..., 0], IMAGE[..., :2], [[1, 2]]])
def test_only_bytes_of_three_channels_are_colours(image):
    with pytest.raises(ValueError, match=r"expected \(h, w, 3\) and uint8: red, green and blue"):
        pixel_features(image)


@pytest.mark.parametrize("mask", [IMAGE, MASK * 1.0, MASK * 1])
def test_only_bytes_and_booleans_are_masks(mask):
    with pytest.raises(ValueError, match=r"expected \(h, w\) and uint8 of 0 to 255, or bool"):
        pixel_targets(mask)


def test_no_window_fits():
    with pytest.raises(ValueError, match=r"^The image is 13 by 11 pixels, smaller than the window"):
        pixel_features(IMAGE, 13)
    with pytest.raises(ValueError, match=r"^The mask is 13 by 11 pixels, smaller than the window"):
        pixel_targets(MASK, 13)
