import numpy as np
import pytest

from elmband.engines import engine
from elmband.layers.hidden import LayerSpec
from elmband.stacks.pool import Pool
from elmband.stacks.search import fit_stack
from elmband.sums.rows import ArrayRows
from elmband.sums.scaling import Scaling, column_moments
from elmband.uncertainty.fit_predictive import _known_rows

N, KEPT = 900, 300
SPECS = [LayerSpec((("tanh", 40),)), LayerSpec((("tanh", 20),), weight_scale=2.0)]


def known(monkeypatch, size, judged, labels=None):
    """Return rows whose errors are known where a stack was judged on so many of 900."""
    rng = np.random.default_rng(0)
    X = rng.uniform(-2, 2, size=(N, 2))
    Y = np.stack([np.sin(2 * X[:, 0]), X[:, 1]], axis=1) + 0.3 * rng.standard_normal((N, 2))
    rows = ArrayRows(X, Y, rng.integers(1, 3, size=N).astype(float), chunk_size=200)
    inputs = Scaling.from_moments(engine.total(rows, lambda c: column_moments(c.X, c.s)))
    pool = Pool.of(rows, inputs, labels, N, 3, 2.0**-52)
    monkeypatch.setattr("elmband.stacks.search.judged_rows", lambda _: judged)
    stack = fit_stack(pool, SPECS, 1e-3)
    return _known_rows(pool, stack, size)[1], stack


def test_rows_beyond_the_judged_ones_have_the_errors_of_being_judged(monkeypatch):
    """Leverages of 0.05 are estimated to 18 %, and weights of members are those of other rows.

    The latter make most of the difference: half of the errors differ by less than 5 %.
    """
    more, stack = known(monkeypatch, N, KEPT)
    exact, _ = known(monkeypatch, N, N)
    np.testing.assert_array_equal(more.places, exact.places)
    np.testing.assert_array_equal(more.judged.rows.X, exact.judged.rows.X)
    judged = np.isin(more.places, stack.index)
    assert judged.sum() < N / 2
    errors = np.abs(more.errors - exact.errors)[~judged]
    assert np.median(errors) < 0.05 * np.std(exact.errors)
    ratio = more.errors[~judged] / more.residuals[~judged]
    np.testing.assert_allclose(
        np.median(ratio), np.median(exact.errors / exact.residuals), rtol=0.02
    )
    spread = more.std[~judged] / exact.std[~judged]
    assert np.median(spread) == pytest.approx(1, abs=0.15)
    np.testing.assert_allclose(np.quantile(spread, [0.1, 0.9]), 1, atol=0.5)


def test_what_is_known_stays_as_it_is(monkeypatch):
    more, stack = known(monkeypatch, N, KEPT)
    before, _ = known(monkeypatch, 0, KEPT)
    here = np.searchsorted(more.places, stack.index)
    for one, other in zip(more[2:], before[2:], strict=True):
        np.testing.assert_array_equal(one[here], other)


def test_rows_with_labels_stay_those_that_were_judged(monkeypatch):
    rows, stack = known(monkeypatch, N, KEPT, labels=np.arange(N) // 3)
    np.testing.assert_array_equal(rows.places, stack.index)
