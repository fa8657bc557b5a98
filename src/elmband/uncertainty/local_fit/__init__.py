"""Local layers fitted: output layers of their own for every level of a column."""

from elmband.uncertainty.local_fit.choose import (
    LEAST_ROWS,
    LocalFit,
    LocalSettings,
    fit_local,
    on_device,
)
from elmband.uncertainty.local_fit.columns import LocalColumns, known_columns
from elmband.uncertainty.local_fit.noise import KnownNoise, fit_local_noise, noise_on_device

__all__ = [
    "LEAST_ROWS",
    "KnownNoise",
    "LocalColumns",
    "LocalFit",
    "LocalSettings",
    "fit_local",
    "fit_local_noise",
    "known_columns",
    "noise_on_device",
    "on_device",
]
