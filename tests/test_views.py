"""Views of inputs, against SciPy and by what must not change them."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from elmband.ground.arrays import to_numpy
from elmband.layers.views import CLIPPED, RANKED, STANDARD, RankScores, SoftClip, find_views

RNG = np.random.default_rng(0)
N = 400
# Heavy tails, a normal column, few values, two, and one.
Z = np.column_stack(
    [
        np.sinh(2.5 * RNG.standard_normal(N)),
        RNG.standard_normal(N),
        RNG.integers(0, 5, N),
        RNG.random(N) < 0.2,
        np.full(N, 3.0),
    ]
)
S = RNG.uniform(0.2, 3, size=N)
ONES = np.ones(N)
KINDS = (SoftClip, RankScores)
FAR = np.array([-1e300, -1e12, -30.0, 30.0, 1e12, 1e300])


def line(low=-50, high=50, n=2001):
    """Return rows whose columns all rise."""
    return np.repeat(np.linspace(low, high, n)[:, None], Z.shape[1], axis=1)


def test_scores_are_normal_quantiles_of_middle_ranks():
    few = np.array([[3.0], [1], [2], [2], [7]])
    scores = stats.norm.ppf((stats.rankdata(few[:, 0]) - 0.5) / 5)
    expected = (scores - scores.mean()) / scores.std()
    np.testing.assert_allclose(RankScores.of(few, np.ones(5))(few)[:, 0], expected)


def test_of_many_values_scores_lie_near_those_of_their_ranks():
    """Between 33 knots lines stand for a curve."""
    x = np.sinh(3 * RNG.standard_normal((3000, 1)))
    scores = stats.norm.ppf((stats.rankdata(x[:, 0]) - 0.5) / 3000)
    found = RankScores.of(x, np.ones(3000))(x)[:, 0]
    assert np.abs(found - scores / scores.std()).max() < 0.15
    assert np.corrcoef(found, scores)[0, 1] > 0.999


def test_ranks_rise_beyond_their_ends_as_on_average_between_them():
    view = RankScores.of(Z, ONES)
    rise = np.ptp(view.scores, axis=0) / np.ptp(view.knots, axis=0)
    for end, step in ((0, -7.0), (-1, 7.0)):
        out = view(view.knots[end][None] + step)[0] - view.scores[end]
        np.testing.assert_allclose(out, step * rise)


def test_clipping_is_its_formula():
    view = SoftClip.of(Z, ONES)
    low, centre, high = np.quantile(Z[:, 0], [0.25, 0.5, 0.75], method="inverted_cdf")
    assert view.centre[0] == centre
    assert view.width[0] == pytest.approx((high - low) / 1.349)
    r = (Z[:, 0] - centre) / view.width[0]
    t = r / np.sqrt(1 + r**2 / 9)
    np.testing.assert_allclose(view(Z)[:, 0], (t - t.mean()) / t.std(), rtol=1e-10)


@pytest.mark.parametrize("kind", KINDS)
def test_columns_have_mean_zero_and_spread_one_unless_they_are_marks(kind):
    seen = kind.of(Z, S)(Z)[:, :3]
    share = S / S.sum()
    np.testing.assert_allclose(share @ seen, 0, atol=0.05)
    np.testing.assert_allclose(np.sqrt(share @ seen**2), 1, atol=0.08)


@pytest.mark.parametrize("kind", KINDS)
def test_views_are_monotone(kind):
    seen = kind.of(Z, S)(line())
    assert (np.diff(seen, axis=0) >= 0).all()
    # Where there are rows they tell them apart.
    near = kind.of(Z, S)(np.sort(Z[:, :1] * np.ones((1, 5)), axis=0))
    assert (np.diff(near[:, 0]) > 0).all()


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("kind", KINDS)
def test_views_of_values_far_outside_are_finite_and_in_order(kind, dtype):
    far = FAR if dtype == "float64" else np.clip(FAR, -1e38, 1e38)
    rows = np.repeat(far[:, None], 5, axis=1).astype(dtype)
    seen = kind.of(Z, ONES).to(rows, rows.dtype)(rows)
    assert np.isfinite(seen).all()
    assert (np.diff(seen, axis=0) >= 0).all()
    if kind is SoftClip:
        assert np.abs(seen).max() < 20


@pytest.mark.one_on_jax
@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("kind", KINDS)
def test_every_library_sees_the_same(kind, dtype, xp):
    """Also of float32, and of knots that lie close beside tails that are far."""
    rows = np.concatenate([Z, 100 * Z, -Z, 1e-3 * Z]).astype(dtype)
    view = kind.of(Z, S)
    expected = view.to(rows, rows.dtype)(rows)
    given = xp.asarray(rows)
    actual = view.to(given, given.dtype)(given)
    assert actual.dtype == given.dtype
    exact = 1e-12 if dtype == "float64" else 1e-5
    np.testing.assert_allclose(to_numpy(actual), expected, rtol=exact, atol=exact)


def test_ranks_of_float32_are_those_of_float64(xp):
    """Slopes of 10,000 would cancel at values of 10,000."""
    column = np.sinh(7 * RNG.standard_normal((2000, 1)))
    column /= column.std()
    view = RankScores.of(column, np.ones(2000))
    rows = column.astype(np.float32)
    given = xp.asarray(rows)
    actual = to_numpy(view.to(given, given.dtype)(given))
    expected = view.to(rows, rows.dtype)(rows)
    np.testing.assert_allclose(actual, expected, atol=1e-5)


def test_knots_that_rounding_makes_equal_are_a_step(xp):
    view = RankScores(np.array([[0.0], [1], [1], [2]]), np.array([[0.0], [1], [3], [4]]))
    rows = xp.asarray(np.array([[0.5], [1.0], [1.5], [5.0]]))
    actual = to_numpy(view.to(rows, xp.float64)(rows))
    np.testing.assert_allclose(actual[:, 0], [0.5, 3, 3.5, 10])


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
@given(st.permutations(range(N)))
def test_row_order_does_not_matter(kind, order):
    order = np.array(order)
    one, other = kind.of(Z, S), kind.of(Z[order], S[order])
    np.testing.assert_allclose(one(Z), other(Z), rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seed", range(5))
def test_repeated_rows_equal_weights(kind, seed):
    counts = np.random.default_rng(seed).integers(1, 4, size=N)
    repeated = np.repeat(Z, counts, axis=0)
    one, other = kind.of(repeated, np.ones(len(repeated))), kind.of(Z, counts * 0.37)
    np.testing.assert_allclose(one(Z), other(Z), rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("kind", KINDS)
@given(st.floats(1e-3, 1e3), st.floats(-100, 100))
def test_units_do_not_matter_where_values_are_many(kind, unit, shift):
    """Standardising takes them away before; a view would not notice either."""
    many = Z[:, :3]
    moved = unit * many + shift
    one, other = kind.of(many, S)(many), kind.of(moved, S)(moved)
    np.testing.assert_allclose(one, other, rtol=1e-6, atol=1e-6)


def test_two_values_keep_their_order_and_one_stays_finite():
    for kind in KINDS:
        view = kind.of(Z, ONES)
        mark = view(Z)[:, 3]
        assert len(np.unique(mark)) == 2
        assert mark[Z[:, 3] == 1].min() > mark[Z[:, 3] == 0].max()
        assert len(np.unique(view(Z)[:, 4])) == 1
        assert np.isfinite(view(Z + 1)).all()
    marks = RankScores.of(Z, ONES)(Z)[:, 3:]
    np.testing.assert_array_equal(marks, Z[:, 3:])


def test_no_more_than_33_knots_whose_ends_are_those_of_the_rows():
    view = RankScores.of(Z, ONES)
    assert view.knots.shape == view.scores.shape == (33, 5)
    np.testing.assert_array_equal(view.knots[[0, -1], 0], [Z[:, 0].min(), Z[:, 0].max()])
    assert (np.diff(view.knots, axis=0) >= 0).all()
    assert (view.knots[-1] > view.knots[0]).all()


def test_views_that_show_nothing_new_are_not_found():
    normal = RNG.standard_normal((500, 3))
    assert set(find_views(normal, np.ones(500))) == {STANDARD}
    assert set(find_views(Z, ONES)) == {STANDARD, CLIPPED, RANKED}
    assert find_views(Z, ONES)[STANDARD] is None
    marks = (normal > 0.5).astype(float)
    assert set(find_views(marks, np.ones(500))) == {STANDARD}
    assert set(find_views(np.zeros((500, 2)), np.ones(500))) == {STANDARD}


def test_of_wide_tables_and_of_single_rows_no_views_are_looked_for():
    wide = np.sinh(3 * RNG.standard_normal((20, 501)))
    assert set(find_views(wide, np.ones(20))) == {STANDARD}
    assert set(find_views(Z[:1], ONES[:1])) == {STANDARD}


def test_views_are_found_on_every_library(xp):
    found = find_views(xp.asarray(Z), xp.asarray(S))
    expected = find_views(Z, S)
    assert list(found) == list(expected)
    np.testing.assert_array_equal(found[RANKED].knots, expected[RANKED].knots)


def test_values_that_rounding_sets_apart_have_one_rank():
    """As cosines of days: another library would round them to the other side of a step."""
    values = np.cos(2 * np.pi * np.arange(7) / 7)
    column = np.repeat(values, 30)[:, None]
    shaken = column + np.random.default_rng(0).choice([-1, 0, 1], column.shape) * 2.0**-53
    view, other = (RankScores.of(Z, np.ones(210)) for Z in (column, shaken))
    assert len(np.unique(other.knots)) == 4
    np.testing.assert_allclose(other(shaken), view(column), atol=1e-12)
    np.testing.assert_allclose(view(shaken), view(column), atol=1e-12)
