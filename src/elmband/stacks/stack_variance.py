"""How uncertain the mean of a member is: jackknife sandwich and the posterior part it lacks."""

from typing import NamedTuple

from elmband.ground.arrays import Array, add_to_diagonal, cast, double, namespace
from elmband.layers.member import EigenRows, FittedMember


class Uncertainty(NamedTuple):
    """Covariance of intercept and β for every output, (m, 1 + L, 1 + L).

    `left_out` is the variance of the mean at the judged rows as if they had been left out, (n, m).
    """

    covariance: Array
    left_out: Array


def with_ones(H: Array) -> Array:
    """Return hidden outputs with the column of the intercept before them."""
    xp = namespace(H)
    return xp.concat([xp.ones((H.shape[0], 1), dtype=H.dtype, device=H.device), H], axis=1)


def mean_uncertainty(fitted: FittedMember, noise: Array) -> Uncertainty:
    """Return how uncertain the mean of a member is, given noise variances (n, m).

    It is the jackknife sandwich P (Σ_i s_i² w_i h_iᵀh_i) P, intercept included, and the part of the
    posterior that the sandwich lacks, γ·σ²·P² with σ² the member's own noise: without it the
    variance would vanish far from the training rows. A sample of rows stands for all of them.
    """
    xp = namespace(noise)
    left = fitted.left
    own = xp.clip(left.residuals * left.left_out, min=0.0)
    outputs = range(noise.shape[1])
    pairs = [_uncertainty(fitted, j, noise[:, j], own[:, j]) for j in outputs]
    return Uncertainty(
        covariance=xp.stack([covariance for covariance, _ in pairs]),
        left_out=xp.stack([variance for _, variance in pairs], axis=1),
    )


def _uncertainty(fitted: FittedMember, j: int, w: Array, own: Array) -> tuple[Array, Array]:
    eigen, gamma, rest = fitted.eigen, fitted.member.alpha[j], fitted.left.rest[:, j]
    xp = namespace(w)
    total = xp.sum(eigen.s)
    share, variance = eigen.n / total, eigen.s @ own / total
    d = 1 / (eigen.values + gamma)
    root = cast(eigen.s * xp.sqrt(w * share), eigen.U.dtype)
    scaled = with_ones(eigen.U) * root[:, None]
    bread = xp.concat([1 / eigen.n * xp.ones_like(w[:1]), d])
    inner = double(scaled.T @ scaled) * bread[:, None] * bread[None, :]
    prior = gamma * variance * d**2
    squares = double(eigen.U) ** 2 @ prior
    variances = (_others(eigen, gamma, inner, w * share) + squares) / rest**2
    # Outside the span of the rows P is 1 / γ.
    diagonal = xp.concat([xp.zeros_like(w[:1]), prior - variance / gamma])
    inner = add_to_diagonal(inner, diagonal)
    return _turned(eigen.vectors, inner, variance / gamma), variances


def _others(eigen: EigenRows, gamma: Array, inner: Array, w: Array) -> Array:
    """Return Σ_j≠i s_j² w_j (h_i P h_jᵀ)² of every row i, the sandwich without the row itself.

    Where neurons outnumber rows, s^½ h_i P h_jᵀ s^½ = -(Q diag(g) Qᵀ)_ij off the diagonal.
    """
    xp = namespace(w)
    if eigen.row_vectors is None:
        U = with_ones(eigen.U)
        form = double(xp.sum((U @ cast(inner, U.dtype)) * U, axis=1))
        a = eigen.leverage(gamma * xp.ones_like(w[:1]))[:, 0]
        return xp.clip(form - eigen.s**2 * w * a**2, min=0.0)
    Q = eigen.row_vectors
    products = (Q * (gamma / (eigen.values + gamma))) @ Q.T
    if Q.shape[1] < Q.shape[0] - 1:
        root = xp.sqrt(eigen.s / eigen.n)
        products = add_to_diagonal(products - Q @ Q.T - root[:, None] * root[None, :], 1.0)
    diagonal = xp.linalg.diagonal(products)
    weighted = w * eigen.s
    return (products**2 @ weighted - diagonal**2 * weighted) / eigen.s


def _turned(vectors: Array, inner: Array, outside: Array) -> Array:
    """Return the matrix of the eigenbasis in the basis of neurons, the intercept first."""
    xp = namespace(vectors)
    # There may be no vectors: hidden outputs that are constant span nothing.
    beside = xp.zeros((vectors.shape[0], 1), dtype=vectors.dtype, device=vectors.device)
    above = xp.zeros_like(inner[:1, :])
    above = xp.concat([xp.ones_like(above[:, :1]), above[:, 1:]], axis=1)
    wide = xp.concat([above, xp.concat([beside, vectors], axis=1)], axis=0)
    diagonal = xp.concat([xp.zeros_like(inner[0, :1]), xp.ones_like(beside[:, 0]) * outside])
    return add_to_diagonal(wide @ inner @ wide.T, diagonal)
