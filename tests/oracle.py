"""The published equations written out naively. Imports nothing from elmband.

Drawn weights come in as plain arrays; everything is float64 NumPy, whole matrices at once, and as
close to the paper's notation as Python allows.
"""

import numpy as np
from scipy.spatial.distance import cdist
from scipy.stats import norm

NORMS = {"rbf_l1": "cityblock", "rbf_l2": "euclidean", "rbf_linf": "chebyshev"}


def standardise(X, s):
    mean = np.average(X, axis=0, weights=s)
    std = np.sqrt(np.average((X - mean) ** 2, axis=0, weights=s))
    return mean, np.where(std > 0, std, 1.0)


def hidden_outputs(Z, blocks):
    """Blocks are (kind, W, b) with W (d, L) and b (L,)."""
    columns = []
    for kind, W, b in blocks:
        if kind == "laplace":
            columns.append(np.exp(-cdist(Z, W.T) / b))
        elif kind in NORMS:
            columns.append(np.exp(-(cdist(Z, W.T, NORMS[kind]) ** 2) / (2 * b**2)))
        else:
            T = np.asarray(Z) @ W + b
            function = {
                "linear": lambda t: t,
                "tanh": np.tanh,
                "sigmoid": lambda t: 1 / (1 + np.exp(-t)),
                "relu": lambda t: np.maximum(t, 0),
            }.get(kind, kind)
            columns.append(function(T))
    return np.hstack(columns)


def ridge(H, y, gamma, s=None):
    s = np.ones(len(y)) if s is None else s
    return np.linalg.solve(H.T @ (s[:, None] * H) + gamma * np.eye(H.shape[1]), H.T @ (s * y))


def weighted_jackknife(H, r, gamma):
    P = np.linalg.inv(H.T @ H + gamma * np.eye(H.shape[1]))
    S = H @ P
    H_prime = (r**2 / (1 - np.sum(S * H, axis=1)))[:, None] * H
    A = H_prime.T @ S
    return P @ A


def published(X, y, X_test, level, mean_blocks, noise_blocks, gamma, noise_gamma):
    """Train and predict as in the paper, on standardised inputs and targets."""
    x_mean, x_std = standardise(X, None)
    y_mean, y_std = standardise(y, None)
    H, H_var = (hidden_outputs((X - x_mean) / x_std, b) for b in (mean_blocks, noise_blocks))
    target = (y - y_mean) / y_std
    beta = ridge(H, target, gamma)
    r = target - H @ beta
    sigma_y = weighted_jackknife(H, r, gamma)
    beta_var = ridge(H_var, r**2, noise_gamma)
    sigma_r = weighted_jackknife(H_var, r**2 - H_var @ beta_var, noise_gamma)

    Z = (X_test - x_mean) / x_std
    h, h_var = hidden_outputs(Z, mean_blocks), hidden_outputs(Z, noise_blocks)
    noise = np.maximum(h_var @ beta_var, 0)
    mean_model = np.diag(h @ sigma_y @ h.T)
    noise_model = np.diag(h_var @ sigma_r @ h_var.T)
    half = norm.ppf((1 + level) / 2) * np.sqrt(noise + noise_model + mean_model) * y_std
    mean = h @ beta * y_std + y_mean
    return {
        "mean": mean,
        "interval": np.column_stack([mean - half, mean + half]),
        "noise": noise * y_std**2,
        "mean_model": mean_model * y_std**2,
        "noise_model": noise_model * y_std**2,
    }


def leave_one_out_residuals(H, y, gamma):
    """Refit without each row in turn."""
    rows = np.arange(len(y))
    return np.array(
        [y[i] - H[i] @ ridge(H[rows != i], y[rows != i], gamma) for i in rows],
    )


def blocks_of(layer):
    """Take the drawn weights out of a fitted hidden layer."""
    return [(block.kind, block.weights, block.bias) for block in layer.blocks]
