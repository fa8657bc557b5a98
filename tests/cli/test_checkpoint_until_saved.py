"""The checkpoint of a fit stands until its model file does."""

import errno
import os
from pathlib import Path

import numpy as np
import pytest

from elmband.cli import app
from elmband.engines.checkpoint import Checkpoint, Pass
from elmband.estimators import _scans

FIT = ["fit", "rows.npy", "-t", "3", "--neurons", "linear=3,tanh=5", "--published"]
KEPT = [*FIT, "--checkpoint", "kept", "-o", "model.st"]


@pytest.fixture
def here(tmp_path, monkeypatch):
    """A folder to be in, with rows every pass over which is kept."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(_scans, "_KEPT_BYTES", 0)
    rng = np.random.default_rng(0)
    X = rng.standard_normal((200, 3))
    np.save("rows.npy", np.column_stack([X, X[:, 0] + rng.standard_normal(200)]))
    return tmp_path


def run(*command):
    app([str(part) for part in command], standalone_mode=False)


def passes(monkeypatch):
    """Return a list that grows with every pass that is summed, not read from a checkpoint."""
    summed, save = [], Pass.save

    def counted(self, begun):
        summed.append(self)
        save(self, begun)

    monkeypatch.setattr(Pass, "save", counted)
    return summed


def full_disk(*_):
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def test_a_disk_that_is_full_when_the_model_is_saved_loses_no_pass(here, monkeypatch):
    run(*FIT, "-o", "usual.st")
    with monkeypatch.context() as broken:
        broken.setattr("elmband.estimators._model.write", full_disk)
        with pytest.raises(OSError, match="No space left"):
            run(*KEPT)
    assert list(here.glob("kept/pass-*.safetensors"))
    assert not Path("model.st").exists()
    summed = passes(monkeypatch)
    run(*KEPT)
    assert summed == []
    assert Path("model.st").read_bytes() == Path("usual.st").read_bytes()
    assert not Path("kept").exists()


def test_rows_held_out_that_cannot_be_read_lose_no_pass(here, monkeypatch):
    np.save("held.npy", np.ones((5, 2)))
    held = [*KEPT, "--calibrate", "held.npy"]
    with pytest.raises(ValueError, match=r"held\.npy"):
        run(*held)
    summed = passes(monkeypatch)
    np.save("held.npy", np.load("rows.npy")[:150])
    run(*held)
    assert summed == []
    assert not (here / "kept").exists()


def test_a_checkpoint_that_cannot_be_removed_is_a_note(here, monkeypatch):
    def refuse(_):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))

    monkeypatch.setattr(Checkpoint, "remove", refuse)
    with pytest.warns(UserWarning, match="kept could not be removed .Permission denied.; delete"):
        run(*KEPT, "--seed", 1)
    assert (here / "model.st").exists()
