"""Commands with faults, as ``python -m benchmarks.faults`` injects them, a few of each kind."""

import importlib.util
import sys
from contextlib import closing
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT))

_NEEDED = ("h5py", "pandas", "PIL", "pyarrow", "zarr")
# The benchmarks are in the repository only, and tell the system of Linux what to do.
if (
    not (ROOT / "benchmarks").is_dir()
    or not sys.platform.startswith("linux")
    or not all(map(importlib.util.find_spec, _NEEDED))
):
    collect_ignore_glob = ["test_*.py"]


@pytest.fixture(scope="session")
def trials(tmp_path_factory):
    from benchmarks.faults import material, processes, shim, trial  # noqa: PLC0415

    folder = tmp_path_factory.mktemp("faults")
    with closing(processes.Server(folder / "logs", shim.compiled(folder))) as server:
        material.make(folder / "material", server)
        yield trial.Trials(server, folder / "material", folder / "run")


@pytest.fixture
def needs_shim(trials):
    if trials.server.library is None:
        pytest.skip("there is no C compiler")
