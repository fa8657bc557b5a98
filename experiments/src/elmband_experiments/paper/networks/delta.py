"""The Delta method: the network made linear at its weights, noise of one variance."""

import numpy as np
from scipy.special import stdtrit

from elmband_experiments.paper.base import Floats
from elmband_experiments.paper.networks.network import Standard, trained


def delta(X: Floats, y: Floats, X_new: Floats, level: float, seed: int) -> Floats:
    """Return f ± t · s · sqrt(1 + g A⁻¹ JᵀJ A⁻¹ gᵀ), with A = JᵀJ + decay · I.

    J and g are gradients of training and new rows, p = tr(A⁻¹ JᵀJ) is the number of weights that
    the data decide on, s² = Σ r² / (n − p), and t has n − p degrees of freedom.
    """
    rows = Standard.of(X, y, X_new)
    model = trained(rows.X, rows.y, np.random.default_rng(seed))
    J = model.network.jacobian(model.theta, rows.X)
    g = model.network.jacobian(model.theta, rows.X_new)
    JtJ = J.T @ J
    inverse = np.linalg.inv(JtJ + model.decay * np.eye(len(JtJ)))
    free = max(len(y) - float(np.trace(inverse @ JtJ)), 1.0)
    s2 = np.sum((rows.y - model.mean(rows.X)) ** 2) / free
    spread = np.einsum("ij,jk,ik->i", g, inverse @ JtJ @ inverse, g)
    half = stdtrit(free, (1 + level) / 2) * np.sqrt(s2 * (1 + spread))
    return rows.around(model.mean(rows.X_new), half)
