#!/usr/bin/env python
"""Write the models of a release: every later version has to load them.

    python tests/models/make.py

writes small models of each estimator, and beside each what it predicts, into a folder that is
named by the version. Run it for every release, when its version is set, and commit the folder;
never change it afterwards. Only that of a version under development is made anew, and gives way to
that of the release. `tests/test_model_file_versions.py` loads the models of all folders.

What that asks of a change to the code: classes in `elmband.models.model_file.KINDS` keep their
names, a new field of theirs has a default, and so has a new attribute of an estimator. A change
that cannot keep to this raises `elmband.models.model_file.FORMAT`, and `load` goes on to read what
older ones wrote.
"""

import json
from dataclasses import replace
from pathlib import Path
from unittest.mock import patch

import numpy as np

from elmband import (
    ELMClassifier,
    ELMIntervalRegressor,
    ELMRegressor,
    ELMSelectiveClassifier,
    __version__,
)
from elmband.layers.hidden import LayerSpec
from elmband.layers.relevance import Relevance
from elmband.layers.views import CLIPPED, RANKED, STANDARD

RNG = np.random.default_rng(0)
N = 40
X = RNG.uniform(-2, 2, size=(N, 3))
Y = np.sin(2 * X[:, 0]) + X[:, 1] + (0.2 + 0.3 * np.abs(X[:, 2])) * RNG.standard_normal(N)
NEW = np.round(RNG.uniform(-2, 2, size=(5, 3)), 3)
TWO = np.array(["no", "yes"])[(Y > 0).astype(int)]
THREE = np.digitize(Y, [-0.5, 0.7])
SMALL = {"noise_neurons": 3, "random_state": 0}


def models():
    """Return models by their names."""
    mix = {"linear": 3, "sigmoid": 2, "rbf_l2": 2}
    published = ELMIntervalRegressor(4, noise="squared", random_state=0)
    positive = ELMIntervalRegressor(4, target_transform="box-cox", symmetric=False, **SMALL)
    grown = ELMRegressor(4, random_state=0).partial_fit(X[:20], Y[:20]).partial_fit(X[20:], Y[20:])
    promise = ELMSelectiveClassifier({"linear": 3}, max_error=0.4, **SMALL).fit(X, TWO)
    return {
        "layer": ELMRegressor(mix, random_state=0).fit(X, Y),
        "stack": ELMRegressor(4, n_estimators=2, random_state=0).fit(X, np.stack([Y, -Y], axis=1)),
        "grown": grown,
        "float32": ELMRegressor(4, random_state=0).fit(X.astype(np.float32), Y.astype(np.float32)),
        "interval": ELMIntervalRegressor(4, **SMALL).fit(X, Y),
        "published": published.fit(X, Y),
        "conformal": ELMIntervalRegressor(4, **SMALL).fit(X[:20], Y[:20]).calibrate(X[20:], Y[20:]),
        "box-cox": positive.fit(X, np.exp(Y)),
        "classes": ELMClassifier(4, random_state=0).fit(X, THREE),
        "labels": ELMClassifier(4, random_state=0).fit(X, np.stack([Y > 0, Y > 1], 1).astype(int)),
        "estimate": ELMSelectiveClassifier(4, coverage=0.5, **SMALL).fit(X, THREE),
        "learned": learned(ELMRegressor(learning_rounds=0, random_state=0)),
        "promise": promise.calibrate(X, TWO, confidence_level=0.8),
    }


def learned(model):
    """Fit a model of few neurons that have learned, on every view of inputs with heavy tails."""
    relevance = Relevance(np.array([[0.5, 0.1, 0.0], [0.1, 0.3, 0.0], [0.0, 0.0, 0.2]]))
    tip = LayerSpec((("laplace", 2),), relevance=relevance, placed=True, passes=True)
    specs = [replace(tip, view=view) for view in (STANDARD, CLIPPED, RANKED)]
    with (
        patch("elmband.stacks.search.blind_specs", lambda *_: specs),
        patch("elmband.stacks.ensemble._nonnegative", lambda A, _: np.full(len(A), 1 / len(A))),
    ):
        return model.fit(X**9, Y)


METHODS = ("predict", "predict_interval", "predict_variance", "predict_proba", "confidence")


def answers(model):
    """Return what a model says of new rows."""
    # At levels that need no more rows than there are.
    options = {"predict_interval": {"confidence_level": 0.6}}
    return {
        name: np.asarray(getattr(model, name)(NEW, **options.get(name, {}))).tolist()
        for name in METHODS
        if hasattr(model, name)
    }


def main():
    folder = Path(__file__).parent / __version__
    folder.mkdir(exist_ok="dev" in __version__)
    for name, model in models().items():
        model.save(folder / f"{name}.safetensors")
        known = {"X": NEW.tolist(), "answers": answers(model)}
        (folder / f"{name}.json").write_text(json.dumps(known) + "\n")


if __name__ == "__main__":
    main()
