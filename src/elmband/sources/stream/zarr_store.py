"""Arrays in Zarr stores, of version 2 or 3 of the format."""

from collections.abc import Iterator
from contextlib import AbstractContextManager, nullcontext
from operator import itemgetter
from pathlib import Path
from typing import Any

from elmband.sources.stream.arrays import ArraySource, ArraysPart, matrix_part
from elmband.sources.stream.errors import needed, reading
from elmband.sources.stream.fields import Field, StoredField
from elmband.sources.stream.zarr_codecs import check_codecs

_KIND = "Zarr"


class ZarrArray(ArraySource):
    """An array in a Zarr store."""

    def __init__(self, path: Path, name: str, array: Any) -> None:
        super().__init__(array.shape, array.dtype, (path,))
        self._path, self._name = path, name

    def open(self) -> AbstractContextManager[Field]:
        """Open the array; a store has nothing to close."""
        node = _open(self._path)
        with reading(str(self._path), _KIND):
            array = node[self._name] if self._name else node
        return nullcontext(StoredField(array, str(self._path), _KIND))


def _open(path: Path) -> Any:
    zarr = needed("zarr", str(path))
    check_codecs(path)
    with reading(str(path), _KIND):
        return zarr.open(str(path), mode="r")


def zarr_part(path: Path) -> ArraysPart:
    """Return the array of a store, or the arrays of all its groups."""
    node = _open(path)
    if hasattr(node, "shape"):
        return matrix_part(str(path), ZarrArray(path, "", node))
    with reading(str(path), _KIND):
        arrays = {name: ZarrArray(path, name, array) for name, array in _arrays(node)}
    return ArraysPart(str(path), "store", arrays)


def _arrays(group: Any, prefix: str = "") -> Iterator[tuple[str, Any]]:
    # Zarr lists names as they come in, in another order every time.
    for name, array in sorted(group.arrays(), key=itemgetter(0)):
        yield prefix + name, array
    for name, inner in sorted(group.groups(), key=itemgetter(0)):
        yield from _arrays(inner, f"{prefix}{name}/")
