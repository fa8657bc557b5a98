"""Checks of values from files: against type annotations, and the shapes of arrays."""

from collections.abc import Callable, Mapping
from functools import cache
from types import UnionType
from typing import Any, Literal, TypeAlias, Union, get_args, get_origin, get_type_hints

import numpy as np

from elmband.sums.moments import Moments

# Letters for the axes of the arrays of a kind: axes with the same letter are as long. Marks behind
# them, or alone for a number, say more: "!" finite, "+" finite and positive, "<" ascending, "^" the
# last above the first.
Shapes: TypeAlias = Mapping[str, str]
_MARKS = "!+<^"

FLOATS = ("float32", "float64")
NUMBERS = (*FLOATS, "float16", "bool", *(f"{u}int{n}" for u in ("", "u") for n in (8, 16, 32, 64)))
"""Names of the dtypes that files hold."""


def is_text(value: Any) -> bool:
    """Tell whether this is text."""
    return isinstance(value, str)


def name_in_files(kind: type[Any]) -> str:
    """Return the name of a kind in files: that of its class, or an older one that it is kept by."""
    older: Callable[[], str] | None = getattr(kind, "name_in_files", None)
    return kind.__name__ if older is None else older()


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
    # An annotation that is no type, such as a function, fits nothing from a file.
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
        # Labels may be of half precision, but linear algebra does not know it.
        return value.dtype.name in NUMBERS and value.dtype != np.float16
    dtypes = get_args(args[1])
    return not dtypes or value.dtype == dtypes[0]


def check_shapes(value: Any, shapes: Shapes) -> None:
    """Refuse arrays whose axes are not as many as there are letters, or not as long.

    Numbers that are not what the marks behind the letters say are refused too.
    """
    lengths: dict[str, int] = {}
    for name, marked in shapes.items():
        array, letters = getattr(value, name), marked.rstrip(_MARKS)
        if array is None:
            continue
        if np.ndim(array) != len(letters):
            raise ValueError(f"{name} has too many axes, or too few")
        pairs = zip(letters, np.shape(array), strict=True)
        if any(lengths.setdefault(letter, n) != n for letter, n in pairs):
            raise ValueError(f"{name} is not as long as its neighbours")
        _check_numbers(array, name, marked[len(letters) :])


def _check_numbers(array: Any, name: str, marks: str) -> None:
    if ("!" in marks or "+" in marks) and not np.isfinite(array).all():
        raise ValueError(f"{name} has numbers that are not finite")
    if "+" in marks and not np.all(array > 0):
        raise ValueError(f"{name} has numbers that are not positive")
    if "<" in marks and not (array[1:] >= array[:-1]).all():
        raise ValueError(f"{name} is not in order")
    if "^" in marks and not (len(array) > 1 and np.all(array[-1] > array[0])):
        raise ValueError(f"{name} does not rise")


def is_plain(value: Any, hint: Any) -> bool:
    """Tell whether a parameter is what its annotation says, or what Python takes for the same.

    Whole numbers may be written as floats, truth as 0 and 1, tuples as lists. One of `Any` is a
    single number, text or nothing.
    """
    origin, args = get_origin(hint), get_args(hint)
    if origin in {Union, UnionType}:
        return any(is_plain(value, one) for one in args)
    if origin is Literal:
        return isinstance(value, str) and value in args
    if origin is Mapping:
        pairs = value.items() if isinstance(value, dict) else [()]
        return all(len(pair) == 2 and all(map(is_plain, pair, args)) for pair in pairs)
    if origin is tuple:
        return isinstance(value, tuple | list) and _parts_are_plain(value, args)
    return _is_scalar(value, hint)


def _is_scalar(value: Any, hint: Any) -> bool:
    number = isinstance(value, int | float)
    if hint is bool:
        return number and value in {0, 1}
    if hint is int:
        return number and value == value // 1
    if hint is float:
        return number
    if hint is Any:
        return number or value is None or isinstance(value, str)
    return isinstance(hint, type) and isinstance(value, hint)


def _parts_are_plain(values: Any, hints: tuple[Any, ...]) -> bool:
    if hints[-1] is ...:
        return all(is_plain(value, hints[0]) for value in values)
    return len(values) == len(hints) and all(map(is_plain, values, hints))
