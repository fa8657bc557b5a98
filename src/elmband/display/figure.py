"""What all displays have in common, and figures that pyplot does not know of."""

from typing import TYPE_CHECKING, Any, Self

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure, SubFigure


def new_figure(width: float = 6.4, height: float = 4.4) -> "Figure":
    """Return an empty figure that pyplot does not know of.

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


class Display:
    """A drawing on axes, as scikit-learn's displays are; each kind says how in `_draw`.

    Attributes
    ----------
    ax_ : matplotlib.axes.Axes
        Axes with the drawing.
    figure_ : matplotlib.figure.Figure
        Figure that holds the axes.
    """

    ax_: "Axes"
    figure_: "Figure | SubFigure"

    def plot(self, *, ax: "Axes | None" = None, legend: bool = True, **style: Any) -> Self:
        """Draw, once more if need be.

        Parameters
        ----------
        ax : matplotlib.axes.Axes or None, default=None
            Where to draw. None makes a new figure, which pyplot does not know of.
        legend : bool, default=True
            Whether to add a legend to the axes, where there is a name to show.
        **style
            Properties of curves for ``Axes.plot``, such as `color` and `linestyle`, without which
            each curve on the same axes has its own colour. A display of bands and bars takes those
            that its own documentation names.

        Returns
        -------
        Display
            Itself, with the attributes `ax_` and `figure_`.
        """
        self.ax_ = new_figure().add_subplot() if ax is None else ax
        self.figure_ = self.ax_.figure
        self._draw(legend=legend, **style)
        return self

    def _draw(self, *args: Any, **style: Any) -> None:
        raise NotImplementedError


class PredictionsDisplay(Display):
    """A display whose parameters are predictions."""

    @classmethod
    def from_predictions(cls, *values: Any, ax: "Axes | None" = None, **parameters: Any) -> Self:
        """Draw predictions made elsewhere.

        Parameters
        ----------
        *values, **parameters
            Those of the class.
        ax : matplotlib.axes.Axes or None, default=None
            As in :meth:`plot`.

        Returns
        -------
        Display
            Already drawn.
        """
        return cls(*values, **parameters).plot(ax=ax)
