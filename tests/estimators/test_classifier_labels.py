"""Labels of all kinds, and labels that cannot be."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy.sparse import csr_array
from sklearn import config_context
from sklearn.exceptions import DataConversionWarning

from elmband import ELMClassifier

RNG = np.random.default_rng(0)
N = 120
X = RNG.standard_normal((N, 4))
SCORE = X[:, 0] + X[:, 1] * X[:, 2] + 0.5 * RNG.standard_normal(N)
TWO = (SCORE > 0).astype(int)
MANY = np.digitize(SCORE, [-0.8, 0, 1])
LABELS = np.column_stack([SCORE > 0, X[:, 3] > 0.3, SCORE + X[:, 3] > 1]).astype(int)
NEW = RNG.standard_normal((50, 4))

NAMES = np.array(["ash", "birch", "oak", "willow"])
KINDS = {
    "text": NAMES,
    "objects": NAMES.astype(object),
    "list": NAMES,
    "whole": np.array([-7, 0, 3, 1000]),
    "small": np.array([0, 1, 2, 250], dtype=np.uint8),
    "floats": np.array([-1.0, 0.0, 1.0, 5.0]),
    "bool": np.array([False, True]),
    "pandas": NAMES,
    "pandas category": NAMES,
    "pandas Int64": np.arange(4),
    "polars": NAMES,
    "polars category": NAMES,
    "polars whole": np.arange(4),
    "polars floats": np.arange(4.0),
}


def given(kind, y):
    """Return labels as somebody may give them."""
    if kind == "list":
        return y.tolist()
    if kind.startswith("pandas"):
        dtypes = {"pandas category": "category", "pandas Int64": "Int64"}
        return pd.Series(y, index=np.arange(N)[::-1], dtype=dtypes.get(kind))
    if kind.startswith("polars"):
        return pl.Series(y, dtype=pl.Categorical if kind == "polars category" else None)
    return y


@pytest.mark.one_quick
@pytest.mark.parametrize("kind", KINDS)
def test_labels_may_be_of_any_kind(kind):
    labels = KINDS[kind]
    places = TWO if kind == "bool" else MANY
    model = ELMClassifier(20, random_state=0).fit(X, given(kind, labels[places]))
    np.testing.assert_array_equal(model.classes_, labels)
    plain = ELMClassifier(20, random_state=0).fit(X, places)
    np.testing.assert_array_equal(model.predict(NEW), labels[plain.predict(NEW)])
    np.testing.assert_array_equal(model.predict_proba(NEW), plain.predict_proba(NEW))


@pytest.mark.one_quick
@pytest.mark.parametrize(
    "several",
    [
        LABELS.tolist(),
        LABELS.astype(bool),
        LABELS.astype(float),
        csr_array(LABELS),
        pd.DataFrame(LABELS, columns=list("abc")),
        pl.DataFrame(LABELS),
    ],
    ids=lambda y: type(y).__name__,
)
def test_several_labels_may_be_of_any_kind(several):
    model = ELMClassifier(20, random_state=0).fit(X, several)
    np.testing.assert_array_equal(model.classes_, [0, 1, 2])
    expected = ELMClassifier(20, random_state=0).fit(X, LABELS).predict(NEW)
    np.testing.assert_array_equal(model.predict(NEW), expected)
    assert model.predict(NEW).dtype == np.int64


def test_a_column_is_taken_with_a_warning():
    with pytest.warns(DataConversionWarning, match="column-vector"):
        model = ELMClassifier(20, random_state=0).fit(X, TWO[:, None])
    np.testing.assert_array_equal(model.classes_, [0, 1])


def test_text_is_learned_from_arrays_of_any_library(xp):
    model = ELMClassifier(20, random_state=0).fit(X, NAMES[MANY])
    expected = model.predict(NEW)
    with config_context(array_api_dispatch=True):
        actual = model.fit(xp.asarray(X), NAMES[MANY]).predict(xp.asarray(NEW))
    np.testing.assert_array_equal(actual, expected)


@pytest.mark.parametrize(
    ("y", "sentence"),
    [
        (None, "requires y to be passed, but the target y is None"),
        (3, "must have one label for every row of X; got 3"),
        ("oak", "must have one label for every row of X; got 'oak'"),
        (TWO[:-1], "X has 120 rows, y has 119"),
        (0 * TWO, "rows of one class only; a classifier needs two"),
        (SCORE, "Unknown label type: continuous"),
        (np.where(TWO == 1, np.nan, 0.0), "y contains NaN"),
        (np.where(TWO == 1, np.inf, 0.0), "y contains infinity"),
        (np.where(TWO == 1, None, "oak"), "missing labels or mixes types"),
        (np.where(TWO == 1, np.nan, np.array("oak", dtype=object)), "contains NaN"),
        (pd.Series(NAMES[MANY]).where(TWO == 1), "contains NaN"),
        (pl.Series([None if k else k for k in TWO.tolist()]), "y contains NaN"),
        (np.column_stack([MANY, MANY]), "y should be a 1d array"),
        (2 * LABELS - 1, "hold 0 and 1; column . of y holds -1"),
        (1 + LABELS, "hold 0 and 1; column . of y holds 2"),
        (np.column_stack([SCORE, SCORE]), "Unknown label type: continuous-multioutput"),
    ],
)
def test_labels_that_cannot_be_are_refused(y, sentence):
    with pytest.raises(ValueError, match=sentence):
        ELMClassifier(20).fit(X, y)
