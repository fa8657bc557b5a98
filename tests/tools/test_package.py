"""A wheel that is not the package is refused; what is refused while it is built runs in CI."""

import importlib.util
import sys
from pathlib import Path
from zipfile import ZipFile

import pytest

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def package():
    spec = importlib.util.spec_from_file_location("package", ROOT / "tools" / "package.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def checkout(package, tmp_path, monkeypatch):
    source = tmp_path / "src" / "elmband"
    for name in ("__init__.py", "report/page.css", "__pycache__/old.pyc"):
        (source / name).parent.mkdir(parents=True, exist_ok=True)
        (source / name).touch()
    monkeypatch.setattr(package, "ROOT", tmp_path)
    return tmp_path


def packed(folder, *names):
    wheel = folder / "elmband.whl"
    with ZipFile(wheel, "w") as file:
        for name in (*names, "elmband-1.dist-info/METADATA"):
            file.writestr(name, "")
    return wheel


def test_a_wheel_holds_every_file_of_the_package(package, checkout):
    package.check_contents(packed(checkout, "elmband/__init__.py", "elmband/report/page.css"))
    with pytest.raises(SystemExit, match=r"differ in elmband/report/page\.css\."):
        package.check_contents(packed(checkout, "elmband/__init__.py"))


def test_a_wheel_holds_nothing_else(package, checkout):
    files = ("elmband/__init__.py", "elmband/report/page.css", "tests/test_it.py")
    with pytest.raises(SystemExit, match=r"differ in tests/test_it\.py\."):
        package.check_contents(packed(checkout, *files))


def test_a_command_that_fails_says_what_it_said(package):
    with pytest.raises(SystemExit, match="no such folder"):
        package.run(sys.executable, "-c", "import sys; sys.exit('no such folder')")
