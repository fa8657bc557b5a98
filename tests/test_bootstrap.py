from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import oracle
from elmband.engines import engine
from elmband.ground.arrays import to_numpy
from elmband.layers import bootstrap, covariance
from elmband.layers.bootstrap import row_signs, wild_bootstrap
from elmband.layers.covariance import sandwich
from elmband.layers.hidden import LayerSpec
from elmband.layers.output_layer import RidgeProblem
from elmband.layers.quadratic import quadratic_form
from elmband.sums.rows import ArrayRows
from elmband.uncertainty.mean import fit_mean
from elmband.uncertainty.noise.squared import SquaredNoise

RNG = np.random.default_rng(0)
N, L = 200, 15
H = np.column_stack([np.ones(N), np.tanh(RNG.standard_normal((N, L - 1)))])
Y = (np.sin(3 * H[:, 1]) + RNG.standard_normal(N) * (0.1 + np.abs(H[:, 2])))[:, None]
S = RNG.integers(1, 4, size=N)


def solved(H, Y, gamma, s=None, chunk_size=50, eps=2.0**-52):
    rows = ArrayRows(H, Y, s, chunk_size)
    problem = RidgeProblem(rows, lambda chunk: chunk, H.shape[1], eps)
    return rows, problem.solve_dual(gamma) if problem.dual else problem.solve(gamma, problem.gram())


def wild(H, Y, gamma, s=None, n_replicates=200, seed=0, **options):
    rows, layer = solved(H, Y, gamma, s, **options)
    return wild_bootstrap(rows, lambda chunk: chunk, layer, n_replicates, seed)


def jackknife(H, Y, gamma, s=None):
    rows, layer = solved(H, Y, gamma, s)
    parts = [rows.whole()] if layer.dual else rows
    meat = engine.total(parts, lambda chunk: covariance.jackknife(layer, chunk).meat)
    return sandwich(layer, meat)


@pytest.fixture
def all_patterns(monkeypatch):
    """Let the replicates be every pattern of signs once."""

    def patterns(first, count, n_replicates, seed):
        del seed
        n = int(np.log2(n_replicates))
        return np.array(list(product([-1, 1], repeat=n)), dtype=np.int8).T[first : first + count]

    monkeypatch.setattr(bootstrap, "row_signs", patterns)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("L", [3, 6, 12], ids=["more rows", "a few more rows", "fewer rows"])
def test_over_all_signs_it_is_the_jackknife_exactly(L, weighted, all_patterns):
    del all_patterns
    n = 9 if L > 3 else 10
    rows, s = H[:n, :L], RNG.uniform(0.3, 3, size=n) if weighted else None
    both = np.hstack([Y[:n], RNG.standard_normal((n, 1))])
    actual = wild(rows, both, 0.4, s, 2**n, chunk_size=4)
    np.testing.assert_allclose(actual, jackknife(rows, both, 0.4, s), rtol=1e-9, atol=1e-13)
    if not weighted:
        r = Y[:n, 0] - rows @ oracle.ridge(rows, Y[:n, 0], 0.4)
        expected = oracle.weighted_jackknife(rows, r, 0.4)
        np.testing.assert_allclose(actual[0], expected, rtol=1e-8, atol=1e-12)


@pytest.mark.one_quick
@pytest.mark.parametrize(("n", "s"), [(200, None), (200, S), (10, None), (10, S[:10])])
def test_it_agrees_with_the_jackknife_as_chance_allows(n, s):
    """Relative errors of h Σ hᵀ have a standard deviation of √(2/B) at most; over 200 seeds.

    The largest of 200 may reach 5 deviations (squares have a heavy tail), their mean must vanish
    to 4 standard errors, and their deviation may exceed √(2/B) by 15 %.
    """
    B, x = 100, np.tanh(RNG.standard_normal((1, L)))
    s = None if s is None else s.astype(float)
    exact = quadratic_form(x, jackknife(H[:n], Y[:n], 1.0, s))[0, 0]
    rows, layer = solved(H[:n], Y[:n], 1.0, s)
    draws = [wild_bootstrap(rows, lambda chunk: chunk, layer, B, seed) for seed in range(200)]
    errors = np.array([quadratic_form(x, draw)[0, 0] for draw in draws]) / exact - 1
    deviation = np.sqrt(2 / B)
    assert np.abs(errors).max() < 5 * deviation
    assert abs(errors.mean()) < 4 * deviation / np.sqrt(200)
    assert 0.3 * deviation < errors.std() < 1.15 * deviation


def test_more_replicates_come_closer():
    exact = jackknife(H, Y, 1.0)
    errors = [np.linalg.norm(wild(H, Y, 1.0, n_replicates=B) - exact) for B in (50, 800, 12800)]
    assert errors[0] > 2 * errors[1] > 4 * errors[2]
    assert errors[2] < 0.05 * np.linalg.norm(exact)


def test_a_common_factor_of_the_weights_is_one_of_the_strength():
    one, other = (wild(H, Y, factor, factor * S.astype(float), 200) for factor in (1.0, 7.0))
    np.testing.assert_allclose(one, other, rtol=1e-8, atol=1e-15)


@pytest.mark.slow
@given(st.integers(1, 250))
def test_chunk_size_does_not_matter(chunk_size):
    np.testing.assert_allclose(
        wild(H, Y, 1.0, chunk_size=chunk_size), wild(H, Y, 1.0), rtol=1e-10, atol=1e-16
    )


@given(st.integers(0, 1000), st.integers(1, 50), st.integers(1, 200), st.integers(0, 9))
def test_signs_belong_to_row_numbers(first, count, n_replicates, seed):
    whole = row_signs(0, first + count, n_replicates, seed)
    assert whole.shape == (first + count, n_replicates)
    np.testing.assert_array_equal(row_signs(first, count, n_replicates, seed), whole[first:])


def test_signs_are_fair_and_independent():
    """Products of 20,000 signs have a standard deviation of 0.007; 5 of these are allowed."""
    v = row_signs(0, 20_000, 70, 0).astype(float)
    assert set(np.unique(v)) == {-1, 1}
    assert np.abs(v.mean(axis=0)).max() < 0.036
    assert np.abs(v.T @ v / 20_000 - np.eye(70)).max() < 0.036
    assert np.abs((v[1:] * v[:-1]).mean(axis=0)).max() < 0.036
    assert (row_signs(0, 9, 70, 1) != row_signs(0, 9, 70, 2)).any()


@pytest.mark.slow
@pytest.mark.parametrize("n", [200, 10])
def test_every_library_gives_the_same(xp, n):
    s = S[:n].astype(float)
    expected = wild(H[:n], Y[:n], 1.0, s)
    actual = wild(*(xp.asarray(a) for a in (H[:n], Y[:n])), 1.0, xp.asarray(s))
    np.testing.assert_allclose(to_numpy(actual), expected, rtol=1e-8, atol=1e-14)


def test_float32_products_stay_close():
    expected = wild(H, Y, 1.0)
    actual = wild(H.astype(np.float32), Y.astype(np.float32), 1.0, eps=2.0**-23)
    assert actual.dtype == np.float64
    assert np.abs(actual - expected).max() < 3e-5 * np.abs(expected).max()


def test_no_replicates_are_refused():
    with pytest.raises(ValueError, match="n_replicates must be at least 1; got 0"):
        wild(H, Y, 1.0, n_replicates=0)


def test_both_stages_of_the_published_model_can_use_it():
    """Quadratic forms at B = 200 lie within 5 standard deviations of 10 % of the jackknife."""
    mean = fit_mean(ArrayRows(H[:, 1:4], Y), LayerSpec.parse(20), 1.0, np.float64, 0)
    one, other = (
        SquaredNoise.fit(mean, None, 1.0, covariance=name, seed=7) for name in ("jackknife", "wild")
    )
    rows = mean.features.apply(H[:20, 1:4])
    for name in ("mean_covariance", "noise_covariance"):
        forms = [quadratic_form(rows, getattr(model, name)) for model in (one, other)]
        np.testing.assert_allclose(forms[1], forms[0], rtol=0.5)
        assert not np.allclose(forms[1], forms[0], rtol=1e-3)
    np.testing.assert_array_equal(one.layer.coef, other.layer.coef)
