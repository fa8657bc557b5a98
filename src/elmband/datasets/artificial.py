"""An artificial regression task whose noise is known at every point.

The task has one input ``x`` in ``[-3, 3]``, a smooth projection function ``f`` and Gaussian noise
whose standard deviation depends on ``x``: small on the left, ten times larger around ``x = 1``.
Because ``f`` and the noise are known, so are the true intervals, and any estimated interval can be
laid over them.
"""

from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import ndtri

Noise: TypeAlias = Literal["heteroscedastic"] | float

DOMAIN = (-3.0, 3.0)
"""Inputs are drawn uniformly from this interval."""


@dataclass(frozen=True, eq=False)
class ArtificialData:
    """Rows of the artificial task, together with the truth behind them.

    Attributes
    ----------
    X : ndarray of shape (n_samples, 1)
        Inputs.
    y : ndarray of shape (n_samples,)
        Targets, ``mean`` plus noise.
    mean : ndarray of shape (n_samples,)
        Projection function at each row.
    std : ndarray of shape (n_samples,)
        Standard deviation of the noise at each row.
    """

    X: NDArray[np.float64]
    y: NDArray[np.float64]
    mean: NDArray[np.float64]
    std: NDArray[np.float64]

    def interval(self, confidence_level: float = 0.95) -> NDArray[np.float64]:
        """Return the true interval of each row, ``mean ± z · std``.

        Parameters
        ----------
        confidence_level : float, default=0.95
            Share of targets that fall inside, strictly between 0 and 1.

        Returns
        -------
        ndarray of shape (n_samples, 2)
            Lower and upper end.

        Examples
        --------
        >>> make_heteroscedastic(3, noise=0.0, random_state=0).interval(0.9).shape
        (3, 2)
        """
        if not 0 < confidence_level < 1:
            raise ValueError(
                f"confidence_level must lie strictly between 0 and 1, got {confidence_level}"
            )
        half = ndtri((1 + confidence_level) / 2) * self.std
        return np.stack([self.mean - half, self.mean + half], axis=-1)


def projection(x: ArrayLike) -> NDArray[np.float64]:
    """Return the noise-free target, ``f(x) = sin(1.5 x) + 0.3 x``.

    Parameters
    ----------
    x : array-like
        Inputs of any shape.

    Returns
    -------
    ndarray
        Same shape as `x`.

    Examples
    --------
    >>> projection([0.0, 2.0]).round(3)
    array([0.   , 0.741])
    """
    x = np.asarray(x, dtype=np.float64)
    return np.asarray(np.sin(1.5 * x) + 0.3 * x)


def noise_std(x: ArrayLike, noise: Noise = "heteroscedastic") -> NDArray[np.float64]:
    """Return the standard deviation of the noise.

    Heteroscedastic noise follows ``std(x) = 0.06 + 0.54 exp(-(x - 1)² / 2)``: 0.60 at ``x = 1``,
    0.06 at the left end.

    Parameters
    ----------
    x : array-like
        Inputs of any shape.
    noise : "heteroscedastic" or float, default="heteroscedastic"
        A number is the standard deviation everywhere; 0 means no noise.

    Returns
    -------
    ndarray
        Same shape as `x`.

    Examples
    --------
    >>> noise_std([-3.0, 1.0]).round(2)
    array([0.06, 0.6 ])
    >>> noise_std([-3.0, 1.0], noise=0.3)
    array([0.3, 0.3])
    """
    x = np.asarray(x, dtype=np.float64)
    if isinstance(noise, str):
        if noise == "heteroscedastic":
            return np.asarray(0.06 + 0.54 * np.exp(-0.5 * (x - 1.0) ** 2))
    elif isinstance(noise, Real) and not isinstance(noise, bool) and 0 <= noise < np.inf:
        return np.full(x.shape, noise, dtype=np.float64)
    raise ValueError(
        f'noise must be "heteroscedastic" or a standard deviation of at least 0, got {noise!r}'
    )


def make_heteroscedastic(
    n_samples: int = 500, *, noise: Noise = "heteroscedastic", random_state: Any = None
) -> ArtificialData:
    """Draw rows of the artificial task.

    Parameters
    ----------
    n_samples : int, default=500
        Number of rows, at least 1.
    noise : "heteroscedastic" or float, default="heteroscedastic"
        See :func:`noise_std`. A number gives the homoscedastic version of the task.
    random_state : int, Generator, RandomState or None, default=None
        An int gives the same rows on every call, and their beginning does not depend on
        `n_samples`: the first 30 of 500 rows are the rows of a set of 30.

    Returns
    -------
    ArtificialData
        Inputs, targets and the truth, rows in random order.

    Examples
    --------
    >>> small = make_heteroscedastic(30, random_state=0)
    >>> large = make_heteroscedastic(500, random_state=0)
    >>> bool((small.y == large.y[:30]).all())
    True
    """
    if not isinstance(n_samples, Integral) or isinstance(n_samples, bool) or n_samples < 1:
        raise ValueError(f"n_samples must be a whole number of at least 1, got {n_samples!r}")
    # One stream for the inputs and one for the noise, so that a longer set begins like a short one.
    inputs, errors = _generator(random_state).spawn(2)
    x = inputs.uniform(*DOMAIN, size=n_samples)
    mean, std = projection(x), noise_std(x, noise)
    y = mean + std * errors.standard_normal(n_samples)
    return ArtificialData(X=x[:, np.newaxis], y=y, mean=mean, std=std)


def _generator(random_state: Any) -> np.random.Generator:
    """Return a generator for any `random_state` that scikit-learn or NumPy accepts."""
    if isinstance(random_state, np.random.RandomState):
        random_state = random_state.randint(2**31)
    try:
        return np.random.default_rng(random_state)
    except (TypeError, ValueError) as error:
        raise ValueError(
            "random_state must be None, a whole number of at least 0, a Generator or a "
            f"RandomState, got {random_state!r}"
        ) from error
