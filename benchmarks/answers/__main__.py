"""``python -m benchmarks.answers``: measure what is missing, then write the tables."""

import sys
from pathlib import Path
from typing import Annotated

import typer
from benchmarks.answers.data import DEFAULT_SETS, SETS
from benchmarks.answers.report import markdown
from benchmarks.answers.rivals import METHODS
from benchmarks.answers.runner import pending, plan, run, run_starts
from benchmarks.quality.store import Store

app = typer.Typer(add_completion=False, pretty_exceptions_enable=False)


@app.command()
def answers(
    *,
    out: Annotated[Path, typer.Option(help="Folder for results and tables.")] = Path(
        "results/answers"
    ),
    sets: Annotated[str, typer.Option(help=f"Sets, with commas: {', '.join(SETS)}.")] = ",".join(
        DEFAULT_SETS
    ),
    methods: Annotated[
        str, typer.Option(help=f"Methods, with commas: {', '.join(METHODS)}.")
    ] = ",".join(METHODS),
    scale: Annotated[
        float, typer.Option(min=0.001, max=1, help="Share of the calls and of the rows.")
    ] = 1.0,
    repeats: Annotated[int, typer.Option(min=0, help="Turns of imports; 0 leaves them out.")] = 5,
    timeout: Annotated[float, typer.Option(min=1, help="Seconds that a process may take.")] = 1800,
    retry: Annotated[bool, typer.Option("--retry", help="Measure again what failed.")] = False,
    report_only: Annotated[
        bool, typer.Option("--report-only", help="Measure nothing, only write the tables.")
    ] = False,
) -> None:
    """Measure how fast elmband and its rivals answer.

    Every part is kept in OUT, and a new run does only what is missing there.
    """
    store = Store(out)
    if not report_only:
        jobs = plan(_known(sets, SETS, "set"), _known(methods, METHODS, "method"))
        run(store, pending(store, jobs, retry=retry), scale, timeout)
        if repeats:
            run_starts(store, repeats)
    (out / "report.md").write_text(markdown(store.read_all()), encoding="utf-8")
    print(f"Wrote {out / 'report.md'}.")


def _known(names: str, known: dict[str, object], what: str) -> list[str]:
    """Return the names of a list with commas, all of which must be known."""
    wanted = [name.strip() for name in names.split(",")]
    unknown = [name for name in wanted if name not in known]
    if unknown:
        raise ValueError(f"no such {what}: {', '.join(unknown)}; known are {', '.join(known)}")
    return wanted


if __name__ == "__main__":
    try:
        app(prog_name="python -m benchmarks.answers")
    except (RuntimeError, ValueError) as error:
        print(f"Error: {error}", file=sys.stderr)
        sys.exit(1)
