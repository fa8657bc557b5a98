"""Figures and axes that belong to nobody."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


def new_figure(width: float = 6.4, height: float = 4.4) -> "Figure":
    """Return an empty figure that belongs to nobody.

    The figure is not registered with ``matplotlib.pyplot``: no window opens, no backend is chosen,
    and the memory is free once the last reference is gone.

    Parameters
    ----------
    width, height : float
        Size in inches.

    Returns
    -------
    matplotlib.figure.Figure
        With a layout that keeps labels apart.

    Raises
    ------
    ImportError
        When matplotlib is not installed.
    """
    try:
        from matplotlib.figure import Figure  # noqa: PLC0415 (an optional dependency)
    except ImportError as error:
        raise ImportError(
            "drawing needs matplotlib: pip install 'elmband[plot]'", name="matplotlib"
        ) from error
    return Figure(figsize=(width, height), layout="constrained")


def axes_or_new(ax: "Axes | None") -> "Axes":
    """Return the axes, or those of a new figure where there are none."""
    return new_figure().add_subplot() if ax is None else ax
