"""Pickle for people who insist; plain state for tools that ask for it; pages for notebooks."""

import copy
import io
import json
import pickle

import joblib
import numpy as np
import pytest
import sklearn
from sklearn.base import clone

from elmband import ELMIntervalRegressor, ELMRegressor
from models import zoo


def by_joblib(model):
    buffer = io.BytesIO()
    joblib.dump(model, buffer)
    buffer.seek(0)
    return joblib.load(buffer)


WAYS = {
    **{f"pickle {n}": lambda model, n=n: pickle.loads(pickle.dumps(model, n)) for n in (0, 2, 5)},  # noqa: S301
    "joblib": by_joblib,
    "copy": copy.copy,
    "deepcopy": copy.deepcopy,
}


@pytest.mark.one_quick
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("name", ["layer", "names of features", "default", "refreshed", "promise"])
def test_models_can_be_pickled_and_copied(name, way):
    model, X = zoo.fitted(name), zoo.questions(name)
    again = WAYS[way](model)
    np.testing.assert_array_equal(again.predict(X), model.predict(X))
    assert vars(again).keys() == vars(model).keys()
    assert again is not model


@pytest.mark.parametrize("way", WAYS)
def test_pickles_keep_what_files_cannot(way):
    options = {"activation": np.tanh}, {"random_state": np.random.RandomState(0)}, {}
    for option in options:
        model = ELMRegressor(5, **option).fit(zoo.X, zoo.Y)
        if not option:
            model.note = "mine"
        again = WAYS[way](model)
        np.testing.assert_array_equal(again.predict(zoo.NEW), model.predict(zoo.NEW))
        assert again.activation is model.activation or again.activation == "tanh"
        assert type(again.random_state) is type(model.random_state)
        assert vars(again).keys() == vars(model).keys()


@pytest.mark.parametrize("way", WAYS)
def test_models_that_are_not_fitted_can_be_pickled(way):
    model = ELMIntervalRegressor(7, noise="squared")
    assert WAYS[way](model).get_params() == model.get_params()
    assert clone(WAYS[way](zoo.fitted("layer"))).get_params() == zoo.regressor().get_params()


class Forgetful(ELMRegressor):
    """A class of a user's own that says itself what is kept."""

    def __getstate__(self):
        return {**vars(self), "n_neurons": 0}


class Stubborn(ELMRegressor):
    """Another one, which is made anew."""

    def __reduce__(self):
        return Stubborn, (3,)


def test_classes_of_users_decide_for_themselves():
    again = WAYS["pickle 5"](Forgetful(5).fit(zoo.X, zoo.Y))
    assert again.n_neurons == 0
    assert hasattr(again, "coef_")
    assert WAYS["pickle 5"](Stubborn(5)).n_neurons == 3


@pytest.mark.torch
def test_pickles_of_torch_stay_in_torch():
    torch = pytest.importorskip("torch")
    with sklearn.config_context(array_api_dispatch=True):
        model = zoo.regressor().fit(torch.asarray(zoo.X), torch.asarray(zoo.Y))
        again = WAYS["pickle 5"](model)
        assert isinstance(again.predict(torch.asarray(zoo.NEW)), torch.Tensor)


@pytest.mark.parametrize(
    "change",
    [
        lambda state: state.update(elmband="{}"),
        lambda state: state.update(elmband=1),
        lambda state: state.update(arrays={}),
        lambda state: state.update(elmband=state["elmband"].replace("Regressor", "Classifier")),
        lambda state: state["arrays"].update(a0=np.zeros(7)),
    ],
)
def test_state_that_was_changed_is_refused(change):
    model = zoo.MODELS["layer"]()
    state = copy.deepcopy(model.__getstate__())
    assert json.loads(state["elmband"])["model"] == "ELMRegressor"
    change(state)
    with pytest.raises(ValueError, match=r"^The state of this ELMRegressor is damaged or was chan"):
        ELMRegressor.__new__(ELMRegressor).__setstate__(state)


# Notebooks.


@pytest.mark.parametrize("name", ["layer", "default", "refreshed", "text", "promise"])
def test_notebooks_show_fitted_models(name):
    model = zoo.fitted(name)
    page = model._repr_html_()
    assert type(model).__name__ in page
    assert "fitted" in page
    assert repr(model).startswith(type(model).__name__)
