"""The log-variances of one output: of both tails together, and of each by itself."""

from dataclasses import dataclass
from typing import NamedTuple, Self

import numpy as np

from elmband.ground.arrays import Array, double, namespace, place, to_numpy
from elmband.layers.hidden import FeatureMap, LayerSpec
from elmband.layers.member import Judged
from elmband.stacks.local_layers import LocalNoise
from elmband.stacks.pool import Pool
from elmband.sums.moments import Chunk
from elmband.sums.scaling import Scaling
from elmband.uncertainty.noise.layers import NoiseData, chosen_spec
from elmband.uncertainty.noise.log import LogNoise, NoiseVariance


class NoiseLayer(NamedTuple):
    """The layer of noise models and their γ, each None where it is to be chosen."""

    spec: LayerSpec | None
    alpha: float | None


class Side(NamedTuple):
    """A noise model, and what it says of the judged rows, each left out."""

    model: LogNoise
    known: NoiseVariance


class NoiseModels(NamedTuple):
    """Noise models of one output, those of the tails equal to the first where it is symmetric.

    Deviations are multiplied by what `local` layers say.
    """

    both: LogNoise
    above: LogNoise
    below: LogNoise
    orientation: float
    local: LocalNoise | None = None


@dataclass(frozen=True, eq=False)
class OutputNoise:
    """What noise models of one output are fitted to: inputs beside the mean, and their layer."""

    X: Array
    orientation: float
    features: FeatureMap
    judged: Judged
    alpha: float | None

    @classmethod
    def of(cls, pool: Pool, judged: Judged, mean: Array, squares: Array, layer: NoiseLayer) -> Self:
        """Draw a layer of the inputs and of the mean (n,) that was predicted for rows left out.

        It is chosen by squared residuals (n,) unless it is given.
        """
        # The sign of the mean is fixed by its skewness, so that -y has the same noise as y.
        cubes = judged.s @ mean**3, judged.s @ abs(mean) ** 3
        lopsided = abs(float(cubes[0])) > 1e-6 * float(cubes[1])
        orientation = float(np.sign(float(cubes[0]))) if lopsided else 0.0
        X = with_mean(judged.rows.X, mean * orientation)
        # Another seed: the noise model's neurons shall not repeat those of the mean model.
        seed = pool.seed + 1_000_003
        data = NoiseData(X, _scaling(pool, X, judged.s), squares, judged, seed)
        spec = chosen_spec(data, layer.alpha) if layer.spec is None else layer.spec
        return cls(X, orientation, data.draw(spec), judged, layer.alpha)

    def both(self, squares: Array) -> Side:
        """Fit a noise model to squared residuals (n,) of all rows."""
        return Side(*LogNoise.fit(self.X, self.features, squares, self.judged, self.alpha))

    def tail(self, squares: Array, share: Array) -> Side:
        """Fit one to the rows that have a `share` (n,) in the squares, and ask it of all rows."""
        X, judged = self.X, self.judged
        xp = namespace(X)
        index = np.flatnonzero(to_numpy(share) > 0)
        if len(index) in {0, X.shape[0]}:
            return self.both(squares)
        where = place(index, X, xp.int64)
        part = Judged(
            rows=Chunk(xp.take(X, where, axis=0), judged.rows.Y, None),
            s=xp.take(judged.s * share, where, axis=0),
            labels=None if judged.labels is None else judged.labels[index],
        )
        q = xp.take(squares / xp.where(share > 0, share, 1.0), where, axis=0)
        model, known = LogNoise.fit(part.rows.X, self.features, q, part, self.alpha)
        everyone = model.predict(X)
        place_of = np.full(X.shape[0], -1)
        place_of[index] = np.arange(len(index))
        inside = place(place_of >= 0, X, xp.bool)
        taken = place(np.maximum(place_of, 0), X, xp.int64)
        log, uncertainty = (
            xp.where(inside, xp.take(mine, taken, axis=0), other)
            for mine, other in zip(known, everyone, strict=True)
        )
        return Side(model, NoiseVariance(log, uncertainty))


def with_mean(X: Array, mean: Array) -> Array:
    """Return inputs with the predicted mean as one more column: noise often follows the mean."""
    return namespace(X).concat([double(X), mean[:, None]], axis=1)


def _scaling(pool: Pool, X: Array, s: Array) -> Scaling:
    """Return the scaling of inputs and of the mean beside them."""
    xp = namespace(X)
    last = X[:, -1]
    spread = xp.sqrt(s @ last**2 / xp.sum(s))
    return Scaling(
        mean=xp.concat([double(pool.inputs.mean), xp.zeros_like(last[:1])]),
        scale=xp.concat([double(pool.inputs.scale), xp.where(spread > 0, spread, 1.0)[None]]),
    )
