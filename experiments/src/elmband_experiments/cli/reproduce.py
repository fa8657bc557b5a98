"""``elmband reproduce``: the figures and tables of the paper, run again."""

from collections.abc import Sequence
from dataclasses import replace
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Self

import typer
from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, Progress, ProgressColumn, Task, TextColumn
from rich.table import Column
from rich.text import Text

from elmband.cli._options import AsJson, tell
from elmband.ground.files import identity
from elmband.ground.printable import on_one_line
from elmband_experiments.paper import GROUPS, Done, Experiment, Settings, chosen
from elmband_experiments.paper import reproduce as run_all
from elmband_experiments.paper.clock import Clock, in_words
from elmband_experiments.paper.write import PAGE

EXAMPLE = (
    "Example: [bold]elmband reproduce figures -o paper[/bold]\n\n"
    "Example: [bold]elmband reproduce tables --download -o paper[/bold]\n\n"
    "Example: [bold]elmband reproduce all --data data --photos data/skin_abdomen -o paper[/bold]"
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
    data: Annotated[
        Path | None,
        typer.Option(
            help="For tables: the folder with the real data sets.",
            envvar="ELMBAND_DATA",
            show_default=False,
        ),
    ] = None,
    download: Annotated[
        bool,
        typer.Option(
            "--download",
            help="For tables: fetch data sets that neither the folder nor the cache has.",
        ),
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
            help="For skin: pixels in all, half for the test; 4000000 as published take 5 GB of "
            "disk for a while.",
            min=200,
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

    The tables need real data, from a folder of yours or, if you ask for it, from their public
    sources; what was fetched once is kept. Without data the other experiments still run.
    """
    _check_folder(output, [data, photos])
    console = Console(stderr=True, soft_wrap=True, highlight=False)
    experiments = chosen(group for group in GROUPS if what in {What.ALL, group})
    settings = Settings(
        seed=seed, quick=quick, data=data, download=download, photos=photos, pixels=pixels
    )
    with _Bar(console, experiments, settings) as bar:
        told = replace(settings, tell=bar.part)
        done = run_all(experiments, told, output, bar.begin, bar.end)
    facts = {
        "page": str(output / PAGE),
        "seconds": {one.experiment.name: round(one.seconds, 2) for one in done},
        "skipped": {one.experiment.name: one.skipped for one in done if one.skipped},
    }
    tell(facts, f"Page written to {(output / PAGE).resolve()}", as_json=as_json, outputs=())


def _check_folder(output: Path, inputs: Sequence[Path | None]) -> None:
    """Refuse to write pages and tables among the files that are read."""
    for given in inputs:
        for place in () if given is None else (given, given / "images", given / "masks"):
            if identity(output) == identity(place) is not None:
                raise ValueError(
                    f"The output folder {output} is {place}, which is read; name another folder."
                )


def _expected(experiment: Experiment, settings: Settings) -> float:
    """Return the seconds of an experiment, none of one that lacks its data."""
    lacking = replace(settings, download=False).missing(experiment.need)
    fetched = settings.download and experiment.need == "data"
    return experiment.seconds(settings) if lacking is None or fetched else 0.0


class _Left(ProgressColumn):
    """The time left, counted down between what is told."""

    def __init__(self, clock: Clock) -> None:
        super().__init__(Column(width=18, no_wrap=True))
        self._clock = clock

    def render(self, task: Task) -> Text:
        """Write it."""
        del task
        return Text(in_words(self._clock.left()))


class _Bar:
    """The line that tells what is going on and for how long, and those that stay behind it."""

    def __init__(
        self, console: Console, experiments: Sequence[Experiment], settings: Settings
    ) -> None:
        self._console, self._experiments, self._number = console, experiments, 0
        self._clock = Clock([_expected(one, settings) for one in experiments])
        # Only the words may be cut where a terminal is narrow.
        words = TextColumn("{task.description}", table_column=Column(ratio=1, no_wrap=True))
        columns = BarColumn(20, table_column=Column(width=20)), _Left(self._clock), words
        self._progress = Progress(*columns, console=console, transient=True, expand=True)
        self._task = self._progress.add_task("", total=1.0)

    def __enter__(self) -> Self:
        self._progress.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._progress.stop()

    def begin(self, number: int) -> None:
        """Begin an experiment."""
        self._number = number
        self.part("", 0.0)

    def part(self, words: str, share: float) -> None:
        """Begin a part of it, with this share of it done."""
        self._clock.reach(self._number, share)
        title = self._experiments[self._number].title
        place = f"{self._number + 1} of {len(self._experiments)}, {title}"
        text = escape(on_one_line(f"{place}: {words}" if words else place))
        self._progress.update(self._task, completed=self._clock.done, description=text)

    def end(self, one: Done) -> None:
        """Tell what became of it."""
        words = one.skipped or f"{one.seconds:.1f} s, {', '.join(one.files)}"
        line = on_one_line(f"{one.experiment.title}: {words}")
        self._console.print(line, markup=False, emoji=False)
