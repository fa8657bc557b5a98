from concurrent.futures import ThreadPoolExecutor
from copy import deepcopy

import numpy as np
import pytest

from elmband import ELMIntervalRegressor, load
from elmband.datasets import make_heteroscedastic
from elmband.layers.packed_root import PackedRoot
from elmband.layers.quadratic import CovarianceRoot
from elmband.uncertainty.width_error import WidthError

RNG = np.random.default_rng(3)
SIZE = 30
H = RNG.standard_normal((50, SIZE - 1))


def covariance(rank=SIZE):
    """Σ of two outputs, whose entries lie six digits apart."""
    wide = RNG.standard_normal((2, SIZE, rank)) * np.logspace(0, -3, rank)
    return wide @ wide.mT


def packed(sigma):
    root = PackedRoot.of(CovarianceRoot.of(sigma))
    assert root is not None
    return root


def expected(H, sigma):
    full = np.column_stack([np.ones(len(H)), H])
    return np.einsum("ni,mij,nj->nm", full, sigma, full)


@pytest.mark.parametrize("n", [1, 3, 50])
@pytest.mark.parametrize("rank", [SIZE, 5])
def test_forms_are_those_of_the_covariance(xp, n, rank):
    sigma = covariance(rank)
    root = packed(sigma)
    moved = PackedRoot(xp.asarray(root.entries))
    found = moved.quadratic(xp.asarray(H[:n]))
    assert found.dtype == xp.float64
    # Float32 has seven digits, and of hC three are lost where Σ is that uneven.
    np.testing.assert_allclose(np.asarray(found), expected(H[:n], sigma), rtol=1e-5)


def test_a_quarter_of_the_bytes_is_kept_and_inputs_stay():
    sigma, before = covariance(), H.copy()
    root = packed(sigma)
    assert root.entries.nbytes == sigma.nbytes * (SIZE + 1) / SIZE / 4
    root.quadratic(H)
    np.testing.assert_array_equal(H, before)


@pytest.mark.parametrize("far", [1e10, 1e20, 1e45])
def test_rows_beyond_float32_have_their_variance_and_leave_others_alone(far):
    sigma = covariance()
    root = packed(sigma)
    rows = H.copy()
    rows[7] *= far
    found = root.quadratic(rows)
    np.testing.assert_allclose(found[7], expected(rows, sigma)[7], rtol=1e-5)
    np.testing.assert_array_equal(np.delete(found, 7, 0), np.delete(root.quadratic(H), 7, 0))


def test_what_has_no_root_is_not_packed_and_broken_entries_are_refused():
    indefinite = np.diag(np.r_[1.0, -1.0, np.ones(SIZE - 2)])[None]
    assert PackedRoot.of(CovarianceRoot.of(indefinite)) is None
    with pytest.raises(ValueError, match="not those of a triangle"):
        PackedRoot(np.ones((1, 7), np.float32))


@pytest.fixture(scope="module")
def models():
    data = make_heteroscedastic(400, random_state=0)
    return data, [
        ELMIntervalRegressor(random_state=0, mode=mode).fit(data.X, data.y)
        for mode in ("auto", "exact")
    ]


def changes(models, X):
    """What the faster way changes in widths of intervals."""
    narrow, wide = (np.diff(model.predict_interval(X), axis=1)[:, 0] for model in models)
    return narrow / wide - 1


def test_models_say_what_float32_changes_in_widths(models):
    data, (fast, exact) = models
    assert exact.width_error_ == (0, 0)
    assert exact.fitted_.stack.covariances
    assert not fast.fitted_.stack.covariances
    typical, most = fast.width_error_
    assert 0 < typical <= most < 1e-4
    found = np.abs(changes((fast, exact), data.X))
    # Multipliers were chosen before, and are the same.
    assert np.median(found) < 3 * typical
    assert np.quantile(found, 0.99) < 3 * most


@pytest.mark.parametrize("far", [3.0, 100.0, 1e6, 1e30])
def test_intervals_far_from_the_data_are_no_narrower(models, far):
    data, pair = models
    assert np.abs(changes(pair, data.X[:50] * far)).max() < 1e-5


@pytest.mark.parametrize("mode", ["auto", "fast"])
def test_models_whose_widths_float32_would_change_stay_exact_unless_told(mode):
    """Of inputs that are nearly copies, α = 0: five times as far out, 4 % of a width were lost."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((300, 10))
    X = np.column_stack([X, X[:, 0] + 1e-7 * rng.standard_normal(300)])
    y = X[:, 1] + 0.1 * rng.standard_normal(300)
    options = {"n_neurons": {"linear": 11}, "alpha": 0.0, "random_state": 0}
    model = ELMIntervalRegressor(mode=mode, **options).fit(X, y)
    exact = ELMIntervalRegressor(mode="exact", **options).fit(X, y)
    if mode == "fast":
        assert model.width_error_[1] > 1e-3
        return
    assert model.width_error_ == (0, 0)
    np.testing.assert_array_equal(model.predict_interval(5 * X), exact.predict_interval(5 * X))


def test_rows_are_answered_alike_alone_and_among_others(models):
    data, (fast, _) = models
    together = fast.predict_interval(data.X[:40])
    alone = np.concatenate([fast.predict_interval(row[None]) for row in data.X[:40]])
    np.testing.assert_allclose(alone, together, rtol=1e-6, atol=1e-6)


def test_files_keep_both_kinds(models, tmp_path):
    data, pair = models
    sizes = []
    for k, model in enumerate(pair):
        path = model.save(tmp_path / f"{k}.safetensors")
        sizes.append(path.stat().st_size)
        again = load(path)
        assert again.width_error_ == model.width_error_
        np.testing.assert_array_equal(
            again.predict_interval(data.X), model.predict_interval(data.X)
        )
    assert sizes[0] < 0.6 * sizes[1]


def test_workers_are_sent_the_entries_alone():
    root = packed(covariance())
    root.quadratic(H)
    again = deepcopy(root)
    assert "root" not in vars(again)
    np.testing.assert_array_equal(again.quadratic(H), root.quadratic(H))


def test_threads_that_ask_at_once_are_answered_as_one(models):
    data, (fast, _) = models
    fresh = deepcopy(fast)
    rows = [data.X[k : k + 1 + k % 5] for k in range(60)]
    expected = [fast.predict_interval(some) for some in rows]
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(fresh.predict_interval, rows))
    for mine, theirs in zip(found, expected, strict=True):
        np.testing.assert_array_equal(mine, theirs)


def test_float32_is_answered_in_float32(models):
    data, _ = models
    X, y = data.X.astype(np.float32), data.y.astype(np.float32)
    model = ELMIntervalRegressor(random_state=0).fit(X, y)
    found = model.predict_interval(X)
    assert found.dtype == np.float32
    assert model.width_error_[1] < 1e-4


def test_changes_of_widths_are_shares_of_those_that_there_are():
    exact = np.array([1.0, 4.0, 0.0, np.inf])
    error = WidthError.of(exact, exact * np.array([1.0, 1.21, 1.0, 1.0]))
    assert error.typical == pytest.approx(0.05)
    assert error.most == pytest.approx(0.099)
    assert WidthError.of(exact[2:], exact[2:]) == (0, 0)
