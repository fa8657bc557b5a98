"""Public sets of real rows, from a folder of yours, from a cache, or from the network.

The loaders read a folder of yours, then a cache; they use the network only with ``download=True``.
``elmband.datasets`` knows them by the same names:

===================  ====================================================================
``load_concrete``    compressive strength of concrete, 1,030 rows
``load_plasma``      beta-carotene in blood plasma, 315 rows
``load_powerplant``  pressure or temperature of steam in a power plant, 200 rows in order
``load_motorcycle``  acceleration of a head in a crash, 133 rows
``load_engel``       income and expenditure on food, 235 rows
``load_skin``        colours of skin and of other things, 245,057 rows
``fetch_flights``    3,000,000 flights in a Parquet file for :func:`elmband.scan`
===================  ====================================================================
"""

from elmband_experiments.datasets.loaders import (
    fetch_flights,
    load_concrete,
    load_engel,
    load_motorcycle,
    load_plasma,
    load_powerplant,
    load_skin,
)
from elmband_experiments.datasets.table import RealData

__all__ = [
    "RealData",
    "fetch_flights",
    "load_concrete",
    "load_engel",
    "load_motorcycle",
    "load_plasma",
    "load_powerplant",
    "load_skin",
]
