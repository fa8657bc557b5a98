"""``python -m benchmarks.faults``: inject what is missing, then write the table."""

import sys
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import asdict
from pathlib import Path
from time import perf_counter
from typing import Annotated

import typer
from benchmarks.faults import calls, damaged, kills, material, together, workers
from benchmarks.faults.counts import Counts
from benchmarks.faults.injection import Injection, Plan
from benchmarks.faults.processes import Server
from benchmarks.faults.report import markdown, totals
from benchmarks.faults.shim import compiled
from benchmarks.faults.trial import Trials
from benchmarks.quality.store import Store
from rich.console import Console

KINDS: dict[str, Callable[[Trials, Plan], Iterator[Injection]]] = {
    "moments": kills.at_moments,
    "ends": kills.at_calls,
    "starts": kills.at_starts,
    "calls": calls.failing,
    "disk": calls.full_disk,
    "inputs": damaged.damage,
    "together": together.pairs,
    "workers": workers.kills,
}

MODELS, CHECKPOINTS = "models", "checkpoints"
"""Kinds that are run by a process of their own, hundreds or thousands of files a minute."""

app = typer.Typer(add_completion=False, pretty_exceptions_enable=False)


@app.command()
def faults(
    *,
    folder: Annotated[Path, typer.Option(help="Folder for results, table and files.")] = Path(
        "results/faults"
    ),
    only: Annotated[
        list[str] | None,
        typer.Option(
            help=f"Kind of fault; may be repeated: {', '.join([*KINDS, MODELS, CHECKPOINTS])}."
        ),
    ] = None,
    times: Annotated[int, typer.Option(min=1, help="Faults of a kind in every command.")] = 40,
    files: Annotated[int, typer.Option(min=1, help="Model files that are changed.")] = 100_000,
    kept: Annotated[int, typer.Option(min=1, help="Checkpoints that are changed.")] = 20_000,
    seed: Annotated[int, typer.Option(min=0, help="Seed of what is left to chance.")] = 0,
    case: Annotated[
        str | None, typer.Option(help="Only commands with these letters in their name.")
    ] = None,
    report_only: Annotated[
        bool, typer.Option("--report-only", help="Inject nothing, only write the table.")
    ] = False,
) -> None:
    """Inject faults into every command, and count what became of them.

    Every result is kept in FOLDER, and a new run does only what is missing there.
    """
    console, store = Console(), Store(folder.resolve())
    if not report_only:
        wanted = choose(only)
        with closing(Server(store.logs, compiled(store.out))) as server:
            trials = Trials(server, store.out / "material", store.out / "run")
            for kind in wanted:
                if kind in (MODELS, CHECKPOINTS):
                    change_files(store, kind, files if kind == MODELS else kept, seed)
                    continue
                material.make(trials.material, server)
                inject(store, KINDS[kind](trials, Plan(times, seed)), case, console)
    text = markdown(store)
    (store.out / "report.md").write_text(text, encoding="utf-8")
    console.print(text, markup=False, highlight=False, soft_wrap=True)
    if not Counts.total(totals(store).values()).is_clean:
        raise typer.Exit(1)


def choose(only: list[str] | None) -> list[str]:
    """Return the kinds that were asked for, or all."""
    known = [*KINDS, MODELS, CHECKPOINTS]
    unknown = [kind for kind in only or () if kind not in known]
    if unknown:
        raise ValueError(f"no such kind: {', '.join(unknown)}; known are {', '.join(known)}")
    return only or known


def change_files(store: Store, kind: str, times: int, seed: int) -> None:
    """Change model files or checkpoints; their findings lie beside the other results."""
    # These train models, which other kinds of faults do not need.
    from benchmarks.faults import checkpoints, model_files  # noqa: PLC0415

    run, name = (
        (model_files.run, "model file") if kind == MODELS else (checkpoints.run, "checkpoint")
    )
    place = store.out / f"{name.replace(' ', '-')}s"
    counts = run(times, seed, place)
    why = f"see the lists of seed {seed} in {place}"
    store.append(f"changed {name}", "all", {"split": seed, "counts": asdict(counts), "why": why})


def inject(
    store: Store, injections: Iterator[Injection], case: str | None, console: Console
) -> None:
    """Inject what is not in the results yet, and tell of what is not as promised."""
    done: dict[tuple[str, str], set[int]] = {}
    for injection in injections:
        if case is not None and case not in injection.case:
            continue
        place = injection.place
        if place not in done:
            done[place] = set(store.read(*place))
            console.print(f"{injection.kind}: {injection.case}", highlight=False, markup=False)
        if injection.number in done[place]:
            continue
        begun = perf_counter()
        judged = injection.run()
        record = {"split": injection.number, "outcome": judged.outcome, "why": judged.why}
        store.append(*place, record | {"seconds": round(perf_counter() - begun, 3)})
        if not Counts.of(judged.outcome).is_clean:
            line = f"  {injection.number}: {judged.outcome}: {judged.why}"
            console.print(line, highlight=False, markup=False, soft_wrap=True)


if __name__ == "__main__":
    try:
        app(prog_name="python -m benchmarks.faults")
    except (RuntimeError, ValueError) as error:
        Console(stderr=True, style="red", soft_wrap=True).print(f"Error: {error}", markup=False)
        sys.exit(1)
