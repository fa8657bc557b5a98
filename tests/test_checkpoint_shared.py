"""One checkpoint folder and many processes, some of which are killed while they write."""

import errno
import json
import os
import re
import subprocess
import sys
import textwrap
from contextlib import suppress
from threading import Event, Thread

import numpy as np
import pytest

from elmband.engines.checkpoint import Begun, Checkpoint
from elmband.ground import folder_lock
from elmband.ground.folder_lock import LOCK_NAME, FolderLock
from elmband.sums.moments import Pieces

fcntl = pytest.importorskip("fcntl", reason="kills and forks as on POSIX")

BEGIN = """
import os, signal, sys
import numpy as np
from elmband import ELMIntervalRegressor, scan
from elmband.engines import checkpoint
from elmband.estimators import _scans
checkpoint._PATIENCE, _scans._KEPT_BYTES = 0.0, 0
rng = np.random.default_rng(0)
rows = np.column_stack([rng.standard_normal((300, 3)), rng.standard_normal(300)])
np.save("rows.npy", rows)

def fitted(folder=None):
    model = ELMIntervalRegressor(5, noise="squared", random_state=0)
    model.fit(scan("rows.npy", target=-1, chunk_size=100), checkpoint=folder)
    return model.predict_interval(rows[:20, :-1])
"""

KILLED_ANYWHERE = (
    BEGIN
    + """
FILES = ("open", "os.mkdir", "os.rename", "os.remove", "os.rmdir", "os.truncate", "fcntl.flock")

def killed_at(number):
    '''Fit, and be killed before so many things are done to files; tell whether that happened.'''
    process = os.fork()
    if process == 0:
        left = number
        def hook(event, args):
            nonlocal left
            if event in FILES:
                left -= 1
                if left < 0:
                    os.kill(os.getpid(), signal.SIGKILL)
        sys.addaudithook(hook)
        fitted("kept")
        os._exit(0)
    return os.waitpid(process, 0)[1] == signal.SIGKILL

def goes_on():
    '''Fit in a process of its own; tell whether it came to the same bits and left nothing.'''
    process = os.fork()
    if process == 0:
        same = (fitted("kept") == expected).all()
        os._exit(0 if same and not os.path.exists("kept") else 1)
    return os.waitpid(process, 0)[1] == 0

process = os.fork()
if process == 0:
    np.save("expected.npy", fitted())
    os._exit(0)
os.waitpid(process, 0)
expected = np.load("expected.npy")
number = 0
while killed_at(number):
    seen = sorted(os.listdir("kept")) if os.path.exists("kept") else []
    assert goes_on(), (number, seen)
    number += int(sys.argv[1])
print(number)
"""
)


def run(text, *arguments, folder, **options):
    command = [sys.executable, "-c", textwrap.dedent(text), *map(str, arguments)]
    return subprocess.run(
        command, cwd=folder, capture_output=True, text=True, check=False, **options
    )


@pytest.mark.slow
def test_a_fit_that_was_killed_before_any_step_of_its_files_goes_on(tmp_path):
    found = run(KILLED_ANYWHERE, 3, folder=tmp_path)
    assert found.returncode == 0, found.stderr
    assert int(found.stdout) > 100


def test_unfinished_files_have_names_that_are_known(tmp_path):
    """Whatever is there while a pass is saved is what a kill would leave."""
    seen, done = set(), Event()

    def watch():
        while not done.is_set():
            seen.update(path.name for path in (tmp_path / "kept").iterdir())

    with Checkpoint(tmp_path / "kept", "a fit", 0) as kept:
        watcher = Thread(target=watch)
        watcher.start()
        try:
            place = kept.next_pass()
            for _ in range(5):
                place.save(Begun(1, Pieces((np.zeros(10**6),)), done=False))
        finally:
            done.set()
            watcher.join()
    ours = re.compile(r"job\.json|in-use\.lock|(\.?)pass-01\.safetensors(\.[0-9a-f]{8}\.partial)?")
    assert not [name for name in seen if not ours.fullmatch(name)]
    assert any(name.endswith(".partial") for name in seen)


LEFT = [".pass-03.safetensors.0123abcd.partial", ".job.json.89abcdef.partial"]
OTHERS = [
    ".tmp4Zk2aB",
    ".thesis.tex.0123abcd.partial",
    "pass-01.txt",
    ".pass-1.safetensors.partial",
]


def test_what_was_left_is_removed_and_files_of_others_stay(tmp_path):
    folder = tmp_path / "kept"
    with Checkpoint(folder, "a fit", 0) as kept:
        kept.next_pass().save(Begun(1, Pieces(()), done=True))
    for name in LEFT + OTHERS:
        (folder / name).write_text("half")
    with Checkpoint(folder, "a fit", 0) as kept:
        assert not [name for name in LEFT if (folder / name).exists()]
        assert kept.next_pass().load() is not None
        kept.remove()
    assert sorted(path.name for path in folder.iterdir()) == sorted(OTHERS)


def test_a_process_that_was_killed_before_its_job_was_written_blocks_nobody(tmp_path):
    folder = tmp_path / "kept"
    folder.mkdir()
    (folder / LEFT[1]).write_text("{")
    (folder / LOCK_NAME).write_text(json.dumps({"process": 1, "host": "x", "since": "y"}))
    with Checkpoint(folder, "a fit", 7) as kept:
        assert kept.seed == 7
        kept.remove()
    assert not folder.exists()


MANY = (
    BEGIN
    + """
import time
from elmband.sources.stream import Scan
chunks = Scan.chunks
def slow(self, *args, **options):
    for chunk in chunks(self, *args, **options):
        time.sleep(0.05)
        yield chunk
Scan.chunks = slow
children = []
for k in range(15):
    process = os.fork()
    if process == 0:
        try:
            np.save(f"done-{k}.npy", fitted("kept"))
            status = 0
        except BlockingIOError as error:
            open(f"refused-{k}", "w").write(str(error))
            status = 0
        except BaseException as error:
            print(repr(error), file=sys.stderr, flush=True)
            status = 1
        os._exit(status)
    children.append(process)
print(children)
sys.exit(any([os.waitpid(process, 0)[1] for process in children]))
"""
)


@pytest.mark.slow
def test_of_many_processes_on_a_folder_one_works_and_the_others_say_which(tmp_path):
    found = run(MANY, folder=tmp_path)
    assert found.returncode == 0, found.stderr
    refused = [path.read_text() for path in tmp_path.glob("refused-*")]
    results = [np.load(path) for path in tmp_path.glob("done-*.npy")]
    assert len(refused) + len(results) == 15
    assert refused
    assert results
    assert all((one == results[0]).all() for one in results)
    for sentence in refused:
        match = re.search(
            r"folder kept is in use by process (\d+) on \S+, since [\d-]+ [\d:]+ UTC: wait until "
            r"that fit is done, or name another folder\.$|is in use by another process: wait",
            sentence,
        )
        assert match, sentence
        assert match[1] is None or int(match[1]) in json.loads(found.stdout)
    assert not (tmp_path / "kept").exists()


def test_a_second_fit_is_refused_and_writes_nothing(tmp_path):
    with Checkpoint(tmp_path / "kept", "a fit", 0):
        before = {path: path.read_bytes() for path in (tmp_path / "kept").iterdir()}
        with pytest.raises(BlockingIOError, match=rf"in use by process {os.getpid()} on "):
            Checkpoint(tmp_path / "kept", "a fit", 0)
        assert {path: path.read_bytes() for path in (tmp_path / "kept").iterdir()} == before
    with Checkpoint(tmp_path / "kept", "a fit", 0):
        pass


HOLD = """
import os, sys, time
from pathlib import Path
from elmband.ground.folder_lock import FolderLock
lock = FolderLock(Path(sys.argv[1]))
if os.fork() == 0:
    # By now the child has closed its copy: before, the lock would be its as well.
    print("held", flush=True)
    time.sleep(60)
    os._exit(0)
time.sleep(60)
"""


@pytest.mark.slow
def test_the_lock_ends_with_its_process_whatever_the_children_do(tmp_path):
    command = [sys.executable, "-c", HOLD, str(tmp_path)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, start_new_session=True)
    try:
        assert process.stdout.readline() == "held\n"
        with pytest.raises(BlockingIOError, match=f"process {process.pid} "):
            FolderLock(tmp_path)
        process.kill()
        process.wait()
        FolderLock(tmp_path).release()
        assert not any(tmp_path.iterdir())
    finally:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, 9)
        process.stdout.close()


def test_a_lock_that_is_released_as_another_waits_is_not_taken_twice(tmp_path, monkeypatch):
    """The last holder removes the file; whoever had opened it before has the lock of nothing."""
    first, held, lock = FolderLock(tmp_path), [], folder_lock._lock

    def late(file):
        monkeypatch.setattr(folder_lock, "_lock", lock)
        first.release()
        held.append(FolderLock(tmp_path))
        lock(file)

    monkeypatch.setattr(folder_lock, "_lock", late)
    with pytest.raises(BlockingIOError):
        FolderLock(tmp_path)
    held[0].release()


@pytest.mark.parametrize("number", [errno.ENOTSUP, errno.ENOLCK, errno.ENOSYS])
def test_file_systems_without_locks(tmp_path, monkeypatch, number):
    def missing(*_):
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(folder_lock, "_lock", missing)
    held = FolderLock(tmp_path)
    with pytest.raises(BlockingIOError, match=r"If that process is gone, delete .*in-use\.lock"):
        FolderLock(tmp_path)
    held.release()
    process = subprocess.Popen([sys.executable, "-c", ""])
    process.wait()
    note = {"process": process.pid, "host": folder_lock.socket.gethostname(), "since": "then"}
    (tmp_path / LOCK_NAME).write_text(json.dumps(note))
    FolderLock(tmp_path).release()
    (tmp_path / LOCK_NAME).write_text(json.dumps(note | {"host": "elsewhere"}))
    with pytest.raises(BlockingIOError, match=f"process {process.pid} on elsewhere, since then"):
        FolderLock(tmp_path)


@pytest.mark.parametrize(
    "note", ["", "{", "[]", '{"process": []}', "[" * 900, '{"process": 1e999}']
)
def test_notes_that_say_nothing(tmp_path, note):
    held = FolderLock(tmp_path)
    (tmp_path / LOCK_NAME).write_text(note)
    with pytest.raises(BlockingIOError, match="in use by another process"):
        FolderLock(tmp_path)
    held.release()


def test_a_lock_that_is_a_link_leads_nowhere(tmp_path):
    (tmp_path / "kept").mkdir()
    (tmp_path / "thesis").write_text("important")
    (tmp_path / "kept" / LOCK_NAME).symlink_to(tmp_path / "thesis")
    with pytest.raises(OSError, match="could not be kept"):
        Checkpoint(tmp_path / "kept", "a fit", 0)
    assert (tmp_path / "thesis").read_text() == "important"
