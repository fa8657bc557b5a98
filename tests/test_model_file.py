"""Models that are saved and loaded are the same models, and files appear whole or not at all."""

import gc
import os
import tempfile
from dataclasses import fields, is_dataclass, replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import sklearn
from sklearn.base import clone

from elmband import ELMIntervalRegressor, ELMRegressor, ELMSelectiveClassifier, load, scan
from elmband.datasets import make_heteroscedastic
from elmband.estimators._saved import packed
from elmband.models import model_file
from elmband.sources.encode import TableEncoder
from models import zoo
from models.forged import forge, parts


def same(one, other):
    """Compare values to the bit, whatever they are made of."""
    assert type(one) is type(other)
    if isinstance(one, np.ndarray):
        assert one.dtype == other.dtype or one.dtype.newbyteorder("<") == other.dtype
        np.testing.assert_array_equal(one, other)
    elif is_dataclass(one):
        for field in fields(one):
            same(getattr(one, field.name), getattr(other, field.name))
    elif isinstance(one, tuple | list):
        assert len(one) == len(other)
        for mine, theirs in zip(one, other, strict=True):
            same(mine, theirs)
    elif isinstance(one, dict):
        assert list(one) == list(other)
        same(list(one.values()), list(other.values()))
    else:
        assert one == other or one != one  # noqa: PLR0124 - nan


QUESTIONS = {
    "predict": [{}, {"return_std": True}, {"confidence_level": [0.5, 0.9]}],
    "predict_interval": [{}, {"confidence_level": [0.5, 0.9]}],
    "predict_quantiles": [{}, {"quantiles": 0.3}],
    "predict_variance": [{}, {"confidence_level": 0.5}],
    "predict_proba": [{}],
    "decision_function": [{}],
    "confidence": [{}],
    "accept": [{}, {"max_width": 2.0}],
    "triage": [{}, {"max_width": 2.0}],
}
ATTRIBUTES = ("classes_", "member_weights_", "thresholds_", "statement_")
REFUSALS = (ValueError, TypeError, AttributeError)


def outcome(function, *args, **options):
    """Return what a method returns, or the sentence it refuses with."""
    try:
        return function(*args, **options)
    except REFUSALS as error:
        return f"{type(error).__name__}: {error}"


def answers(model, X=zoo.NEW):
    """Ask a model everything that it can be asked."""
    if hasattr(model, "feature_names_in_"):
        X = zoo.FRAME.iloc[:40].assign(left=X[:, 0])
    X = X.astype(model.fitted_.training.dtype) if isinstance(X, np.ndarray) else X
    found = {
        (method, *options): outcome(getattr(model, method), X, **options)
        for method, several in QUESTIONS.items()
        if hasattr(model, method)
        for options in several
    }
    found |= {name: outcome(getattr, model, name) for name in ATTRIBUTES}
    if hasattr(model, "evaluate"):
        y = model.predict(X)
        found["evaluate"] = outcome(model.evaluate, X, y)
    fitted = {name: value for name, value in vars(model).items() if name.endswith("_")}
    return found | fitted


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    """Return the file of a model, by its name."""
    folder = tmp_path_factory.mktemp("models")
    known = {}

    def file(name):
        if name not in known:
            known[name] = zoo.fitted(name).save(folder / f"{len(known)}.safetensors")
        return known[name]

    return file


@pytest.mark.filterwarnings("ignore:.*calibration rows are too few:UserWarning")
@pytest.mark.parametrize("name", zoo.MODELS)
def test_a_loaded_model_answers_as_before_to_the_bit(saved, name):
    mine, theirs = answers(zoo.fitted(name)), answers(load(saved(name)))
    assert mine.keys() == theirs.keys()
    for question, answer in mine.items():
        same(answer, theirs[question])
    assert zoo.fitted(name).get_params() == load(saved(name)).get_params()


def test_everything_that_predicts_is_asked():
    for name in ("default", "three classes", "coverage"):
        methods = {m for m in dir(zoo.fitted(name)) if m.startswith("predict")}
        assert methods <= set(QUESTIONS)


@pytest.mark.slow
@pytest.mark.parametrize("name", zoo.MODELS)
def test_a_loaded_model_is_saved_to_the_same_bytes(saved, name, tmp_path):
    """Text, arrays and what they share: nothing is lost, and nothing depends on chance."""
    again = load(saved(name)).save(tmp_path / "again.safetensors")
    assert again.read_bytes() == saved(name).read_bytes()


def blocks(value, known):
    """Gather the blocks of memory that a value is made of, each once."""
    if id(value) in known:
        return
    known[id(value)] = None
    if isinstance(value, np.ndarray):
        address = value.__array_interface__["data"][0] if value.flags.c_contiguous else id(value)
        known[id(value)] = address, value.nbytes
    elif isinstance(value, tuple | list):
        for part in value:
            blocks(part, known)
    elif is_dataclass(value):
        for field in fields(value):
            blocks(getattr(value, field.name), known)


# Words of any length have no memory of their own.
@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(zoo.MODELS.keys() - {"objects", "names of features"}))
def test_files_hold_every_array_once(saved, name):
    known = {}
    for value in vars(zoo.fitted(name)).values():
        blocks(value, known)
    arrays = packed(zoo.fitted(name)).arrays.values()
    size = sum(array.nbytes for array in arrays)
    assert size == sum(block[1] for block in set(known.values()) if block is not None)
    # The rest is text, of which a large model has no more than a small one.
    assert saved(name).stat().st_size < size + 10_000 + 1000 * len(arrays)


def test_what_is_shared_stays_shared(saved):
    stack = load(saved("default"))
    assert stack.fitted_.stack is stack.fitted_.predictive.stack
    assert stack.members_ is not None
    assert all(a is b for a, b in zip(stack.members_, stack.fitted_.stack.members, strict=True))
    noise = stack.fitted_.predictive.noise[0]
    assert noise.both is noise.above is noise.below
    layer = load(saved("refreshed"))
    assert layer.fitted_.layer.features is layer.fitted_.grown.features
    assert layer.hidden_ is layer.fitted_.grown.hidden is layer.noise_hidden_
    assert np.shares_memory(layer.covariance_, layer.fitted_.noise.mean_covariance)
    assert np.shares_memory(layer.noise_coef_, layer.fitted_.noise.layer.coef)


@pytest.mark.one_quick
@pytest.mark.parametrize(
    "make",
    [
        lambda **o: ELMRegressor(347, **o),
        lambda **o: ELMIntervalRegressor(347, **o),
        lambda **o: ELMIntervalRegressor({"linear": 1, "sigmoid": 346}, noise="squared", **o),
        ELMIntervalRegressor,
        lambda **o: ELMSelectiveClassifier(347, coverage=0.5, **o),
    ],
    ids=["layer", "log-variance", "published", "default", "abstention"],
)
def test_a_model_of_347_neurons_takes_less_than_5_megabytes(make, tmp_path):
    data = make_heteroscedastic(2000, random_state=0)
    model = make(random_state=0)
    y = data.y > data.y.mean() if hasattr(model, "coverage") else data.y
    assert model.fit(data.X, y).save(tmp_path / "model").stat().st_size < 5e6


@pytest.mark.parametrize("name", ["layer", "grown layer", "published", "refreshed", "stale"])
def test_rows_can_be_added_to_a_loaded_model(saved, name):
    mine, theirs = load(saved(name)), load(saved(name))
    del mine
    original = zoo.MODELS[name]()
    for model in (original, theirs):
        model.partial_fit(zoo.NEW, zoo.NEW_Y)
    same(original.predict(zoo.X), theirs.predict(zoo.X))
    if name == "refreshed":
        X, y = np.concatenate([zoo.X, zoo.NEW]), np.concatenate([zoo.Y, zoo.NEW_Y])
        same(answers(original.refresh(X, y)), answers(theirs.refresh(X, y)))


def test_classes_can_be_added_to_and_models_merged(saved):
    original, theirs = zoo.MODELS["grown classes"](), load(saved("grown classes"))
    for model in (original, theirs):
        model.partial_fit(zoo.NEW, np.arange(40) % 4)
    same(answers(original), answers(theirs))
    other = load(saved("untrained layer")).partial_fit(zoo.NEW, zoo.NEW_Y)
    both = zoo.merge(load(saved("layer")), other)
    expected = zoo.fitted("layer").untrained().partial_fit(zoo.NEW, zoo.NEW_Y)
    same(both.predict(zoo.X), zoo.merge(zoo.fitted("layer"), expected).predict(zoo.X))


def test_wishes_and_calibration_go_on_after_loading(saved):
    for name in ("coverage", "promise"):
        original, theirs = zoo.MODELS[name](), load(saved(name))
        for model in (original, theirs):
            model.choose(max_error=0.45)
        same(answers(original), answers(theirs))
    original, theirs = zoo.MODELS["log-variance"](), load(saved("log-variance"))
    for model in (original, theirs):
        model.calibrate(zoo.NEW, zoo.NEW_Y)
    same(original.predict_interval(zoo.X, 0.8), theirs.predict_interval(zoo.X, 0.8))


def test_models_of_scans_are_saved(tmp_path):
    model = zoo.read(tmp_path)
    same(answers(model), answers(load(model.save(tmp_path / "model"))))


@pytest.mark.parametrize("make", [zoo.regressor, zoo.classifier], ids=["numbers", "text"])
def test_models_of_tables_know_their_columns(make, tmp_path):
    table = zoo.FRAME.assign(
        kind=zoo.NAMES[zoo.THREE],
        day=pd.Timestamp("2024-01-01") + pd.to_timedelta(np.arange(zoo.N), "D"),
        gap=np.where(np.arange(zoo.N) % 7, zoo.Y, np.nan),
        y=zoo.Y if make is zoo.regressor else zoo.NAMES[zoo.TWO],
    )
    table.to_csv(tmp_path / "rows.csv", index=False)
    rows = scan(tmp_path / "rows.csv", target="y", encoder=TableEncoder())
    model = make().fit(rows)
    again = load(model.save(tmp_path / "model"))
    assert again.fitted_.inputs.encoder == model.fitted_.inputs.encoder
    assert again.encoder_.dropped_ == model.encoder_.dropped_
    new = scan(tmp_path / "rows.csv", target="y", encoder=again.encoder_)
    same(again.predict(new), model.predict(rows))
    assert again.save(tmp_path / "again").read_bytes() == (tmp_path / "model").read_bytes()
    header, arrays = parts(tmp_path / "model")
    columns = header["state"]["_encoder_state"]["parts"]["columns"]["tuple"]
    columns[0]["parts"]["gaps"] = True
    with pytest.raises(ValueError, match="does not work"):
        load(forge(tmp_path / "model", header, arrays))


@pytest.mark.torch
@pytest.mark.parametrize("name", ["regressor", "published", "logged", "classifier"])
def test_models_of_torch_are_loaded_on_numpy(name, tmp_path):
    torch = pytest.importorskip("torch")
    y = zoo.TWO if name == "classifier" else zoo.Y
    with sklearn.config_context(array_api_dispatch=True):
        model = getattr(zoo, name)().fit(torch.asarray(zoo.X), torch.asarray(y))
        expected = model.predict(torch.asarray(zoo.NEW)).numpy()
        again = load(model.save(tmp_path / "model"))
    assert isinstance(again.predict(zoo.NEW), np.ndarray)
    # Both libraries add up products of a few numbers in an order of their own.
    np.testing.assert_allclose(again.predict(zoo.NEW), expected, rtol=1e-12, atol=1e-12)
    if hasattr(model, "predict_interval"):
        with sklearn.config_context(array_api_dispatch=True):
            expected = model.predict_interval(torch.asarray(zoo.NEW)).numpy()
        np.testing.assert_allclose(again.predict_interval(zoo.NEW), expected, rtol=1e-6)
    again.save(tmp_path / "again")
    assert (tmp_path / "again").read_bytes() == (tmp_path / "model").read_bytes()


@pytest.mark.parametrize(
    ("options", "y", "reason"),
    [
        ({"activation": np.tanh}, zoo.Y, "in activation, a ufunc is neither number, text nor"),
        ({"n_neurons": {np.tanh: 5}}, zoo.Y, "in n_neurons, a ufunc is"),
        (
            {"target_transform": (np.log, np.exp)},
            zoo.POSITIVE,
            "in target_transform, a ufunc is",
        ),
    ],
)
def test_functions_are_refused_with_what_to_do(options, y, reason, tmp_path):
    model = ELMRegressor(**{"n_neurons": 5, **options}).fit(zoo.X, y)
    with pytest.raises(ValueError, match=f"^The model cannot be saved: {reason}.*; choose neurons"):
        model.save(tmp_path / "model")
    assert list(tmp_path.iterdir()) == []


class Derived(ELMRegressor):
    """A class of a user's own."""


def test_what_could_not_be_loaded_is_not_saved(tmp_path):
    model = zoo.MODELS["layer"]()
    model.note = "mine"
    with pytest.raises(ValueError, match="its attribute note is not one of an ELMRegressor; dele"):
        model.save(tmp_path / "model")
    with pytest.raises(ValueError, match="Derived is a class of your own"):
        Derived(5).fit(zoo.X, zoo.Y).save(tmp_path / "model")
    with pytest.raises(ValueError, match="not fitted yet"):
        ELMRegressor().save(tmp_path / "model")
    model = zoo.MODELS["layer"]()
    layer = replace(model.fitted_.mean, coef=model.coef_.astype(np.float32))
    model.fitted_ = replace(model.fitted_, mean=layer)
    with pytest.raises(ValueError, match=r"could not be loaded again \(coef_ is not of the ty"):
        model.save(tmp_path / "model")
    assert list(tmp_path.iterdir()) == []


def test_a_model_that_does_not_work_is_not_saved(tmp_path):
    model = zoo.MODELS["layer"]()
    layer = replace(model.fitted_.mean, coef=model.coef_[:-1])
    model.fitted_ = replace(model.fitted_, mean=layer)
    with pytest.raises(ValueError, match="could not be loaded again"):
        model.save(tmp_path / "model")


@pytest.mark.one_quick
@pytest.mark.parametrize("names", [("layer", "stack"), ("stack", "layer"), ("default", "wild")])
def test_models_that_were_fitted_before_on_something_else(names, tmp_path):
    """Attributes of the fit before may be left, of other features."""
    first, second = (zoo.fitted(name) for name in names)
    model = clone(first).fit(np.tile(zoo.X, 2), zoo.Y)
    model.set_params(**second.get_params()).fit(zoo.X, zoo.Y)
    again = load(model.save(tmp_path / "model"))
    same(again.predict(zoo.NEW), second.predict(zoo.NEW))


def test_a_parameter_set_after_the_fit_changes_no_answers_of_a_loaded_model(tmp_path):
    X, y = np.linspace(0, 1, 60)[:, None], np.linspace(0, 1, 60) ** 2
    model = ELMRegressor(10, random_state=0, precision="float32").fit(X, y)
    model.set_params(precision="auto")
    loaded = load(model.save(tmp_path / "m.safetensors"))
    assert loaded.precision == "auto"
    assert loaded.predict(X).dtype == model.predict(X).dtype == np.float32


def test_what_belongs_to_the_session_is_left_behind(tmp_path):
    with sklearn.config_context(enable_metadata_routing=True):
        model = zoo.regressor().set_fit_request(sample_weight=True).fit(zoo.X, zoo.Y)
    model.random_state = np.random.default_rng(0)
    again = load(model.save(tmp_path / "model"))
    assert again.random_state is None
    assert "_metadata_request" not in vars(again)
    same(again.predict(zoo.X), model.predict(zoo.X))
    # The model itself is as it was.
    assert isinstance(model.random_state, np.random.Generator)
    assert "_metadata_request" in vars(model)


def test_the_kinds_in_files_have_names_of_their_own():
    kinds = model_file.KINDS
    assert len({kind.__name__ for kind in kinds}) == len(kinds)


@pytest.mark.slow
def test_loading_does_not_depend_on_the_file_any_more(tmp_path):
    path = zoo.fitted("layer").save(tmp_path / "model")
    model = load(path)
    path.write_bytes(b"")
    path.unlink()
    gc.collect()
    same(model.predict(zoo.X), zoo.fitted("layer").predict(zoo.X))
    model.coef_[:] += 1  # Arrays are a user's own.


# Writing.


def test_the_path_is_returned_and_may_be_text(tmp_path):
    path = zoo.fitted("layer").save(str(tmp_path / "model.safetensors"))
    assert path == tmp_path / "model.safetensors"
    load(str(path))


def test_a_file_is_replaced_as_a_whole(tmp_path, monkeypatch):
    path = zoo.fitted("layer").save(tmp_path / "model")
    before = path.read_bytes()
    write = Path.write_bytes

    def full(self, content):
        write(self, content[: len(content) // 2])
        raise OSError(28, "No space left on device", str(self))

    with monkeypatch.context() as patch:
        patch.setattr(Path, "write_bytes", full)
        with pytest.raises(OSError, match="left as it was: No space left on device") as caught:
            zoo.fitted("two outputs").save(path)
    assert str(path) in str(caught.value)
    assert path.read_bytes() == before
    assert [p.name for p in tmp_path.iterdir()] == ["model"]
    zoo.fitted("two outputs").save(path)
    assert path.read_bytes() != before
    assert [p.name for p in tmp_path.iterdir()] == ["model"]


def test_places_that_cannot_be_written_are_named(tmp_path, monkeypatch):
    model = zoo.fitted("layer")
    with pytest.raises(IsADirectoryError, match="is a folder"):
        model.save(tmp_path)
    with pytest.raises(NotADirectoryError, match="does not exist; make it first"):
        model.save(tmp_path / "nowhere" / "model")

    def refuse(**_):
        raise OSError(30, "Read-only file system")

    monkeypatch.setattr(tempfile, "TemporaryFile", refuse)
    with pytest.raises(OSError, match="cannot be written to: Read-only file system"):
        model.save(tmp_path / "model")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.skipif(not hasattr(os, "symlink"), reason="no links")
def test_a_link_to_a_model_is_followed(tmp_path):
    path = zoo.fitted("layer").save(tmp_path / "model")
    (tmp_path / "link").symlink_to(path)
    load(tmp_path / "link")
