"""What is shown beside a single row."""

from collections.abc import Sequence

import numpy as np

from elmband.report.axes import MISSING
from elmband.report.bins import FeatureBins

# Features shown beside a row: those that matter most.
N_SHOWN = 3


def beside(features: FeatureBins, x: Sequence[float]) -> list[str | float]:
    """Return the values of the first features for a row x, as people know them."""
    row = np.array([x])
    values = [axis.groups(row)[0].item() for axis in features.axes[:N_SHOWN]]
    return [MISSING if value != value else value for value in values]  # noqa: PLR0124
