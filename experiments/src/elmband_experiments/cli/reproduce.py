"""``elmband reproduce``: the figures and tables of the paper, run again."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Self

from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, Progress, ProgressColumn, Task, TextColumn
from rich.table import Column
from rich.text import Text

from elmband.cli._options import tell
from elmband.ground.files import identity
from elmband.ground.printable import on_one_line
from elmband_experiments.cli.commands.reproduce import What
from elmband_experiments.paper import GROUPS, Done, Experiment, Settings, chosen
from elmband_experiments.paper import reproduce as run_all
from elmband_experiments.paper.clock import Clock, in_words
from elmband_experiments.paper.write import PAGE


def reproduce(
    *,
    what: What,
    output: Path,
    quick: bool,
    data: Path | None,
    download: bool,
    photos: Path | None,
    pixels: int,
    seed: int,
    as_json: bool,
) -> None:
    """Do what was asked for."""
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
