"""The report, from a model and labelled rows to a file."""

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

from elmband.engines.progress import shown
from elmband.estimators import ELMClassifier
from elmband.ground.files import appearing_whole, check_writable, naming
from elmband.report.classes.report import class_report
from elmband.report.facts import data_facts, model_facts
from elmband.report.first_pass import FirstPass, first_pass
from elmband.report.inputs import check_model, labelled_rows
from elmband.report.intervals.report import checked_level, interval_report
from elmband.report.page import page, require_extra
from elmband.report.rows import LabelledRows, total
from elmband.report.shares import CERTAINTY, TOLERANCE
from elmband.report.training_overlap import training_overlap
from elmband.sources.stream import Scan


def write_report(
    model: Any,
    data: Any,
    path: str | Path,
    *,
    confidence_level: float = 0.9,
    title: str | None = None,
    group: Any = None,
    by: Sequence[Any] = (),
    unit: str | None = None,
) -> Path:
    """Write one HTML page on how far a model can be trusted, for people who decide.

    The page says whether intervals hold as often as promised, where they are wide and why, what
    happens if uncertain rows go to people, and which rows were missed most. It is a single file
    that asks nothing of any network, and appears whole or not at all. Any number of rows are read
    twice, in flat memory. Medians on the page are right within half a percent, all other numbers
    are exact.

    Parameters
    ----------
    model : ELMIntervalRegressor, ELMClassifier or ELMSelectiveClassifier
        A fitted or loaded model of one target.
    data : Scan or pair (X, y)
        Labelled rows that training did not see: ``scan(..., target=)``, arrays or data frames.
        The page says so where the model has seen them, as far as its fingerprints tell.
    path : str or Path
        The file to write, ending in ``.html``.
    confidence_level : float, default=0.9
        The level at which intervals are judged.
    title : str, default=None
        Heading of the page.
    group : str, int, array or Scan, default=None
        What to split rows by: a column of the table by its name, whether a feature or not, a
        feature by its place, one label for each row, or a scan of a single column of the same
        rows. Numbers and dates are cut into ranges, missing values are a group of their own.
    by : sequence of these, default=()
        More of the same, each with a chart of its own.
    unit : str, default=None
        Unit of the target, such as "minutes".

    Returns
    -------
    Path
        The file.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> from elmband import ELMIntervalRegressor
    >>> from elmband.datasets import make_heteroscedastic
    >>> from elmband.report import write_report
    >>> train, test = (make_heteroscedastic(500, random_state=k) for k in (0, 1))
    >>> model = ELMIntervalRegressor(50, random_state=0).fit(train.X, train.y)
    >>> with TemporaryDirectory() as folder:
    ...     page = write_report(model, (test.X, test.y), Path(folder, "report.html"))
    ...     print(page.name, "of" in page.read_text("utf-8"))
    report.html True
    """
    path = Path(path)
    written_report(
        model,
        data,
        path,
        confidence_level=confidence_level,
        title=title,
        # A single name is one column.
        by=[*([] if group is None else [group]), *([by] if isinstance(by, str) else by)],
        unit=unit,
    )
    return path


def written_report(
    model: Any,
    data: Any,
    path: Path,
    *,
    confidence_level: float,
    title: str | None,
    by: Sequence[Any],
    unit: str | None,
) -> dict[str, Any]:
    """Write the page, and return everything that it shows."""
    if path.suffix.lower() not in {".html", ".htm"}:
        raise ValueError(f"{path} is no name for a page; let it end in .html.")
    require_extra()
    check_model(model)
    level = checked_level(confidence_level)
    check_writable(path)
    if isinstance(data, Scan) and data.reads(path):
        raise ValueError(
            f"{path} is what the scan reads, or would be; name another place for the page."
        )
    rows = labelled_rows(model, data, by)
    content = report_data(model, rows, level, title=title, unit=unit)
    text = page(content)
    with appearing_whole(path) as temporary, naming(path):
        temporary.write_text(text, encoding="utf-8")
    return content


def report_data(
    model: Any, rows: LabelledRows, level: float, *, title: str | None, unit: str | None
) -> dict[str, Any]:
    """Return everything that the page shows."""
    suffix = f" {unit}" if unit else ""
    with shown("auto", rows.nbytes) as bar:
        first: FirstPass = total(rows, partial(first_pass, model), bar, "ranges")
        if isinstance(model, ELMClassifier):
            kind, content = "classes", class_report(model, rows, first, bar)
        else:
            kind, content = "intervals", interval_report(model, rows, first, level, suffix, bar)
    return {
        "kind": kind,
        "title": title or f"How far to trust predictions of {rows.target}",
        "target": rows.target,
        "unit": unit,
        "rows": first.n,
        "certainty": CERTAINTY,
        "tolerance": TOLERANCE,
        "training": training_overlap(first.seen),
        **content,
        "data": data_facts(rows, first),
        "facts": model_facts(model),
    }
