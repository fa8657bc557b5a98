"""Experiment 9: what intervals cost beyond a plain ELM."""

from collections.abc import Callable
from time import perf_counter
from typing import Any

import numpy as np

from elmband import ELMIntervalRegressor, ELMRegressor
from elmband.display import new_figure
from elmband_experiments.paper.base import Experiment, Result, Row, Settings
from elmband_experiments.paper.models import default, published

INPUTS = 147
NEURONS = {"linear": INPUTS, "sigmoid": 200}
ROWS, FEW_ROWS, WARM_ROWS = 100_000, 1_000, 300
PLAIN, EXACT, FAST, LOG, DEFAULT = (
    "plain ELM",
    "published mode",
    'published mode, mode="fast"',
    "elmband's noise model, same layer",
    "elmband's defaults",
)
# Fit and prediction in seconds on 2,000,000 rows; the last is what intervals take as well.
SHARES_OF_TIME = (0.0, 0.03, 0.12, 0.18, 0.25)
THEIRS = {PLAIN: (12.0, 8.0), EXACT: (2 * 12.0 + 2 * 25.0, 8.0 + 32.0)}


def methods(seed: int) -> dict[str, tuple[Any, Callable[[Any, Any], Any]]]:
    """Return every model with what is asked of it.

    All but the last choose γ by GCV, which costs nothing.
    """

    def interval(model: Any, X: Any) -> Any:
        return model.predict_interval(X, confidence_level=0.95)

    plain = ELMRegressor(NEURONS, alpha="gcv", random_state=seed, verbose=False)
    log = ELMIntervalRegressor(NEURONS, alpha="gcv", random_state=seed, verbose=False)
    return {
        PLAIN: (plain, lambda model, X: model.predict(X)),
        EXACT: (published(NEURONS, seed, alpha="gcv"), interval),
        FAST: (published(NEURONS, seed, alpha="gcv", mode="fast"), interval),
        LOG: (log, interval),
        DEFAULT: (default(seed), interval),
    }


def run(settings: Settings) -> Result:
    """Time fit and prediction of each model on rows as wide as those of the pixels."""
    n = FEW_ROWS if settings.quick else ROWS
    rng = np.random.default_rng(settings.seed)
    X = rng.uniform(0, 255, size=(2 * n, INPUTS)).astype(np.float32)
    y = np.sign(X[:, :3].sum(axis=1) - X[:, 3:6].sum(axis=1) + rng.normal(0, 100, 2 * n))
    rows: list[Row] = []
    for number, (name, (model, answer)) in enumerate(methods(settings.seed).items()):
        settings.tell(f"{name}, {n:,} rows", SHARES_OF_TIME[number])
        # A first small fit leaves the cost of first calls out of the comparison.
        answer(model.fit(X[:WARM_ROWS], y[:WARM_ROWS]), X[:WARM_ROWS])
        fit = _seconds(model.fit, X[:n], y[:n])
        predict = _seconds(answer, model, X[n:])
        rows.append(_row(name, n, fit, predict, rows[0] if rows else None))
    return Result({"runtime": rows}, {"runtime": draw(rows)}, tuple(map(sentence, rows)))


def _seconds(work: Callable[..., Any], *given: Any) -> float:
    begun = perf_counter()
    work(*given)
    return perf_counter() - begun


def _row(name: str, n: int, fit: float, predict: float, plain: Row | None) -> Row:
    """Return times and the factor over a plain ELM, with those that were published."""
    theirs, base = THEIRS.get(name), THEIRS[PLAIN]
    both = fit + predict
    return {
        "method": name,
        "rows": n,
        "fit_seconds": fit,
        "predict_seconds": predict,
        "factor": 1.0
        if plain is None
        else both / (plain["fit_seconds"] + plain["predict_seconds"]),
        "published_fit_seconds": theirs and theirs[0],
        "published_predict_seconds": theirs and theirs[1],
        "published_factor": theirs and sum(theirs) / sum(base),
    }


def sentence(row: Row) -> str:
    """Return the times of a model."""
    theirs = row["published_factor"]
    beside = "" if theirs is None else f" (published {theirs:.1f})"
    return (
        f"{row['method'][0].upper()}{row['method'][1:]}: {row['fit_seconds']:.2f} s to fit "
        f"{row['rows']:,} rows, {row['predict_seconds']:.2f} s to answer as many; "
        f"{row['factor']:.1f} times a plain ELM{beside}."
    )


def draw(rows: list[Row]) -> Any:
    """Draw times as bars, one above the other; the defaults on a scale of their own."""
    figure = new_figure(9, 4.6)
    upper, lower = figure.subplots(2, 1, height_ratios=[4, 1.2])
    draw_bars(upper, [row for row in rows if row["method"] != DEFAULT])
    draw_bars(lower, [row for row in rows if row["method"] == DEFAULT])
    lower.set_xlabel(f"seconds, {rows[0]['rows']:,} rows, {INPUTS} inputs")
    figure.legend(
        *upper.get_legend_handles_labels(), loc="outside lower center", ncols=2, frameon=False
    )
    return figure


def draw_bars(ax: Any, rows: list[Row]) -> None:
    """Draw times of some models, the first one on top."""
    names = [row["method"] for row in rows][::-1]
    fits = [row["fit_seconds"] for row in rows][::-1]
    answers = [row["predict_seconds"] for row in rows][::-1]
    ax.barh(names, fits, color="#1d5fa8", label="fit")
    ax.barh(names, answers, left=fits, color="#a9c6e6", label="answer as many rows")
    for k, row in enumerate(rows[::-1]):
        ax.text(fits[k] + answers[k], k, f"  {row['factor']:.1f} times", va="center", fontsize=10)
    ax.margins(x=0.2)


EXPERIMENT = Experiment(
    name="runtime",
    group="runtime",
    title="Run time",
    published=(
        "On 2,000,000 rows with 347 neurons and a desktop with four cores: 12 s for each ELM, "
        "25 s for each covariance, 8 s for predictions of as many rows and 32 s for their "
        "intervals. In all a factor of about 5 over a plain ELM."
    ),
    why=(
        "The machine, the number of rows and the precision (float32 here) are others, so only "
        "the factor can be compared. Both models share one hidden layer here, covariances take "
        "half the arithmetic, and intervals a single quadratic form; the fast mode takes "
        "covariances from a sample and states its error. elmband's defaults train several layers "
        "of up to 2,000 neurons and choose among them, which is more work than the paper's. The "
        "rows are random numbers of the same width as pixels: times do not depend on what they "
        "show."
    ),
    run=run,
    seconds=lambda settings: 4.0 if settings.quick else 30.0,
)
