"""Lower upper bound estimation: a network whose two outputs are the ends of the interval."""

import numpy as np

from elmband_experiments.paper.base import Floats
from elmband_experiments.paper.networks.network import Network, Standard, trained

STEPS = 3000
ETA = 50.0
STEP = 0.03
_FIRST_HEAT, _LAST_HEAT = 0.05, 1e-4


def lube(X: Floats, y: Floats, X_new: Floats, level: float, seed: int) -> Floats:
    """Anneal a network with two outputs on the coverage-width cost of training rows.

    It starts from a trained network for the mean, with the ends so far apart that the share
    `level` of training rows lies between. Each step moves a tenth of the weights at random; a
    worse network is taken with probability exp(−increase / heat).
    """
    rows, rng = Standard.of(X, y, X_new), np.random.default_rng(seed)
    model = trained(rows.X, rows.y, rng)
    half = float(np.quantile(np.abs(rows.y - model.mean(rows.X)), level))
    W, b, V, c = model.network.layers(model.theta)
    network = Network(X.shape[1], n_outputs=2)
    ends = np.hstack([V, V]), np.concatenate([c - half, c + half])
    theta = np.concatenate([part.ravel() for part in (W, b, *ends)])
    theta = annealed(network, theta, rows, level, rng)
    low, high = np.sort(network.outputs(theta, rows.X_new), axis=1).T
    return rows.interval(low, high)


def annealed(
    network: Network, theta: Floats, rows: Standard, level: float, rng: np.random.Generator
) -> Floats:
    """Return the best weights that were met."""
    now = best = cost(network.outputs(theta, rows.X), rows.y, level)
    kept = theta
    for heat in np.geomspace(_FIRST_HEAT, _LAST_HEAT, STEPS):
        moved = theta + STEP * rng.normal(size=theta.size) * (rng.random(theta.size) < 0.1)
        then = cost(network.outputs(moved, rows.X), rows.y, level)
        if then < now or rng.random() < np.exp((now - then) / heat):
            theta, now = moved, then
        if now < best:
            kept, best = theta, now
    return kept


def cost(ends: Floats, y: Floats, level: float) -> float:
    """Return NMPIW · (1 + e^(−η (PICP − level))), or NMPIW alone once enough is covered."""
    low, high = np.sort(ends, axis=1).T
    covered = float(np.mean((low <= y) & (y <= high)))
    width = float(np.mean(high - low) / (y.max() - y.min()))
    return width * (1 + (np.exp(-ETA * (covered - level)) if covered < level else 0.0))
