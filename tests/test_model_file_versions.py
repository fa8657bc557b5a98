"""Models that were saved by every version that was released are loaded by this one."""

import json
from pathlib import Path

import numpy as np
import pytest

from elmband import __version__, load
from elmband.estimators._saved import stored
from models import make, zoo

FOLDER = Path(__file__).parent / "models"
FILES = sorted(FOLDER.glob("*/*.safetensors"))


def named(path):
    return f"{path.parent.name}/{path.stem}"


@pytest.mark.parametrize("path", FILES, ids=named)
def test_a_model_of_a_release_predicts_as_it_did(path):
    """Libraries of other years and machines add up in another order: the last digits may differ."""
    model = load(path)
    known = json.loads(path.with_suffix(".json").read_text())
    assert known["answers"].keys() >= {"predict"}
    for name, answer in known["answers"].items():
        options = {"confidence_level": 0.6} if name == "predict_interval" else {}
        found = np.asarray(getattr(model, name)(np.array(known["X"]), **options))
        expected = np.asarray(answer)
        if found.dtype.kind == "f":
            tolerance = 1e-12 if model.fitted_.training.dtype is np.float64 else 1e-6
            np.testing.assert_allclose(found, expected, rtol=tolerance, atol=tolerance)
        else:
            np.testing.assert_array_equal(found, expected)


@pytest.mark.one_quick
@pytest.mark.parametrize("path", FILES, ids=named)
def test_a_model_of_a_release_can_be_saved_again(path, tmp_path):
    again = load(path).save(tmp_path / "again")
    np.testing.assert_array_equal(load(again).predict(make.NEW), load(path).predict(make.NEW))


def test_every_release_has_models_of_all_kinds():
    folders = [path for path in FOLDER.iterdir() if path.is_dir() and path.name[0].isdigit()]
    assert __version__ in {folder.name for folder in folders}
    for folder in folders:
        kinds = {type(load(path)).__name__ for path in folder.glob("*.safetensors")}
        assert kinds >= {type(zoo.fitted(name)).__name__ for name in zoo.KINDS}
        assert all(path.stat().st_size < 30_000 for path in folder.iterdir())


@pytest.mark.slow
def test_the_script_makes_what_is_there():
    folder = FOLDER / __version__
    assert {path.stem for path in folder.iterdir()} == make.models().keys()
    for name, model in make.models().items():
        kept = load(folder / f"{name}.safetensors")
        assert type(kept) is type(model)
        # A version under development may have new parameters, with defaults, and new parts.
        assert stored(kept).state.keys() <= stored(model).state.keys()
        assert kept.get_params() == model.get_params()
