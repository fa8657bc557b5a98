"""SIGTERM and SIGHUP have statuses of their own, also while options are being read."""

import os
import signal
import subprocess
import sys

import pytest
from running import ENVIRONMENT

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not hasattr(signal, "SIGHUP"), reason="signals are for POSIX"),
]

# The command sends a signal to itself right before it reads options: those before the name of a
# command, where Typer turns interruptions into its own end, or those after it.
SCRIPT = """
import os, signal, sys
signal.signal(signal.SIGHUP, signal.SIG_DFL)  # which nohup would have it ignore
import typer.core
from elmband.cli import main

kind, number = getattr(typer.core, sys.argv.pop(1)), int(sys.argv.pop(1))
kept = kind.parse_args

def parse_args(*arguments):
    os.kill(os.getpid(), number)
    return kept(*arguments)

kind.parse_args = parse_args
main()
"""

# As compiled modules do that are interrupted in their import.
TURNED = """
import os, signal, sys
signal.signal(signal.SIGHUP, signal.SIG_DFL)
from elmband.cli import app, main, _status

def turned(*_):
    try:
        os.kill(os.getpid(), int(sys.argv[1]))
    except KeyboardInterrupt:
        raise ImportError("initialisation failed")

_status.Commands.make_context = turned
main()
"""

STATUS = {signal.SIGTERM: 143, signal.SIGHUP: 129, signal.SIGINT: 130}


def ended(script, *arguments):
    result = subprocess.run(
        [sys.executable, "-c", script, *map(str, arguments)],
        capture_output=True,
        check=False,
        env=ENVIRONMENT,
        timeout=120,
    )
    return result.returncode, result.stderr.decode()


@pytest.mark.parametrize("kind", ["TyperGroup", "TyperCommand"])
@pytest.mark.parametrize("number", STATUS)
def test_while_options_are_read(kind, number):
    assert ended(SCRIPT, kind, int(number), "info", os.devnull) == (STATUS[number], "")


@pytest.mark.parametrize("number", STATUS)
def test_where_a_module_turns_a_signal_into_an_error(number):
    assert ended(TURNED, int(number)) == (STATUS[number], "")
