"""The transcript of the README is what the commands print, but for the numbers."""

import re
from pathlib import Path

import pytest
from running import in_shell

README = Path(__file__).parents[2] / "README.md"


def steps():
    """Yield the commands of the transcript, each with what it printed."""
    (block,) = re.findall(r"```console\n(.*?)```", README.read_text("utf-8"), re.DOTALL)
    for step in block.split("$ ")[1:]:
        command, _, printed = step.partition("\n")
        yield command, printed


def words(text):
    """Return text without its numbers, and with blanks of one size."""
    return re.sub(r"\s+", " ", re.sub(r"-?\d[\d.,]*", "#", text)).strip()


@pytest.mark.slow
def test_a_reader_sees_the_same(tmp_path):
    pytest.importorskip("pyarrow")
    pytest.importorskip("vl_convert")
    commands = list(steps())
    assert {command.split()[1] for command, _ in commands} >= {"fit", "predict", "triage", "report"}
    for command, printed in commands:
        said, complained = in_shell(command, tmp_path)
        assert words(said + complained) == words(printed), command


def test_the_readme_is_one_screen():
    assert len(README.read_text("utf-8").splitlines()) <= 80
