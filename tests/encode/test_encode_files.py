"""Encoders in files of their own: they come back as they were, or are refused with a sentence."""

import random
from dataclasses import replace

import numpy as np
import pytest
from mixed import LIBRARIES, mixed
from test_encode_state import ENCODERS

from elmband import ELMRegressor, TableEncoder, load, scan
from elmband.sources.encode import ENCODER_KINDS, LevelsColumn, NumberColumn, TimeColumn
from elmband.sums.packed_file import Stored, pack, write

TABLE = mixed()
ENCODER = TableEncoder().fit(TABLE)
BROKEN = r"is damaged or was changed: its encoder does not work\.$"
DAMAGED = r"is no model file, or it is damaged or was changed\.$"


@pytest.mark.parametrize("name", list(ENCODERS))
def test_an_encoder_comes_back_as_it_was(name, tmp_path):
    encoder = ENCODERS[name]
    again = load(encoder.save(tmp_path / "encoder.safetensors"))
    assert isinstance(again, TableEncoder)
    assert again.state_ == encoder.state_
    assert again.get_params() == encoder.get_params()
    assert again.summary() == encoder.summary()


def test_it_encodes_the_same_in_every_library_and_in_a_scan(tmp_path):
    again = load(ENCODER.save(tmp_path / "encoder.safetensors"))
    expected = ENCODER.transform(TABLE)
    for given in LIBRARIES.values():
        np.testing.assert_array_equal(again.transform(given(TABLE)), expected)
    (chunk,) = scan(TABLE, encoder=again).chunks()
    np.testing.assert_array_equal(chunk.X, expected)


def test_an_encoder_that_is_not_fitted_is_not_saved(tmp_path):
    with pytest.raises(ValueError, match="not fitted"):
        TableEncoder().save(tmp_path / "encoder.safetensors")
    with pytest.raises(OSError, match="none"):
        ENCODER.save(tmp_path / "none" / "encoder.safetensors")
    assert not list(tmp_path.iterdir())


def forged(path, state, model="TableEncoder", **more):
    """Write what no encoder would."""
    kinds = {kind: {} for kind in ENCODER_KINDS}
    return write(path, pack(Stored(model, {"state_": state, **more}, "0"), kinds))


def changed(kind, /, **change):
    """Return the state with the first column of a kind changed."""
    place = next(j for j, column in enumerate(ENCODER.state_.columns) if isinstance(column, kind))
    columns = list(ENCODER.state_.columns)
    columns[place] = replace(columns[place], **change)
    return replace(ENCODER.state_, columns=tuple(columns))


@pytest.mark.parametrize(
    "state",
    [
        changed(NumberColumn, mean=np.nan),
        changed(NumberColumn, kind="text"),
        changed(NumberColumn, name="colour"),
        changed(LevelsColumn, shares=(1.0,)),
        changed(LevelsColumn, levels=("red", "red", "blue")),
        changed(TimeColumn, parts=("year", "moon")),
        changed(TimeColumn, means=(0.0,)),
        changed(TimeColumn, kind="numbers"),
        replace(ENCODER.state_, dtype="object"),
        replace(ENCODER.state_, columns=()),
        replace(ENCODER.state_, n_rows=-1.0),
        replace(ENCODER.state_, named=False),
        replace(ENCODER.state_, parameters={"max_levels": -3}),
        replace(ENCODER.state_, parameters={"system": "rm"}),
    ],
)
def test_states_that_no_fit_arrives_at_are_refused(state, tmp_path):
    path = forged(tmp_path / "encoder.safetensors", state)
    with pytest.raises(ValueError, match=BROKEN) as caught:
        load(path)
    assert str(caught.value).startswith(str(path))


def test_files_of_something_else_are_refused(tmp_path):
    path = tmp_path / "encoder.safetensors"
    forged(path, 3)
    with pytest.raises(ValueError, match=BROKEN):
        load(path)
    forged(path, ENCODER.state_, more=3)
    with pytest.raises(ValueError, match=BROKEN):
        load(path)
    forged(path, ENCODER.state_, "OrdinalEncoder")
    with pytest.raises(ValueError, match="unknown kind 'OrdinalEncoder'"):
        load(path)
    forged(path, ENCODER.state_, "ELMRegressor")
    with pytest.raises(ValueError, match="its model does not work"):
        load(path)


def test_every_change_of_a_file_is_found(tmp_path):
    path = ENCODER.save(tmp_path / "encoder.safetensors")
    content = path.read_bytes()
    chance = random.Random(0)
    for place in chance.sample(range(len(content)), 300):
        flipped = bytearray(content)
        flipped[place] ^= 1 << chance.randrange(8)
        path.write_bytes(flipped)
        try:
            again = load(path)
        except ValueError as error:
            assert str(error).startswith(str(path))  # noqa: PT017
        else:
            # A blank between words may have become another.
            assert again.state_ == ENCODER.state_


def test_a_model_with_an_encoder_that_does_not_work_is_refused(tmp_path):
    model = ELMRegressor(3, random_state=0).fit(TABLE, np.arange(400.0) % 7)
    inputs = model.fitted_.inputs._replace(encoder=changed(NumberColumn, mean=np.inf))
    model.fitted_ = replace(model.fitted_, inputs=inputs)
    with pytest.raises(ValueError, match="cannot be saved"):
        model.save(tmp_path / "model.safetensors")
