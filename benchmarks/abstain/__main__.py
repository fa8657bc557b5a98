"""``python -m benchmarks.abstain``: run what is missing, then write the tables and the figures."""

import sys
from pathlib import Path
from typing import Annotated

import typer
from benchmarks.abstain.answers import AnswerFiles
from benchmarks.abstain.data import choose_sets, data_folder
from benchmarks.abstain.rivals import choose_methods
from benchmarks.abstain.runner import plan, run
from benchmarks.abstain.summary import Summary
from benchmarks.quality.store import Store
from rich.console import Console

QUICK_DIVISIONS, FULL_DIVISIONS = 200, 1000

app = typer.Typer(add_completion=False, pretty_exceptions_enable=False)


@app.command()
def abstain(
    *,
    out: Annotated[Path, typer.Option(help="Folder for results, tables, figures and data.")] = Path(
        "results/abstain"
    ),
    sets: Annotated[str, typer.Option(help="Sets, with commas.")] = "",
    methods: Annotated[str, typer.Option(help="Methods, with commas.")] = "",
    full: Annotated[
        bool,
        typer.Option(
            "--full/--quick", help="Also 2,000,000 pixels, and 1,000 divisions of photos."
        ),
    ] = False,
    timeout: Annotated[float, typer.Option(min=1, help="Seconds that one split may take.")] = 3600,
    retry: Annotated[bool, typer.Option("--retry", help="Run again what failed.")] = False,
    report_only: Annotated[
        bool, typer.Option("--report-only", help="Run nothing, only write tables and figures.")
    ] = False,
) -> None:
    """Compare classifiers that may abstain, and count the promises that they break.

    Every finished split is kept in OUT, and a new run does only what is missing there.
    """
    console, store = Console(), Store(out)
    chosen, wanted = choose_sets(sets, full=full), choose_methods(methods)
    if not report_only:
        if any(one.name.startswith("skin") for one in chosen):
            data_folder()  # better to miss it now than in every worker
        jobs = plan(chosen, wanted, FULL_DIVISIONS if full else QUICK_DIVISIONS)
        run(store, jobs, timeout, console, retry=retry)
    write_report(store, console)


def write_report(store: Store, console: Console) -> None:
    """Write ``report.md``, ``rates.png`` and ``risk.png`` from everything that is kept."""
    # Figures are the last thing that is needed, and matplotlib the largest.
    from benchmarks.abstain.plot import draw_curves, draw_rates  # noqa: PLC0415
    from benchmarks.abstain.report import markdown  # noqa: PLC0415

    summary, files = Summary(store.read_all()), AnswerFiles(store.out)
    written = [store.out / "report.md"]
    written[0].write_text(markdown(summary), encoding="utf-8")
    for name, draw in (("rates.png", draw_rates), ("risk.png", draw_curves)):
        if draw(summary, files, store.out / name):
            written.append(store.out / name)
    console.print(f"Wrote {', '.join(map(str, written))}.", highlight=False, soft_wrap=True)


if __name__ == "__main__":
    try:
        app(prog_name="python -m benchmarks.abstain")
    except (RuntimeError, ValueError) as error:
        Console(stderr=True, style="red", soft_wrap=True).print(f"Error: {error}", markup=False)
        sys.exit(1)
