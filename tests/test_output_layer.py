import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import oracle
from elmband.ground.arrays import to_numpy
from elmband.layers import output_layer
from elmband.layers.output_layer import RidgeProblem
from elmband.layers.solve import alpha_grid
from elmband.sums.moments import Chunk
from elmband.sums.rows import ArrayRows

EPS = float(np.finfo(np.float64).eps)
RNG = np.random.default_rng(0)
L = 20
SIZES = {"more rows": 60, "a few more rows": 24, "as many rows": 20, "fewer rows": 12}
H_ALL = RNG.standard_normal((60, L))
Y_ALL = (0.3 * H_ALL @ RNG.standard_normal(L) + 2 * RNG.standard_normal(60))[:, None]


def solve(H, Y, rule, s=None, chunk_size=7):
    problem = RidgeProblem(ArrayRows(H, Y, s, chunk_size), lambda rows: rows, L, EPS)
    return problem.solve_dual(rule) if problem.dual else problem.solve(rule, problem.gram())


@pytest.fixture(params=SIZES.values(), ids=SIZES.keys())
def rows(request):
    return Chunk(H_ALL[: request.param], Y_ALL[: request.param], None)


@pytest.mark.parametrize("gamma", [1e-3, 0.5, 30.0])
def test_leave_one_out_residuals_equal_refitting(rows, gamma):
    layer = solve(*rows[:2], gamma)
    r, rest = layer.residuals(rows)
    expected = oracle.leave_one_out_residuals(rows.X, rows.Y[:, 0], gamma)
    np.testing.assert_allclose((r / rest)[:, 0], expected, rtol=1e-8)
    np.testing.assert_allclose(r, rows.Y - rows.X @ layer.coef, rtol=1e-6, atol=1e-12)


def test_chosen_strength_equals_brute_force(rows):
    grid = alpha_grid(float((rows.X**2).sum()), L, EPS, rows.X)
    errors = [
        (oracle.leave_one_out_residuals(rows.X, rows.Y[:, 0], gamma) ** 2).sum() for gamma in grid
    ]
    # Of strengths whose errors agree to 1e-6 the largest is taken.
    expected = grid[errors <= np.min(errors) * (1 + 1e-6)].max()
    assert solve(*rows[:2], "loo").alpha[0] == pytest.approx(expected)


def test_a_common_factor_of_the_weights_changes_nothing_but_the_unit_of_the_strength(rows):
    s = RNG.uniform(0.2, 3, size=len(rows.X))
    one, other = (solve(rows.X, rows.Y, "loo", factor * s) for factor in (1, 64))
    np.testing.assert_allclose(other.alpha, 64 * one.alpha)
    np.testing.assert_allclose(other.coef, one.coef, rtol=1e-7, atol=1e-9)


@pytest.mark.parametrize("weight", [0.3, 1.0, 2.5, 40.0])
def test_a_row_is_left_out_with_all_of_its_weight(rows, weight):
    gamma, s = 0.5, np.ones(len(rows.X))
    s[0] = weight
    r, rest = solve(rows.X, rows.Y, gamma, s).residuals(rows._replace(s=s))
    left = s.copy()
    left[0] = 0
    beta = oracle.ridge(rows.X, rows.Y[:, 0], gamma, left)
    assert (r / rest)[0, 0] == pytest.approx(rows.Y[0, 0] - rows.X[0] @ beta, rel=1e-8)


@pytest.mark.parametrize("weighted", [False, True])
def test_dual_and_primal_agree(rows, weighted, monkeypatch):
    s = RNG.uniform(0.2, 3, size=len(rows.X)) if weighted else None
    answers = []
    for ratio in (0, 1e9):
        monkeypatch.setattr(output_layer, "_DUAL_RATIO", ratio)
        layer = solve(rows.X, rows.Y, "loo" if len(rows.X) == 60 else 0.5, s)
        assert layer.dual == bool(ratio)
        answers.append((layer.alpha, layer.coef, *layer.residuals(rows._replace(s=s))))
    for primal, dual in zip(*answers, strict=True):
        np.testing.assert_allclose(primal, dual, rtol=1e-6)


def test_interpolation_leaves_no_residual_and_no_nonsense():
    H, Y = H_ALL[:12], Y_ALL[:12]
    r, rest = solve(H, Y, 0.0).residuals(Chunk(H, Y, None))
    np.testing.assert_array_equal(r, 0)
    assert np.isfinite(r / rest).all()
    # Nearly interpolating, both vanish but their quotient has a limit: (K⁻¹y)_i / (K⁻¹)_ii.
    r, rest = solve(H, Y, 1e-12).residuals(Chunk(H, Y, None))
    K = np.linalg.inv(H @ H.T)
    np.testing.assert_allclose((r / rest)[:, 0], (K @ Y[:, 0]) / np.diag(K), rtol=1e-6)


def test_a_row_that_alone_determines_a_neuron_has_a_bounded_leverage():
    H = np.zeros((60, L))
    H[:, 0], H[0, 1] = H_ALL[:, 0], 1e8
    Y = Y_ALL + 1e3
    _, rest = solve(H, Y, 1.0).residuals(Chunk(H, Y, None))
    assert rest[0, 0] == pytest.approx(1 / (1 + 1e16), rel=1e-3)


@pytest.mark.slow
@given(st.integers(1, 70))
def test_chunk_size_does_not_matter(chunk_size):
    whole, chunked = (solve(H_ALL, Y_ALL, "loo", chunk_size=n) for n in (60, chunk_size))
    np.testing.assert_allclose(whole.alpha, chunked.alpha)
    np.testing.assert_allclose(whole.coef, chunked.coef, rtol=1e-10, atol=1e-14)


@pytest.mark.parametrize("n", [60, 12])
@pytest.mark.parametrize("rule", [0.5, "loo", "gcv"])
def test_every_library_gives_the_same(xp, rule, n):
    expected = solve(H_ALL[:n], Y_ALL[:n], rule)
    actual = solve(xp.asarray(H_ALL[:n]), xp.asarray(Y_ALL[:n]), rule)
    np.testing.assert_allclose(to_numpy(actual.coef), expected.coef, rtol=1e-9, atol=1e-13)


@pytest.mark.parametrize("n", [60, 24, 20, 12])
def test_gcv_is_the_same_in_both_forms(n, monkeypatch):
    chosen = []
    for ratio in (0, 1e9):
        monkeypatch.setattr(output_layer, "_DUAL_RATIO", ratio)
        chosen.append(solve(H_ALL[:n], Y_ALL[:n], "gcv").alpha)
    np.testing.assert_allclose(*chosen)


def test_every_output_is_solved_on_its_own():
    both = np.column_stack([Y_ALL, np.random.default_rng(1).standard_normal(60)])
    layer = solve(H_ALL, both, "loo")
    assert layer.alpha[0] != layer.alpha[1]
    for j in range(2):
        alone = solve(H_ALL, both[:, j : j + 1], "loo")
        np.testing.assert_allclose(layer.coef[:, j], alone.coef[:, 0], rtol=1e-9, atol=1e-14)
