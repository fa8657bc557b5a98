"""What can go wrong around a file, told in one sentence."""

from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from typing import Any, TypeVar

T = TypeVar("T")

_EXTRAS = {"pyarrow": "parquet", "h5py": "hdf5", "zarr": "zarr"}


def needed(module: str, label: str) -> Any:
    """Import an optional library at its first use, or say which command installs it."""
    library = module.partition(".")[0]
    try:
        return import_module(module)
    except ImportError as error:
        raise ImportError(
            f"{label} needs {library}, which is missing: pip install 'elmband[{_EXTRAS[library]}]'"
        ) from error


@contextmanager
def reading(label: str, kind: str) -> Iterator[None]:
    """Turn whatever a library says about a file it cannot read into a sentence."""
    try:
        yield
    except (MemoryError, ImportError):
        raise
    except Exception as error:
        said = (str(error) or type(error).__name__).splitlines()[0].strip().rstrip(".")
        raise ValueError(
            f"{label} cannot be read as {kind}, it may be damaged or incomplete: {said}."
        ) from error


def guarded(items: Iterator[T], label: str, kind: str) -> Iterator[T]:
    """Yield what a library reads from a file, its errors as sentences."""
    while True:
        with reading(label, kind):
            item = next(items, None)
        if item is None:
            return
        yield item
