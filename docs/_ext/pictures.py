"""Pictures are drawn while the site is built, by scripts that anyone can run.

A script of ``gallery/`` or ``pictures/`` leaves one picture of its own name in the folder that it
is given. A warning of Python is an error in both.
"""

import runpy
import shutil
import sys
import warnings
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from sphinx.application import Sphinx
from sphinx.util.logging import getLogger
from sphinx_gallery.scrapers import figure_rst

_LOGGER = getLogger(__name__)
_FOLDER = TemporaryDirectory(prefix="elmband-gallery-")
_BEFORE: list[Any] = []
# What a newcomer should see first; others follow.
_FIRST = (
    "intervals",
    "displays",
    "variance_parts",
    "off_distribution",
    "calibrate",
    "groups",
    "asymmetric",
    "transform",
    "tables",
    "abstain",
    "promise",
    "report",
    "scan",
    "updates",
    "save",
    "to_onnx",
    "gpu",
)


class Taught:
    """The order of the gallery."""

    def __init__(self, folder: str) -> None:
        del folder

    def __call__(self, name: str) -> tuple[int, str]:
        """Return the place of a script."""
        stem = Path(name).stem
        return (_FIRST.index(stem) if stem in _FIRST else len(_FIRST)), stem


def where_to_draw(gallery: dict[str, Any], script: dict[str, Any]) -> list[str]:
    """Return the arguments of a script of the gallery: an empty folder."""
    del gallery, script
    for path in Path(_FOLDER.name).iterdir():
        path.unlink()
    return [_FOLDER.name]


def left_by_a_script(block: Any, script: dict[str, Any], gallery: dict[str, Any]) -> str:
    """Return the reStructuredText of the picture that a script of the gallery has left."""
    if block.type != "code":
        return ""
    name = Path(script["src_file"]).stem
    found = sorted(path.name for path in Path(_FOLDER.name).iterdir())
    if found != [f"{name}.png"]:
        _LOGGER.warning("gallery/%s.py left %s, not its picture", name, found)
        return ""
    place = next(script["image_path_iterator"])
    shutil.copy(Path(_FOLDER.name, f"{name}.png"), place)
    return str(figure_rst([place], gallery["src_dir"], name.replace("_", " ")))


def strict_about_warnings(gallery: dict[str, Any], script: Any, when: str) -> None:
    """Make warnings errors before a script, and what they were after it."""
    del gallery
    if script is None:
        return
    if when == "before":
        _BEFORE.append(warnings.filters[:])
        warnings.simplefilter("error")
    elif _BEFORE:
        warnings.filters[:] = _BEFORE.pop()


def _draw(app: Sphinx) -> None:
    """Run the scripts whose picture is older than they are, or missing."""
    source = Path(app.srcdir, "pictures")
    drawn = source / "drawn"
    drawn.mkdir(exist_ok=True)
    for script in sorted(source.glob("*.py")):
        picture = drawn / f"{script.stem}.svg"
        if picture.exists() and picture.stat().st_mtime > script.stat().st_mtime:
            continue
        _LOGGER.info("drawing %s", script.stem)
        argv, sys.argv = sys.argv, [str(script), str(drawn)]
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("error")
                runpy.run_path(str(script), run_name="__main__")
        finally:
            sys.argv = argv
        if not picture.exists():
            _LOGGER.warning("pictures/%s.py left no picture", script.stem)


def _forget(app: Sphinx) -> None:
    """Remove pages of scripts that are gone."""
    for page in Path(app.srcdir, "examples").glob("*.rst"):
        if page.stem != "index" and not Path(app.srcdir, "gallery", f"{page.stem}.py").exists():
            page.unlink()


def setup(app: Sphinx) -> dict[str, bool]:
    """Draw before pages are read."""
    app.connect("builder-inited", _forget)
    app.connect("builder-inited", _draw)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
