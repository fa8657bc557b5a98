"""Texts beside points, moved to where they touch no line."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from elmband_experiments.paper.base import Floats

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.transforms import Bbox

# Places of a text, in points from what it names: near it first, above and to the right before all.
_NEAR, _LEADER = 6.0, 14.0
_PLACES = [
    (distance * across, distance * up)
    for distance in (_NEAR, 16.0, 26.0, 36.0, 48.0)
    for across, up in ((1, 1), (1, 0), (1, -1), (0, 1), (-1, 1), (-1, 0), (-1, -1), (0, -1))
]
_ROOM = 2.0  # pixels between a text and what is near it
_STEPS = 40  # points for each piece of a line, which is what a text is held against


def keep_apart(ax: Any, texts: Sequence[Any]) -> None:
    """Move annotations to the first place where they touch no line, no other text and no edge.

    A text that ends up far from its point gets a thin line to it. One that finds no place stays.
    """
    ax.figure.draw_without_rendering()
    points, marks = _drawn(ax), _marks(ax)
    legend = ax.get_legend()
    taken = [] if legend is None else [legend.get_window_extent()]
    for text in texts:
        before = text.xyann, text.get_ha(), text.get_va()
        for place in _PLACES:
            _move(text, place)
            box = text.get_window_extent().padded(_ROOM)
            if _is_free(box, points, taken, ax.bbox) and not _misleads(text, marks):
                break
        else:
            text.xyann = before[0]
            text.set(ha=before[1], va=before[2])
        taken.append(text.get_window_extent())
        if np.hypot(*text.xyann) > _LEADER:
            _lead(ax, text)


def _move(text: Any, place: tuple[float, float]) -> None:
    across, up = np.sign(place)
    text.xyann = place
    sides = {1: "left", 0: "center", -1: "right"}, {1: "bottom", 0: "center", -1: "top"}
    text.set(ha=sides[0][int(across)], va=sides[1][int(up)])


def _lead(ax: "Axes", text: Any) -> None:
    """Draw a thin line from a point to its text."""
    style = {"arrowstyle": "-", "linewidth": 0.6, "color": text.get_color(), "shrinkB": 3}
    ax.annotate(
        "", text.xy, xytext=text.xyann, textcoords="offset points", arrowprops=style, zorder=1
    )


def _misleads(text: Any, marks: Floats) -> bool:
    """Tell whether the line from a point to its text would pass another point."""
    start = text.axes.transData.transform(text.xy)
    way = np.asarray(text.xyann) * text.axes.figure.dpi / 72
    if np.hypot(*text.xyann) <= _LEADER:
        return False
    along = start + np.linspace(0, 1, _STEPS)[:, None] * way
    others = marks[np.hypot(*(marks - start).T) > _NEAR]
    gaps = np.linalg.norm(along[:, None, :] - others[None, :, :], axis=-1)
    return bool((gaps < _NEAR).any())


def _marks(ax: "Axes") -> Floats:
    """Return the marked points, in pixels."""
    marked = [line for line in ax.get_lines() if line.get_marker() not in {"", "None", None}]
    places = [line.get_transform().transform(line.get_xydata()) for line in marked]
    return np.concatenate([np.empty((0, 2)), *places])


def _drawn(ax: "Axes") -> Floats:
    """Return points along all lines, in pixels."""
    pieces = [
        line.get_transform().transform_path(line.get_path()).interpolated(_STEPS).vertices
        for line in ax.get_lines()
    ]
    return np.concatenate(pieces)


def _is_free(box: "Bbox", points: Floats, taken: "Sequence[Bbox]", frame: "Bbox") -> bool:
    low, high = box.get_points()
    touched = ((points >= low) & (points <= high)).all(axis=1).any()
    inside = frame.contains(*low) and frame.contains(*high)
    return bool(inside and not touched and not box.count_overlaps(list(taken)))
