"""The experiments that need no data, run once for all tests, by the command itself."""

import json
import os
import time
from pathlib import Path
from types import SimpleNamespace

import pytest
from typer.testing import CliRunner

from elmband.cli import app

MOST_SECONDS = 400


@pytest.fixture(scope="session")
def paper(tmp_path_factory):
    """Give the folder of a run of everything that needs no data, and what the command said."""
    base = tmp_path_factory.getbasetemp()
    if "PYTEST_XDIST_WORKER" not in os.environ:
        return made(base / "paper")
    # One of the processes makes it, the others wait: the folder above is that of all of them.
    shared = base.parent / "paper"
    try:
        shared.mkdir()
    except FileExistsError:
        return waited_for(shared)
    return made(shared)


def made(folder):
    with pytest.MonkeyPatch.context() as patch:
        patch.delenv("ELMBAND_DATA", raising=False)
        patch.setenv("ELMBAND_CACHE", str(folder / "no cache"))
        arguments = ["reproduce", "--quick", "-o", str(folder), "--json"]
        said = CliRunner().invoke(app, arguments)
    (folder / "said.json").write_text(said.stdout if said.exit_code == 0 else "{}", "utf-8")
    assert said.exit_code == 0, said.output
    return found(folder)


def waited_for(folder):
    for _ in range(10 * MOST_SECONDS):
        if (folder / "said.json").exists():
            return found(folder)
        time.sleep(0.1)
    pytest.fail(f"{folder} was not made within {MOST_SECONDS} s")


def found(folder: Path):
    said = json.loads((folder / "said.json").read_text("utf-8"))
    results = json.loads((folder / "results.json").read_text("utf-8"))
    tables = {name: t for one in results["experiments"] for name, t in one["tables"].items()}
    return SimpleNamespace(folder=folder, said=said, results=results, tables=tables)
