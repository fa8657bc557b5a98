"""Views of heavy-tailed inputs, tips and metrics: what default models are made of."""

from dataclasses import replace

import numpy as np
import pytest
from exported import Session, assert_close, assert_same_intervals, computed, tolerance
from hypothesis import given
from hypothesis import strategies as st

from elmband import ELMClassifier, ELMIntervalRegressor, ELMRegressor, ELMSelectiveClassifier
from elmband.layers.hidden import FeatureMap, HiddenLayer, LayerSpec
from elmband.layers.neurons import Neurons
from elmband.layers.relevance import Relevance
from elmband.layers.views import CLIPPED, RANKED, STANDARD, RankScores, SoftClip
from elmband.models.onnx_export._graph import Graph, Port
from elmband.models.onnx_export._hidden import hidden_outputs
from elmband.models.onnx_export._proto import About, model_proto
from elmband.models.onnx_export._views import viewed
from elmband.stacks import search
from elmband.stacks.families import learned_specs
from elmband.sums.scaling import Scaling

DTYPES = ("float64", "float32")
VIEWS = (STANDARD, CLIPPED, RANKED)


def heavy(n=200, dtype="float64", seed=0):
    """Return rows with heavy tails, few values, two, and one; targets; rows of which some are far.

    Targets depend on ranks, and jump.
    """
    rng = np.random.default_rng(seed)

    def draw(n):
        tails = np.sinh(2.5 * rng.standard_normal((n, 2)))
        few = rng.integers(0, 5, size=(n, 1))
        return np.hstack([tails, few, rng.random((n, 1)) < 0.3, np.full((n, 1), 7.0)])

    X, new = draw(n), draw(100)
    far = draw(20) * np.array([1e4, -1e4, 3, 1, 1])
    y = np.arcsinh(X[:, 0]) + np.tanh(X[:, 1]) * X[:, 3] + 0.3 * rng.standard_normal(n)
    other = new[:10] + np.array([0, 0, 0.5, 0.3, 1.0])
    return X.astype(dtype), y, np.concatenate([new, far, other]).astype(dtype)


def applied(function, values):
    """Return what a function of tensors makes of rows, in their own dtype."""
    graph = Graph(17)
    x = graph.input(Port("X", values.dtype, ("n", values.shape[1]), ""))
    y = function(x)
    graph.output("y", y, ("n", "k"), "")
    return Session(model_proto(graph, About("", {})))(values)["y"]


def learned(kind, dtype="float64"):
    Z = heavy()[0]
    view = kind.of(Z, np.ones(len(Z)))
    return view.to(Z.astype(dtype), np.dtype(dtype))


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("kind", [SoftClip, RankScores])
def test_views_of_rows_near_and_far(kind, dtype):
    X, _, new = heavy(dtype=dtype)
    view = learned(kind, dtype)
    for rows in (X, new, 1e10 * new, new[:1], new[:0], -new * 1e-8):
        found = applied(lambda Z: viewed(Z, view), rows)
        assert found.dtype == rows.dtype
        # Comparisons are those of Python, and so is all arithmetic but for the last digit.
        np.testing.assert_allclose(found, view(rows), rtol=3 * np.finfo(dtype).eps, atol=1e-300)


def test_knots_have_their_scores():
    view = learned(RankScores)
    found = applied(lambda Z: viewed(Z, view), np.ascontiguousarray(view.knots))
    np.testing.assert_allclose(found, view.scores, rtol=1e-15)


@pytest.mark.slow
@given(
    knots=st.lists(st.floats(-5, 5), min_size=2, max_size=64, unique=True),
    z=st.lists(st.floats(-20, 20), min_size=1, max_size=20),
)
def test_any_number_of_knots_is_interpolated(knots, z):
    knots = np.sort(knots)
    scores = np.cumsum(np.random.default_rng(0).random(len(knots)))
    view = RankScores(knots[:, None], scores[:, None])
    found = computed(lambda Z: viewed(Z, view), z)
    inside = np.interp(z, knots, scores)
    rise = (scores[-1] - scores[0]) / (knots[-1] - knots[0])
    beyond = np.asarray(z) - np.clip(z, knots[0], knots[-1])
    np.testing.assert_allclose(found, inside + rise * beyond, rtol=1e-12, atol=1e-12)


def test_knots_that_are_equal_are_a_step():
    view = RankScores(np.array([[0.0], [1], [1], [2]]), np.array([[0.0], [1], [3], [4]]))
    z = [0.5, np.nextafter(1, 0), 1.0, 1.5, 5.0]
    found = computed(lambda Z: viewed(Z, view), z)
    np.testing.assert_allclose(found, view(np.array(z)[:, None])[:, 0])
    np.testing.assert_allclose(found, [0.5, 1, 3, 3.5, 10])


def test_what_lies_between_is_not_larger_than_the_rows():
    """No operator compares all rows with all knots."""
    graph = Graph(17)
    x = graph.input(Port("X", np.dtype("float64"), ("n", 5), ""))
    graph.output("y", viewed(x, learned(RankScores)), ("n", 5), "")
    nodes, constants = graph.used()
    assert len(nodes) < 40
    assert max(constant.ndim for constant in constants.values()) == 1


def test_members_with_the_same_view_look_it_up_once():
    graph = Graph(17)
    x = graph.input(Port("X", np.dtype("float64"), ("n", 5), ""))
    first, second = (viewed(x, learned(RankScores)) for _ in range(2))
    assert first.name == second.name


def neurons(kind, inputs=5, seen=None, count=4):
    """Return random neurons with or without a metric."""
    rng = np.random.default_rng(1)
    metric = None if seen is None else rng.standard_normal((inputs, seen))
    weights = rng.standard_normal((inputs if seen is None else seen, count))
    return Neurons(kind, weights, rng.uniform(0.5, 2, size=count), metric=metric)


def naive(block, rows):
    """Return what neurons of distances say of each row, one by one."""
    out = np.empty((len(rows), block.count))
    for i, z in enumerate(rows if block.metric is None else rows @ block.metric):
        for j, (c, b) in enumerate(zip(block.weights.T, block.bias, strict=True)):
            order = {"rbf_l1": 1, "rbf_linf": np.inf}.get(block.kind, 2)
            d = np.linalg.norm(z - c, order)
            out[i, j] = np.exp(-d / b if block.kind == "laplace" else -0.5 * d**2 / b**2)
    return out


@pytest.mark.parametrize("count", [1, 4])
@pytest.mark.parametrize("seen", [None, 5, 2, 1])
@pytest.mark.parametrize("kind", ["laplace", "rbf_l2", "rbf_l1", "rbf_linf"])
def test_distances_in_a_metric(kind, seen, count):
    rows = np.random.default_rng(2).standard_normal((30, 5))
    block = neurons(kind, seen=seen, count=count)
    features = FeatureMap(Scaling(np.zeros(5), np.ones(5)), HiddenLayer((block,)))
    found = applied(lambda X: hidden_outputs(X, features), rows)
    np.testing.assert_allclose(found, naive(block, rows), rtol=1e-11)
    np.testing.assert_allclose(found, features.apply(rows), rtol=1e-12)


def test_a_tip_is_one_and_what_is_far_is_nothing():
    block = neurons("laplace")
    features = FeatureMap(Scaling(np.zeros(5), np.ones(5)), HiddenLayer((block,)))
    rows = np.concatenate([block.weights.T, np.full((1, 5), 1e5), np.full((1, 5), 1e150)])
    found = applied(lambda X: hidden_outputs(X, features), rows)
    # The root of the rounding unit.
    np.testing.assert_allclose(np.diagonal(found[:4]), 1, atol=1e-7)
    np.testing.assert_array_equal(found[4:], 0)


def test_a_width_that_float32_takes_for_one_is_not_dropped():
    block = replace(neurons("laplace", count=1), bias=np.array([1 + 1e-9]))
    features = FeatureMap(Scaling(np.zeros(5), np.ones(5)), HiddenLayer((block,)))
    rows = 40 * np.random.default_rng(2).standard_normal((30, 5))
    found = applied(lambda X: hidden_outputs(X, features), rows)
    np.testing.assert_allclose(found, features.apply(rows), rtol=1e-12)


def members(n_inputs):
    """Return layers of every view, blind ones and such as have learned."""
    A = np.random.default_rng(3).standard_normal((n_inputs, n_inputs))
    relevance = Relevance(A @ A.T / np.trace(A @ A.T))
    tip = LayerSpec((("laplace", 12),), relevance=relevance, placed=True, passes=True)
    return [
        replace(spec, view=view)
        for view in VIEWS
        for spec in (
            LayerSpec((("tanh", 10),), placed=True, max_inputs=3),
            tip,
            replace(tip, shape="diagonal", weight_scale=4.0),
            LayerSpec((("rbf_l2", 8),), relevance=relevance),
            LayerSpec((("tanh", 8),), relevance=relevance, placed=True),
        )
    ]


@pytest.fixture
def every_member(monkeypatch):
    """Let a search find layers of every view, whatever their weights."""
    monkeypatch.setattr(search, "blind_specs", lambda *_: members(5))
    monkeypatch.setattr("elmband.stacks.ensemble._LEAST_WEIGHT", 0.0)

    def equal(products, _):
        return np.full(len(products), 1 / len(products))

    monkeypatch.setattr("elmband.stacks.ensemble._nonnegative", equal)


def fitted(kind, dtype, **options):
    X, y, _ = heavy(dtype=dtype)
    if "Classifier" in kind.__name__:
        y = y > 0.2
    return kind(learning_rounds=0, random_state=0, **options).fit(X, y)


def check_members(model):
    """Check that the model is made of what the tests are about."""
    features = [member.features for member in model.members_]
    assert {type(one.view) for one in features} == {type(None), SoftClip, RankScores}
    blocks = [block for one in features for block in one.hidden.blocks]
    assert any(block.kind == "laplace" and block.metric is not None for block in blocks)
    assert any(block.passes for block in blocks)


@pytest.mark.one_quick
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.usefixtures("every_member")
def test_point_models_of_every_view(dtype):
    _, y, new = heavy(dtype=dtype)
    model = fitted(ELMRegressor, dtype)
    check_members(model)
    assert_close(Session.of(model)(new)["mean"], model.predict(new), np.std(y))


@pytest.mark.slow
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.usefixtures("every_member")
def test_intervals_of_every_view(dtype):
    _, y, new = heavy(dtype=dtype)
    model = fitted(ELMIntervalRegressor, dtype)
    check_members(model)
    assert_same_intervals(model, new, np.std(y), (0.5, 0.95))


@pytest.mark.slow
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("kind", [ELMClassifier, ELMSelectiveClassifier])
@pytest.mark.usefixtures("every_member")
def test_classes_of_every_view(kind, dtype):
    new = heavy(dtype=dtype)[2]
    model = fitted(kind, dtype, **({"coverage": 0.5} if kind is ELMSelectiveClassifier else {}))
    check_members(model)
    found = Session.of(model)(new)
    np.testing.assert_array_equal(found["label"], model.predict(new))
    assert_close(found["probability"], model.predict_proba(new).astype(dtype), 1.0)
    if kind is ELMSelectiveClassifier:
        confidence = model.confidence(new)
        error = np.abs(found["confidence"] - confidence) / (np.abs(confidence) + 1)
        assert error.max() < {"float64": tolerance(model), "float32": 1e-4}[dtype]


@pytest.mark.slow
@pytest.mark.parametrize("dtype", DTYPES)
def test_models_of_a_search_on_heavy_tails(dtype, monkeypatch):
    """Neurons with a tip have no rivals among those that learn, and weak ones among the blind."""
    blind = [LayerSpec((("tanh", 20),), view=view) for view in VIEWS]
    monkeypatch.setattr(search, "blind_specs", lambda *_: blind)

    def tips(*args):
        return [spec for spec in learned_specs(*args) if spec.counts[0][0] == "laplace"]

    monkeypatch.setattr(search, "learned_specs", tips)
    X, _, new = heavy(500, dtype)
    rng = np.random.default_rng(5)
    ranks = np.argsort(np.argsort(X[:, 0])) / 500
    y = np.sign(np.sin(9 * ranks)) + 0.1 * rng.standard_normal(500)
    model = ELMIntervalRegressor(learning_rounds=2, random_state=0).fit(X, y)
    features = [member.features for member in model.members_]
    assert any(isinstance(one.view, RankScores) for one in features)
    blocks = [block for one in features for block in one.hidden.blocks]
    assert any(block.kind == "laplace" and block.metric is not None for block in blocks)
    mean = Session.of(model)(new)["mean"]
    assert_close(mean, model.predict(new), np.std(y))
    # Variances depend steeply on the rows where the mean jumps, and magnify rounding.
    assert_same_intervals(model, new, np.std(y), (0.5, 0.95), times=10)


@pytest.mark.slow
@pytest.mark.usefixtures("every_member")
def test_rows_with_missing_numbers_have_no_answer():
    new = heavy()[2][:4]
    run = Session.of(fitted(ELMIntervalRegressor, "float64"))
    expected = run(new)
    for odd in (np.nan, np.inf, -np.inf):
        rows = new.copy()
        rows[1, 0] = odd
        for name, values in run(rows).items():
            assert np.isnan(values[1])
            np.testing.assert_array_equal(values[[0, 2, 3]], expected[name][[0, 2, 3]])
