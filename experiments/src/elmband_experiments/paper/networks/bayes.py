"""The Bayesian method: the evidence decides on noise and decay, weights have a posterior."""

import numpy as np
from scipy.special import ndtri

from elmband_experiments.paper.base import Floats
from elmband_experiments.paper.networks.network import Network, Standard, squared

ROUNDS = 6


def bayesian(X: Floats, y: Floats, X_new: Floats, level: float, seed: int) -> Floats:
    """Return f ± z · sqrt(1/β + g A⁻¹ gᵀ), with A = αI + βJᵀJ.

    MacKay's rounds: train with decay α/β, count the weights that the data decide on,
    k = Σ βλ/(βλ + α) over the eigenvalues λ of JᵀJ, then α = k/‖θ‖² and β = (n − k)/Σ r².
    """
    rows = Standard.of(X, y, X_new)
    network = Network(X.shape[1])
    theta = network.start(np.random.default_rng(seed))
    alpha, beta = 1.0, 4.0
    for _ in range(ROUNDS):
        theta = network.train(rows.X, squared(rows.y), alpha / beta, theta)
        J = network.jacobian(theta, rows.X)
        values, vectors = np.linalg.eigh(J.T @ J)
        values = np.maximum(values, 0.0)
        decided = float(np.sum(beta * values / (beta * values + alpha)))
        r = rows.y - network.outputs(theta, rows.X)[:, 0]
        alpha = decided / float(theta @ theta)
        beta = max(len(y) - decided, 1.0) / float(r @ r)
    g = network.jacobian(theta, rows.X_new) @ vectors
    variance = 1 / beta + np.sum(g**2 / (alpha + beta * values), axis=1)
    mean = network.outputs(theta, rows.X_new)[:, 0]
    return rows.around(mean, ndtri((1 + level) / 2) * np.sqrt(variance))
