"""Build the wheel and the sdist, check them, and run the demo from the wheel alone.

    python -m pip install build twine && python tools/package.py [FOLDER]

Nothing of this checkout may help: the wheel is installed into an empty environment and run in a
folder of its own. It must hold every file of the package and nothing else, and the sdist must
build the same wheel. Both are left in the folder, if one is named.
"""

import os
import shutil
import subprocess
import sys
import tempfile
import venv
from pathlib import Path
from zipfile import ZipFile

ROOT = Path(__file__).parent.parent
# Nothing is found but what was installed.
CLEAN = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}


def run(*command: object, cwd: Path = ROOT) -> str:
    """Run a command without the settings of this Python; return what it said."""
    result = subprocess.run(
        [*map(str, command)], cwd=cwd, env=CLEAN, capture_output=True, text=True, check=False
    )
    if result.returncode:
        raise SystemExit(f"{' '.join(map(str, command))}\n{result.stdout}{result.stderr}")
    return result.stdout


def only(folder: Path, pattern: str) -> Path:
    """Return the one file that there is."""
    (found,) = folder.glob(pattern)
    return found


def built(folder: Path) -> tuple[Path, Path]:
    """Build both into a folder and have their descriptions checked; return wheel and sdist."""
    run(sys.executable, "-m", "build", "--wheel", "--sdist", "--outdir", folder, ROOT)
    wheel, sdist = only(folder, "*.whl"), only(folder, "*.tar.gz")
    run(sys.executable, "-m", "twine", "check", "--strict", wheel, sdist)
    return wheel, sdist


def check_contents(wheel: Path) -> None:
    """Refuse a wheel that lacks a file of the package, or holds another, as a test would be."""
    there = (path for path in (ROOT / "src").rglob("*") if "__pycache__" not in path.parts)
    wanted = {path.relative_to(ROOT / "src").as_posix() for path in there if path.is_file()}
    with ZipFile(wheel) as packed:
        held = {name for name in packed.namelist() if ".dist-info/" not in name}
    if held != wanted:
        raise SystemExit(f"The wheel and src differ in {', '.join(sorted(held ^ wanted))}.")


def check_sdist(wheel: Path, sdist: Path, folder: Path) -> None:
    """Refuse an sdist that does not build the same wheel, to the last byte."""
    run(sys.executable, "-m", "pip", "wheel", "--no-deps", "--wheel-dir", folder, sdist)
    if only(folder, "*.whl").read_bytes() != wheel.read_bytes():
        raise SystemExit(f"{sdist.name} builds another wheel than the checkout does.")


def run_demo(wheel: Path, folder: Path) -> None:
    """Install a wheel into an empty environment, and draw the picture of the demo."""
    venv.create(folder / "empty")
    scripts = folder / "empty" / ("Scripts" if os.name == "nt" else "bin")
    python = scripts / "python"
    # With the pip of this Python: the other has none. Most of what it brings is never loaded.
    install = [sys.executable, "-m", "pip", "--python", python, "install", "--no-compile"]
    run(*install, f"elmband[plot] @ {wheel.as_uri()}")
    found = run(python, "-c", "import elmband; print(elmband.__file__)", cwd=folder)
    if not Path(found.strip()).resolve().is_relative_to((folder / "empty").resolve()):
        raise SystemExit(f"Not the wheel was run but {found}")
    run(scripts / "elmband", "demo", "--output", "demo.png", cwd=folder)
    if not (folder / "demo.png").stat().st_size:
        raise SystemExit("The demo drew nothing.")


def main() -> None:
    """Do all of it; end with a sentence at the first fault."""
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        for name in ("dist", "again", "demo"):
            (folder / name).mkdir()
        wheel, sdist = built(folder / "dist")
        check_contents(wheel)
        check_sdist(wheel, sdist, folder / "again")
        run_demo(wheel, folder / "demo")
        for path in (wheel, sdist):
            if len(sys.argv) > 1:
                Path(sys.argv[1]).mkdir(parents=True, exist_ok=True)
                shutil.copy(path, sys.argv[1])
            print(f"{path.name}, {path.stat().st_size:,} bytes: as it should be")


if __name__ == "__main__":
    main()
