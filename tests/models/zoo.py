"""Fitted models of every kind that can be saved, each as small as it can be."""

from dataclasses import replace
from functools import cache

import numpy as np
import pandas as pd
import pytest

from elmband import (
    ELMClassifier,
    ELMIntervalRegressor,
    ELMRegressor,
    ELMSelectiveClassifier,
    merge,
    scan,
)
from elmband.layers.hidden import LayerSpec
from elmband.layers.relevance import Relevance
from elmband.layers.views import CLIPPED, RANKED, STANDARD, RankScores, SoftClip

RNG = np.random.default_rng(0)
N = 150
X = RNG.uniform(-2, 2, size=(N, 3))
Y = np.sin(2 * X[:, 0]) + X[:, 1] + (0.2 + 0.3 * np.abs(X[:, 2])) * RNG.standard_normal(N)
BOTH = np.stack([Y, Y**2 + X[:, 2]], axis=1)
POSITIVE = np.exp(Y)
NEW = RNG.uniform(-2, 2, size=(40, 3))
NEW_Y = RNG.standard_normal(40)
TWO = (Y > 0).astype(int)
THREE = np.digitize(Y, [-0.5, 0.7])
NAMES = np.array(["no", "perhaps", "yes"])
FRAME = pd.DataFrame(X, columns=["left", "right", "süd"])


def regressor(**options):
    return ELMRegressor(6, random_state=0, **options)


def published(**options):
    return ELMIntervalRegressor(6, noise="squared", random_state=0, **options)


def logged(**options):
    options = {"noise_neurons": 4, **options}
    return ELMIntervalRegressor(6, random_state=0, **options)


def classifier(**options):
    return ELMClassifier(6, random_state=0, **options)


def selective(**options):
    return ELMSelectiveClassifier(6, noise_neurons=4, random_state=0, **options)


def fast(**options):
    """Fit in the fast mode, which is for many rows: let few be many."""
    rows = np.random.default_rng(1).uniform(-2, 2, size=(400, 3))
    targets = np.sin(rows[:, 0]) + np.random.default_rng(2).standard_normal(400)
    model = ELMIntervalRegressor(80, noise="squared", mode="fast", random_state=0, **options)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("elmband.uncertainty.noise.sampled.SAMPLE_ROWS", 100)
        patch.setattr("elmband.uncertainty.noise.sampled.MOST_ERROR", 1.0)
        model.fit(rows, targets)
    assert model.fitted_.noise.low_rank is not None
    return model


def grown(model, y=Y, **options):
    """Add rows in two parts."""
    half = slice(0, N // 2), slice(N // 2, N)
    return model.partial_fit(X[half[0]], y[half[0]], **options).partial_fit(X[half[1]], y[half[1]])


def merged():
    first = classifier().partial_fit(X[:75], THREE[:75])
    return merge(first, first.untrained().partial_fit(X[75:], THREE[75:]))


def read(folder):
    np.save(folder / "rows.npy", np.column_stack([X, Y]))
    return published().fit(scan(folder / "rows.npy", target=-1, chunk_size=50))


def learned_specs(*_):
    """Return small layers of every view: blind ones, and such as have learned."""
    relevance = Relevance(np.array([[0.5, 0.1, 0.0], [0.1, 0.3, 0.0], [0.0, 0.0, 0.2]]))
    tip = LayerSpec((("laplace", 3),), relevance=relevance, placed=True, passes=True)
    return [
        *(replace(tip, view=view) for view in (STANDARD, CLIPPED, RANKED)),
        LayerSpec((("tanh", 3),), relevance=relevance, placed=True, view=RANKED),
        LayerSpec((("rbf_l2", 3),), relevance=relevance, shape="diagonal", view=CLIPPED),
    ]


def learned(model, y=Y):
    """Fit to heavy tails a model that has neurons of every kind that is learned."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("elmband.stacks.search.blind_specs", learned_specs)
        patch.setattr("elmband.stacks.search._FINAL_MEMBERS", 5)
        patch.setattr("elmband.stacks.ensemble._LEAST_WEIGHT", 0.0)
        patch.setattr(
            "elmband.stacks.ensemble._nonnegative", lambda A, _: np.full(len(A), 1 / len(A))
        )
        model.set_params(n_neurons="auto", learning_rounds=0).fit(np.sinh(3 * X), y)
    assert {type(member.features.view) for member in model.members_} == {
        *(type(None), SoftClip, RankScores)
    }
    assert len(model.members_) == 5
    return model


MIX = {"linear": 3, "tanh": 2, "sigmoid": 2, "relu": 2}
MIX |= {"rbf_l1": 2, "rbf_l2": 2, "rbf_linf": 2, "laplace": 2}

MODELS = {
    # Points.
    "layer": lambda: regressor().fit(X, Y),
    "every kind of neuron": lambda: ELMRegressor(MIX, density=0.7, random_state=0).fit(X, Y),
    "two outputs": lambda: regressor().fit(X, BOTH),
    "one output in a column": lambda: regressor().fit(X, Y[:, None]),
    "float32": lambda: regressor().fit(X.astype(np.float32), Y.astype(np.float32)),
    "stack": lambda: ELMRegressor(random_state=0).fit(X, Y),
    "stack of two, two outputs": lambda: regressor(n_estimators=2).fit(X, BOTH),
    "neurons selected": lambda: regressor(selection="op-elm").fit(X, Y),
    "log": lambda: regressor(target_transform="log").fit(X, POSITIVE),
    "logit": lambda: regressor(target_transform=("logit", -9, 9)).fit(X, Y),
    "names of features": lambda: regressor().fit(FRAME, Y),
    "weights": lambda: regressor(alpha=0.5).fit(X, Y, np.arange(N) % 3),
    "dual": lambda: ELMRegressor(200, random_state=0).fit(X, Y),
    "numbers of NumPy": lambda: regressor(alpha=np.float32(0.5), chunk_size=np.int64(50)).fit(X, Y),
    "grown layer": lambda: grown(regressor()),
    "untrained layer": lambda: regressor().fit(X, Y).untrained(),
    "learned": lambda: learned(regressor()),
    # Intervals.
    "learned intervals": lambda: learned(logged()),
    "default": lambda: ELMIntervalRegressor(random_state=0).fit(X, Y),
    "log-variance": lambda: logged().fit(X, Y),
    "normal": lambda: logged(calibration="gaussian").fit(X, Y),
    "tails": lambda: logged(symmetric=False).fit(X, BOTH),
    "groups": lambda: logged().fit(X, Y, groups=np.arange(N) // 3),
    "float32 intervals": lambda: logged().fit(X.astype(np.float32), Y.astype(np.float32)),
    "box-cox": lambda: logged(target_transform="box-cox").fit(X, POSITIVE),
    "log1p": lambda: logged(target_transform="log1p").fit(X, np.stack([POSITIVE, POSITIVE], 1)),
    "published": lambda: published(calibration="gaussian").fit(X, Y),
    "published, two outputs": lambda: published().fit(X, BOTH),
    "published, float32": lambda: published().fit(X.astype(np.float32), Y.astype(np.float32)),
    "noise layer": lambda: published(noise_neurons={"rbf_l2": 5}).fit(X, Y),
    "noise selected": lambda: published(selection="op-elm").fit(X, Y),
    "wild": lambda: published(covariance="wild").fit(X, Y),
    "fast": fast,
    "conformal": lambda: logged().fit(X[:90], Y[:90]).calibrate(X[90:], Y[90:]),
    "conformal tails": lambda: logged(symmetric=False).fit(X, Y).calibrate(X[90:], Y[90:]),
    "refreshed": lambda: grown(published()).refresh(X, Y),
    "stale": lambda: published().fit(X, Y).partial_fit(X, Y),
    "never fresh": lambda: grown(published()),
    # Classes.
    "two classes": lambda: classifier().fit(X, TWO),
    "three classes": lambda: classifier().fit(X, THREE),
    "text": lambda: classifier(class_weight="balanced").fit(X, NAMES[THREE]),
    "objects": lambda: classifier(class_weight={"no": 2.0}).fit(X, NAMES.astype(object)[THREE]),
    "true and false": lambda: classifier().fit(X, TWO == 1),
    "big-endian": lambda: classifier().fit(X, THREE.astype(">i4")),
    "labels": lambda: classifier().fit(X, np.stack([TWO, THREE > 0], axis=1).astype(int)),
    "stack of classes": lambda: ELMClassifier(random_state=0).fit(X, THREE),
    "grown classes": lambda: grown(classifier(), THREE, classes=[0, 1, 2, 3]),
    "merged classes": merged,
    "learned classes": lambda: learned(classifier(), THREE),
    # Abstention.
    "learned abstention": lambda: learned(selective(coverage=0.5), TWO),
    "coverage": lambda: selective(coverage=0.5).fit(X, TWO),
    "nothing asked": lambda: selective().fit(X, TWO),
    "max_error of three": lambda: selective(max_error=0.3).fit(X, NAMES[THREE]),
    "promise": lambda: selective(max_error=0.4).fit(X, TWO).calibrate(X, TWO),
    "promise by class": lambda: (
        selective(max_error=0.5, per_class=True).fit(X, TWO).calibrate(X, TWO)
    ),
    "promise of precision": lambda: (
        selective(min_precision=0.5, per_class=True, pos_label="yes")
        .fit(X, NAMES[[0, 2]][TWO])
        .calibrate(X, NAMES[[0, 2]][TWO], groups=np.arange(N).astype(str))
    ),
    "by the margin": lambda: selective(coverage=0.5, rank_by="margin").fit(X, TWO),
    "published abstention": lambda: ELMSelectiveClassifier(
        6, noise="squared", rank_by="interval", max_fpr=0.2, random_state=0
    ).fit(X, TWO),
    "refreshed abstention": lambda: grown(
        ELMSelectiveClassifier(6, noise="squared", coverage=0.5, random_state=0), TWO
    ).refresh(X, TWO),
}


@cache
def fitted(name):
    """Return a model by its name; tests do not change it."""
    return MODELS[name]()


def questions(name):
    """Return rows that a model can be asked about."""
    return (FRAME.iloc if name == "names of features" else X)[:40]


KINDS = ("layer", "default", "two classes", "coverage")
"""Names of one model of each estimator."""
