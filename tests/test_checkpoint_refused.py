"""A fit that was refused leaves its checkpoint to the corrected one; rows replaced are noticed."""

import json
import os
import subprocess
import sys

import numpy as np
import pytest

from elmband import ELMIntervalRegressor, ELMRegressor, ELMSelectiveClassifier, scan
from elmband.engines import checkpoint
from elmband.engines.checkpoint import Begun, Checkpoint
from elmband.estimators import _scans
from elmband.sums.moments import Count

RNG = np.random.default_rng(0)
X = RNG.standard_normal((200, 3))
Y = X[:, 0] + RNG.standard_normal(200)


@pytest.fixture
def rows(tmp_path, monkeypatch):
    """Return a way to scan a file, every pass over which is kept."""
    monkeypatch.setattr(checkpoint, "_PATIENCE", 0.0)
    monkeypatch.setattr(_scans, "_KEPT_BYTES", 0)

    def opened(weights=None, y=Y):
        parts = [X, y] if weights is None else [X, y, weights]
        np.save(tmp_path / "rows.npy", np.column_stack(parts))
        weight = None if weights is None else -1
        return scan(tmp_path / "rows.npy", target=3, weight=weight, chunk_size=50)

    return opened


NUMBERS = [
    *({"n_neurons": value} for value in (-5, 0, 2.5, "many", {"tanh": -1}, {"cosh": 3}, [])),
    *({"activation": value} for value in ("cosh", 3)),
    *({"density": value} for value in (-0.1, 2.0, "x")),
    *({"weight_scale": value} for value in (-1.0, "x", float("nan"))),
    *({"alpha": value} for value in (-1.0, "best", float("nan"), float("inf"))),
    *({"n_estimators": value} for value in (0, "two")),
    *({"target_transform": value} for value in ("cube", "log", ("logit", 0, 0.1), 7)),
    *({"target_range": value} for value in ((5, 0), "sometimes", (0, 0.1))),
    *({"precision": value} for value in ("half",)),
    *({"chunk_size": value} for value in (0, "x")),
    *({"device": value} for value in ("toaster",)),
    *({"noise": value} for value in ("loud",)),
    *({"calibration": value} for value in ("exact",)),
    *({"noise": "squared", "covariance": value} for value in ("x",)),
    *({"noise": "squared", "mode": value} for value in ("slow",)),
    *({"noise_alpha": value} for value in (-2.0, "x")),
    *({"noise_neurons": value} for value in (-2, "x")),
    {"selection": "op-elm"},
]


@pytest.mark.one_quick
@pytest.mark.parametrize("options", NUMBERS, ids=str)
def test_a_refused_parameter_does_not_block_the_corrected_fit(rows, tmp_path, options):
    given = {"n_neurons": 4, "noise": "squared", "random_state": 0}
    corrected = ELMIntervalRegressor(**given)
    expected = corrected.fit(rows()).predict_interval(X[:5])
    with pytest.raises((ValueError, TypeError)):
        ELMIntervalRegressor(**given | options).fit(rows(), checkpoint=tmp_path / "kept")
    corrected.fit(rows(), checkpoint=tmp_path / "kept")
    np.testing.assert_array_equal(corrected.predict_interval(X[:5]), expected)
    assert not (tmp_path / "kept").exists()


def test_refused_rows_do_not_block_the_corrected_ones(rows, tmp_path):
    weights = np.ones(200)
    weights[150] = -1
    model = ELMRegressor(4, random_state=0)
    with pytest.raises(ValueError, match="weight"):
        model.fit(rows(weights), checkpoint=tmp_path / "kept")
    targets = Y.copy()
    targets[150] = np.inf
    with pytest.raises(ValueError, match="finite"):
        model.fit(rows(y=targets), checkpoint=tmp_path / "kept")
    model.fit(rows(), checkpoint=tmp_path / "kept")


@pytest.mark.parametrize("options", [{"coverage": 2.0}, {"max_error": -1.0}, {"rank_by": "luck"}])
def test_wishes_that_cannot_be(rows, tmp_path, options):
    given = {"n_neurons": 4, "noise": "squared", "random_state": 0, "coverage": 0.5}
    y = (Y > 0).astype(float)
    with pytest.raises(ValueError, match=next(iter(options))):
        ELMSelectiveClassifier(**given | options).fit(rows(y=y), checkpoint=tmp_path / "kept")
    ELMSelectiveClassifier(**given).fit(rows(y=y), checkpoint=tmp_path / "kept")


def test_the_same_fit_goes_on_after_it_was_refused(tmp_path):
    """What was wrong may have been the disk, after all: sums are there until another fit comes."""
    folder = tmp_path / "kept"

    def refused(mark, seed, number):
        with Checkpoint(folder, mark, seed) as kept:
            place = kept.next_pass()
            found = place.load()
            place.save(Begun(number, Count(1.0), done=False))
            assert kept.seed == 1
            raise ValueError(f"{found and found.chunks} chunks.")

    with pytest.raises(ValueError, match="None"):
        refused("a fit", 1, 7)
    with pytest.raises(ValueError, match="7"):
        refused("a fit", 2, 8)
    with Checkpoint(folder, "a fit", 3) as kept:
        assert kept.next_pass().load().chunks == 8
    # It has been gone on with: no longer a place for others.
    with pytest.raises(ValueError, match="belongs to another fit"):
        Checkpoint(folder, "another", 1)
    with pytest.raises(ValueError, match="8"):
        refused("a fit", 2, 9)
    with Checkpoint(folder, "another", 4) as kept:
        assert (kept.seed, kept.next_pass().load()) == (4, None)


@pytest.mark.parametrize("error", [KeyboardInterrupt, MemoryError, OSError, ZeroDivisionError])
def test_what_is_no_refusal_keeps_the_place(tmp_path, error):
    with pytest.raises(error), Checkpoint(tmp_path / "kept", "a fit", 0):
        raise error
    with pytest.raises(ValueError, match="belongs to another fit"):
        Checkpoint(tmp_path / "kept", "another", 0)


COMMANDS = [
    ["--neurons=-3"],
    ["--neurons", "cosh=3"],
    ["--target-range", "5,6"],
    ["--target-transform", "log"],
    ["--weight", "minus"],
    ["--max-error", "0.1"],
    ["--published", "--neurons", "0"],
]


@pytest.mark.slow
def test_the_command_that_was_refused_and_is_corrected(tmp_path):
    names = ["a", "b", "c", "y", "minus"]
    table = np.column_stack([X, Y, -np.ones(200)])
    path = tmp_path / "rows.csv"
    np.savetxt(path, table, delimiter=",", header=",".join(names), comments="")
    base = [sys.executable, "-m", "elmband", "fit", path, "--target", "y", "--checkpoint", "kept"]
    base = [*map(str, base), "-o", "model.safetensors"]

    def run(*options):
        return subprocess.run(
            [*base, *options], cwd=tmp_path, capture_output=True, text=True, check=False
        )

    for options in COMMANDS:
        found = run(*options)
        assert found.returncode in {1, 2}, (options, found.stdout, found.stderr)
        assert "Traceback" not in found.stderr
    found = run()
    assert found.returncode == 0, found.stderr
    assert not (tmp_path / "kept").exists()


# Rows that were replaced.


def replaced(path, place):
    """Change a byte and put the time of the last change back."""
    before = path.stat()
    with path.open("r+b") as file:
        file.seek(place)
        old = file.read(1)
        file.seek(place)
        file.write(bytes([old[0] ^ 1]))
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
    after = path.stat()
    assert (after.st_size, after.st_mtime_ns) == (before.st_size, before.st_mtime_ns)


def test_a_file_replaced_by_one_of_the_same_size_and_time_is_another_fit(rows, tmp_path):
    model = ELMIntervalRegressor(4, noise="squared", random_state=0)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("elmband.uncertainty.noise.squared._third_pass", lambda *_: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            model.fit(rows(), checkpoint=tmp_path / "kept")
    path = tmp_path / "rows.npy"
    replaced(path, path.stat().st_size // 2)
    with pytest.raises(ValueError, match="belongs to another fit"):
        model.fit(scan(path, target=3, chunk_size=50), checkpoint=tmp_path / "kept")


@pytest.mark.parametrize("place", [200, 2**23, -1])
def test_blocks_of_large_files_are_looked_at(tmp_path, place):
    path = tmp_path / "rows.npy"
    np.save(path, np.zeros((2**18, 8)))
    before = scan(path, target=-1).fingerprint()
    assert scan(path, target=-1).fingerprint() == before
    size = path.stat().st_size
    first = place % size - place % size % 2**18
    # Of 16 MiB every fourth block of 64 KiB is read.
    for one in {min(first + k * 2**16 + 200, size - 1) for k in range(4)}:
        replaced(path, one)
    assert scan(path, target=-1).fingerprint() != before


def test_files_of_a_folder_are_looked_at(tmp_path):
    zarr = pytest.importorskip("zarr")
    store = tmp_path / "rows.zarr"
    array = zarr.open(str(store), mode="w", shape=(200, 4), chunks=(50, 4), dtype="f8")
    array[:] = np.column_stack([X, Y])
    before = scan(store, target=-1).fingerprint()
    largest = max((p for p in store.rglob("*") if p.is_file()), key=lambda p: p.stat().st_size)
    replaced(largest, largest.stat().st_size - 1)
    assert scan(store, target=-1).fingerprint() != before


def test_the_mark_of_a_refused_fit_is_signed_too(tmp_path):
    with Checkpoint(tmp_path / "kept", "a fit", 0):
        pass
    job = tmp_path / "kept" / "job.json"
    job.write_text(json.dumps({**json.loads(job.read_text()), "refused": True}))
    with pytest.raises(ValueError, match="damaged"):
        Checkpoint(tmp_path / "kept", "another", 0)


def test_a_refused_fit_leaves_no_folder_of_its_own(rows, tmp_path):
    """The second is refused after a pass over the rows, whose sums were kept."""
    model = ELMIntervalRegressor(4, noise="squared", random_state=0)
    (tmp_path / "here").mkdir()
    for options in ({"alpha": -1.0}, {"target_range": (0, 0.1)}):
        refused = ELMIntervalRegressor(**model.get_params() | options)
        with pytest.raises(ValueError, match=next(iter(options))):
            refused.fit(rows(), checkpoint=tmp_path / "here" / "new" / "kept")
        assert not list((tmp_path / "here").iterdir())


def test_a_refused_fit_removes_nothing_that_was_there_before(rows, tmp_path):
    kept = tmp_path / "above" / "kept"
    kept.mkdir(parents=True)
    (tmp_path / "above" / "mine.txt").write_text("mine")
    with pytest.raises(ValueError, match="alpha"):
        ELMRegressor(4, alpha=-1.0).fit(rows(), checkpoint=kept)
    assert (tmp_path / "above" / "mine.txt").read_text() == "mine"
    assert not list(kept.iterdir())
    before = Checkpoint(kept, "another fit", 0)
    before.next_pass().save(Begun(1, Count(1.0), done=True))
    before._leave()
    names = sorted(path.name for path in kept.iterdir())
    with pytest.raises(ValueError, match="belongs to another fit"):
        ELMRegressor(4, random_state=0).fit(rows(), checkpoint=kept)
    assert sorted(path.name for path in kept.iterdir()) == names


@pytest.mark.parametrize("ends", ["well", "refused", "replaced"])
def test_files_of_others_stay_though_their_names_begin_as_passes_do(tmp_path, ends):
    folder = tmp_path / "kept"
    error = KeyboardInterrupt if ends == "well" else ValueError
    with pytest.raises(error), Checkpoint(folder, "a fit", 0):
        raise error
    (folder / "pass-01.safetensors").write_text("a pass")
    (folder / "pass-best.safetensors").write_text("mine")
    mark = "another" if ends == "replaced" else "a fit"
    kept = Checkpoint(folder, mark, 0)
    if ends == "refused":
        with pytest.raises(ValueError, match="no"), kept, kept.noting_refusal():
            raise ValueError("no")
    else:
        with pytest.warns(UserWarning, match="stays: it holds pass-best"), kept.until_complete():
            pass
        assert [path.name for path in folder.iterdir()] == ["pass-best.safetensors"]
    assert (folder / "pass-best.safetensors").read_text() == "mine"
