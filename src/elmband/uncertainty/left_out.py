"""What a model says of training rows that it was not trained on: each was left out, exactly."""

from typing import NamedTuple, Self

from elmband.engines import engine
from elmband.ground.arrays import Array, double, namespace, to_numpy
from elmband.sums.moments import Chunk
from elmband.sums.rows import Rows
from elmband.sums.sample import sampled

# A mean explains something where it explains so much of rows left out, at least.
LEAST_R2 = 0.05
_BY_CHANCE = 5.0

# Rows that are asked at most: probabilities and thresholds are known well enough from these.
MOST_ROWS = 20_000


class LeftOut(NamedTuple):
    """Standardised targets of rows left out, and what was predicted for them, each (n, m).

    The variances are parts of that of a new target, None where there is no noise model; `s` (n,)
    are weights, None where all rows count once.
    """

    target: Array
    mean: Array
    s: Array | None
    noise: Array | None = None
    mean_model: Array | None = None
    noise_model: Array | None = None

    @property
    def error(self) -> Array:
        """Target less prediction."""
        return self.target - self.mean

    @property
    def variance(self) -> Array:
        """The variance of a new target."""
        assert self.noise is not None
        assert self.mean_model is not None
        assert self.noise_model is not None
        return self.noise + self.noise_model + self.mean_model

    def without_echo(self) -> Self:
        """Return constant means and variances for outputs of which means explain nothing.

        The mean of all other rows is a little lower for a row of a high target than for others: of
        a model that knows no more, what it says of a row left out tells the row's own target. So
        does the noise, of a row of a large error.
        """
        xp = namespace(self.mean)
        s = double(self.weights)[:, None] / xp.sum(double(self.weights))
        centre = xp.sum(s * self.target, axis=0)
        errors, all_ = (xp.sum(s * v**2, axis=0) for v in (self.error, self.target - centre))
        # Of few rows a mean explains that much by chance.
        least = max(LEAST_R2, _BY_CHANCE / int(self.target.shape[0]))
        nothing = errors > (1 - least) * all_
        parts = (
            None if part is None else xp.where(nothing, xp.sum(s * part, axis=0), part)
            for part in (self.noise, self.mean_model, self.noise_model)
        )
        return type(self)(self.target, xp.where(nothing, centre, self.mean), self.s, *parts)

    def numpy(self) -> Self:
        """Return the same in NumPy and float64, with weights."""
        found = self._replace(s=self.weights)
        return type(self)(*(None if a is None else to_numpy(double(a)) for a in found))

    @property
    def weights(self) -> Array:
        """The weights, one each by default."""
        return namespace(self.mean).ones_like(self.mean[:, 0]) if self.s is None else self.s


def some_rows(rows: Rows, seed: int) -> Chunk:
    """Return all rows where they are few, else a sample of them."""
    if rows.in_memory and len(rows) <= MOST_ROWS:
        return rows.whole()
    share = min(MOST_ROWS / len(rows), 1.0)
    return engine.total(rows, lambda chunk: sampled(chunk, share, seed), "sample").joined()
