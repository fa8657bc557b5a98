"""Ctrl-C at any moment from the first on: status 130, and not a word."""

import os
import signal
import subprocess
import sys
import time

import pytest
from running import ENVIRONMENT

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not hasattr(os, "killpg"), reason="signals are for POSIX"),
]

# As in the script of an installation; the first line stands for its name.
SCRIPT = "import sys; sys.argv[0] = 'elmband'; from elmband.cli import main; sys.exit(main())"
WAYS = {"module": ["-m", "elmband"], "script": ["-c", SCRIPT]}


def started(way, *arguments, **options):
    return subprocess.Popen(
        [sys.executable, "-X", "importtime", *WAYS[way], *arguments],
        env=ENVIRONMENT,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
        **options,
    )


def ended(process):
    """Return the status, and what was said beside the times of imports."""
    _, complained = process.communicate(timeout=120)
    lines = complained.splitlines(keepends=True)
    return process.returncode, "".join(x for x in lines if not x.startswith("import time:"))


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize(
    "module",
    [
        "elmband.ground.loading",
        "numpy",
        "scipy.linalg",
        "sklearn",
        "typer",
        "elmband.estimators._model",
    ],
)
def test_while_modules_are_loaded(way, module):
    process = started(way, "info", "nothing.safetensors")
    # Lines of -X importtime come as modules do.
    for line in process.stderr:
        if line.split("|")[-1].strip() == module:
            break
    process.send_signal(signal.SIGINT)
    assert ended(process) == (130, "")


@pytest.mark.parametrize("delay", [0.0, 0.05, 0.1, 0.2, 0.4, 0.8, 1.6])
def test_some_time_after_our_first_line(tmp_path, delay):
    command = ["demo", "-o", "picture.png"]
    process = started("module", *command, cwd=tmp_path)
    for line in process.stderr:
        if "elmband.ground.loading" in line:
            break
    time.sleep(delay)
    process.send_signal(signal.SIGINT)
    assert ended(process) == (130, "")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("delay", [0.0, 0.3, 1.0, 2.0])
def test_while_workers_start(tmp_path, delay):
    pytest.importorskip("distributed")
    rows = "\n".join(f"{k},{k % 7}" for k in range(500))
    (tmp_path / "rows.csv").write_text(f"x,y\n{rows}\n", encoding="utf-8")
    command = ["fit", "rows.csv", "-t", "y", "-o", "m.safetensors", "--workers", "2"]
    process = started("module", *command, cwd=tmp_path)
    for line in process.stderr:
        if line.split("|")[-1].strip() == "distributed":
            break
    time.sleep(delay)
    # As a terminal does: to all processes of the command.
    os.killpg(process.pid, signal.SIGINT)
    assert ended(process) == (130, "")
    assert [path.name for path in tmp_path.iterdir()] == ["rows.csv"]
