"""Fingerprints tell training rows from others, whichever way rows come."""

from itertools import pairwise
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from elmband import ELMClassifier, ELMIntervalRegressor, ELMRegressor, load, merge, scan
from elmband.estimators._class_targets import label_encoder
from elmband.estimators._open_rows import transformed
from elmband.sources.encode import TableEncoder
from elmband.sums.moments import Chunk
from elmband.sums.row_prints import MOST_PRINTS, fingerprints, row_prints

RNG = np.random.default_rng(0)
N = 5000
X = RNG.normal(size=(N, 3)).round(3)
Y = X[:, :1] + RNG.normal(size=(N, 1))
FEW = {"n_neurons": 10, "noise": "squared", "random_state": 0}


def chunk(rows=slice(None), shift=0.0):
    return Chunk(X[rows] + shift, Y[rows], None)


def test_few_rows_are_known_exactly():
    known = row_prints(chunk(slice(0, 1000)))
    assert known.complete
    found = known.seen(chunk(slice(900, 1300)))
    assert (found.n_rows, found.n_compared, found.n_found) == (400, 400, 100)


def test_of_many_rows_a_random_part_can_be_compared():
    known = row_prints(chunk(slice(0, 4000)))
    assert not known.complete
    assert len(known.prints) == MOST_PRINTS
    found = known.seen(chunk(slice(3000, 5000)))
    # A quarter of all rows can be compared, and half of these were seen: four standard errors.
    share = MOST_PRINTS / 4000
    assert abs(found.n_compared - 2000 * share) < 4 * np.sqrt(2000 * share)
    assert abs(found.n_found / found.n_compared - 0.5) < 4 * 0.5 / np.sqrt(found.n_compared)
    assert known.seen(chunk(slice(4000, 5000))).n_found == 0


@given(st.lists(st.integers(0, N), max_size=4))
def test_fingerprints_add_up_however_rows_are_cut(cuts):
    ends = [0, *sorted(cuts), N]
    parts = [row_prints(chunk(slice(a, b))) for a, b in pairwise(ends) if a < b]
    whole = row_prints(chunk(RNG.permutation(N)))
    total = parts[0]
    for part in parts[1:]:
        total += part
    np.testing.assert_array_equal(total.prints, whole.prints)
    assert total.complete == whole.complete


def test_the_same_numbers_have_the_same_fingerprint_in_every_form():
    known = fingerprints(chunk())
    assert len(np.unique(known)) == len(np.unique(np.hstack([X, Y]), axis=0))
    for values in (X.astype(np.float32), np.asfortranarray(X)):
        np.testing.assert_array_equal(fingerprints(Chunk(values, Y, None)), known)
    zeros = np.zeros((2, 3))
    ends = fingerprints(Chunk(zeros * np.array([[1.0], [-1.0]]), zeros[:, :1], None))
    assert ends[0] == ends[1]
    assert (fingerprints(chunk(shift=1e-3)) != known).all()
    assert (fingerprints(Chunk(X, Y + 0.1, None)) != known).mean() > 0.9


def test_targets_that_differ_by_a_percent_differ_on_the_scale_of_logarithms_too():
    """Before, salaries from 107,000 to 113,000 were all the same."""
    salaries = np.log(np.geomspace(5e4, 2e5, 140))[:, None]
    same = Chunk(np.zeros((140, 3)), salaries, None)
    assert len(np.unique(fingerprints(same))) == 140
    # As another device may compute them: by an ulp or two of float32.
    near = Chunk(same.X, salaries * (1 + 1e-7), None)
    assert (fingerprints(near) == fingerprints(same)).mean() > 0.95


def test_rows_of_small_whole_numbers_do_not_share_fingerprints():
    grid = np.stack(np.meshgrid(*[np.arange(40.0)] * 3), axis=-1).reshape(-1, 3)
    assert len(np.unique(fingerprints(Chunk(grid, grid[:, :1], None)))) == len(grid)


def table(seed, n=1500):
    rng = np.random.default_rng(seed)
    size = rng.lognormal(size=n)
    return pd.DataFrame(
        {
            "size": size,
            "kind": np.array(["a", "b", "c"])[rng.integers(0, 3, n)],
            "price": np.exp(size / 4 + rng.normal(size=n) / 2),
        }
    )


def seen(model, data):
    """Count the rows of a table that a model knows, as its encoder reads them."""
    rows = scan(data, target=data.columns[-1], encoder=model.encoder_)
    fitted = model.fitted_
    prepare = transformed(fitted.targets.transform)
    if fitted.classes is not None:
        prepare = label_encoder(fitted.classes, fitted.inputs.encoder)
    parts = [fitted.notes.row_prints.seen(prepare(part)) for part in rows]
    return sum(p.n_compared for p in parts), sum(p.n_found for p in parts)


def fitted(how, folder):
    """Train on the same table, handed over in one way or another."""
    data = table(0)
    path = folder / "rows.csv"
    data.to_csv(path, index=False)
    rows = scan(path, target="price", encoder=TableEncoder())
    if how == "transformed":
        return ELMIntervalRegressor(5, random_state=0).fit(rows)
    if how == "checkpoint":
        model = ELMIntervalRegressor(**FEW)
        model.fit(rows, checkpoint=folder / "kept")
    elif how == "in chunks":
        model = ELMIntervalRegressor(**FEW, chunk_size=100)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr("elmband.estimators._scans._KEPT_ROWS", 1)
            model.fit(rows)
    elif how == "frame":
        frame = scan(data, target="price", encoder=TableEncoder())
        model = ELMIntervalRegressor(**FEW).fit(frame)
    else:
        model = ELMIntervalRegressor(**FEW).fit(rows)
    return load(model.save(folder / "model")) if how == "loaded" else model


def class_rows(seed=0):
    data = table(seed)
    data["price"] = np.where(data["price"] > data["price"].median(), "dear", "cheap")
    return scan(data, target="price", encoder=TableEncoder())


@pytest.mark.slow
@pytest.mark.parametrize(
    "how", ["file", "frame", "in chunks", "checkpoint", "loaded", "transformed"]
)
def test_every_way_to_train_knows_its_rows_and_no_others(how, tmp_path):
    model = fitted(how, tmp_path)
    compared, found = seen(model, table(0))
    assert compared == found > 1000
    compared, found = seen(model, table(1))
    assert compared > 600
    assert found == 0
    if how == "transformed":
        assert type(model.target_transform_).__name__ != "Identity"


def test_classes_are_targets_as_well():
    model = ELMClassifier(5, random_state=0).fit(class_rows())
    data = table(0)
    data["price"] = np.where(data["price"] > data["price"].median(), "dear", "cheap")
    compared, found = seen(model, data)
    assert compared == found > 1000
    data["price"] = np.where(data["price"] == "dear", "cheap", "dear")
    assert seen(model, data)[1] == 0


@pytest.mark.slow
def test_dask_collections_and_weights():
    da = pytest.importorskip("dask.array")
    y = Y[:, 0]
    model = ELMIntervalRegressor(**FEW)
    model.fit(da.from_array(X, chunks=(700, 3)), da.from_array(y, chunks=700))
    whole = ELMIntervalRegressor(**FEW).fit(X, y)
    np.testing.assert_array_equal(
        model.fitted_.notes.row_prints.prints, whole.fitted_.notes.row_prints.prints
    )
    s = np.ones(N)
    s[1000:] = 0
    some = ELMIntervalRegressor(**FEW).fit(X, y, s)
    # Rows that weigh nothing are none.
    assert some.fitted_.notes.row_prints.seen(chunk(slice(1000, None))).n_found == 0
    assert some.fitted_.notes.row_prints.seen(chunk(slice(0, 1000))).n_found == 1000


def test_models_that_grew_do_not_know():
    half, y = N // 2, Y[:, 0]
    model = ELMRegressor(10, random_state=0).fit(X[:half], y[:half])
    assert model.fitted_.notes.row_prints.seen(chunk(slice(0, half))).n_found > 0
    other = model.untrained().partial_fit(X[half:], y[half:])
    assert merge(model, other).fitted_.notes.row_prints is None
    model.partial_fit(X[half:], y[half:])
    assert model.fitted_.notes.row_prints is None


def test_models_of_earlier_versions_do_not_know():
    old = min((Path(__file__).parent / "models" / "0.1.0.dev0").glob("*.safetensors"))
    assert load(old).fitted_.notes.row_prints is None


def test_a_file_with_fingerprints_of_no_rows_is_refused(tmp_path):
    model = ELMRegressor(10, random_state=0).fit(X[:50], Y[:50, 0])
    object.__setattr__(model.fitted_.notes.row_prints, "prints", np.empty(0, np.uint64))
    with pytest.raises(ValueError, match="fingerprints of rows do not fit"):
        model.save(tmp_path / "model")
