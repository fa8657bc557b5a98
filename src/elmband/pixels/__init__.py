"""Pixels of photos as rows: names that lead to ``elmband_experiments.pixels`` where installed.

:func:`write_pixels <elmband_experiments.pixels.write_pixels>` makes a table for
:func:`elmband.scan`.
"""

from typing import Any

from elmband.ground.experiments import forwarded

_FORWARDED = (
    "PixelFile",
    "PixelSummary",
    "feature_names",
    "pixel_features",
    "pixel_targets",
    "write_pixels",
)


def __getattr__(name: str) -> Any:
    return forwarded("pixels", name, _FORWARDED)
