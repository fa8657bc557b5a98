import json
import signal
import subprocess
import sys
from time import sleep

import numpy as np
import pytest
from safetensors import SafetensorError

from elmband import ELMIntervalRegressor, scan
from elmband.engines import checkpoint, engine
from elmband.engines.checkpoint import Begun, Checkpoint, Pass
from elmband.estimators import _scans
from elmband.stacks.kept_rows import KeptRows
from elmband.sums.moments import Chunk, Count, Pieces, Several, gram
from elmband.sums.packing import Packer
from elmband.sums.rows import ArrayRows
from elmband.sums.scaling import column_moments

RNG = np.random.default_rng(0)
X = RNG.standard_normal((600, 3))
Y = X[:, :1] + RNG.standard_normal((600, 1))
ROWS = ArrayRows(X, Y, chunk_size=50)


def same(one, other):
    """Compare sums to the bit, whatever they are made of."""
    packers = [Packer(), Packer()]
    trees = [packer.tree(value) for packer, value in zip(packers, (one, other), strict=True)]
    assert trees[0] == trees[1]
    for name, array in packers[0].arrays.items():
        np.testing.assert_array_equal(array, packers[1].arrays[name])
        assert array.dtype == packers[1].arrays[name].dtype


@pytest.mark.parametrize(
    "sums",
    [
        gram(Chunk(X, Y, None)),
        column_moments(X, None),
        Several((Count(3.0), Pieces((X[:0], X.astype(np.float32))))),
        KeptRows(5, np.array([1, 2**64 - 1], np.uint64), Chunk(X[:2], Y[:2], None), complete=False),
        Count(float("inf")),
    ],
    ids=lambda sums: type(sums).__name__,
)
def test_sums_come_back_to_the_bit(tmp_path, sums):
    place = Pass(tmp_path / "pass.safetensors", "name")
    assert place.load() is None
    place.save(Begun(7, sums, done=False))
    begun = place.load()
    assert begun[::2] == (7, False)
    same(begun.sums, sums)


class KilledError(Exception):
    pass


@pytest.mark.one_quick
@pytest.mark.parametrize("after", range(0, 24, 5))
def test_sums_go_on_where_they_were_ended(tmp_path, monkeypatch, after):
    monkeypatch.setattr(checkpoint, "_PATIENCE", 0.0)
    expected = [engine.total(ROWS, gram), engine.total(ROWS, lambda c: column_moments(c.X, None))]
    mapped = []

    def both(limit):
        def counted(function):
            def chunk_map(chunk):
                if len(mapped) >= limit:
                    raise KilledError
                mapped.append(1)
                return function(chunk)

            return chunk_map

        with Checkpoint(tmp_path / "kept", "a fit", 5) as kept:
            with engine.running(engine.Job(checkpoint=kept)):
                yield engine.total(ROWS, counted(gram))
                yield engine.total(ROWS, counted(lambda c: column_moments(c.X, None)))
            kept.remove()

    with pytest.raises(KilledError):
        list(both(after))
    before = len(mapped)
    found = list(both(10**6))
    for mine, theirs in zip(found, expected, strict=True):
        same(mine, theirs)
    # What was saved is not summed again: at most what was on its way in the threads is.
    assert len(mapped) - before <= 24 - before + 4
    assert not (tmp_path / "kept").exists()


FIT = """
import sys, time
import numpy as np
from elmband import ELMIntervalRegressor, scan
from elmband.engines import checkpoint
from elmband.estimators import _scans
from elmband.sources.stream import Scan
checkpoint._PATIENCE, _scans._KEPT_BYTES = 0.0, 0
path, folder, out, pause = sys.argv[1:]
chunks = Scan.chunks
def slow(self, *args, **options):
    for chunk in chunks(self, *args, **options):
        time.sleep(float(pause))
        yield chunk
Scan.chunks = slow
model = ELMIntervalRegressor(40, noise="squared", random_state=None)
model.fit(scan(path, target=-1, chunk_size=250), checkpoint=folder)
np.save(out, model.predict_interval(np.load(path)[:100, :-1]))
np.save(out + ".seed.npy", model.fitted_.training.seed)
"""


@pytest.mark.slow
def test_a_killed_process_is_gone_on_from_to_the_same_bits(tmp_path):
    """SIGKILL leaves no time to tidy up; the random seed is that of the first attempt."""
    path, folder, out = (str(tmp_path / name) for name in ("rows.npy", "kept", "out.npy"))
    np.save(path, np.column_stack([np.tile(X, (10, 1)), np.tile(Y, (10, 1))]))
    command = [sys.executable, "-c", FIT, path, folder, out]
    process = subprocess.Popen([*command, "0.05"])
    # Two passes, each long enough to be met: a busy machine takes a while to get there.
    for _ in range(600):
        if len(list((tmp_path / "kept").glob("pass-*.safetensors"))) >= 2:
            break
        assert process.poll() is None
        sleep(0.1)
    process.send_signal(signal.SIGKILL)
    assert process.wait() == -signal.SIGKILL
    begun = sorted(p.name for p in (tmp_path / "kept").glob("pass-*"))
    assert begun
    subprocess.run([*command, "0"], check=True)
    assert not (tmp_path / "kept").exists()
    seed = int(np.load(out + ".seed.npy"))
    rows = scan(path, target=-1, chunk_size=250)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_scans, "_KEPT_BYTES", 0)
        patch.setattr("elmband.estimators._open_rows.draw_seed", lambda _: seed)
        model = ELMIntervalRegressor(40, noise="squared").fit(rows)
    expected = model.predict_interval(np.load(path)[:100, :-1])
    np.testing.assert_array_equal(np.load(out), expected)


@pytest.fixture
def begun(tmp_path, monkeypatch):
    """Return a folder with a checkpoint of a fit that was ended, and how to go on with it."""
    monkeypatch.setattr(checkpoint, "_PATIENCE", 0.0)
    monkeypatch.setattr(_scans, "_KEPT_BYTES", 0)
    np.save(tmp_path / "rows.npy", np.column_stack([X, Y]))
    folder = tmp_path / "kept"

    def fit(n_neurons=20, **options):
        rows = scan(tmp_path / "rows.npy", target=-1, chunk_size=50)
        model = ELMIntervalRegressor(n_neurons, noise="squared", random_state=0, **options)
        return model.fit(rows, checkpoint=folder)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("elmband.uncertainty.noise.squared._third_pass", lambda *_: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            fit()
    assert len(list(folder.iterdir())) > 2
    return folder, fit


def test_another_fit_does_not_take_the_checkpoint_of_this_one(begun):
    folder, fit = begun
    for options in ({"n_neurons": 21}, {"alpha": 1.0}):
        with pytest.raises(ValueError, match="belongs to another fit"):
            fit(**options)
    rows = folder.parent / "rows.npy"
    np.save(rows, np.load(rows)[::-1])
    with pytest.raises(ValueError, match="belongs to another fit"):
        fit()


def test_progress_does_not_matter(begun):
    _, fit = begun
    fit(verbose=False)


def _one_more(content, name):
    """Return a file in which one digit of a number is another one."""
    start = content.index(name + b'\\": ') + len(name) + 4
    changed = content[:start] + (b"1" if content[start : start + 1] != b"1" else b"2")
    return changed + content[start + 1 :]


@pytest.mark.one_quick
@pytest.mark.parametrize(
    "damage", ["cut", "changed", "renamed", "text", "count", "rows", "job", "seed"]
)
def test_a_damaged_checkpoint_is_refused(begun, damage):
    folder, fit = begun
    first, second = sorted(folder.glob("pass-*"))[:2]
    content = bytearray(first.read_bytes())
    if damage == "cut":
        first.write_bytes(content[: len(content) // 2])
    elif damage == "changed":
        content[-3] ^= 1
        first.write_bytes(content)
    elif damage == "renamed":
        second.replace(first)
    elif damage == "text":
        first.write_text("not a checkpoint")
    elif damage in ("count", "rows"):
        name = b"chunks" if damage == "count" else b"n_rows"
        first.write_bytes(_one_more(bytes(content), name))
    elif damage == "seed":
        job = folder / "job.json"
        text = json.loads(job.read_text())
        job.write_text(json.dumps({**text, "seed": text["seed"] + 1}))
    else:
        (folder / "job.json").write_text("{")
    with pytest.raises(ValueError, match="damaged"):
        fit()


def test_folders_that_are_none(begun, tmp_path):
    folder, fit = begun
    for path in folder.iterdir():
        path.unlink()
    (folder / "thesis.txt").write_text("important")
    with pytest.raises(ValueError, match="holds other files and no checkpoint"):
        fit()
    assert (folder / "thesis.txt").read_text() == "important"
    with pytest.raises(ValueError, match="is a file"):
        Checkpoint(tmp_path / "rows.npy", "a fit", 0)


def test_a_file_of_others_that_keeps_the_folder_is_told_of(tmp_path):
    folder = tmp_path / "kept"
    fit = Checkpoint(folder, "a fit", 0).until_complete()
    with pytest.warns(UserWarning, match=r"its folder .*kept stays: it holds thesis\.txt"), fit:
        (folder / "thesis.txt").write_text("important")
    assert [path.name for path in folder.iterdir()] == ["thesis.txt"]


def test_a_file_that_tells_of_code_runs_none(tmp_path):
    place = Pass(tmp_path / "pass.safetensors", "name")
    place.save(Begun(1, Count(1.0), done=True))
    whole = (tmp_path / "pass.safetensors").read_bytes()
    assert b"Count" in whole
    (tmp_path / "pass.safetensors").write_bytes(whole.replace(b"Count", b"print"))
    with pytest.raises(ValueError, match="damaged"):
        place.load()


def test_other_libraries_are_told_to_do_without(tmp_path, xp):
    place = Pass(tmp_path / "pass.safetensors", "name")
    sums = column_moments(xp.asarray(X), None)
    if isinstance(sums.mean, np.ndarray):
        pytest.skip("NumPy can be kept")
    with pytest.raises(ValueError, match="Only NumPy arrays are kept"):
        place.save(Begun(1, sums, done=True))


def test_the_job_is_readable(begun):
    folder, _ = begun
    job = json.loads((folder / "job.json").read_text())
    assert set(job) == {"elmband", "fingerprint", "seed", "digest"}


def _csv(folder):
    path = folder / "rows.csv"
    names = [f"x{k}" for k in range(X.shape[1])]
    table = np.column_stack([X, Y[:, :1]])
    np.savetxt(path, table, delimiter=",", header=",".join([*names, "y"]), comments="")
    return lambda: scan(path, target="y", chunk_size=50)


def _arrow_stream(folder):
    pa = pytest.importorskip("pyarrow")
    path = folder / "rows.arrow"
    columns = {f"x{k}": column for k, column in enumerate(X.T)} | {"y": Y[:, 0]}
    table = pa.table(columns)
    with pa.ipc.new_stream(path, table.schema) as writer:
        writer.write_table(table, max_chunksize=70)
    return lambda: scan(path, target="y", chunk_size=50)


def _function(_):
    def pieces():
        return ((X[k : k + 40], Y[k : k + 40, 0]) for k in range(0, len(X), 40))

    return lambda: scan(pieces, chunk_size=50)


SQUARED, FIXED = {"noise": "squared"}, {"noise": "squared", "alpha": 1.0}
UNCOUNTED = [
    *((opened, {}) for opened in (_csv, _arrow_stream, _function)),
    (_function, SQUARED),
    (_csv, FIXED),
    *(
        pytest.param(opened, options, marks=pytest.mark.long)
        for opened, options in (
            (_csv, SQUARED),
            (_arrow_stream, SQUARED),
            (_arrow_stream, FIXED),
            (_function, FIXED),
        )
    ),
]


@pytest.mark.slow
@pytest.mark.parametrize(("opened", "options"), UNCOUNTED)
def test_rows_that_only_reading_can_count_are_gone_on_with(tmp_path, monkeypatch, opened, options):
    """Whatever pass was the last to be kept, the next fit knows the number of rows."""
    pytest.importorskip("pyarrow")
    monkeypatch.setattr(checkpoint, "_PATIENCE", 0.0)
    monkeypatch.setattr(_scans, "_KEPT_BYTES", 0)
    rows = opened(tmp_path)
    model = ELMIntervalRegressor(10, random_state=0, **options)
    held = scan(X[:20])
    expected = model.fit(rows()).predict_interval(held)
    save, most = checkpoint.Pass.save, 0
    for last in range(1, 200):
        left = last

        def ending(self, begun):
            nonlocal left
            save(self, begun)
            left -= 1
            if not left:
                raise KeyboardInterrupt

        with monkeypatch.context() as patch:
            patch.setattr(checkpoint.Pass, "save", ending)
            try:
                model.fit(rows(), checkpoint=tmp_path / "kept")
            except KeyboardInterrupt:
                most = last
            else:
                break
        model.fit(rows(), checkpoint=tmp_path / "kept")
        np.testing.assert_array_equal(model.predict_interval(held), expected)
    assert most > 10


def test_another_function_of_the_same_name_is_another_fit(tmp_path, monkeypatch):
    monkeypatch.setattr(_scans, "_KEPT_BYTES", 0)

    def made(factor):
        return lambda: ((factor * X[k : k + 40], Y[k : k + 40, 0]) for k in range(0, len(X), 40))

    model = ELMIntervalRegressor(10, noise="squared", random_state=0)
    with monkeypatch.context() as patch:
        patch.setattr("elmband.uncertainty.noise.squared._third_pass", lambda *_: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            model.fit(scan(made(1)), checkpoint=tmp_path / "kept")
    with pytest.raises(ValueError, match="belongs to another fit"):
        model.fit(scan(made(2)), checkpoint=tmp_path / "kept")
    model.fit(scan(made(1)), checkpoint=tmp_path / "kept")


def test_a_folder_that_cannot_be_made_is_named(tmp_path):
    (tmp_path / "file").write_text("")
    for place in ("file/kept", "file"):
        with pytest.raises((OSError, ValueError), match=str(tmp_path / place)):
            ELMIntervalRegressor(5).fit(scan((X, Y)), checkpoint=tmp_path / place)


def test_a_full_disk_is_told_of_and_what_was_kept_stays(begun, monkeypatch):
    folder, fit = begun
    before = {path.name: path.read_bytes() for path in folder.iterdir()}

    def full(*_):
        raise SafetensorError("Error while serializing: I/O error: No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(checkpoint, "save", full)
        with pytest.raises(OSError, match=r"could not be kept: .*No space left on device\. Make"):
            fit()
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before
    fit()
