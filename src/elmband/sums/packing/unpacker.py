"""Values put together, from what may be a hostile file."""

import json
from collections import Counter
from collections.abc import Iterable, Mapping
from math import prod
from typing import Any

import numpy as np

from elmband.sums.packing.hints import (
    NUMBERS,
    Shapes,
    check_shapes,
    fits,
    full_name,
    hints_of,
    is_text,
    name_in_files,
)
from elmband.sums.packing.packer import Arrays

# Deepest nesting of values: models need less, and a hostile file must not exhaust the stack.
_DEEPEST = 60
# A shared value is written once and referred to again. A hostile file could refer to large values
# so often that reading never ends: reading may walk over the file this many times, and a little
# more for small files.
_TIMES_MET = 50
_FEW = 100_000
# Longest other axis of an array that has an axis of length 0, and so no values.
_EMPTY_LENGTH = 2**20
_LAST_LETTER = 0x10FFFF
# Most keys of a dictionary with the same hash, as -1 and -2 have. In a hostile file all keys could
# have, and each would be compared with all before it.
_SAME_HASH = 50


class Unpacker:
    """Puts values together, of the kinds given and of no other.

    Kinds may come with the shapes of their arrays. Anything else is refused with a ValueError.
    """

    def __init__(
        self, arrays: Arrays, kinds: Iterable[type[Any]] | Mapping[type[Any], Shapes]
    ) -> None:
        self._arrays = arrays
        self._kinds = {name_in_files(kind): kind for kind in kinds}
        self._kinds |= {full_name(kind): kind for kind in kinds}
        self._shapes = kinds if isinstance(kinds, Mapping) else {}
        # Objects by the order in which they were begun, with the cost of walking through each.
        self._made: dict[int, tuple[Any, int]] = {}
        self._begun = 0
        self._written = sum(array.nbytes for array in arrays.values())
        self._walked = 0

    def value(self, tree: Any) -> Any:
        """Return the value of a tree."""
        try:
            return self._value(tree, 0)
        except (ArithmeticError, AttributeError, LookupError, TypeError, RecursionError) as error:
            raise ValueError(f"not a value: {error}") from error

    def _value(self, tree: Any, depth: int) -> Any:
        if depth > _DEEPEST:
            raise ValueError("nested too deeply")
        self._written += 1
        self._walk(1)
        value: Any
        match tree:
            case None | bool() | int() | str():
                value = tree
            case {"float": str(text)}:
                value = float.fromhex(text)
            case {"tuple": list(trees)}:
                value = tuple(self._values(trees, depth))
            case {"list": list(trees)}:
                value = self._values(trees, depth)
            case {"frozenset": list(trees)}:
                value = frozenset(_spread(self._values(trees, depth)))
            case {"dict": list(pairs)}:
                value = self._dict(pairs, depth)
            case {"same": int(number)}:
                value, length = self._made[number]
                self._walk(length)
            case _:
                value = self._object(tree, depth)
        return value

    def _dict(self, pairs: list[Any], depth: int) -> dict[Any, Any]:
        found = [self._values(pair, depth) for pair in pairs]
        _spread([key for key, _ in found])
        return dict(found)

    def _values(self, trees: list[Any], depth: int) -> list[Any]:
        return [self._value(tree, depth + 1) for tree in trees]

    def _walk(self, length: int) -> None:
        self._walked += length
        if self._walked > _TIMES_MET * self._written + _FEW:
            raise ValueError("larger than its file can be")

    def _object(self, tree: Any, depth: int) -> Any:
        number, before = self._begun, self._walked
        self._begun += 1
        made: Any
        match tree:
            case {"kind": str(name), "parts": dict(parts)}:
                made = self._kind(self._kinds[name], parts, depth)
            case {"dtype": "float32" | "float64" as name}:
                made = getattr(np, name)
            case {"array": str(name), "shape": list(shape)}:
                made = _shaped(self._array(name), shape)
            case {"letters": str(name), "n": int(n)}:
                made = _of_letters(self._array(name), n)
            case {"words": str(name)}:
                made = _of_words(self._array(name))
            case _:
                raise TypeError("neither number, text nor array")
        self._made[number] = made, self._walked - before
        return made

    def _kind(self, kind: Any, trees: dict[str, Any], depth: int) -> Any:
        hints = hints_of(kind)
        # A field of an earlier version may be gone if it was empty.
        known = {name: tree for name, tree in trees.items() if name in hints or tree is not None}
        parts = {name: self._value(tree, depth + 1) for name, tree in known.items()}
        if not all(fits(part, hints[name]) for name, part in parts.items()):
            raise TypeError("a part of another type")
        made = kind(**parts)
        check_shapes(made, self._shapes.get(kind, {}))
        return made

    def _array(self, name: str) -> np.ndarray[Any, Any]:
        array = self._arrays[name]
        self._walk(array.nbytes)
        if array.dtype.name not in NUMBERS:
            raise TypeError("an array of something else")
        return array


def _spread(keys: list[Any]) -> list[Any]:
    """Return the keys, or refuse them if too many share a hash, which makes a dictionary slow."""
    counts = Counter(map(hash, keys))
    if counts and max(counts.values()) > _SAME_HASH:
        raise ValueError("keys that collide")
    return keys


def _shaped(array: np.ndarray[Any, Any], shape: list[Any]) -> np.ndarray[Any, Any]:
    if any(type(n) is not int or n < 0 for n in shape) or prod(shape) != array.size:
        raise ValueError("a shape that does not fit")
    if prod(n for n in shape if n) > max(array.size, _EMPTY_LENGTH):
        raise ValueError("a long array without values")
    return array.reshape(shape)


def _of_letters(array: np.ndarray[Any, Any], n: int) -> np.ndarray[Any, Any]:
    """Return n words of equal length from their letters."""
    whole = 0 < n <= array.size and array.size % n == 0
    if not whole or array.dtype != np.uint32 or array.max() > _LAST_LETTER:
        raise ValueError("not letters")
    return array.reshape(-1).view(f"<U{array.size // n}")


def _of_words(array: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    words = json.loads(array.tobytes())
    if not isinstance(words, list) or not all(map(is_text, words)):
        raise ValueError("not words")
    return np.array(words, dtype=object)
