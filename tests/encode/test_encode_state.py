"""What an encoder has learned is plain values, which go to a file and come back."""

from dataclasses import fields, is_dataclass

import numpy as np
import pandas as pd
import pytest
from mixed import mixed
from test_encode_libraries import ZONE, aware

from elmband.sources.encode import ENCODER_KINDS, EncoderState, TableEncoder
from elmband.sources.stream import scan
from elmband.sums.packed_file import Stored, pack, read, write
from elmband.sums.packing import Packer, Unpacker

TABLE = mixed()


def by_scan(target):
    rows = scan(TABLE, target=target, encoder=TableEncoder(), missing_target="drop")
    return rows.encoder.fit(rows)


ENCODERS = {
    "default": TableEncoder().fit(TABLE),
    "parameters": TableEncoder(3, min_count=2.5, categorical=["count"], dtype="float32").fit(TABLE),
    "array": TableEncoder().fit(np.arange(6.0).reshape(3, 2)),
    "time zone": TableEncoder().fit(pd.DataFrame({"t": aware(ZONE)})),
    "text target": by_scan("colour"),
    "boolean target": by_scan("flag"),
}


@pytest.mark.parametrize("state", [e.state_ for e in ENCODERS.values()], ids=list(ENCODERS))
def test_a_state_goes_to_arrays_and_text_and_back(state):
    packer = Packer()
    tree = packer.tree(state)
    again = Unpacker(packer.arrays, ENCODER_KINDS).value(tree)
    assert isinstance(again, EncoderState)
    assert again == state
    encoder = TableEncoder.from_state(again)
    assert encoder.get_params() == state.parameters
    assert encoder.state_ == state
    assert encoder.n_features_in_ == len(state.columns)
    assert hasattr(encoder, "feature_names_in_") == state.named


def test_an_encoder_from_a_file_encodes_the_same(tmp_path):
    encoder = TableEncoder().fit(TABLE)
    kinds = {kind: {} for kind in ENCODER_KINDS}
    stored = Stored("x", {"encoder": encoder.state_}, "0")
    path = write(tmp_path / "encoder.safetensors", pack(stored, kinds))
    state = read(path, kinds).state["encoder"]
    again = TableEncoder.from_state(state)
    np.testing.assert_array_equal(again.transform(TABLE), encoder.transform(TABLE))
    assert again.get_feature_names_out().tolist() == encoder.get_feature_names_out().tolist()
    assert again.summary() == encoder.summary()


def test_all_kinds_are_frozen_and_told_apart_by_name():
    assert len({kind.__name__ for kind in ENCODER_KINDS}) == len(ENCODER_KINDS)
    for kind in ENCODER_KINDS:
        assert is_dataclass(kind)
        assert kind.__dataclass_params__.frozen
        assert fields(kind)
