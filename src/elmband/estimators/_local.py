"""What people are told about local layers: which columns have them, and what they gained."""

from typing import NamedTuple

from elmband.models.fitted import Fitted


class LocalSummary(NamedTuple):
    """Output layers of their own for every level of a column.

    `part` is the mean or the noise, `kind` what levels are (levels of text, values, quantiles,
    days, weeks or months), and `levels` how many of them have a layer. `gain` is the share by which
    the stage lowered the error of rows left out, or, of noise, their deviance.
    """

    column: str
    part: str
    kind: str
    levels: int
    gain: float


def local_summaries(fitted: Fitted) -> tuple[LocalSummary, ...]:
    """Return what local layers a model has, those of the mean first."""
    noise = () if fitted.predictive is None else fitted.predictive.noise
    parts = [("mean", None if fitted.stack is None else fitted.stack.local)]
    parts += [("noise", None if one.local is None else one.local.layers) for one in noise]
    return tuple(
        LocalSummary(stage.column, part, stage.kind, stage.n_layers, stage.gain)
        for part, layers in parts
        if layers is not None
        for stage in layers.stages
    )
