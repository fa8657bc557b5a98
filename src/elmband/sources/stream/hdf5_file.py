"""Data sets in HDF5 files: those that lie in the file, by what HDF5 itself can do.

A file may name a filter that HDF5 loads as a library from a folder of plugins, or have its values
in other files, of any kind and anywhere. Such data sets are refused: a file is data, and says
neither what is run nor what else is read. A link to a data set in another HDF5 file is followed
where the link is asked for by its name.
"""

from collections.abc import Collection, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from elmband.ground.arrays import Array
from elmband.sources.stream.arrays import ArraySource, ArraysPart
from elmband.sources.stream.errors import needed, reading
from elmband.sources.stream.fields import Field, StoredField

_KIND = "HDF5"


class Hdf5Array(ArraySource):
    """A data set in an HDF5 file."""

    def __init__(self, path: Path, name: str, data: Any) -> None:
        # A link may lead to another file.
        paths = dict.fromkeys((path, Path(data.file.filename)))
        super().__init__(data.shape or (), data.dtype, tuple(paths))
        self._path, self._name = path, name

    def open(self) -> AbstractContextManager[Field]:
        """Open the file for as long as its rows are read."""
        return self._open()

    @contextmanager
    def _open(self) -> Iterator[Field]:
        h5py = needed("h5py", str(self._path))
        with reading(str(self._path), _KIND):
            file = h5py.File(self._path, "r")
        with file:
            with reading(str(self._path), _KIND):
                data = file[self._name]
                why = foreign(data)
            if why is not None:
                raise ValueError(f"{self._path}: data set {self._name!r} {why}")
            kind = PlainField if data.chunks is None else StoredField
            yield kind(data, str(self._path), _KIND)


class PlainField(Field):
    """A data set whose rows lie one after the other in the file."""

    def __init__(self, data: Any, label: str, kind: str) -> None:
        self._data, self._label, self._kind = data, label, kind

    def rows(self, first: int, stop: int) -> Array:
        """Read rows."""
        with reading(self._label, self._kind):
            return self._data[first:stop]

    def read_into(self, first: int, stop: int, out: Array) -> None:
        """Read rows to where they belong; the library converts them on the way."""
        if not out.flags.c_contiguous:
            super().read_into(first, stop, out)
            return
        with reading(self._label, self._kind):
            self._data.read_direct(out.reshape(-1, *self._data.shape[1:]), slice(first, stop))


class Hdf5Part(ArraysPart):
    """The data sets of a file; a link to one is listed only where it is asked for."""

    def __init__(self, path: Path, arrays: Mapping[str, ArraySource]) -> None:
        super().__init__(str(path), "store", arrays)
        self._path = path

    def with_links(self, names: Collection[str]) -> "Hdf5Part":
        """Return the same rows with the data sets that other names lead to."""
        unknown = sorted({name.strip("/") for name in names} - {"", *self._arrays})
        found = _linked(self._path, unknown) if unknown else {}
        if not found:
            return self
        part = Hdf5Part(self._path, {**self._arrays, **found})
        part.source = self.source
        part.layout = replace(part.layout, folder_keys=self.layout.folder_keys)
        return part


def _linked(path: Path, names: list[str]) -> dict[str, ArraySource]:
    h5py = needed("h5py", str(path))
    with reading(str(path), _KIND), h5py.File(path, "r") as file:
        nodes = {name: file.get(name) for name in names}
        return {
            name: Hdf5Array(path, name, node)
            for name, node in nodes.items()
            if isinstance(node, h5py.Dataset)
        }


def hdf5_part(path: Path) -> Hdf5Part:
    """Return the data sets of a file, those of all its groups."""
    h5py = needed("h5py", str(path))
    arrays: dict[str, ArraySource] = {}

    def visit(name: str, node: Any) -> None:
        if isinstance(node, h5py.Dataset):
            arrays[name] = Hdf5Array(path, name, node)

    with reading(str(path), _KIND), h5py.File(path, "r") as file:
        file.visititems(visit)
    return Hdf5Part(path, arrays)


# Deflate, shuffle, Fletcher-32, szip, n-bit, scale-offset; and LZF, which is part of h5py.
_FILTERS = {1, 2, 3, 4, 5, 6, 32000}
# A virtual data set of one, of one, ...: nobody goes that far.
_DEEPEST = 8


def foreign(data: Any, depth: int = 0) -> str | None:
    """Return why a data set is not read, as the end of a sentence; None if it is."""
    h5py = needed("h5py", "HDF5")
    plist = data.id.get_create_plist()
    for k in range(plist.get_nfilters()):
        number = plist.get_filter(k)[0]
        if number not in _FILTERS:
            return (
                f"is packed by filter {number}, which is not part of HDF5 and would be loaded from "
                "elsewhere; write it with gzip or lzf."
            )
    if plist.get_external_count():
        return "has its values in a file that is not HDF5; write them into the file."
    if data.dtype.hasobject and h5py.check_string_dtype(data.dtype) is None:
        return "holds objects that are neither numbers nor text; write it as one of these."
    if data.is_virtual:
        return _foreign_parts(data, depth)
    return None


def _foreign_parts(data: Any, depth: int) -> str | None:
    """Return why a data set that is made of others is not read."""
    for source in data.virtual_sources():
        if source.file_name != "." or depth > _DEEPEST:
            return "is made of data sets in other files; give these files, as a list."
        part = data.file.get(source.dset_name)
        why = None if part is None else foreign(part, depth + 1)
        if why is not None:
            return why
    return None
