import numpy as np
import pytest
import statsmodels.api as sm
from hypothesis import given
from hypothesis import strategies as st

import oracle
from elmband.engines import engine
from elmband.ground.arrays import to_numpy
from elmband.layers.covariance import (
    jackknife,
    jackknife_meat,
    left_out_variance,
    sandwich,
)
from elmband.layers.output_layer import OutputLayer, RidgeProblem
from elmband.layers.quadratic import quadratic_form
from elmband.layers.solve import Spectrum, given_alpha_factor
from elmband.sums.moments import Chunk, gram
from elmband.sums.rows import ArrayRows

RNG = np.random.default_rng(0)
N, L = 200, 15
H = np.column_stack([np.ones(N), np.tanh(RNG.standard_normal((N, L - 1)))])
Y = np.sin(3 * H[:, 1]) + RNG.standard_normal(N) * (0.1 + np.abs(H[:, 2]))


def covariance(H, y, gamma, s=None, chunk_size=50, eps=2.0**-52):
    rows = ArrayRows(H, y[:, None] if y.ndim == 1 else y, s, chunk_size)
    problem = RidgeProblem(rows, lambda chunk: chunk, H.shape[1], eps)
    layer = problem.solve_dual(gamma) if problem.dual else problem.solve(gamma, problem.gram())
    parts = [rows.whole()] if layer.dual else rows
    meat = engine.total(parts, lambda chunk: jackknife(layer, chunk).meat)
    return sandwich(layer, meat)


def test_without_regularisation_it_is_the_hc2_of_statsmodels():
    expected = sm.OLS(Y, H).fit().get_robustcov_results("HC2").cov_params()
    np.testing.assert_allclose(covariance(H, Y, 0.0)[0], expected, rtol=1e-8, atol=1e-15)


@pytest.mark.parametrize("gamma", [1e-3, 1.0, 100.0])
@pytest.mark.parametrize("n", [200, 15, 10])
def test_it_equals_the_published_equations(gamma, n):
    residuals = Y[:n] - H[:n] @ oracle.ridge(H[:n], Y[:n], gamma)
    expected = oracle.weighted_jackknife(H[:n], residuals, gamma)
    # The transcription inverts HᵀH + γI outright, which costs it digits where rows are few.
    atol = 1e-10 * np.abs(expected).max()
    np.testing.assert_allclose(covariance(H[:n], Y[:n], gamma)[0], expected, rtol=1e-8, atol=atol)


@pytest.mark.slow
@given(st.integers(1, 250))
def test_chunk_size_does_not_matter(chunk_size):
    np.testing.assert_allclose(
        covariance(H, Y, 1.0, chunk_size=chunk_size), covariance(H, Y, 1.0), rtol=1e-10, atol=1e-16
    )


def test_with_weights_it_is_the_hc2_of_weighted_least_squares():
    s = RNG.uniform(0.2, 4, size=len(H))
    expected = sm.WLS(Y, H, weights=s).fit(cov_type="HC2").cov_params()
    np.testing.assert_allclose(covariance(H, Y, 0.0, s), expected[None], rtol=1e-8, atol=1e-12)


@pytest.mark.parametrize("n", [200, 10])
def test_a_common_factor_of_the_weights_is_one_of_the_strength(n):
    """With 10 rows the dual form is at work."""
    s = RNG.uniform(0.2, 4, size=n)
    one, other = (covariance(H[:n], Y[:n], factor, factor * s) for factor in (1.0, 50.0))
    np.testing.assert_allclose(other, one, rtol=1e-8, atol=1e-15)


def test_every_library_gives_the_same(xp):
    actual = covariance(xp.asarray(H), xp.asarray(Y), 1.0)
    np.testing.assert_allclose(to_numpy(actual), covariance(H, Y, 1.0), rtol=1e-9, atol=1e-15)
    form = quadratic_form(xp.asarray(H), actual)
    np.testing.assert_allclose(to_numpy(form), quadratic_form(H, covariance(H, Y, 1.0)), rtol=1e-9)


def test_float32_products_stay_close():
    single = H.astype(np.float32), Y.astype(np.float32)
    actual = covariance(*single, 1.0, eps=2.0**-23)
    expected = covariance(H, Y, 1.0)
    assert np.abs(actual - expected).max() < 3e-5 * np.abs(expected).max()


@pytest.mark.parametrize("gammas", [(1.0,), (1.0, 1.0, 1.0), (0.1, 10.0)])
@pytest.mark.parametrize("weighted", [False, True])
def test_turned_rows_give_what_hidden_outputs_give(gammas, weighted):
    """Whether outputs share a strength, hence a Cholesky factor, or have eigenvectors in common."""
    rng = np.random.default_rng(2)
    s = rng.choice([0.5, 1.0, 3.0], N) if weighted else None
    rows = Chunk(H, np.stack([Y * (k + 1) + H[:, k] for k in range(len(gammas))], axis=1), s)
    sums = gram(rows)
    spectrum = Spectrum.of(sums.HtH, 2.0**-52)
    alpha = np.array(gammas)
    same = len(set(gammas)) == 1
    factor = (
        given_alpha_factor(sums.HtH, alpha, 2.0**-52, spectrum) if same else spectrum.factor(alpha)
    )
    assert factor.upper == same
    layer = OutputLayer(factor.solve(sums.HtY), alpha, factor, spectrum)
    before = H.copy()
    r, rest, meat = jackknife(layer, rows)
    known = layer.residuals(rows)
    for found, expected in zip((r, rest), known, strict=True):
        np.testing.assert_allclose(found, expected, rtol=1e-12)
    plain = jackknife_meat(layer, rows, *known)
    assert type(meat) is not type(plain)
    np.testing.assert_allclose(sandwich(layer, meat), sandwich(layer, plain), rtol=1e-9, atol=1e-16)
    np.testing.assert_array_equal(H, before)


def test_float32_sums_lose_little_where_neurons_are_nearly_equal():
    """Sums of hidden outputs instead of turned rows differ by 3e-5 here."""
    rng = np.random.default_rng(3)
    base = rng.standard_normal((20_000, 10))
    near = np.hstack([base, base + 1e-3 * rng.standard_normal(base.shape)]).astype(np.float32)
    y = (base[:, 0] + rng.standard_normal(20_000)).astype(np.float32)
    rows = near[:500].astype(np.float64)
    single = covariance(near, y, 1.0, chunk_size=1000, eps=2.0**-23)[0]
    exact = covariance(near.astype(np.float64), y.astype(np.float64), 1.0, chunk_size=1000)[0]
    forms = [np.vecdot(rows @ found, rows) for found in (single, exact)]
    np.testing.assert_allclose(*forms, rtol=1e-5)


def test_quadratic_form_is_the_diagonal_of_the_product():
    sigma = covariance(H, Y, 1.0)
    np.testing.assert_allclose(
        quadratic_form(H, sigma)[:, 0], np.diag(H @ sigma[0] @ H.T), rtol=1e-10
    )


def test_quadratic_form_is_never_negative():
    assert quadratic_form(H, -np.eye(L)[None]).max() == 0


@pytest.mark.slow
def test_it_is_the_variance_of_the_weights_under_unequal_noise():
    """Against simulation: 4,000 draws of noise on the same rows, tolerance 15 %."""
    noise = 0.1 + np.abs(H[:, 2])
    signal = H @ RNG.standard_normal(L)
    ys = signal + noise * RNG.standard_normal((4000, N))
    betas = np.linalg.solve(H.T @ H + np.eye(L), H.T @ ys.T)
    estimates = np.mean([np.diag(covariance(H, y, 1.0)[0]) for y in ys[:200]], axis=0)
    np.testing.assert_allclose(estimates, betas.var(axis=1), rtol=0.15)


@pytest.mark.parametrize("weighted", [False, True])
def test_a_variance_without_the_row_itself_is_that_of_sums_without_it(weighted):
    rng = np.random.default_rng(4)
    H, y = rng.standard_normal((40, 5)), rng.standard_normal((40, 1))
    s = rng.choice([0.5, 1.0, 3.0], 40) if weighted else np.ones(40)
    alpha = 0.7
    G = (H * s[:, None]).T @ H + alpha * np.eye(5)
    P = np.linalg.inv(G)
    r = y[:, 0] - H @ P @ ((H * s[:, None]).T @ y[:, 0])
    rest = 1 - s * np.einsum("ij,jk,ik->i", H, P, H)
    w = s**2 * r**2 / rest
    expected = []
    for i in range(40):
        others = np.arange(40) != i
        without = np.linalg.inv((H * (s * others)[:, None]).T @ H + alpha * np.eye(5))
        middle = (H * (w * others)[:, None]).T @ H
        expected.append(H[i] @ without @ middle @ without @ H[i])
    v = np.einsum("ij,jk,ik->i", H, P @ ((H * w[:, None]).T @ H) @ P, H)
    found = left_out_variance(v[:, None], r[:, None], rest[:, None])
    np.testing.assert_allclose(found[:, 0], expected, rtol=1e-10)
