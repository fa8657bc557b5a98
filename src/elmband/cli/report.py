"""``elmband report``: a page that shows where a model can be trusted."""

from time import perf_counter
from typing import Annotated, Any

import typer

from elmband.cli._dialect import Decimal, Delimiter, Encoding, asked_csv
from elmband.cli._files import STANDARD, destination, loaded, named, writable
from elmband.cli._labelled import DropMissing, Truth, dropped, dropped_line, opened_labelled
from elmband.cli._options import AsJson, Labelled, Model, check_inputs, share, tell
from elmband.cli._outputs import check_outputs
from elmband.cli._status import note
from elmband.ground.wording import counted
from elmband.report.write import written_report

EXAMPLE = "Example: [bold]elmband report delay.safetensors test.parquet -o report.html[/bold]"


def _page(path: str) -> str:
    if path != STANDARD and not path.lower().endswith((".html", ".htm")):
        raise typer.BadParameter(f"{path} is no name for a page; let it end in .html.")
    return path


def report(
    *,
    model: Model,
    data: Labelled,
    target: Truth = None,
    drop_missing_targets: DropMissing = False,
    output: Annotated[
        str,
        typer.Option("--output", "-o", help="Page to write; - is standard output.", callback=_page),
    ] = "report.html",
    level: Annotated[float, typer.Option(help="Level of the intervals.", callback=share)] = 0.9,
    title: Annotated[str | None, typer.Option(help="Title of the page.")] = None,
    by: Annotated[
        list[str] | None,
        typer.Option(
            "--by",
            "--group",
            help="Column by which coverage is shown, such as a region; it need not be a feature. "
            "May be given several times.",
            metavar="COLUMN",
        ),
    ] = None,
    unit: Annotated[str | None, typer.Option(help="Unit of the target, such as minutes.")] = None,
    delimiter: Delimiter = None,
    decimal: Decimal = None,
    encoding: Encoding = None,
    as_json: AsJson = False,
) -> None:
    """Write one page that needs nothing else: what the model promises, whether it keeps it, where.

    Rows should be ones that training did not see; the page says how many of them it saw.
    """
    check_inputs(model, data)
    check_outputs([output], [model, data])
    csv = asked_csv(delimiter, decimal, encoding)
    begun = perf_counter()
    fitted = loaded(model)
    with (
        opened_labelled(fitted, data, target, drop_missing=drop_missing_targets, csv=csv) as rows,
        writable(output, ".html") as path,
    ):
        content = written_report(
            fitted, rows, path, confidence_level=level, title=title, by=by or [], unit=unit
        )
        nbytes = path.stat().st_size
        left_out = {"dropped_rows": dropped(rows)} if drop_missing_targets else {}
    facts = {
        "output": output,
        "bytes": nbytes,
        "model": named(model),
        "data": named(data),
        "rows": content["rows"],
        **left_out,
        **_judged(content),
        "in_training": _overlap(content["training"]),
        "seconds": round(perf_counter() - begun, 3),
    }
    text = f"Report on {counted(facts['rows'], 'row')} written to {destination(output)}"
    if drop_missing_targets:
        text += f"\n{dropped_line(facts['dropped_rows'])}"
    tell(facts, text, as_json=as_json, outputs=(output,))
    if content["training"] is not None and content["training"]["warns"]:
        note(content["training"]["sentence"])


def _overlap(training: dict[str, Any] | None) -> float | None:
    """Return the share of rows that training saw; None where it is not known."""
    return None if training is None else float(training["share"])


def _judged(content: dict[str, Any]) -> dict[str, Any]:
    """Return what the page says first, in plain types."""
    if content["kind"] == "intervals":
        at = content["promise"]["at"]
        return {"level": at["level"], "coverage": at["held"], "mean_width": at["width"]}
    kept = content["promise"]
    right: dict[str, Any] = {"right": content["right"]["share"]}
    return right if kept is None else right | {"answered": kept["answered"], "error": kept["error"]}
