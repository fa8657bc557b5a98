"""Build the wheels and sdists of elmband and elmband-experiments, check them, and run the wheels.

    python -m pip install build twine && python tools/package.py [FOLDER]

Nothing of this checkout may help: the wheels are installed into an empty environment and run in a
folder of its own, elmband first alone, then with elmband-experiments. Each must hold every file of
its package and nothing else, and each sdist must build the same wheel. All four files are left in
the folder, if one is named.
"""

import os
import shutil
import subprocess
import sys
import tempfile
import venv
from collections.abc import Iterator
from pathlib import Path
from zipfile import ZipFile

ROOT = Path(__file__).parent.parent
# Where the two have their pyproject.toml.
PROJECTS = (".", "experiments")
# Nothing is found but what was installed.
CLEAN = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
ABSENT = "elmband reproduce comes with elmband-experiments: pip install elmband-experiments"


def run(*command: object, cwd: Path = ROOT, status: int = 0) -> str:
    """Run a command without the settings of this Python; return what it said."""
    result = subprocess.run(
        [*map(str, command)], cwd=cwd, env=CLEAN, capture_output=True, text=True, check=False
    )
    if result.returncode != status:
        raise SystemExit(f"{' '.join(map(str, command))}\n{result.stdout}{result.stderr}")
    return result.stdout + result.stderr


def only(folder: Path, pattern: str) -> Path:
    """Return the one file that there is."""
    (found,) = folder.glob(pattern)
    return found


def built(project: Path, folder: Path) -> tuple[Path, Path]:
    """Build both into a folder and have their descriptions checked; return wheel and sdist."""
    run(sys.executable, "-m", "build", "--wheel", "--sdist", "--outdir", folder, project)
    wheel, sdist = only(folder, "*.whl"), only(folder, "*.tar.gz")
    run(sys.executable, "-m", "twine", "check", "--strict", wheel, sdist)
    return wheel, sdist


def check_contents(wheel: Path, source: Path) -> None:
    """Refuse a wheel that lacks a file of the package, or holds another, as a test would be."""
    there = (path for path in source.rglob("*") if "__pycache__" not in path.parts)
    wanted = {path.relative_to(source).as_posix() for path in there if path.is_file()}
    with ZipFile(wheel) as packed:
        held = {name for name in packed.namelist() if ".dist-info/" not in name}
    if held != wanted:
        differ = ", ".join(sorted(held ^ wanted))
        raise SystemExit(f"{wheel.name} and {source} differ in {differ}.")


def check_sdist(wheel: Path, sdist: Path, folder: Path) -> None:
    """Refuse an sdist that does not build the same wheel, to the last byte."""
    run(sys.executable, "-m", "pip", "wheel", "--no-deps", "--wheel-dir", folder, sdist)
    if only(folder, "*.whl").read_bytes() != wheel.read_bytes():
        raise SystemExit(f"{sdist.name} builds another wheel than the checkout does.")


class Environment:
    """An empty environment, with a folder to work in that holds nothing else."""

    def __init__(self, folder: Path) -> None:
        venv.create(folder / "empty")
        self.folder, self.home = folder, folder / "empty"
        self.scripts = self.home / ("Scripts" if os.name == "nt" else "bin")

    def install(self, requirement: str) -> None:
        """Install with the pip of this Python: the other has none."""
        # Most of what comes along is never loaded.
        pip = [sys.executable, "-m", "pip", "--python", self.scripts / "python"]
        run(*pip, "install", "--no-compile", requirement)

    def check_origin(self, package: str) -> None:
        """Refuse to go on with a package from anywhere else."""
        show = f"import {package}; print({package}.__file__)"
        found = run(self.scripts / "python", "-c", show, cwd=self.folder).strip()
        if not Path(found).resolve().is_relative_to(self.home.resolve()):
            raise SystemExit(f"Not the wheel was run but {found}")

    def elmband(self, *arguments: str, status: int = 0) -> str:
        """Run the command; return what it said, on one line."""
        said = run(self.scripts / "elmband", *arguments, cwd=self.folder, status=status)
        return " ".join(said.split())

    def check_written(self, name: str) -> None:
        """Refuse a file that is empty."""
        if not (self.folder / name).stat().st_size:
            raise SystemExit(f"{name} is empty.")


def try_alone(environment: Environment, wheel: Path) -> None:
    """Draw the picture of the demo, and ask for the paper's experiments, which are not there."""
    environment.install(f"elmband[plot] @ {wheel.as_uri()}")
    environment.check_origin("elmband")
    environment.elmband("demo", "--output", "demo.png")
    environment.check_written("demo.png")
    for arguments, status in ((["--help"], 0), (["figures", "-o", "paper"], 1)):
        said = environment.elmband("reproduce", *arguments, status=status)
        if ABSENT not in said:
            raise SystemExit(f"elmband reproduce {' '.join(arguments)} does not name it: {said}")


def try_both(environment: Environment, wheel: Path) -> None:
    """Draw the paper's figures of artificial data, roughly."""
    environment.install(f"elmband-experiments @ {wheel.as_uri()}")
    environment.check_origin("elmband_experiments")
    for name in ("reproduce", "pixels"):
        if "elmband-experiments" in environment.elmband(name, "--help"):
            raise SystemExit(f"elmband {name} does not find elmband-experiments.")
    environment.elmband("reproduce", "figures", "--quick", "-o", "paper")
    environment.check_written("paper/index.html")


def checked(project: str, folder: Path) -> Iterator[Path]:
    """Build and check one of the two; yield wheel and sdist."""
    for name in ("dist", "again"):
        (folder / name).mkdir(parents=True)
    wheel, sdist = built(ROOT / project, folder / "dist")
    check_contents(wheel, ROOT / project / "src")
    check_sdist(wheel, sdist, folder / "again")
    yield from (wheel, sdist)


def main() -> None:
    """Do all of it; end with a sentence at the first fault."""
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        files = [path for name in PROJECTS for path in checked(name, folder / "built" / name)]
        environment = Environment(folder)
        core, beside = (path for path in files if path.suffix == ".whl")
        try_alone(environment, core)
        try_both(environment, beside)
        for path in files:
            if len(sys.argv) > 1:
                Path(sys.argv[1]).mkdir(parents=True, exist_ok=True)
                shutil.copy(path, sys.argv[1])
            print(f"{path.name}, {path.stat().st_size:,} bytes: as it should be")


if __name__ == "__main__":
    main()
