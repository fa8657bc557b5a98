"""Which columns have local layers, chosen one after the other by errors of rows left out."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from elmband.ground.arrays import Array, double, place, to_numpy
from elmband.sources.encode import EncoderState
from elmband.stacks.ensemble import Stack
from elmband.stacks.levels import Block, one_hot_blocks
from elmband.stacks.local_layers import LocalLayers, LocalStage, SharedNeurons
from elmband.stacks.more_rows import KnownRows
from elmband.stacks.pool import Pool
from elmband.uncertainty.local_fit.columns import Candidate, LocalColumns, candidates
from elmband.uncertainty.local_fit.sample import InputLayout, LocalRows, Places, local_rows
from elmband.uncertainty.local_fit.shared import shared_neurons
from elmband.uncertainty.local_fit.stage import LocalInputs, StageFit, fit_stage

Floats: TypeAlias = np.ndarray[Any, np.dtype[np.float64]]

# Fewer rows pay nothing, and have no local layers.
LEAST_ROWS = 10_000
# Rows that columns are compared on, and shared outputs that they are compared with.
_TRIAL_ROWS, _TRIAL_WIDTH = 120_000, 120
# Candidates that are compared, and rows and shared outputs that more are screened on.
_MOST_CANDIDATES = 16
_SCREENED_WIDTH = 4
_MOST_STAGES = 4
# Rows of a level for each shared output, on average, at least.
_ROWS_PER_OUTPUT = 10
_LEAST_WIDTH = 4
# What a stage must gain: the share by which errors of rows left out fall. On few of the rows it
# shows half of that already.
_LEAST_GAIN, _LEAST_TRIAL_GAIN = 0.01, 0.005
# And in standard errors of the rows that a stack was judged on.
_ERRORS = 2.0
# A row left out may not be moved further than this allows.
_LEAST_FREE = 0.2


class LocalSettings(NamedTuple):
    """Which columns may have local layers, and how the table and its features are called."""

    columns: LocalColumns = "auto"
    table: EncoderState | None = None
    names: tuple[str, ...] | None = None


@dataclass(frozen=True, eq=False)
class LocalFit:
    """Local layers with the rows that they were fitted to, and what is left over of these.

    `fits` are what stages know of single rows, without these. Columns may have been `named`.
    """

    layers: LocalLayers
    inputs: LocalInputs
    fits: tuple[StageFit, ...]
    rows: LocalRows
    left_out: Floats
    columns: tuple[Candidate, ...]
    named: bool = False

    def first(self, count: int) -> "LocalFit":
        """Return the same with so many of the rows, by their hashes."""
        index = first_rows(self.rows, count)
        return replace(self, rows=self.rows.taken(index), left_out=self.left_out[index])

    def known(self, known: KnownRows) -> KnownRows:
        """Return what is known of rows left out once local layers are added, layer by layer."""
        X = to_numpy(double(known.judged.rows.X))
        s = to_numpy(double(known.judged.s))
        r, e, std = (to_numpy(double(a))[:, 0] for a in known[2:])
        variance = std**2
        for u, v, a in self._stages(X):
            free = np.maximum(1 - s * a, _LEAST_FREE)
            r, e, variance = r - u, (e - u) / free, variance + v / free**2
        columns = (place(a[:, None], known.errors) for a in (r, e, np.sqrt(variance)))
        return KnownRows(*known[:2], *columns)

    def _stages(self, X: Floats) -> list[tuple[Floats, Floats, Floats]]:
        """Return what each stage adds to rows, its variance, and the leverage of the rows."""
        added, variances = self.layers.contributions(X)
        stages = zip(self.layers.stages, self.fits, added, variances, strict=True)
        return [(u, v, stage_leverages(self.layers, X, one, stage)) for stage, one, u, v in stages]


def stage_leverages(layers: LocalLayers, X: Floats, fit: StageFit, stage: LocalStage) -> Floats:
    """Return the leverages of rows in the layer of their level."""
    places = stage.levels.places(X).astype(np.int32)
    z = layers.shared.outputs(layers.shared.standardised(X), stage.width)
    return fit.leverages(z, places)


def fit_local(pool: Pool, stack: Stack, settings: LocalSettings) -> LocalFit | None:
    """Fit local layers to what a stack leaves over, or None where they are not worth it."""
    if not _may_have(pool, stack, settings):
        return None
    table = settings.table
    found = candidates(pool, table, settings.names, settings.columns)
    if not found:
        return None
    X = pool.distinct.rows.X
    blocks = one_hot_blocks(X) if table is None else [Block(*ends) for ends in table.one_hot]
    shared = shared_neurons(pool, blocks)
    inputs = LocalInputs(shared, InputLayout.of(shared, blocks))
    rows = local_rows(pool, stack, shared, inputs.layout, [one.levels for one in found])
    order = choose_columns(rows, inputs, found)
    if not order:
        return None
    local = _fitted(rows, inputs, found, order)
    if local is None or not _helps(stack, local):
        return None
    return replace(local, named=isinstance(settings.columns, tuple))


def _may_have(pool: Pool, stack: Stack, settings: LocalSettings) -> bool:
    one_target = int(stack.weights.shape[1]) == 1 and pool.labels is None
    return settings.columns is not None and one_target and pool.n_distinct >= LEAST_ROWS


Score: TypeAlias = Callable[[StageFit], float]
"""What a stage gains, as a share."""


def choose_columns(
    rows: LocalRows,
    inputs: LocalInputs,
    found: Sequence[Candidate],
    *,
    target: Floats | None = None,
    score: Callable[[Floats, StageFit], float] | None = None,
    least: float = _LEAST_TRIAL_GAIN,
    after: Callable[[Floats, StageFit], Floats] | None = None,
) -> list[int]:
    """Return the places of the columns to have local layers, in the order of what they gain.

    They are compared on some of the rows. `score` tells what a stage gains on targets, and `after`
    what targets it leaves, by default those of rows left out.
    """
    index = first_rows(rows, _TRIAL_ROWS)
    trial = rows.taken(index)
    wanted = trial.target if target is None else target[index]
    left = list(range(len(found)))
    known = inputs.known_outputs(trial, min(_TRIAL_WIDTH, inputs.shared.count))

    def fit(c: int, most: int = _TRIAL_WIDTH) -> StageFit:
        width = min(stage_width(trial, found[c], inputs.shared), most)
        n_levels = found[c].levels.n_levels
        places = trial.levels[:, c]
        return fit_stage(trial, inputs, places, n_levels, wanted, width, known_outputs=known)

    if len(left) > _MOST_CANDIDATES:
        screened = [fit(c, _SCREENED_WIDTH).gain for c in left]
        left = sorted(left, key=lambda c: -screened[c])[:_MOST_CANDIDATES]
    order: list[int] = []
    while left and len(order) < _MOST_STAGES:
        fits = {c: fit(c) for c in left}
        gains = {c: one.gain if score is None else score(wanted, one) for c, one in fits.items()}
        best = max(left, key=lambda c: gains[c])
        if gains[best] < least:
            break
        order.append(best)
        wanted = fits[best].left_out if after is None else after(wanted, fits[best])
        # What gains nothing beside the best gains nothing later either, nor does the same column
        # cut in another way gain much.
        left = [c for c in left if gains[c] >= least / 2 and found[c].column != found[best].column]
    return order


def first_rows(rows: LocalRows, count: int) -> Any:
    """Return the positions of the rows with the smallest hashes."""
    if rows.n <= count:
        return np.arange(rows.n)
    return np.flatnonzero(rows.keys <= np.partition(rows.keys, count - 1)[count - 1])


def stage_width(rows: LocalRows, candidate: Candidate, shared: SharedNeurons) -> int:
    """Return how many shared outputs the layers of a column have."""
    per_level = rows.n // candidate.levels.n_levels
    width = max(per_level // _ROWS_PER_OUTPUT, _LEAST_WIDTH)
    return min(width, int(shared.basis.shape[1]))


def _fitted(
    rows: LocalRows, inputs: LocalInputs, found: Sequence[Candidate], order: Sequence[int]
) -> LocalFit | None:
    """Fit the stages to all rows; one that gains too little there is not kept."""
    stages, fits, columns, target = [], [], [], rows.target
    for c in order:
        width = stage_width(rows, found[c], inputs.shared)
        n_levels = found[c].levels.n_levels
        one = fit_stage(rows, inputs, rows.levels[:, c], n_levels, target, width)
        if one.gain < _LEAST_GAIN:
            continue
        stages.append(local_stage(found[c], one, one.gain))
        fits.append(replace(one, left_out=one.left_out[:0]))
        columns.append(found[c])
        target = one.left_out
    if not stages:
        return None
    layers = LocalLayers(inputs.shared, tuple(stages))
    kept = replace_levels(rows, found, columns)
    return LocalFit(layers, inputs, tuple(fits), kept, target, tuple(columns))


def replace_levels(
    rows: LocalRows, found: Sequence[Candidate], columns: Sequence[Candidate]
) -> LocalRows:
    """Keep the levels of these columns only."""
    places: Places = rows.levels[:, [found.index(one) for one in columns]]
    return rows._replace(levels=places)


def local_stage(candidate: Candidate, fit: StageFit, gain: float) -> LocalStage:
    """Return a stage as a model keeps it."""
    return LocalStage(
        candidate.column, candidate.kind, candidate.levels, fit.coef, fit.variance, float(gain)
    )


def _helps(stack: Stack, local: LocalFit) -> bool:
    """Tell whether rows that a stack was judged on are predicted better, each left out."""
    judged = stack.judged
    e = stack.honest
    known = local.known(KnownRows(judged, stack.index, e, e, 0 * e))
    before, after = (to_numpy(double(a))[:, 0] ** 2 for a in (e, known.errors))
    s = to_numpy(double(judged.s))
    share = s / s.sum()
    gain = (before - after) / max(float(share @ before), 1e-300)
    mean = float(share @ gain)
    error = float(np.sqrt(share**2 @ (gain - mean) ** 2))
    return mean > max(2 * _LEAST_GAIN, _ERRORS * error)


def on_device(layers: LocalLayers, like: Array) -> LocalLayers:
    """Return local layers where the other parts of a model are."""
    return layers if isinstance(like, np.ndarray) else layers.to(like)
