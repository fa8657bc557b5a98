"""Several outputs are one result: all of them appear, or none does."""

import errno
import os
import signal
import threading
from pathlib import Path

import numpy as np
import pytest

from elmband.cli._demo_task import write_tables
from elmband.cli._write import table_writers
from elmband.engines.cluster.written import appearing_folders
from elmband.ground.files import appearing_together, signals_held
from elmband.sources.stream.write import open_writers
from elmband_experiments.paper.base import Result
from elmband_experiments.paper.write import _write_result, _write_texts

NAMES = ["one.csv", "two.csv", "three.csv"]


@pytest.fixture(params=["new", "old"])
def folder(tmp_path, request):
    """Give a folder in which the outputs stand already, or do not."""
    if request.param == "old":
        for name in NAMES:
            (tmp_path / name).write_text(f"old {name}")
    return tmp_path


def content(folder):
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def write(paths):
    with appearing_together(paths) as temporary:
        for path in temporary:
            path.write_text("new")


def fail_at(monkeypatch, name, method="replace"):
    """Let no file take this name; others are renamed as ever."""
    real = getattr(Path, method)

    def refuse(self, target):
        if Path(target).name == name and self.suffix == ".partial":
            raise OSError(errno.EIO, os.strerror(errno.EIO))
        return real(self, target)

    monkeypatch.setattr(Path, method, refuse)


@pytest.mark.parametrize("name", NAMES)
def test_a_name_that_cannot_be_taken_gives_the_others_back(folder, monkeypatch, name):
    before = content(folder)
    fail_at(monkeypatch, name)
    with pytest.raises(OSError, match=f"{name} could not be written and is left as it was: Input"):
        write([folder / name for name in NAMES])
    assert content(folder) == before


def test_file_systems_without_second_names(folder, monkeypatch):
    def refuse(*_, **__):
        raise PermissionError(errno.EPERM, os.strerror(errno.EPERM))

    monkeypatch.setattr(os, "link", refuse)
    before = content(folder)
    with monkeypatch.context() as broken:
        fail_at(broken, NAMES[1])
        with pytest.raises(OSError, match="left as it was"):
            write([folder / name for name in NAMES])
    assert content(folder) == before
    write([folder / name for name in NAMES])
    assert content(folder) == dict.fromkeys(NAMES, b"new")


def test_a_link_is_put_back_as_a_link(tmp_path, monkeypatch):
    (tmp_path / "real.csv").write_text("old")
    (tmp_path / NAMES[0]).symlink_to("real.csv")
    fail_at(monkeypatch, NAMES[1])
    with pytest.raises(OSError, match="left as it was"):
        write([tmp_path / name for name in NAMES])
    assert (tmp_path / NAMES[0]).readlink() == Path("real.csv")
    assert sorted(content(tmp_path)) == [NAMES[0], "real.csv"]


def test_what_cannot_be_put_back_is_said(folder, monkeypatch):
    real, calls = Path.replace, []

    def once(self, target):
        calls.append(target)
        if len(calls) > 1:
            raise OSError(errno.EIO, os.strerror(errno.EIO))
        return real(self, target)

    monkeypatch.setattr(Path, "replace", once)
    before = content(folder)
    words = r"two\.csv could not be written .*one\.csv is new already, and could not be put back"
    with pytest.raises(OSError, match=words) as caught:
        write([folder / name for name in NAMES])
    # What was there is not lost.
    aside = [path for path in folder.iterdir() if path.suffix == ".replaced"]
    assert [path.read_bytes() for path in aside] == ([before[NAMES[0]]] if before else [])
    assert all(path.name in str(caught.value) for path in aside)


def send_between(monkeypatch, number):
    """Send this process a signal after every rename."""
    real = Path.replace

    def replace(self, target):
        found = real(self, target)
        os.kill(os.getpid(), number)
        return found

    monkeypatch.setattr(Path, "replace", replace)


@pytest.mark.parametrize("name", ["SIGINT", "SIGTERM", "SIGHUP"])
def test_a_signal_waits_for_the_last_rename(folder, monkeypatch, name):
    number = getattr(signal, name)
    was = signal.getsignal(number)

    def end(*_):
        raise KeyboardInterrupt

    signal.signal(number, end)
    try:
        send_between(monkeypatch, number)
        with pytest.raises(KeyboardInterrupt):
            write([folder / name for name in NAMES])
        assert signal.getsignal(number) is end
    finally:
        signal.signal(number, was)
    assert content(folder) == dict.fromkeys(NAMES, b"new")


def test_what_is_ignored_stays_ignored(folder, monkeypatch):
    was = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        send_between(monkeypatch, signal.SIGHUP)
        write([folder / name for name in NAMES])
        assert signal.getsignal(signal.SIGHUP) == signal.SIG_IGN
    finally:
        signal.signal(signal.SIGHUP, was)


def test_signals_are_held_in_other_threads_too_without_a_word(tmp_path):
    failures = []

    def work():
        try:
            with signals_held():
                write([tmp_path / name for name in NAMES])
        except BaseException as error:  # noqa: BLE001 (told in the main thread)
            failures.append(error)

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert failures == []
    assert sorted(content(tmp_path)) == sorted(NAMES)


def test_what_a_kill_leaves_can_be_told(folder, monkeypatch):
    """Only names say it: the process has no time for anything else."""
    before = content(folder)
    seen = []
    real = Path.replace

    def look(self, target):
        found = real(self, target)
        seen.append(content(folder))
        return found

    monkeypatch.setattr(Path, "replace", look)
    write([folder / name for name in NAMES])
    for k, there in enumerate(seen[:-1]):
        endings = {name.rpartition(".")[2]: name for name in there if name.startswith(".")}
        assert "partial" in endings
        assert ("replaced" in endings) == bool(before)
        # Whole files, new or as before.
        assert {there[name] for name in NAMES[: k + 1]} == {b"new"}
        assert all(there.get(name) == before.get(name) for name in NAMES[k + 1 :])
    assert content(folder) == dict.fromkeys(NAMES, b"new")


def two_tables(folder):
    pa = pytest.importorskip("pyarrow")
    with table_writers([str(folder / name) for name in NAMES[:2]]) as writers:
        for write in writers:
            write(pa.table({"x": [1, 2]}))


def two_arrays(folder):
    with open_writers([folder / "one.npy", folder / NAMES[1]], ["x"]) as writers:
        for write in writers:
            write(np.ones((3, 1)))


def demo_tables(folder):
    write_tables(folder, 0)


def folders(folder):
    with appearing_folders([folder / "a", folder / "b"]) as hidden:
        for place in hidden:
            (place / "part").touch()


def one_experiment(folder):
    result = Result(figures={}, tables={"one": [{"x": 1}], "two": [{"x": 2}]}, found=[])
    _write_result(folder, result)


def page_and_numbers(folder):
    _write_texts({folder / "one.txt": "1", folder / "two.txt": "2"})


@pytest.mark.parametrize(
    ("work", "last"),
    [
        (two_tables, "two.csv"),
        (two_arrays, "two.csv"),
        (demo_tables, "test.csv"),
        (folders, "b"),
        (one_experiment, "two.csv"),
        (page_and_numbers, "two.txt"),
    ],
)
def test_everything_that_writes_several_files_writes_all_or_none(tmp_path, monkeypatch, work, last):
    with monkeypatch.context() as broken:
        for method in ("replace", "rename"):
            fail_at(broken, last, method)
        with pytest.raises(OSError, match=f"{last} could not be written and is left as it was"):
            work(tmp_path)
    assert list(tmp_path.iterdir()) == []
    work(tmp_path)
    assert len(list(tmp_path.iterdir())) == 2
