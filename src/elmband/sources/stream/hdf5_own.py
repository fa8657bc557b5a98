"""Which data sets of HDF5 files are read: those that lie in the file, by what HDF5 itself can do.

A file may name a filter that HDF5 loads as a library from a folder of plugins, or have its values
in other files, of any kind and anywhere. Such data sets are refused: a file is data, and says
neither what is run nor what else is read. A link to a data set in another HDF5 file is followed
where the link is asked for by its name.
"""

from typing import Any

from elmband.sources.stream.errors import needed

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
