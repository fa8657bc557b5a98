"""Every block of code on every page runs, and prints what the page says it prints."""

import doctest
import io
import os
import re
import subprocess
import sys
import warnings
from contextlib import chdir, redirect_stdout
from pathlib import Path

import numpy as np
import pytest
from pages import DOCS, ROOT, blocks, pages, steps
from typer.main import get_command

from elmband.cli import app

PAGES = [page for page in pages() if blocks(page)]
ENVIRONMENT = {
    **os.environ,
    "COLUMNS": "200",
    "NO_COLOR": "1",
    "PATH": os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")]),
}
OPTIONS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
# Run by a test of its own, which compares words only.
TRANSCRIPT = ROOT / "README.md"


def named(page):
    return page.relative_to(ROOT).with_suffix("").as_posix()


def same(said, shown):
    """Tell whether two outputs are the same but for times."""
    said, shown = (re.sub(r"\d+(\.\d+)? s\b", "# s", text) for text in (said, shown))
    return doctest.OutputChecker().check_output(shown, said, OPTIONS)


def run_python(block, page, namespace):
    code = compile(block.text, f"{page.name}, line {block.line}", "exec")
    if block.why:
        return
    said = io.StringIO()
    with redirect_stdout(said), warnings.catch_warnings():
        warnings.simplefilter("error")
        exec(code, namespace)  # noqa: S102 - our own page
    if block.printed is None:
        assert not said.getvalue(), f"line {block.line} prints what is not shown"
    else:
        assert same(said.getvalue(), block.printed), f"line {block.line}: {said.getvalue()}"


def run_console(block):
    for command, printed in steps(block.text):
        result = subprocess.run(
            ["/bin/bash", "-c", command],
            capture_output=True,
            check=False,
            env=ENVIRONMENT,
            timeout=120,
        )
        said = (result.stdout + result.stderr).decode()
        assert result.returncode == 0, f"{command}: {said}"
        assert same(said, printed), f"{command}: {said}"


@pytest.mark.slow
@pytest.mark.parametrize("page", PAGES, ids=named)
def test_the_code_of_a_page_runs(page, tmp_path):
    # As in a notebook: one namespace, in a folder of its own.
    namespace = {"__name__": "__main__"}
    with chdir(tmp_path):
        for block in blocks(page):
            if block.kind == "python":
                run_python(block, page, namespace)
            elif block.kind == "console" and not block.why and page != TRANSCRIPT:
                run_console(block)


def test_blocks_are_of_a_kind_that_is_known():
    known = {"python", "console", "sh", "text"}
    assert {block.kind for page in PAGES for block in blocks(page)} <= known


def test_what_is_not_run_says_why_in_few_words():
    reasons = [block.why for page in PAGES for block in blocks(page) if block.why]
    assert all(re.fullmatch(r"(needs|runs) .{2,60}", why) for why in reasons)
    # A comment of that kind stands right before a block, or it does nothing.
    comment = re.compile(r"^\s*<!-- not run", re.MULTILINE)
    written = sum(len(comment.findall(page.read_text(encoding="utf-8"))) for page in pages())
    assert written == len(reasons)


@pytest.mark.slow
def test_the_lines_for_users_of_hp_elm_run(tmp_path):
    """The left column needs HP-ELM, which needs an environment of its own."""
    text = (DOCS / "howto" / "hpelm.md").read_text(encoding="utf-8")
    answers = re.findall(r"^\| `.*?` \| (.*) \|$", text, re.MULTILINE)
    calls = [code for cell in answers for code in re.findall(r"`([\w. =]+\(.*?\)|from .*?)`", cell)]
    assert len(calls) > 20
    X = np.random.default_rng(0).normal(size=(300, 8))
    names = [f"x{k}" for k in range(8)]
    given = {"X": X, "y": X[:, 0], "label": np.where(X[:, 0] > 0, "a", "b"), "names": names}
    given["C"] = (X[:, :2] > 0).astype(int)
    with chdir(tmp_path):
        header = ",".join([*names, "y"])
        np.savetxt("rows.csv", np.c_[X, X[:, 0]], delimiter=",", header=header, comments="")
        exec(_PRELUDE, given)  # noqa: S102
        for code in calls:
            if code.startswith("confusion_matrix"):
                exec("model = ELMClassifier(20).fit(X, label)", given)  # noqa: S102
            exec(code, given)  # noqa: S102


def test_every_command_is_in_the_reference():
    text = (DOCS / "reference" / "command.md").read_text(encoding="utf-8")
    shown = re.findall(r"^```\{command\} (\w+)$", text, re.MULTILINE)
    assert shown == list(get_command(app).commands)


# Made by the build.
MADE = ("examples/", "pictures/drawn/")


@pytest.mark.parametrize("page", pages(), ids=named)
def test_links_are_right_in_the_repository_too(page):
    text = re.sub(
        r"^```.*?^```", "", page.read_text(encoding="utf-8"), flags=re.DOTALL | re.MULTILINE
    )
    links = re.findall(r"\]\(([^)#\s]+)(?:#[^)]*)?\)", text)
    here = [link for link in links if not link.startswith(("http", *MADE))]
    assert [link for link in here if not (page.parent / link).exists()] == []


_PRELUDE = """
import elmband
from elmband import ELMClassifier, ELMRegressor, scan
from sklearn.metrics import confusion_matrix, mean_squared_error
model = ELMRegressor(20)
"""
