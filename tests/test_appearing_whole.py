import os
import stat
import tempfile
from pathlib import Path

import pytest

from elmband.ground.files import appearing_whole, check_writable, lies_in, naming


def names(folder):
    return sorted(path.name for path in folder.iterdir())


@pytest.mark.parametrize("old", [None, "old"])
def test_the_file_appears_only_at_the_end(tmp_path, old):
    path = tmp_path / "result.txt"
    if old:
        path.write_text(old)
    with appearing_whole(path) as temporary:
        temporary.write_text("new")
        assert temporary.parent == tmp_path
        assert temporary.name.startswith(".result.txt.")
        assert temporary.suffix == ".partial"
        assert (path.read_text() if path.exists() else None) == old
    assert path.read_text() == "new"
    assert names(tmp_path) == ["result.txt"]


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt, SystemExit, OSError])
@pytest.mark.parametrize("old", [None, "old"])
def test_after_an_exception_all_is_as_before(tmp_path, old, error):
    path = tmp_path / "result.txt"
    if old:
        path.write_text(old)
    mine = error("of the caller")

    def fail():
        with appearing_whole(path) as temporary:
            temporary.write_text("half")
            raise mine

    with pytest.raises(error) as caught:
        fail()
    assert caught.value is mine
    assert names(tmp_path) == (["result.txt"] if old else [])
    assert not old or path.read_text() == old


def test_it_is_on_the_disk_before_it_takes_the_name(tmp_path, monkeypatch):
    path, seen = tmp_path / "result.txt", []

    def record(descriptor):
        found = os.fstat(descriptor)
        seen.append(("folder" if stat.S_ISDIR(found.st_mode) else found.st_size, path.exists()))

    monkeypatch.setattr(os, "fsync", record)
    with appearing_whole(path) as temporary:
        temporary.write_text("12345")
    assert seen == [(5, False), ("folder", True)]
    assert path.read_text() == "12345"


@pytest.mark.parametrize("method", ["touch", "replace"])
def test_failures_of_the_system_are_a_sentence_with_the_path(tmp_path, monkeypatch, method):
    path = tmp_path / "result.txt"
    path.write_text("old")

    def refuse(*_, **__):
        raise PermissionError(13, "Permission denied", "another name")

    monkeypatch.setattr(Path, method, refuse)
    with pytest.raises(OSError, match="left as it was") as caught, appearing_whole(path):
        pass
    assert str(caught.value) == (
        f"{path} could not be written and is left as it was: Permission denied."
    )
    assert path.read_text() == "old"
    assert names(tmp_path) == ["result.txt"]


def test_a_folder_that_cannot_be_written_to(tmp_path, monkeypatch):
    def refuse(**_):
        raise OSError(30, "Read-only file system")

    monkeypatch.setattr(tempfile, "TemporaryFile", refuse)
    with pytest.raises(OSError, match="cannot be written to: Read-only file system"):
        check_writable(tmp_path / "result.txt")


def test_the_longest_name_that_the_system_takes(tmp_path):
    path = tmp_path / ("ü" * 120 + ".txt")
    with appearing_whole(path) as temporary:
        temporary.write_text("new")
    assert names(tmp_path) == [path.name]
    too_long = tmp_path / ("x" * 300)
    with pytest.raises(OSError, match="could not be written and is left as it was: File name"):
        check_writable(too_long)


@pytest.mark.skipif(os.name == "nt", reason="POSIX modes")
def test_who_may_read_the_file_stays_as_it_was(tmp_path):
    path = tmp_path / "secret.txt"
    path.touch(mode=0o600)
    with appearing_whole(path):
        pass
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_places_that_cannot_be_written(tmp_path):
    with pytest.raises(IsADirectoryError, match="is a folder; the output needs the name"):
        check_writable(tmp_path)
    with pytest.raises(NotADirectoryError, match=r"nowhere does not exist; make it first\."):
        check_writable(tmp_path / "nowhere" / "result.txt")
    (tmp_path / "file").touch()
    with pytest.raises(NotADirectoryError, match="does not exist"):
        check_writable(tmp_path / "file" / "result.txt")


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no pipes with names")
def test_a_pipe_is_not_replaced(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(OSError, match="a device or a pipe"), appearing_whole(tmp_path / "pipe"):
        pass
    assert (tmp_path / "pipe").is_fifo()


def test_errors_without_a_number_keep_their_words():
    with pytest.raises(OSError, match=r"^a could not be .*: it fell over\.$"), naming(Path("a")):
        raise OSError("it fell over")
    with pytest.raises(ValueError, match=r"^mine$"), naming(Path("a")):
        raise ValueError("mine")


def test_a_read_only_file_is_not_replaced(tmp_path):
    path = tmp_path / "result.txt"
    path.write_text("old")
    path.chmod(0o444)
    with pytest.raises(OSError, match="is there already and read-only"):
        check_writable(path)
    with pytest.raises(OSError, match="read-only"), appearing_whole(path):
        pass
    assert path.read_text() == "old"


def test_all_names_of_a_place_are_one(tmp_path):
    folder, file = tmp_path / "folder", tmp_path / "file"
    folder.mkdir()
    file.write_text("here")
    (tmp_path / "link").symlink_to(folder, target_is_directory=True)
    (tmp_path / "twin").hardlink_to(file)
    for path in (file, tmp_path / "twin", tmp_path / "folder" / ".." / "file"):
        assert lies_in(path, [file])
    for path in (folder, folder / "new", tmp_path / "link" / "deep" / "new"):
        assert lies_in(path, [file, folder])
    assert not lies_in(tmp_path / "new", [file, folder, tmp_path / "nowhere"])
    assert not lies_in(tmp_path / "new", [])


def test_a_file_that_is_mounted_is_not_replaced(tmp_path, monkeypatch):
    path = tmp_path / "result.txt"
    path.write_text("old")
    monkeypatch.setattr(os.path, "ismount", lambda place: Path(place) == path)
    with pytest.raises(OSError, match=r"result\.txt is mounted there and cannot be replaced; name"):
        check_writable(path)
    check_writable(tmp_path / "other.txt")


def test_a_file_that_the_system_closes_to_this_user_is_not_replaced(tmp_path, monkeypatch):
    path = tmp_path / "result.txt"
    path.write_text("old")
    monkeypatch.setattr(os, "access", lambda place, mode: (Path(place), mode) != (path, os.W_OK))
    with pytest.raises(OSError, match=r"result\.txt is there already and read-only; name another"):
        check_writable(path)
    check_writable(tmp_path / "other.txt")


@pytest.mark.skipif(not hasattr(os, "geteuid"), reason="the system has no numbers of users")
def test_files_of_others_are_not_replaced_in_a_folder_where_only_they_may(tmp_path, monkeypatch):
    path, me = tmp_path / "result.txt", os.geteuid()
    path.write_text("old")
    tmp_path.chmod(0o1777)
    check_writable(path)
    monkeypatch.setattr(os, "geteuid", lambda: me + 12345)
    with pytest.raises(OSError, match=r"result\.txt belongs to somebody else"):
        check_writable(path)
    tmp_path.chmod(0o777)
    check_writable(path)
