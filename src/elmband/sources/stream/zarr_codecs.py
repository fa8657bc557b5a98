"""Which codecs a Zarr store may name: those that only compute, and run nothing that it brings.

The metadata of a store choose the codecs that its pieces are decoded with, and one of them is
Python's pickle, which runs whatever the file says. So metadata are read here first, as plain JSON,
and a store that names any other codec than these is refused before Zarr opens it.
"""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

# Names of numcodecs (version 2 of the format, and 3 after the prefix) and of version 3.
_CODECS = frozenset(
    [
        "adler32",
        "astype",
        "base64",
        "bitround",
        "blosc",
        "bytes",
        "bz2",
        "crc32",
        "crc32c",
        "delta",
        "endian",
        "fixedscaleoffset",
        "fletcher32",
        "gzip",
        "jenkins_lookup3",
        "lz4",
        "lzma",
        "packbits",
        "pcodec",
        "quantize",
        "sharding_indexed",
        "shuffle",
        "transpose",
        "vlen-bytes",
        "vlen-utf8",
        "zfpy",
        "zlib",
        "zstd",
    ]
)
_PREFIX = "numcodecs."
# What makes objects of bytes, without which arrays of objects would be addresses out of a file.
_TEXTS = {"vlen-utf8", "vlen-bytes"}
_CODEC_KEYS = ("compressor", "filters", "codecs", "index_codecs")
_DTYPE_KEYS = ("dtype", "astype", "encode_dtype", "decode_dtype")
_OBJECT = re.compile(r"[|<>=]?O[48]?$|object")
# What people note down is for people.
_NOTES = {"attributes", ".zattrs"}
_METADATA = ("zarr.json", ".zarray", ".zgroup", ".zmetadata")


def check_codecs(store: Path) -> None:
    """Refuse a store any array of which names a codec that is not known to be harmless."""
    for node in _nodes(store, store, frozenset()):
        _check(store, node)


def _nodes(store: Path, folder: Path, above: frozenset[Path]) -> Iterator[Any]:
    """Yield the metadata of a store and of all groups in it, without looking at pieces of data."""
    found = [path for name in _METADATA if (path := folder / name).is_file()]
    nodes = [_parsed(store, path) for path in found]
    yield from nodes
    above |= {folder.resolve()}
    if not nodes or all(map(_is_array, nodes)):
        return
    for inner in sorted(folder.iterdir()):
        if inner.is_dir() and inner.resolve() not in above:  # a link may lead back
            yield from _nodes(store, inner, above)


def _parsed(store: Path, path: Path) -> Any:
    try:
        return json.loads(path.read_bytes())
    except (OSError, ValueError, RecursionError) as error:
        raise ValueError(
            f"{store} cannot be read as Zarr, it may be damaged or incomplete: {path.name} is no "
            "JSON."
        ) from error


def _is_array(node: Any) -> bool:
    """Tell arrays, which have a shape in either version, from groups."""
    return isinstance(node, dict) and "shape" in node and node.get("node_type", "array") == "array"


def _check(store: Path, node: Any) -> None:
    """Look at metadata, and at all that is in them."""
    if isinstance(node, list):
        for part in node:
            _check(store, part)
    if not isinstance(node, dict):
        return
    names = [name for key in _CODEC_KEYS for name in _names(node.get(key))]
    for name in names:
        if name.removeprefix(_PREFIX) not in _CODECS:
            raise ValueError(
                f"{store} names the codec {name!r}, which is none of those that only compute; it "
                "is not read. Write it with zstd, blosc or gzip."
            )
    for key in _DTYPE_KEYS:
        if _has_objects(node.get(key)) and (key != "dtype" or not _TEXTS.intersection(names)):
            raise ValueError(
                f"{store} holds objects of Python, which are never loaded; save it as numbers."
            )
    for key, part in node.items():
        if key not in _NOTES:
            _check(store, part)


def _names(codecs: Any) -> Iterator[str]:
    """Yield the names of one codec or several; what is none of either has an odd name."""
    for codec in codecs if isinstance(codecs, list) else [codecs]:
        if isinstance(codec, dict):
            named = [codec[key] for key in ("id", "name") if key in codec]
            yield from map(str, named or ["?"])
        elif codec is not None:
            yield str(codec)


def _has_objects(dtype: Any) -> bool:
    if isinstance(dtype, list):
        return any(map(_has_objects, dtype))
    return isinstance(dtype, str) and _OBJECT.match(dtype) is not None
