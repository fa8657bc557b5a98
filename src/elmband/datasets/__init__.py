"""Data to try things on: an artificial task whose noise is known, and public sets of real rows.

``make_heteroscedastic`` draws the artificial task. The loaders read real data from a folder of
yours, then from a cache; they use the network only with ``download=True``:

===================  ====================================================================
``load_concrete``    compressive strength of concrete, 1,030 rows
``load_plasma``      beta-carotene in blood plasma, 315 rows
``load_powerplant``  pressure or temperature of steam in a power plant, 200 rows in order
``load_motorcycle``  acceleration of a head in a crash, 133 rows
``load_engel``       income and expenditure on food, 235 rows
``load_skin``        colours of skin and of other things, 245,057 rows
``fetch_flights``    3,000,000 flights in a Parquet file for :func:`elmband.scan`
===================  ====================================================================

>>> from elmband.datasets import make_heteroscedastic
>>> data = make_heteroscedastic(1000, random_state=0)
>>> data.X.shape, data.y.shape
((1000, 1), (1000,))
>>> low, high = data.interval(0.95).T
>>> inside = (low <= data.y) & (data.y <= high)
>>> bool(0.93 < inside.mean() < 0.97)
True
"""

from elmband.datasets.artificial import (
    DOMAIN,
    ArtificialData,
    Noise,
    make_heteroscedastic,
    noise_std,
    projection,
)
from elmband.datasets.loaders import (
    fetch_flights,
    load_concrete,
    load_engel,
    load_motorcycle,
    load_plasma,
    load_powerplant,
    load_skin,
)
from elmband.datasets.table import RealData

__all__ = [
    "DOMAIN",
    "ArtificialData",
    "Noise",
    "RealData",
    "fetch_flights",
    "load_concrete",
    "load_engel",
    "load_motorcycle",
    "load_plasma",
    "load_powerplant",
    "load_skin",
    "make_heteroscedastic",
    "noise_std",
    "projection",
]
