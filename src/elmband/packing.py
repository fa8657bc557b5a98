"""Values taken apart into arrays and a tree of plain text, and put together again.

Only kinds that the reader names are ever made, from their own fields: nothing in a file can name
code to be run. Objects and arrays that are met several times are stored once.
"""

from collections.abc import Iterable
from dataclasses import fields, is_dataclass
from hashlib import sha256
from typing import Any

import numpy as np

from elmband._arrays import to_numpy

Arrays = dict[str, np.ndarray[Any, Any]]

# No model is nested deeper than this, and a hostile file shall not be either.
_DEEPEST = 60
_DTYPES = ("float32", "float64")


class UnknownKindError(ValueError):
    """A value that cannot be taken apart."""


class Packer:
    """Takes values apart; `arrays` gathers the arrays by name.

    Arrays of other libraries become NumPy's if `foreign` ones are welcome.
    """

    def __init__(self, *, foreign: bool = False) -> None:
        self._foreign = foreign
        self.arrays: Arrays = {}
        self._names: dict[tuple[int, int, str], str] = {}
        self._seen: dict[int, int] = {}
        # What was met is held, so that its identity is not given to anything else.
        self._held: list[Any] = []

    def tree(self, value: Any) -> Any:
        """Return what is left of a value once its arrays are put aside."""
        if isinstance(value, np.generic):
            value = value.item()
        if value is None or isinstance(value, bool | int | str):
            return value
        if isinstance(value, float):
            # JSON's own decimal form loses nothing, but does not know infinity.
            return {"float": value.hex()}
        if isinstance(value, dict):
            return {"dict": [[self.tree(k), self.tree(v)] for k, v in value.items()]}
        if isinstance(value, list) or type(value) is tuple:
            return {type(value).__name__: [self.tree(part) for part in value]}
        return self._object(value)

    def _object(self, value: Any) -> Any:
        if id(value) in self._seen:
            return {"same": self._seen[id(value)]}
        self._held.append(value)
        self._seen[id(value)] = len(self._seen)
        names = _field_names(value)
        if names is not None:
            parts = {name: self.tree(getattr(value, name)) for name in names}
            return {"kind": type(value).__name__, "parts": parts}
        if hasattr(value, "shape") and not isinstance(value, type):
            return self._array(value)
        dtype = str(value).rpartition(".")[-1].strip("'>")
        if dtype in _DTYPES:
            return {"dtype": dtype}
        raise UnknownKindError(f"a {type(value).__name__} is neither number, text nor array.")

    def _array(self, value: Any) -> Any:
        if not isinstance(value, np.ndarray) and not self._foreign:
            raise UnknownKindError(
                f"Only NumPy arrays are kept; {type(value).__name__} is not one."
            )
        array = to_numpy(value)
        if array.dtype.kind in "UOS":
            return {"text": [str(part) for part in array.tolist()], "object": array.dtype == object}
        whole = np.ascontiguousarray(array)
        if whole.dtype.kind not in "fiub":
            raise UnknownKindError(f"arrays of {array.dtype} have no place in a file.")
        key = whole.__array_interface__["data"][0], whole.nbytes, whole.dtype.str
        self._held.append(whole)
        name = self._names.get(key)
        if name is None:
            name = self._names[key] = f"a{len(self.arrays)}"
            self.arrays[name] = whole
        return {"array": name, "shape": list(array.shape)}


class Unpacker:
    """Puts values together, of the kinds given and of no other."""

    def __init__(self, arrays: Arrays, kinds: Iterable[type[Any]]) -> None:
        self._arrays = arrays
        self._kinds = {kind.__name__: kind for kind in kinds}
        self._made: dict[int, Any] = {}
        self._count = 0

    def value(self, tree: Any, depth: int = 0) -> Any:
        """Return the value of a tree.

        What is no such tree is a ValueError, KeyError, TypeError or AttributeError.
        """
        if depth > _DEEPEST:
            raise ValueError("nested too deeply")
        if not isinstance(tree, dict):
            if tree is None or isinstance(tree, bool | int | str):
                return tree
            raise TypeError("not a value")
        if "float" in tree:
            return float.fromhex(tree["float"])
        for name, kind in (("tuple", tuple), ("list", list)):
            if name in tree:
                return kind(self.value(part, depth + 1) for part in tree[name])
        if "dict" in tree:
            pairs = tree["dict"]
            return {self.value(k, depth + 1): self.value(v, depth + 1) for k, v in pairs}
        return self._made[tree["same"]] if "same" in tree else self._object(tree, depth)

    def _object(self, tree: dict[str, Any], depth: int) -> Any:
        number = self._count
        self._count += 1
        if "array" in tree:
            made: Any = self._arrays[tree["array"]].reshape(tree["shape"])
        elif "dtype" in tree:
            made = getattr(np, _DTYPES[_DTYPES.index(tree["dtype"])])
        elif "text" in tree:
            made = np.asarray(tree["text"], dtype=object if tree["object"] else str)
        else:
            kind = self._kinds[tree["kind"]]
            parts = {name: self.value(part, depth + 1) for name, part in tree["parts"].items()}
            made = kind(**parts)
        self._made[number] = made
        return made


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
