"""Formulas as MathML, which browsers draw themselves: no script, no fonts to fetch."""

from typing import Any

from docutils import nodes
from docutils.utils.math.latex2mathml import tex2mathml
from sphinx.application import Sphinx


def _inline(page: Any, node: nodes.Element) -> None:
    page.body.append(tex2mathml(node.astext()))
    raise nodes.SkipNode


def _display(page: Any, node: nodes.Element) -> None:
    page.body.append(f'<div class="formula">{tex2mathml(node.astext(), as_block=True)}</div>')
    raise nodes.SkipNode


def setup(app: Sphinx) -> dict[str, bool]:
    """Name the way in which formulas are written."""
    app.add_html_math_renderer("mathml", (_inline, None), (_display, None))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
