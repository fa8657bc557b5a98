"""The two files of triage are one result, whatever happens while they are written."""

import signal
import subprocess
import sys

import pytest
from running import ENVIRONMENT

pytestmark = pytest.mark.slow

# The command, but for what goes wrong at the first rename to a file of the result.
BROKEN = """
import errno, os, signal, sys
from pathlib import Path
from elmband.cli import main
replace, what = Path.replace, sys.argv.pop(1)
def broken(self, target):
    if Path(target).name == what:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
    found = replace(self, target)
    if what.startswith("SIG"):
        os.kill(os.getpid(), getattr(signal, what))
    return found
Path.replace = broken
main()
"""


def triaged(folder, tmp_path, what):
    for name in ("certain.csv", "review.csv"):
        (tmp_path / name).write_text("old")
    command = [sys.executable, "-c", BROKEN, what, "triage", folder / "patients.safetensors",
               folder / "patients.csv", "-o", "certain.csv", "--review", "review.csv",
               "--max-width", "200"]  # fmt: skip
    return subprocess.run(
        [*map(str, command)], cwd=tmp_path, capture_output=True, check=False, env=ENVIRONMENT
    )


def are_old(tmp_path):
    names = sorted(path.name for path in tmp_path.iterdir())
    assert names == ["certain.csv", "review.csv"]
    return [(tmp_path / name).read_text() == "old" for name in names]


@pytest.mark.parametrize("name", ["SIGTERM", "SIGHUP", "SIGINT"])
def test_a_signal_between_the_files_comes_after_both(folder, tmp_path, name):
    ended = triaged(folder, tmp_path, name)
    assert ended.returncode == 128 + getattr(signal, name)
    assert are_old(tmp_path) == [False, False]


@pytest.mark.parametrize("name", ["certain.csv", "review.csv"])
def test_a_full_disk_for_one_leaves_both(folder, tmp_path, name):
    ended = triaged(folder, tmp_path, name)
    assert ended.returncode == 1
    words = f"{name} could not be written and is left as it was: No space left"
    assert words in ended.stderr.decode()
    assert are_old(tmp_path) == [True, True]
