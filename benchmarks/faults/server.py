"""A process that has everything imported, and forks a child for one command or for many.

Most of a short command is the import of its libraries. Here that is done once, and a child that
crashes, hangs or fills its memory takes nothing else with it. Requests are lines of JSON on
standard input; the answers, to the descriptor given, are the child's number, the status of every
command that ended by itself, and the end of the child.
"""

import importlib
import json
import os
import resource
import signal
import sys
import traceback
from contextlib import suppress
from typing import Any, NoReturn

from benchmarks.faults.shim import Fault, arm

# Whatever a command might import while it runs; what is missing is missing for the command too.
_LIBRARIES = (
    "array_api_compat.numpy",
    "elmband.cli",
    "h5py",
    "jinja2",
    "matplotlib.backends.backend_agg",
    "matplotlib.pyplot",
    "narwhals._arrow.dataframe",
    "onnx",
    "PIL.Image",
    "pyarrow.compute",
    "pyarrow.csv",
    "pyarrow.dataset",
    "pyarrow.parquet",
    "pydantic.type_adapter",
    "safetensors.numpy",
    "sklearn.datasets",
    "typer._adapters",
    "vl_convert",
    "zarr",
)


def main(answers: int) -> None:
    """Serve until standard input ends."""
    for name in _LIBRARIES:
        with suppress(ImportError):
            importlib.import_module(name)
    _answer(answers, {"ready": os.getpid()})
    for line in sys.stdin.buffer:
        child = os.fork()
        if not child:
            _run(json.loads(line), answers)
        _answer(answers, {"pid": child})
        _, status = os.waitpid(child, 0)
        _answer(answers, {"status": os.waitstatus_to_exitcode(status)})


def _answer(answers: int, record: dict[str, Any]) -> None:
    os.write(answers, json.dumps(record).encode() + b"\n")


def _run(request: dict[str, Any], answers: int) -> NoReturn:
    """Run commands as if each had been started by itself, and end with the status of the last."""
    status = 70
    try:
        _take_limits(request["limits"])
        for command in request["commands"]:
            _take_place(command)
            status = _command(command, answers)
    finally:
        os._exit(status)


def _take_limits(limits: dict[str, int]) -> None:
    os.setpgid(0, 0)
    for name, most in {"CORE": 0, **limits}.items():
        resource.setrlimit(getattr(resource, f"RLIMIT_{name}"), (most, most))
    if "FSIZE" in limits:
        # A file that grows too large is an error of the call, as a full disk is.
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)


def _take_place(command: dict[str, Any]) -> None:
    """Take the folder, the streams and the signals of a command."""
    os.chdir(command["folder"])
    streams = {0: os.open(os.devnull, os.O_RDONLY)}
    for name, descriptor in (("out", 1), ("err", 2)):
        streams[descriptor] = os.open(command[name], os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    for descriptor, file in streams.items():
        os.dup2(file, descriptor)
        os.close(file)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    # As a command has it while it is loaded.
    importlib.import_module("elmband.ground.loading").begin()


def _command(command: dict[str, Any], answers: int) -> int:
    names = "cli", "engines.checkpoint"
    cli, checkpoint = (importlib.import_module(f"elmband.{name}") for name in names)
    # Every chunk is kept, so that there is something to be damaged.
    checkpoint._PATIENCE = 0.0  # noqa: SLF001
    sys.argv = ["elmband", *command["arguments"]]
    seen = arm(Fault(**command["fault"])) if command["fault"] else None
    try:
        cli.main()
        status = 0
    except SystemExit as ended:
        status = ended.code if isinstance(ended.code, int) else int(ended.code is not None)
    except BaseException:  # noqa: BLE001 - as Python ends a process
        traceback.print_exc()
        status = 1
    with suppress(OSError):
        sys.stdout.flush()
        sys.stderr.flush()
    _answer(answers, {"ended": status, "calls": seen() if seen else 0})
    return status


if __name__ == "__main__":
    main(int(sys.argv[1]))
