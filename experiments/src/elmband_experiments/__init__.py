"""The experiments of elmband's paper, loaders of public data sets, and photos as tables of pixels.

Where this is installed, ``elmband`` has the commands ``reproduce`` and ``pixels``, and the names of
``elmband.datasets`` and ``elmband.pixels`` lead here.
"""

__version__ = "0.1.0.dev1"
