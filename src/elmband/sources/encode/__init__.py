"""Tables as people have them: numbers, text, dates and missing values to numbers."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from elmband.sources.encode.encoder import TableEncoder
    from elmband.sources.encode.kinds import ENCODER_KINDS
    from elmband.sources.encode.state import EncoderState, LevelsColumn, NumberColumn, TimeColumn

__all__ = [
    "ENCODER_KINDS",
    "EncoderState",
    "LevelsColumn",
    "NumberColumn",
    "TableEncoder",
    "TimeColumn",
]

_PLACES = {"ENCODER_KINDS": "kinds", "TableEncoder": "encoder"}


# Type checkers would take any name for one of ours.
if not TYPE_CHECKING:

    def __getattr__(name: str) -> Any:
        """Import a name when it is asked for: files here are of use without scikit-learn."""
        if name not in __all__:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}", name=name)
        found = getattr(import_module(f"{__name__}.{_PLACES.get(name, 'state')}"), name)
        globals()[name] = found
        return found


def __dir__() -> list[str]:
    return __all__
