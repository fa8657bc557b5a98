"""Families of neurons that compete for a place in a stack: blind ones, and such as have learned."""

from collections.abc import Sequence
from dataclasses import replace

from elmband.layers.hidden import LayerSpec
from elmband.layers.relevance import Relevance, Shape
from elmband.layers.views import STANDARD

# Neurons of sparse families see so many inputs, at most.
_FEW_INPUTS = 3
# Inputs are passed on beside learned neurons where there are at least so many of these for each.
_NEURONS_PER_INPUT = 4


def blind_specs(n_neurons: int, views: Sequence[str]) -> list[LayerSpec]:
    """Return families and scales to begin with: all on standardised inputs, some on other views."""
    tanh, relu, rbf = (((kind, n_neurons),) for kind in ("tanh", "relu", "rbf_l2"))
    dense = [LayerSpec(tanh, weight_scale=scale) for scale in (0.4, 1.2)]
    sparse = [
        LayerSpec(tanh, weight_scale=scale, placed=True, max_inputs=_FEW_INPUTS)
        for scale in (1.0, 4.0)
    ]
    bent = LayerSpec(relu, placed=True)
    sparse_bent = replace(bent, max_inputs=_FEW_INPUTS)
    wide, middle, narrow = (LayerSpec(rbf, weight_scale=scale) for scale in (1.0, 2.0, 4.0))
    standard = [*dense, *sparse, bent, sparse_bent, wide, middle, narrow]
    others = [*sparse, bent, middle]
    return standard + [
        replace(spec, view=view) for view in views if view != STANDARD for spec in others
    ]


def learned_specs(n_neurons: int, view: str, relevance: Relevance) -> list[LayerSpec]:
    """Return families and scales of neurons drawn from the relevance of inputs in a view."""
    passes = _NEURONS_PER_INPUT * len(relevance.matrix) <= n_neurons

    def specs(
        kind: str, scales: Sequence[float], shape: Shape = "full", inputs: int | None = None
    ) -> list[LayerSpec]:
        one = LayerSpec(
            ((kind, n_neurons),),
            placed=True,
            max_inputs=inputs,
            view=view,
            relevance=relevance,
            shape=shape,
            passes=passes,
        )
        return [replace(one, weight_scale=scale) for scale in scales]

    return [
        *specs("tanh", (0.6, 1.5, 4.0)),
        *specs("tanh", (0.6,), "diagonal"),
        *specs("tanh", (1.0, 4.0), inputs=_FEW_INPUTS),
        *specs("laplace", (0.5, 1.5, 4.0)),
        *specs("laplace", (4.0,), "diagonal"),
    ]
