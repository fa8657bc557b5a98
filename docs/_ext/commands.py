"""Commands of the terminal on a page: what ``--help`` says, from the same source."""

import re
from html import escape
from typing import Any

from docutils import nodes
from docutils.parsers.rst import Directive
from sphinx.application import Sphinx
from typer.main import get_command

from elmband.cli import app as commands


def _plain(text: str | None) -> str:
    """Return help without the marks for a terminal, as HTML."""
    said = re.sub(r"\[/?(?:bold|dim|cyan|italic)\]", "", text or "")
    return escape(re.sub(r"\s+", " ", said)).strip()


def _name(parameter: Any) -> str:
    if parameter.param_type_name == "argument":
        return str(parameter.name).upper()
    return ", ".join(parameter.opts)


def _row(parameter: Any) -> str:
    needed = " Required." if parameter.required else ""
    name, said = escape(_name(parameter)), _plain(getattr(parameter, "help", ""))
    return f"<tr><td><code>{name}</code></td><td>{said}{needed}</td></tr>"


def page_of(name: str) -> str:
    """Return the HTML of one command."""
    command = get_command(commands).commands[name]  # type: ignore[attr-defined]
    said = "".join(f"<p>{_plain(part)}</p>" for part in command.help.split("\n\n"))
    rows = "".join(_row(one) for one in command.params if one.name != "help")
    example = "".join(f"<p>{_plain(part)}</p>" for part in (command.epilog or "").split("\n\n"))
    table = f'<table class="table every-file"><tbody>{rows}</tbody></table>'
    return f'{said}<div class="pst-scrollable-table-container">{table}</div>{example}'


class _Command(Directive):
    """What a command does and takes."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        return [nodes.raw("", page_of(self.arguments[0]), format="html")]


def setup(app: Sphinx) -> dict[str, bool]:
    """Add commands to what pages can hold."""
    app.add_directive("command", _Command)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
