"""Whether values are what the annotations of their kinds say, and arrays of the right shapes."""

from collections.abc import Mapping
from functools import cache
from types import UnionType
from typing import Any, Literal, TypeAlias, Union, get_args, get_origin, get_type_hints

import numpy as np

from elmband.moments import Moments

# Letters for the axes of the arrays of a kind: axes with the same letter are as long.
Shapes: TypeAlias = Mapping[str, str]

FLOATS = ("float32", "float64")
NUMBERS = (*FLOATS, "float16", "bool", *(f"{u}int{n}" for u in ("", "u") for n in (8, 16, 32, 64)))
"""Names of the dtypes that files hold."""


def is_text(value: Any) -> bool:
    """Tell whether this is text."""
    return isinstance(value, str)


def full_name(kind: type[Any]) -> str:
    """Return a name that no other kind has."""
    return f"{kind.__module__}.{kind.__qualname__}"


@cache
def hints_of(kind: Any) -> dict[str, Any]:
    """Return the types of the fields of a kind."""
    return get_type_hints(kind)


def fits(value: Any, hint: Any) -> bool:
    """Tell whether a value is what an annotation says; one of `Any` is an array or a sum."""
    origin, args = get_origin(hint), get_args(hint)
    if origin in {Union, UnionType}:
        return any(fits(value, one) for one in args)
    if origin is Literal:
        return isinstance(value, str) and value in args
    if origin in {tuple, list, frozenset, dict, Mapping}:
        return isinstance(value, origin) and _contents_fit(value, args)
    if hint is Any or origin is np.ndarray:
        return _is_array(value, args)
    if hint is float:
        return type(value) in {float, int}
    # Functions are no types, and never come from files.
    same = (hint is bool) == (type(value) is bool)
    return isinstance(hint, type) and isinstance(value, hint) and same


def _contents_fit(value: Any, hints: tuple[Any, ...]) -> bool:
    if isinstance(value, Mapping):
        keys = all(fits(key, hints[0]) for key in value)
        # Parameters of anything are anything that came from a file, which is plain.
        return keys and (hints[1] is Any or all(fits(part, hints[1]) for part in value.values()))
    if isinstance(value, frozenset | list) or hints[-1] is ...:
        return all(fits(part, hints[0]) for part in value)
    return len(value) == len(hints) and all(map(fits, value, hints))


def _is_array(value: Any, args: tuple[Any, ...]) -> bool:
    """Tell whether this is an array, of the dtype that is in the arguments of its annotation."""
    if not isinstance(value, np.ndarray):
        return not args and isinstance(value, Moments)
    if not args:
        return value.dtype.name in NUMBERS
    dtypes = get_args(args[1])
    return not dtypes or value.dtype == dtypes[0]


def check_shapes(value: Any, shapes: Shapes) -> None:
    """Refuse arrays whose axes are not as many as there are letters, or not as long."""
    lengths: dict[str, int] = {}
    for name, letters in shapes.items():
        array = getattr(value, name)
        if array is None:
            continue
        if array.ndim != len(letters):
            raise ValueError(f"{name} has too many axes, or too few")
        pairs = zip(letters, array.shape, strict=True)
        if any(lengths.setdefault(letter, n) != n for letter, n in pairs):
            raise ValueError(f"{name} is not as long as its neighbours")
