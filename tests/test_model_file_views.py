"""Views and metrics in model files: what they must be like, and what is refused."""

import copy

import numpy as np
import pytest

from elmband import load
from elmband.layers.neurons import Neurons
from elmband.layers.views import RankScores, SoftClip
from elmband.models.model_file import KINDS
from models import zoo
from models.forged import forge, parts

SENTENCE = r"is no model file, or it is damaged or was changed\.$|its model does not work\.$"
LEARNED = ("learned", "learned intervals", "learned classes", "learned abstention")
ROWS = np.concatenate([np.sinh(3 * zoo.NEW), 1e6 * zoo.NEW, zoo.NEW * 0])


@pytest.fixture(scope="module")
def original(tmp_path_factory):
    """Return header and arrays of a model with every view."""
    folder = tmp_path_factory.mktemp("original")
    return lambda name="learned": parts(zoo.fitted(name).save(folder / "model"))


def refused(path):
    with pytest.raises(ValueError, match=SENTENCE) as caught:
        load(path)
    assert str(caught.value).startswith(str(path))
    assert "\n" not in str(caught.value)
    return str(caught.value.__cause__)


def of_kind(tree, kind):
    """Yield the parts of all values of a kind."""
    if isinstance(tree, dict):
        if tree.get("kind") == kind.__name__ and "parts" in tree:
            yield tree["parts"]
        for part in tree.values():
            yield from of_kind(part, kind)
    elif isinstance(tree, list):
        for part in tree:
            yield from of_kind(part, kind)


@pytest.mark.parametrize("name", LEARNED)
def test_models_of_every_view_come_back_as_they_were(name, tmp_path):
    model = zoo.fitted(name)
    again = load(model.save(tmp_path / "model"))
    for mine, theirs in zip(model.members_, again.members_, strict=True):
        assert type(mine.features.view) is type(theirs.features.view)
        for one, other in zip(
            mine.features.hidden.blocks, theirs.features.hidden.blocks, strict=True
        ):
            assert (one.metric is None) == (other.metric is None)
    np.testing.assert_array_equal(again.predict(ROWS), model.predict(ROWS))
    if hasattr(model, "predict_interval"):
        np.testing.assert_array_equal(
            again.predict_interval(ROWS, 0.6), model.predict_interval(ROWS, 0.6)
        )


def changed(original, kind, name, change):
    """Return a header and arrays in which one array of a kind is another."""
    header, arrays = copy.deepcopy(original)
    part = next(one for one in of_kind(header["state"], kind) if one[name] is not None)
    array = arrays[part[name]["array"]].reshape(part[name]["shape"])
    new = np.ascontiguousarray(change(array.copy()))
    part[name] = {"array": "new", "shape": list(new.shape)}
    return header, arrays | {"new": new.reshape(-1)}


def put(value, *place):
    def change(array):
        array[place] = value
        return array

    return change


WIDER = [
    ("a column more", lambda a: np.concatenate([a, a[..., :1]], axis=-1)),
    ("a column less", lambda a: a[..., :-1]),
    ("a single column", lambda a: a[..., :1]),
    ("no column", lambda a: a[..., :0]),
    ("an axis more", lambda a: a[None]),
    ("half precision", lambda a: a.astype(np.float16)),
]
ODD = [(str(odd), put(odd, ..., 0)) for odd in (np.nan, np.inf, -np.inf)]
ARRAYS = [
    *((RankScores, name) for name in ("knots", "scores")),
    *((SoftClip, name) for name in ("centre", "width", "mean", "spread")),
    (Neurons, "metric"),
]


@pytest.mark.parametrize(("kind", "name"), ARRAYS, ids=lambda part: getattr(part, "__name__", part))
@pytest.mark.parametrize(("how", "change"), WIDER + ODD, ids=lambda part: str(part)[:20])
def test_arrays_of_other_shapes_and_numbers_are_refused(
    original, kind, name, how, change, tmp_path
):
    header, arrays = changed(original(), kind, name, change)
    assert refused(forge(tmp_path / "model", header, arrays)), how


@pytest.mark.parametrize(
    ("kind", "name", "change", "said"),
    [
        (RankScores, "knots", lambda a: a[::-1], "not in order"),
        (RankScores, "scores", lambda a: a[::-1], "not in order"),
        (RankScores, "knots", put(-9.0, 20, 1), "not in order"),
        (RankScores, "knots", lambda a: np.repeat(a[:1], len(a), axis=0), "does not rise"),
        (RankScores, "knots", lambda a: a[:1], "does not rise"),
        (RankScores, "knots", lambda a: a[:0], "does not rise"),
        (RankScores, "knots", lambda a: a[:-1], "not as long"),
        (SoftClip, "width", put(0.0, 1), "not positive"),
        (SoftClip, "spread", put(-1.0, 1), "not positive"),
        (Neurons, "metric", lambda a: a.T[:2].T, "not as long"),
        (Neurons, "metric", lambda a: a[:2], "None"),
    ],
)
def test_what_no_view_can_be_like_is_refused(original, kind, name, change, said, tmp_path):
    header, arrays = changed(original(), kind, name, change)
    found = refused(forge(tmp_path / "model", header, arrays))
    assert said == "None" or said in found


def test_all_columns_of_knots_have_ends_apart(original, tmp_path):
    def flat(knots):
        knots[:, 2] = knots[0, 2]
        return knots

    header, arrays = changed(original(), RankScores, "knots", flat)
    assert "does not rise" in refused(forge(tmp_path / "model", header, arrays))


def test_a_view_of_single_numbers_does_not_fit_every_width(original, tmp_path):
    """Arrays of one number would be broadcast, and answer something."""
    header, arrays = copy.deepcopy(original())
    view = next(of_kind(header["state"], SoftClip))
    for name in view:
        view[name] = {"array": "one", "shape": [1]}
    refused(forge(tmp_path / "model", header, arrays | {"one": np.ones(1)}))


@pytest.mark.parametrize("kind", ["tanh", "linear", "sigmoid"])
def test_only_distances_have_a_metric(original, kind, tmp_path):
    header, arrays = copy.deepcopy(original())
    block = next(one for one in of_kind(header["state"], Neurons) if one["metric"] is not None)
    block["kind"] = kind
    refused(forge(tmp_path / "model", header, arrays))


@pytest.mark.parametrize(
    "value",
    [
        1,
        "ranked",
        True,
        {"tuple": []},
        {"kind": "Identity", "parts": {}},
        {"array": "a0", "shape": []},
    ],
    ids=str,
)
def test_a_view_is_a_view(original, value, tmp_path):
    header, arrays = copy.deepcopy(original())
    maps = [one for one in of_kind(header["state"], KIND_OF_MAPS) if one["view"] is not None]
    maps[0]["view"] = value
    refused(forge(tmp_path / "model", header, arrays | {"a0": np.zeros(1)}))


KIND_OF_MAPS = next(kind for kind in KINDS if kind.__name__ == "FeatureMap")


def test_views_and_metrics_of_noise_models_fit_too(original, tmp_path):
    """No fit gives them any, but a file might."""
    header, arrays = copy.deepcopy(original("learned intervals"))
    view = next(of_kind(header["state"], RankScores))
    noise = next(of_kind(header["state"]["_predictive"]["parts"]["noise"], KIND_OF_MAPS))
    noise["view"] = {"kind": "RankScores", "parts": copy.deepcopy(view)}
    refused(forge(tmp_path / "model", header, arrays))


def test_files_from_before_views_and_metrics_load(original, tmp_path):
    """They name neither, and mean none."""
    header, arrays = copy.deepcopy(original("every kind of neuron"))
    for one in of_kind(header["state"], KIND_OF_MAPS):
        assert one.pop("view") is None
    for one in of_kind(header["state"], Neurons):
        assert one.pop("metric") is None
    again = load(forge(tmp_path / "model", header, arrays))
    expected = zoo.fitted("every kind of neuron").predict(zoo.NEW)
    np.testing.assert_array_equal(again.predict(zoo.NEW), expected)
