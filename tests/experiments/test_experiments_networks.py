"""The four older methods: derivatives by differences, and intervals where the truth is known."""

import numpy as np
import pytest
from scipy.optimize import approx_fprime

from elmband.datasets import make_heteroscedastic
from elmband.engines.engine import limit_blas
from elmband_experiments.paper.networks import METHODS
from elmband_experiments.paper.networks.lube import cost
from elmband_experiments.paper.networks.network import Network, Standard, squared, trained

rng = np.random.default_rng(0)
X, y = rng.normal(size=(30, 3)), rng.normal(size=30)


def test_the_gradient_is_that_of_differences():
    network = Network(3, n_hidden=4)
    theta = network.start(np.random.default_rng(1))
    loss = squared(y)
    found = network.gradient(theta, X, loss)[1]
    expected = approx_fprime(theta, lambda point: network.gradient(point, X, loss)[0])
    np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-5)


def test_the_jacobian_is_that_of_differences():
    network = Network(3, n_hidden=4)
    theta = network.start(np.random.default_rng(1))
    found = network.jacobian(theta, X[:5])
    assert found.shape == (5, network.size)
    expected = approx_fprime(theta, lambda point: network.outputs(point, X[:5])[:, 0])
    np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-6)


def test_a_trained_network_finds_a_smooth_function():
    data = make_heteroscedastic(400, noise=0.1, random_state=0)
    rows = Standard.of(data.X, data.y, data.X)
    with limit_blas(0):
        model = trained(rows.X, rows.y, np.random.default_rng(0))
    mean = rows.centre + rows.scale * model.mean(rows.X)
    assert np.sqrt(np.mean((mean - data.mean) ** 2)) < 0.05


@pytest.mark.slow
@pytest.mark.parametrize("name", METHODS)
def test_intervals_hold_where_noise_is_the_same_everywhere(name):
    data = make_heteroscedastic(300, noise=0.3, random_state=0)
    test = make_heteroscedastic(3000, noise=0.3, random_state=1)
    interval = METHODS[name](data.X, data.y, test.X, 0.9, 0)
    covered = np.mean((interval[:, 0] <= test.y) & (test.y <= interval[:, 1]))
    width = np.mean(interval[:, 1] - interval[:, 0]) / (2 * 1.6449 * 0.3)
    # LUBE fits its bounds to the training rows themselves, hence the lower end.
    assert 0.82 < covered < 0.95
    assert 0.8 < width < 1.15


@pytest.mark.one_quick
@pytest.mark.parametrize(("name", "follows"), [("Delta", False), ("Bootstrap", True)])
def test_which_method_follows_the_noise(name, follows):
    data = make_heteroscedastic(500, random_state=0)
    interval = METHODS[name](data.X, data.y, np.array([[-2.5], [1.0]]), 0.9, 0)
    quiet, noisy = interval[:, 1] - interval[:, 0]
    assert (noisy > 2 * quiet) is np.bool_(follows)


@pytest.mark.slow
@pytest.mark.parametrize("name", METHODS)
def test_units_do_not_matter_and_the_seed_decides(name):
    data = make_heteroscedastic(80, random_state=2)

    def run(factor, seed):
        return METHODS[name](data.X * 10, factor * data.y, data.X[:9] * 10, 0.9, seed)

    once = run(1.0, 0)
    assert (once == run(1.0, 0)).all()
    assert (once != run(1.0, 1)).any()
    # A power of two changes no digit on the way to standardised targets and back.
    np.testing.assert_allclose(run(1024.0, 0), 1024 * once, rtol=1e-12)


def test_the_cost_of_bounds():
    targets = np.array([0.0, 1.0, 2.0, 3.0])
    ends = np.stack([targets - 0.5, targets + 1.0], axis=1)
    assert cost(ends, targets, 0.9) == pytest.approx(0.5)
    # Crossed ends are put in order; a row outside costs exp(50 · 0.15) times the width as well.
    ends[0] = [2.0, 0.5]
    assert cost(ends[:, ::-1], targets, 0.9) == pytest.approx(0.5 * (1 + np.exp(50 * 0.15)))
