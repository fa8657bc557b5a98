"""``elmband demo``: three kinds of interval side by side, on data where the truth is known."""

from collections.abc import Callable
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np
import typer
from numpy.typing import NDArray
from rich import box
from rich.console import Console
from rich.table import Table
from scipy.special import ndtri

from elmband import ELMIntervalRegressor, ELMRegressor
from elmband.cli._demo_figure import around, draw
from elmband.cli._demo_task import (
    Floats,
    Kind,
    Outcome,
    Task,
    artificial_task,
    diabetes_task,
    write_tables,
)
from elmband.cli._files import STANDARD, destination, writable
from elmband.cli._options import tell
from elmband.cli._outputs import check_outputs
from elmband.ground.files import appearing_whole, naming
from elmband.ground.wording import percent_exactly
from elmband.metrics import coverage_by_group, interval_score, nmpiw, picp


def demo(
    *,
    output: str,
    rows: int,
    confidence_level: float,
    seed: int,
    tables: Path | None,
    as_json: bool,
) -> None:
    """Do what was asked for."""
    if tables is not None:
        written = write_tables(tables, seed)
        (train, n), (test, m) = written.items()
        words = f"{n} rows written to {train}, {m} to {test}"
        tell({"rows": written}, words, as_json=as_json, outputs=())
        return
    check_outputs([output], [])
    tasks = artificial_task(rows, seed), diabetes_task(seed)
    results = []
    for task in tasks:
        results.append(compare(task, seed, confidence_level))
        if not as_json:
            typer.echo(printed(table(task, results[-1], confidence_level)), err=output == STANDARD)
    figure = draw(tasks[0], results[0], confidence_level)
    with (
        writable(output, ".png") as path,
        appearing_whole(path) as temporary,
        naming(path),
        temporary.open("wb") as file,
    ):
        figure.savefig(file, format="png", dpi=120)
    facts = {
        "output": output,
        "confidence_level": confidence_level,
        "data": [as_dict(task, found) for task, found in zip(tasks, results, strict=True)],
    }
    where = destination(output) if output == STANDARD else Path(output).resolve()
    tell(facts, f"Figure written to {where}", as_json=as_json, outputs=(output,))


def printed(result: Table) -> str:
    """Return a table as text for the terminal, with its colours where it has such."""
    console = Console(highlight=False)
    with console.capture() as captured:
        console.print(result)
    return captured.get()


def as_dict(task: Task, outcomes: list[Outcome]) -> dict[str, Any]:
    """Return the outcomes in plain types."""
    names = ("picp", "nmpiw", "score", "noisiest", "quietest", "seconds")
    return {
        "name": task.name,
        "test_rows": len(task.y_test),
        "intervals": [
            {"kind": o.kind.name, **{name: getattr(o, name) for name in names}} for o in outcomes
        ],
    }


def fit_uniform(task: Task, seed: int, level: float) -> Callable[[Floats], Floats]:
    """Fit the mean alone; the training error gives one width to all rows."""
    model = ELMRegressor(random_state=seed).fit(task.X, task.y)
    half = ndtri((1 + level) / 2) * np.sqrt(np.mean((task.y - model.predict(task.X)) ** 2))
    return lambda X: around(model.predict(X), half)


def fit_confidence(task: Task, seed: int, level: float) -> Callable[[Floats], Floats]:
    """Fit the mean and the covariance of its weights, which come with the noise model."""
    model, z = fit_interval_model(task, seed), ndtri((1 + level) / 2)
    return lambda X: around(model.predict(X), z * np.sqrt(model.predict_variance(X).mean_model))


def fit_per_sample(task: Task, seed: int, level: float) -> Callable[[Floats], Floats]:
    """Fit the models of the mean and of the noise."""
    model = fit_interval_model(task, seed)
    return lambda X: np.asarray(model.predict_interval(X, confidence_level=level))


def fit_interval_model(task: Task, seed: int) -> Any:
    """Fit the interval model as it comes."""
    return ELMIntervalRegressor(random_state=seed).fit(task.X, task.y)


KINDS = (
    Kind("uniform, training MSE", "tab:orange", fit_uniform),
    Kind("confidence of the mean", "tab:green", fit_confidence),
    Kind("per-sample prediction", "tab:blue", fit_per_sample),
)


def compare(task: Task, seed: int, level: float) -> list[Outcome]:
    """Fit and measure the three kinds of interval."""
    # Fitted before the clock runs, which leaves the cost of first calls out of the comparison.
    noise = fit_interval_model(task, seed).predict_variance(task.X_test).total
    if task.true_std is not None:
        noise = task.true_std
    fifths = np.argsort(np.argsort(noise)) * 5 // len(noise)
    return [measure(kind, task, seed, level, fifths) for kind in KINDS]


def measure(kind: Kind, task: Task, seed: int, level: float, fifths: NDArray[np.intp]) -> Outcome:
    """Fit one kind of interval and measure it on the test rows, grouped by `fifths`, 0 to 4."""
    start = perf_counter()
    predict = kind.fit(task, seed, level)
    interval = predict(task.X_test)
    seconds = perf_counter() - start
    coverage = coverage_by_group(task.y_test, interval, fifths).coverage
    return Outcome(
        kind=kind,
        predict=predict,
        picp=picp(task.y_test, interval),
        nmpiw=nmpiw(task.y_test, interval),
        score=interval_score(task.y_test, interval, confidence_level=level),
        quietest=float(coverage[0]),
        noisiest=float(coverage[-1]),
        seconds=seconds,
    )


def table(task: Task, outcomes: list[Outcome], level: float) -> Table:
    """Lay out the outcomes, within 80 columns."""
    result = Table(
        title=f"{task.name}: intervals at nominal {percent_exactly(level)}",
        caption=(
            f"{len(task.y_test):,} test rows; noisiest and quietest fifth by {task.order}.\n"
            "Interval score: lower is better.\n"
            "Seconds: fit and predict; the last two kinds fit both models."
        ),
        box=box.SIMPLE_HEAD,
        padding=(0, 1, 0, 0),
    )
    result.add_column("interval")
    for name in ("PICP", "NMPIW", "score", "noisiest", "quietest", "seconds"):
        result.add_column(name, justify="right", no_wrap=True)
    for o in outcomes:
        result.add_row(
            o.kind.name,
            f"{100 * o.picp:.1f} %",
            f"{o.nmpiw:.3f}",
            f"{o.score:.4g}",
            f"{100 * o.noisiest:.1f} %",
            f"{100 * o.quietest:.1f} %",
            f"{o.seconds:.4f}",
        )
    return result
