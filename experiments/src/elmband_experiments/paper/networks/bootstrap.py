"""The Bootstrap method: networks on rows drawn again, and one more for the noise."""

import numpy as np
from scipy.special import ndtri

from elmband_experiments.paper.base import Floats
from elmband_experiments.paper.networks.network import Loss, Network, Standard, squared, trained

NETWORKS = 10
NOISE_DECAY = 1.0
# Noise is learned on the logarithmic scale; rows that are fitted exactly must not pull it down.
_LEAST_SQUARE = 1e-4


def bootstrap(X: Floats, y: Floats, X_new: Floats, level: float, seed: int) -> Floats:
    """Return m ± z · sqrt(σ²_m + σ²): m and σ²_m are mean and variance of the networks.

    The noise σ² = e^η comes from a network that minimises ½ Σ (η + q e^(−η)) on what squared
    residuals have beyond the spread of the networks, q = max(r² − σ²_m, 0).
    """
    rows, rng = Standard.of(X, y, X_new), np.random.default_rng(seed)
    first = trained(rows.X, rows.y, rng)
    on_train, on_new = [], []
    for _ in range(NETWORKS):
        drawn = rng.integers(len(y), size=len(y))
        start = first.network.start(rng)
        theta = first.network.train(rows.X[drawn], squared(rows.y[drawn]), first.decay, start)
        on_train.append(first.network.outputs(theta, rows.X)[:, 0])
        on_new.append(first.network.outputs(theta, rows.X_new)[:, 0])
    spread = np.var(on_train, axis=0, ddof=1)
    q = np.maximum((rows.y - np.mean(on_train, axis=0)) ** 2 - spread, _LEAST_SQUARE)
    variance = np.var(on_new, axis=0, ddof=1) + noise(rows, q, rng)
    half = ndtri((1 + level) / 2) * np.sqrt(variance)
    return rows.around(np.mean(on_new, axis=0), half)


def noise(rows: Standard, q: Floats, rng: np.random.Generator) -> Floats:
    """Learn the variance of the noise, and return that of new rows."""
    network, level = Network(rows.X.shape[1]), float(np.log(q.mean()))
    theta = network.train(rows.X, _log_variance(q, level), NOISE_DECAY, network.start(rng))
    return np.exp(level + np.clip(network.outputs(theta, rows.X_new)[:, 0], -8, 8))


def _log_variance(q: Floats, level: float) -> Loss:
    """Return the loss ½ Σ (η + q e^(−η)) for outputs counted from a common level."""

    def of_outputs(F: Floats) -> tuple[float, Floats]:
        eta = level + np.clip(F, -8, 8)
        ratio = q[:, None] * np.exp(-eta)
        return 0.5 * float(np.sum(eta + ratio)), 0.5 * (1 - ratio) * (np.abs(F) < 8)

    return of_outputs
