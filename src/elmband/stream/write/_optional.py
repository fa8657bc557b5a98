"""Libraries that are asked for only when a format needs them."""

from importlib import import_module
from typing import Any


def needed(module: str, extra: str, purpose: str) -> Any:
    """Import a module of an extra, or say in a line which installation has it."""
    try:
        return import_module(module)
    except ImportError as error:
        library = module.partition(".")[0]
        raise ImportError(
            f"{purpose} needs {library}: pip install 'elmband[{extra}]'", name=library
        ) from error
