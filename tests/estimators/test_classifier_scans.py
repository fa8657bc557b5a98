"""The classifier on rows that are read in chunks, against the same rows as arrays."""

import numpy as np
import pandas as pd
import pytest

from elmband import ELMClassifier, scan
from elmband.engines import checkpoint
from elmband.estimators import _scans
from elmband.sources.stream import Scan
from read_back import read_back

RNG = np.random.default_rng(0)
N = 5000
X = RNG.uniform(-2, 2, size=(N, 3))
SCORE = np.sin(2 * X[:, 0]) + X[:, 1] * X[:, 2] + 0.5 * RNG.standard_normal(N)
TARGETS = {
    "two": (SCORE > 0.8).astype(int),
    "many": np.digitize(SCORE, [-1, 0, 1.5]) * 5,
    "several": np.column_stack([SCORE > 0, X[:, 0] + X[:, 2] > 1]).astype(int),
}
S = RNG.integers(1, 4, size=N).astype(float)
NEW = RNG.uniform(-2, 2, size=(200, 3))
READ = {"parquet": pd.read_parquet, "arrow": pd.read_feather, "csv": pd.read_csv}
METHODS = ("decision_function", "predict", "predict_proba")


@pytest.fixture
def in_chunks(monkeypatch):
    """Let no scan be small enough to be loaded."""
    monkeypatch.setattr(_scans, "_KEPT_BYTES", 0)


def written(path, y, *, weight=False, order=slice(None)):
    """Write rows to a file, and return a scan of it."""
    columns = [X, y.reshape(N, -1)] + ([S[:, None]] if weight else [])
    table = np.concatenate(columns, axis=1)[order]
    targets = list(range(3, 3 + y.reshape(N, -1).shape[1]))
    if path.suffix == ".npy":
        np.save(path, table)
    else:
        names = [f"c{k}" for k in range(table.shape[1])]
        frame = pd.DataFrame(table, columns=names)
        frame[[names[k] for k in targets]] = frame[[names[k] for k in targets]].astype(int)
        frame.to_parquet(path)
        targets = [names[k] for k in targets]
    target = targets if len(targets) > 1 else targets[0]
    weights = {} if not weight else {"weight": -1 if path.suffix == ".npy" else names[-1]}
    return scan(path, target=target, chunk_size=777, **weights)


def same(model, other, rtol=1e-8):
    np.testing.assert_array_equal(model.classes_, other.classes_)
    named = hasattr(model, "feature_names_in_")
    new = pd.DataFrame(NEW, columns=model.feature_names_in_) if named else NEW
    for method in METHODS:
        expected = getattr(other, method)(NEW)
        np.testing.assert_allclose(getattr(model, method)(new), expected, rtol=rtol, atol=rtol)


@pytest.mark.slow
@pytest.mark.parametrize("end", ["npy", "parquet"])
@pytest.mark.parametrize("name", TARGETS)
def test_few_rows_are_loaded_and_give_what_arrays_give(tmp_path, name, end):
    model = ELMClassifier(40, random_state=0)
    rows = written(tmp_path / f"rows.{end}", TARGETS[name])
    same(model.fit(rows), ELMClassifier(40, random_state=0).fit(X, TARGETS[name]))


@pytest.mark.slow
@pytest.mark.parametrize("weight", [False, True], ids=["plain", "weighted"])
@pytest.mark.parametrize(
    ("name", "class_weight"),
    [
        ("two", None),
        ("two", "balanced"),
        ("two", {1: 0.3}),
        ("many", None),
        ("many", "balanced"),
        ("several", None),
    ],
    ids=str,
)
@pytest.mark.usefixtures("in_chunks")
def test_a_scan_gives_the_model_of_its_rows(tmp_path, name, class_weight, weight):
    options = {"n_neurons": 40, "alpha": 0.1, "class_weight": class_weight, "random_state": 0}
    rows = written(tmp_path / "rows.npy", TARGETS[name], weight=weight)
    expected = ELMClassifier(**options).fit(X, TARGETS[name], S if weight else None)
    same(ELMClassifier(**options).fit(rows), expected)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("two", {}),
        ("many", {"n_neurons": 40, "n_estimators": 2, "class_weight": "balanced"}),
        ("several", {"n_neurons": 40, "n_estimators": 2}),
    ],
)
@pytest.mark.usefixtures("in_chunks")
def test_a_scan_gives_the_stack_of_its_rows(tmp_path, name, options):
    options = {"alpha": 0.1, "random_state": 0} | options
    rows = written(tmp_path / "rows.npy", TARGETS[name])
    same(ELMClassifier(**options).fit(rows), ELMClassifier(**options).fit(X, TARGETS[name]))


@pytest.mark.parametrize("class_weight", [None, "balanced"])
@pytest.mark.usefixtures("in_chunks")
def test_a_file_sorted_by_class_gives_the_same_model(tmp_path, class_weight):
    y = TARGETS["many"]
    model = ELMClassifier(40, alpha=0.1, class_weight=class_weight, random_state=0)
    rows = written(tmp_path / "rows.npy", y, order=np.argsort(y, kind="stable"))
    other = ELMClassifier(40, alpha=0.1, class_weight=class_weight, random_state=0)
    same(model.fit(rows), other.fit(X, y))


@pytest.mark.slow
@pytest.mark.parametrize("order", ["mixed", "sorted"])
def test_a_large_scan_is_streamed(tmp_path, order):
    """Above 100,000 rows nothing is loaded; probabilities come from a sample of 20,000 rows."""
    n = 130_000
    rng = np.random.default_rng(1)
    rows = rng.standard_normal((n, 2))
    y = (rows[:, 0] * rows[:, 1] + 0.4 * rng.standard_normal(n) > 0.9).astype(int)
    if order == "sorted":
        index = np.argsort(y, kind="stable")
        rows, y = rows[index], y[index]
    np.save(tmp_path / "rows.npy", np.column_stack([rows, y]))
    options = {"alpha": "gcv", "class_weight": "balanced", "random_state": 0}
    model = ELMClassifier(30, **options).fit(scan(tmp_path / "rows.npy", target=-1))
    whole = ELMClassifier(30, **options).fit(rows, y)
    assert model.classes_.dtype == np.int64
    new = rng.standard_normal((2000, 2))
    expected = whole.decision_function(new)
    np.testing.assert_allclose(model.decision_function(new), expected, rtol=1e-7, atol=1e-7)
    np.testing.assert_allclose(model.predict_proba(new), whole.predict_proba(new), atol=0.03)
    assert np.mean(model.predict(new[new.prod(axis=1) > 1.5])) > 0.9


@pytest.mark.slow
@pytest.mark.parametrize("end", ["parquet", "npy", "h5", "csv", "arrow"])
@pytest.mark.parametrize("name", TARGETS)
def test_answers_are_streamed_to_a_file(tmp_path, name, end):
    y = TARGETS[name]
    model = ELMClassifier(20, random_state=0).fit(X, y)
    labels = [f"label_{k}" for k in range(2)] if name == "several" else ["label"]
    classes = [0, 1] if name != "many" else [0, 5, 10, 15]
    numbers = range(len(classes))
    columns = {
        "predict": labels,
        "predict_proba": [f"probability_{label}" for label in classes],
        "decision_function": ["decision"] if name == "two" else [f"decision_{k}" for k in numbers],
    }
    for method, names in columns.items():
        out = tmp_path / f"{method}.{end}"
        assert getattr(model, method)(scan(X, chunk_size=777), out=out) == out
        expected = getattr(model, method)(X).reshape(N, -1)
        np.testing.assert_allclose(read_back(out, names), expected, rtol=1e-12)


def test_answers_for_a_scan_are_those_for_its_rows(tmp_path):
    model = ELMClassifier(20, random_state=0).fit(X, np.array(["no", "yes"])[TARGETS["two"]])
    for method in METHODS:
        expected = getattr(model, method)(X)
        actual = getattr(model, method)(scan(X, chunk_size=777))
        if method == "predict":
            np.testing.assert_array_equal(actual, expected)
        else:
            np.testing.assert_allclose(actual, expected, rtol=1e-10)
    with pytest.raises(ValueError, match=r"predict writes numbers only .* its labels are text"):
        model.predict(X, out=tmp_path / "labels.npy")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("end", list(READ))
@pytest.mark.parametrize("labels", [[False, True], [2**53, 2**53 + 1]], ids=["flags", "large"])
def test_tables_hold_labels_as_they_are(tmp_path, labels, end):
    y = np.array(labels)[TARGETS["two"]]
    model = ELMClassifier(20, random_state=0).fit(X, y)
    path = model.predict(X, out=tmp_path / f"labels.{end}")
    found = READ[end](path)["label"].to_numpy()
    assert found.dtype == y.dtype
    np.testing.assert_array_equal(found, model.predict(X))


class EndedError(Exception):
    pass


@pytest.mark.slow
@pytest.mark.parametrize("after", [3, 10, 17, 24])
@pytest.mark.usefixtures("in_chunks")
def test_a_fit_that_was_ended_goes_on(tmp_path, monkeypatch, after):
    """Classes are counted in one pass, then scales, sums and a sample are taken in others."""
    monkeypatch.setattr(checkpoint, "_PATIENCE", 0.0)
    rows = written(tmp_path / "rows.npy", TARGETS["many"])
    options = {"n_neurons": 20, "class_weight": "balanced", "random_state": 0}
    expected = ELMClassifier(**options).fit(rows)
    chunks, read = Scan.chunks, []

    def counted(self, *args, **options):
        for chunk in chunks(self, *args, **options):
            if len(read) == after:
                raise EndedError
            read.append(1)
            yield chunk

    folder = tmp_path / "kept"
    with monkeypatch.context() as patch:
        patch.setattr(Scan, "chunks", counted)
        with pytest.raises(EndedError):
            ELMClassifier(**options).fit(rows, checkpoint=folder)
    assert folder.exists()
    before, after = after, 10**9
    with monkeypatch.context() as patch:
        patch.setattr(Scan, "chunks", counted)
        model = ELMClassifier(**options).fit(rows, checkpoint=folder)
    same(model, expected, 0)
    assert not folder.exists()
    passes = 4 * -(-N // 777)
    assert len(read) - before <= passes - before + 4


@pytest.mark.parametrize("loaded", [True, False])
@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda m: m.fit(scan((X, np.arange(N)))), "more than 1000 distinct values"),
        (lambda m: m.fit(scan((X, SCORE.round(1)))), "which is no class"),
        (lambda m: m.fit(scan((X, np.ones(N)))), "rows of one class only"),
        (lambda m: m.fit(scan((X, X[:, :2]))), "hold 0 and 1; column 0 of y holds"),
        (
            lambda m: m.set_params(class_weight={7: 1.0}).fit(scan((X, TARGETS["two"]))),
            "names the class 7",
        ),
        (
            lambda m: m.set_params(class_weight="balanced").fit(scan((X, TARGETS["several"]))),
            "for one label a row",
        ),
        (lambda m: m.fit(scan((X, TARGETS["two"])), TARGETS["two"]), "y is part of a scan"),
        (
            lambda m: m.fit(scan((X, TARGETS["two"])), groups=S[:2]),
            "groups must have one label",
        ),
        (
            lambda m: m.set_params(selection="loo").fit(scan((X, TARGETS["two"]))),
            "selection needs rows in memory",
        ),
        (lambda m: m.fit(scan(X)), "has no target to learn"),
        (lambda m: m.fit(X, TARGETS["two"]).predict(scan(X[:, :2])), "has 2 features"),
    ],
)
def test_what_cannot_be_is_refused_in_a_sentence(monkeypatch, call, sentence, loaded):
    if not loaded:
        monkeypatch.setattr(_scans, "_KEPT_BYTES", 0)
    with pytest.raises(ValueError, match=sentence):
        call(ELMClassifier(20, random_state=0))
