"""Tables of text, dates and gaps: models make numbers of them by themselves."""

import copy
import pickle
from dataclasses import replace

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, cross_val_predict, cross_val_score
from sklearn.pipeline import make_pipeline

from elmband import (
    ELMClassifier,
    ELMIntervalRegressor,
    ELMRegressor,
    ELMSelectiveClassifier,
    TableEncoder,
    load,
    merge,
    scan,
)

N = 120
LIBRARIES = {"pandas": lambda frame: frame, "polars": pl.from_pandas, "arrow": pa.Table.from_pandas}


def table(n=N, seed=0):
    """A number with gaps, a level, a date and a flag."""
    rng = np.random.default_rng(seed)
    days = pd.Timestamp("2024-01-01") + pd.to_timedelta(rng.integers(0, 400, n), "D")
    frame = pd.DataFrame(
        {
            "size": rng.normal(size=n),
            "town": rng.choice(["Oslo", "Rome", "Turku"], n),
            "day": days,
            "flag": rng.random(n) < 0.5,
        }
    )
    y = frame["size"] + 2 * (frame["town"] == "Rome") + 0.3 * rng.normal(size=n)
    frame.loc[::9, "size"] = np.nan
    return frame, y.to_numpy()


FRAME, Y = table()
NEW = table(40, seed=1)[0]
LABELS = np.where(Y > 0.5, "up", "down")
SINGLE = {"n_neurons": 15, "random_state": 0}
MODELS = {
    "point": (ELMRegressor(**SINGLE), Y),
    "interval": (ELMIntervalRegressor(**SINGLE), Y),
    "classes": (ELMClassifier(**SINGLE), LABELS),
    "selective": (ELMSelectiveClassifier(**SINGLE, coverage=0.5), LABELS),
}
QUESTIONS = {
    "point": ["predict"],
    "interval": ["predict", "predict_interval", "predict_quantiles", "predict_variance"],
    "classes": ["predict", "predict_proba", "decision_function"],
    "selective": ["predict", "predict_proba", "confidence", "accept", "triage"],
}


def same(found, expected):
    for one, other in zip(
        found if isinstance(found, tuple) else [found],
        expected if isinstance(expected, tuple) else [expected],
        strict=True,
    ):
        np.testing.assert_array_equal(one, other)


def close(found, expected):
    for one, other in zip(found, expected, strict=True):
        if np.asarray(one).dtype.kind == "f":
            np.testing.assert_allclose(one, other, rtol=1e-8)
        else:
            np.testing.assert_array_equal(one, other)


@pytest.fixture(scope="module", params=list(MODELS))
def fitted(request):
    model, y = MODELS[request.param]
    return request.param, clone(model).fit(FRAME, y), y


def test_a_model_encodes_as_an_encoder_before_it_would(fitted):
    name, model, y = fitted
    encoder = TableEncoder().fit(FRAME)
    other = clone(MODELS[name][0]).fit(encoder.transform(FRAME), y)
    for question in QUESTIONS[name]:
        expected = getattr(other, question)(encoder.transform(NEW))
        same(getattr(model, question)(NEW), expected)
        # Columns are found by name, and others are left alone.
        turned = NEW.iloc[:, ::-1].assign(more="text")
        same(getattr(model, question)(turned), expected)
        # What is encoded already is taken as it is.
        features = model.encoder_.transform(NEW)
        same(getattr(model, question)(features), expected)
        names = model.encoder_.get_feature_names_out()
        as_frame = pd.DataFrame(features, columns=names).iloc[:, ::-1]
        same(getattr(model, question)(as_frame), expected)


@pytest.mark.parametrize("library", list(LIBRARIES))
def test_tables_of_every_library_give_the_same_model(library):
    model, _ = MODELS["interval"]
    expected = clone(model).fit(FRAME, Y).predict_interval(NEW)
    found = clone(model).fit(LIBRARIES[library](FRAME), Y)
    same(found.predict_interval(LIBRARIES[library](NEW)), expected)
    answered = found.predict_interval(LIBRARIES[library](NEW), as_frame=True)
    assert type(answered) is type(LIBRARIES[library](NEW))


@pytest.mark.slow
def test_a_table_gives_the_same_model_as_a_scan_of_it():
    model = ELMIntervalRegressor(random_state=0).fit(FRAME, Y)
    rows = pa.Table.from_pandas(FRAME.assign(y=Y))
    scanned = ELMIntervalRegressor(random_state=0)
    scanned.fit(scan(rows, target="y", encoder=TableEncoder()))
    same(model.predict_interval(NEW), scanned.predict_interval(NEW))
    same(model.predict_interval(NEW), scanned.predict_interval(scanned.encoder_.transform(NEW)))


def test_features_are_those_of_the_table_as_given(fitted):
    _, model, y = fitted
    assert model.n_features_in_ == 4
    assert model.feature_names_in_.tolist() == list(FRAME)
    assert len(model.encoder_.get_feature_names_out()) > 4
    assert model.column_relevance_.names == ("size", "town", "day", "flag")
    assert model.feature_relevance_.names == tuple(model.encoder_.get_feature_names_out())
    assert model.score(FRAME, y) > 0.5


def test_models_of_tables_are_saved_and_copied(fitted, tmp_path):
    name, model, _ = fitted
    for again in (
        load(model.save(tmp_path / "model.safetensors")),
        copy.deepcopy(model),
        pickle.loads(pickle.dumps(model)),  # noqa: S301
    ):
        for question in QUESTIONS[name]:
            same(getattr(again, question)(NEW), getattr(model, question)(NEW))
        assert again.feature_names_in_.tolist() == list(FRAME)


def test_held_out_rows_are_encoded_too():
    held, y = table(60, seed=2)
    model = clone(MODELS["interval"][0]).fit(FRAME, Y)
    features = model.encoder_.transform(held)
    assert model.evaluate(held, y).to_dict() == model.evaluate(features, y).to_dict()
    expected = copy.deepcopy(model).calibrate(features, y).predict_interval(NEW)
    same(model.calibrate(held, y).predict_interval(NEW), expected)
    same(model.accept(NEW, max_width=2), model.accept(model.encoder_.transform(NEW), max_width=2))
    triage = model.triage(NEW, max_width=2)
    same(triage, model.triage(model.encoder_.transform(NEW), max_width=2))
    chooser = clone(MODELS["selective"][0]).fit(FRAME, LABELS)
    called = np.where(y > 0.5, "up", "down")
    features = chooser.encoder_.transform(held)
    assert str(chooser.evaluate(held, called)) == str(chooser.evaluate(features, called))
    assert chooser.calibrate(held, called).accept(NEW).shape == (40,)


# What is no table of text, dates or gaps.


@pytest.mark.parametrize("name", list(MODELS))
def test_a_table_of_plain_numbers_is_trained_on_as_it_is(name):
    model, y = MODELS[name]
    X = np.column_stack([np.arange(N) % 7, np.sin(np.arange(N))])
    frame = pd.DataFrame(X, columns=["a", "b"]).astype({"a": "int64"})
    found = clone(model).fit(frame, y)
    assert found.encoder_ is None
    assert found.feature_names_in_.tolist() == ["a", "b"]
    expected = clone(model).fit(X, y)
    for question in QUESTIONS[name]:
        # Columns of pandas lie in memory in another way, and sums round in another way.
        close(getattr(found, question)(frame), getattr(expected, question)(X))
    with pytest.raises(ValueError, match="feature names should match"):
        found.predict(frame[["b", "a"]])


@pytest.mark.parametrize(
    "frame",
    [
        pd.DataFrame({"a": [1.0, 2, 3, 5] * 5, "b": pd.array([1, 2, 3, 9] * 5, "Int64")}),
        pd.DataFrame({"a": [1.0, 2, 3, 5] * 5, "b": pd.array([1, 2, 3, 9] * 5, object)}),
        pd.DataFrame({"a": [1.0, 2, 3, 5] * 5, "b": [True, False, True, True] * 5}),
        pd.DataFrame(np.arange(40.0).reshape(20, 2)),
        pd.DataFrame(np.arange(40.0).reshape(20, 2), columns=[2020, 2021]),
    ],
    ids=["nullable", "objects", "booleans", "no names", "years"],
)
def test_numbers_of_any_type_are_plain(frame):
    model = ELMRegressor(5, random_state=0).fit(frame, np.arange(20.0) % 3)
    assert model.encoder_ is None
    values = np.asarray(frame, dtype=np.float64)
    expected = ELMRegressor(5, random_state=0).fit(values, np.arange(20.0) % 3)
    same(model.predict(frame), expected.predict(values))


def test_missing_numbers_of_a_table_are_encoded_and_those_of_an_array_refused():
    frame = FRAME[["size", "flag"]]
    model = ELMRegressor(5, random_state=0).fit(frame, Y)
    assert model.encoder_.get_feature_names_out().tolist() == ["size", "size=missing", "flag"]
    for one in (
        pl.from_pandas(frame),
        pl.DataFrame({"size": frame["size"].to_numpy(), "flag": frame["flag"].to_numpy()}),
    ):
        same(ELMRegressor(5, random_state=0).fit(one, Y).predict(frame), model.predict(frame))
    with pytest.raises(ValueError, match="NaN"):
        ELMRegressor(5).fit(frame.to_numpy(dtype=float), Y)


def test_an_array_with_text_is_encoded_by_the_places_of_its_columns():
    array = FRAME[["town", "flag"]].to_numpy(dtype=object)
    model = ELMRegressor(5, random_state=0).fit(array, Y)
    assert model.n_features_in_ == 2
    assert not hasattr(model, "feature_names_in_")
    same(model.predict(array), model.predict(model.encoder_.transform(array)))
    same(model.predict(array.tolist()), model.predict(array))
    with pytest.raises(ValueError, match="X has 3 features, but TableEncoder is expecting 2"):
        model.predict(np.zeros((2, 3)))


# What is refused, and what is said.


@pytest.mark.parametrize(
    ("X", "sentence"),
    [
        (
            FRAME.rename(columns={"town": "Town", "size": "length"}),
            r"^X has no columns 'size', 'town' \(did you mean 'Town'\?\), which ELMRegressor was t",
        ),
        (FRAME[["town", "day", "flag"]], r"^X has no column 'size', which ELMRegressor was"),
        (
            FRAME.to_numpy(),
            r"^X has no names of columns; ELMRegressor takes a table with the columns 'size', 't",
        ),
        (
            FRAME.set_axis(range(4), axis=1),
            r"^X has no names of columns; ELMRegressor takes a table with the columns 'size', 't",
        ),
        (
            np.zeros((3, 4)),
            r"^X has 4 features, but .* \d+ features as input, or a table with the columns 'size'",
        ),
        (
            FRAME.iloc[0],
            r"^X is of type Series; ELMRegressor takes a table with the columns 'size', ",
        ),
        (FRAME.iloc[0].to_dict(), r"^X is of type dict; .* as pandas\.DataFrame\(\[row\]\) makes"),
        (FRAME.to_dict("records"), "^X is of type list; ELMRegressor takes a table"),
        (FRAME.assign(town=1.0), "column 'town' holds numbers, the encoder was fitted on text"),
        (FRAME.assign(size=np.inf), "column 'size' holds 120 infinite values"),
    ],
)
def test_rows_of_other_columns_are_refused_with_a_sentence(X, sentence):
    model = ELMRegressor(5, random_state=0).fit(FRAME, Y)
    with pytest.raises(ValueError, match=sentence):
        model.predict(X)


@pytest.mark.parametrize(
    ("X", "sentence"),
    [
        (pl.from_pandas(FRAME).lazy(), "X is a table that is not computed yet; collect it first"),
        (
            FRAME.assign(more=FRAME["size"]).set_axis([*"abca", "b"], axis=1),
            "two columns named 'a'",
        ),
        (FRAME.assign(size=[{}] * N), "column 'size' holds dict objects"),
        (FRAME.assign(size=np.inf), "column 'size' holds 120 infinite values"),
        (FRAME.set_axis([2020, 2021, 2022, 2023], axis=1), "names that are not text; rename"),
    ],
)
def test_tables_that_cannot_be_encoded_are_refused_by_fit(X, sentence):
    with pytest.raises(ValueError, match=sentence):
        ELMRegressor(5).fit(X, Y)


@pytest.mark.parametrize("labels", [LABELS, pd.Categorical(np.where(Y > 0, 10, 20))])
@pytest.mark.parametrize("kind", [ELMRegressor, ELMIntervalRegressor])
def test_a_scan_with_text_for_a_target_is_for_classifiers(kind, labels):
    rows = scan(FRAME.assign(label=labels), target="label", encoder=TableEncoder())
    with pytest.raises(
        ValueError, match=r"^The target of Scan.* is text, .* train a classifier\.$"
    ):
        kind(5).fit(rows)
    ELMClassifier(5, random_state=0).fit(rows)


def test_a_scan_without_the_encoder_is_refused_with_the_way_to_give_it():
    model = ELMRegressor(5, random_state=0).fit(FRAME, Y)
    rows = pa.Table.from_pandas(NEW)
    with pytest.raises(ValueError, match=r"encoder=model\.encoder_\)\.$"):
        model.predict(scan(pa.Table.from_pandas(NEW[["flag"]])))
    same(model.predict(scan(rows, encoder=model.encoder_)), model.predict(NEW))


def test_rows_unlike_those_of_the_fit_are_told_of_once():
    model = ELMIntervalRegressor(15, random_state=0).fit(FRAME, Y)
    odd = FRAME[:40].copy()
    odd.loc[0, "size"], odd.loc[1, "town"] = 1e4, "Bergen"
    with pytest.warns(UserWarning, match="40 rows") as caught:
        model.predict_interval(odd, [0.5, 0.9])
    (warning,) = caught
    assert str(warning.message) == (
        "1 of 40 rows lie beyond the training rows, in size (1): intervals say little there. "
        "1 of 40 rows have values that the training rows had none of, in town (1): intervals "
        "allow for as much as the known levels differ."
    )
    # The line of the user is named, and no other.
    assert warning.filename == __file__


# Tools of scikit-learn.


@pytest.mark.slow
def test_searches_and_pipelines_take_tables():
    model = ELMIntervalRegressor(10, random_state=0)
    search = GridSearchCV(model, {"n_neurons": [5, 10]}, cv=2).fit(FRAME, Y)
    assert search.best_estimator_.feature_names_in_.tolist() == list(FRAME)
    assert search.predict(NEW).shape == (40,)
    scores = cross_val_score(ELMClassifier(10, random_state=0), FRAME, LABELS, cv=2)
    assert scores.min() > 0.6
    assert cross_val_predict(model, pl.from_pandas(FRAME), Y, cv=2).shape == (N,)
    pipeline = make_pipeline(clone(model)).fit(FRAME, Y)
    same(pipeline.predict(NEW), model.fit(FRAME, Y).predict(NEW))
    same(make_pipeline(TableEncoder(), clone(model)).fit(FRAME, Y).predict(NEW), model.predict(NEW))
    # Another fit forgets the encoder.
    assert model.fit(FRAME[["flag"]], Y).encoder_ is None


def test_rows_of_weight_zero_teach_the_encoder_nothing():
    weight = np.where(FRAME["town"] == "Oslo", 0.0, 2.0)
    model = ELMRegressor(10, alpha=1.0, random_state=0).fit(FRAME, Y, sample_weight=weight)
    assert "town=Oslo" not in model.encoder_.get_feature_names_out()
    kept = weight > 0
    expected = ELMRegressor(10, alpha=1.0, random_state=0)
    expected.fit(FRAME[kept], Y[kept], sample_weight=weight[kept])
    known = NEW[NEW["town"] != "Oslo"]
    np.testing.assert_allclose(model.predict(known), expected.predict(known), rtol=1e-9)


@pytest.mark.slow
def test_groups_and_several_outputs():
    model = ELMIntervalRegressor(random_state=0, n_neurons=10)
    model.fit(FRAME, np.column_stack([Y, -Y]), groups=np.arange(N) % 12)
    assert model.predict_interval(NEW).shape == (40, 2, 2)
    mean = model.predict(NEW)
    np.testing.assert_allclose(mean[:, 0], -mean[:, 1], atol=1e-9)


@pytest.mark.parametrize("kind", [ELMRegressor, ELMClassifier])
def test_rows_are_added_with_the_encoder_of_the_first(kind):
    y = Y if kind is ELMRegressor else LABELS
    model = kind(10, alpha=1.0, random_state=0)
    model.partial_fit(FRAME[:80], y[:80]).partial_fit(FRAME[80:], y[80:])
    encoder = TableEncoder().fit(FRAME[:80])
    features = encoder.transform(FRAME)
    expected = kind(10, alpha=1.0, random_state=0)
    expected.partial_fit(features[:80], y[:80]).partial_fit(features[80:], y[80:])
    same(model.predict(NEW), expected.predict(encoder.transform(NEW)))
    first = kind(10, alpha=1.0, random_state=0).partial_fit(FRAME[:80], y[:80])
    both = merge(first, first.untrained().partial_fit(FRAME[80:], y[80:]))
    assert both.feature_names_in_.tolist() == list(FRAME)
    assert np.mean(both.predict(NEW) == model.predict(NEW)) == 1 or kind is ELMRegressor
    later = FRAME[80:].assign(town="Bergen")
    with pytest.warns(UserWarning, match=r"^40 of 40 rows have values .* in town \(40\)"):
        first.partial_fit(later, y[80:])


def test_a_model_of_a_table_is_refreshed_with_tables():
    model = ELMIntervalRegressor(10, noise="squared", alpha=1.0, random_state=0)
    model.partial_fit(FRAME[:80], Y[:80]).partial_fit(FRAME[80:], Y[80:]).refresh(FRAME, Y)
    features = model.encoder_.transform(FRAME)
    expected = ELMIntervalRegressor(10, noise="squared", alpha=1.0, random_state=0)
    expected.partial_fit(features[:80], Y[:80]).partial_fit(features[80:], Y[80:])
    expected.refresh(features, Y)
    same(model.predict_interval(NEW), expected.predict_interval(model.encoder_.transform(NEW)))


def test_a_file_whose_names_do_not_fit_the_encoder_is_refused(tmp_path):
    model = ELMRegressor(5, random_state=0).fit(FRAME, Y)
    for change in ({"given": 3}, {"given_names": np.array(["a"], dtype=object)}):
        forged = copy.deepcopy(model)
        forged.fitted_ = replace(model.fitted_, inputs=model.fitted_.inputs._replace(**change))
        with pytest.raises(ValueError, match="cannot be saved"):
            forged.save(tmp_path / "forged.safetensors")
