import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import minimize, nnls

from elmband.engines import engine
from elmband.ground.arrays import to_numpy
from elmband.layers.hidden import LayerSpec
from elmband.layers.member import Judged
from elmband.stacks.ensemble import honest_errors, stacking_weights
from elmband.stacks.families import blind_specs
from elmband.stacks.pool import Pool
from elmband.stacks.search import fit_stack
from elmband.sums.moments import Chunk
from elmband.sums.rows import ArrayRows
from elmband.sums.scaling import Scaling, column_moments

RNG = np.random.default_rng(0)
N = 120
X = RNG.uniform(-2, 2, size=(N, 3))
Y = (np.sin(2 * X[:, 0]) + X[:, 1] + 0.3 * RNG.standard_normal(N))[:, None]
S = RNG.uniform(0.2, 3, size=N)
LABELS = RNG.integers(0, 25, size=N)
SPECS = [
    LayerSpec((("tanh", 30),)),
    LayerSpec((("relu", 40),), placed=True),
    LayerSpec((("rbf_l2", 20),), weight_scale=2.0),
]


def standardised(X, Y, s=None):
    """Return rows with targets of mean 0 and variance 1, and the scaling of inputs."""
    rows = ArrayRows(X, Y, s, chunk_size=50)
    inputs = Scaling.from_moments(engine.total(rows, lambda c: column_moments(c.X, c.s)))
    targets = Scaling.from_moments(engine.total(rows, lambda c: column_moments(c.Y, c.s)))
    return ArrayRows(X, targets(Y), s, chunk_size=50), inputs


def pool_of(X, Y, s=None, labels=None, seed=3):
    rows, inputs = standardised(X, Y, s)
    return Pool.of(rows, inputs, labels, 500, seed, 2.0**-52)


def judged(s, folds=None):
    return Judged(Chunk(X, Y, s), s, None, folds)


def predictions(rng, n=N, members=4):
    """Return members of different merit and what they leave of the targets."""
    target = rng.standard_normal(n)
    merit, spread = rng.uniform(0, 1, size=members), rng.uniform(0.2, 1, size=members)
    P = merit[:, None] * target + spread[:, None] * rng.standard_normal((members, n))
    return target[:, None], [(target - p)[:, None] for p in P], P


def loss(w, target, P, s):
    return float(s @ (target[:, 0] - w @ P) ** 2)


@pytest.mark.parametrize("s", [np.ones(N), S], ids=["plain", "weighted"])
@pytest.mark.parametrize("seed", range(6))
def test_stacking_weights_are_the_best_that_are_not_negative(s, seed):
    """A slight ridge, and members of little weight that are dropped, cost at most 0.2 %."""
    target, errors, P = predictions(np.random.default_rng(seed))
    w = stacking_weights(target, errors, s)[:, 0]
    assert (w >= 0).all()
    root = np.sqrt(s)
    exact, _ = nnls(P.T * root[:, None], target[:, 0] * root)
    assert loss(w, target, P, s) <= 1.002 * loss(exact, target, P, s)
    np.testing.assert_allclose(w, exact, atol=0.03)
    found = minimize(loss, np.ones(4), (target, P, s), bounds=[(0, None)] * 4)
    assert loss(w, target, P, s) <= 1.002 * found.fun


def test_useless_and_harmful_members_are_dropped():
    rng = np.random.default_rng(1)
    target = rng.standard_normal((2000, 1))
    good = 0.5 * rng.standard_normal((2000, 1))
    harmful = target + 0.3 * (target + rng.standard_normal((2000, 1)))
    useless = target - 1e-9 * rng.standard_normal((2000, 1))
    w = stacking_weights(target, [harmful, good, useless], np.ones(2000))[:, 0]
    assert w[0] == 0
    assert w[1] == pytest.approx(1 / 1.25, abs=0.05)
    contribution = w[2] * np.abs(target - useless).max()
    assert contribution < 0.1


def test_where_no_member_helps_the_best_one_stays():
    target = np.random.default_rng(1).standard_normal((500, 1))
    errors = [2 * target, 1.1 * target, 1.5 * target]
    np.testing.assert_array_equal(stacking_weights(target, errors, np.ones(500))[:, 0], [0, 1, 0])
    constant = [target, target]
    assert stacking_weights(target, constant, np.ones(500)).sum() == 1


def test_equal_members_share_the_weight_of_one():
    target, errors, _ = predictions(np.random.default_rng(2), members=1)
    alone = stacking_weights(target, errors, np.ones(N))
    shared = stacking_weights(target, errors * 3, np.ones(N))
    np.testing.assert_allclose(shared[:, 0], np.full(3, alone[0, 0] / 3), rtol=1e-3)


def test_every_output_has_weights_of_its_own():
    first, second = (predictions(np.random.default_rng(seed)) for seed in (1, 2))
    both = [np.hstack(pair) for pair in zip(first[1], second[1], strict=True)]
    weights = stacking_weights(np.hstack([first[0], second[0]]), both, S)
    for j, (target, errors, _) in enumerate((first, second)):
        np.testing.assert_allclose(weights[:, j], stacking_weights(target, errors, S)[:, 0])


@given(st.floats(1e-6, 1e6), st.floats(1e-6, 1e6))
def test_units_of_targets_and_weights_do_not_matter(unit, total):
    target, errors, _ = predictions(np.random.default_rng(1))
    expected = stacking_weights(target, errors, S)
    moved = stacking_weights(unit * target, [unit * e for e in errors], total * S)
    np.testing.assert_allclose(moved, expected, rtol=1e-6, atol=1e-9)


def test_honest_errors_come_from_weights_of_the_other_folds():
    target, errors, P = predictions(np.random.default_rng(4))
    folds = np.arange(N) % 4
    weights = stacking_weights(target, errors, S)
    actual = honest_errors(target, errors, judged(S, folds), weights)[:, 0]
    for fold in range(4):
        here = folds == fold
        w = stacking_weights(target[~here], [e[~here] for e in errors], S[~here])[:, 0]
        np.testing.assert_allclose(actual[here], target[here, 0] - w @ P[:, here], rtol=1e-10)
    # What a row says of itself has no influence on the weights that it is predicted with.
    changed, elsewhere = target.copy(), folds != folds[7]
    changed[7] += 100
    moved = [e + changed - target for e in errors]
    other = honest_errors(changed, moved, judged(S, folds), weights)[:, 0]
    assert other[7] == pytest.approx(actual[7] + 100)
    assert not np.allclose(other[elsewhere], actual[elsewhere])


def test_without_folds_all_rows_share_their_weights():
    target, errors, P = predictions(np.random.default_rng(4))
    weights = stacking_weights(target, errors, S)
    actual = honest_errors(target, errors, judged(S), weights)
    np.testing.assert_allclose(actual[:, 0], target[:, 0] - weights[:, 0] @ P, rtol=1e-10)


def fitted(X, Y, s=None, labels=None, specs=SPECS):
    return fit_stack(pool_of(X, Y, s, labels), specs, "loo")


def assert_same_stack(one, other, rtol=1e-6):
    assert one.specs == other.specs
    np.testing.assert_allclose(one.weights, other.weights, rtol=rtol)
    points = np.random.default_rng(1).uniform(-2, 2, size=(30, 3))
    for mine, theirs in zip(one.fitted, other.fitted, strict=True):
        means = [f.member.predict(f.member.hidden(points)) for f in (mine, theirs)]
        np.testing.assert_allclose(*means, rtol=rtol, atol=rtol)


@pytest.mark.parametrize("n", [N, 25])
def test_repeated_rows_equal_weights(n):
    counts = np.random.default_rng(1).integers(1, 4, size=n)
    owner = np.repeat(np.arange(n), counts)
    repeated = fitted(X[:n][owner], Y[:n][owner])
    weighted = fitted(X[:n], Y[:n], counts.astype(float))
    assert_same_stack(repeated, weighted)
    order = [np.lexsort(stack.judged.rows.X.T) for stack in (repeated, weighted)]
    errors = [stack.honest[i] for stack, i in zip((repeated, weighted), order, strict=True)]
    np.testing.assert_allclose(*errors, rtol=1e-6, atol=1e-9)


def test_row_order_does_not_matter():
    order = np.random.default_rng(1).permutation(N)
    assert_same_stack(fitted(X, Y), fitted(X[order], Y[order]))
    assert_same_stack(fitted(X, Y, S, LABELS), fitted(X[order], Y[order], S[order], LABELS[order]))


def test_repeated_rows_with_other_targets_are_left_out_together():
    """Twins with unlike targets: leaving one out alone would leave the answer in the data."""
    twice, noise = np.repeat(X, 2, axis=0), np.random.default_rng(1).standard_normal((2 * N, 1))
    stack = fitted(twice, noise)
    assert len(stack.judged.rows.X) == N
    # Nothing can be learned from noise, so the errors are not smaller than the mean targets.
    mean = stack.judged.rows.Y
    assert np.mean(stack.combined(lambda f: f.left.left_out) ** 2) > 0.9 * np.mean(mean**2)


def test_labels_leave_whole_groups_out():
    """Rows of a group share an offset that its other rows betray; honest errors contain it."""
    rng = np.random.default_rng(1)
    place = rng.standard_normal((12, 3))
    groups = np.repeat(np.arange(12), 10)
    clustered = place[groups] + 0.01 * rng.standard_normal((N, 3))
    targets = rng.standard_normal((12, 1))[groups] + 0.1 * rng.standard_normal((N, 1))
    by_row, by_group = (fitted(clustered, targets, labels=g).honest for g in (None, groups))
    assert np.std(by_group) > 3 * np.std(by_row)


@pytest.mark.one_quick
@pytest.mark.parametrize("labels", [None, LABELS], ids=["single rows", "groups"])
def test_every_library_gives_the_same(xp, labels):
    expected = fitted(X, Y, S, labels)
    rows, inputs = standardised(*(xp.asarray(a) for a in (X, Y, S)))
    pool = Pool.of(rows, inputs, labels, 500, 3, 2.0**-52)
    stack = fit_stack(pool, SPECS, "loo")
    np.testing.assert_allclose(to_numpy(stack.weights), expected.weights, rtol=1e-7)
    np.testing.assert_allclose(to_numpy(stack.honest), expected.honest, rtol=1e-6, atol=1e-8)


def test_candidates_are_stacked_to_something_better_than_each_of_them():
    pool = pool_of(X, Y)
    stack = fit_stack(pool, None, "loo", rounds=0)
    lacking = (1 - stack.weights.sum(axis=0)) * stack.judged.rows.Y
    together = np.mean((stack.combined(lambda f: f.left.left_out) + lacking) ** 2)
    alone = [np.mean(f.left.left_out**2) for f in stack.fitted]
    assert together <= 1.001 * min(alone)
    views = list(pool.views)
    assert all(spec in blind_specs(spec.n_neurons, views) for spec in stack.specs)


def test_most_limits_the_number_of_members():
    assert len(fit_stack(pool_of(X, Y), None, "loo", most=1).fitted) == 1
    assert len(fit_stack(pool_of(X, Y), None, "loo", most=2).fitted) <= 2
