"""Data sets in HDF5 files."""

from collections.abc import Collection, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from elmband.ground.arrays import Array
from elmband.sources.stream.arrays import ArraySource, ArraysPart
from elmband.sources.stream.errors import needed, reading
from elmband.sources.stream.fields import Field, StoredField
from elmband.sources.stream.hdf5_own import foreign

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
