"""How the mean changes with the inputs: gradients of layers, and the relevance that they tell."""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

from elmband.engines import engine
from elmband.ground.arrays import Array, cast, double, namespace
from elmband.layers.hidden import HiddenLayer
from elmband.layers.member import Member
from elmband.layers.neurons import Neurons
from elmband.layers.relevance import GradientSums, Relevance

# Nearer than this to its centre the tip of a neuron is flat.
_TIP = 1e-6
# Step of numerical derivatives of a user's own function, whose argument is about one.
_STEP = 1e-5


def neuron_gradients(block: Neurons, Z: Array, coef: Array) -> Array:
    """Return ∂(hβ)/∂z (n, d) at rows Z (n, d), with output weights β (L,) of these neurons."""
    if block.passes:
        return namespace(Z).zeros_like(Z) + coef
    if block.kind in {"rbf_l2", "laplace"}:
        return _radial(block, Z, block(Z), coef)
    if block.kind in {"rbf_l1", "rbf_linf"}:
        return _cornered(block, Z, block(Z), coef)
    slopes = _slopes(block, Z)
    # Weights times β rather than slopes times β: rows are many.
    return slopes @ (coef[:, None] * block.weights.T)


def _slopes(block: Neurons, Z: Array) -> Array:
    """Return the derivatives of neurons that see zW + b, (n, L)."""
    if not isinstance(block.kind, str):
        return _own_slopes(block, Z)
    H = block(Z)
    if block.kind == "tanh":
        return 1 - H * H
    if block.kind == "sigmoid":
        return H - H * H
    return namespace(H).astype(H > 0, H.dtype) if block.kind == "relu" else 0 * H + 1


def _own_slopes(block: Neurons, Z: Array) -> Array:
    """Return derivatives of a user's own function by central differences, (n, L)."""
    assert callable(block.kind)
    T = Z @ block.weights + block.bias
    above, below = block.kind(T + _STEP), block.kind(T - _STEP)
    return (cast(above, T.dtype) - cast(below, T.dtype)) / (2 * _STEP)


def _cornered(block: Neurons, Z: Array, H: Array, coef: Array) -> Array:
    """Return Σ β ∂h/∂z of L1 and L∞ distances D: ∂h/∂u = -h D / b² ∂D/∂u, one input at a time."""
    xp = namespace(Z)
    U = Z if block.metric is None else Z @ block.metric
    columns = [U[:, k, None] - block.weights[None, k, :] for k in range(int(U.shape[1]))]
    sizes = [xp.abs(gap) for gap in columns]
    D = sum(sizes[1:], sizes[0])
    if block.kind == "rbf_linf":
        D = sizes[0]
        for size in sizes[1:]:
            D = xp.maximum(D, size)
    pull = coef * H * D / block.bias**2
    if block.kind == "rbf_linf":
        columns = [xp.where(size == D, gap, 0.0) for gap, size in zip(columns, sizes, strict=True)]
    found = -xp.stack([xp.sum(pull * xp.sign(gap), axis=1) for gap in columns], axis=1)
    return found if block.metric is None else found @ block.metric.T


def _radial(block: Neurons, Z: Array, H: Array, coef: Array) -> Array:
    """Return Σ β ∂h/∂z, where ∂h/∂u = -h / b² (u - c) or -h / (b ‖u - c‖) (u - c), u = zS."""
    xp = namespace(Z)
    U = Z if block.metric is None else Z @ block.metric
    if block.kind == "laplace":
        least = float(xp.finfo(H.dtype).smallest_normal)
        distances = -block.bias * xp.log(xp.clip(H, min=least))
        pull = coef * H / (block.bias * xp.clip(distances, min=_TIP))
    else:
        pull = coef * H / block.bias**2
    found = pull @ block.weights.T - xp.sum(pull, axis=1)[:, None] * U
    return found if block.metric is None else found @ block.metric.T


def member_gradients(member: Member, X: Array, output: int) -> Array:
    """Return the gradient of the mean of a member with respect to its view of rows X, (n, d)."""
    Z = double(member.features.viewed(X))
    return layer_gradients(member.features.hidden, Z, double(member.coef)[:, output])


def layer_gradients(hidden: HiddenLayer, Z: Array, coef: Array) -> Array:
    """Return ∂(hβ)/∂z (n, d) at rows Z (n, d), with output weights β (L,) of a layer."""
    total: Array = namespace(Z).zeros_like(Z)
    start = 0
    for block in hidden.blocks:
        exact = block.to(Z, Z.dtype)
        total = total + neuron_gradients(exact, Z, coef[start : start + block.count])
        start += block.count
    return total


def _gradients_of(members: Sequence[Member], X: Array, output: int, k: int) -> Array:
    return member_gradients(members[k], X, output)


def relevance_of(members: Sequence[Member], weights: Array, X: Array, s: Array) -> Relevance | None:
    """Return M of the sum of members with weights (M, m), whose views are taken for one.

    Outputs are summed over: a direction matters if one of them depends on it.
    """
    sums: GradientSums | None = None
    for j in range(int(weights.shape[1])):
        kept = [k for k in range(len(members)) if float(weights[k, j]) > 0]
        if kept:
            found = engine.for_all(partial(_gradients_of, members, X, j), kept)
            parts = [weights[k, j] * found_k for k, found_k in zip(kept, found, strict=True)]
            more = GradientSums.of(sum(parts[1:], parts[0]), s)
            # The rows are the same.
            sums = more if sums is None else replace(more, products=sums.products + more.products)
    return None if sums is None else Relevance.of(sums)
