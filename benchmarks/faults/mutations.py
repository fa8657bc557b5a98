"""Model files and checkpoints that are changed: header, arrays or bytes, most signed anew."""

import copy
import json
import random
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from safetensors.numpy import load, save

from elmband.sums.packing import digest

Tree = Any
Arrays = dict[str, np.ndarray[Any, Any]]

_DEEP: Tree = 1
for _ in range(80):
    _DEEP = {"list": [_DEEP]}

ODD_VALUES: list[Tree] = [
    *(None, True, False, 0, 1, -1, 2**31, 10**12, 2**63, 10**30, 10**400, 1.5, -0.0, 1e308),
    *("", "predict", "linear", "rbf_l1", "\0", "\x1b[2J", "é" * 50, "float64", "balanced"),
    *({"float": text} for text in ("nan", "inf", "-inf", "-0x1p-1074", "0x1p1023", "0x1p5000", "")),
    *({name: []} for name in ("tuple", "list", "dict", "frozenset")),
    *({name: [0, "x", None]} for name in ("tuple", "list", "frozenset")),
    *({"dict": pairs} for pairs in ([[1, 2]], [["a", None]], [[[], 1]], [[1]], [[1, 2, 3]], [1])),
    *({"same": number} for number in (-1, 0, 1, 3, 10**9, "0", True)),
    *({"dtype": name} for name in ("float32", "float64", "int8", "object", None)),
    *({"array": name, "shape": [1]} for name in ("a0", "a1", "b", "")),
    *({"array": "a0", "shape": shape} for shape in ([], [0], [-1], [2**40], [1.0], "1", [[1]])),
    *({"letters": "a0", "n": n} for n in (0, 1, -1, 10**12, "1")),
    *({"words": name} for name in ("a0", "b")),
    *({"kind": name, "parts": {}} for name in ("Identity", "Log", "Scaling", "Popen", "")),
    *([], {}, [[]], [1, 2], {"x": 1}, {"kind": "Scaling"}, {"kind": [], "parts": []}, _DEEP),
]
ODD_NAMES = ["predict", "__class__", "__dict__", "_doc_link_template", "coef_", "kind", "same", ""]
DTYPES = [np.float32, np.float64, np.float16, np.int8, np.uint8, np.int64, np.uint32, np.bool_]
ODD_NUMBERS = [np.nan, np.inf, -np.inf, 1e308, -1e308, 1e38, 5e-324, -1.0, 0.0, 127.0]
_OF_ARRAYS = ("numbers", "arrays", "safetensors")
_ABSURD = (1e308, -1e308, 1e38, 5e-324)


@dataclass(frozen=True)
class Original:
    """A file as it was written, as its header and arrays.

    The `state` is the part of the header that tells of the arrays: of a model, or of sums.
    """

    name: str
    content: bytes
    header: dict[str, Any]
    arrays: Arrays
    state: str = "state"

    @classmethod
    def read(cls, path: Path, state: str = "state") -> "Original":
        """Read a model file, or a pass of a checkpoint, whose state are its "sums"."""
        content = path.read_bytes()
        length = int.from_bytes(content[:8], "little")
        metadata = json.loads(content[8 : 8 + length])["__metadata__"]
        header = json.loads(metadata["elmband"])
        return cls(path.stem, content, header, dict(load(content)), state)

    def signed(self, header: Tree, arrays: Arrays) -> bytes:
        """Return a file whose checksum is right, whatever is in it."""
        if isinstance(header, dict):
            header.pop("digest", None)
            header["digest"] = self.seal(header, arrays)
        return bytes(save(arrays, {"elmband": json.dumps(header)}))

    def seal(self, header: Tree, arrays: Arrays) -> str:
        """Return the checksum; that of a checkpoint does not depend on the order of keys."""
        return digest(arrays, json.dumps(header, sort_keys=self.state == "sums"))


@dataclass(frozen=True)
class Mutant:
    """A changed file, and whether its checksum was made to fit.

    Numbers that are finite but `absurd` may give answers that are not.
    """

    kind: str
    content: bytes
    signed: bool
    absurd: bool = False


def mutant(original: Original, seed: str) -> Mutant:
    """Return a file with a few changes, the same for the same seed."""
    chance = random.Random(seed)  # noqa: S311 - to be repeated, no secret
    kind = chance.choices(list(KINDS), [weight for weight, _ in KINDS.values()])[0]
    if not original.arrays and kind in _OF_ARRAYS:
        kind = "state"
    return KINDS[kind][1](original, chance)


def _in_state(original: Original, chance: random.Random) -> Mutant:
    """Change values, types and keys of the tree of the state."""
    header = copy.deepcopy(original.header)
    for _ in range(chance.choice([1, 1, 1, 2, 3])):
        change(header[original.state], chance)
    content = original.signed(header, original.arrays)
    absurd = any(text in content for text in (b"0x1p1023", b"-0x1p-1074"))
    return Mutant("state", content, signed=True, absurd=absurd)


def _in_header(original: Original, chance: random.Random) -> Mutant:
    """Change anything in the header, format and kind of model included."""
    header = copy.deepcopy(original.header)
    change(header, chance, list(_places(header, 1)))
    return Mutant("header", original.signed(header, original.arrays), signed=True)


def _in_numbers(original: Original, chance: random.Random) -> Mutant:
    """Change numbers of arrays to odd ones, the shapes being as before."""
    arrays, absurd = dict(original.arrays), False
    for _ in range(chance.choice([1, 1, 2])):
        name, number = chance.choice(list(arrays)), chance.choice(ODD_NUMBERS)
        flat, absurd = arrays[name].copy().reshape(-1), absurd or number in _ABSURD
        with np.errstate(all="ignore"):
            odd = np.array(number).astype(flat.dtype)
        places = [chance.randrange(flat.size) for _ in range(3)] if flat.size else []
        flat[slice(None) if chance.random() < 0.3 else places] = odd
        arrays[name] = flat.reshape(arrays[name].shape)
    header = copy.deepcopy(original.header)
    return Mutant("numbers", original.signed(header, arrays), signed=True, absurd=absurd)


def _in_arrays(original: Original, chance: random.Random) -> Mutant:
    """Change shapes and types of arrays, in the tree as well or there only."""
    arrays, header = dict(original.arrays), copy.deepcopy(original.header)
    name = chance.choice(list(arrays))
    arrays[name] = _other_array(arrays[name], chance)
    if chance.random() < 0.7:
        for tree, key in list(_places(header[original.state])):
            if key == "array" and tree[key] == name:
                tree["shape"] = list(arrays[name].shape)
    return Mutant("arrays", original.signed(header, arrays), signed=True)


def _other_array(array: np.ndarray[Any, Any], chance: random.Random) -> np.ndarray[Any, Any]:
    flat, whole = array.reshape(-1), np.nan_to_num(array).clip(-100, 100)
    others = [array[:0], flat[:1], flat, np.concatenate([flat, flat]), array[None], array.T]
    others += [whole.astype(dtype) for dtype in DTYPES]
    others += [np.zeros((0, 9)), np.zeros((2, 0)), array[: len(array) // 2] if array.ndim else flat]
    return np.ascontiguousarray(chance.choice(others))


def in_bytes(original: Original, chance: random.Random) -> Mutant:
    """Change bytes, cut, repeat or insert: nothing is signed anew."""
    content = bytearray(original.content)
    for _ in range(chance.choice([1, 1, 2, 5])):
        start = chance.randrange(max(len(content), 1))
        stop = start + chance.choice([1, 1, 4, 40, 400])
        kind = chance.randrange(4)
        if kind == 0 and content:
            content[min(start, len(content) - 1)] ^= 1 << chance.randrange(8)
        elif kind == 1:
            content[start:stop] = chance.randbytes(stop - start)
        elif kind == 2:
            del content[start:stop]
        else:
            content[start:start] = content[start:stop]
    return Mutant("bytes", bytes(content), signed=False)


def _in_safetensors(original: Original, chance: random.Random) -> Mutant:
    """Change what safetensors says of its arrays: types, shapes, places."""
    length = int.from_bytes(original.content[:8], "little")
    outer = json.loads(original.content[8 : 8 + length])
    name = chance.choice([name for name in outer if name != "__metadata__"])
    tensor = outer[name]
    key = chance.choice(list(tensor))
    odd: dict[str, list[Any]] = {
        "dtype": ["F32", "F64", "F16", "BF16", "I8", "U64", "BOOL", "F8_E4M3", "X", 1, None],
        "shape": [[], [0], [-1], [2**32, 2**32], [2**63], [1.5], ["1"], None, [1] * 70],
        "data_offsets": [[0, 0], [0, 2**63], [-8, 0], [8, 0], [0], None, [0, 8], [2**64, 2**65]],
    }
    tensor[key] = chance.choice(odd.get(key, [None]))
    text = json.dumps(outer).encode()
    content = len(text).to_bytes(8, "little") + text + original.content[8 + length :]
    return Mutant("safetensors", content, signed=False)


def _in_text(original: Original, chance: random.Random) -> Mutant:
    """Change the text of the header: keys twice, odd numbers, deep nests. The digest is of that."""
    header = {name: part for name, part in original.header.items() if name != "digest"}
    text = json.dumps(header)
    pieces = [
        "NaN",
        "-Infinity",
        "1e999",
        "[" * 3000,
        '{"a":' * 3000,
        "9" * 5000,
        "null",
        '"\\ud800"',
    ]
    places = [k for k, letter in enumerate(text) if letter in ":,[{"]
    place = chance.choice(places) + 1
    if chance.random() < 0.5:
        text = text[:place] + chance.choice(pieces) + text[place:].partition(",")[2]
    else:
        key = json.dumps(chance.choice(list(original.header)))
        text = f"{text[:-1]}, {key}: {json.dumps(chance.choice(ODD_VALUES))}}}"
    with suppress(ValueError, RecursionError):  # what is no JSON cannot be signed
        seal = original.seal(json.loads(text), original.arrays)
        text = f'{text[:-1]}, "digest": "{seal}"}}'
    return Mutant("text", bytes(save(original.arrays, {"elmband": text})), signed=True)


KINDS: dict[str, tuple[float, Callable[[Original, random.Random], Mutant]]] = {
    "state": (50, _in_state),
    "header": (4, _in_header),
    "numbers": (18, _in_numbers),
    "arrays": (12, _in_arrays),
    "bytes": (8, in_bytes),
    "safetensors": (4, _in_safetensors),
    "text": (4, _in_text),
}
"""Kinds of changes, each with its share in percent."""


def change(tree: Tree, chance: random.Random, places: list[tuple[Any, Any]] | None = None) -> None:
    """Replace a part by an odd value or another part, remove it, rename it or say it twice."""
    places = list(_places(tree)) if places is None else places
    if not places:
        return
    owner, key = chance.choice(places)
    kind = chance.randrange(6)
    if kind <= 1:
        owner[key] = copy.deepcopy(chance.choice(ODD_VALUES))
    elif kind == 2:
        other, at = chance.choice(places)
        owner[key] = copy.deepcopy(other[at])
    elif kind == 3 and isinstance(owner, list):
        owner.insert(key, copy.deepcopy(owner[key]))
    elif kind == 4 and isinstance(owner[key], int) and not isinstance(owner[key], bool):
        owner[key] = chance.choice([owner[key] + 1, owner[key] - 1, -owner[key], str(owner[key])])
    elif kind == 5 and isinstance(owner, dict):
        owner[chance.choice(ODD_NAMES)] = owner.pop(key)
    else:
        del owner[key]


def _places(tree: Tree, depth: int = 100) -> Iterator[tuple[Any, Any]]:
    """Yield all that can be replaced in a tree, as containers and keys."""
    for key in list(tree) if isinstance(tree, dict) else range(len(tree)):
        yield tree, key
        if depth > 1 and isinstance(tree[key], dict | list):
            yield from _places(tree[key], depth - 1)
