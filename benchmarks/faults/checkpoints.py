"""Changed checkpoints: fits that were ended half-way, and go on from what was changed meanwhile.

``python -m benchmarks.faults.checkpoints --times 20000`` goes on where it was ended, as that of
model files does. The originals are what a fit had kept at several moments.
"""

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import typer
from benchmarks.faults.counts import Counts
from benchmarks.faults.model_files import ROOT, Files, tell
from benchmarks.faults.model_files import run as run_files

from elmband import ELMIntervalRegressor, ELMSelectiveClassifier, TableEncoder, scan
from elmband.engines import checkpoint
from elmband.estimators import _scans

FITS: dict[str, tuple[str, Callable[[], Any]]] = {
    "default": ("score", partial(ELMIntervalRegressor, 12, random_state=0)),
    "published": ("score", partial(ELMIntervalRegressor, 12, noise="squared", random_state=0)),
    "classifier": ("town", partial(ELMSelectiveClassifier, 12, random_state=0)),
}
"""Fits by name: what they learn from a CSV file with text, and the model."""
_ROWS, _CHUNK = 300, 60
_MOMENTS = 6
"""Moments at which a fit was ended."""


def run(times: int, seed: int, folder: Path) -> Counts:
    """Change checkpoints so many times, those done before included; count what became of them."""
    return run_files(
        times, seed, folder, Files("checkpoints", make, "benchmarks.faults.checkpoint_trial")
    )


def fitted(name: str, table: Path, folder: Path | None = None) -> Any:
    """Return a model that keeps its sums in a folder, and goes on from those there."""
    target, model = FITS[name]
    rows = scan(table, target=target, chunk_size=_CHUNK, encoder=TableEncoder())
    return model().fit(rows, checkpoint=folder)


def keep_everything() -> None:
    """Let fits read their few rows again for every pass, and keep the sums of every chunk."""
    checkpoint._PATIENCE, _scans._KEPT_BYTES = 0.0, 0  # noqa: SLF001 - as for very many rows


def make(folder: Path) -> None:
    """Make originals once, in a process that keeps everything."""
    if (folder / "done").exists():
        return
    path = os.pathsep.join([str(ROOT), str(ROOT / "src"), os.environ.get("PYTHONPATH", "")])
    subprocess.run(
        [sys.executable, "-c", _MAKE, str(folder.resolve())],
        env=os.environ | {"PYTHONPATH": path},
        check=True,
    )


_MAKE = """
import sys
from pathlib import Path
from benchmarks.faults import checkpoints
checkpoints.make_here(Path(sys.argv[1]))
"""


def make_here(folder: Path) -> None:
    """Write a table, the right models of it, and what their fits had kept at several moments."""
    from benchmarks.faults.material import people, write_table  # noqa: PLC0415

    keep_everything()
    folder.mkdir(parents=True, exist_ok=True)
    people(_ROWS).dropna().pipe(partial(write_table, folder / "rows.csv"))
    for name in FITS:
        moments = _Moments(folder / name)
        save = checkpoint.Pass.save
        checkpoint.Pass.save = moments.after(save)  # type: ignore[method-assign]
        try:
            fitted(name, folder / "rows.csv", folder / name / "kept").save(
                folder / f"{name}.safetensors"
            )
        finally:
            checkpoint.Pass.save = save  # type: ignore[method-assign]
        moments.thin()
    (folder / "done").touch()


class _Moments:
    """Copies of a checkpoint, one for every time that something was kept."""

    def __init__(self, folder: Path) -> None:
        self._folder, self._count = folder, 0

    def after(self, save: Callable[..., None]) -> Callable[..., None]:
        """Return the same way to keep sums that copies the folder then."""

        def copied(*given: Any) -> None:
            save(*given)
            self._count += 1
            shutil.copytree(self._folder / "kept", self._folder / f"{self._count:03d}")

        return copied

    def thin(self) -> None:
        """Leave some moments, the last of all among them."""
        left = {self._count * k // _MOMENTS for k in range(1, _MOMENTS + 1)}
        for number in set(range(1, self._count + 1)) - left:
            shutil.rmtree(self._folder / f"{number:03d}")


def main(
    *,
    folder: Annotated[Path, typer.Option(help="Folder for results.")] = Path("results/faults"),
    times: Annotated[int, typer.Option(min=1, help="Changed checkpoints.")] = 20_000,
    seed: Annotated[int, typer.Option(min=0, help="Seed of what is left to chance.")] = 0,
) -> None:
    """Change checkpoints and count what became of them."""
    tell(run(times, seed, folder))


if __name__ == "__main__":
    typer.run(main)
