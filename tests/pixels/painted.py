"""Photos and masks on disk, and the rows they stand for by loops that nobody can get wrong."""

import numpy as np
from PIL import Image


def paint(folder, name, *, size=(20, 24), white=0.4, seed=None):
    """Write a noise image and a noise mask, and return both as arrays."""
    rng = np.random.default_rng(sum(map(ord, name)) if seed is None else seed)
    image = rng.integers(0, 256, (*size, 3), dtype=np.uint8)
    mask = rng.random(size) < white
    for kind in ("images", "masks"):
        (folder / kind).mkdir(exist_ok=True)
    Image.fromarray(image).save(folder / "images" / f"{name}.png")
    Image.fromarray(mask).save(folder / "masks" / f"{name}.png")
    return image, mask


def all_rows(image, mask, window, number=0):
    """Return the rows of all pixels with a whole window, one by one."""
    rows, margin = [], window // 2
    h, w = mask.shape
    for i in range(margin, h - margin):
        for j in range(margin, w - margin):
            colours = [
                image[i + di, j + dj, c]
                for di in range(-margin, margin + 1)
                for dj in range(-margin, margin + 1)
                for c in range(3)
            ]
            rows.append([*colours, number, 1 if mask[i, j] else -1])
    return np.array(rows, dtype=np.float32)


def in_order(rows):
    """Sort rows, to compare them as sets in which a row may be there twice."""
    return rows[np.lexsort(rows.T)]
