"""Terms of the glossary are those that pages and docstrings use, one sentence each."""

import ast
import re
from pathlib import Path

import pytest
from pages import DOCS, pages

import elmband
import elmband_experiments

GLOSSARY = DOCS / "glossary.md"
TERMS = dict(
    re.findall(
        r"^(\S.*)\n: ((?:.+\n)(?:  .+\n)*)", GLOSSARY.read_text(encoding="utf-8"), re.MULTILINE
    )
)


def docstrings():
    """Yield all docstrings of both packages."""
    kinds = ast.Module, ast.ClassDef, ast.FunctionDef
    sources = (Path(package.__file__).parent for package in (elmband, elmband_experiments))
    for path in (path for source in sources for path in source.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, kinds):
                yield ast.get_docstring(node) or ""


@pytest.fixture(scope="module")
def written():
    """Return all that is written elsewhere, in lines of any length."""
    others = [page for page in pages() if page not in {GLOSSARY, DOCS / "changelog.md"}]
    texts = [page.read_text(encoding="utf-8") for page in others]
    return re.sub(r"\s+", " ", " ".join([*texts, *docstrings()])).lower()


@pytest.mark.parametrize("term", TERMS)
def test_a_term_is_used(term, written):
    assert re.search(rf"\b{re.escape(term.lower())}(s|es|ed)?\b", written)


def test_terms_stand_once_and_have_one_sentence():
    heads = re.findall(r"^(\S.*)\n: ", GLOSSARY.read_text(encoding="utf-8"), re.MULTILINE)
    assert len(heads) == len({head.lower() for head in heads}) == len(TERMS) > 30
    for term, text in TERMS.items():
        assert re.fullmatch(r"[^.]+\.", text.strip()), term
