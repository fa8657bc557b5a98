from dataclasses import FrozenInstanceError

import numpy as np
import pytest

from elmband.datasets import DOMAIN, make_heteroscedastic, noise_std, projection


@pytest.mark.parametrize("n_samples", [1, 2, 30, np.int64(500)])
def test_shapes_and_types(n_samples):
    data = make_heteroscedastic(n_samples, random_state=0)
    assert data.X.shape == (n_samples, 1)
    assert data.y.shape == data.mean.shape == data.std.shape == (n_samples,)
    assert data.interval(0.95).shape == (n_samples, 2)
    assert {a.dtype for a in (data.X, data.y, data.mean, data.std)} == {np.dtype("float64")}


def test_rows_agree_with_the_truth_at_their_inputs():
    data = make_heteroscedastic(1000, random_state=1)
    x = data.X[:, 0]
    assert x.min() >= DOMAIN[0]
    assert x.max() <= DOMAIN[1]
    np.testing.assert_array_equal(data.mean, projection(x))
    np.testing.assert_array_equal(data.std, noise_std(x))


def test_inputs_fill_the_domain_evenly():
    counts, _ = np.histogram(make_heteroscedastic(60_000, random_state=2).X, bins=10, range=DOMAIN)
    # Four standard deviations of a binomial count with p = 1/10 and 60,000 draws.
    assert np.abs(counts - 6000).max() < 4 * np.sqrt(60_000 * 0.1 * 0.9)


def test_residuals_have_the_stated_std_in_every_bin():
    data = make_heteroscedastic(200_000, random_state=3)
    residual = data.y - data.mean
    bins = np.digitize(data.X[:, 0], np.linspace(*DOMAIN, 21)[1:-1])
    for b in range(20):
        rows = bins == b
        # The relative error of an empirical sd over n Gaussian rows is 1/sqrt(2 n), here 0.7 %;
        # allow four of those.
        expected = np.sqrt(np.mean(data.std[rows] ** 2))
        np.testing.assert_allclose(residual[rows].std(), expected, rtol=0.03)
        assert abs(residual[rows].mean()) < 4 * expected / np.sqrt(rows.sum())


def test_noise_has_quiet_and_noisy_regions():
    std = noise_std(np.linspace(*DOMAIN, 1001))
    assert std.max() / std.min() > 8
    # Neither region is a sliver: a fifth of the domain is near each extreme.
    assert np.mean(std < 2 * std.min()) > 0.2
    assert np.mean(std > std.max() / 2) > 0.2


@pytest.mark.parametrize("confidence_level", [0.5, 0.9, 0.95])
@pytest.mark.parametrize("noise", ["heteroscedastic", 0.3])
def test_true_interval_covers_its_level(confidence_level, noise):
    n = 100_000
    data = make_heteroscedastic(n, noise=noise, random_state=4)
    low, high = data.interval(confidence_level).T
    coverage = np.mean((low <= data.y) & (data.y <= high))
    tolerance = 4 * np.sqrt(confidence_level * (1 - confidence_level) / n)
    assert abs(coverage - confidence_level) < tolerance


def test_true_interval_is_the_gaussian_one():
    data = make_heteroscedastic(10, random_state=5)
    half = 1.959963984540054 * data.std
    expected = np.column_stack([data.mean - half, data.mean + half])
    np.testing.assert_allclose(data.interval(0.95), expected, rtol=1e-14)


def test_float_noise_is_the_same_everywhere():
    data = make_heteroscedastic(50, noise=0.3, random_state=0)
    np.testing.assert_array_equal(data.std, 0.3)
    # Inputs and the noise draws are shared with the heteroscedastic version of the same seed.
    other = make_heteroscedastic(50, random_state=0)
    np.testing.assert_array_equal(data.X, other.X)
    standardised = (data.y - data.mean) / data.std
    np.testing.assert_allclose(standardised, (other.y - other.mean) / other.std, rtol=1e-10)


@pytest.mark.parametrize("noise", [0, 0.0, np.float32(0)])
def test_zero_noise_gives_the_projection(noise):
    data = make_heteroscedastic(20, noise=noise, random_state=0)
    np.testing.assert_array_equal(data.y, data.mean)
    assert np.ptp(data.interval(0.99), axis=1).max() == 0


def test_seed_decides_the_rows():
    first, again, other = (make_heteroscedastic(40, random_state=s) for s in (7, 7, 8))
    np.testing.assert_array_equal(first.X, again.X)
    np.testing.assert_array_equal(first.y, again.y)
    assert not np.isin(other.X, first.X).any()
    assert not np.isin(other.y, first.y).any()


@pytest.mark.parametrize("n_samples", [1, 2, 499])
def test_beginning_does_not_depend_on_length(n_samples):
    short = make_heteroscedastic(n_samples, random_state=0)
    long = make_heteroscedastic(500, random_state=0)
    np.testing.assert_array_equal(short.X, long.X[:n_samples])
    np.testing.assert_array_equal(short.y, long.y[:n_samples])


def test_a_generator_moves_on():
    rng = np.random.default_rng(0)
    first, second = (make_heteroscedastic(5, random_state=rng) for _ in range(2))
    assert not np.isin(first.X, second.X).any()


def test_random_state_of_scikit_learn():
    first, second = (
        make_heteroscedastic(5, random_state=np.random.RandomState(0)) for _ in range(2)
    )
    np.testing.assert_array_equal(first.y, second.y)


def test_no_seed_gives_new_rows():
    assert not np.isin(make_heteroscedastic(5).X, make_heteroscedastic(5).X).any()


def test_data_are_frozen():
    data = make_heteroscedastic(2, random_state=0)
    with pytest.raises(FrozenInstanceError):
        data.y = data.mean


@pytest.mark.parametrize("shape", [(), (3,), (2, 3)])
def test_truth_keeps_the_shape(shape):
    x = np.zeros(shape)
    assert projection(x).shape == noise_std(x).shape == noise_std(x, 0.1).shape == shape


@pytest.mark.parametrize("n_samples", [0, -1, 2.5, "10", True, None])
def test_wrong_number_of_rows(n_samples):
    with pytest.raises(ValueError, match="n_samples must be a whole number of at least 1"):
        make_heteroscedastic(n_samples)


@pytest.mark.parametrize("noise", [-0.1, np.nan, np.inf, "loud", None, True])
def test_wrong_noise(noise):
    with pytest.raises(ValueError, match='noise must be "heteroscedastic" or a standard deviation'):
        make_heteroscedastic(5, noise=noise)


@pytest.mark.parametrize("confidence_level", [0, 1, 95, -0.5, np.nan])
def test_wrong_level(confidence_level):
    with pytest.raises(ValueError, match="confidence_level must lie strictly between 0 and 1"):
        make_heteroscedastic(5).interval(confidence_level)


@pytest.mark.parametrize("random_state", [-1, "seed", 1.5])
def test_wrong_random_state(random_state):
    with pytest.raises(ValueError, match="random_state must be None, a whole number"):
        make_heteroscedastic(5, random_state=random_state)
