"""Docstrings on pages: ours only, as plain text where reStructuredText would misread them."""

import re
from typing import Any

from sphinx.application import Sphinx

# |ŷ| is a size, not the name of a substitution.
_SIZE = re.compile(r"(?<![`\\])\|(?=[^|\s`][^|`]*\|)")
# (n_features_in_,) is a shape, not a link.
_SHAPE = re.compile(r"(?<=\w)_(?=,?\))")
_ROUTING = re.compile(r"set_\w+_request")


def _plain(app: Sphinx, what: str, name: str, obj: Any, options: Any, lines: list[str]) -> None:
    del app, what, name, obj, options
    for number, line in enumerate(lines):
        if ">>>" not in line and "`" not in line:
            lines[number] = _SHAPE.sub(r"\\_", _SIZE.sub(r"\\|", line))


def _skipped(app: Sphinx, what: str, name: str, obj: Any, skip: Any, options: Any) -> bool | None:
    """Leave out what scikit-learn and Python give to every class."""
    del app, options
    if what == "module":
        return None
    home = getattr(obj, "__module__", None) or getattr(type(obj), "__module__", "")
    if isinstance(obj, property):
        home = getattr(obj.fget, "__module__", "")
    return bool(skip) or not home.startswith("elmband") or bool(_ROUTING.fullmatch(name))


def setup(app: Sphinx) -> dict[str, bool]:
    """Escape after numpydoc has done its part."""
    app.connect("autodoc-process-docstring", _plain, priority=900)
    app.connect("autodoc-skip-member", _skipped)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
