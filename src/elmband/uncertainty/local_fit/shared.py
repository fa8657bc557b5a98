"""Neurons that local layers share: dense tanh neurons to which every column counts the same."""

from collections.abc import Sequence

import numpy as np

from elmband.ground.arrays import double, to_numpy
from elmband.layers.hidden import HiddenLayer
from elmband.layers.neurons import Neurons
from elmband.stacks.levels import Block
from elmband.stacks.local_layers import SharedNeurons
from elmband.stacks.pool import Pool
from elmband.sums.scaling import Scaling

# Neurons for each root of a row, between these bounds.
_PER_ROOT = 0.5
_FEWEST, _MOST = 100, 400
# Standard deviation of what goes into a neuron.
_SCALE = 1.5
# Rows that the eigenbasis is found on, and the least eigenvalue that float32 can tell from zero.
_ROWS = 10_000
_LEAST = 1e-7
# Another seed than those of members.
_SEED = 2_000_003


def shared_neurons(pool: Pool, blocks: Sequence[Block]) -> SharedNeurons:
    """Draw the neurons that local layers of a fit share.

    The marks of a block count as one input together: many marks would drown a few numbers.
    """
    X = pool.distinct.rows.X
    d = int(X.shape[1])
    share = np.ones(d)
    for start, stop in blocks:
        share[start:stop] = 1 / (stop - start)
    rng = np.random.default_rng(pool.seed + _SEED)
    count = int(np.clip(_PER_ROOT * pool.n_distinct**0.5, _FEWEST, _MOST))
    W = rng.standard_normal((count, d)).T * (_SCALE * np.sqrt(share / share.sum()))[:, None]
    b = _SCALE * rng.standard_normal(count)
    hidden = HiddenLayer(
        (Neurons("tanh", np.ascontiguousarray(W, np.float32), b.astype(np.float32)),)
    )
    inputs = Scaling(*(to_numpy(double(a)) for a in (pool.inputs.mean, pool.inputs.scale)))
    raw = SharedNeurons(
        inputs, hidden, np.zeros(count, np.float32), np.eye(count, dtype=np.float32)
    )
    first = np.argsort(pool.order, kind="stable")[:_ROWS]
    H = raw.hidden(raw.standardised(to_numpy(X)[first])).astype(np.float64)
    centre = H.mean(axis=0)
    values, vectors = np.linalg.eigh(np.cov(H.T))
    kept = np.flatnonzero(values > _LEAST * values[-1])[::-1]
    basis = vectors[:, kept]
    # An eigenvector has no sign of its own.
    signs = np.sign(np.take_along_axis(basis, np.abs(basis).argmax(axis=0)[None, :], axis=0))
    return SharedNeurons(
        inputs, hidden, centre.astype(np.float32), np.ascontiguousarray(basis * signs, np.float32)
    )
