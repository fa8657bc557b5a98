"""Fixtures, and the rule that a test said to be needed may not be skipped."""

import os

# scikit-learn reads this at import: its array API checks run instead of being skipped.
os.environ.setdefault("SCIPY_ARRAY_API", "1")
# JAX has float64 only where it is told so before its first array.
os.environ.setdefault("JAX_ENABLE_X64", "1")
os.environ.setdefault("JAX_PLATFORMS", "cpu")

import functools
import gc
import importlib.util
import sys
from pathlib import Path

import array_api_compat.numpy
import array_api_strict
import pytest
from _pytest.doctest import DoctestModule
from hypothesis import settings

# Every worker would compile all tests anew, in ten seconds, and every command all of elmband.
sys.dont_write_bytecode = False
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)

settings.register_profile("house", deadline=None, max_examples=30, derandomize=True)
settings.load_profile("house")

HAS_TORCH = importlib.util.find_spec("torch") is not None
HAS_JAX = importlib.util.find_spec("jax") is not None
# By the name of the mark.
ENGINES = {"ray": ("ray", "Ray"), "spark": ("pyspark", "Spark")}
# JAX compiles for every shape anew, seconds each time: in the inner loop it runs here only.
QUICK_ON_JAX = {"test_classes.py"}
# Workers take seconds to start, and figures of the paper to compute.
SLOW_FIXTURES = {"client", "cluster", "executor", "paper"}


@functools.cache
def has_cuda():
    return HAS_TORCH and importlib.import_module("torch").cuda.is_available()


def pytest_addoption(parser):
    parser.addoption(
        "--require",
        action="append",
        default=[],
        metavar="MARK",
        help="fail unless tests with this mark ran and none of them was skipped",
    )
    parser.addoption(
        "--long", action="store_true", help="run tests marked long as well, which repeat others"
    )


@pytest.hookimpl(wrapper=True)
def pytest_collect_file():
    # Examples stand in src: looking for some in all tests takes seconds, and finds none.
    return [found for found in (yield) if not isinstance(found, DoctestModule)]


@pytest.hookimpl(wrapper=True)
def pytest_collection():
    # Nearly all that is made here lives until the end: there is no garbage to look for in it.
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


def is_slow(item):
    if item.get_closest_marker("long"):
        return True
    on_jax = item.get_closest_marker("jax") and item.path.name not in QUICK_ON_JAX
    return on_jax or SLOW_FIXTURES.intersection(getattr(item, "fixturenames", ()))


def leave_out_long(config, items):
    on_jax = set()
    for item in items:
        if item.get_closest_marker("one_on_jax") and item.get_closest_marker("jax"):
            if (item.path, item.originalname) in on_jax:
                item.add_marker(pytest.mark.long)
            on_jax.add((item.path, item.originalname))
    if not config.getoption("--long"):
        left = [item for item in items if item.get_closest_marker("long")]
        config.hook.pytest_deselected(items=left)
        items[:] = [item for item in items if not item.get_closest_marker("long")]


# Before pytest deselects by marks.
@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config, items):
    leave_out_long(config, items)
    begun = set()
    for item in items:
        function = (item.path, item.originalname) if item.get_closest_marker("one_quick") else None
        if is_slow(item) or function in begun:
            item.add_marker(pytest.mark.slow)
        elif function:
            begun.add(function)
        if item.get_closest_marker("torch") and not HAS_TORCH:
            item.add_marker(pytest.mark.skip(reason="PyTorch is not installed"))
        elif item.get_closest_marker("jax") and not HAS_JAX:
            item.add_marker(pytest.mark.skip(reason="JAX is not installed"))
        elif item.get_closest_marker("cuda") and not has_cuda():
            item.add_marker(pytest.mark.skip(reason="PyTorch sees no CUDA device"))
        for mark, (module, name) in ENGINES.items():
            if item.get_closest_marker(mark) and importlib.util.find_spec(module) is None:
                item.add_marker(pytest.mark.skip(reason=f"{name} is not installed"))


_REQUIRED: dict[str, list[str]] = {}
"""Outcomes of the tests with a required mark."""


def pytest_configure(config):
    # Workers of pytest take all cores already: more threads of BLAS would wait for each other, and
    # a fit takes four times as long. Workers inherit this, and read it at the import of NumPy.
    if config.getoption("numprocesses", None):
        os.environ.setdefault("OMP_NUM_THREADS", "1")
    _REQUIRED.update({mark: [] for mark in config.getoption("--require")})


def pytest_runtest_logreport(report):
    for mark, outcomes in _REQUIRED.items():
        if mark in report.keywords and (report.skipped or report.when == "call"):
            # Those for a GPU have a mark of their own, though they need the library as well.
            if mark == "torch" and "cuda" in report.keywords:
                continue
            outcomes.append(report.outcome)


def pytest_sessionfinish(session):
    on_worker = hasattr(session.config, "workerinput")
    if not on_worker and any("skipped" in o or not o for o in _REQUIRED.values()):
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


def pytest_terminal_summary(terminalreporter):
    for mark, outcomes in _REQUIRED.items():
        skipped = outcomes.count("skipped")
        if skipped or not outcomes:
            reason = f"{skipped} were skipped" if skipped else "none ran"
            terminalreporter.write_line(
                f"Tests marked {mark} are required, but {reason}.", red=True
            )


@pytest.fixture(scope="session")
def data_folder():
    folder = os.environ.get("ELMBAND_DATA")
    if not folder:
        pytest.skip("set ELMBAND_DATA to the folder with the real data sets")
    if not Path(folder).is_dir():
        pytest.fail(f"ELMBAND_DATA names {folder}, which is not a folder")
    return Path(folder)


@pytest.fixture(
    params=[
        "numpy",
        "strict",
        pytest.param("torch", marks=pytest.mark.torch),
        pytest.param("jax", marks=pytest.mark.jax),
    ]
)
def xp(request):
    """Every array library that the tests run on, as its array API namespace."""
    if request.param == "numpy":
        return array_api_compat.numpy
    if request.param == "strict":
        return array_api_strict
    if request.param == "jax":
        return importlib.import_module("jax.numpy")
    return importlib.import_module("array_api_compat.torch")
