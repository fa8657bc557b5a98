"""What is loaded when: modules are counted, since seconds depend on the machine."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

import elmband

HEAVY = {"sklearn", "scipy", "pandas", "pyarrow", "rich", "numpy"}


def loaded(code):
    """Return the packages that a new process has loaded after some code."""
    told = f"{code}\nimport sys\nprint(*{{name.partition('.')[0] for name in sys.modules}})"
    result = subprocess.run(
        [sys.executable, "-c", told], capture_output=True, text=True, check=True, timeout=60
    )
    return set(result.stdout.splitlines()[-1].split())


def test_the_package_itself_loads_nothing():
    assert not HEAVY & loaded("import elmband; elmband.__version__; dir(elmband)")


@pytest.mark.slow
def test_models_load_no_solvers_of_scikit_learn():
    code = "import sys\nfrom elmband import ELMIntervalRegressor\n"
    asked = {"sklearn.linear_model", "sklearn.model_selection", "sklearn.metrics", "rich", "onnx"}
    assert loaded(f"{code}assert not {asked!r} & set(sys.modules)") & {"sklearn"}


def test_names_are_listed_and_others_are_refused():
    assert {*elmband.__all__, "metrics", "datasets"} <= set(dir(elmband))
    assert elmband.models.__name__ == "elmband.models"
    assert elmband.metrics.picp([1.0], [[0.0, 2.0]]) == 1
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        elmband.nothing  # noqa: B018 - looking at it is what fails
    with pytest.raises(ImportError, match="nothing"):
        from elmband import nothing  # noqa: F401, PLC0415


@pytest.mark.slow
def test_type_checkers_know_the_names(tmp_path):
    (tmp_path / "used.py").write_text(
        "import elmband\n"
        "reveal_type(elmband.ELMRegressor())\n"
        "reveal_type(elmband.metrics.picp)\n"
        "elmband.nothing\n"
        "elmband.ELMRegressor(nope=1)\n"
        "elmband.ELMRegressor().set_params(alpha='gcv').score([[1.0]], [1.0])\n",
        encoding="utf-8",
    )
    result = subprocess.run(
        [sys.executable, "-m", "mypy", "--config-file=", "--follow-imports=silent", "used.py"],
        cwd=tmp_path,
        env={**os.environ, "MYPYPATH": str(Path(elmband.__file__).parents[1])},
        capture_output=True,
        text=True,
        check=False,
    )
    assert '"elmband.estimators.point.ELMRegressor"' in result.stdout
    assert "def (y_true: " in result.stdout
    assert 'Module has no attribute "nothing"' in result.stdout
    assert 'Unexpected keyword argument "nope" for "ELMRegressor"' in result.stdout
    assert "Found 2 errors" in result.stdout


def test_a_star_brings_all_names():
    found = {}
    exec("from elmband import *", found)  # noqa: S102
    assert set(elmband.__all__) <= set(found)
    assert found["ELMRegressor"] is elmband.ELMRegressor
