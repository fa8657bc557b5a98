"""An artificial task whose noise is known, and public sets of real rows.

``make_heteroscedastic`` draws the artificial task. The names of loaders, ``load_concrete`` and
others, lead to ``elmband_experiments.datasets`` where elmband-experiments is installed.

>>> from elmband.datasets import make_heteroscedastic
>>> data = make_heteroscedastic(1000, random_state=0)
>>> data.X.shape, data.y.shape
((1000, 1), (1000,))
>>> low, high = data.interval(0.95).T
>>> inside = (low <= data.y) & (data.y <= high)
>>> bool(0.93 < inside.mean() < 0.97)
True
"""

from typing import Any

from elmband.datasets.artificial import (
    DOMAIN,
    ArtificialData,
    Noise,
    make_heteroscedastic,
    noise_std,
    projection,
)
from elmband.ground.experiments import forwarded

__all__ = [
    "DOMAIN",
    "ArtificialData",
    "Noise",
    "make_heteroscedastic",
    "noise_std",
    "projection",
]

_FORWARDED = (
    "RealData",
    "fetch_flights",
    "load_concrete",
    "load_engel",
    "load_motorcycle",
    "load_plasma",
    "load_powerplant",
    "load_skin",
)


def __getattr__(name: str) -> Any:
    return forwarded("datasets", name, _FORWARDED)
