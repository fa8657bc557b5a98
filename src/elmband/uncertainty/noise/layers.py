"""Which layer a log-variance has: smooth or rough neurons, and such as have learned where to look.

Candidates are compared by the deviance of rows left out. Neurons are more where rows are more. The
log-variance of the best blind layer tells by its gradients which directions of the inputs it
depends on, and neurons are drawn from these; and once more, where that has helped.
"""

from collections.abc import Sequence
from dataclasses import replace
from functools import reduce
from typing import NamedTuple

import numpy as np

from elmband.engines import engine
from elmband.ground.arrays import Array, double, namespace, place, to_numpy
from elmband.layers.gradients import neuron_gradients
from elmband.layers.hidden import FeatureMap, LayerSpec
from elmband.layers.member import Judged
from elmband.layers.relevance import GradientSums, Relevance
from elmband.sums.sample import row_keys, sample_rows, taken
from elmband.sums.scaling import Scaling
from elmband.uncertainty.noise.log import LogNoise, NoiseVariance

# The smooth layer: every input and the predicted mean, and so many neurons.
_NEURONS = (100, 400)
_NEURONS_PER_ROOT = 6.0
_SMOOTH = 0.5
# Rough neurons see so many inputs at most, and are this steep.
_FEW_INPUTS = 3
_ROUGH = (1.5, 5.0)
# Those that have learned once, and those that have learned from these.
_LEARNED = ((1.5, 5.0), (3.0, 10.0))
# Neurons are placed this far off the rows, towards others.
_OFF_ROW = 0.15
# Fewer rows cannot tell one layer from another, and candidates are compared on at most so many.
_LEAST_ROWS = 300
_COMPARED_ROWS = 2000
# Another layer must lower the deviance of all compared rows by so much. With 3, one of four fits to
# 1,000 rows of equal noise and five inputs chose another; with 5 none did.
_LEAST_GAIN = 5.0


def smooth_spec(n_inputs: int, n_neurons: int = _NEURONS[0]) -> LayerSpec:
    """Return the layer to begin with: all inputs passed on, and smooth neurons."""
    return LayerSpec((("linear", n_inputs), ("tanh", n_neurons)), weight_scale=_SMOOTH)


class NoiseData(NamedTuple):
    """Inputs with their scaling, squared residuals q (n,) and rows to fit a log-variance to."""

    X: Array
    inputs: Scaling
    q: Array
    judged: Judged
    seed: int

    def some(self, n_rows: int) -> "NoiseData":
        """Return so many rows at most."""
        n = int(self.X.shape[0])
        if n <= n_rows:
            return self
        # By their values: rows come in the order of the training rows, which may mean something.
        # The mean beside them, the last column, is rounded otherwise wherever it is computed.
        keys = row_keys(to_numpy(self.inputs(self.X))[:, :-1], self.seed)
        index = np.sort(np.argsort(keys, kind="stable")[:n_rows])
        where = place(index, self.X, namespace(self.X).int64)
        X, q, s = (namespace(a).take(a, where, axis=0) for a in (self.X, self.q, self.judged.s))
        labels = None if self.judged.labels is None else self.judged.labels[index]
        judged = Judged(taken(self.judged.rows, index), s, labels)
        return self._replace(X=X, q=q, judged=judged)

    def draw(self, spec: LayerSpec) -> FeatureMap:
        """Draw a layer."""
        centres = None
        if spec.n_centres:
            Z, n_inputs = self.inputs(self.X), int(self.X.shape[1]) - 1
            centres = sample_rows(Z, spec.n_centres, self.seed, n_inputs).near(_OFF_ROW)
        hidden = spec.draw(int(self.X.shape[1]), self.seed, centres)
        return FeatureMap(self.inputs, hidden).to(self.X, namespace(self.X).float64)


class _Tried(NamedTuple):
    spec: LayerSpec
    model: LogNoise
    deviance: float


def chosen_spec(data: NoiseData, alpha: float | None) -> LayerSpec:
    """Return the layer that rows left out like best."""
    n_inputs, n = int(data.X.shape[1]), int(data.X.shape[0])
    smooth = smooth_spec(n_inputs)
    if n < _LEAST_ROWS:
        return smooth
    some = data.some(_COMPARED_ROWS)
    best = _best(some, [smooth, *_rough_specs(n_inputs)], alpha)
    for scales in _LEARNED:
        relevance = _relevance(some, best.model)
        before = best
        if relevance is not None:
            specs = _learned_specs(n_inputs, relevance, scales)
            best = _better(best, _best(some, specs, alpha))
        if best is before:
            break
    return _widened(best.spec, n)


def _rough_specs(n_inputs: int) -> list[LayerSpec]:
    counts = (("linear", n_inputs), ("tanh", _NEURONS[0]))
    return [
        LayerSpec(counts, weight_scale=scale, placed=True, max_inputs=_FEW_INPUTS)
        for scale in _ROUGH
    ]


def _learned_specs(n_inputs: int, relevance: Relevance, scales: Sequence[float]) -> list[LayerSpec]:
    counts = (("linear", n_inputs), ("tanh", _NEURONS[0]))
    return [
        LayerSpec(counts, weight_scale=scale, placed=True, relevance=relevance) for scale in scales
    ]


def _widened(spec: LayerSpec, n_rows: int) -> LayerSpec:
    """Return the same layer with as many neurons as rows can pay for."""
    least, most = _NEURONS
    width = int(min(max(_NEURONS_PER_ROOT * n_rows**0.5, least), most))
    (linear, (kind, _)) = spec.counts
    return replace(spec, counts=(linear, (kind, width)))


def _best(data: NoiseData, specs: Sequence[LayerSpec], alpha: float | None) -> _Tried:
    """Return the layer with the least deviance; a later one must gain enough."""

    def tried(spec: LayerSpec) -> _Tried:
        model, known = LogNoise.fit(data.X, data.draw(spec), data.q, data.judged, alpha)
        return _Tried(spec, model, _deviance(data, known))

    return reduce(_better, engine.for_all(tried, specs))


def _better(one: _Tried, other: _Tried) -> _Tried:
    return other if other.deviance < one.deviance - _LEAST_GAIN else one


def _deviance(data: NoiseData, known: NoiseVariance) -> float:
    """Return the deviance of all rows, each left out; their weights are of mean one."""
    s, eta = data.judged.s, known.log
    xp = namespace(eta)
    share = s / xp.mean(s)
    return float(share @ (eta + data.q * xp.exp(-eta)))


def _relevance(data: NoiseData, model: LogNoise) -> Relevance | None:
    """Return M of a log-variance: the mean of ∇η ∇ηᵀ over rows."""
    Z = double(model.features.viewed(data.X))
    total, start = namespace(Z).zeros_like(Z), 0
    for block in model.features.hidden.blocks:
        coef = double(model.coef)[start : start + block.count]
        total = total + neuron_gradients(block, Z, coef)
        start += block.count
    return Relevance.of(GradientSums.of(total, data.judged.s))
