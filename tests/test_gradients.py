"""Gradients of layers against differences of what the layers say."""

import numpy as np
import pytest

from elmband.layers.gradients import layer_gradients
from elmband.layers.hidden import HiddenLayer, LayerSpec
from elmband.sums.sample import RowSample

RNG = np.random.default_rng(0)
Z = RNG.standard_normal((40, 3))
SAMPLE = RowSample(9, np.arange(9), RNG.standard_normal((9, 3)))
KINDS = ["tanh", "sigmoid", "relu", "linear", "rbf_l1", "rbf_l2", "rbf_linf", "laplace", np.sin]


def differences(layer, coef):
    """Difference what the layer says, one input after the other."""
    step = 1e-6 * np.eye(3)
    return np.stack([(layer(Z + e) - layer(Z - e)) @ coef / 2e-6 for e in step], axis=1)


@pytest.mark.parametrize("kind", KINDS, ids=str)
def test_gradients_are_those_of_differences(kind):
    count = 3 if kind == "linear" else 9
    layer = LayerSpec(((kind, count),)).draw(3, 0, SAMPLE)
    coef = RNG.standard_normal(count)
    # Differences of 1e-6 know nine digits; kinks are far from all rows.
    np.testing.assert_allclose(
        layer_gradients(layer, Z, coef), differences(layer, coef), rtol=1e-5, atol=1e-7
    )


@pytest.mark.parametrize("kind", ["rbf_l1", "rbf_linf"])
def test_gradients_know_the_metric(kind):
    (block,) = (
        LayerSpec(((kind, 9),)).draw(2, 0, RowSample(9, SAMPLE.keys, SAMPLE.rows[:, :2])).blocks
    )
    metric = RNG.standard_normal((3, 2))
    layer = HiddenLayer((type(block)(kind, block.weights, block.bias, metric=metric),))
    coef = RNG.standard_normal(9)
    np.testing.assert_allclose(
        layer_gradients(layer, Z, coef), differences(layer, coef), rtol=1e-5, atol=1e-7
    )
