"""Bytes of a CSV file that may be packed, read as a stream in flat memory."""

import io
import lzma
import re
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from zipfile import BadZipFile, ZipFile, ZipInfo

from elmband.sources.stream.errors import needed

PACKINGS = {".gz": "gzip", ".bz2": "bz2", ".zst": "zstd", ".xz": "xz", ".zip": "zip"}
"""Endings of names, and how such files are packed."""

# How files begin that are packed; a name may lack its ending.
_BEGINNINGS = (
    (rb"\x1f\x8b", "gzip"),
    (rb"BZh[1-9]1AY&SY", "bz2"),
    (rb"\x28\xb5\x2f\xfd", "zstd"),
    (rb"\xfd7zXZ\x00", "xz"),
    (rb"PK[\x03\x05]", "zip"),
)
# A file that becomes larger than this, and so many times as large as it is packed, was made to.
_LARGE, _MANY = 2**30, 250


def packing_in(beginning: bytes) -> str | None:
    """Return how a file is packed that begins so, None if it is not."""
    found = (name for pattern, name in _BEGINNINGS if re.match(pattern, beginning))
    return next(found, None)


def packing_of(path: Path) -> str | None:
    """Return how a file is packed, None if it is not: by how it begins, or else by its name."""
    with path.open("rb") as file:
        found = packing_in(file.read(16))
    return found or PACKINGS.get(path.suffix.lower())


@contextmanager
def unpacked(path: Path, packing: str | None) -> Iterator[Any]:
    """Give the bytes of a file, unpacked while they are read."""
    pa = needed("pyarrow", str(path))
    if packing is None:
        with pa.OSFile(str(path)) as file:
            yield file
    elif packing in ("gzip", "bz2", "zstd"):
        with pa.OSFile(str(path)) as file, pa.CompressedInputStream(file, packing) as stream:
            yield stream
    elif packing == "xz":
        with lzma.open(path) as file:
            yield _Sound(file, packing)
    else:
        with _zipped(path) as file:
            yield _Sound(file, packing)


@contextmanager
def _zipped(path: Path) -> Iterator[Any]:
    """Give the only file in an archive."""
    with _damage_told("zip"):
        archive = ZipFile(path)
    with archive:
        only = _only(archive)
        try:
            with _damage_told("zip"):
                file = archive.open(only)
        except (RuntimeError, NotImplementedError) as error:
            raise OSError(
                f"{only.filename} in it is locked or packed in an unusual way; unpack it"
            ) from error
        with file:
            yield file


def _only(archive: ZipFile) -> ZipInfo:
    """Return the only file of an archive; those that macOS adds do not count."""
    files = [f for f in archive.infolist() if not f.is_dir() and not f.filename.startswith("__")]
    if len(files) != 1:
        raise OSError(f"it holds {len(files)} files instead of one; unpack it")
    only = files[0]
    if only.file_size > max(_LARGE, _MANY * only.compress_size):
        raise OSError(
            f"{only.filename} in it takes {only.compress_size:,} bytes and would become "
            f"{only.file_size:,}, as in files made to do harm; unpack it if you trust it"
        )
    return only


class _Sound(io.RawIOBase):
    """Bytes of a file that Python unpacks, damage told in a sentence."""

    def __init__(self, file: io.BufferedIOBase, packing: str) -> None:
        super().__init__()
        self._file, self._packing = file, packing

    def readable(self) -> bool:
        """Say so."""
        return True

    def read(self, size: int = -1) -> bytes:
        """Return so many bytes, fewer at the end."""
        with _damage_told(self._packing):
            return self._file.read(size)


@contextmanager
def _damage_told(packing: str) -> Iterator[None]:
    try:
        yield
    except (EOFError, BadZipFile, lzma.LZMAError, zlib.error) as error:
        raise OSError(f"it is no {packing} file, or a damaged one") from error
