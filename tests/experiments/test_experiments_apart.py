"""Texts that keep out of the way of lines."""

from itertools import pairwise

import numpy as np
import pytest

from elmband.display import new_figure
from elmband_experiments.paper.apart import keep_apart


def panel(lines, at):
    figure = new_figure(4, 4)
    ax = figure.subplots()
    ax.set(xlim=(0, 1), ylim=(0, 1))
    for x, y in lines:
        ax.plot(x, y)
    text = ax.annotate("10 %", at, xytext=(5, 2), textcoords="offset points")
    return ax, text


def touches(ax, text):
    low, high = text.get_window_extent().get_points()
    for line in ax.get_lines():
        ends = line.get_transform().transform(line.get_xydata())
        # Many points on every piece of the line, computed apart from the code under test.
        share = np.linspace(0, 1, 500)[:, None]
        for a, b in pairwise(ends):
            along = a + share * (b - a)
            if ((along > low) & (along < high)).all(axis=1).any():
                return True
    return False


@pytest.mark.one_quick
@pytest.mark.parametrize(
    "lines",
    [
        [([0.5, 0.5], [0, 1])],
        [([0.5, 0.5], [0, 1]), ([0.55, 0.6], [0, 1])],
        [([0, 1], [0, 1]), ([0, 1], [0.1, 1.1]), ([0.5, 0.55], [0, 1])],
        [([0.45, 0.45], [0, 1]), ([0.5, 0.5], [0, 1]), ([0.55, 0.55], [0, 1])],
    ],
    ids=["one", "two", "crossing", "between"],
)
def test_a_text_is_moved_off_the_lines(lines):
    ax, text = panel(lines, (0.5, 0.6))
    keep_apart(ax, [text])
    ax.figure.canvas.draw()
    assert not touches(ax, text)
    frame = ax.bbox
    assert all(frame.contains(*corner) for corner in text.get_window_extent().get_points())


def test_a_text_far_from_its_point_has_a_line_to_it():
    lines = [([x, x], [0, 1]) for x in (0.45, 0.5, 0.55)]
    ax, text = panel(lines, (0.5, 0.6))
    keep_apart(ax, [text])
    assert np.hypot(*text.xyann) > 14
    (leader,) = (one for one in ax.texts if one is not text)
    assert leader.xy == text.xy
    assert leader.arrow_patch is not None


def test_texts_keep_apart_from_each_other():
    ax, text = panel([], (0.5, 0.5))
    ax.plot([0, 0.1], [0, 0])
    other = ax.annotate("30 %", (0.51, 0.5), xytext=(5, 2), textcoords="offset points")
    keep_apart(ax, [text, other])
    ax.figure.canvas.draw()
    assert not text.get_window_extent().overlaps(other.get_window_extent())


def test_a_text_without_a_place_stays_where_it_was():
    crowd = np.linspace(0, 1, 80)
    ax, text = panel([([x, x], [0, 1]) for x in crowd], (0.5, 0.6))
    keep_apart(ax, [text])
    assert text.xyann == (5, 2)


def test_the_line_to_a_text_passes_no_other_point():
    lines = [([x, x], [0, 1]) for x in (0.45, 0.5, 0.55)]
    ax, text = panel(lines, (0.5, 0.6))
    keep_apart(ax, [text])
    # A point halfway to where the text would go, and the same once more.
    halfway = ax.transData.transform(text.xy) + np.array(text.xyann) * ax.figure.dpi / 72 / 2
    point = ax.transData.inverted().transform(halfway)
    crowded, other = panel(lines, (0.5, 0.6))
    crowded.plot(*point[:, None], "o")
    keep_apart(crowded, [other])
    assert other.xyann != text.xyann
    start, dot = (crowded.transData.transform(xy) for xy in (other.xy, point))
    along = start + np.linspace(0, 1, 500)[:, None] * np.array(other.xyann) * ax.figure.dpi / 72
    assert np.linalg.norm(along - dot, axis=1).min() > 5
