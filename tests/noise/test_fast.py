"""The fast mode against the exact one, and what it says of its own error."""

import numpy as np
import pytest

from elmband import ELMIntervalRegressor, scan
from elmband.ground.arrays import to_numpy
from elmband.sums.moments import Chunk
from elmband.sums.sample import chunk_rng, sampled
from elmband.uncertainty.noise.fast import low_ranks
from published import published

RNG = np.random.default_rng(0)


def rows(n, d=20, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d))
    noise = (0.3 + 0.2 * np.abs(X[:, 3])) * rng.standard_normal(n)
    return X, np.sin(X[:, 0]) + X[:, 1] + noise


def width(model, X):
    return np.diff(model.predict_interval(X, 0.9))[:, 0]


@pytest.mark.slow
def test_at_100_000_rows_widths_are_within_one_per_cent_of_the_exact_ones():
    X, y = rows(100_000)
    mix = {"linear": 20, "sigmoid": 60}
    exact = published(mix, alpha=1.0, random_state=0).fit(X, y)
    quick = published(mix, alpha=1.0, random_state=0, mode="fast").fit(X, y)
    new = rows(5000, seed=1)[0]
    change = width(quick, new) / width(exact, new) - 1
    assert np.sqrt(np.mean(change**2)) < 0.01
    assert np.mean(np.abs(change) < 0.01) > 0.99
    assert exact.mode_error_ == 0
    assert 0 < quick.mode_error_ < 0.01
    # What it says of its error is what the error is.
    assert np.sqrt(np.mean(change**2)) < 2 * quick.mode_error_
    np.testing.assert_allclose(quick.predict(new), exact.predict(new), rtol=1e-9, atol=1e-9)


def test_few_rows_are_exact():
    X, y = rows(2000)
    results = [
        published(30, alpha=1.0, random_state=0, mode=mode).fit(X, y).predict_interval(X[:50])
        for mode in ("exact", "fast")
    ]
    np.testing.assert_array_equal(*results)


def test_a_scan_takes_the_same_way(monkeypatch):
    monkeypatch.setattr("elmband.estimators._scans._KEPT_BYTES", 0)
    monkeypatch.setattr("elmband.uncertainty.noise.sampled.SAMPLE_ROWS", 2000)
    X, y = rows(30_000)
    exact = published(30, alpha=1.0, random_state=0).fit(X, y)
    quick = published(30, alpha=1.0, random_state=0, mode="fast").fit(scan((X, y)))
    change = width(quick, X[:1000]) / width(exact, X[:1000]) - 1
    # A few rows whose noise the published model clips to zero change more than others.
    assert np.median(np.abs(change)) < quick.mode_error_ < 0.01
    assert np.sqrt(np.mean(change**2)) < 0.02


@pytest.mark.parametrize(
    "options", [{"noise_neurons": 5}, {"selection": "op-elm"}, {"covariance": "wild"}]
)
def test_what_the_fast_mode_cannot_do_is_refused(options):
    X, y = rows(100)
    with pytest.raises(ValueError, match="mode='fast' has one hidden layer for both models"):
        published(20, mode="fast", **options).fit(X, y)
    with pytest.raises(ValueError, match="mode must be 'auto' or 'exact' or 'fast'"):
        ELMIntervalRegressor(mode="quick").fit(X, y)


def test_samples_have_the_size_asked_for_and_repeat():
    X, y = rows(10_000)
    chunks = [Chunk(X[k : k + 100], y[k : k + 100, None], None) for k in range(0, 10_000, 100)]
    parts = [sampled(chunk, 0.034, 5) for chunk in chunks]
    counts = [len(part.joined().X) for part in parts]
    assert sum(counts) == pytest.approx(340, abs=30)
    again = sampled(chunks[3], 0.034, 5).joined()
    np.testing.assert_array_equal(again.X, parts[3].joined().X)
    streams = [chunk_rng(chunks[3], seed).random() for seed in (5, 6)]
    assert streams[0] != streams[1]


@pytest.mark.one_quick
def test_a_low_rank_is_exact_at_full_rank_and_right_on_average_below(xp):
    H = RNG.standard_normal((500, 40)) @ np.diag(np.linspace(0.1, 2, 40))
    roots = RNG.standard_normal((2, 40, 40))
    covariance = roots @ roots.transpose(0, 2, 1)
    expected = np.einsum("ni,mij,nj->nm", H, covariance, H)
    ranks = (40, 10)
    cut, whole = low_ranks(xp.asarray(covariance), xp.asarray(H.T @ H), 500.0, ranks)
    actual = np.asarray(to_numpy(whole.quadratic(xp.asarray(H))))
    np.testing.assert_allclose(actual, expected, rtol=1e-6)
    cut = to_numpy(cut.quadratic(xp.asarray(H)))
    np.testing.assert_allclose(cut.mean(axis=0), expected.mean(axis=0), rtol=1e-6)
    assert np.corrcoef(cut[:, 0], expected[:, 0])[0, 1] > 0.5
