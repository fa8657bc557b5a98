"""Split conformal prediction for rows of new groups."""

import math
import warnings
from fractions import Fraction

import numpy as np
import pytest

from elmband import ELMIntervalRegressor, load, scan
from elmband.uncertainty.calibrate import RowScores


def row_scores(t, s=None):
    t = np.asarray(t, dtype=float)[:, None]
    s = np.ones(len(t)) if s is None else np.asarray(s, dtype=float)
    return RowScores(t, t, t, s, s)


@pytest.fixture(scope="module")
def fitted():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((60, 2))
    return ELMIntervalRegressor(10, random_state=0).fit(X, X[:, 0] + rng.standard_normal(60))


def held_out(n=60, seed=1):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, 2))
    return X, X[:, 0] + rng.standard_normal(n)


@pytest.mark.parametrize("level", ["0.5", "0.8", "0.9"])
def test_multipliers_have_the_rank_of_exact_arithmetic(level):
    """The least score whose cumulated share of groups reaches (K + 1)·level."""
    rng = np.random.default_rng(3)
    for _ in range(50):
        labels = rng.integers(0, 12, size=40)
        t = rng.standard_normal(40).round(1)
        names, counts = np.unique(labels, return_counts=True)
        size = dict(zip(names, counts.tolist(), strict=True))
        total, expected = Fraction(0), math.inf
        for value, label in sorted(zip(np.abs(t), labels, strict=True)):
            total += Fraction(1, size[label])
            if total >= (len(names) + 1) * Fraction(level):
                expected = value
                break
        found = row_scores(t).of_groups(labels)[0].both
        assert found.n == pytest.approx(len(names))
        assert found.conformal(float(level)) == expected


def test_groups_of_one_row_are_rows(fitted):
    X, y = held_out()
    expected = fitted.calibrate(X, y).predict_interval(X, 0.9)
    found = fitted.calibrate(X, y, groups=[f"g{i}" for i in range(60)]).predict_interval(X, 0.9)
    np.testing.assert_array_equal(found, expected)


@pytest.mark.slow
@pytest.mark.parametrize("symmetric", [True, False])
def test_rows_of_new_groups_are_covered(symmetric):
    """Offsets of groups of 1 to 12 rows: 3,000 sets of 19 groups, four standard errors.

    Rows that are taken for independent miss the level.
    """
    rng = np.random.default_rng(0)
    covered, naive = [], []
    for _ in range(3000):
        sizes = rng.integers(1, 13, size=20)
        labels = np.repeat(np.arange(20), sizes)
        t = (rng.exponential(size=20) - 1)[labels] + 0.3 * rng.standard_normal(len(labels))
        seen, new = labels < 19, t[-1]
        rows = row_scores(t[seen])
        for kept, outputs in ((covered, rows.of_groups(labels[seen])), (naive, rows.outputs())):
            output = outputs[0]
            if symmetric:
                kept.append(abs(new) <= output.both.conformal(0.8))
            else:
                kept.append(-output.below.conformal(0.9) <= new <= output.above.conformal(0.9))
    error = 4 * math.sqrt(0.8 * 0.2 / 3000)
    # At most one group more than the level asks for.
    assert 0.8 - error < np.mean(covered) < 0.8 + 2 / 20 + error
    assert np.mean(naive) < np.mean(covered)


def test_too_few_groups_are_told_of_in_groups(fitted):
    X, y = held_out()
    fitted.calibrate(X, y, groups=np.arange(60) % 8)
    with pytest.warns(UserWarning, match=r"8 calibration groups .* with at least 9 groups"):
        assert np.isinf(fitted.predict_interval(X, 0.9)).all()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert np.isfinite(fitted.predict_interval(X, 0.8)).all()
    assert "8 groups" in repr(fitted.calibration_)


def test_weights_share_a_group_among_its_rows_and_zero_drops_one(fitted):
    X, y = held_out()
    groups, s = np.arange(60) % 20, np.random.default_rng(2).integers(0, 3, size=60)
    expected = fitted.calibrate(X, y, s, groups).predict_interval(X, 0.8)
    there = s > 0
    rest = fitted.calibrate(X[there], y[there], 7.0 * s[there], groups[there])
    np.testing.assert_array_equal(rest.predict_interval(X, 0.8), expected)


def test_a_calibration_by_groups_is_saved(fitted, tmp_path):
    X, y = held_out()
    fitted.calibrate(X, y, groups=np.arange(60) % 20)
    again = load(fitted.save(tmp_path / "model"))
    assert again.calibration_.unit == "groups"
    np.testing.assert_array_equal(again.predict_interval(X, 0.9), fitted.predict_interval(X, 0.9))


@pytest.mark.parametrize(
    ("groups", "sentence"),
    [
        (np.arange(59), "one label for each of the 60 rows"),
        (np.where(np.arange(60) > 3, np.nan, 1.0), "missing labels"),
        (np.array([None, "a"] * 30, dtype=object), "missing labels or mixes types"),
    ],
)
def test_labels_that_do_not_fit_are_refused(fitted, groups, sentence):
    with pytest.raises(ValueError, match=sentence):
        fitted.calibrate(*held_out(), groups=groups)


def test_a_scan_is_taken_into_memory_for_its_groups(fitted, tmp_path):
    X, y = held_out()
    np.savetxt(
        tmp_path / "r.csv", np.column_stack([X, y]), delimiter=",", header="a,b,y", comments=""
    )
    rows = scan(tmp_path / "r.csv", target="y")
    labels = np.arange(len(y)) // 2
    expected = fitted.calibrate(X, y, groups=labels).predict_interval(X, 0.8)
    found = fitted.calibrate(rows, groups=labels).predict_interval(X, 0.8)
    np.testing.assert_allclose(found, expected, rtol=1e-9)
    with pytest.raises(ValueError, match="groups is for rows of this machine"):
        fitted.calibrate(rows, groups=np.arange(60), client=object())
    da = pytest.importorskip("dask.array")
    with pytest.raises(ValueError, match="groups is for rows of this machine"):
        fitted.calibrate(da.from_array(X), da.from_array(y), groups=np.arange(60))
