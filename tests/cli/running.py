"""The installed command, run as a user would: in a process of its own."""

import os
import subprocess
import sys
from pathlib import Path

_INSTALLED = Path(sys.executable).with_name("elmband")
COMMAND = [str(_INSTALLED)] if _INSTALLED.exists() else [sys.executable, "-m", "elmband"]
ENVIRONMENT = {
    **os.environ,
    "COLUMNS": "200",
    "NO_COLOR": "1",
    "PATH": os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")]),
}


def run(*arguments, given=None, cwd=None, code=0):
    """Run elmband; return what it printed and what it complained about."""
    result = subprocess.run(
        [*COMMAND, *map(str, arguments)],
        input=given,
        capture_output=True,
        cwd=cwd,
        check=False,
        env=ENVIRONMENT,
        timeout=120,
    )
    said, complained = result.stdout.decode(), result.stderr.decode()
    assert result.returncode == code, said + complained
    assert "Traceback" not in complained
    assert "Warning" not in complained
    return said, complained


def in_shell(line, cwd, code=0):
    """Run a line of bash, in which elmband is found; return both streams as text."""
    result = subprocess.run(
        ["/bin/bash", "-o", "pipefail", "-c", line],
        cwd=cwd,
        capture_output=True,
        check=False,
        env=ENVIRONMENT,
        timeout=120,
    )
    said, complained = result.stdout.decode(), result.stderr.decode()
    assert result.returncode == code, said + complained
    assert "Traceback" not in complained
    assert "Exception ignored" not in complained
    return said, complained


def is_one_sentence(complained):
    return complained.startswith("Error: ") and complained.count("\n") == 1
