import numpy as np
import pytest

from elmband.layers.member import Judged
from elmband.sums.moments import Chunk
from elmband.sums.scaling import Scaling
from elmband.uncertainty.noise.layers import NoiseData, chosen_spec, smooth_spec
from elmband.uncertainty.noise.log import LogNoise


def data(n, seed, deviation, d=5):
    """Return inputs, squared residuals with this standard deviation, and the deviation."""
    rng = np.random.default_rng(seed)
    X = rng.uniform(-1.7, 1.7, size=(n, d))
    std = deviation(X)
    return X, (std * rng.standard_normal(n)) ** 2, std


def step(X):
    return np.where(X[:, 0] < 0, 0.2, 1.0)


def problem(X, q, seed=0):
    judged = Judged(Chunk(X, q[:, None], None), np.ones(len(q)), None)
    return NoiseData(X, Scaling(X.mean(axis=0), X.std(axis=0)), q, judged, seed)


def excess(rows, spec, deviation):
    """Return how much more the deviance of new rows is than with their true variance."""
    model, _ = LogNoise.fit(rows.X, rows.draw(spec), rows.q, rows.judged, None)
    X, _, std = data(3000, 99, deviation)
    log = model.predict(X).log
    return float(np.mean(log - 2 * np.log(std) + std**2 * np.exp(-log) - 1))


def test_few_rows_and_equal_noise_keep_the_smooth_layer():
    X, q, _ = data(1000, 0, lambda X: np.ones(len(X)))
    assert chosen_spec(problem(X[:200], q[:200]), None) == smooth_spec(5)
    chosen = chosen_spec(problem(X, q), None)
    assert (chosen.weight_scale, chosen.placed) == (0.5, False)


def test_more_rows_have_more_neurons_up_to_a_bound():
    widths = []
    for n in (400, 1600, 6400):
        X, q, _ = data(n, 1, lambda X: np.exp(X[:, 0]), d=2)
        widths.append(chosen_spec(problem(X, q), None).n_neurons - 2)
    assert widths == [120, 240, 400]


@pytest.mark.slow
def test_a_step_is_learned_better_by_chosen_neurons_and_the_more_so_the_more_rows():
    """Over three draws: 0.095 and 0.075, where smooth neurons leave 0.27 and 0.20."""
    found = np.zeros(2)
    for seed in range(3):
        for k, n in enumerate((1000, 5000)):
            X, q, _ = data(n, seed, step)
            rows = problem(X, q)
            chosen = chosen_spec(rows, None)
            # Steep neurons of few inputs win some draws; else the input that matters is found.
            assert chosen.relevance is None or chosen.relevance.shares.argmax() == 0
            found[k] += excess(rows, chosen, step)
            assert excess(rows, chosen, step) < 0.6 * excess(rows, smooth_spec(5), step)
    assert found[1] < 0.9 * found[0]


def test_neurons_do_not_depend_on_how_the_mean_is_rounded():
    """The last column is the predicted mean, which every library rounds otherwise."""
    X, q, _ = data(2500, 0, step)
    shaken = X.copy()
    shaken[:, -1] += 1e-8 * np.random.default_rng(1).standard_normal(2500)
    spec = chosen_spec(problem(X, q), None)
    one, other = (problem(Z, q).draw(spec).hidden.blocks for Z in (X, shaken))
    for mine, theirs in zip(one, other, strict=True):
        np.testing.assert_allclose(mine.weights, theirs.weights, atol=1e-6)
        np.testing.assert_allclose(mine.bias, theirs.bias, atol=1e-6)
    np.testing.assert_array_equal(
        problem(X, q).some(500).X[:, :-1], problem(shaken, q).some(500).X[:, :-1]
    )
