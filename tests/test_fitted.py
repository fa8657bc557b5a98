"""The fitted value: frozen, of itself, and all that estimators know."""

import ast
import pickle
from dataclasses import FrozenInstanceError
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import elmband
from elmband import (
    ELMClassifier,
    ELMIntervalRegressor,
    ELMRegressor,
    ELMSelectiveClassifier,
)
from elmband.estimators.ask import Query
from elmband.models.classes import confidence_question, probability_question
from elmband.models.fitted import Fitted
from elmband.models.intervals import bounds, interval_question, mean_question, triage_question
from elmband.models.model_file import fitted_of, state_of
from models import zoo

ESTIMATORS = (ELMRegressor, ELMIntervalRegressor, ELMClassifier, ELMSelectiveClassifier)
ROOMS = Path(elmband.__file__).parent


def test_a_fitted_value_cannot_be_changed():
    model = zoo.fitted("default")
    with pytest.raises(FrozenInstanceError):
        model.fitted_.calibration = None
    for name in ("calibration_", "members_", "symmetric_", "target_transform_"):
        with pytest.raises(AttributeError):
            setattr(model, name, None)


def test_a_fitted_value_outlives_the_next_fit():
    model = zoo.logged().fit(zoo.X, zoo.Y)
    before, found = model.fitted_, model.predict_interval(zoo.NEW, 0.8)
    model.fit(-2 * zoo.X, zoo.Y + 5).calibrate(zoo.X, zoo.Y)
    parts = before.parts(zoo.NEW)
    again = np.stack(bounds(before, parts, 0.8, zoo.NEW), axis=2)[:, 0]
    np.testing.assert_array_equal(again, found)


@pytest.mark.parametrize("kind", ESTIMATORS)
def test_a_refused_fit_leaves_a_model_as_it_was(kind):
    y = zoo.TWO if "Classifier" in kind.__name__ else zoo.Y
    model = kind(6, random_state=0).fit(zoo.FRAME, y)
    found = model.predict(zoo.FRAME)
    other = pd.DataFrame(zoo.X[:, :2], columns=["here", "there"])
    with pytest.raises(ValueError, match="as many"):
        model.fit(other, y[:-1])
    assert model.n_features_in_ == 3
    np.testing.assert_array_equal(model.predict(zoo.FRAME), found)
    with pytest.raises(ValueError, match="as many"):
        model.fit(zoo.X[:, :2], y[:-1])
    assert model.feature_names_in_.tolist() == list(zoo.FRAME)


@pytest.mark.parametrize("name", zoo.KINDS)
def test_state_gives_the_same_value_again(name):
    fitted = zoo.fitted(name).fitted_
    again = fitted_of(state_of(fitted), symmetric=True, precision="auto")
    for field in Fitted.__dataclass_fields__:
        mine, theirs = getattr(fitted, field), getattr(again, field)
        # Groups of parts are made anew, what they hold is not.
        same = mine is theirs or mine == theirs
        assert same or vars(mine).keys() == vars(theirs).keys()
        assert same or all(vars(mine)[k] is vars(theirs)[k] for k in vars(mine))


@pytest.mark.parametrize(
    ("name", "question"),
    [
        ("layer", mean_question()),
        ("default", interval_question([0.5, 0.9])),
        ("default", triage_question(2.0, 0.9)),
        ("three classes", probability_question([0, 1, 2])),
        ("coverage", confidence_question()),
    ],
)
def test_questions_travel_without_what_they_do_not_need(name, question):
    model = zoo.fitted(name)
    asked = pickle.loads(pickle.dumps(Query.of(model, question, records=True)))  # noqa: S301
    here = Query.of(model, question, records=True)(zoo.NEW)
    np.testing.assert_array_equal(asked(zoo.NEW), here)
    assert asked.fitted.grown is None
    assert asked.fitted.notes.histograms is None


def test_estimators_stand_on_two_classes_of_this_package_at_most():
    for kind in ESTIMATORS:
        own = [base for base in kind.__mro__[1:] if base.__module__.startswith("elmband.")]
        assert len(own) <= 2


def test_fitted_values_do_without_scikit_learn():
    for path in sorted((ROOMS / "models").glob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            names = [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            names += [alias.name for alias in getattr(node, "names", [])]
            assert not any(name.split(".")[0] == "sklearn" for name in names), path


def test_nothing_reaches_behind_a_model():
    for room in ("report", "cli", "display", "models"):
        for path in sorted((ROOMS / room).rglob("*.py")):
            assert "SLF001" not in path.read_text(encoding="utf-8"), path
