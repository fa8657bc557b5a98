"""How many rows weights make of them, and weights that leave a fit to a few rows."""

import warnings

import numpy as np
import pytest

from elmband import ELMIntervalRegressor, ELMRegressor, scan
from elmband.estimators import _scans
from elmband.metrics import picp
from elmband.sums.rows import ArrayRows
from elmband.sums.weights import bounded_weights, effective_number

RNG = np.random.default_rng(0)
X = RNG.normal(size=(8, 2))
Y = 1 + 0.3 * X[:, 0] + 0.2 * RNG.normal(size=8)
NEW = RNG.normal(size=(50, 2))
RATIOS = [1e1, 1e2, 1e3, 1e5, 1e7, 1e8]


def rows(s, n=8):
    return ArrayRows(np.zeros((n, 1)), np.zeros((n, 1)), np.asarray(s, float))


def heavy(count, ratio, n=8):
    s = np.ones(n)
    s[:count] = ratio
    return s


def widths(s):
    model = ELMIntervalRegressor(20, random_state=0)
    with pytest.warns(UserWarning, match="too few") as told:
        model.fit(X, Y, sample_weight=s)
    assert len(told) == 1
    return np.diff(model.predict_interval(NEW, 0.9)), str(told[0].message)


@pytest.mark.parametrize("count", [1, 2, 3])
@pytest.mark.parametrize("ratio", RATIOS)
def test_bounded_weights_are_worth_half_of_the_rows(count, ratio):
    found = bounded_weights(rows(heavy(count, ratio)))
    assert effective_number(found.rows.s) >= min(4 - 1e-9, effective_number(heavy(count, ratio)))
    assert found.worth == pytest.approx(effective_number(heavy(count, ratio)))
    light = found.rows.s[count:]
    np.testing.assert_array_equal(light, np.ones(8 - count))


@pytest.mark.parametrize("s", [np.ones(8), np.arange(1.0, 9), heavy(1, 3.0)])
def test_weights_of_enough_rows_stay_as_they_are(s):
    given = rows(s)
    found = bounded_weights(given)
    assert found.rows is given
    assert found.factor == pytest.approx(1)


def test_a_heavy_group_is_bounded_as_a_whole():
    s, labels = heavy(4, 1e6, 16), np.arange(16) // 2
    found = bounded_weights(rows(s, 16), labels).rows.s
    assert effective_number(found, labels) == pytest.approx(4, rel=1e-6)
    assert len(np.unique(found[:4])) == 1


@pytest.mark.parametrize(("groups", "count"), [(2, 2), (3, 3), (6, 60), (20, 200)])
def test_few_groups_count_and_the_rows_of_many(groups, count):
    labels = np.repeat(np.arange(groups), 10)
    found = bounded_weights(rows(np.ones(10 * groups), 10 * groups), labels)
    assert 10 * groups * found.factor == pytest.approx(count)


@pytest.mark.slow
@pytest.mark.parametrize("count", [1, 2])
def test_intervals_grow_with_the_ratio_of_weights_and_stay_sane(count):
    """The range of targets is the unit; Student's t of two rows asks for some of them."""
    found = [np.median(widths(heavy(count, ratio))[0]) for ratio in [1, *RATIOS]]
    assert np.min(found) > 0.3 * np.ptp(Y)
    assert np.max(found) < 20 * np.ptp(Y)
    assert (np.diff(found) > -0.05 * np.array(found[:-1])).all()


def test_the_warning_tells_what_rows_are_worth():
    width, told = widths(heavy(1, 100.0))
    assert "8 different rows whose weights make them worth 1.14 are too few" in told
    assert 0.3 * np.ptp(Y) < np.median(width) < 20 * np.ptp(Y)


@pytest.mark.parametrize("kind", [ELMIntervalRegressor, ELMRegressor])
@pytest.mark.parametrize("light", [0.0, 1e-12])
def test_one_row_beside_negligible_ones_is_refused_as_one_row_is(kind, light):
    s = np.full(8, light)
    s[3] = 1
    with pytest.raises(ValueError, match="leaves fewer than 2 rows"):
        kind(random_state=0).fit(X, Y, sample_weight=s)


def draw(rng, groups, size):
    label = np.repeat(np.arange(groups), size)
    inputs = rng.normal(size=(groups, 2))[label] + 0.3 * rng.normal(size=(len(label), 2))
    y = inputs[:, 0] + 0.7 * rng.normal(size=groups)[label] + 0.5 * rng.normal(size=len(label))
    return inputs, y, label


@pytest.mark.slow
@pytest.mark.parametrize("groups", [2, 3])
def test_rows_of_new_groups_are_covered_by_two_or_three(groups):
    """Without counting groups it was 0.75 and 0.8; the mean of twelve fits varies by 5 points."""
    covered = []
    for seed in range(12):
        rng = np.random.default_rng(seed)
        inputs, y, label = draw(rng, groups, 4)
        new, truth, _ = draw(rng, 200, 1)
        model = ELMIntervalRegressor(20, random_state=0)
        with pytest.warns(UserWarning, match=f"{groups} groups are too few"):
            model.fit(inputs, y, groups=label)
        covered.append(picp(truth, model.predict_interval(new, 0.9)))
    assert np.mean(covered) > 0.88


def test_six_groups_are_not_warned_of():
    inputs, y, label = draw(np.random.default_rng(0), 6, 4)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        ELMIntervalRegressor(20, random_state=0).fit(inputs, y, groups=label)


def test_rows_that_only_reading_can_count_are_fitted(monkeypatch):
    """As are those of large CSV files, which no memory is to hold."""
    monkeypatch.setattr(_scans, "_KEPT_BYTES", 0)
    rng = np.random.default_rng(0)
    inputs = rng.normal(size=(60, 2))
    y = inputs[:, 0] + 0.3 * rng.normal(size=60)
    pieces = [(inputs[k : k + 20], y[k : k + 20]) for k in (0, 20, 40)]
    model = ELMIntervalRegressor(4, random_state=0)
    found = model.fit(scan(lambda: iter(pieces))).predict_interval(inputs)
    np.testing.assert_allclose(found, model.fit(inputs, y).predict_interval(inputs), rtol=1e-6)
