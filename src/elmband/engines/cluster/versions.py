"""Versions that results depend on: workers must have the same as whoever sends them work.

Dask workers are asked before any work is sent to them. Every task looks once more: workers may
join later, and other engines cannot be asked.
"""

import platform
import sys
from functools import cache
from hashlib import sha256
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple
from weakref import WeakKeyDictionary

import numpy as np
import scipy


class Versions(NamedTuple):
    """Versions of the packages in a process.

    Attributes
    ----------
    elmband, numpy, scipy : str
        Their version numbers.
    Python : str
        Major and minor version; others compute the same.
    code : str
        A digest of elmband's sources: development installs differ under the same version number.
        Empty where there are none to be read, as in a zip file; then nothing is concluded from it.
    """

    elmband: str
    numpy: str
    scipy: str
    Python: str
    code: str


# Addresses of workers that were found to be right, for each client.
_checked: WeakKeyDictionary[Any, set[str]] = WeakKeyDictionary()


def own_versions() -> Versions:
    """Return the versions of this process.

    Examples
    --------
    >>> own_versions().numpy == np.__version__
    True
    """
    version = import_module("elmband").__version__
    python = ".".join(map(str, sys.version_info[:2]))
    return Versions(version, np.__version__, scipy.__version__, python, digest_of_sources())


@cache
def digest_of_sources() -> str:
    """Return the digest of this elmband, computed once: it takes 20 ms."""
    return digest_of(Path(__file__).parents[1])


def digest_of(folder: Path) -> str:
    """Return a digest of the names and contents of all modules in a folder; empty without any."""
    digest, paths = sha256(), sorted(folder.rglob("*.py"))
    for path in paths:
        # A checkout on Windows may have other ends of lines.
        source = path.read_bytes().replace(b"\r\n", b"\n")
        name = path.relative_to(folder).as_posix()
        digest.update(f"{name}:{len(source)}:".encode() + source)
    return digest.hexdigest() if paths else ""


def check_task(wanted: Versions | None) -> None:
    """Refuse work from a process with other versions than this one, or that sent none (None)."""
    if wanted is None:
        raise ValueError(
            f"Work for the worker {platform.node()} comes from an elmband other than the "
            f"{own_versions().elmband} there; install the same version in both places."
        )
    differing = _differing(wanted, own_versions())
    if differing:
        raise ValueError(_refusal(f"worker {platform.node()}", differing))


def check_workers(client: Any) -> None:
    """Refuse workers of a Dask cluster with other versions than here, or without elmband."""
    known = _checked.setdefault(client, set())
    new = set(client.nthreads()) - known
    if not new:
        return
    # Workers that are gone do not answer: others do their work.
    answers = client.run(_answer, workers=sorted(new), on_error="ignore")
    refused = {address: _refused(address, answers[address]) for address in sorted(answers)}
    sentences = list(filter(None, refused.values()))
    if len(sentences) > 1:
        sentences[0] += f" {len(sentences)} of {len(new)} workers differ so, or in other ways."
    if sentences:
        raise ValueError(sentences[0])
    known.update(answers)


def _answer() -> dict[str, str]:
    """Return the versions of a worker, or why elmband cannot be imported there."""
    from importlib import import_module  # noqa: PLC0415 - see below

    try:
        found: dict[str, str] = (
            import_module("elmband.engines.cluster.versions").own_versions()._asdict()
        )
    except Exception as error:  # noqa: BLE001 - modules may fail in any way when they are loaded
        return {"error": str(error)}
    return found


# So that it is pickled with its code, for workers that may not have this module.
_answer.__module__ = "__main__"


def _refused(address: str, found: dict[str, str]) -> str | None:
    """Say why a worker that gave this answer cannot be used; None where it can."""
    mine = own_versions()
    if "error" in found:
        return (
            f"The worker {address} cannot import elmband ({found['error']}); install elmband "
            f"{mine.elmband} where it runs, and start it again."
        )
    theirs = Versions(*(found.get(name, "") for name in Versions._fields))
    differing = _differing(mine, theirs)
    return _refusal(f"worker {address}", differing) if differing else None


def _differing(wanted: Versions, found: Versions) -> list[str]:
    """Return a phrase for each version that differs."""
    names = ("elmband", "numpy", "scipy", "Python")
    pairs = [(name, getattr(found, name), getattr(wanted, name)) for name in names]
    differing = [
        f"{name} {there} instead of {here}" for name, there, here in pairs if there != here
    ]
    known = wanted.code and found.code
    if wanted.elmband == found.elmband and known and wanted.code != found.code:
        differing.insert(0, f"other code under the same version of elmband, {wanted.elmband}")
    return differing


def _refusal(who: str, differing: list[str]) -> str:
    return (
        f"The {who} has {', '.join(differing)}, and would compute other numbers; install the same "
        "there as where the work comes from."
    )
