"""The recipes of the docs: tasks of Ray and of Spark learn the model of one machine."""

import importlib.util
import os
import secrets
import shutil
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pytest
from sklearn.base import clone

from elmband import scan

# Both engines fork and run other programs at once; JAX, if a test has loaded it, warns of forks.
pytestmark = pytest.mark.filterwarnings(r"ignore:os\.fork\(\) was called:RuntimeWarning")

RECIPES = Path(__file__).parents[2] / "docs" / "recipes"
PIECES = 5


def recipe(name):
    path = RECIPES / f"{name}.py"
    if not path.exists():
        pytest.skip("the docs are not here")
    spec = importlib.util.spec_from_file_location(name, path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def files(tmp_path, rows):
    table = np.column_stack(rows)
    for k, part in enumerate(np.array_split(table, PIECES)):
        np.save(tmp_path / f"{k}.npy", part)
    return scan(tmp_path, target=-1)


@pytest.fixture
def on_ray(monkeypatch):
    """Start Ray on loopback only: it tells nobody of its use and leaves nothing behind."""
    monkeypatch.setenv("RAY_USAGE_STATS_ENABLED", "0")
    monkeypatch.setenv("RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER", "0")
    monkeypatch.setenv("RAY_AUTH_TOKEN", secrets.token_hex(32))
    ray = pytest.importorskip("ray")
    # Sockets lie in this folder, whose name must be short.
    with TemporaryDirectory() as folder:
        try:
            ray.init(
                num_cpus=2,
                include_dashboard=False,
                log_to_driver=False,
                object_store_memory=100_000_000,
                _node_ip_address="127.0.0.1",
                _temp_dir=folder,
            )
            yield recipe("on_ray").RayExecutor()
        finally:
            ray.shutdown()


@pytest.fixture
def on_spark(monkeypatch):
    """Start Spark in one process of Java, on loopback only."""
    pyspark = pytest.importorskip("pyspark")
    if not (shutil.which("java") or "JAVA_HOME" in os.environ):
        pytest.skip("Spark needs Java")
    monkeypatch.setenv("SPARK_LOCAL_IP", "127.0.0.1")
    monkeypatch.setenv("PYSPARK_PYTHON", sys.executable)
    settings = {
        "spark.ui.enabled": "false",
        "spark.driver.host": "127.0.0.1",
        "spark.driver.bindAddress": "127.0.0.1",
    }
    conf = pyspark.SparkConf().setMaster("local[2]").setAppName("elmband").setAll(settings.items())
    with pyspark.SparkContext(conf=conf) as context:
        context.setLogLevel("ERROR")
        yield recipe("on_spark").SparkExecutor(context)


def check(executor, files, rows, published, assert_same):
    X, y = rows
    with executor:
        assert executor.submit(lambda: os.getpid()).result() != os.getpid()  # noqa: PLW0108 - by value
        found = clone(published).fit(files, client=executor)
        evaluation = found.evaluate(files, client=executor)
    assert_same(found, clone(published).fit(X, y), X)
    assert str(evaluation) == str(found.evaluate(X, y))


@pytest.mark.slow
@pytest.mark.ray
@pytest.mark.usefixtures("never_fetched")
def test_tasks_of_ray_read_the_files(on_ray, files, rows, published, assert_same):
    check(on_ray, files, rows, published, assert_same)


@pytest.mark.slow
@pytest.mark.spark
@pytest.mark.usefixtures("never_fetched")
def test_jobs_of_spark_read_the_files(on_spark, files, rows, published, assert_same):
    check(on_spark, files, rows, published, assert_same)
