"""What people are told about what a model depends on: shares of inputs and directions, by name."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from elmband.models.fitted import Fitted, Inputs
from elmband.sources.encode import EncoderState
from elmband.uncertainty.dependence import Dependence, Dependences

Floats: TypeAlias = np.ndarray[Any, np.dtype[np.float64]]

UNKNOWN = (
    "is not known of this model: it was trained by an earlier version, or has a single layer that "
    "was trained on more rows than fit into memory or was added to; fit it again with "
    "n_neurons='auto', or on arrays."
)
"""What an attribute is that a fit has not noted."""

# Lines of a listing.
_LISTED = 20
# Log-variances that change by less than this for a step of one standard deviation in all inputs.
_FLAT = 0.1


@dataclass(frozen=True, eq=False)
class FeatureRelevance:
    """The share of every input in how the mean changes, and in how the noise changes.

    Shares are those of E[(∂f/∂x_j)²], with inputs of unit variance and f the mean, or the
    log-variance of the noise. Inputs that are correlated share what they tell together, and
    nothing is said about causes.

    Attributes
    ----------
    names : tuple of str
        Names of the inputs; x0, x1 and so on where they have none.
    mean : array of shape (n_features,)
        Shares for the mean, which sum to one, or to zero where the mean is constant.
    noise : array of shape (n_features,) or None
        Shares for the noise, None where the model has no model of its logarithm.
    noise_slope : float or None
        How much the logarithm of the variance changes with a step of one standard deviation along
        the gradient, as a root mean square. Near zero, shares for the noise say nothing.

    Examples
    --------
    >>> FeatureRelevance(("age", "size"), np.array([0.25, 0.75]), np.array([1.0, 0.0]), 0.5)
    FeatureRelevance
           mean   noise
    size  75.0%    0.0%
    age   25.0%  100.0%
    """

    names: tuple[str, ...]
    mean: Floats
    noise: Floats | None = None
    noise_slope: float | None = None

    @property
    def noise_varies(self) -> bool:
        """Whether the noise changes with the inputs by more than next to nothing."""
        return self.noise_slope is not None and self.noise_slope >= _FLAT

    def to_dict(self) -> dict[str, dict[str, float] | None]:
        """Return {"mean": {name: share}, "noise": ...}, the largest shares first."""
        return {"mean": self._ranked(self.mean), "noise": self._ranked(self.noise)}

    def top(self, count: int) -> list[int]:
        """Return the places of the inputs with the largest share in mean or noise."""
        noise = self.noise if self.noise is not None and self.noise_varies else self.mean
        best = np.argsort(-np.maximum(self.mean, noise), kind="stable")[:count]
        return [int(j) for j in best[np.argsort(-self.mean[best], kind="stable")]]

    def _ranked(self, shares: Floats | None) -> dict[str, float] | None:
        if shares is None:
            return None
        order = np.argsort(-shares, kind="stable").tolist()
        return {self.names[j]: float(shares[j]) for j in order}

    def __repr__(self) -> str:
        listed = self.top(_LISTED)
        width = max([len(self.names[j]) for j in listed], default=0)
        head = f"{'':<{width}}  {'mean':>6}" + ("" if self.noise is None else f"  {'noise':>6}")
        lines = [type(self).__name__, head]
        for j in listed:
            noise = "" if self.noise is None else f"  {self.noise[j]:6.1%}"
            lines.append(f"{self.names[j]:<{width}}  {self.mean[j]:6.1%}{noise}")
        more = len(self.names) - len(listed)
        return "\n".join([*lines, f"and {more:,} more"] if more else lines)

    def summed(self, groups: Sequence[tuple[str, Sequence[int]]]) -> "FeatureRelevance":
        """Return the shares of groups of inputs, each by its name and the places of its inputs."""

        def sums(shares: Floats) -> Floats:
            return np.array([shares[list(places)].sum() for _, places in groups])

        noise = None if self.noise is None else sums(self.noise)
        names = tuple(name for name, _ in groups)
        return FeatureRelevance(names, sums(self.mean), noise, self.noise_slope)


class Directions(NamedTuple):
    """Directions of standardised inputs as rows (k, n_features), and their shares (k,)."""

    vectors: Floats
    shares: Floats


class RelevantDirections(NamedTuple):
    """The directions in which the mean changes, and those in which the noise does.

    Rows of `mean.vectors` are the eigenvectors of E[∇f ∇fᵀ] with a share of 1 % or more, the
    largest first; `noise` is None where the model has no model of its logarithm.
    """

    mean: Directions
    noise: Directions | None
    names: tuple[str, ...]


def feature_relevance(fitted: Fitted, name: str) -> FeatureRelevance:
    """Return the shares of inputs in a model, for the attribute of this name."""
    found, names = _dependences(fitted, name), _names(fitted.inputs)
    noise = found.noise
    mean = np.zeros(len(names)) if found.mean is None else found.mean.shares
    if noise is None:
        return FeatureRelevance(names, mean)
    return FeatureRelevance(names, mean, noise.shares, noise.slope)


def column_relevance(fitted: Fitted) -> FeatureRelevance:
    """Return the shares of columns, of which an encoder may make several inputs each."""
    found, state = feature_relevance(fitted, "column_relevance_"), fitted.inputs.encoder
    return found if state is None else found.summed(by_column(state))


def relevant_directions(fitted: Fitted) -> RelevantDirections:
    """Return the directions of inputs in which mean and noise of a model change."""
    found, names = _dependences(fitted, "relevant_directions_"), _names(fitted.inputs)
    if any(not len(one.direction_shares) for one in found.both):
        raise AttributeError("relevant_directions_ is for up to 1,000 inputs; X has more.")
    noise = None if found.noise is None else _directions(found.noise, len(names))
    return RelevantDirections(_directions(found.mean, len(names)), noise, names)


def _dependences(fitted: Fitted, name: str) -> Dependences:
    if fitted.notes.dependences is None:
        raise AttributeError(f"{name} {UNKNOWN}")
    return fitted.notes.dependences


def _names(inputs: Inputs) -> tuple[str, ...]:
    return inputs.names or tuple(f"x{j}" for j in range(inputs.width))


def _directions(found: Dependence | None, n_features: int) -> Directions:
    if found is None:
        return Directions(np.empty((0, n_features)), np.empty(0))
    return Directions(found.directions, found.direction_shares)


def by_column(state: EncoderState) -> list[tuple[str, list[int]]]:
    """Return the columns of a table, each with the places of the features made of it."""
    groups, start = [], 0
    for column in state.used:
        stop = start + len(column.endings)
        groups.append((column.name, list(range(start, stop))))
        start = stop
    return groups
