"""Files as somebody might forge them: any header and any arrays, with a checksum that is right."""

import copy
import json
import random

import numpy as np
from safetensors.numpy import load, save

from elmband.sums.packing import digest


def parts(path):
    """Return header and arrays of a model file."""
    content = path.read_bytes()
    length = int.from_bytes(content[:8], "little")
    metadata = json.loads(content[8 : 8 + length])["__metadata__"]
    return json.loads(metadata["elmband"]), dict(load(content))


def forge(path, header, arrays):
    """Write a file whose checksum is right, whatever is in it."""
    if isinstance(header, dict):
        header.pop("digest", None)
        header["digest"] = digest(arrays, json.dumps(header))
    path.write_bytes(save(arrays, {"elmband": json.dumps(header)}))
    return path


ODD_VALUES = [
    *(None, True, False, 0, 1, -1, 10**12, 2**63, 10**30, 1.5, "", "predict", "linear", "rbf_l1"),
    *({"float": text} for text in ("nan", "inf", "-0x1p-1074", "0x1p5000", "x")),
    *({name: []} for name in ("tuple", "list", "dict")),
    *({"same": number} for number in (0, 3, 10**9)),
    *({"dtype": name} for name in ("float32", "float64", "int8")),
    *({"array": name, "shape": [1]} for name in ("a0", "a1", "b")),
    *({"kind": name, "parts": {}} for name in ("Identity", "Log", "Scaling", "Popen")),
    *([], {}, [[]]),
]
ODD_NAMES = ["predict", "__class__", "__dict__", "_doc_link_template", "coef_", "kind", "same", "x"]


def changed(header, arrays, seed):
    """Return a header and arrays with a few random changes."""
    chance = random.Random(seed)
    header, arrays = copy.deepcopy(header), dict(arrays)
    for _ in range(chance.choice([1, 1, 2, 3])):
        if chance.random() < 0.25:
            name = chance.choice(list(arrays))
            arrays[name] = np.ascontiguousarray(chance.choice(_others(arrays[name])))
        else:
            _change(header["state"], chance)
    return header, arrays


def _others(a):
    flat = a.reshape(-1)
    whole = np.nan_to_num(a).clip(-100, 100)
    return [
        *(a[:0], flat[:1], flat, np.concatenate([flat, flat]), a[None]),
        *(whole.astype(dtype) for dtype in (np.float32, np.int8, bool)),
        *(np.full_like(a, 127), np.full(a.shape, np.nan), np.zeros_like(a), np.zeros((0, 9))),
    ]


def _change(state, chance):
    places = list(_places(state))
    owner, key = chance.choice(places)
    kind = chance.randrange(4)
    if kind == 0:
        owner[key] = copy.deepcopy(chance.choice(ODD_VALUES))
    elif kind == 1:
        other, at = chance.choice(places)
        owner[key] = copy.deepcopy(other[at])
    elif kind == 2 or isinstance(owner, list):
        del owner[key]
    else:
        owner[chance.choice(ODD_NAMES)] = owner.pop(key)


def _places(tree):
    """Yield all that can be replaced in a tree, as containers and keys."""
    keys = list(tree) if isinstance(tree, dict) else range(len(tree))
    for key in keys:
        yield tree, key
        if isinstance(tree[key], dict | list):
            yield from _places(tree[key])
