"""``elmband report``: a page that shows where a model can be trusted."""

from time import perf_counter
from typing import Any

from elmband.cli._dialect import asked_csv
from elmband.cli._files import destination, loaded, named, writable
from elmband.cli._labelled import dropped, dropped_line, opened_labelled
from elmband.cli._options import check_inputs, tell
from elmband.cli._outputs import check_outputs
from elmband.cli._status import note
from elmband.ground.wording import counted
from elmband.report.write import written_report


def report(
    *,
    model: str,
    data: str,
    target: str | None,
    drop_missing_targets: bool,
    output: str,
    level: float,
    title: str | None,
    by: list[str] | None,
    unit: str | None,
    delimiter: str | None,
    decimal: str | None,
    encoding: str | None,
    as_json: bool,
) -> None:
    """Do what was asked for."""
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
