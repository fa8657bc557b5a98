from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.linear_model import Lars, lars_path

import oracle
from elmband.ground.arrays import to_numpy
from elmband.layers.hidden import FeatureMap, LayerSpec
from elmband.layers.output_layer import RidgeProblem
from elmband.layers.select import (
    keep,
    keep_sums,
    op_elm,
    press_by_count,
    rank_neurons,
    select_count,
    trop_elm,
)
from elmband.layers.solve import alpha_grid
from elmband.sums.rows import ArrayRows
from elmband.sums.scaling import Scaling
from elmband.uncertainty import mean as mean_module
from elmband.uncertainty.mean import SELECTION_METHODS, draw_hidden, fit_mean, row_folds
from elmband.uncertainty.noise.squared import SquaredNoise

EPS = float(np.finfo(np.float64).eps)
RNG = np.random.default_rng(0)
N, L = 60, 25
X_ALL = RNG.standard_normal((N, 4))
H_ALL = np.tanh(X_ALL @ RNG.standard_normal((4, L)) + RNG.standard_normal(L)) * RNG.uniform(1, 9, L)
Y_ALL = (np.sin(2 * X_ALL[:, 0]) + X_ALL[:, 1] + 0.3 * RNG.standard_normal(N))[:, None]


def posed(H, Y, s=None, chunk_size=17):
    problem = RidgeProblem(ArrayRows(H, Y, s, chunk_size), lambda rows: rows, H.shape[1], EPS)
    return problem, problem.gram()


def textbook_lars(H, y):
    """Least angle regression on explicit columns of unit length, one solve per step."""
    active, fit = [], np.zeros_like(y)
    j = int(np.argmax(np.abs(H.T @ y)))
    while True:
        active.append(j)
        c = H.T @ (y - fit)
        C = np.abs(c[active]).mean()
        signed = H[:, active] * np.sign(c[active])
        weights = np.linalg.solve(signed.T @ signed, np.ones(len(active)))
        direction = signed @ weights
        a, steps = H.T @ direction, {}
        for i in set(range(H.shape[1])) - set(active):
            ways = ((C - c[i]) / (1 - a[i]), (C + c[i]) / (1 + a[i]))
            steps[i] = min(way for way in ways if way > 0)
        if not steps:
            return np.array(active)
        j = min(steps, key=steps.get)
        fit = fit + steps[j] * direction


def press(H, y, s=None):
    """Refit least squares without each row."""
    s = np.ones(len(y)) if s is None else s
    total = 0.0
    for i in range(len(y)):
        left = s.copy()
        left[i] = 0
        root = np.sqrt(left)
        beta = np.linalg.lstsq(H * root[:, None], y * root, rcond=1e-12)[0]
        total += s[i] * (y[i] - H[i] @ beta) ** 2
    return total


def test_the_ranking_is_that_of_least_angle_regression():
    H = H_ALL / np.linalg.norm(H_ALL, axis=0)
    expected = textbook_lars(H, Y_ALL[:, 0])
    np.testing.assert_array_equal(rank_neurons(posed(H_ALL, Y_ALL)[1]), expected)


def test_the_ranking_is_that_of_scikit_learn_while_no_coefficient_passes_zero():
    """Beyond that point scikit-learn's active correlations are no longer equal in size."""
    H = H_ALL / np.linalg.norm(H_ALL, axis=0)
    order = rank_neurons(posed(H_ALL, Y_ALL)[1])
    _, active, path = lars_path(H, Y_ALL[:, 0], method="lar")
    passed = [(path[:, k] * path[:, k + 1] < 0).any() for k in range(path.shape[1] - 1)]
    same = passed.index(True) + 1
    assert same >= 3
    np.testing.assert_array_equal(order[:same], active[:same])
    correlations = np.abs(H.T @ (Y_ALL[:, 0] - H @ path[:, same + 3]))[active[:same]]
    assert correlations.min() < 0.9 * correlations.max()

    nearly = np.linalg.qr(H_ALL)[0] + 0.01 * H  # orthogonal enough for nothing to pass zero
    nearly /= np.linalg.norm(nearly, axis=0)
    lars = Lars(fit_intercept=False, n_nonzero_coefs=L).fit(nearly, Y_ALL[:, 0])
    scaled = nearly * RNG.uniform(0.1, 10, size=L)
    np.testing.assert_array_equal(rank_neurons(posed(scaled, Y_ALL)[1]), lars.active_)


@pytest.mark.parametrize("unit", [-1e3, 1e-18])
def test_scale_and_unit_do_not_change_the_ranking(unit):
    order = rank_neurons(posed(H_ALL, Y_ALL)[1])
    moved = posed(H_ALL * 10.0 ** RNG.integers(-5, 6, size=L), unit * Y_ALL)[1]
    np.testing.assert_array_equal(rank_neurons(moved), order)


def test_each_output_ranks_its_own_neurons_first():
    other = RNG.standard_normal((N, 1))
    orders = [rank_neurons(posed(H_ALL, Y)[1]) for Y in (Y_ALL, other)]
    both = rank_neurons(posed(H_ALL, np.hstack([Y_ALL, 1e4 * other]))[1])
    for k in range(1, L):
        assert set(orders[0][:k]) | set(orders[1][:k]) <= set(both[: 2 * k])


@pytest.mark.parametrize("n", [60, 26, 20], ids=["more rows", "one more row", "fewer rows"])
def test_errors_of_every_count_equal_refitting_without_each_row(n):
    problem, sums = posed(H_ALL[:n], Y_ALL[:n])
    order = rank_neurons(sums)
    squares = press_by_count(problem, sums, order)
    most = min(L, n - 2)  # beyond, rows are memorised and leaving one out has no unique answer
    expected = [press(H_ALL[:n][:, order[: k + 1]], Y_ALL[:n, 0]) for k in range(most)]
    np.testing.assert_allclose(squares[:most, 0], expected, rtol=1e-6)
    assert np.isfinite(squares).all()
    selection = op_elm(problem, sums)
    assert len(selection.neurons) == np.argmin(expected) + 1
    np.testing.assert_allclose(selection.errors[:most] * (Y_ALL[:n] ** 2).sum(), expected, 1e-6)


def test_nearly_collinear_neurons_keep_their_digits():
    """Neurons that differ by 1e-6: their Gram matrix alone knows 4 digits of that difference."""
    H = np.repeat(H_ALL[:, :4], 2, axis=1)
    H[:, 1::2] += 1e-6 * RNG.standard_normal((N, 4))
    problem, sums = posed(H, Y_ALL)
    squares = press_by_count(problem, sums, np.arange(8))[:, 0]
    expected = [press(H[:, : k + 1], Y_ALL[:, 0]) for k in range(8)]
    np.testing.assert_allclose(squares, expected, rtol=1e-6)


@pytest.mark.parametrize("n", [60, 20])
def test_count_and_strength_equal_brute_force(n):
    H, Y = H_ALL[:n], Y_ALL[:n]
    problem, sums = posed(H, Y)
    order, counts = rank_neurons(sums), [2, 5, 12, 25]
    selection = trop_elm(problem, sums, counts[::-1])
    errors, grids = [], []
    for k in counts:
        first = H[:, order[:k]]
        grids.append(alpha_grid(float((first**2).sum()), k, EPS, H))
        left_out = [oracle.leave_one_out_residuals(first, Y[:, 0], g) for g in grids[-1]]
        errors.append((np.array(left_out) ** 2).sum(axis=1))
    least = np.array([e.min() for e in errors])
    best = int(least.argmin())
    # Refitting by normal equations costs digits at the smallest strengths of memorised rows.
    np.testing.assert_allclose(selection.errors * (Y**2).sum(), least, rtol=1e-4)
    assert len(selection.neurons) == counts[best]
    # Of strengths whose errors agree to 1e-6 the largest is taken.
    good = grids[best][errors[best] <= errors[best].min() * (1 + 1e-6)]
    assert selection.alpha[0] == pytest.approx(good.max())


@pytest.mark.parametrize("alpha", [None, 0.7])
@pytest.mark.parametrize("method", ["cv", "validation"])
def test_held_out_errors_equal_refitting_without_the_fold(method, alpha):
    folds, counts = RNG.integers(0, 4, size=N), [3, 10, 25]
    folds = folds if method == "cv" else np.where(folds == 0, 0, -1)
    s = RNG.uniform(0.5, 3, size=N)
    problem, sums = posed(H_ALL, Y_ALL, s)
    selection = select_count(problem, sums, alpha, counts, folds)
    expected = []
    for k in counts:
        H = H_ALL[:, :k]
        trace = float((s[:, None] * H**2).sum())
        grid = alpha_grid(trace, k, EPS, H) if alpha is None else [alpha]
        errors = np.zeros(len(grid))
        for f in range(folds.max() + 1):
            out = folds == f
            for g, gamma in enumerate(grid):
                beta = oracle.ridge(H[~out], Y_ALL[~out, 0], gamma, s[~out])
                errors[g] += s[out] @ (Y_ALL[out, 0] - H[out] @ beta) ** 2
        expected.append(errors.min() / (s @ Y_ALL[:, 0] ** 2))
    np.testing.assert_allclose(selection.errors, expected, rtol=1e-6)
    np.testing.assert_array_equal(selection.neurons, np.arange(counts[np.argmin(expected)]))


def test_leave_one_out_over_counts_is_refitting_without_each_row():
    problem, sums = posed(H_ALL, Y_ALL)
    selection = select_count(problem, sums, 0.7, [4, 9, 25])
    expected = [
        (oracle.leave_one_out_residuals(H_ALL[:, :k], Y_ALL[:, 0], 0.7) ** 2).sum()
        for k in (4, 9, 25)
    ]
    np.testing.assert_allclose(selection.errors * (Y_ALL**2).sum(), expected, rtol=1e-8)


def test_memorised_rows_are_left_out_without_cancellation():
    """As γ → 0, residuals and 1 - lev vanish, and their quotient is (K⁻¹y)_i / (K⁻¹)_ii."""
    H, Y = H_ALL[:20], Y_ALL[:20]
    K = np.linalg.inv(H @ H.T)
    expected = (((K @ Y[:, 0]) / np.diag(K)) ** 2).sum()
    selection = select_count(*posed(H, Y), 1e-12, [L])
    assert selection.errors[0] * (Y**2).sum() == pytest.approx(expected, rel=1e-5)


MATTER = [3, 14, 15, 9, 26]


def few_matter(seed, n):
    """Draw rows whose target is made of 5 of 60 neurons."""
    rng = np.random.default_rng(seed)
    H = np.tanh(rng.standard_normal((n, 10)) @ rng.standard_normal((10, 60)))
    return H, (H[:, MATTER] @ [3.0, -2, 2, 3, -2] + 0.5 * rng.standard_normal(n))[:, None]


@pytest.mark.one_quick
@pytest.mark.parametrize("select", [op_elm, trop_elm])
def test_few_neurons_are_found_where_few_matter_and_beat_all(select):
    counts, ratios = [], []
    for seed in range(10):
        H, Y = few_matter(seed, 1080)
        chosen = select(*posed(H[:80], Y[:80])).neurons
        assert set(MATTER) <= set(chosen)
        errors = []
        for neurons in (chosen, np.arange(60)):
            beta = np.linalg.lstsq(H[:80, neurons], Y[:80], rcond=None)[0]
            errors.append(((Y[80:] - H[80:, neurons] @ beta) ** 2).mean())
        counts.append(len(chosen))
        ratios.append(errors[0] / errors[1])
    assert np.median(counts) <= 20
    assert max(ratios) < 1
    assert np.median(ratios) < 0.5


def every_method(H, Y, s=None, chunk_size=17, folds=None):
    problem, sums = posed(H, Y, s, chunk_size)
    counts = [2, 6, 15, 25]
    return [
        op_elm(problem, sums),
        trop_elm(problem, sums, counts),
        select_count(problem, sums, None, counts),
        select_count(problem, sums, None, counts, folds),
        select_count(problem, sums, 0.3, counts, folds),
    ]


def assert_alike(ones, others, rtol=1e-7):
    for one, other in zip(ones, others, strict=True):
        np.testing.assert_array_equal(one.neurons, other.neurons)
        np.testing.assert_allclose(one.errors, other.errors, rtol=rtol)
        np.testing.assert_allclose(one.alpha, other.alpha)


FOLDS = RNG.integers(0, 3, size=N)


@pytest.mark.slow
@given(st.integers(1, 70), st.randoms(use_true_random=False))
def test_chunks_and_order_of_rows_do_not_matter(chunk_size, random):
    order = np.arange(N)
    random.shuffle(order)
    moved = every_method(H_ALL[order], Y_ALL[order], None, chunk_size, FOLDS[order])
    assert_alike(moved, every_method(H_ALL, Y_ALL, folds=FOLDS))


def test_rows_are_left_out_with_all_of_their_weight():
    s = RNG.uniform(0.3, 3, size=N)
    weighted = every_method(H_ALL, Y_ALL, s, folds=FOLDS)
    expected = press(H_ALL[:, weighted[0].neurons], Y_ALL[:, 0], s)
    assert weighted[0].errors.min() * (s @ Y_ALL[:, 0] ** 2) == pytest.approx(expected)


def test_outputs_add_up_in_their_own_units():
    other = RNG.standard_normal((N, 1))
    both = np.hstack([Y_ALL, 1e3 * other])
    problem, sums = posed(H_ALL, both)
    order = rank_neurons(sums)
    together = press_by_count(problem, sums, order)
    for j, Y in enumerate((Y_ALL, 1e3 * other)):
        alone, own = posed(H_ALL, Y)
        np.testing.assert_allclose(press_by_count(alone, own, order)[:, 0], together[:, j])
    expected = (together / (both**2).sum(axis=0)).mean(axis=1)
    np.testing.assert_allclose(op_elm(problem, sums).errors, expected)


def test_every_library_gives_the_same(xp):
    arrays = xp.asarray(H_ALL), xp.asarray(Y_ALL)
    assert_alike(every_method(*arrays, folds=FOLDS), every_method(H_ALL, Y_ALL, folds=FOLDS))


def test_constant_and_duplicate_neurons_are_not_chosen_for_anything():
    H = np.column_stack([np.zeros(N), H_ALL, H_ALL[:, ::-1], np.zeros(N)])
    problem, sums = posed(H, Y_ALL)
    for select in (op_elm, trop_elm):
        chosen = select(problem, sums).neurons
        assert not set(chosen) & {0, 2 * L + 1}
    order = rank_neurons(sums)
    assert len({min(i - 1, 2 * L - i) for i in order[:L]}) == L  # one of each pair comes first
    errors = op_elm(problem, sums).errors
    np.testing.assert_allclose(errors[:L], op_elm(*posed(H_ALL, Y_ALL)).errors, rtol=1e-6)
    np.testing.assert_allclose(errors[L:], errors[L - 1])


@pytest.mark.one_quick
@pytest.mark.parametrize("n", [1, 2, 5, 20, 25])
@pytest.mark.parametrize("target", ["noise", "constant", "zero"])
def test_few_rows_and_constant_targets_leave_a_valid_choice(n, target):
    Y = {"noise": Y_ALL[:n], "constant": np.ones((n, 1)), "zero": np.zeros((n, 1))}[target]
    folds = np.arange(n) % 2 if n > 1 else None
    for selection in every_method(H_ALL[:n], Y, folds=folds):
        assert 1 <= len(selection.neurons) <= L
        assert np.isfinite(selection.errors).all()
        if target == "zero":
            assert len(selection.neurons) <= 2


def test_a_row_that_alone_determines_a_neuron_does_not_decide():
    H = np.column_stack([H_ALL[:, 0], np.eye(N)[0], H_ALL[:, 1:3]])
    problem, sums = posed(H, Y_ALL)
    squares = press_by_count(problem, sums, np.arange(4))[:, 0]
    # Without the first row its own neuron is zero throughout, as if it were not there.
    np.testing.assert_allclose(squares[1], press(H[:, :2], Y_ALL[:, 0]))
    assert squares[3] < 10 * squares[0]


def test_wrong_requests_are_refused_with_a_sentence():
    problem, sums = posed(H_ALL, Y_ALL)
    for counts in ([], [0, 3], [3, 26]):
        with pytest.raises(ValueError, match="counts must lie between 1 and the 25 neurons"):
            select_count(problem, sums, counts=counts)
    with pytest.raises(ValueError, match="two folds at least"):
        select_count(problem, sums, folds=np.zeros(N, dtype=int))
    with pytest.raises(ValueError, match="not finite"):
        rank_neurons(replace(sums, HtH=np.nan * sums.HtH))


def test_kept_neurons_are_columns_of_the_layer():
    spec = LayerSpec.parse({"linear": 4, "tanh": 9, "rbf_l2": 6})
    raw = ArrayRows(X_ALL, Y_ALL)
    hidden = draw_hidden(raw, Scaling(np.zeros(4), np.ones(4)), spec, 0)
    for neurons in ([17, 2, 5], [4], np.arange(19)):
        kept = keep(hidden, np.array(neurons))
        assert kept.n_neurons == len(neurons)
        np.testing.assert_allclose(kept(X_ALL), hidden(X_ALL)[:, np.sort(neurons)])
    sums = posed(hidden(X_ALL), Y_ALL)[1]
    some = keep_sums(sums, np.array([17, 2, 5]))
    expected = posed(hidden(X_ALL)[:, [17, 2, 5]], Y_ALL)[1]
    np.testing.assert_allclose(some.HtH, expected.HtH)
    np.testing.assert_allclose(some.HtY, expected.HtY)


@pytest.mark.slow
@pytest.mark.one_on_jax
@pytest.mark.parametrize("n", [60, 30])
@pytest.mark.parametrize("method", SELECTION_METHODS)
def test_both_stages_are_solved_on_the_selected_neurons(method, n, xp):
    rows = ArrayRows(xp.asarray(X_ALL[:n]), xp.asarray(Y_ALL[:n]), chunk_size=13)
    mean = fit_mean(rows, LayerSpec.parse(40), 0.2, xp.float64, 0, method)
    every = LayerSpec.parse(40).draw(4, 0)
    Z = (X_ALL[:n] - X_ALL[:n].mean(axis=0)) / X_ALL[:n].std(axis=0)
    H = every(Z)[:, np.sort(mean.selection.neurons)]
    y = to_numpy(mean.rows.Y)[:, 0]
    coef = oracle.ridge(H, y, 0.2)
    np.testing.assert_allclose(to_numpy(mean.layer.coef)[:, 0], coef, rtol=1e-6)
    assert mean.hidden.n_neurons == mean.features.hidden.n_neurons == H.shape[1]

    own = FeatureMap(mean.inputs, LayerSpec.parse(30).draw(4, 1)).to(rows.X, xp.float64)
    noise = SquaredNoise.fit(mean, own, 0.5, selection=method, seed=3)
    H_noise = to_numpy(own.apply(rows.X))[:, np.sort(noise.selection.neurons)]
    r = y - H @ coef
    expected = oracle.ridge(H_noise, r**2, 0.5)
    np.testing.assert_allclose(to_numpy(noise.layer.coef)[:, 0], expected, rtol=1e-5, atol=1e-12)
    sandwich = oracle.weighted_jackknife(H_noise, r**2 - H_noise @ expected, 0.5)
    np.testing.assert_allclose(to_numpy(noise.noise_covariance)[0], sandwich, rtol=1e-4, atol=1e-9)


def test_a_shared_layer_is_narrowed_for_the_noise_model_alone():
    mean = fit_mean(ArrayRows(X_ALL, Y_ALL), LayerSpec.parse(40), 0.2, np.float64, 0)
    noise = SquaredNoise.fit(mean, None, 0.2, selection="op-elm")
    assert noise.features.hidden.n_neurons == len(noise.selection.neurons) < 40
    assert mean.hidden.n_neurons == 40
    assert SquaredNoise.fit(mean, None, 0.2).selection is None


def test_folds_belong_to_the_values_of_rows():
    X = np.vstack([X_ALL, X_ALL[:20]])
    scaling = Scaling(np.zeros(4), np.ones(4))
    folds = row_folds(ArrayRows(X, X[:, :1]), scaling, 0)
    np.testing.assert_array_equal(folds[60:], folds[:20])
    order = RNG.permutation(80)
    np.testing.assert_array_equal(
        row_folds(ArrayRows(X[order], X[:, :1]), scaling, 0), folds[order]
    )
    np.testing.assert_array_equal(np.bincount(folds[:60]), [60 // mean_module._FOLDS] * 5)


@pytest.mark.parametrize("method", ["cv", "validation"])
def test_a_validation_set_is_one_fold(method):
    mean = fit_mean(ArrayRows(X_ALL, Y_ALL), LayerSpec.parse(40), 0.2, np.float64, 5, method)
    folds = row_folds(mean.rows, mean.inputs, 5)
    H = LayerSpec.parse(40).draw(4, 5)(mean.inputs(X_ALL))
    folds = folds if method == "cv" else np.where(folds == 0, 0, -1)
    assert_alike([mean.selection], [select_count(*posed(H, mean.rows.Y), 0.2, folds=folds)])
