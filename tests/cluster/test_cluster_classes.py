"""Classifiers learn from Dask collections what they learn from arrays; nothing needs a cluster."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone

from elmband import ELMClassifier, ELMSelectiveClassifier, TableEncoder, load, scan
from elmband.sources.stream import Scan

dask = pytest.importorskip("dask")
da = pytest.importorskip("dask.array")
dd = pytest.importorskip("dask.dataframe")

NAMES = list("abcd")
KINDS = {
    "text": lambda y: np.array(["down", "mid", "up"])[np.digitize(y, [-0.4, 0.4])],
    "numbers": lambda y: np.digitize(y, [-0.4, 0.4]) + 3,
    "marks": lambda y: y > 0,
}


@pytest.fixture(autouse=True)
def one_thread():
    with dask.config.set(scheduler="synchronous"):
        yield


@pytest.fixture
def model():
    return ELMClassifier(
        30, alpha=0.01, class_weight="balanced", n_estimators=2, random_state=0, verbose=False
    )


def lazy(*arrays):
    return [da.from_array(a, chunks=(700, *a.shape[1:])) for a in arrays]


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS)
@pytest.mark.usefixtures("never_fetched")
def test_classes_of_any_kind_are_found_where_they_are(rows, model, kind, tmp_path):
    X, y = rows
    labels = kind(y)
    expected = clone(model).fit(X, labels)
    found = clone(model).fit(*lazy(X, labels))
    assert found.classes_.dtype == expected.classes_.dtype
    assert found.classes_.tolist() == expected.classes_.tolist()
    for method in ("decision_function", "predict_proba"):
        np.testing.assert_allclose(
            getattr(found, method)(X), getattr(expected, method)(X), rtol=0, atol=1e-10
        )
    frame = pd.DataFrame(X, columns=NAMES)
    table = dd.from_pandas(frame.assign(label=labels), npartitions=3)
    of_frame = clone(model).fit(table[NAMES], table[["label"]])
    loaded = load(of_frame.save(tmp_path / "model.safetensors"))
    assert (loaded.predict(frame) == expected.predict(X)).all()
    assert (of_frame.predict(table[NAMES]).compute() == expected.predict(X)).all()


@pytest.mark.usefixtures("never_fetched")
def test_only_labels_are_made_to_find_the_classes(rows, model):
    X, y = rows
    made = []

    def counted(block):
        made.append(len(block))
        return block

    lazy_X, lazy_y = lazy(X, y > 0)
    single = clone(model).set_params(n_estimators=None, class_weight=None)
    with pytest.raises(ValueError, match="rows of one class only"):
        single.fit(lazy_X.map_blocks(counted, dtype=float, meta=np.empty((0, 0))), lazy_y | True)
    assert not made


@pytest.mark.usefixtures("never_fetched")
def test_a_class_that_weighs_nothing_is_none(rows, model):
    X, y = rows
    labels = KINDS["text"](y)
    weight = np.where(labels == "mid", 0.0, 2.0)
    found = clone(model).fit(*lazy(X, labels, weight))
    assert found.classes_.tolist() == ["down", "up"]
    expected = clone(model).fit(X, labels, weight)
    np.testing.assert_allclose(
        found.decision_function(X), expected.decision_function(X), rtol=0, atol=1e-10
    )


@pytest.mark.usefixtures("never_fetched")
def test_several_labels_a_row(rows):
    X, y = rows
    labels = np.column_stack([y > 0, X[:, 1] > 0]).astype(int)
    model = ELMClassifier(30, alpha=0.01, random_state=0, verbose=False)
    found, expected = clone(model).fit(*lazy(X, labels)), clone(model).fit(X, labels)
    np.testing.assert_allclose(
        found.decision_function(X), expected.decision_function(X), rtol=0, atol=1e-10
    )
    assert (found.predict(lazy(X)[0]).compute() == expected.predict(X)).all()


@pytest.mark.slow
@pytest.mark.usefixtures("never_fetched")
def test_a_classifier_that_abstains_learns_and_is_judged_there(rows):
    X, y = rows
    labels = KINDS["text"](y)
    model = ELMSelectiveClassifier(
        30, alpha=0.01, n_estimators=2, coverage=0.5, random_state=0, verbose=False
    )
    found, expected = clone(model).fit(*lazy(X, labels)), clone(model).fit(X, labels)
    np.testing.assert_allclose(found.confidence(X), expected.confidence(X), rtol=0, atol=1e-8)
    assert found.evaluate(*lazy(X, labels)) == found.evaluate(X, labels)
    weight = 1.0 + (y > 0)
    assert found.evaluate(*lazy(X, labels, weight)) == found.evaluate(X, labels, weight)
    for lazy_part, part in zip(found.triage(lazy(X)[0]), found.triage(X), strict=True):
        found_there = lazy_part.compute()
        if part.dtype.kind == "f":
            # Blocks of other sizes add up in another order.
            np.testing.assert_allclose(found_there, part, rtol=0, atol=1e-9)
        else:
            assert (found_there == part).mean() > 0.999
    with pytest.raises(ValueError, match="calibrate takes arrays or a scan"):
        found.calibrate(*lazy(X, labels))
    with pytest.raises(ValueError, match="holds the label 'new', which is none of the classes"):
        found.evaluate(*lazy(X, np.where(y > 1, "new", labels)))


@pytest.mark.parametrize(
    ("labels", "sentence"),
    [
        (lambda y: np.where(y > 0.9, np.nan, y > 0), "of X cannot be read: y holds"),
        (lambda y: np.where(y > 0.9, None, "up"), "mixes types; convert them"),
        (lambda y: y, "these are numbers rather than classes"),
    ],
    ids=["gaps", "none", "numbers"],
)
def test_labels_that_are_none_are_refused(rows, model, labels, sentence):
    X, y = rows
    with pytest.raises(ValueError, match=sentence):
        model.fit(*lazy(X, labels(y)))
    with pytest.raises(ValueError, match="y is of type ndarray"):
        model.fit(lazy(X)[0], y > 0)
    with pytest.raises(ValueError, match="y is missing"):
        model.fit(lazy(X)[0])


@pytest.mark.parametrize("kind", ["text", "numbers"])
@pytest.mark.usefixtures("never_fetched")
def test_workers_find_the_classes_of_files(rows, model, kind, tmp_path, monkeypatch):
    X, y = rows
    frame = pd.DataFrame(X, columns=NAMES).assign(label=KINDS[kind](y), weight=1.0 + (y > 0))
    frame.to_parquet(tmp_path / "rows.parquet", row_group_size=300)
    encoder = TableEncoder() if kind == "text" else None
    known = scan(tmp_path / "rows.parquet", target="label", weight="weight", encoder=encoder)
    expected = clone(model).fit(known)
    monkeypatch.setattr(Scan, "chunks", None)
    with ThreadPoolExecutor(2) as executor:
        found = clone(model).fit(known, client=executor)
    assert found.classes_.tolist() == expected.classes_.tolist()
    np.testing.assert_allclose(
        found.predict_proba(frame[NAMES]), expected.predict_proba(frame[NAMES]), rtol=0, atol=1e-10
    )
