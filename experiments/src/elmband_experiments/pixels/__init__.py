"""Pixels of photos as rows, which ``elmband.pixels`` knows by the same names.

``write_pixels("images", "masks", "skin.parquet", n_rows=2_000_000, balance="balanced")`` makes a
table for :func:`elmband.scan`. :func:`pixel_features` and :func:`pixel_targets` give all pixels of
one image, to predict it as a whole and to judge the prediction.
"""

from elmband_experiments.pixels.summary import PixelFile, PixelSummary
from elmband_experiments.pixels.windows import feature_names, pixel_features, pixel_targets
from elmband_experiments.pixels.write import write_pixels

__all__ = [
    "PixelFile",
    "PixelSummary",
    "feature_names",
    "pixel_features",
    "pixel_targets",
    "write_pixels",
]
