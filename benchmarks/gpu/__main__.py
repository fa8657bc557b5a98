"""``python -m benchmarks.gpu``: check every result, time everything, write the tables."""

import json
import os
from pathlib import Path
from typing import Annotated

import torch
import typer
from benchmarks.gpu import cases
from benchmarks.gpu.checks import errors
from benchmarks.gpu.measure import copy_rate, matrix_rate
from benchmarks.gpu.report import report
from rich.console import Console

import elmband

app = typer.Typer(add_completion=False, pretty_exceptions_enable=False)


@app.command()
def gpu(
    out: Annotated[Path, typer.Option(help="Folder for results.json and report.md.")] = Path(
        "results/gpu"
    ),
    rows: Annotated[int, typer.Option(min=10_000, help="Rows of the paper's size.")] = 2_000_000,
    endless_rows: Annotated[
        int, typer.Option(min=0, help="Rows to stream without keeping any; 0 for none.")
    ] = 100_000_000,
) -> None:
    """Measure fits and intervals on a GPU beside the copy rate and the matrix rate."""
    console = Console()
    if not torch.cuda.is_available():
        console.print("PyTorch sees no CUDA device here; run this on a machine with a GPU.")
        raise typer.Exit(1)
    out.mkdir(parents=True, exist_ok=True)
    results = {
        "machine": {
            "gpu": torch.cuda.get_device_name(0),
            "torch": torch.__version__,
            "cuda": torch.version.cuda,
            "cpus": os.cpu_count(),
            "elmband": elmband.__version__,
        },
        "rows": rows,
        "rates": {
            "matrix": matrix_rate(),
            "pinned": copy_rate(pinned=True),
            "ordinary": copy_rate(pinned=False),
        },
        "errors": errors(),
        "places": list(cases.by_place(rows)),
        "neurons": list(cases.by_neurons(rows)),
        "endless": [
            cases.without_end(endless_rows, pinned=pinned)
            for pinned in (True, False)
            if endless_rows
        ],
    }
    (out / "results.json").write_text(json.dumps(results, indent=1) + "\n", encoding="utf-8")
    page = report(results)
    (out / "report.md").write_text(page, encoding="utf-8")
    console.print(page, markup=False)


if __name__ == "__main__":
    app()
