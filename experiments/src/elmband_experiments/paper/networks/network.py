"""A network with one hidden layer, its gradient, its Jacobian, and how it is trained.

f(x) = V · tanh(Wx + b) + c, with all weights in one vector θ.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple, TypeAlias

import numpy as np
from scipy.optimize import minimize

from elmband_experiments.paper.base import Floats

HIDDEN = 10
DECAYS = (0.03, 0.3, 3.0, 30.0)
MOST_STEPS = 150

Loss: TypeAlias = Callable[[Floats], tuple[float, Floats]]
"""From outputs (n, m) to a loss and its gradient of the same shape."""


class Layers(NamedTuple):
    """The weights in their places: W (d, k), b (k,), V (k, m), c (m,)."""

    W: Floats
    b: Floats
    V: Floats
    c: Floats


@dataclass(frozen=True)
class Network:
    """The shape of a network."""

    n_inputs: int
    n_outputs: int = 1
    n_hidden: int = HIDDEN

    @property
    def size(self) -> int:
        """Number of weights."""
        return (self.n_inputs + 1 + self.n_outputs) * self.n_hidden + self.n_outputs

    def layers(self, theta: Floats) -> Layers:
        """Cut the vector of weights."""
        d, k, m = self.n_inputs, self.n_hidden, self.n_outputs
        W, b, V, c = np.split(theta, np.cumsum([d * k, k, k * m]))
        return Layers(W.reshape(d, k), b, V.reshape(k, m), c)

    def start(self, rng: np.random.Generator) -> Floats:
        """Draw weights small enough that no neuron is saturated."""
        theta = rng.normal(size=self.size)
        W, b, V, c = self.layers(theta)
        parts = (W / np.sqrt(self.n_inputs), b, V / np.sqrt(self.n_hidden), 0 * c)
        return np.concatenate([part.ravel() for part in parts])

    def outputs(self, theta: Floats, X: Floats) -> Floats:
        """Return f(x) for every row, (n, m)."""
        W, b, V, c = self.layers(theta)
        return np.asarray(np.tanh(X @ W + b) @ V + c)

    def gradient(self, theta: Floats, X: Floats, of_outputs: Loss) -> tuple[float, Floats]:
        """Return the loss and its gradient in θ, by back-propagation."""
        W, b, V, c = self.layers(theta)
        H = np.tanh(X @ W + b)
        loss, G = of_outputs(H @ V + c)
        B = (G @ V.T) * (1 - H**2)
        parts = (X.T @ B, B.sum(axis=0), H.T @ G, G.sum(axis=0))
        return loss, np.concatenate([part.ravel() for part in parts])

    def jacobian(self, theta: Floats, X: Floats) -> Floats:
        """Return ∂f/∂θ of a network with one output, (n, size)."""
        W, b, V, _ = self.layers(theta)
        H = np.tanh(X @ W + b)
        B = (1 - H**2) * V[:, 0]
        of_W = (X[:, :, None] * B[:, None, :]).reshape(len(X), -1)
        return np.hstack([of_W, B, H, np.ones((len(X), 1))])

    def train(self, X: Floats, of_outputs: Loss, decay: float, theta: Floats) -> Floats:
        """Minimise loss + ½ decay ‖θ‖² from θ on, by L-BFGS."""

        def function(point: Floats) -> tuple[float, Floats]:
            loss, slope = self.gradient(point, X, of_outputs)
            return loss + 0.5 * decay * float(point @ point), slope + decay * point

        options = {"maxiter": MOST_STEPS}
        return np.asarray(minimize(function, theta, jac=True, method="L-BFGS-B", options=options).x)


def squared(y: Floats) -> Loss:
    """Return the loss ½ Σ (f − y)²."""

    def of_outputs(F: Floats) -> tuple[float, Floats]:
        error = F - y[:, None]
        return 0.5 * float(np.sum(error**2)), error

    return of_outputs


class Standard(NamedTuple):
    """Standardised training rows and new inputs, and the way back."""

    X: Floats
    y: Floats
    X_new: Floats
    centre: float
    scale: float

    @classmethod
    def of(cls, X: Floats, y: Floats, X_new: Floats) -> "Standard":
        """Standardise by the training rows."""
        mean, std = X.mean(axis=0), X.std(axis=0)
        std = np.where(std > 0, std, 1.0)
        centre, scale = float(y.mean()), float(y.std()) or 1.0
        return cls((X - mean) / std, (y - centre) / scale, (X_new - mean) / std, centre, scale)

    def interval(self, low: Floats, high: Floats) -> Floats:
        """Return intervals in the units of y."""
        return self.centre + self.scale * np.stack([low, high], axis=-1)

    def around(self, mean: Floats, half: Floats) -> Floats:
        """Return mean ± half in the units of y."""
        return self.interval(mean - half, mean + half)


class Trained(NamedTuple):
    """A network for the mean, its weights, and the decay that was chosen for it."""

    network: Network
    theta: Floats
    decay: float

    def mean(self, X: Floats) -> Floats:
        """Predict."""
        return self.network.outputs(self.theta, X)[:, 0]


def trained(X: Floats, y: Floats, rng: np.random.Generator) -> Trained:
    """Choose the decay on a quarter of the rows, then train on all of them."""
    network = Network(X.shape[1])
    start, order = network.start(rng), rng.permutation(len(y))
    held, fit = np.split(order, [len(y) // 4])

    def error(decay: float) -> float:
        theta = network.train(X[fit], squared(y[fit]), decay, start)
        return float(np.mean((network.outputs(theta, X[held])[:, 0] - y[held]) ** 2))

    decay = min(DECAYS, key=error)
    return Trained(network, network.train(X, squared(y), decay, start), decay)
