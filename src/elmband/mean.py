"""The first stage: standardise, draw the hidden layer, solve for the mean."""

from dataclasses import dataclass
from typing import Any, NamedTuple

from elmband import engine
from elmband._arrays import cast, epsilon, namespace
from elmband.hidden import FeatureMap, HiddenLayer, LayerSpec
from elmband.moments import Chunk, Gram
from elmband.output_layer import AlphaRule, OutputLayer, RidgeProblem
from elmband.rows import ArrayRows
from elmband.sample import RowSample, sample_rows
from elmband.scaling import Scaling, column_moments


@dataclass(frozen=True, eq=False)
class MeanModel:
    """A trained mean model, with what the second stage needs to go on from it.

    `rows` have standardised targets; `sums` is None in the dual form; `eps` is the rounding
    unit of the products.
    """

    rows: ArrayRows
    inputs: Scaling
    targets: Scaling
    hidden: HiddenLayer
    features: FeatureMap
    sums: Gram | None
    layer: OutputLayer
    eps: float


class Standardised(NamedTuple):
    """Rows with standardised targets in the dtype of products, and the scalings."""

    rows: ArrayRows
    inputs: Scaling
    targets: Scaling


def standardised(raw: ArrayRows, dtype: Any) -> Standardised:
    """Find the scalings of raw rows in one pass, and scale the targets."""
    inputs = Scaling.from_moments(engine.total(raw, lambda c: column_moments(c.X, c.s)))
    targets = Scaling.from_moments(engine.total(raw, lambda c: column_moments(c.Y, c.s)))
    rows = ArrayRows(
        X=raw.X,
        Y=cast(targets(raw.Y), dtype),
        s=None if raw.s is None else cast(raw.s, dtype),
        chunk_size=raw.chunk_size,
    )
    return Standardised(rows, inputs, targets)


def fit_mean(raw: ArrayRows, spec: LayerSpec, rule: AlphaRule, dtype: Any, seed: int) -> MeanModel:
    """Train on raw rows, with products in `dtype`."""
    rows, inputs, targets = standardised(raw, dtype)
    hidden = draw_hidden(raw, inputs, spec, seed)
    features = FeatureMap(inputs, hidden).to(raw.X, dtype)
    eps = epsilon(dtype, namespace(raw.X))
    problem = RidgeProblem(rows, features, hidden.n_neurons, eps)
    sums = None if problem.dual else problem.gram()
    layer = problem.solve_dual(rule) if sums is None else problem.solve(rule, sums)
    return MeanModel(rows, inputs, targets, hidden, features, sums, layer, eps)


def draw_hidden(raw: ArrayRows, inputs: Scaling, spec: LayerSpec, seed: int) -> HiddenLayer:
    """Draw neurons; RBF centres come from a sample of the rows."""
    n_features = raw.X.shape[1]
    if not spec.n_centres:
        return spec.draw(n_features, seed)

    def sampled(chunk: Chunk) -> RowSample:
        return sample_rows(inputs(chunk.X), spec.n_centres, seed)

    return spec.draw(n_features, seed, engine.total(raw, sampled))
