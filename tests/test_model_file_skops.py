"""skops: the class of the model has to be trusted, and nothing else."""

import numpy as np
import pytest
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from elmband import ELMIntervalRegressor, ELMRegressor
from elmband.estimators._saved import packed
from models import zoo

skops = pytest.importorskip("skops.io", reason="skops is not installed")


def type_name(model):
    return f"{type(model).__module__}.{type(model).__qualname__}"


@pytest.mark.slow
@pytest.mark.parametrize("name", zoo.MODELS)
def test_skops_has_to_trust_the_class_of_the_model_and_nothing_else(name):
    """It trusts scikit-learn's own classes only, and no other library can add to these."""
    model, X = zoo.fitted(name), zoo.questions(name)
    data = skops.dumps(model)
    assert skops.get_untrusted_types(data=data) == [type_name(model)]
    again = skops.loads(data, trusted=[type(model)])
    np.testing.assert_array_equal(again.predict(X), model.predict(X))
    assert packed(again).text == packed(model).text


def test_skops_in_a_pipeline():
    model = make_pipeline(StandardScaler(), zoo.published()).fit(zoo.X, zoo.Y)
    data = skops.dumps(model)
    assert skops.get_untrusted_types(data=data) == [type_name(model[-1])]
    again = skops.loads(data, trusted=[ELMIntervalRegressor])
    np.testing.assert_array_equal(again.predict(zoo.NEW), model.predict(zoo.NEW))


def test_skops_of_models_that_are_not_fitted():
    model = ELMRegressor(7)
    data = skops.dumps(model)
    assert skops.get_untrusted_types(data=data) == [type_name(model)]
    assert skops.loads(data, trusted=[ELMRegressor]).get_params() == model.get_params()


def test_skops_of_what_files_cannot_keep_names_every_type():
    model = ELMRegressor(5, activation=np.tanh, random_state=0).fit(zoo.X, zoo.Y)
    data = skops.dumps(model)
    unknown = skops.get_untrusted_types(data=data)
    assert "elmband.layers.neurons.Neurons" in unknown
    again = skops.loads(data, trusted=unknown)
    np.testing.assert_array_equal(again.predict(zoo.NEW), model.predict(zoo.NEW))
