"""``elmband reproduce``: the figures and tables of the paper, run again."""

import os
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.markup import escape
from rich.status import Status

from elmband.cli._options import AsJson, tell
from elmband.experiments import GROUPS, Done, Experiment, Settings, chosen
from elmband.experiments import reproduce as run_all
from elmband.experiments.write import PAGE

EXAMPLE = (
    "Example: [bold]elmband reproduce figures -o paper[/bold]\n\n"
    "Example: [bold]ELMBAND_DATA=data elmband reproduce all --photos data/skin_abdomen -o paper"
    "[/bold]"
)


class What(StrEnum):
    """Parts of the paper."""

    FIGURES = "figures"
    TABLES = "tables"
    SKIN = "skin"
    RUNTIME = "runtime"
    ALL = "all"


def reproduce(
    *,
    what: Annotated[What, typer.Argument(help="Which part of the paper.")] = What.ALL,
    output: Annotated[
        Path, typer.Option("--output", "-o", help="Folder to write to, made where there is none.")
    ] = Path("elmband-paper"),
    quick: Annotated[
        bool, typer.Option("--quick", help="Fewer splits, rows and steps: numbers are rough.")
    ] = False,
    photos: Annotated[
        Path | None,
        typer.Option(
            help="For skin: a folder that holds the folders images and masks.", show_default=False
        ),
    ] = None,
    pixels: Annotated[
        int,
        typer.Option(
            help="For skin: pixels in all, half for the test; 4000000 as published.", min=200
        ),
    ] = 200_000,
    seed: Annotated[
        int, typer.Option(help="Seed of data, splits and neurons.", min=0, max=2**31)
    ] = 0,
    as_json: AsJson = False,
) -> None:
    """Run the experiments of the paper, and write one page on what comes out.

    The folder gets [bold]index.html[/bold], which tells what was published, what came out here and
    why they differ; a PNG for each figure, a CSV for each table, and results.json. The published
    mode and elmband's defaults stand side by side.

    The tables need real data: the environment variable [bold]ELMBAND_DATA[/bold] names their
    folder. Without it the other experiments still run.
    """
    folder = os.environ.get("ELMBAND_DATA")
    console = Console(stderr=True, soft_wrap=True, highlight=False)
    with console.status("") as status:
        experiments = chosen(group for group in GROUPS if what in {What.ALL, group})
        line = _Line(status, console, len(experiments))
        settings = Settings(
            seed=seed,
            quick=quick,
            data=Path(folder) if folder else None,
            photos=photos,
            pixels=pixels,
            tell=line.part,
        )
        done = run_all(experiments, settings, output, line.begin, line.end)
    facts = {
        "page": str(output / PAGE),
        "seconds": {one.experiment.name: round(one.seconds, 2) for one in done},
        "skipped": {one.experiment.name: one.skipped for one in done if one.skipped},
    }
    tell(facts, f"Page written to {(output / PAGE).resolve()}", as_json=as_json, outputs=())


class _Line:
    """The line that tells what is going on, and those that stay behind it."""

    def __init__(self, status: Status, console: Console, total: int) -> None:
        self._status, self._console, self._total = status, console, total
        self._begun, self._title = 0, ""

    def begin(self, experiment: Experiment) -> None:
        """Begin an experiment."""
        self._begun += 1
        self._title = f"{self._begun} of {self._total}, {experiment.title}"
        self.part("")

    def part(self, words: str) -> None:
        """Begin a part of it."""
        self._status.update(escape(f"{self._title}: {words}" if words else self._title))

    def end(self, one: Done) -> None:
        """Tell what became of it."""
        words = one.skipped or f"{one.seconds:.1f} s, {', '.join(one.files)}"
        self._console.print(f"{one.experiment.title}: {words}", markup=False)
