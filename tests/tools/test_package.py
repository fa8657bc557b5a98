"""A wheel that is not the package is refused; what is refused while it is built runs in CI."""

import importlib.util
import sys
from pathlib import Path
from zipfile import ZipFile

import pytest

from elmband.ground.experiments import absent

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def package():
    spec = importlib.util.spec_from_file_location("package", ROOT / "tools" / "package.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def checkout(tmp_path):
    source = tmp_path / "src" / "elmband"
    for name in ("__init__.py", "report/page.css", "__pycache__/old.pyc"):
        (source / name).parent.mkdir(parents=True, exist_ok=True)
        (source / name).touch()
    return tmp_path / "src"


def packed(folder, *names):
    wheel = folder.parent / "elmband.whl"
    with ZipFile(wheel, "w") as file:
        for name in (*names, "elmband-1.dist-info/METADATA"):
            file.writestr(name, "")
    return wheel


def test_a_wheel_holds_every_file_of_the_package(package, checkout):
    package.check_contents(
        packed(checkout, "elmband/__init__.py", "elmband/report/page.css"), checkout
    )
    with pytest.raises(SystemExit, match=r"differ in elmband/report/page\.css\."):
        package.check_contents(packed(checkout, "elmband/__init__.py"), checkout)


def test_a_wheel_holds_nothing_else(package, checkout):
    files = ("elmband/__init__.py", "elmband/report/page.css", "tests/test_it.py")
    with pytest.raises(SystemExit, match=r"differ in tests/test_it\.py\."):
        package.check_contents(packed(checkout, *files), checkout)


def test_a_command_that_fails_says_what_it_said(package):
    with pytest.raises(SystemExit, match="no such folder"):
        package.run(sys.executable, "-c", "import sys; sys.exit('no such folder')")


def test_a_command_that_should_fail_must_fail(package):
    fails = sys.executable, "-c", "import sys; sys.exit('as it should')"
    assert package.run(*fails, status=1).strip() == "as it should"
    with pytest.raises(SystemExit, match="fine"):
        package.run(sys.executable, "-c", "print('fine')", status=1)


def test_the_sentence_that_is_looked_for_is_the_one_that_is_said(package):
    assert absent("elmband reproduce") == package.ABSENT
