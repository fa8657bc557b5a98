"""``python -m benchmarks.quality``: run what is missing, then write the tables and the plot."""

import sys
from pathlib import Path
from typing import Annotated

import typer
from benchmarks.quality.data import choose_sets, data_folder
from benchmarks.quality.rivals import choose_methods
from benchmarks.quality.runner import pending, run
from benchmarks.quality.store import Store
from rich.console import Console

app = typer.Typer(add_completion=False, pretty_exceptions_enable=False)


@app.command()
def quality(
    *,
    out: Annotated[Path, typer.Option(help="Folder for results, tables and plot.")] = Path(
        "results"
    ),
    sets: Annotated[
        str, typer.Option(help="Sets or groups of sets (paper, uci, het, tab, art), with commas.")
    ] = "",
    methods: Annotated[
        str, typer.Option(help="Methods, with commas; 'rivals' means all but elmband's.")
    ] = "",
    splits: Annotated[
        int | None, typer.Option(min=1, help="At most so many splits of each set.")
    ] = None,
    timeout: Annotated[float, typer.Option(min=1, help="Seconds that one split may take.")] = 1800,
    retry: Annotated[bool, typer.Option("--retry", help="Run failed splits again.")] = False,
    report_only: Annotated[
        bool, typer.Option("--report-only", help="Run nothing, only write tables and plot.")
    ] = False,
) -> None:
    """Compare the prediction intervals of elmband with those of its rivals.

    Every finished split is kept in OUT, and a new run does only what is missing there.
    """
    console = Console()
    chosen, wanted = choose_sets(sets), choose_methods(methods)
    store = Store(out)
    if not report_only:
        if any(one.group != "art" for one in chosen):
            data_folder()  # better to miss it now than in every worker
        run(store, pending(store, chosen, wanted, splits, retry=retry), timeout, console)
    write_report(store, console)


def write_report(store: Store, console: Console) -> None:
    """Write ``report.md`` and ``coverage.png`` from everything that is kept."""
    # Not before the workers are done: on Linux a child's peak memory starts at its parent's.
    from benchmarks.quality.plot import draw  # noqa: PLC0415
    from benchmarks.quality.report import markdown  # noqa: PLC0415
    from benchmarks.quality.summary import Summary  # noqa: PLC0415

    summary = Summary(store.read_all())
    if not summary.good:
        console.print("No finished splits yet, so no report.")
        return
    report, figure = store.out / "report.md", store.out / "coverage.png"
    report.write_text(markdown(summary), encoding="utf-8")
    draw(summary, figure)
    console.print(f"Wrote {report} and {figure}.", highlight=False, soft_wrap=True)


if __name__ == "__main__":
    try:
        app(prog_name="python -m benchmarks.quality")
    except (RuntimeError, ValueError) as error:
        Console(stderr=True, style="red", soft_wrap=True).print(f"Error: {error}", markup=False)
        sys.exit(1)
