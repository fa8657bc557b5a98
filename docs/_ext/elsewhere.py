"""Links that are right in the repository are made right on the site.

Some pages live elsewhere in the repository and have a place on the site; scripts of the gallery
have a page each.
"""

import re

from sphinx.application import Sphinx

# From the top of the repository to the page of the site.
_PAGES = {
    "benchmarks/README.md": "benchmarks.md",
    "CHANGELOG.md": "changelog.md",
    "CONTRIBUTING.md": "contributing.md",
    "README.md": "index.md",
    "RELEASING.md": "releasing.md",
    "SECURITY.md": "security.md",
}
_SCRIPT = re.compile(r"\(((?:\.\./)?)gallery/(\w+)\.py\)")


def _moved(app: Sphinx, name: str, source: list[str]) -> None:
    """Mend links of a page in docs/, or in a folder of it."""
    del app
    up = "../" * name.count("/")
    for here, there in _PAGES.items():
        source[0] = source[0].replace(f"({up}../{here}", f"({up}{there}")
    source[0] = _SCRIPT.sub(r"(\1examples/\2.rst)", source[0])


def _included(app: Sphinx, path: object, name: str, source: list[str]) -> None:
    """Mend links of a page that is included whole, which start at the top of the repository."""
    del app, path, name
    for here, there in _PAGES.items():
        source[0] = source[0].replace(f"({here}", f"({there}")
    source[0] = _SCRIPT.sub(r"(\1examples/\2.rst)", source[0].replace("(docs/", "("))


def setup(app: Sphinx) -> dict[str, bool]:
    """Mend links as pages are read."""
    app.connect("source-read", _moved)
    app.connect("include-read", _included)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
