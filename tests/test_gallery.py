"""Scripts of the gallery and of the pages are short, and leave one picture where they are told.

They run when the site is built, by ``tests/docs/test_site.py``, which looks for their pictures and
lets no warning pass.
"""

import ast
from pathlib import Path

import pytest

DOCS = Path(__file__).parent.parent / "docs"
GALLERY = sorted((DOCS / "gallery").glob("*.py"))
PICTURES = sorted((DOCS / "pictures").glob("*.py"))


def test_the_gallery_is_complete():
    assert {path.stem for path in GALLERY} >= {
        "abstain",
        "asymmetric",
        "calibrate",
        "displays",
        "gpu",
        "groups",
        "intervals",
        "local_layers",
        "off_distribution",
        "pixels",
        "promise",
        "relevance",
        "report",
        "save",
        "scan",
        "tables",
        "to_onnx",
        "transform",
        "updates",
        "variance_parts",
    }


@pytest.mark.parametrize("script", GALLERY + PICTURES, ids=lambda path: path.stem)
def test_a_script_is_short_and_draws_a_picture_of_its_own_name(script):
    text = script.read_text(encoding="utf-8")
    assert len(text.splitlines()) <= 65
    ending = "png" if script in GALLERY else "svg"
    assert f'"{script.stem}.{ending}"' in text
    # pyplot would choose a backend and keep every figure.
    assert "pyplot" not in text


@pytest.mark.parametrize("script", GALLERY, ids=lambda path: path.stem)
def test_a_script_of_the_gallery_has_a_title_and_says_what_to_look_at(script):
    said = ast.get_docstring(ast.parse(script.read_text(encoding="utf-8")))
    title, line, *_ = said.split("\n")
    assert line == "=" * len(title)
    assert "\nLook " in said


@pytest.mark.parametrize("script", PICTURES, ids=lambda path: path.stem)
def test_a_picture_is_on_a_page(script):
    pages = "".join(page.read_text(encoding="utf-8") for page in DOCS.glob("*.md"))
    assert f"(pictures/drawn/{script.stem}.svg)" in pages
