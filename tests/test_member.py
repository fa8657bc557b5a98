import numpy as np
import pytest

from elmband.ground.arrays import to_numpy
from elmband.layers.hidden import FeatureMap, HiddenLayer
from elmband.layers.member import Judged, fit_members
from elmband.layers.neurons import Neurons
from elmband.layers.solve import alpha_grid
from elmband.stacks.stack_variance import mean_uncertainty
from elmband.sums.rows import ArrayRows
from elmband.sums.scaling import Scaling

EPS = 2.0**-52
RNG = np.random.default_rng(0)
L = 20
SIZES = {"more rows": 60, "one more row": 21, "as many rows": 20, "fewer rows": 12}
# Far from the origin, so that forgetting to centre shows.
H_ALL = 1 + RNG.standard_normal((60, L))
Y_ALL = 5 + 0.3 * H_ALL @ RNG.standard_normal(L) + 2 * RNG.standard_normal(60)
S_ALL = RNG.uniform(0.2, 3, size=60)
TRIPLES = np.arange(60) // 3
NOISE = RNG.uniform(0.5, 2, size=(60, 1))


def fit_member(rows, judged, features, rule, eps):
    everyone = judged.rows.X.shape[0] == len(rows)
    (fitted,) = fit_members(None if everyone else rows, judged, [features], rule, eps)
    return fitted


def ridge_with_intercept(H, y, gamma, s):
    """Solve for [1, H] with a penalty on all weights but the first."""
    A = np.column_stack([np.ones(len(y)), H])
    penalty = gamma * np.diag([0.0] + [1.0] * H.shape[1])
    return np.linalg.solve(A.T @ (s[:, None] * A) + penalty, A.T @ (s * y))


def refitted(H, y, gamma, s, labels):
    """Refit without each label in turn, and return the errors of its rows."""
    errors = np.empty(len(y))
    for label in np.unique(labels):
        out = labels == label
        beta = ridge_with_intercept(H[~out], y[~out], gamma, s[~out])
        errors[out] = y[out] - beta[0] - H[out] @ beta[1:]
    return errors


def hidden_as_given(n_neurons=L):
    """Return a map that hands its inputs on, so that H is what a test says it is."""
    linear = Neurons("linear", np.eye(n_neurons), np.zeros(n_neurons))
    scaling = Scaling(np.zeros(n_neurons), np.ones(n_neurons))
    return FeatureMap(scaling, HiddenLayer((linear,)))


def fit(H, y, rule, s=None, *, labels=None, judged=None, eps=EPS):
    """Train on all rows and judge on all of them, or on those named."""
    Y = y[:, None] if y.ndim == 1 else y
    everyone = ArrayRows(H, Y, s, chunk_size=7).whole()
    if judged is None:
        chosen = everyone
    else:
        chosen = type(everyone)(*(a if a is None else a[judged] for a in everyone))
        labels = labels if labels is None else labels[judged]
    weights = np.ones(len(chosen.X)) if s is None else chosen.s
    rows = ArrayRows.of(everyone, 7)
    return fit_member(rows, Judged(chosen, weights, labels), hidden_as_given(), rule, eps)


@pytest.fixture(params=SIZES.values(), ids=SIZES.keys())
def n(request):
    return request.param


@pytest.fixture(params=[False, True], ids=["plain", "weighted"])
def weights(request, n):
    return S_ALL[:n] if request.param else None


@pytest.mark.one_quick
@pytest.mark.parametrize("labels", [np.arange(60), TRIPLES], ids=["single rows", "groups"])
@pytest.mark.parametrize("gamma", [1e-3, 0.5, 30.0])
def test_errors_of_rows_left_out_equal_refitting(n, weights, labels, gamma):
    H, y = H_ALL[:n], Y_ALL[:n]
    s = np.ones(n) if weights is None else weights
    grouped = labels[:n] if labels is TRIPLES else None
    fitted = fit(H, y, gamma, weights, labels=grouped)
    expected = refitted(H, y, gamma, s, labels[:n])
    # Where rows hardly outnumber neurons, solving the equations outright costs digits at small γ.
    np.testing.assert_allclose(fitted.left.left_out[:, 0], expected, rtol=1e-6)
    beta = ridge_with_intercept(H, y, gamma, s)
    np.testing.assert_allclose(fitted.left.residuals[:, 0], y - beta[0] - H @ beta[1:], atol=1e-9)
    new = H_ALL[::-1]
    predicted = fitted.member.predict(fitted.member.hidden(new))[:, 0]
    np.testing.assert_allclose(predicted, beta[0] + new @ beta[1:], rtol=1e-7)


def test_leverage_is_that_of_the_regression_with_intercept(n, weights):
    s = np.ones(n) if weights is None else weights
    left = fit(H_ALL[:n], Y_ALL[:n], 0.5, weights).left
    A = np.column_stack([np.ones(n), H_ALL[:n]])
    inverse = np.linalg.inv(A.T @ (s[:, None] * A) + 0.5 * np.diag([0.0] + [1.0] * L))
    expected = np.sum((A @ inverse) * A, axis=1)
    np.testing.assert_allclose(left.leverage[:, 0], expected, rtol=1e-8)
    np.testing.assert_allclose(left.rest[:, 0], 1 - s * expected, rtol=1e-8)


def centred_grid(H, s):
    centred = H - np.average(H, axis=0, weights=s)
    return alpha_grid(float(s @ (centred**2).sum(axis=1)), L, EPS, H)


def largest_of_the_best(grid, scores):
    # Of strengths whose scores agree to 1e-6 the largest is taken.
    return grid[scores <= np.min(scores) * (1 + 1e-6)].max()


@pytest.mark.one_quick
@pytest.mark.parametrize("labels", [np.arange(60), TRIPLES], ids=["single rows", "groups"])
def test_chosen_strength_equals_brute_force(n, weights, labels):
    H, y = H_ALL[:n], Y_ALL[:n]
    s = np.ones(n) if weights is None else weights
    grid = centred_grid(H, s)
    errors = [s @ refitted(H, y, gamma, s, labels[:n]) ** 2 for gamma in grid]
    grouped = labels[:n] if labels is TRIPLES else None
    chosen = fit(H, y, "loo", weights, labels=grouped).member.alpha
    assert chosen[0] == pytest.approx(largest_of_the_best(grid, errors))


def test_chosen_strength_by_generalised_cross_validation_equals_brute_force(n):
    H, y, s = H_ALL[:n], Y_ALL[:n], np.ones(n)
    A = np.column_stack([np.ones(n), H])
    penalty = np.diag([0.0] + [1.0] * L)
    grid = centred_grid(H, s)
    scores = []
    for gamma in grid:
        hat = A @ np.linalg.solve(A.T @ A + gamma * penalty, A.T)
        scores.append(np.sum((y - hat @ y) ** 2) / (n - np.trace(hat)) ** 2)
    assert fit(H, y, "gcv").member.alpha[0] == pytest.approx(largest_of_the_best(grid, scores))


def test_a_given_strength_is_used_as_it_is_and_zero_is_made_positive(n):
    assert fit(H_ALL[:n], Y_ALL[:n], 0.7).member.alpha[0] == 0.7
    fitted = fit(H_ALL[:n], Y_ALL[:n], 0.0)
    assert 0 < fitted.member.alpha[0] < 1e-12 * n * L
    assert np.isfinite(fitted.left.left_out).all()


def test_rows_of_low_rank_in_the_dual_form():
    H = H_ALL[:12, :4] @ np.random.default_rng(1).standard_normal((4, L))
    fitted = fit(H, Y_ALL[:12], 0.5)
    expected = refitted(H, Y_ALL[:12], 0.5, np.ones(12), np.arange(12))
    np.testing.assert_allclose(fitted.left.left_out[:, 0], expected, rtol=1e-8)


def test_interpolation_has_the_errors_of_its_limit():
    """As γ goes to zero, e goes to (K⁺y)_i / K⁺_ii of the centred rows, and r to zero."""
    H, y = H_ALL[:12], Y_ALL[:12]
    left = fit(H, y, 1e-10).left
    centre = np.eye(12) - 1 / 12
    K = np.linalg.pinv(centre @ H @ H.T @ centre, rcond=1e-12)
    np.testing.assert_allclose(left.left_out[:, 0], (K @ y) / np.diag(K), rtol=1e-6)
    assert np.abs(left.residuals).max() < 1e-9


@pytest.mark.parametrize("labels", [None, TRIPLES], ids=["single rows", "groups"])
@pytest.mark.parametrize("weighted", [False, True])
def test_a_sample_of_judged_rows_has_the_errors_that_all_rows_give(labels, weighted):
    judged = np.flatnonzero(np.isin(TRIPLES, [0, 3, 4, 11, 19]))
    s = S_ALL if weighted else None
    part, whole = (
        fit(H_ALL, Y_ALL, 0.5, s, labels=labels, judged=index) for index in (judged, None)
    )
    np.testing.assert_allclose(part.member.coef, whole.member.coef, rtol=1e-10)
    for name in ("residuals", "left_out", "leverage", "rest"):
        mine, theirs = (getattr(fitted.left, name) for fitted in (part, whole))
        np.testing.assert_allclose(mine, theirs[judged], rtol=1e-9)


def test_a_sample_decides_the_strength_by_its_own_rows():
    judged = np.arange(15)
    grid = centred_grid(H_ALL, np.ones(60))
    errors = [
        np.sum(refitted(H_ALL, Y_ALL, gamma, np.ones(60), np.arange(60))[judged] ** 2)
        for gamma in grid
    ]
    chosen = fit(H_ALL, Y_ALL, "loo", judged=judged).member.alpha
    assert chosen[0] == pytest.approx(largest_of_the_best(grid, errors))


def test_every_output_is_solved_on_its_own():
    both = np.column_stack([Y_ALL, np.random.default_rng(1).standard_normal(60)])
    fitted = fit(H_ALL, both, "loo", labels=TRIPLES)
    assert fitted.member.alpha[0] != fitted.member.alpha[1]
    for j in range(2):
        alone = fit(H_ALL, both[:, j], "loo", labels=TRIPLES)
        for name in ("residuals", "left_out", "leverage", "rest"):
            mine, theirs = getattr(fitted.left, name)[:, j], getattr(alone.left, name)[:, 0]
            np.testing.assert_allclose(mine, theirs, rtol=1e-9)


def own_noise(fitted):
    """Return σ², the mean of r·e where that is positive."""
    products = np.clip(fitted.left.residuals * fitted.left.left_out, 0, None)[:, 0]
    return np.average(products, weights=fitted.eigen.s)


def naive_covariance(H, w, gamma, s, variance):
    """Return P (Σ s² w hᵀh) P with the intercept first, and γ σ² P² for the neurons."""
    centred = H - np.average(H, axis=0, weights=s)
    rows = np.column_stack([np.ones(len(H)), centred])
    penalty = np.diag([0.0] + [gamma] * L)
    P = np.linalg.inv(rows.T @ (s[:, None] * rows) + penalty)
    meat = rows.T @ ((s**2 * w)[:, None] * rows)
    return P @ meat @ P + variance * P @ penalty @ P


@pytest.mark.parametrize("gamma", [1e-2, 0.5, 30.0])
def test_covariance_is_the_sandwich_with_the_part_that_it_lacks(n, weights, gamma):
    s = np.ones(n) if weights is None else weights
    fitted = fit(H_ALL[:n], Y_ALL[:n], gamma, weights)
    actual = mean_uncertainty(fitted, NOISE[:n]).covariance[0]
    expected = naive_covariance(H_ALL[:n], NOISE[:n, 0], gamma, s, own_noise(fitted))
    np.testing.assert_allclose(actual, expected, rtol=1e-7, atol=1e-9 * np.abs(expected).max())


def test_neurons_that_are_constant_leave_the_variance_of_the_intercept():
    """Whether rounding leaves them a direction depends on the processor; there may be none."""
    n = len(H_ALL)
    fitted = fit(np.zeros_like(H_ALL), Y_ALL, 0.5)
    found = mean_uncertainty(fitted, NOISE).covariance[0]
    np.testing.assert_allclose(found[0, 0], NOISE[:, 0].sum() / n**2)
    np.testing.assert_allclose(found[1:, 1:], np.eye(L) * found[1, 1], atol=1e-12)


def test_covariance_from_a_sample_stands_for_all_rows():
    """Equal noise and a sample that is every second of rows met twice: no sampling error."""
    H, y = np.repeat(H_ALL, 2, axis=0), np.repeat(Y_ALL, 2)
    whole, part = (fit(H, y, 0.5, judged=index) for index in (None, np.arange(0, 120, 2)))
    expected = mean_uncertainty(whole, np.repeat(NOISE, 2, axis=0)).covariance
    actual = mean_uncertainty(part, NOISE).covariance
    np.testing.assert_allclose(actual, expected, rtol=1e-8, atol=1e-12)


@pytest.mark.parametrize("gamma", [1e-2, 0.5, 30.0])
def test_variance_at_rows_left_out_equals_refitting(n, weights, gamma):
    """Given the noise of the other rows, for more rows than neurons, as many and fewer."""
    s = np.ones(n) if weights is None else weights
    fitted = fit(H_ALL[:n], Y_ALL[:n], gamma, weights)
    variance = own_noise(fitted)
    rows = np.column_stack([np.ones(n), H_ALL[:n]])
    penalty = np.diag([0.0] + [gamma] * L)
    expected = []
    for i in range(n):
        others = np.arange(n) != i
        left, so = rows[others], s[others]
        hP = np.linalg.solve(left.T @ (so[:, None] * left) + penalty, rows[i])
        sandwich = (so**2 * NOISE[:n, 0][others]) @ (left @ hP) ** 2
        expected.append(sandwich + variance * hP @ penalty @ hP)
    actual = mean_uncertainty(fitted, NOISE[:n]).left_out[:, 0]
    np.testing.assert_allclose(actual, expected, rtol=1e-6)


@pytest.mark.parametrize("rule", [0.5, "loo", "gcv"])
@pytest.mark.parametrize("labels", [None, TRIPLES], ids=["single rows", "groups"])
def test_every_library_gives_the_same(xp, n, rule, labels):
    labels = labels if labels is None else labels[:n]
    expected = fit(H_ALL[:n], Y_ALL[:n], rule, S_ALL[:n], labels=labels)
    X, Y, s, noise = (xp.asarray(a[:n]) for a in (H_ALL, Y_ALL[:, None], S_ALL, NOISE))
    rows = ArrayRows(X, Y, s, chunk_size=7)
    features = hidden_as_given().to(X, xp.float64)
    actual = fit_member(rows, Judged(rows.whole(), s, labels), features, rule, EPS)
    results = []
    for fitted, w, Z in ((actual, noise, X), (expected, NOISE[:n], H_ALL[:n])):
        covariance, variance = mean_uncertainty(fitted, w)
        mean = fitted.member.predict(fitted.member.hidden(Z))
        results.append((fitted.member.coef, fitted.left.left_out, mean, covariance, variance))
    for mine, theirs in zip(*results, strict=True):
        atol = 1e-8 * np.abs(theirs).max()
        np.testing.assert_allclose(to_numpy(mine), theirs, rtol=1e-6, atol=atol)


@pytest.mark.parametrize("labels", [None, TRIPLES], ids=["single rows", "groups"])
def test_float32_products_stay_close(n, labels):
    labels = labels if labels is None else labels[:n]
    double = fit(H_ALL[:n], Y_ALL[:n], 5.0, labels=labels)
    rows = ArrayRows(*(a[:n].astype(np.float32) for a in (H_ALL, Y_ALL[:, None])))
    features = hidden_as_given().to(rows.X, np.float32)
    judged = Judged(rows.whole(), np.ones(n), labels)
    single = fit_member(rows, judged, features, 5.0, 2.0**-23)
    assert single.left.left_out.dtype == np.float64
    gap = single.left.left_out - double.left.left_out
    assert np.abs(gap).max() < 1e-4 * np.abs(double.left.left_out).max()


@pytest.mark.parametrize("n_rows", [60, 12])
def test_neurons_that_are_not_finite_are_refused(n_rows):
    H = H_ALL[:n_rows].copy()
    H[3, 5] = np.inf
    with np.errstate(all="ignore"), pytest.raises(ValueError, match="values that are not finite"):
        fit(H, Y_ALL[:n_rows], 0.5)


@pytest.mark.parametrize("labels", [None, TRIPLES], ids=["single rows", "groups"])
def test_honest_errors_have_the_strength_that_the_other_folds_choose(labels):
    folds = TRIPLES % 4
    rows = ArrayRows(H_ALL, Y_ALL[:, None], S_ALL)
    judged = Judged(rows.whole(), S_ALL, labels, folds)
    left = fit_member(rows, judged, hidden_as_given(), "loo", EPS).left
    grid = centred_grid(H_ALL, S_ALL)
    groups = np.arange(60) if labels is None else labels
    errors = np.array([refitted(H_ALL, Y_ALL, gamma, S_ALL, groups) for gamma in grid])
    for fold in range(4):
        here = folds == fold
        scores = errors[:, ~here] ** 2 @ S_ALL[~here]
        chosen = errors[grid == largest_of_the_best(grid, scores)][0]
        np.testing.assert_allclose(left.honest[here, 0], chosen[here], rtol=1e-6)
    given = fit_member(rows, judged, hidden_as_given(), 0.5, EPS).left
    np.testing.assert_array_equal(given.honest, given.left_out)
