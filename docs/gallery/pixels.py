#!/usr/bin/env python
"""
Photos as tables of pixels
==========================

Photos and masks are made into a table, a model is trained on it, and a new photo predicted.

Look at the right: the intervals of grey pixels hold 0, and the model does not decide on them. They
lie along outlines, on wood that is coloured a little like skin, and on skin in the shade.
"""

import sys
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
from PIL import Image
from scipy.ndimage import gaussian_filter

from elmband import ELMIntervalRegressor, scan
from elmband.display import new_figure
from elmband.pixels import pixel_features, pixel_targets, write_pixels

SKIN, WOOD, WALL = (205, 150, 125), (185, 140, 80), (95, 115, 120)


def paint(folder: Path, name: str, seed: int) -> None:
    """Paint skin before a wall that is partly of wood, in uneven light, and its mask."""
    rng = np.random.default_rng(seed)
    fields = (gaussian_filter(rng.standard_normal((160, 160)), s) * s for s in (12, 8, 30))
    skin, planks, light = (field[..., None] for field in fields)
    colour = np.where(skin > 0.1, SKIN, np.where(planks > 0.2, WOOD, WALL)) * (1 + 0.15 * light)
    noisy = np.clip(colour + 20 * rng.standard_normal(colour.shape), 0, 255).astype(np.uint8)
    Image.fromarray(noisy).save(folder / "images" / f"{name}.png")
    Image.fromarray(skin[..., 0] > 0.1).save(folder / "masks" / f"{name}.png")


with TemporaryDirectory() as name:
    folder = Path(name)
    images, masks, table = folder / "images", folder / "masks", folder / "skin.npy"
    images.mkdir()
    masks.mkdir()
    for k in range(13):
        paint(folder, f"train_{k}" if k < 12 else "new", seed=k)
    write_pixels(images, masks, table, n_rows=20_000, balance="balanced", pattern="train_*")
    neurons = {"linear": 147, "sigmoid": 200}
    model = ELMIntervalRegressor(neurons, noise="squared", calibration="gaussian", random_state=0)
    model.fit(scan(table, target=-1, features=range(147)))
    X, truth = pixel_features(images / "new.png"), pixel_targets(masks / "new.png")

lower, upper = model.predict_interval(X.reshape(-1, 147), 0.9).T.reshape(2, *truth.shape)
decided = np.sign(lower) * (lower * upper > 0)
n, wrong = np.sum(decided != 0), np.sum(decided * truth < 0)
panels = {
    "a new photo": X[..., 72:75].astype(np.uint8),  # the middle of every window
    "its mask": truth,
    f"{n / truth.size:.0%} decided, {wrong} of these {n:,} pixels wrong": decided,
}
figure = new_figure(12, 4.4)
for ax, (title, picture) in zip(figure.subplots(1, 3), panels.items(), strict=True):
    ax.imshow(picture, cmap="gray", vmin=-1, vmax=1)
    ax.set(title=title, xticks=[], yticks=[])
figure.savefig(Path(sys.argv[1] if len(sys.argv) > 1 else ".") / "pixels.png", dpi=120)
