"""Scores of rows that whole models were not trained on."""

import warnings

import numpy as np
import pytest

from elmband import ELMIntervalRegressor, scan
from elmband.stacks.pool import Pool
from elmband.sums.rows import ArrayRows
from elmband.sums.scaling import Scaling
from elmband.uncertainty import cross_fit
from elmband.uncertainty.cross_fit import held_out_share, n_parts, rows_worth

RNG = np.random.default_rng(0)
X = RNG.uniform(-2, 2, size=(45, 2))
Y = np.sin(2 * X[:, 0]) + (0.2 + 0.3 * np.abs(X[:, 1])) * RNG.standard_normal(45)
NEW = RNG.uniform(-2, 2, size=(20, 2))


def fitted(X=X, y=Y, weight=None, groups=None, **options):
    model = ELMIntervalRegressor(**{"n_neurons": 20, "random_state": 0} | options)
    return model.fit(X, y, weight, groups)


def scores(model):
    return model.calibration_.outputs[0].both


@pytest.mark.slow
def test_every_row_is_held_out_from_a_fit_of_its_own():
    """Twenty rows are held out one by one: the oracle is a fit without the row."""
    found = []
    for i in range(20):
        others = np.arange(20) != i
        model = fitted(X[:20][others], Y[:20][others], calibration="gaussian")
        mean, std = model.predict(X[i : i + 1], return_std=True)
        found.append(abs(Y[i] - mean[0]) / std[0])
    np.testing.assert_allclose(scores(fitted(X[:20], Y[:20])).t, np.sort(found), rtol=1e-6)


def test_groups_are_held_out_as_a_whole():
    groups = np.arange(45) % 9
    found = []
    for group in range(9):
        here = groups == group
        model = fitted(X[~here], Y[~here], None, groups[~here], calibration="gaussian")
        mean, std = model.predict(X[here], return_std=True)
        found += list(np.abs(Y[here] - mean) / std)
    np.testing.assert_allclose(scores(fitted(groups=groups)).t, np.sort(found), rtol=1e-6)


@pytest.mark.one_quick
@pytest.mark.parametrize("symmetric", [True, False])
def test_the_order_of_rows_does_not_matter(symmetric):
    expected = fitted(symmetric=symmetric).predict_interval(NEW, [0.5, 0.9, 0.99])
    order = np.random.default_rng(1).permutation(45)
    moved = fitted(X[order], Y[order], symmetric=symmetric).predict_interval(NEW, [0.5, 0.9, 0.99])
    np.testing.assert_allclose(moved, expected, rtol=1e-6, atol=1e-6)


@pytest.mark.one_quick
@pytest.mark.parametrize("symmetric", [True, False])
@pytest.mark.parametrize(("scale", "shift"), [(3.0, 7.0), (-2e4, 1e5)])
def test_scores_know_no_unit_of_y(symmetric, scale, shift):
    one, other = (
        fitted(y=y, symmetric=symmetric).calibration_.outputs[0] for y in (Y, scale * Y + shift)
    )
    tails = (other.above, other.below) if scale > 0 else (other.below, other.above)
    for mine, theirs in zip(one, (other.both, *tails), strict=True):
        np.testing.assert_allclose(mine.t, theirs.t, rtol=1e-5, atol=1e-7)


def test_copies_of_rows_are_held_out_together():
    """A copy among the rows trained on would tell the target of the row held out."""
    twice = fitted(np.repeat(X, 2, axis=0), np.repeat(Y, 2))
    assert scores(twice).n == pytest.approx(45)
    assert np.mean(scores(twice).t) > 0.8 * np.mean(scores(fitted()).t)


def test_many_outputs_are_held_out_at_once():
    both = fitted(y=np.column_stack([Y, X[:, 0]])).calibration_.outputs
    assert len(both) == 2
    assert both[0].both.t.shape == both[1].both.t.shape == (45,)


def test_the_share_of_rows_held_out_fades_without_a_jump():
    shares = [held_out_share(n) for n in range(2, 1200)]
    assert shares[0] == 1
    assert shares[-1] == 0
    assert max(-np.diff(shares)) < 0.005
    assert [held_out_share(n) for n in (300, 450, 600)] == [1.0, 0.5, 0.0]


def test_parts_are_fewer_where_a_fit_takes_longer():
    parts = [n_parts(n) for n in range(3, 600)]
    assert parts[:18] == list(range(3, 21))
    assert (np.diff(parts[18:]) <= 0).all()
    assert min(parts) == 3


def test_many_rows_are_not_fitted_again(monkeypatch):
    monkeypatch.setattr(cross_fit, "fit_stack", None)
    rng = np.random.default_rng(0)
    many = rng.standard_normal((600, 2))
    assert scores(fitted(many, many[:, 0] + rng.standard_normal(600))).n == 600
    # Nor are few rows where nobody asks for multipliers.
    fitted(calibration="gaussian")


@pytest.mark.parametrize("y", [np.zeros(10), np.arange(10.0)])
def test_there_is_one_warning_at_most(y):
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        fitted(X[:10], y)
    assert len(told) == 1


@pytest.mark.slow
def test_a_scan_of_few_rows_has_the_same_scores(tmp_path):
    np.savetxt(
        tmp_path / "rows.csv",
        np.column_stack([X, Y]),
        delimiter=",",
        header="a,b,y",
        comments="",
        fmt="%.17g",
    )
    rows = scan(tmp_path / "rows.csv", target="y")
    streamed = ELMIntervalRegressor(20, random_state=0).fit(rows)
    np.testing.assert_allclose(scores(streamed).t, scores(fitted()).t, rtol=1e-6)
    again = ELMIntervalRegressor(20, random_state=0).fit(rows, checkpoint=tmp_path / "kept")
    np.testing.assert_allclose(scores(again).t, scores(streamed).t)


@pytest.mark.parametrize(
    ("columns", "classes", "expected"),
    [(3, False, 200), (10, False, 200), (40, False, 50), (3, True, 50)],
)
def test_many_columns_and_classes_make_rows_few(columns, classes, expected):
    rows = np.random.default_rng(0).standard_normal((200, columns + 1))
    scaling = Scaling(np.zeros(columns), np.ones(columns))
    chunks = ArrayRows(rows[:, :-1], rows[:, -1:])
    pool = Pool.of(chunks, scaling, None, 500, 0, 2.0**-52, classes=classes)
    assert rows_worth(pool) == expected


@pytest.mark.slow
def test_many_columns_do_not_make_intervals_lie():
    """Pure noise, 60 columns, 620 rows, three draws: 0.898 seen, 0.87 before rows were held out."""
    covered = []
    for seed in range(3):
        rng = np.random.default_rng(seed)
        X, y = rng.standard_normal((3000, 60)), rng.standard_normal(3000)
        model = ELMIntervalRegressor(random_state=0).fit(X[:620], y[:620])
        low, high = model.predict_interval(X[620:], confidence_level=0.9).T
        covered.append(np.mean((low <= y[620:]) & (y[620:] <= high)))
    assert 0.885 < np.mean(covered) < 0.925
