"""Values taken apart into arrays and a tree of plain text, and put together again.

A reader makes only the kinds that it names, and checks their fields against annotations: nothing
in a file can name code to be run. Objects and arrays that are met
several times are stored once.
"""

from elmband.sums.packing.hints import Shapes, fits, is_plain
from elmband.sums.packing.packer import Arrays, Packer, UnknownKindError, digest
from elmband.sums.packing.unpacker import Unpacker

__all__ = [
    "Arrays",
    "Packer",
    "Shapes",
    "UnknownKindError",
    "Unpacker",
    "digest",
    "fits",
    "is_plain",
]
