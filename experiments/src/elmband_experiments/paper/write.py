"""Run experiments one after the other, and write all that comes of them to a folder."""

import csv
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from importlib.util import find_spec
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Any, TextIO

from elmband.ground.files import appearing_together, check_writable, naming
from elmband_experiments.paper.base import Experiment, Result, Row, Settings
from elmband_experiments.paper.page import page

if TYPE_CHECKING:
    from matplotlib.figure import Figure

PAGE, NUMBERS = "index.html", "results.json"


@dataclass(frozen=True, eq=False)
class Done:
    """An experiment with its result, or with the reason why there is none."""

    experiment: Experiment
    result: Result | None
    seconds: float = 0.0
    skipped: str | None = None

    @property
    def files(self) -> list[str]:
        """Names of the files of this experiment: figures, then tables."""
        if self.result is None:
            return []
        return [f"{n}.png" for n in self.result.figures] + [f"{n}.csv" for n in self.result.tables]


def require_extras() -> None:
    """Say what is missing before anything is computed."""
    for name, extra in (("matplotlib", "plot"), ("jinja2", "report")):
        if find_spec(name) is None:
            raise ImportError(f"this needs {name}: pip install 'elmband[{extra}]'", name=name)


def reproduce(
    experiments: Sequence[Experiment],
    settings: Settings,
    folder: Path,
    on_begin: Callable[[int], None] = lambda _: None,
    on_done: Callable[[Done], None] = lambda _: None,
) -> list[Done]:
    """Run the experiments and write figures, tables and one page; return what was done.

    `on_begin` is told the number of each experiment, from 0, `on_done` what became of it.

    The files of an experiment appear together as soon as it is finished, the page and its numbers
    last: in a folder that was used before, they are those of the last run that came to its end,
    and files that are younger than the page are of one that did not. An experiment that lacks its
    data is left out with a sentence on the page; if all do, that is an error.
    """
    require_extras()
    lacking = [settings.missing(experiment.need) for experiment in experiments]
    if all(lacking):
        raise ValueError(f"Nothing can be run: {lacking[0]}")
    with naming(folder):
        folder.mkdir(parents=True, exist_ok=True)
    for name in (PAGE, NUMBERS):
        check_writable(folder / name)
    # The system's place for temporary files may be memory, or small.
    settings = replace(settings, scratch=settings.scratch or folder)
    done: list[Done] = []
    for number, (experiment, reason) in enumerate(zip(experiments, lacking, strict=True)):
        on_begin(number)
        done.append(_run(experiment, settings, folder, reason))
        on_done(done[-1])
    facts = as_dict(done, settings)
    text = json.dumps(facts, indent=1, allow_nan=False, ensure_ascii=False)
    _write_texts({folder / NUMBERS: text + "\n", folder / PAGE: page(facts)})
    return done


def _run(experiment: Experiment, settings: Settings, folder: Path, reason: str | None) -> Done:
    if reason is not None:
        return Done(experiment, None, skipped=f"Not run: {reason}")
    begun = perf_counter()
    result = experiment.run(settings)
    seconds = perf_counter() - begun
    _write_result(folder, result)
    return Done(experiment, result, seconds)


def as_dict(done: Sequence[Done], settings: Settings) -> dict[str, Any]:
    """Return everything in plain types; numbers that are not finite become None."""
    return {
        "seed": settings.seed,
        "quick": settings.quick,
        "experiments": [_as_dict(one) for one in done],
    }


def _as_dict(one: Done) -> dict[str, Any]:
    experiment, result = one.experiment, one.result
    return {
        "name": experiment.name,
        "group": experiment.group,
        "title": experiment.title,
        "published": experiment.published,
        "found": list(result.found) if result else [],
        "why": experiment.why,
        "skipped": one.skipped,
        "seconds": round(one.seconds, 2),
        "figures": [f"{name}.png" for name in result.figures] if result else [],
        "inches": {f"{n}.png": _inches(f) for n, f in result.figures.items()} if result else {},
        "tables": _finite(result.tables) if result else {},
    }


def _inches(figure: "Figure") -> list[float]:
    return [float(side) for side in figure.get_size_inches()]


def _finite(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _finite(part) for name, part in value.items()}
    if isinstance(value, list):
        return [_finite(part) for part in value]
    if isinstance(value, float) and value - value != 0:
        return None
    return value


def _write_result(folder: Path, result: Result) -> None:
    """Write figures and tables, all or none."""
    figures = {folder / f"{name}.png": figure for name, figure in result.figures.items()}
    tables = {folder / f"{name}.csv": rows for name, rows in result.tables.items()}
    with appearing_together([*figures, *tables]) as temporary:
        places = dict(zip([*figures, *tables], temporary, strict=True))
        for path, figure in figures.items():
            with naming(path), places[path].open("wb") as image:
                figure.savefig(image, format="png", dpi=120)
        for path, rows in tables.items():
            with naming(path), places[path].open("w", encoding="utf-8", newline="") as file:
                _write_rows(file, rows)


def _write_rows(file: TextIO, rows: Sequence[Row]) -> None:
    flat = [_flat(row) for row in rows]
    writer = csv.DictWriter(file, list(flat[0]), lineterminator="\n")
    writer.writeheader()
    writer.writerows(flat)


def _flat(row: Row) -> Row:
    """Give both ends of a range columns of their own."""
    flat: Row = {}
    for name, value in row.items():
        if isinstance(value, list):
            flat |= {f"{name}_low": value[0], f"{name}_high": value[1]}
        else:
            flat[name] = value
    return flat


def _write_texts(texts: Mapping[Path, str]) -> None:
    """Write files of text, all or none."""
    with appearing_together(list(texts)) as temporary:
        for place, (path, text) in zip(temporary, texts.items(), strict=True):
            with naming(path):
                place.write_text(text, encoding="utf-8")
