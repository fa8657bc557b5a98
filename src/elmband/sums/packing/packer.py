"""Values taken apart."""

import json
from collections.abc import Container
from dataclasses import fields, is_dataclass
from hashlib import sha256
from typing import Any, TypeAlias

import numpy as np

from elmband.ground.arrays import to_numpy
from elmband.sums.packing.hints import FLOATS, NUMBERS, full_name, is_text, name_in_files

Arrays: TypeAlias = dict[str, np.ndarray[Any, Any]]


class UnknownKindError(ValueError):
    """A value that cannot be taken apart."""


class Packer:
    """Takes values apart; `arrays` gathers the arrays by name.

    Records are of the `kinds` given, which have different names, or of any kind. Arrays of other
    libraries become NumPy's if `foreign` ones are welcome.
    """

    def __init__(self, kinds: Container[type[Any]] | None = None, *, foreign: bool = False) -> None:
        self._kinds, self._foreign = kinds, foreign
        self.arrays: Arrays = {}
        self._names: dict[tuple[int, int, str], str] = {}
        self._seen: dict[int, int] = {}
        # Values met so far are kept alive, so that no other object gets their identity.
        self._held: list[Any] = []

    def tree(self, value: Any) -> Any:
        """Return what is left of a value once its arrays are put aside."""
        if isinstance(value, np.generic):
            value = value.item()
        if value is None or isinstance(value, bool | int | str):
            return value
        if isinstance(value, float):
            # As hexadecimal text, since JSON has no infinity.
            return {"float": value.hex()}
        if isinstance(value, dict):
            return {"dict": [[self.tree(k), self.tree(v)] for k, v in value.items()]}
        if isinstance(value, list) or type(value) is tuple:
            name = "list" if isinstance(value, list) else "tuple"
            return {name: [self.tree(part) for part in value]}
        if isinstance(value, frozenset):
            return {"frozenset": [self.tree(part) for part in sorted(value)]}
        return self._object(value)

    def _object(self, value: Any) -> Any:
        if id(value) in self._seen:
            return {"same": self._seen[id(value)]}
        self._held.append(value)
        self._seen[id(value)] = len(self._seen)
        names = _field_names(value)
        if names is not None and (self._kinds is None or type(value) in self._kinds):
            parts = {name: self.tree(getattr(value, name)) for name in names}
            name = full_name if self._kinds is None else name_in_files
            kind = name(type(value))
            return {"kind": kind, "parts": parts}
        if hasattr(value, "shape") and not isinstance(value, type | np.dtype):
            return self._array(value)
        dtype = str(value).rpartition(".")[-1].strip("'>")
        if dtype in FLOATS:
            return {"dtype": dtype}
        raise UnknownKindError(f"a {type(value).__name__} is neither number, text nor array.")

    def _array(self, value: Any) -> Any:
        if not isinstance(value, np.ndarray) and not self._foreign:
            raise UnknownKindError(
                f"Only NumPy arrays are kept; {type(value).__name__} is not one."
            )
        array = to_numpy(value)
        if array.dtype.kind == "U" and array.ndim == 1 and array.size:
            letters = np.ascontiguousarray(array, array.dtype.newbyteorder("<"))
            return {"letters": self._put(letters.view("<u4")), "n": len(array)}
        if array.dtype.kind == "O" and array.ndim == 1 and all(map(is_text, array)):
            words = json.dumps(array.tolist()).encode()
            return {"words": self._put(np.frombuffer(words, np.uint8))}
        if array.dtype.name not in NUMBERS:
            raise UnknownKindError(f"an array of {array.dtype} has no place in a file.")
        name = self._put(np.ascontiguousarray(array, array.dtype.newbyteorder("<")))
        return {"array": name, "shape": list(array.shape)}

    def _put(self, array: np.ndarray[Any, Any]) -> str:
        """Put an array aside, once for all that share its memory, and return its name."""
        key = array.__array_interface__["data"][0], array.nbytes, array.dtype.str
        name = self._names.setdefault(key, f"a{len(self.arrays)}")
        self.arrays.setdefault(name, array)
        return name


def digest(arrays: Arrays, text: str = "") -> str:
    """Return a checksum of arrays and of a text."""
    found = sha256(text.encode())
    for name in sorted(arrays):
        array = arrays[name]
        found.update(f"{name}{array.dtype.str}{array.shape}".encode())
        found.update(np.ascontiguousarray(array).tobytes())
    return found.hexdigest()


def _field_names(value: Any) -> list[str] | None:
    """Return the names of the fields of a record, or None for anything else."""
    if is_dataclass(value) and not isinstance(value, type):
        return [field.name for field in fields(value)]
    return list(value._fields) if isinstance(value, tuple) and hasattr(value, "_fields") else None
