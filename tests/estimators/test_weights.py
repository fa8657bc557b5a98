"""Weights: only their ratios matter, rows leave with all of theirs, and copies leave together."""

import numpy as np
import pytest
from sklearn.linear_model import Ridge

from elmband import ELMClassifier, ELMIntervalRegressor, ELMRegressor, ELMSelectiveClassifier, scan
from elmband.datasets import make_heteroscedastic
from elmband.estimators import _scans
from published import published

DATA = make_heteroscedastic(150, random_state=0)
NEW = np.linspace(-2, 2, 50)[:, None]
S = np.random.default_rng(1).uniform(0.2, 3, 150)
LABELS = (DATA.y > np.median(DATA.y)).astype(int)

INTERVALS = {
    "default": lambda **o: ELMIntervalRegressor(random_state=0, **o),
    "layer": lambda **o: ELMIntervalRegressor(40, random_state=0, **o),
    "published": lambda **o: published(40, random_state=0, **o),
    "left out": lambda **o: ELMIntervalRegressor(40, noise="squared", random_state=0, **o),
    "fast": lambda **o: ELMIntervalRegressor(40, noise="squared", mode="fast", random_state=0, **o),
    "wild": lambda **o: published(40, covariance="wild", random_state=0, **o),
    "selected": lambda **o: published(40, selection="op-elm", random_state=0, **o),
}


# Nearly collinear neurons make ten digits of sixteen out of another order of sums.
ROUNDING = {"rtol": 1e-5, "atol": 1e-5}


def answers(model):
    return np.column_stack([model.predict(NEW), model.predict_interval(NEW, 0.9)])


@pytest.mark.slow
@pytest.mark.parametrize("kind", INTERVALS.values(), ids=INTERVALS)
@pytest.mark.parametrize("factor", [1.1, 2.0, 0.02, 1e-9, 1e9])
def test_a_common_factor_changes_nothing(kind, factor):
    """Before, 1.1 took the error of a single layer from .19 to 3.2, and 2 the coverage to .55."""
    for s in (np.ones(150), S):
        expected = answers(kind().fit(DATA.X, DATA.y, None if s.min() == 1 else s))
        found = answers(kind().fit(DATA.X, DATA.y, factor * s))
        np.testing.assert_allclose(found, expected, **ROUNDING)


@pytest.mark.slow
@pytest.mark.parametrize("kind", INTERVALS.values(), ids=INTERVALS)
def test_every_row_twice_gives_the_model_of_every_row_once(kind):
    once = answers(kind().fit(DATA.X, DATA.y))
    twice = answers(kind().fit(np.tile(DATA.X, (2, 1)), np.tile(DATA.y, 2)))
    np.testing.assert_allclose(twice, once, **ROUNDING)


# For the wild bootstrap every row draws random numbers, whatever its weight.
@pytest.mark.slow
@pytest.mark.parametrize("kind", [name for name in INTERVALS if name != "wild"])
def test_next_to_no_weight_is_none(kind):
    """Before, neurons of a stack were placed at such rows, and its folds counted them."""
    kind = INTERVALS[kind]
    s = np.where(np.arange(150) % 3 == 0, 1e-12, S)
    dropped = answers(kind().fit(DATA.X[s > 1e-6], DATA.y[s > 1e-6], s[s > 1e-6]))
    np.testing.assert_allclose(answers(kind().fit(DATA.X, DATA.y, s)), dropped, **ROUNDING)


def test_one_row_may_outweigh_all_others_together():
    model = ELMRegressor(5, random_state=0).fit(DATA.X, DATA.y, np.r_[1e12, np.ones(149)])
    assert np.isfinite(model.predict(NEW)).all()


def test_neurons_of_a_scan_are_placed_at_rows_that_count(tmp_path):
    """Two thirds of the rows lie elsewhere, and have next to no weight."""
    far = np.r_[DATA.X, DATA.X + 100, DATA.X + 200]
    s = np.r_[S, np.full(300, 1e-12)]
    table = np.column_stack([far, np.tile(DATA.y, 3), s])
    np.save(tmp_path / "t.npy", table)
    rows = scan(tmp_path / "t.npy", target=1, weight=2)
    for options in ({}, {"n_neurons": {"rbf_l2": 30}}):
        model = ELMRegressor(random_state=0, **options).fit(rows)
        whole = ELMRegressor(random_state=0, **options).fit(DATA.X, DATA.y, S)
        np.testing.assert_allclose(model.predict(NEW), whole.predict(NEW), atol=1e-3)


@pytest.mark.slow
@pytest.mark.parametrize("kind", INTERVALS.values(), ids=INTERVALS)
def test_whole_weights_are_repeats_and_zero_drops_a_row(kind):
    counts = np.random.default_rng(2).integers(0, 4, 150)
    weighted = answers(kind().fit(DATA.X, DATA.y, counts))
    repeated = answers(kind().fit(np.repeat(DATA.X, counts, axis=0), np.repeat(DATA.y, counts)))
    np.testing.assert_allclose(weighted, repeated, **ROUNDING)


@pytest.mark.parametrize("n_neurons", [10, 200])
def test_a_numeric_strength_acts_on_weights_as_given(n_neurons):
    """As in scikit-learn's Ridge, on the same hidden outputs; with 200 neurons in the dual form."""
    model = ELMRegressor(n_neurons, alpha=0.7, random_state=0).fit(DATA.X, DATA.y, 5 * S)
    assert model.alpha_ == pytest.approx(0.7)
    H = model.fitted_.layer.features.apply(DATA.X)
    mean, scale = model.fitted_.targets.scaling.mean, model.fitted_.targets.scaling.scale
    ridge = Ridge(alpha=0.7, fit_intercept=False, solver="svd")
    ridge.fit(H, (DATA.y - mean) / scale, sample_weight=5 * S)
    np.testing.assert_allclose(model.coef_, ridge.coef_.reshape(-1), rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize("rule", ["loo", "gcv"])
def test_the_chosen_strength_gives_the_same_model_again(rule):
    chosen = ELMRegressor(40, alpha=rule, random_state=0).fit(DATA.X, DATA.y, 5 * S)
    again = ELMRegressor(40, alpha=chosen.alpha_, random_state=0).fit(DATA.X, DATA.y, 5 * S)
    np.testing.assert_allclose(again.predict(NEW), chosen.predict(NEW), rtol=1e-8)


@pytest.mark.parametrize("options", [{}, {"n_neurons": 30}], ids=["default", "layer"])
def test_classes_know_ratios_only(options):
    for kind in (ELMClassifier, ELMSelectiveClassifier):
        one, other = (
            kind(random_state=0, **options).fit(DATA.X, LABELS, factor * S) for factor in (1, 40)
        )
        np.testing.assert_allclose(one.predict_proba(NEW), other.predict_proba(NEW), **ROUNDING)


@pytest.mark.slow
@pytest.mark.parametrize("rows_in_memory", [True, False])
def test_a_scan_knows_ratios_only(monkeypatch, rows_in_memory):
    if not rows_in_memory:
        monkeypatch.setattr(_scans, "_KEPT_BYTES", 0)
    for kind in ("default", "left out"):
        one, other = (
            INTERVALS[kind]().fit(scan((DATA.X, DATA.y, factor * S), chunk_size=40))
            for factor in (1, 40)
        )
        np.testing.assert_allclose(answers(one), answers(other), **ROUNDING)


def test_rows_added_later_know_ratios_only():
    """Also where the parts have weights of other sizes, beside one fit on all rows."""
    s = np.where(np.arange(150) < 70, 1.0, 9.0) * S
    found = []
    for factor in (1, 40):
        model = ELMIntervalRegressor(30, noise="squared", random_state=0)
        for part in (slice(0, 70), slice(70, None)):
            model.partial_fit(DATA.X[part], DATA.y[part], factor * s[part])
        model.refresh(DATA.X, DATA.y, factor * s)
        found.append(answers(model))
    np.testing.assert_allclose(*found, **ROUNDING)


def test_rows_added_later_are_the_rows_of_one_fit():
    whole = ELMRegressor(30, alpha="gcv", random_state=0).fit(DATA.X, DATA.y, S)
    empty = whole.untrained()
    for part in (slice(0, 70), slice(70, None)):
        empty.partial_fit(DATA.X[part], DATA.y[part], S[part])
    np.testing.assert_allclose(empty.predict(NEW), whole.predict(NEW), rtol=1e-6)
    assert empty.alpha_ == pytest.approx(whole.alpha_)


@pytest.mark.parametrize("factor", [40, 1e-6])
def test_refresh_knows_ratios_only(factor):
    """Before, the same rows with weights of another size were said to be more rows."""
    found = []
    for size in (1, factor):
        model = ELMIntervalRegressor(30, noise="squared", random_state=0)
        model.partial_fit(DATA.X, DATA.y, S)
        found.append(answers(model.refresh(DATA.X, DATA.y, size * S)))
    np.testing.assert_allclose(*found, **ROUNDING)
    with pytest.raises(ValueError, match="other targets, or with weights in other ratios"):
        model.refresh(DATA.X, DATA.y, S**2)
    with pytest.raises(ValueError, match="trained on 150 rows, these are 149"):
        model.refresh(DATA.X[1:], DATA.y[1:], 150 / 149 * S[1:])


def test_a_kept_sample_knows_ratios_only():
    found = []
    for factor in (1, 40):
        model = ELMIntervalRegressor(30, noise="squared", mode="fast", random_state=0)
        model.partial_fit(DATA.X, DATA.y, factor * S).refresh()
        found.append(answers(model))
    np.testing.assert_allclose(*found, **ROUNDING)


def test_rows_without_weight_are_not_added():
    """They were counted from the second part on, and moved the strength."""
    rng = np.random.default_rng(3)
    more = rng.normal(size=(1000, 1))
    one, other = (ELMRegressor(30, random_state=0).partial_fit(DATA.X, DATA.y) for _ in range(2))
    one.partial_fit(DATA.X, DATA.y)
    weights = np.r_[np.ones(150), np.zeros(1000)]
    other.partial_fit(np.r_[DATA.X, more], np.r_[DATA.y, more[:, 0]], weights)
    assert other.alpha_ == pytest.approx(one.alpha_)
    with pytest.raises(ValueError, match="leaves no row with a weight above zero"):
        other.partial_fit(DATA.X, DATA.y, np.zeros(150))


@pytest.mark.parametrize("size", [1e300, 1e-300])
def test_weights_without_sums_are_refused(size):
    with pytest.raises(ValueError, match="divide all weights by a common factor"):
        ELMRegressor(10).fit(DATA.X, DATA.y, np.full(150, size))


@pytest.mark.slow
def test_weights_that_leave_few_rows_are_told_of():
    weights = np.ones(150)
    weights[0] = 300
    with pytest.warns(UserWarning, match=r"worth 2.24 are too few"):
        ELMIntervalRegressor(random_state=0).fit(DATA.X, DATA.y, weights)
