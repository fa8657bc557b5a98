"""The second distribution, ``elmband-experiments``: found where it is installed, named where not.

It holds the paper's experiments, loaders of public data sets, and pixels of photos: nothing that a
model needs. It is loaded when somebody asks for one of these.
"""

from collections.abc import Collection
from importlib import import_module
from importlib.util import find_spec
from types import ModuleType
from typing import Any

_PACKAGE = "elmband_experiments"


def installed() -> bool:
    """Tell whether the second distribution can be imported."""
    return find_spec(_PACKAGE) is not None


def absent(wanted: str) -> str:
    """Return the sentence that says how to install it.

    Examples
    --------
    >>> absent("elmband reproduce")
    'elmband reproduce comes with elmband-experiments: pip install elmband-experiments'
    """
    return f"{wanted} comes with elmband-experiments: pip install elmband-experiments"


def module(name: str, wanted: str) -> ModuleType:
    """Import one of its modules for what is `wanted`."""
    if not installed():
        raise ImportError(absent(wanted), name=_PACKAGE)
    return import_module(f"{_PACKAGE}.{name}")


def forwarded(folder: str, name: str, names: Collection[str]) -> Any:
    """Return what ``elmband.folder.name`` stands for: `names` are in the second distribution."""
    if name not in names:
        raise AttributeError(f"module 'elmband.{folder}' has no attribute {name!r}", name=name)
    return getattr(module(folder, f"elmband.{folder}.{name}"), name)
