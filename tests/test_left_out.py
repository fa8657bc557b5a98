"""What models say of rows left out, against refits without them."""

import numpy as np
import pytest

from elmband import ELMClassifier, scan
from elmband.estimators import _scans
from elmband.estimators._fit_classes import with_probability
from elmband.estimators._fit_stack import fit_point
from elmband.sums.rows import ArrayRows, StreamRows
from elmband.uncertainty.left_out import MOST_ROWS, LeftOut, some_rows
from oracle import blocks_of, hidden_outputs, ridge, standardise

RNG = np.random.default_rng(0)
N = 80
X = RNG.standard_normal((N, 3))
SCORE = X[:, 0] + X[:, 1] ** 2 + 0.5 * RNG.standard_normal(N)
TWO = (SCORE > 1).astype(int)
MANY = np.digitize(SCORE, [0.3, 1.5])


class Noting(ELMClassifier):
    """A classifier that keeps what it learns probabilities from, as decisions and codes."""

    def _learned(self, opened, settings):
        fitted, left_out = fit_point(self, opened, settings)
        target, mean, s, *_ = left_out().numpy()
        scaling = fitted.targets.scaling
        self.noted = [a * scaling.scale + scaling.mean for a in (mean, target)] + [s]
        return with_probability(fitted, left_out())


def codes_of(y):
    return np.where(y[:, None] == np.unique(y)[-1 if y.max() == 1 else slice(None)], 1.0, -1.0)


def refitted(model, y, s, taken):
    """Return decisions for each row from a fit in which it weighs `taken` less.

    Scalings are those of all rows, for X and for the codes.
    """
    codes = codes_of(y)
    x_mean, x_std = standardise(X, s)
    c_mean, c_std = standardise(codes, s)
    H = hidden_outputs((X - x_mean) / x_std, blocks_of(model.hidden_))
    target = (codes - c_mean) / c_std
    rows = np.arange(N)
    alphas = np.broadcast_to(model.alpha_, codes.shape[1])
    decisions = np.empty_like(codes)
    for i in rows:
        rest = np.where(rows == i, s - taken, s)
        for j, alpha in enumerate(alphas):
            decisions[i, j] = H[i] @ ridge(H, target[:, j], alpha, rest)
    return decisions * c_std + c_mean


@pytest.mark.one_quick
@pytest.mark.parametrize("y", [TWO, MANY], ids=["two", "many"])
@pytest.mark.parametrize(("n_neurons", "alpha"), [(12, 0.3), (30, "loo"), (30, "gcv"), (70, 2.0)])
def test_decisions_are_those_of_refits_without_the_row(y, n_neurons, alpha):
    """With 70 neurons and 80 rows the dual form is at work."""
    model = Noting(n_neurons, alpha=alpha, random_state=0).fit(X, y)
    decisions, codes, s = model.noted
    np.testing.assert_allclose(codes, codes_of(y), atol=1e-12)
    np.testing.assert_array_equal(s, 1)
    expected = refitted(model, y, np.ones(N), np.ones(N))
    np.testing.assert_allclose(decisions, expected, rtol=1e-8, atol=1e-8)


@pytest.mark.parametrize("n_neurons", [12, 70])
def test_a_row_is_left_out_with_all_of_its_weight(n_neurons):
    s = RNG.choice([0.5, 1.0, 3.0], N)
    model = Noting(n_neurons, alpha=0.5, random_state=0).fit(X, TWO, s)
    expected = refitted(model, TWO, s, s)
    np.testing.assert_allclose(model.noted[0], expected, rtol=1e-8, atol=1e-8)
    np.testing.assert_allclose(model.noted[2], s / s.mean())


@pytest.mark.parametrize("n_neurons", [12, 70])
def test_a_row_of_a_class_that_weighs_is_left_out_with_all_its_weight(n_neurons):
    model = Noting(n_neurons, alpha=0.5, class_weight={0: 0.3, 1: 7.0}, random_state=0)
    model.fit(X, TWO)
    s = np.where(TWO == 1, 7.0, 0.3)
    np.testing.assert_allclose(model.noted[0], refitted(model, TWO, s, s), rtol=1e-8, atol=1e-8)
    twice = Noting(n_neurons, alpha=0.5, class_weight={0: 0.3, 1: 7.0}, random_state=0)
    twice.fit(X, TWO, np.full(N, 2.0))
    expected = refitted(twice, TWO, 2 * s, 2 * s)
    np.testing.assert_allclose(twice.noted[0], expected, rtol=1e-8, atol=1e-8)


@pytest.mark.parametrize("how", ["layers", "groups", "chosen"])
def test_a_stack_tells_all_rows_with_their_own_targets(how):
    """Equal rows are merged for training; each is asked about with its own label."""
    twice, y = np.concatenate([X, X]), np.concatenate([MANY, (MANY + 1) % 3])
    options = {"n_neurons": "auto"} if how == "chosen" else {"n_neurons": 20, "n_estimators": 2}
    groups = np.arange(2 * N) % 40 if how == "groups" else None
    model = Noting(random_state=0, **options).fit(twice, y, groups=groups)
    decisions, codes, s = model.noted
    np.testing.assert_allclose(np.sort(codes, axis=0), np.sort(codes_of(y), axis=0), atol=1e-12)
    assert decisions.shape == (2 * N, 3)
    assert s.sum() == pytest.approx(2 * N)
    if how != "groups":
        assert len(np.unique(decisions[:, 0].round(9))) <= N


@pytest.mark.parametrize("layers", [1, 2])
def test_rows_left_out_are_said_less_of_than_rows_trained_on(layers):
    """Labels at random: what is left out cannot be told, what was trained on can."""
    y = np.random.default_rng(1).permutation(np.arange(N) % 2)
    model = Noting(60, alpha=1e-6, n_estimators=layers, random_state=0).fit(X, y)
    decisions, codes, _ = model.noted
    assert np.mean(decisions * codes > 0) < 0.65
    assert np.mean(model.predict(X) == y) > 0.8


def rows_of(n, chunk_size=5000, *, stream=False):
    table = np.arange(n, dtype=float)[:, None]
    if not stream:
        return ArrayRows(table, -table, 1 + table[:, 0], chunk_size)
    source = scan((table, -table, 1 + table[:, 0]), chunk_size=chunk_size)
    rows = StreamRows(source, table[:0], np.float64, lambda chunk: chunk, chunk_size)
    list(rows)
    return rows


def test_few_rows_are_all_asked():
    rows = rows_of(MOST_ROWS)
    assert some_rows(rows, 0).X is rows.X


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("n", [MOST_ROWS + 1, 10 * MOST_ROWS])
def test_many_rows_are_sampled_from_everywhere(n, stream):
    chunk = some_rows(rows_of(n, stream=stream), 0)
    index = chunk.X[:, 0].astype(int)
    assert len(np.unique(index)) == len(index)
    np.testing.assert_array_equal(chunk.Y[:, 0], -index)
    np.testing.assert_array_equal(chunk.s, 1 + index)
    # Rounding per block of rows adds a row now and then.
    assert abs(len(index) / MOST_ROWS - 1) < 0.01
    shares = np.histogram(index, bins=10, range=(0, n))[0] / len(index)
    np.testing.assert_allclose(shares, 0.1, atol=0.002)
    again = some_rows(rows_of(n, stream=stream), 0)
    np.testing.assert_array_equal(again.X, chunk.X)
    if n > 2 * MOST_ROWS:
        other = some_rows(rows_of(n, stream=stream), 1)
        assert len(np.intersect1d(other.X, chunk.X)) < 0.2 * MOST_ROWS


def test_few_rows_of_a_stream_are_all_asked():
    chunk = some_rows(rows_of(3000, 500, stream=True), 0)
    np.testing.assert_array_equal(chunk.X[:, 0], np.arange(3000))


def test_parts_have_names(xp):
    target, mean = (xp.asarray(a) for a in RNG.standard_normal((2, 5, 2)))
    noise, model, other = (xp.asarray(a) for a in RNG.uniform(size=(3, 5, 2)))
    found = LeftOut(target, mean, None, noise, model, other).numpy()
    assert isinstance(found.mean, np.ndarray)
    np.testing.assert_allclose(found.error, found.target - found.mean)
    np.testing.assert_allclose(found.variance, found.noise + found.mean_model + found.noise_model)
    np.testing.assert_array_equal(found.s, np.ones(5))
    assert LeftOut(target, mean, None).numpy().noise is None


def test_a_stream_gives_the_probabilities_of_its_rows(monkeypatch):
    monkeypatch.setattr(_scans, "_KEPT_BYTES", 0)
    model = Noting(12, alpha=0.3, random_state=0)
    expected = model.fit(X, TWO).noted[0]
    actual = model.fit(scan((X, TWO), chunk_size=17)).noted[0]
    np.testing.assert_allclose(actual, expected, rtol=1e-10)
