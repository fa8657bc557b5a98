"""What a classifier that abstains answers: of arrays, tables, scans and files."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from noisy_classes import best_class, noisy_classes
from sklearn import config_context

from elmband import ELMSelectiveClassifier, scan
from elmband.ground.arrays import namespace, to_numpy
from read_back import read_back

TRAIN, TEST = noisy_classes(400, 0), noisy_classes(1000, 1)
FAR = np.array([[30.0, 0.0], [0.0, -30.0]])
ROWS = np.concatenate([TEST.X, FAR])
NAMES = np.array(["no", "yes"])
REASONS = ["accepted", "between classes", "noisy here", "unlike training rows"]


def selective(y=TRAIN.y, **parameters):
    parameters = {"noise": "squared", "coverage": 0.5, "random_state": 0, **parameters}
    return ELMSelectiveClassifier(30, **parameters).fit(TRAIN.X, y)


@pytest.fixture(scope="module")
def fitted():
    return selective()


def naive(model, X, y, s, positive):
    """Return the fields of an evaluation, counted row by row."""
    rows = list(zip(model.predict(X), model.accept(X), y, s, strict=True))
    n = sum(w for *_, w in rows)
    answered = sum(w for _, a, _, w in rows if a)
    false = sum(w for c, a, t, w in rows if a and c == positive and t != positive)
    called = sum(w for c, a, _, w in rows if a and c == positive)
    return [
        n,
        answered / n,
        sum(w for c, a, t, w in rows if a and c != t) / answered,
        sum(w for c, _, t, w in rows if c != t) / n,
        false / sum(w for _, _, t, w in rows if t != positive),
        1 - false / called,
    ]


@pytest.mark.one_quick
@pytest.mark.parametrize("labels", ["numbers", "text"])
@pytest.mark.parametrize("weighted", [False, True])
def test_an_evaluation_counts_rows(labels, weighted):
    names = NAMES if labels == "text" else np.arange(2)
    model, y = selective(names[TRAIN.y], chunk_size=300), names[TEST.y]
    s = np.random.default_rng(2).uniform(0, 3, size=1000) if weighted else None
    found = model.evaluate(TEST.X, y, s)
    expected = naive(model, TEST.X, y, np.ones(1000) if s is None else s, names[1])
    np.testing.assert_allclose(found, expected)
    model.set_params(pos_label=names[0])
    expected = naive(model, TEST.X, y, np.ones(1000) if s is None else s, names[0])
    np.testing.assert_allclose(model.evaluate(TEST.X, y, s), expected)


def test_an_evaluation_on_a_scan_is_that_on_its_rows(fitted):
    s = np.random.default_rng(2).integers(0, 3, size=1000).astype(float)
    expected = fitted.evaluate(TEST.X, TEST.y)
    assert fitted.evaluate(scan((TEST.X, TEST.y), chunk_size=170)) == expected
    weighted = fitted.evaluate(scan((TEST.X, TEST.y, s), chunk_size=170))
    np.testing.assert_allclose(weighted, fitted.evaluate(TEST.X, TEST.y, s))
    assert str(expected).splitlines()[0] == "rows           1,000"


def test_of_three_classes_rates_need_a_positive_one():
    rows = noisy_classes(300, 0, 3)
    model = ELMSelectiveClassifier(30, coverage=0.5, random_state=0).fit(rows.X, rows.y)
    found = model.evaluate(rows.X, rows.y)
    assert np.isnan([found.fpr, found.precision]).all()
    model.set_params(pos_label=2)
    expected = naive(model, rows.X, rows.y, np.ones(300), 2)
    np.testing.assert_allclose(model.evaluate(rows.X, rows.y), expected)


def test_wrong_rows_to_evaluate_on_are_refused_in_a_sentence(fitted):
    X, y = TEST.X, TEST.y
    calls = {
        "y is needed": lambda: fitted.evaluate(X),
        "they must be as many": lambda: fitted.evaluate(X, y[:-1]),
        "none of the classes of the model": lambda: fitted.evaluate(X, y + 1),
        "sample_weight must have one number": lambda: fitted.evaluate(X, y, np.ones(3)),
        "of at least 0": lambda: fitted.evaluate(X, y, -np.ones(1000)),
        "no rows with a weight above zero": lambda: fitted.evaluate(X, y, np.zeros(1000)),
        "y is part of a scan": lambda: fitted.evaluate(scan((X, y)), y),
        "Weights are part of a scan": lambda: fitted.evaluate(scan((X, y)), None, np.ones(1000)),
    }
    for sentence, call in calls.items():
        with pytest.raises(ValueError, match=sentence):
            call()


@pytest.mark.parametrize("rule", ["probability", "margin"])
def test_triage_says_what_becomes_of_every_row(rule):
    model = selective(NAMES[TRAIN.y], rank_by=rule)
    found = model.triage(ROWS)
    np.testing.assert_array_equal(found.label, model.predict(ROWS))
    np.testing.assert_array_equal(found.accepted, model.accept(ROWS))
    np.testing.assert_array_equal(found.confidence, model.confidence(ROWS))
    assert found.accepted.dtype == bool
    np.testing.assert_array_equal(found.reason == "accepted", found.accepted)
    assert set(found.reason) <= set(REASONS)


@pytest.mark.parametrize("k", [2, 3])
def test_reasons_are_where_the_rows_are(k):
    train, test = noisy_classes(2000, 5, k), noisy_classes(4000, 6, k)
    model = ELMSelectiveClassifier(80, coverage=0.4, random_state=0).fit(train.X, train.y)
    found = model.triage(test.X)
    step = np.array([0.1, 0.0]), np.array([0.0, 0.1])
    # Classes meet where the best one changes nearby, and are far where it does not by far.
    best, noisy = test.p.argmax(axis=1), test.p.max(axis=1) < 0.9
    meets, far = np.zeros(4000, dtype=bool), np.ones(4000, dtype=bool)
    for s in (*step, -step[0], -step[1]):
        meets |= best_class(test.X + s, k) != best
        far &= best_class(test.X + 4 * s, k) == best
    asked = ~found.accepted & (found.reason != "unlike training rows")
    # Where classes meet among noise either reason is true.
    assert np.mean(found.reason[asked & meets & ~noisy] == "between classes") > 0.75
    assert np.mean(found.reason[asked & far & noisy] == "noisy here") > 0.75
    assert np.mean(found.reason == "unlike training rows") < 0.03
    assert (model.triage(FAR).reason == "unlike training rows").all()


def test_the_rule_of_the_fit_answers_whatever_parameters_are_set_later(fitted):
    expected = fitted.confidence(ROWS)
    fitted.set_params(rank_by="margin")
    np.testing.assert_array_equal(fitted.confidence(ROWS), expected)
    fitted.set_params(rank_by="probability")


def assert_same_triage(found, expected):
    """Compare all answers, but for rounding: products add up in another order."""
    for name in ("label", "accepted", "reason"):
        np.testing.assert_array_equal(getattr(found, name), getattr(expected, name))
    np.testing.assert_allclose(found.confidence, expected.confidence, rtol=1e-6)


def test_answers_of_a_scan_are_those_of_its_rows(fitted):
    rows, expected = scan(ROWS, chunk_size=170), fitted.triage(ROWS)
    np.testing.assert_allclose(fitted.confidence(rows), expected.confidence, rtol=1e-9)
    np.testing.assert_array_equal(fitted.accept(rows), expected.accepted)
    assert_same_triage(fitted.triage(rows), expected)


@pytest.mark.parametrize("end", ["parquet", "npy", "h5", "csv", "arrow"])
def test_answers_are_streamed_to_files(fitted, tmp_path, end):
    rows = scan(ROWS, chunk_size=170)
    for method, name in (("confidence", "confidence"), ("accept", "accepted")):
        out = tmp_path / f"{method}.{end}"
        assert getattr(fitted, method)(rows, out=out) == out
        np.testing.assert_allclose(
            read_back(out, [name]).reshape(len(ROWS), -1)[:, 0], getattr(fitted, method)(ROWS)
        )


@pytest.mark.parametrize("end", ["npy", "h5"])
def test_triage_is_streamed_to_files_of_numbers(fitted, tmp_path, end):
    out = fitted.triage(scan(ROWS, chunk_size=170), out=tmp_path / f"triage.{end}")
    found = fitted.triage(ROWS)
    values = read_back(out, ["label", "accepted", "confidence", "reason"]).reshape(len(ROWS), -1)
    np.testing.assert_array_equal(values[:, 0], found.label)
    np.testing.assert_array_equal(values[:, 1], found.accepted)
    np.testing.assert_allclose(values[:, 2], found.confidence)
    np.testing.assert_array_equal(np.array(REASONS)[values[:, 3].astype(int)], found.reason)


def test_labels_that_are_numbers_are_written_as_they_are(tmp_path):
    model = selective(np.array([7, 12])[TRAIN.y])
    out = model.triage(TEST.X, out=tmp_path / "triage.npy")
    np.testing.assert_array_equal(np.load(out)[:, 0], model.predict(TEST.X))


def test_triage_is_streamed_to_tables_as_it_is(tmp_path):
    model = selective(NAMES[TRAIN.y])
    expected = model.triage(pd.DataFrame(TEST.X), as_frame=True)
    for end, read in READERS.items():
        out = model.triage(scan(TEST.X, chunk_size=170), out=tmp_path / f"triage.{end}")
        pd.testing.assert_frame_equal(read(out), expected, check_dtype=False, rtol=1e-9)
        out = model.predict(TEST.X, out=tmp_path / f"label.{end}")
        assert read(out)["label"].tolist() == expected["label"].tolist()


READERS = {
    "parquet": pd.read_parquet,
    "csv": pd.read_csv,
    "csv.gz": pd.read_csv,
    "arrow": pd.read_feather,
}


def test_labels_that_are_text_are_no_numbers(tmp_path):
    model = selective(NAMES[TRAIN.y])
    with pytest.raises(ValueError, match=r"triage writes numbers only .* its labels are text"):
        model.triage(TEST.X, out=tmp_path / "triage.npy")
    assert list(tmp_path.iterdir()) == []
    # The other answers are numbers.
    assert np.load(model.accept(TEST.X, out=tmp_path / "a.npy")).sum() == model.accept(TEST.X).sum()


@pytest.mark.parametrize("library", [pd, pl], ids=["pandas", "polars"])
def test_tables_come_in_and_go_out(library):
    frame, new = (library.DataFrame({"a": X[:, 0], "b": X[:, 1]}) for X in (TRAIN.X, TEST.X))
    model = ELMSelectiveClassifier(30, noise="squared", coverage=0.5, random_state=0)
    model.fit(frame, library.Series(NAMES[TRAIN.y]))
    expected = selective(NAMES[TRAIN.y]).triage(TEST.X)
    assert_same_triage(model.triage(new), expected)
    table = model.triage(new, as_frame=True)
    assert isinstance(table, library.DataFrame)
    assert list(table.columns) == ["label", "accepted", "confidence", "reason"]
    np.testing.assert_array_equal(table["reason"].to_numpy(), expected.reason)
    y = library.Series(NAMES[TEST.y])
    assert model.evaluate(new, y) == model.evaluate(new, NAMES[TEST.y])
    groups = library.Series((np.arange(1000) // 2).astype(str))
    model.choose(max_error=0.2).calibrate(new, y, groups=groups)
    assert model.thresholds_["yes"].kind == "promise"
    with pytest.raises(ValueError, match="as_frame=True answers in the table library of X"):
        selective().triage(TEST.X, as_frame=True)


@pytest.mark.slow
@pytest.mark.parametrize("parameters", [{}, {"noise": "squared"}], ids=["log", "squared"])
@pytest.mark.parametrize("rule", ["probability", "margin"])
def test_the_array_library_changes_nothing(xp, parameters, rule):
    model = ELMSelectiveClassifier(
        20, **parameters, alpha=1.0, rank_by=rule, coverage=0.5, random_state=0
    )
    model.fit(TRAIN.X, TRAIN.y)
    expected, evaluated = model.triage(ROWS), model.evaluate(TEST.X, TEST.y)
    promise = model.choose(max_error=0.2).calibrate(TEST.X, TEST.y).thresholds_[0]
    model.set_params(max_error=None, coverage=0.5)
    with config_context(array_api_dispatch=True):
        model.fit(xp.asarray(TRAIN.X), xp.asarray(TRAIN.y))
        rows, X, y = xp.asarray(ROWS), xp.asarray(TEST.X), xp.asarray(TEST.y)
        mine = model.confidence(rows), model.accept(rows)
        for array in mine:
            assert namespace(array) is namespace(rows)
        assert mine[1].dtype == xp.bool
        np.testing.assert_allclose(to_numpy(mine[0]), expected.confidence, rtol=1e-6)
        np.testing.assert_array_equal(to_numpy(mine[1]), expected.accepted)
        assert_same_triage(model.triage(rows), expected)
        np.testing.assert_allclose(model.evaluate(X, y), evaluated)
        groups = xp.asarray(np.arange(1000))
        assert model.choose(max_error=0.2).calibrate(X, y).thresholds_[0].n == promise.n
        assert model.calibrate(X, y, groups=groups).thresholds_[0].kind == "promise"


@pytest.mark.torch
def test_rows_of_another_library_get_a_sentence():
    torch = pytest.importorskip("torch")
    with config_context(array_api_dispatch=True):
        model = ELMSelectiveClassifier(10, coverage=0.5)
        model.fit(torch.asarray(TRAIN.X), torch.asarray(TRAIN.y))
        for call in (model.accept, model.triage, lambda X: model.evaluate(X, TEST.y)):
            with pytest.raises(ValueError, match="must use the same namespace"):
                call(TEST.X)
