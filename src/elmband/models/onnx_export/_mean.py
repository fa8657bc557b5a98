"""The mean of standardised targets, and its standard deviation where members know theirs."""

import numpy as np

from elmband.ground.arrays import to_numpy
from elmband.layers.member import Member
from elmband.models.fitted import Fitted
from elmband.models.onnx_export._graph import DOUBLE, Tensor, joined
from elmband.models.onnx_export._hidden import hidden_outputs
from elmband.models.onnx_export._local import local_mean, local_variance
from elmband.models.onnx_export._quadratic import packed_form, quadratic
from elmband.stacks.mean_stack import MeanStack


def mean_of(X: Tensor, fitted: Fitted) -> Tensor:
    """Return the mean, (n, m)."""
    if fitted.stack is not None:
        return _stack_mean(X, fitted.stack)
    assert fitted.layer is not None
    coef = to_numpy(fitted.layer.coef)
    columns = coef[:, None] if coef.ndim == 1 else coef
    return hidden_outputs(X, fitted.layer.features).apply("Gemm", columns)


def _centred(X: Tensor, member: Member) -> Tensor:
    H: Tensor = hidden_outputs(X, member.features) - member.centre
    return H


def _stack_mean(X: Tensor, stack: MeanStack) -> Tensor:
    """Return the weighted sum of what members predict."""
    total: Tensor | None = None
    for member, weights in zip(stack.members, to_numpy(stack.weights), strict=True):
        mean = _centred(X, member).apply("Gemm", member.coef, member.intercept)
        part = mean.to(DOUBLE) * weights[None, :]
        total = part if total is None else total + part
    assert total is not None
    return total if stack.local is None else total + local_mean(X, stack.local)


def mean_variance(X: Tensor, stack: MeanStack) -> Tensor:
    """Return the variance of the mean, (n, m): that of members, and of local layers."""
    std = _mean_deviation(X, stack)
    variance = std * std
    return variance if stack.local is None else variance + local_variance(X, stack.local)


def _mean_deviation(X: Tensor, stack: MeanStack) -> Tensor:
    """Return the weighted sum of the standard deviations of members, (n, m)."""
    weights = to_numpy(stack.weights)
    columns = []
    for j in range(weights.shape[1]):
        total: Tensor | None = None
        for k in np.flatnonzero(weights[:, j]):
            part = _member_variance(X, stack, int(k), j).apply("Sqrt").to(DOUBLE) * weights[k, j]
            total = part if total is None else total + part
        assert total is not None
        columns.append(total)
    return joined(columns)


def _member_variance(X: Tensor, stack: MeanStack, k: int, j: int) -> Tensor:
    """Return h Σ hᵀ of a member and an output, (n, 1)."""
    H = _centred(X, stack.members[k])
    if stack.packed:
        return packed_form(H, stack.packed[k], j)
    return quadratic(H, stack.covariances[k][j, ...], intercept=True)
