"""The command in a process of its own, forked from one that has imported elmband already.

Imports take longer than most commands do. ``running.run`` starts an interpreter for each, as users
do: tests of how processes begin and end use that.
"""

import functools
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import running

_SECONDS = 120
# A child leaves the loop, and ends as any interpreter does.
_SERVER = """
import gc, json, os, signal, sys
from elmband.cli import main
# What commands load when they are called.
import elmband.cli.demo, elmband.cli.evaluate, elmband.cli.export, elmband.cli.fit
import elmband.cli.info, elmband.cli.predict, elmband.cli.report, elmband.cli.triage

gc.freeze()
for line in sys.stdin:
    asked = json.loads(line)
    child = os.fork()
    if child == 0:
        signal.alarm(asked["seconds"])
        os.chdir(asked["folder"])
        for number, name in enumerate(("in", "out", "err")):
            flags = os.O_WRONLY | os.O_CREAT if number else os.O_RDONLY
            os.dup2(os.open(asked[name], flags), number)
        sys.stdin, sys.stdout, sys.stderr = open(0), open(1, "w"), open(2, "w")
        sys.argv = ["elmband", *asked["arguments"]]
        main()
        break
    print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)
"""


@functools.cache
def _server():
    # It ends with this process, whose end closes its input.
    return subprocess.Popen(
        [sys.executable, "-c", _SERVER],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env=running.ENVIRONMENT,
        text=True,
    )


def run(*arguments, given=None, cwd=None, code=0):
    """Run elmband; return what it printed and what it complained about."""
    if not hasattr(os, "fork"):
        return running.run(*arguments, given=given, cwd=cwd, code=code)
    with tempfile.TemporaryDirectory() as place:
        files = {name: Path(place, name) for name in ("in", "out", "err")}
        files["in"].write_bytes(given or b"")
        asked = {name: str(path) for name, path in files.items()}
        asked |= {"arguments": [*map(str, arguments)], "folder": str(cwd or Path.cwd())}
        server = _server()
        print(json.dumps(asked | {"seconds": _SECONDS}), file=server.stdin, flush=True)
        status = int(server.stdout.readline())
        said, complained = (files[name].read_text("utf-8") for name in ("out", "err"))
    assert status == code, said + complained
    assert "Traceback" not in complained
    assert "Warning" not in complained
    return said, complained
