"""Checkpoints that were changed and signed anew are refused in a sentence."""

import json

import numpy as np
import pytest
from safetensors.numpy import load, save

from elmband import ELMIntervalRegressor, scan
from elmband.engines import checkpoint
from elmband.engines.checkpoint import DamagedError
from elmband.estimators import _scans
from elmband.sums.packing import digest

RNG = np.random.default_rng(0)
X = RNG.standard_normal((200, 3))
ROWS = np.column_stack([X, X[:, 0] + RNG.standard_normal(200)])
SENTENCE = "damaged.*elete the folder to begin anew"


class KilledError(Exception):
    pass


@pytest.fixture
def resumed(tmp_path, monkeypatch):
    """Return a fit that was ended at its seventh visit to the disk, and its folder."""
    monkeypatch.setattr(checkpoint, "_PATIENCE", 0.0)
    monkeypatch.setattr(_scans, "_KEPT_BYTES", 0)
    np.save(tmp_path / "rows.npy", ROWS)

    def fit():
        rows = scan(tmp_path / "rows.npy", target=3, chunk_size=50)
        model = ELMIntervalRegressor(4, noise="squared", random_state=0)
        return model.fit(rows, checkpoint=tmp_path / "kept")

    visits, keep = [], checkpoint.Pass.save

    def ended(self, begun):
        if len(visits) == 6:
            raise KilledError
        visits.append(1)
        keep(self, begun)

    with monkeypatch.context() as patch:
        patch.setattr(checkpoint.Pass, "save", ended)
        with pytest.raises(KilledError):
            fit()
    assert (tmp_path / "kept" / "pass-02.safetensors").exists()
    return fit, tmp_path / "kept"


def sign(path, change):
    """Change the arrays or the text of a pass, and make its checksum fit."""
    content = path.read_bytes()
    length = int.from_bytes(content[:8], "little")
    text = json.loads(json.loads(content[8 : 8 + length])["__metadata__"]["elmband"])
    arrays = dict(load(content))
    change(text, arrays)
    text.pop("digest")
    text["digest"] = digest(arrays, json.dumps(text, sort_keys=True))
    path.write_bytes(save(arrays, {"elmband": json.dumps(text)}))


def every(array_of):
    """Return a change of all arrays and of the shapes that the text says."""

    def change(text, arrays):
        for name in arrays:
            arrays[name] = np.ascontiguousarray(array_of(arrays[name]))
        again = json.dumps(text["sums"])
        for name, array in arrays.items():
            start, _, rest = again.partition(f'"array": "{name}", "shape": [')
            if rest:
                again = (
                    f'{start}"array": "{name}", "shape": {list(array.shape)}'
                    + rest.split("]", 1)[1]
                )
        text["sums"] = json.loads(again)

    return change


CHANGES = {
    "longer": every(lambda a: np.concatenate([a, a])),
    "empty": every(lambda a: a[:0]),
    "another axis": every(lambda a: a[None, None]),
    "not finite": every(lambda a: a * np.nan),
    "another kind": lambda text, _: text.update(sums={"tuple": [1, 2]}),
    "nothing": lambda text, _: text.update(sums=None),
    "negative chunks": lambda text, _: text.update(chunks=-1),
    "chunks as text": lambda text, _: text.update(chunks="1"),
    "rows as text": lambda text, _: text.update(n_rows="200"),
    "a key less": lambda text, _: text.pop("done"),
}


@pytest.mark.parametrize("number", [1, 2])
@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_sums_that_were_changed_are_refused(resumed, change, number):
    fit, folder = resumed
    sign(folder / f"pass-{number:02d}.safetensors", change)
    with pytest.raises(DamagedError, match=SENTENCE):
        fit()
    # Nothing is thrown away: whoever has the right file can put it back.
    assert (folder / "pass-01.safetensors").exists()


@pytest.mark.parametrize("seed", [-1, 2**31, 1.5, True, None, "7", [7]], ids=str)
def test_seeds_that_nobody_drew(resumed, seed):
    fit, folder = resumed
    job = json.loads((folder / "job.json").read_text())
    job |= {"seed": seed}
    job.pop("digest")
    job["digest"] = digest({}, json.dumps(job, sort_keys=True))
    (folder / "job.json").write_text(json.dumps(job))
    with pytest.raises(DamagedError, match=SENTENCE):
        fit()


def test_refusals_of_the_fit_keep_their_words(resumed, tmp_path):
    """Rows that are refused after a fit has gone on are no damage of its checkpoint."""
    fit, folder = resumed
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_scans, "_KEPT_BYTES", 0)
        patch.setattr(
            "elmband.sources.stream.Scan.chunks",
            lambda *_, **__: (_ for _ in ()).throw(ValueError("Row 7 has no target.")),
        )
        with pytest.raises(ValueError, match="Row 7"):
            fit()
    assert json.loads((folder / "job.json").read_text())["refused"]
    fit()
    assert not (tmp_path / "kept").exists()
