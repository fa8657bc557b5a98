"""Rows of a category that training did not have: what they add to the variance of the mean."""

from copy import copy
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from sklearn.preprocessing import OneHotEncoder

from elmband import ELMIntervalRegressor, ELMSelectiveClassifier, TableEncoder, load, scan
from elmband.ground.arrays import to_numpy
from elmband.uncertainty.new_levels import NewLevels, few_levels, one_hot_blocks
from published import published

N = 240
TOWNS = ["Åbo", "Bern", "Cork", "Delft"]
EFFECTS = dict(zip(TOWNS, [-4.0, -1.0, 2.0, 5.0], strict=True))
MIX = {"linear": 5, "tanh": 20}


def table(seed=0, towns=TOWNS, n=N):
    rng = np.random.default_rng(seed)
    town = rng.choice(towns, n)
    x = rng.normal(size=n)
    y = x + np.array([EFFECTS.get(name, 9.0) for name in town]) + 0.5 * rng.normal(size=n)
    return pd.DataFrame({"x": x, "town": town}), y


TABLE, Y = table()
NEW = pd.DataFrame({"x": [0.0, 1.0], "town": ["Eger", "Bern"]})


@pytest.fixture(scope="module")
def encoder():
    return TableEncoder().fit(TABLE)


@pytest.fixture(scope="module")
def model(encoder):
    return ELMIntervalRegressor(MIX, random_state=0).fit(encoder.transform(TABLE), Y)


def without(model, X, **options):
    """Ask a model as if it knew nothing of new levels."""
    other = copy(model)
    other.fitted_ = replace(model.fitted_, new_levels=None)
    return other.predict_variance(X, **options)


A, B, C = np.eye(3)


@pytest.mark.parametrize(
    ("columns", "blocks"),
    [
        ([[7, 8, 9], A, B, C], [(1, 4)]),
        # A mark of its own before a block, and a block right behind another.
        ([[1, 1, 0], A, B, C, A, B + C], [(1, 4), (4, 6)]),
        # A rare level of which no row is there.
        ([A, B, C, [0, 0, 0], [2, 3, 4]], [(0, 4)]),
        # A reference level without a mark, a constant, marks that are not exclusive, no marks.
        ([A, B, [5, 6, 7]], []),
        ([[1, 1, 1], [4, 5, 6]], []),
        ([A + B, B + C, C], []),
        ([0.5 * A, 1 - 0.5 * A], []),
    ],
)
def test_blocks_are_runs_of_marks_of_which_each_row_has_one(columns, blocks):
    assert one_hot_blocks(np.array(columns, dtype=float).T) == blocks


def test_known_levels_add_nothing_at_all_and_a_new_one_the_spread_of_levels(model, encoder):
    """An independent oracle: all rows of every level, in a loop, and quantiles of scipy.stats."""
    X, shares = encoder.transform(TABLE), encoder.transform(TABLE)[:, 1:].mean(axis=0)
    bare = X.copy()
    bare[:, 1:] = shares
    change = (model.predict(X) - model.predict(bare)) ** 2
    # A hundred rows of each of four levels are looked at: here that is all of them.
    assert X[:, 1:].sum(axis=0).max() <= 100
    spread = np.mean([change[X[:, k] == 1].mean() for k in range(1, 5)])
    quantiles = stats.t(3).ppf(0.95) / stats.norm.ppf(0.95)
    expected = spread * (5 / 3) * quantiles**2
    rows = encoder.transform(NEW)
    added = model.predict_variance(rows).mean_model - without(model, rows).mean_model
    np.testing.assert_allclose(added, [expected, 0.0], rtol=1e-6, atol=1e-12)
    for found, before in zip(model.predict_variance(X), without(model, X), strict=True):
        np.testing.assert_array_equal(found, before)


def test_a_new_level_adds_at_most_one_and_a_half_ranges_to_an_interval():
    rng = np.random.default_rng(0)
    town = np.eye(2)[rng.integers(0, 2, 200)]
    y = 10 * town[:, 0] + 0.1 * rng.normal(size=200)
    model = ELMIntervalRegressor(20, random_state=0).fit(town, y)
    assert few_levels(2) * 5**2 > np.ptp(y) ** 2
    zeros = np.zeros((1, 2))
    added = model.predict_variance(zeros).mean_model - without(model, zeros).mean_model
    most = 1.5 * np.ptp(y) / model.calibration_.symmetric(0.9, 0)
    assert added == pytest.approx(min(most, np.ptp(y)) ** 2)


def test_the_zeros_of_other_encoders_are_a_new_level_too():
    theirs = OneHotEncoder(handle_unknown="ignore", sparse_output=False).fit(TABLE[["town"]])

    def encode(rows):
        return np.column_stack([rows["x"], theirs.transform(rows[["town"]])])

    other = ELMIntervalRegressor(MIX, random_state=0).fit(encode(TABLE), Y)
    new = encode(NEW)
    assert new[0, 1:].tolist() == [0, 0, 0, 0]
    added = other.predict_variance(new).mean_model - without(other, new).mean_model
    assert added[0] > 10
    assert added[1] == 0
    assert other.accept(new, max_width=10).tolist() == [False, True]
    assert other.triage(new, max_width=10).reason.tolist() == ["unlike training rows", "accepted"]


def test_files_and_scans_say_the_same(tmp_path, encoder):
    whole = TABLE.assign(y=Y)
    model = ELMIntervalRegressor(MIX, random_state=0)
    model.fit(scan(whole, target="y", encoder=TableEncoder()))
    interval = model.predict_interval(scan(NEW, encoder=model.encoder_), 0.9)
    arrays = ELMIntervalRegressor(MIX, random_state=0).fit(encoder.transform(TABLE), Y)
    np.testing.assert_allclose(interval, arrays.predict_interval(encoder.transform(NEW), 0.9))
    assert np.diff(interval)[0] > 4 * np.diff(interval)[1]
    again = load(model.save(tmp_path / "m.safetensors"))
    np.testing.assert_array_equal(
        again.predict_interval(scan(NEW, encoder=again.encoder_), 0.9), interval
    )


@pytest.mark.slow
def test_groups_that_are_the_levels_have_widened_intervals_already(encoder):
    """Multipliers of levels left out know what a new one does: it would count twice."""
    X, towns = encoder.transform(TABLE), TABLE["town"].to_numpy()
    with pytest.warns(UserWarning, match="4 groups are too few"):
        by_town = ELMIntervalRegressor(MIX, random_state=0).fit(X, Y, groups=towns)
    assert by_town.fitted_.new_levels is None
    others = ELMIntervalRegressor(MIX, random_state=0).fit(X, Y, groups=np.arange(N) // 3)
    assert others.fitted_.new_levels is not None


def test_a_fit_forgets_the_levels_of_the_fit_before(encoder):
    X = encoder.transform(TABLE)
    model = ELMIntervalRegressor(20, random_state=0).fit(X, Y)
    assert model.fitted_.new_levels is not None
    assert model.fit(X[:, :1], Y).fitted_.new_levels is None
    assert model.fit(X, Y).fitted_.new_levels is not None
    assert published(20, random_state=0).fit(X, Y).fitted_.new_levels is None
    assert (
        model.set_params(noise="squared", calibration="gaussian").fit(X, Y).fitted_.new_levels
        is None
    )


def test_a_classifier_is_less_certain_of_a_new_level(encoder):
    X, classes = encoder.transform(TABLE), np.isin(TABLE["town"], TOWNS[:2])
    model = ELMSelectiveClassifier(MIX, rank_by="interval", random_state=0).fit(X, classes)
    new = encoder.transform(NEW)
    certain = model.confidence(new)
    model.fitted_ = replace(model.fitted_, new_levels=None)
    assert certain[0] < model.confidence(new)[0]
    assert certain[1] == model.confidence(new)[1]


def test_any_array_library_will_do(xp):
    levels = NewLevels(np.array([[0.0], [1.0], [1.0]]), np.array([0.5]), np.array([[2.0, 3.0]]))
    rows = xp.asarray([[9.0, 1.0, 0.0], [9.0, 0.5, 0.5], [9.0, 0.0, 0.0], [9.0, 1e300, 1.0]])
    found = to_numpy(levels.of_rows(rows))
    np.testing.assert_allclose(found, [[0, 0], [4, 9], [4, 9], [4, 9]])


def test_a_level_without_rows_is_new_though_it_has_a_column():
    """As `pd.get_dummies` makes it before rows are split."""
    rng = np.random.default_rng(0)
    town = rng.integers(0, 4, N)
    X = np.column_stack([rng.normal(size=N), np.eye(5)[town]])
    y = X[:, 0] + 4.0 * town + 0.5 * rng.normal(size=N)
    model = ELMIntervalRegressor(MIX, random_state=0).fit(X, y)
    known, blank, fifth = np.eye(6)[1:2], np.zeros((1, 6)), np.eye(6)[5:6]
    widths = [np.ptp(model.predict_interval(row, 0.9)) for row in (known, blank, fifth)]
    assert widths[1] > 5 * widths[0]
    assert widths[2] > 5 * widths[0]


def test_two_levels_leave_an_interval_of_about_three_ranges():
    """The range of the targets and its length on either side; of two levels it was six ranges."""
    found = []
    for seed in range(8):
        rng = np.random.default_rng(seed)
        town = np.arange(12) % 2
        X = np.column_stack([rng.normal(size=12), np.eye(2)[town]])
        y = X[:, 0] + 3 * rng.normal(size=2)[town] + 0.5 * rng.normal(size=12)
        model = ELMIntervalRegressor(20, random_state=0)
        with pytest.warns(UserWarning, match="12 different rows are too few"):
            model.fit(X, y)
        blank = np.column_stack([X[:, :1], np.zeros((12, 2))])
        found.append(np.median(np.diff(model.predict_interval(blank, 0.9))) / np.ptp(y))
    assert 1 < np.median(found) < 4


def test_what_a_new_level_adds_has_room_in_an_interval():
    levels = NewLevels(np.ones((2, 1)), np.array([0.5]), np.array([[2.0, 30.0]]))
    bounded = levels.bounded(np.array([2.0, 3.0]), np.array([4.0, 10.0]))
    np.testing.assert_allclose(bounded.deviation, [[2.0, 5.0]])
