"""``python -m benchmarks.scale``: measure what is missing, then write the tables and the plot."""

import shutil
import sys
from pathlib import Path
from typing import Annotated

import typer
from benchmarks.quality.store import Store
from benchmarks.scale.cases import GROWTH_ROWS, RIVALS
from benchmarks.scale.runner import Settings, pending, plan, run
from rich.console import Console

QUICK_ROWS, FULL_ROWS = 200_000, 2_000_000

app = typer.Typer(add_completion=False, pretty_exceptions_enable=False)


@app.command()
def scale(
    *,
    out: Annotated[Path, typer.Option(help="Folder for results, tables, plot and data.")] = Path(
        "results/scale"
    ),
    rows: Annotated[
        int | None, typer.Option(min=1000, help="Rows, instead of those of --quick or --full.")
    ] = None,
    full: Annotated[
        bool, typer.Option("--full/--quick", help="2,000,000 rows, or 200,000.")
    ] = False,
    repeats: Annotated[int, typer.Option(min=1, help="Runs of a process.")] = 3,
    turns: Annotated[
        int, typer.Option(min=1, help="Processes of every row; the best run of all counts.")
    ] = 2,
    rivals: Annotated[
        str, typer.Option(help="Rivals, with commas: hp-elm, ridge, naive; or none.")
    ] = ",".join(RIVALS),
    hpelm_python: Annotated[
        Path | None, typer.Option(help="Python with HP-ELM; without it HP-ELM is left out.")
    ] = None,
    growth: Annotated[
        bool, typer.Option("--growth", help="Also stream files of growing size.")
    ] = False,
    growth_rows: Annotated[
        int, typer.Option(min=GROWTH_ROWS[0], help="Rows of the largest of them.")
    ] = GROWTH_ROWS[-1],
    timeout: Annotated[float, typer.Option(min=1, help="Seconds that one row may take.")] = 3600,
    retry: Annotated[bool, typer.Option("--retry", help="Measure again what failed.")] = False,
    report_only: Annotated[
        bool, typer.Option("--report-only", help="Measure nothing, only write tables and plot.")
    ] = False,
    clean: Annotated[
        bool, typer.Option("--clean", help="Delete the generated data at the end.")
    ] = False,
) -> None:
    """Measure time and memory of elmband and its rivals at many rows.

    Every measurement is kept in OUT, and a new run does only what is missing there.
    """
    chosen = [name for name in choose(rivals) if name != "hp-elm" or hpelm_python]
    if hpelm_python is not None and not hpelm_python.is_file():
        raise ValueError(f"--hpelm-python names {hpelm_python}, which is not a file")
    console, store = Console(), Store(out)
    if not report_only:
        size = rows or (FULL_ROWS if full else QUICK_ROWS)
        jobs = plan(size, chosen, growth_rows if growth else 0, repeats, turns)
        settings = Settings(timeout, hpelm_python)
        run(store, pending(store, jobs, retry=retry), settings, console)
    write_report(store, console)
    if clean:
        shutil.rmtree(out / "data", ignore_errors=True)


def choose(names: str) -> list[str]:
    """Return the rivals named in a list with commas."""
    wanted = [name.strip() for name in names.split(",") if name.strip() != "none"]
    unknown = [name for name in wanted if name not in RIVALS]
    if unknown:
        raise ValueError(f"no such rival: {', '.join(unknown)}; known are {', '.join(RIVALS)}")
    return wanted


def write_report(store: Store, console: Console) -> None:
    """Write ``report.md``, and ``growth.png`` where growth was measured."""
    # Not before the workers are done: on Linux a child's peak memory starts at its parent's.
    from benchmarks.scale.plot import draw  # noqa: PLC0415
    from benchmarks.scale.report import markdown  # noqa: PLC0415
    from benchmarks.scale.summary import Summary  # noqa: PLC0415

    summary = Summary(store.read_all())
    report, figure = store.out / "report.md", store.out / "growth.png"
    report.write_text(markdown(summary), encoding="utf-8")
    written = f"{report} and {figure}" if draw(summary, figure) else f"{report}"
    console.print(f"Wrote {written}.", highlight=False, soft_wrap=True)


if __name__ == "__main__":
    try:
        app(prog_name="python -m benchmarks.scale")
    except (RuntimeError, ValueError) as error:
        Console(stderr=True, style="red", soft_wrap=True).print(f"Error: {error}", markup=False)
        sys.exit(1)
