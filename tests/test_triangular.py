import threading

import numpy as np
import pytest

from elmband.engines import engine
from elmband.ground.arrays import to_numpy
from elmband.layers import blas, triangular
from elmband.layers.blas import times_triangle
from elmband.layers.quadratic import CovarianceRoot, quadratic_form
from elmband.layers.triangular import squared_lengths, turned

RNG = np.random.default_rng(0)


@pytest.mark.parametrize("size", [1, 5, 96, 97, 300])
@pytest.mark.parametrize("shape", ["upper", "lower"])
def test_squared_lengths_are_those_of_the_whole_product(xp, size, shape):
    H = RNG.standard_normal((40, size))
    F = (np.triu if shape == "upper" else np.tril)(RNG.standard_normal((size, size)))
    expected = np.sum((H @ F) ** 2, axis=1)
    actual = squared_lengths(xp.asarray(H), xp.asarray(F), shape)
    np.testing.assert_allclose(to_numpy(actual), expected, rtol=1e-12)


def test_what_lies_in_the_other_triangle_is_not_touched():
    F = np.triu(RNG.standard_normal((200, 200)))
    H = RNG.standard_normal((7, 200))
    spoiled = F.copy()
    spoiled[150:, :90] = np.nan
    np.testing.assert_array_equal(
        squared_lengths(H, spoiled, "upper"), squared_lengths(H, F, "upper")
    )


@pytest.mark.parametrize("rank", [150, 120, 20])
def test_the_root_of_a_covariance_gives_its_quadratic_form(xp, rank):
    """That of a low rank has so many columns, any other is triangular."""
    factors = RNG.standard_normal((2, 150, rank))
    covariance = factors @ factors.transpose(0, 2, 1)
    H = xp.asarray(RNG.standard_normal((30, 150)))
    root = CovarianceRoot.of(xp.asarray(covariance))
    assert root.kind == ("triangular" if rank > 75 else "narrow")
    assert root.factors.shape == (2, 150, rank if rank == 20 else 150)
    np.testing.assert_allclose(
        to_numpy(root.quadratic(H)), quadratic_form(to_numpy(H), covariance), rtol=1e-9
    )


def test_what_rounding_has_made_indefinite_is_used_as_it_is(xp):
    factors = RNG.standard_normal((1, 150, 100))
    spoilt = RNG.standard_normal((1, 150, 150)) * 1e-7
    covariance = factors @ factors.transpose(0, 2, 1) + spoilt + spoilt.transpose(0, 2, 1)
    H = xp.asarray(RNG.standard_normal((30, 150)))
    root = CovarianceRoot.of(xp.asarray(covariance))
    assert root.kind == "none"
    np.testing.assert_allclose(
        to_numpy(root.quadratic(H)), quadratic_form(to_numpy(H), covariance), rtol=1e-12
    )


def test_a_covariance_of_zeros_and_one_that_is_not_a_number():
    zeros = CovarianceRoot.of(np.zeros((1, 4, 4)))
    np.testing.assert_array_equal(zeros.quadratic(np.ones((3, 4))), 0)
    unknown = CovarianceRoot.of(np.full((1, 4, 4), np.nan))
    assert unknown.kind == "none"


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("shape", ["upper", "lower"])
@pytest.mark.parametrize("size", [1, 2, 97, 300])
def test_blas_multiplies_in_place_by_one_triangle(dtype, shape, size):
    """Whatever lies in the other triangle."""
    T = RNG.standard_normal((33, size)).astype(dtype)
    F = RNG.standard_normal((size, size)).astype(dtype)
    expected = T.astype(np.float64) @ (np.triu if shape == "upper" else np.tril)(F)
    assert times_triangle(T, F, shape)
    scale = np.abs(expected).max()
    np.testing.assert_allclose(T, expected, atol=100 * np.finfo(dtype).eps * scale)


def test_blas_leaves_alone_what_it_would_not_read_as_it_is():
    T, F = RNG.standard_normal((8, 6)), RNG.standard_normal((6, 6))
    for A, B in (
        (T.astype(np.float32), F),
        (T, F.T),
        (T[:, ::2], F),
        (T[:0], F),
        (T > 0, F > 0),
        (T, F[:5]),
    ):
        before = A.copy()
        assert not times_triangle(A, B, "upper")
        np.testing.assert_array_equal(A, before)


def test_another_signature_than_the_known_is_not_called():
    s, wide = "__pyx_t_5scipy_6linalg_11cython_blas_s", "long *"
    known = f"{4 * 'char *, '}int *, int *, {s} *, {s} *, int *, {s} *, int *"
    assert blas._expected(f"void ({known})", "strmm")
    assert not blas._expected(f"void ({known})", "dtrmm")
    assert not blas._expected(f"void ({known.replace('int *', wide)})", "strmm")


@pytest.mark.parametrize("shape", ["upper", "lower"])
def test_without_it_products_of_blocks_do(monkeypatch, shape):
    H, F = RNG.standard_normal((40, 200)), RNG.standard_normal((200, 200))
    F = (np.triu if shape == "upper" else np.tril)(F)
    expected = squared_lengths(H, F, shape)
    monkeypatch.setattr(triangular, "times_triangle", lambda *_: False)
    np.testing.assert_allclose(squared_lengths(H, F, shape), expected, rtol=1e-12)


def test_turned_rows_are_the_product_with_or_without_it(monkeypatch):
    H, F = RNG.standard_normal((40, 200)), RNG.standard_normal((200, 200))
    expected = H @ np.triu(F)
    np.testing.assert_allclose(turned(H, F), expected, rtol=1e-10, atol=1e-10)
    monkeypatch.setattr(triangular, "times_triangle", lambda *_: False)
    np.testing.assert_allclose(turned(H, F), expected, rtol=1e-10, atol=1e-10)


@pytest.mark.slow
def test_threads_multiply_at_the_same_time():
    """The interpreter's lock is free meanwhile: another thread counts on."""
    T, F = RNG.standard_normal((4000, 1500)), np.triu(RNG.standard_normal((1500, 1500)))
    counts, done = [0], threading.Event()

    def count():
        while not done.is_set():
            counts[0] += 1

    counter = threading.Thread(target=count)
    counter.start()
    before = counts[0]
    with engine.alone():
        times_triangle(T, F, "upper")
    during = counts[0] - before
    done.set()
    counter.join()
    # Held, the lock would let the other thread in twice at most, for 5 ms each.
    assert during > 10_000
