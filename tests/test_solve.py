import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import oracle
from elmband.ground.arrays import to_numpy
from elmband.layers.solve import (
    Spectrum,
    alpha_grid,
    best_alpha,
    check_finite,
    explained_squares,
    gcv_scores,
    given_alpha_factor,
)
from elmband.sums.moments import Chunk, gram

EPS = float(np.finfo(np.float64).eps)
RNG = np.random.default_rng(0)
H = RNG.standard_normal((80, 12))
Y = np.column_stack(
    [H @ RNG.standard_normal(12) + RNG.standard_normal(80), RNG.standard_normal(80)]
)
SUMS = gram(Chunk(H, Y, None))


def alphas(*values):
    return np.array(values, dtype=np.float64)


def grid_of(HtH, eps=EPS):
    return alpha_grid(float(np.trace(HtH)), len(HtH), eps, HtH)


def gcv(sums, grid):
    spectrum = Spectrum.of(sums.HtH, EPS)
    return gcv_scores(sums.n, sums.YtY, spectrum, explained_squares(spectrum, sums.HtY), grid)


@given(st.floats(1e-6, 1e6))
def test_cholesky_and_eigenvectors_solve_the_same_equations(gamma):
    expected = np.column_stack([oracle.ridge(H, y, gamma) for y in Y.T])
    for factor in (
        given_alpha_factor(SUMS.HtH, alphas(gamma, gamma), EPS),
        Spectrum.of(SUMS.HtH, EPS).factor(alphas(gamma, gamma)),
    ):
        np.testing.assert_allclose(factor.solve(SUMS.HtY), expected, rtol=1e-9, atol=1e-14)
        P = np.linalg.inv(H.T @ H + gamma * np.eye(12))
        np.testing.assert_allclose(factor.inverse(0), P, rtol=1e-8, atol=1e-14)
        quadratic = np.einsum("ij,jk,ik->i", H, P, H)
        np.testing.assert_allclose(factor.quadratic(H)[:, 1], quadratic, rtol=1e-9)


def test_outputs_have_their_own_strength():
    factor = Spectrum.of(SUMS.HtH, EPS).factor(alphas(0.1, 10.0))
    expected = np.column_stack([oracle.ridge(H, Y[:, 0], 0.1), oracle.ridge(H, Y[:, 1], 10.0)])
    np.testing.assert_allclose(factor.solve(SUMS.HtY), expected, rtol=1e-9)


def test_every_library_gives_the_same(xp):
    sums = gram(Chunk(xp.asarray(H), xp.asarray(Y), None))
    gammas = xp.asarray(alphas(0.5, 0.5))
    expected = np.column_stack([oracle.ridge(H, y, 0.5) for y in Y.T])
    for factor in (
        given_alpha_factor(sums.HtH, gammas, EPS),
        Spectrum.of(sums.HtH, EPS).factor(gammas),
    ):
        np.testing.assert_allclose(to_numpy(factor.solve(sums.HtY)), expected, rtol=1e-10)


@pytest.mark.parametrize("gamma", [0.0, 1e-300, 1e-16])
def test_a_vanishing_strength_gives_the_minimum_norm_solution(gamma):
    collinear = np.column_stack([H, H[:, :3] - H[:, 3:6], np.zeros(80), np.ones(80), np.ones(80)])
    sums = gram(Chunk(collinear, Y, None))
    beta = given_alpha_factor(sums.HtH, alphas(gamma, gamma), EPS).solve(sums.HtY)
    np.testing.assert_allclose(beta, np.linalg.pinv(collinear) @ Y, atol=1e-10)


@pytest.mark.parametrize("n", [8, 12, 30, 80])
def test_gcv_equals_its_definition(n):
    rows, target = H[:n], Y[:n]
    sums = gram(Chunk(rows, target, None))
    grid = alphas(1e-3, 0.1, 10.0)
    expected = []
    for gamma in grid:
        hat = rows @ np.linalg.inv(rows.T @ rows + gamma * np.eye(12)) @ rows.T
        rss = ((target - hat @ target) ** 2).sum(axis=0)
        expected.append(n * rss / (n - np.trace(hat)) ** 2)
    np.testing.assert_allclose(gcv(sums, grid), expected, rtol=1e-7)


def test_gcv_does_not_cancel_where_the_fit_is_perfect():
    sums = gram(Chunk(H, H @ RNG.standard_normal((12, 1)), None))
    grid = grid_of(sums.HtH)
    scores = gcv(sums, grid)
    assert (scores >= 0).all()
    # Without noise the error is that of shrinking alone, which grows with γ².
    assert (np.diff(scores[grid > 1e-5, 0]) > 0).all()


def test_grid_follows_the_size_of_the_problem_and_stops_at_rounding():
    grid = grid_of(SUMS.HtH)
    np.testing.assert_allclose(grid_of(100 * SUMS.HtH), 100 * grid)
    coarse = grid_of(SUMS.HtH, float(np.finfo(np.float32).eps))
    assert coarse[0] > grid[0]
    assert coarse[-1] == grid[-1]
    assert len(grid_of(np.zeros((3, 3)))) > 1


def test_among_equal_scores_the_largest_strength_wins():
    scores = np.array([[1.0, 3.0], [1.0 + 1e-9, 2.0], [1.1, 2.5]])
    np.testing.assert_array_equal(best_alpha(alphas(1, 2, 3), scores), [2, 2])


def test_values_that_are_not_finite_get_a_sentence():
    with pytest.raises(ValueError, match="hidden layer gave values that are not finite"):
        check_finite(float("nan"))
