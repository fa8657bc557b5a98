"""Targets keep their range, transforms are chosen where intervals gain, units do not matter."""

import numpy as np
import pytest

from elmband import ELMIntervalRegressor, ELMRegressor, load, scan
from elmband.metrics import interval_score, picp
from elmband.uncertainty.transform import Identity
from published import published

RNG = np.random.default_rng(0)
X = RNG.uniform(-1, 1, size=(400, 3))
NEW = RNG.uniform(-1, 1, size=(4000, 3))


def prices(X):
    rng = np.random.default_rng(len(X))
    return np.exp(1 + X[:, 0] + 1.0 * rng.standard_normal(len(X)))


def counts(X):
    rng = np.random.default_rng(len(X))
    return rng.poisson(np.exp(0.3 + X[:, 0])).astype(float)


def shares(X):
    rng = np.random.default_rng(len(X))
    return 1 / (1 + np.exp(-3 * X[:, 0] - rng.standard_normal(len(X))))


def plain(X):
    rng = np.random.default_rng(len(X))
    return X[:, 0] + 0.3 * rng.standard_normal(len(X))


KINDS = {
    "prices": (prices, (0, np.inf)),
    "counts": (counts, (0, np.inf)),
    "shares": (shares, (0, 1)),
    "plain": (plain, (-np.inf, np.inf)),
}


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_nothing_leaves_the_range_by_default(kind):
    make, (low, high) = KINDS[kind]
    y, new = make(X), make(NEW)
    model = ELMIntervalRegressor(random_state=0).fit(X, y)
    assert model.target_range_ == (low, high)
    values = [model.predict(NEW), model.predict_interval(NEW, [0.9, 0.999])]
    values.append(model.predict_quantiles(NEW, [0.001, 0.5, 0.999]))
    for found in values:
        assert found.min() >= low
        assert found.max() <= high
    # Of 4,000 rows the standard error is 0.005, and 0.015 of 400 training rows. Separate tails of
    # shares cover 0.929 on average over five draws: more than asked for.
    assert 0.86 < picp(new, model.predict_interval(NEW, 0.9)) < 0.96


@pytest.mark.slow
def test_a_transform_is_chosen_where_intervals_gain():
    y, new = prices(X), prices(NEW)
    # Separate tails would do as well here as a transform.
    auto, none = (
        ELMIntervalRegressor(target_transform=t, symmetric=True, random_state=0).fit(X, y)
        for t in ("auto", None)
    )
    assert not isinstance(auto.target_transform_, Identity)
    gains = [
        interval_score(new, m.predict_interval(NEW, 0.9), confidence_level=0.9)
        for m in (auto, none)
    ]
    assert gains[0] < 0.98 * gains[1]
    # The mean stays the mean: its error is no larger, and it is right on average.
    errors = [new - m.predict(NEW) for m in (auto, none)]
    assert np.mean(errors[0] ** 2) < 1.05 * np.mean(errors[1] ** 2)
    assert np.mean(errors[0]) == pytest.approx(0, abs=0.15 * np.std(errors[0]))
    # The middle of noise that may be a little skewed on the chosen scale yet.
    assert np.mean(new <= auto.predict_quantiles(NEW, 0.5)) == pytest.approx(0.5, abs=0.12)


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["shares", "plain"])
def test_no_transform_is_chosen_where_nothing_is_skewed(kind):
    model = ELMIntervalRegressor(random_state=0).fit(X, KINDS[kind][0](X))
    assert isinstance(model.target_transform_, Identity)


@pytest.mark.slow
def test_a_sample_of_many_rows_decides():
    many = np.random.default_rng(1).uniform(-1, 1, size=(2500, 2))
    y = prices(many)
    model = ELMIntervalRegressor(random_state=0).fit(many, y)
    assert not isinstance(model.target_transform_, Identity)
    order = np.random.default_rng(2).permutation(2500)
    again = ELMIntervalRegressor(random_state=0).fit(many[order], y[order])
    np.testing.assert_allclose(again.predict(NEW[:50, :2]), model.predict(NEW[:50, :2]), rtol=1e-5)


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("factor", [1e-3, 7.0])
def test_units_do_not_matter(kind, factor):
    """A share is known by its unit; what else there is follows y → a·y exactly."""
    y = KINDS[kind][0](X)
    one, other = (
        ELMIntervalRegressor(random_state=0, target_range=(0, None) if kind == "shares" else "auto")
        .fit(X, a * y)
        .predict_interval(NEW[:200], [0.5, 0.99])
        for a in (1, factor)
    )
    np.testing.assert_allclose(other, factor * one, rtol=1e-6, atol=1e-8 * factor)


@pytest.mark.slow
def test_without_a_transform_shifts_do_not_matter_either():
    y = prices(X)
    one, other = (
        ELMIntervalRegressor(target_transform=None, random_state=0)
        .fit(X, 3 * y + b)
        .predict_interval(NEW[:200])
        for b in (0, -50)
    )
    np.testing.assert_allclose(other, one - 50, rtol=1e-6, atol=1e-6)


@pytest.mark.slow
def test_a_range_may_be_given_or_switched_off():
    y = prices(X)
    for options, low in (({"target_range": None}, -np.inf), ({"target_transform": None}, -np.inf)):
        model = ELMIntervalRegressor(random_state=0, **options).fit(X, y)
        assert model.target_range_ == (low, np.inf)
    ends = (0.9 * y.min(), 1.01 * y.max())
    model = ELMIntervalRegressor(random_state=0, target_transform=None, target_range=ends)
    interval = model.fit(X, y).predict_interval(NEW, 0.99)
    assert (interval.min(), interval.max()) == pytest.approx(ends)
    for kind in (published, ELMRegressor):
        assert kind(20, target_range=ends).fit(X, y).predict(9 * NEW).min() >= ends[0]


def test_the_published_model_and_single_layers_are_as_they_are():
    y = prices(X)
    for kind in (published, ELMRegressor):
        model = kind(30, random_state=0).fit(X, y)
        assert model.target_range_ == (-np.inf, np.inf)
        assert isinstance(model.target_transform_, Identity)
        assert model.fitted_.targets.support is None


@pytest.mark.slow
def test_ranges_of_several_outputs():
    y = np.column_stack([prices(X), plain(X)])
    model = ELMIntervalRegressor(random_state=0).fit(X, y)
    assert model.target_range_ == ((0, np.inf), (-np.inf, np.inf))
    assert model.predict_interval(NEW)[:, 0].min() >= 0 > model.predict_interval(NEW)[:, 1].min()


@pytest.mark.slow
def test_a_range_is_found_in_a_scan(tmp_path):
    y = prices(X)
    model = ELMIntervalRegressor(random_state=0).fit(scan((X, y), chunk_size=50))
    assert model.target_range_ == (0, np.inf)
    again = load(model.save(tmp_path / "model"))
    assert again.target_range_ == (0, np.inf)
    np.testing.assert_array_equal(again.predict_interval(NEW), model.predict_interval(NEW))


@pytest.mark.slow
@pytest.mark.parametrize("unit", [1e300, 1e-300])
@pytest.mark.parametrize("of_inputs", [1.0, 1e300, 1e-300])
def test_numbers_that_are_huge_or_tiny_are_numbers(unit, of_inputs):
    y = plain(X)
    expected = ELMIntervalRegressor(random_state=0).fit(X, y).predict_interval(NEW[:50])
    model = ELMIntervalRegressor(random_state=0).fit(of_inputs * X, unit * y)
    found = model.predict_interval(of_inputs * NEW[:50])
    np.testing.assert_allclose(found / unit, expected, rtol=1e-7, atol=1e-9)


@pytest.mark.slow
@pytest.mark.parametrize("transform", ["auto", None, "log1p"])
def test_rare_marks_are_no_levers(transform):
    """A mark set in 2 of 3,000 rows was 39 standard deviations away, and moved means at will."""
    rng = np.random.default_rng(3)
    X = rng.normal(size=(3000, 4))
    X[:, 3] = 0
    X[[5, 9], 3] = 1
    y = rng.poisson(np.exp(0.2 + 0.5 * X[:, 0])).astype(float)
    model = ELMIntervalRegressor(target_transform=transform, random_state=0).fit(X, y)
    scale = model.members_[0].features.inputs.scale
    assert scale[3] == pytest.approx(0.2)
    marked = rng.normal(size=(200, 4))
    marked[:, 3] = 1
    marked[:50, 0] = 12
    mean, interval = model.predict(marked, confidence_level=0.9)
    assert mean.max() <= 1.5 * y.max() + 1
    assert mean.min() >= (-0.2 * y.max() if transform is None else 0)
    assert np.isfinite(interval).all()


@pytest.mark.slow
@pytest.mark.parametrize("far", [1e3, 1e9, 1e18])
def test_no_row_is_too_far_for_a_mean_that_targets_support(far):
    y = plain(X)
    model = ELMIntervalRegressor(random_state=0).fit(X, y)
    mean, interval = model.predict(far * NEW[:100], confidence_level=0.9)
    reach = y.max() - y.min()
    assert y.min() - 0.11 * reach <= mean.min()
    assert mean.max() <= y.max() + 0.11 * reach
    # What was taken back is in the width.
    raw = (
        model.fitted_.mean.mean(far * NEW[:100])[:, 0] * model.fitted_.targets.scaling.scale
        + model.fitted_.targets.scaling.mean
    )
    beyond = np.abs(raw - mean)
    assert (interval[:, 1] - interval[:, 0] >= 2 * beyond).all()


@pytest.mark.one_quick
@pytest.mark.parametrize("rare", [10, 60])
def test_rare_events_keep_their_mean(rare):
    """Zeros with few events gain by "always zero" in interval scores, but have a mean."""
    rng = np.random.default_rng(1)
    X, y = rng.normal(size=(600, 3)), np.zeros(600)
    y[rng.choice(600, rare, replace=False)] = np.exp(rng.normal(size=rare))
    model = ELMIntervalRegressor(random_state=0).fit(X, y)
    assert isinstance(model.target_transform_, Identity)
    assert model.predict(X).mean() == pytest.approx(y.mean(), rel=0.3)


@pytest.mark.slow
def test_ranges_that_training_targets_leave_are_refused():
    y = plain(X)
    for kind in (ELMIntervalRegressor(random_state=0), ELMRegressor(20), published(20)):
        with pytest.raises(ValueError, match=r"target_range goes from 0 to inf, but y from -"):
            kind.set_params(target_range=(0, None)).fit(X, y)
    model = ELMIntervalRegressor(random_state=0, target_range=np.array([-9.0, 9.0])).fit(X, y)
    assert model.target_range_ == (-9, 9)


def test_targets_that_float32_cannot_hold_are_refused():
    for factor in (1e300, 1e-50):
        with pytest.raises(ValueError, match=r"results in float32 cannot hold"):
            ELMIntervalRegressor(random_state=0).fit(X.astype(np.float32), factor * plain(X))


@pytest.mark.slow
def test_held_out_targets_may_lie_where_a_chosen_scale_ends():
    y = prices(X)
    model = ELMIntervalRegressor(random_state=0).fit(X, y)
    assert not isinstance(model.target_transform_, Identity)
    new = prices(NEW[:200])
    new[:3] = (0.0, -4.0, 0.0)
    interval = model.calibrate(NEW[:200], new).predict_interval(NEW, 0.9)
    assert np.isfinite(interval).all()


@pytest.mark.slow
def test_few_rows_of_a_transformed_target_have_wide_intervals():
    rng = np.random.default_rng(0)
    wide = []
    for n in (4, 40):
        X = rng.normal(size=(n, 2))
        model = ELMIntervalRegressor(target_transform="log", random_state=0)
        if n == 4:
            with pytest.warns(UserWarning, match="4 different rows are too few"):
                model.fit(X, np.exp(X[:, 0]))
        else:
            model.fit(X, np.exp(X[:, 0]))
        low, high = model.predict_interval(X, 0.99).T
        wide.append(np.median(np.log(high / low)))
    assert wide[0] > 3 * wide[1]
