import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from elmband.sums.sample import RowSample, sample_rows

ROWS = np.random.default_rng(0).standard_normal((500, 3))


@pytest.mark.slow
@given(st.permutations(range(500)), st.integers(1, 499))
def test_order_and_chunks_do_not_matter(order, cut):
    shuffled = ROWS[list(order)]
    whole = sample_rows(ROWS, 20, seed=7)
    merged = sample_rows(shuffled[:cut], 20, seed=7) + sample_rows(shuffled[cut:], 20, seed=7)
    np.testing.assert_array_equal(merged.rows, whole.rows)


@pytest.mark.slow
@given(st.lists(st.integers(1, 4), min_size=500, max_size=500))
def test_repeated_rows_count_once(counts):
    repeated = sample_rows(np.repeat(ROWS, counts, axis=0), 20, seed=7)
    np.testing.assert_array_equal(repeated.rows, sample_rows(ROWS, 20, seed=7).rows)


def test_rounding_of_the_rows_does_not_change_the_choice():
    nearly = sample_rows(ROWS * (1 + 1e-15) + 1e-16, 20, seed=7)
    np.testing.assert_allclose(nearly.rows, sample_rows(ROWS, 20, seed=7).rows, rtol=1e-12)


def test_a_sample_holds_training_rows_without_repetition():
    rows = sample_rows(ROWS, 20, seed=7).rows
    assert len(np.unique(rows, axis=0)) == 20
    assert all((row == ROWS).all(axis=1).any() for row in rows)


def test_fewer_rows_than_asked_for_gives_them_all():
    assert len(sample_rows(ROWS[:5], 20, seed=7).rows) == 5


@pytest.mark.slow
def test_the_sample_is_uniform_over_distinct_rows():
    # 2,000 samples of 20 from 500: each row is expected 80 times, with a deviation below 9.
    line = np.arange(500.0)[:, None]
    chosen = np.concatenate([sample_rows(line, 20, seed).rows for seed in range(2000)])
    counts = np.bincount(chosen[:, 0].astype(int), minlength=500)
    assert abs(counts.std() - np.sqrt(80 * 0.96)) < 1.5
    assert counts.min() > 80 - 5 * 9
    assert counts.max() < 80 + 5 * 9


def test_mixtures_have_the_mean_and_covariance_of_the_rows_and_sit_on_none():
    """Of 4,000 mixtures a covariance is off by some 3 %."""
    rng = np.random.default_rng(0)
    rows = rng.standard_normal((4000, 3)) @ rng.standard_normal((3, 3)) + np.arange(3.0)
    sample = RowSample(4000, np.arange(4000, dtype=np.uint64), rows)
    mixed = sample.mixed()
    assert mixed.rows.shape == rows.shape
    np.testing.assert_allclose(mixed.rows.mean(axis=0), rows.mean(axis=0), atol=0.1)
    scale = np.sqrt(np.outer(rows.var(axis=0), rows.var(axis=0)))
    gap = np.abs(np.cov(mixed.rows.T) - np.cov(rows.T)) / scale
    assert gap.max() < 0.1
    assert np.abs(mixed.rows[:, None] - rows[None, :200]).sum(axis=2).min() > 1e-4
    # They depend on the rows alone.
    np.testing.assert_array_equal(mixed.rows, sample.mixed().rows)


@pytest.mark.parametrize("n", [1, 2, 5])
def test_mixtures_of_few_rows_are_finite_and_within_their_span(n):
    rows = np.random.default_rng(n).standard_normal((n, 6))
    mixed = RowSample(n, np.arange(n, dtype=np.uint64), rows).mixed().rows
    assert np.isfinite(mixed).all()
    rank = np.linalg.matrix_rank(rows - rows.mean(axis=0))
    both = np.vstack([rows, mixed]) - rows.mean(axis=0)
    assert np.linalg.matrix_rank(both, tol=1e-8) == rank
