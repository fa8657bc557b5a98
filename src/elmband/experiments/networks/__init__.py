"""Four older kinds of interval on a network with one hidden layer: small implementations of ours.

The paper compares with numbers of others that it does not repeat. These are neither their programs
nor their settings: ten tanh neurons, standardised inputs and target, a weight decay chosen on a
part of the training rows (by the evidence in the Bayesian method), and the textbook formula of
each method. They stand for the kinds of method, not for the best that can be made of them.
"""

from collections.abc import Callable

from elmband.experiments.base import Floats
from elmband.experiments.networks.bayes import bayesian
from elmband.experiments.networks.bootstrap import bootstrap
from elmband.experiments.networks.delta import delta
from elmband.experiments.networks.lube import lube

__all__ = ["METHODS"]

METHODS: dict[str, Callable[[Floats, Floats, Floats, float, int], Floats]] = {
    "Delta": delta,
    "Bayesian": bayesian,
    "Bootstrap": bootstrap,
    "LUBE": lube,
}
"""From X, y, new X, level and seed to intervals (n, 2)."""
