import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from elmband.engines import engine
from elmband.ground.arrays import to_numpy
from elmband.stacks.kept_rows import GatheredRows, KeptRows
from elmband.stacks.pool import Distinct, Pool
from elmband.sums.moments import Chunk
from elmband.sums.rows import ArrayRows
from elmband.sums.scaling import Scaling, column_moments

RNG = np.random.default_rng(0)
N = 120
X = RNG.uniform(-2, 2, size=(N, 3))
Y = RNG.standard_normal((N, 1))
S = RNG.uniform(0.2, 3, size=N)
LABELS = RNG.integers(0, 25, size=N)


def pool_of(X, Y, s=None, labels=None, seed=3, size=500):
    rows = ArrayRows(X, Y, s, chunk_size=50)
    inputs = Scaling.from_moments(engine.total(rows, lambda c: column_moments(c.X, c.s)))
    return Pool.of(rows, inputs, labels, size, seed, 2.0**-52)


def test_equal_rows_are_merged_with_mean_targets_and_summed_weights():
    keys = np.array([9, 4, 9, 7, 4, 9], dtype=np.uint64)
    inputs = np.array([[1.0, 2], [3, 4], [1, 2], [5, 6], [3, 4], [1, 2]])
    targets = np.array([[1.0, 10], [2, 20], [3, 30], [4, 40], [5, 50], [6, 60]])
    s = np.array([1.0, 2, 3, 4, 5, 6])
    distinct = Distinct.of(Chunk(inputs, targets, s), keys)
    assert len(distinct.rows.X) == 3
    for row, target, weight in zip(*distinct.rows[:3], strict=True):
        same = (inputs == row).all(axis=1)
        assert weight == s[same].sum()
        np.testing.assert_allclose(target, s[same] @ targets[same] / weight)
    np.testing.assert_array_equal(distinct.rows.X[distinct.owner], inputs)
    np.testing.assert_array_equal(distinct.Y, targets)
    np.testing.assert_array_equal(distinct.s, s)


def test_rows_that_are_all_different_stay_as_they_are():
    rows = Chunk(X, Y, None)
    distinct = Distinct.of(rows, np.arange(N, 0, -1).astype(np.uint64))
    assert distinct.rows is rows
    np.testing.assert_array_equal(distinct.owner, np.arange(N))
    np.testing.assert_array_equal(distinct.s, 1)


def test_merged_rows_keep_the_library_of_their_arrays(xp):
    keys = np.array([1, 0, 1], dtype=np.uint64)
    rows = Chunk(*(xp.asarray(a) for a in (X[:3], Y[:3], S[:3])))
    expected = Distinct.of(Chunk(X[:3], Y[:3], S[:3]), keys)
    actual = Distinct.of(rows, keys)
    for mine, theirs in zip(actual.rows[:3], expected.rows[:3], strict=True):
        assert type(mine) is type(rows.X)
        np.testing.assert_allclose(to_numpy(mine), theirs)


def chosen_rows(pool, size):
    sample, index = pool.judged(size)
    np.testing.assert_array_equal(pool.distinct.rows.X[index], sample.rows.X)
    return {tuple(row) for row in sample.rows.X}, sample


@pytest.mark.slow
@pytest.mark.parametrize("labels", [None, LABELS], ids=["single rows", "groups"])
@given(st.permutations(range(N)), st.integers(1, N + 10))
def test_judged_rows_depend_on_the_rows_and_not_on_their_order(labels, order, size):
    order = np.array(order)
    one, _ = chosen_rows(pool_of(X, Y, labels=labels), size)
    moved = labels if labels is None else labels[order]
    other, _ = chosen_rows(pool_of(X[order], Y[order], labels=moved), size)
    assert one == other
    assert len(one) == min(size, N) if labels is None else len(one) >= min(size, N)


@pytest.mark.slow
@given(st.integers(1, N))
def test_judged_groups_are_whole_and_lie_in_one_fold(size):
    _, sample = chosen_rows(pool_of(X, Y, labels=LABELS), size)
    labels, counts = np.unique(sample.labels, return_counts=True)
    np.testing.assert_array_equal(counts, [(label == LABELS).sum() for label in labels])
    if sample.folds is not None:
        for label in labels:
            assert len(np.unique(sample.folds[sample.labels == label])) == 1


def test_folds_are_several_and_of_similar_size():
    _, sample = chosen_rows(pool_of(X, Y), N)
    counts = np.unique(sample.folds, return_counts=True)[1]
    assert len(counts) >= 3
    assert counts.min() > 0.3 * N / len(counts)


def test_another_seed_judges_other_rows():
    one, other = (chosen_rows(pool_of(X, Y, seed=seed), 40)[0] for seed in (3, 4))
    assert len(one & other) < 30


@given(st.permutations(range(N)), st.integers(1, 30), st.integers(1, N))
def test_the_sample_of_many_rows_depends_on_the_rows_alone(order, size, chunk_size):
    """Rows beyond the sample are dropped chunk by chunk; rows with equal keys stay together."""
    keys = (np.arange(N) // 2 * 7919 % 10007).astype(np.uint64)
    order = np.array(order)
    parts = [order[start : start + chunk_size] for start in range(0, N, chunk_size)]
    chunks = [KeptRows(size, keys[part], Chunk(X[part], Y[part], S[part])).cut() for part in parts]
    kept = engine.reduced(GatheredRows((one,)) for one in chunks).whole
    one_by_one = engine.reduced(chunks)
    np.testing.assert_array_equal(np.sort(kept.keys), np.sort(one_by_one.keys))
    assert one_by_one.complete == kept.complete
    expected = np.flatnonzero(np.isin(keys, np.unique(keys)[:size]))
    assert kept.complete == (len(expected) == N)
    found = kept.rows.X[np.lexsort(kept.rows.X.T)]
    np.testing.assert_array_equal(found, X[expected][np.lexsort(X[expected].T)])


def test_of_many_rows_those_judged_are_not_those_that_neurons_sit_on():
    pool = pool_of(X, Y, size=20)
    sample, index = pool.judged(20)
    assert len(pool.distinct.rows.X) == 40
    assert len(index) == 20
    Z = {tuple(row) for row in pool.inputs(sample.rows.X)}
    assert not Z & {tuple(row) for row in pool.centres.rows}


@pytest.mark.parametrize("n", [5_000, 200_000])
def test_distinct_rows_are_counted_from_a_sample(n):
    """The estimate from 1,000 keys has a standard error of 3 %."""
    keys = np.random.default_rng(n).integers(2**64, size=n, dtype=np.uint64)
    zeros = np.zeros((3 * n, 1))
    kept = KeptRows(1000, np.repeat(keys, 3), Chunk(zeros, zeros, None)).cut()
    assert kept.n_distinct == pytest.approx(n, rel=0.1)
    assert not kept.complete
    few = KeptRows(1000, np.repeat(keys[:300], 3), Chunk(zeros[:900], zeros[:900], None)).cut()
    assert (few.n_distinct, few.complete) == (300, True)


def test_very_many_rows_of_few_values_are_thinned_and_keep_their_moments():
    """Two million flights have a thousand distances: memory must not hold them all."""
    rng = np.random.default_rng(0)
    keys = rng.integers(20, size=20_000).astype(np.uint64)
    columns = keys.astype(float)[:, None]
    targets = columns + rng.standard_normal((20_000, 1))
    parts = np.array_split(np.arange(20_000), 40)
    chunks = [KeptRows(25, keys[p], Chunk(columns[p], targets[p], None)).cut() for p in parts]
    kept = engine.reduced(GatheredRows((one,)) for one in chunks).whole
    assert len(kept.keys) <= 32 * 25
    assert kept.complete
    assert kept.n_distinct == 20
    total = np.bincount(kept.keys.astype(int), kept.rows.s)
    np.testing.assert_allclose(total, np.bincount(keys.astype(int)))
    np.testing.assert_array_equal(kept.rows.X[:, 0], kept.keys)
    spreads = []
    for key in range(20):
        here, all_of = kept.keys == key, keys == key
        mean = np.average(kept.rows.Y[here, 0], weights=kept.rows.s[here])
        assert mean == pytest.approx(targets[all_of, 0].mean(), rel=1e-9)
        spread = np.average((kept.rows.Y[here, 0] - mean) ** 2, weights=kept.rows.s[here])
        assert spread == pytest.approx(targets[all_of, 0].var(), rel=0.6)
        spreads.append(spread)
    assert np.mean(spreads) == pytest.approx(1, rel=0.1)
