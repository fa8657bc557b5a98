import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from elmband.ground.arrays import to_numpy
from elmband.sums.moments import Chunk, Gram, Pieces, gram, target_sums

RNG = np.random.default_rng(0)
H, Y = RNG.standard_normal((100, 6)), RNG.standard_normal((100, 2))
COUNTS = RNG.integers(1, 4, size=100)


def assert_same(actual: Gram, expected: Gram, rtol=1e-12):
    assert actual.n == expected.n
    for name in ("HtH", "HtY", "YtY"):
        np.testing.assert_allclose(
            to_numpy(getattr(actual, name)), to_numpy(getattr(expected, name)), rtol, atol=1e-12
        )


@given(st.integers(1, 99))
def test_chunks_add_up(cut):
    parts = gram(Chunk(H[:cut], Y[:cut], None)) + gram(Chunk(H[cut:], Y[cut:], None))
    assert_same(parts, gram(Chunk(H, Y, None)))


def test_sums_equal_their_definition_on_every_library(xp):
    s = COUNTS.astype(float)
    sums = gram(Chunk(xp.asarray(H), xp.asarray(Y), xp.asarray(s)))
    expected = Gram(s.sum(), H.T @ (s[:, None] * Y), s @ Y**2, H.T @ (s[:, None] * H))
    assert_same(sums, expected)


def test_weights_are_counts():
    repeated = Chunk(np.repeat(H, COUNTS, axis=0), np.repeat(Y, COUNTS, axis=0), None)
    assert_same(gram(Chunk(H, Y, COUNTS.astype(float))), gram(repeated))


def test_float32_products_are_summed_in_float64(xp):
    rows = Chunk(xp.asarray(H, dtype=xp.float32), xp.asarray(Y, dtype=xp.float32), None)
    sums = gram(rows)
    assert sums.HtH.dtype == sums.HtY.dtype == sums.YtY.dtype == xp.float64
    assert_same(sums, gram(Chunk(H, Y, None)), rtol=1e-4)


def test_other_targets_on_the_same_rows():
    other = Y**2
    swapped = gram(Chunk(H, Y, None)).with_targets(target_sums(Chunk(H, other, None)))
    assert_same(swapped, gram(Chunk(H, other, None)))


def test_pieces_keep_the_order_of_chunks():
    pieces = Pieces((Y[:30],)) + Pieces((Y[30:31],)) + Pieces((Y[31:],))
    np.testing.assert_array_equal(pieces.joined(), Y)
