"""Four older kinds of interval on a network with one hidden layer: small implementations of ours.

The paper compares with numbers of others that it does not repeat. These are neither their programs
nor their settings: ten tanh neurons, standardised inputs and target, a weight decay chosen on a
part of the training rows (by the evidence in the Bayesian method), and the textbook formula of
each method. They stand for the kinds of method, not for the best that can be made of them.
"""

from collections.abc import Callable
from functools import wraps
from typing import TypeAlias

from elmband.engines.engine import limit_blas
from elmband_experiments.paper.base import Floats
from elmband_experiments.paper.networks.bayes import bayesian
from elmband_experiments.paper.networks.bootstrap import bootstrap
from elmband_experiments.paper.networks.delta import delta
from elmband_experiments.paper.networks.lube import lube
from elmband_experiments.paper.networks.network import HIDDEN

__all__ = ["METHODS", "Method"]

Method: TypeAlias = Callable[[Floats, Floats, Floats, float, int], Floats]
"""From X, y, new X, level and seed to intervals (n, 2)."""


def _calmly(method: Method) -> Method:
    """Return the method with one BLAS thread: products of ten neurons are too small for more."""

    @wraps(method)
    def run(X: Floats, y: Floats, X_new: Floats, level: float, seed: int) -> Floats:
        with limit_blas(HIDDEN):
            return method(X, y, X_new, level, seed)

    return run


METHODS: dict[str, Method] = {
    "Delta": _calmly(delta),
    "Bayesian": _calmly(bayesian),
    "Bootstrap": _calmly(bootstrap),
    "LUBE": _calmly(lube),
}
