"""Outputs that can be written, and that are none of the inputs: refused before any work is done."""

import os
import stat
import sys
from collections.abc import Sequence
from itertools import combinations
from pathlib import Path
from typing import IO

import typer

from elmband.cli._files import STANDARD, destination, named
from elmband.ground.files import check_name, check_writable, identity, lies_in
from elmband.sources.stream.files import stands_for


def check_outputs(
    outputs: Sequence[str | None], inputs: Sequence[str | None], *, folders: bool = False
) -> None:
    """Refuse outputs that are an input, would be read as one, are one file, or cannot be written.

    Inputs are paths, folders or patterns; None stands for an option that was not given. Where the
    outputs are new `folders`, those who make them know whether they can.
    """
    wanted = [output for output in outputs if output is not None]
    for output in wanted:
        check_name(output)
        for given in inputs:
            if given is not None:
                _check_apart(output, given)
    for one, other in combinations(wanted, 2):
        if one == other or _is_same(one, other, sys.stdout):
            raise typer.BadParameter(
                f"Two outputs cannot both go to {destination(one)}, where one would replace the "
                "other; name another file."
            )
    for output in wanted:
        if output != STANDARD and not folders:
            check_writable(Path(output))


def _check_apart(output: str, given: str) -> None:
    """Refuse an output that is an input, by whatever name, or lies among its files."""
    if _is_same(output, given, sys.stdin):
        raise ValueError(
            f"The output {destination(output)} is the same file as the input {named(given)}, "
            "which would be lost; name another file."
        )
    if STANDARD not in (output, given) and stands_for(given, Path(output)):
        raise ValueError(
            f"The output {output} is among the files that the input {given} stands for, or would "
            "be; name a place apart from them."
        )


def check_checkpoint(checkpoint: Path | None, output: str) -> None:
    """Refuse a model file in the folder of a checkpoint, which is emptied once the fit is done."""
    if checkpoint is None or output == STANDARD:
        return
    if _is_same(output, str(checkpoint), None) or lies_in(Path(output), [checkpoint]):
        raise ValueError(
            f"The output {output} lies in the checkpoint {checkpoint}, which is removed when the "
            "model is there; name a place apart from it."
        )


def _is_same(output: str, other: str, stream: IO[str] | None) -> bool:
    """Tell whether an output and another name, or a `stream` for ``-``, are one file."""
    if STANDARD not in (output, other) and Path(output).resolve() == Path(other).resolve():
        return True
    found = {_identity(output, sys.stdout), _identity(other, stream)}
    return len(found) == 1 and None not in found


def _identity(path: str, stream: IO[str] | None) -> tuple[int, int] | None:
    if path != STANDARD:
        return identity(Path(path).expanduser())
    try:
        found = os.fstat(stream.fileno())  # type: ignore[union-attr]
    except (AttributeError, OSError, ValueError):  # closed, or none of the system's
        return None
    # A terminal or a pipe may well be both.
    return (found.st_dev, found.st_ino) if stat.S_ISREG(found.st_mode) else None
