"""Completion in shells, asked as the shells ask."""

import os
import shutil
import subprocess

import pytest
from running import COMMAND, ENVIRONMENT, in_shell

pytestmark = pytest.mark.slow


def completed(words, shell):
    """Return what a shell is told at the end of a line."""
    how = {
        "bash": {"COMP_WORDS": words, "COMP_CWORD": str(len(words.split(" ")) - 1)},
        "zsh": {"_TYPER_COMPLETE_ARGS": words},
    }[shell]
    asked = {**ENVIRONMENT, **how, "_ELMBAND_COMPLETE": f"complete_{shell}"}
    result = subprocess.run(COMMAND, env=asked, capture_output=True, encoding="utf-8", check=False)
    assert "Traceback" not in result.stderr
    return result.stdout


@pytest.mark.parametrize("shell", ["bash", "zsh"])
def test_commands_options_and_values(shell):
    assert "predict" in completed("elmband pre", shell)
    options = completed("elmband triage --max-", shell)
    assert all(name in options for name in ("--max-width", "--max-error", "--max-fpr"))
    values = completed("elmband pixels a b --balance ", shell)
    assert "natural" in values
    assert "balanced" in values
    assert "natural" not in completed("elmband pixels a b --balance bal", shell)


@pytest.mark.parametrize("shell", ["bash", "zsh"])
def test_the_script_is_one_that_the_shell_takes(shell, tmp_path):
    # As --show-completion does in this shell.
    said, _ = in_shell(f"_ELMBAND_COMPLETE=source_{shell} elmband", tmp_path)
    assert "_ELMBAND_COMPLETE=complete_" + shell in said
    program = shutil.which(shell)
    if program is None:
        pytest.skip(f"{shell} is not installed")
    (tmp_path / "script").write_text(said, encoding="utf-8")
    subprocess.run([program, "-n", str(tmp_path / "script")], check=True, env=os.environ)


def test_bash_itself_completes_a_value(tmp_path):
    line = (
        'eval "$(elmband --show-completion bash)"; COMP_WORDS=(elmband pixels a b --balance bal);'
        ' COMP_CWORD=5; _elmband_completion elmband; echo "${COMPREPLY[@]}"'
    )
    assert in_shell(line, tmp_path)[0] == "balanced\n"
