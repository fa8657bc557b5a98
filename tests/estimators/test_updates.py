"""Rows added later, models put together, and intervals refreshed, against one fit on all rows."""

import numpy as np
import pytest

from elmband import ELMIntervalRegressor, ELMRegressor, merge, scan
from published import published

RNG = np.random.default_rng(0)
N = 3000
X = RNG.uniform(-2, 2, size=(N, 4))
Y = np.sin(2 * X[:, 0]) + X[:, 1] + (0.2 + 0.3 * np.abs(X[:, 3])) * RNG.standard_normal(N)
S = RNG.uniform(0.5, 3, size=N)
NEW = RNG.uniform(-2, 2, size=(100, 4))
PARTS = [slice(0, 500), slice(500, 1700), slice(1700, N)]


def grown(model, parts=PARTS, s=None):
    for part in parts:
        model.partial_fit(X[part], Y[part], None if s is None else s[part])
    return model


def with_first_scaling(model, s=None):
    """Train on all rows with the scalings of the first part, by adding nothing but the rest."""
    whole = model.partial_fit(X[PARTS[0]], Y[PARTS[0]], None if s is None else s[PARTS[0]])
    rest = slice(500, N)
    return whole.partial_fit(X[rest], Y[rest], None if s is None else s[rest])


@pytest.mark.parametrize("kind", ["tanh", "rbf_l2"])
@pytest.mark.parametrize("alpha", [0.5, "gcv", "auto"])
def test_rows_in_parts_are_rows_at_once(kind, alpha):
    """Small γ magnifies the rounding of sums that are added in another order."""
    options = {"activation": kind, "alpha": alpha, "random_state": 0}
    one, other = (ELMRegressor(60, **options) for _ in range(2))
    expected = with_first_scaling(one).predict(NEW)
    np.testing.assert_allclose(grown(other).predict(NEW), expected, rtol=1e-6, atol=1e-6)


def test_the_first_part_alone_is_a_fit():
    model = ELMRegressor(60, alpha=0.5, random_state=0)
    part = PARTS[0]
    expected = model.fit(X[part], Y[part]).predict(NEW)
    actual = ELMRegressor(60, alpha=0.5, random_state=0).partial_fit(X[part], Y[part]).predict(NEW)
    np.testing.assert_allclose(actual, expected, rtol=1e-9, atol=1e-9)


def test_fit_can_be_gone_on_from_and_forgets_what_was_before():
    model = ELMRegressor(60, alpha=0.5, random_state=0)
    expected = grown(ELMRegressor(60, alpha=0.5, random_state=0)).predict(NEW)
    part, rest = PARTS[0], slice(500, N)
    model.fit(X[part], Y[part]).partial_fit(X[rest], Y[rest])
    np.testing.assert_allclose(model.predict(NEW), expected, rtol=1e-8, atol=1e-8)
    again = model.fit(X[part], Y[part]).predict(NEW)
    fresh = ELMRegressor(60, alpha=0.5, random_state=0).fit(X[part], Y[part]).predict(NEW)
    np.testing.assert_array_equal(again, fresh)


@pytest.mark.parametrize("s", [None, S], ids=["plain", "weighted"])
def test_merged_models_are_one_model_of_all_rows(s):
    first = ELMRegressor(60, alpha=0.5, random_state=0)
    part, rest = PARTS[0], slice(500, N)
    weights = (None, None) if s is None else (s[part], s[rest])
    first.partial_fit(X[part], Y[part], weights[0])
    second = first.untrained().partial_fit(X[rest], Y[rest], weights[1])
    expected = with_first_scaling(ELMRegressor(60, alpha=0.5, random_state=0), s).predict(NEW)
    for both in (merge(first, second), merge(second, first)):
        np.testing.assert_allclose(both.predict(NEW), expected, rtol=1e-10, atol=1e-10)
    alone = ELMRegressor(60, alpha=0.5, random_state=0).partial_fit(X[part], Y[part], weights[0])
    np.testing.assert_array_equal(first.predict(NEW), alone.predict(NEW))


def test_intervals_are_stale_until_they_are_refreshed():
    model = grown(ELMIntervalRegressor(60, noise="squared", alpha=0.5, random_state=0))
    model.predict(NEW)
    for call in (
        lambda: model.predict_interval(NEW),
        lambda: model.predict_quantiles(NEW),
        lambda: model.predict_variance(NEW),
        lambda: model.predict(NEW, return_std=True),
        lambda: model.evaluate(X, Y),
        lambda: model.calibrate(X, Y),
    ):
        with pytest.raises(ValueError, match="older than the mean, to which rows were added; call"):
            call()
    model.refresh(X, Y).predict_interval(NEW)
    model.partial_fit(X[:100], Y[:100])
    with pytest.raises(ValueError, match="older than the mean"):
        model.predict_interval(NEW)


@pytest.mark.parametrize("how", ["arrays", "scan"])
def test_refreshed_intervals_are_those_of_one_fit(how):
    """With scalings of all rows in the first part, one fit is the whole truth."""
    model = published(60, alpha=0.5, random_state=0)
    expected = model.fit(X, Y).predict_interval(NEW, 0.9)
    part, rest = slice(0, N // 2), slice(N // 2, N)
    other = published(60, alpha=0.5, random_state=0).fit(X, Y).untrained()
    other.partial_fit(X[part], Y[part]).partial_fit(X[rest], Y[rest])
    other.refresh(*((X, Y) if how == "arrays" else (scan((X, Y), chunk_size=500),)))
    np.testing.assert_allclose(other.predict_interval(NEW, 0.9), expected, rtol=1e-8, atol=1e-8)


def test_merged_intervals_are_refreshed_too():
    first = published(60, alpha=0.5, random_state=0).partial_fit(X[:1000], Y[:1000])
    second = first.untrained().partial_fit(X[1000:], Y[1000:])
    both = merge(first, second)
    with pytest.raises(ValueError, match="older than the mean"):
        both.predict_interval(NEW)
    with pytest.raises(AttributeError, match="older than the mean"):
        _ = both.covariance_
    exact = both.refresh(X, Y).predict_interval(NEW)
    assert np.isfinite(exact).all()


def test_a_kept_sample_refreshes_nearly_as_well():
    """All 3,000 rows fit into the sample; the middle terms of its halves are averaged."""
    options = {"alpha": 0.5, "random_state": 0}
    exact = grown(published(60, **options)).refresh(X, Y).predict_interval(NEW, 0.9)
    model = grown(published(60, mode="fast", **options)).refresh()
    width = np.diff(model.predict_interval(NEW, 0.9))[:, 0]
    assert np.abs(width / np.diff(exact)[:, 0] - 1).max() < 0.02
    assert 0 <= model.mode_error_ < 0.1


def _many(n, *, order=False):
    rng = np.random.default_rng(3)
    rows = rng.normal(size=(n, 3))
    rows = rows[np.argsort(rows[:, 0])] if order else rows
    return rows, np.sin(2 * rows[:, 0]) + (0.5 + 0.2 * np.tanh(rows[:, 1])) * rng.normal(size=n)


def _refreshed(rows, targets, parts=5):
    """Return widths of all rows known, of a sample kept, and the error that is stated."""
    exact, fast = (published(20, mode=mode, random_state=0) for mode in ("exact", "fast"))
    for part in np.array_split(np.arange(len(rows)), parts):
        exact.partial_fit(rows[part], targets[part])
        fast.partial_fit(rows[part], targets[part])
    exact.refresh(rows, targets)
    new = rows[:: len(rows) // 1000]
    widths = [np.diff(m.predict_interval(new, 0.9))[:, 0] for m in (exact, fast.refresh())]
    return *widths, fast.mode_error_


@pytest.mark.slow
def test_a_sample_and_sums_of_all_rows_give_nearly_the_same_intervals():
    exact, fast, stated = _refreshed(*_many(120_000))
    # The published noise is negative in places, and wide apart in ratio beside them.
    typical, most = np.quantile(np.abs(fast / exact - 1), [0.5, 0.95])
    assert typical < min(0.01, stated)
    assert most < 0.03
    assert stated < 0.02


@pytest.mark.slow
def test_where_the_order_of_rows_matters_the_sample_is_believed_and_the_error_told():
    """Means of the first rows alone know nothing of the others, nor do their residuals."""
    exact, fast, stated = _refreshed(*_many(60_000, order=True))
    assert np.sqrt(np.mean((fast / exact - 1) ** 2)) < 2 * stated
    assert stated > 0.02


def test_rows_that_begin_alike_are_sampled_apart():
    """Files are sorted: every chunk may begin with the same row, and the others differ."""
    model = published(9, alpha=0.5, mode="fast", chunk_size=250, random_state=0)
    rows = X.copy()
    rows[::250] = 0
    model.partial_fit(rows, Y)
    keys = model.fitted_.grown.sample.keys
    assert len(np.unique(keys)) == len(keys) == N


@pytest.mark.slow
@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda: ELMRegressor(9, alpha="loo").partial_fit(X, Y), "alpha='loo' needs all rows"),
        (lambda: ELMRegressor().fit(X, Y).untrained(), "Only a fitted single layer"),
        (lambda: published(9).refresh(X, Y), "refresh is for models that partial_fit or merge"),
        (
            lambda: grown(published(9, random_state=0)).refresh(X[:9], Y[:9]),
            "trained on 3000 rows, these are 9",
        ),
        (lambda: grown(published(9, random_state=0)).refresh(), "refresh needs the rows"),
        (
            lambda: grown(published(9, random_state=0)).refresh(X, 3 * Y),
            "trained on rows with other targets",
        ),
        (
            lambda: merge(*(grown(ELMRegressor(9, alpha=a, random_state=0)) for a in (1.0, 2.0))),
            "These models have different strengths, alpha=1.0 and 2.0",
        ),
        (
            lambda: merge(
                ELMRegressor(9, random_state=0).partial_fit(X, Y),
                ELMRegressor(9, random_state=1).partial_fit(X, Y),
            ),
            "different hidden layers or scalings",
        ),
        (
            lambda: merge(ELMRegressor().fit(X, Y), ELMRegressor().fit(X, Y)),
            "merge takes models with a single layer",
        ),
        (
            lambda: ELMRegressor(9, random_state=0).partial_fit(X, Y).partial_fit(X[:, :3], Y),
            "3 features",
        ),
    ],
)
def test_refusals(call, sentence):
    with pytest.raises(ValueError, match=sentence):
        call()


@pytest.mark.parametrize(
    ("model", "sentence"),
    [
        (ELMIntervalRegressor(9), "partial_fit needs noise='squared'"),
        (published(9, covariance="wild"), "one hidden layer for both models"),
        (published(9, noise_neurons=5), "one hidden layer for both models"),
        (published("auto"), "is for a single layer"),
        (ELMRegressor(), "is for a single layer"),
        (ELMRegressor(9, n_estimators=2), "is for a single layer"),
        (ELMRegressor(9, target_transform="log"), "is for a single layer"),
    ],
)
def test_models_that_cannot_grow_do_not_offer_to(model, sentence):
    assert not hasattr(model, "partial_fit")
    with pytest.raises(AttributeError) as raised:
        model.partial_fit(X, Y)
    assert sentence in str(raised.value.__cause__ or raised.value)


def test_a_guarantee_that_refresh_takes_away_is_told_of():
    model = grown(published(9, random_state=0)).refresh(X, Y).calibrate(NEW, NEW[:, 0])
    model.partial_fit(X[:10], Y[:10])
    with pytest.warns(UserWarning, match="call calibrate again"):
        model.refresh(np.vstack([X, X[:10]]), np.concatenate([Y, Y[:10]]))
