"""``elmband demo``: three kinds of interval side by side, on data where the truth is known."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Annotated, Any, TypeAlias

import numpy as np
import typer
from numpy.typing import NDArray
from rich import box
from rich.console import Console
from rich.table import Table
from scipy.special import ndtri
from sklearn.datasets import load_diabetes
from sklearn.model_selection import train_test_split

from elmband import ELMIntervalRegressor, ELMRegressor
from elmband.datasets import DOMAIN, make_heteroscedastic, noise_std, projection
from elmband.display import IntervalDisplay, new_figure
from elmband.files import appearing_whole, check_writable
from elmband.metrics import coverage_by_group, interval_score, nmpiw, picp

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Floats: TypeAlias = NDArray[np.float64]

TEST_ROWS = 2000
DRAWN_ROWS = 500
GRID = np.linspace(*DOMAIN, 241)


@dataclass(frozen=True, eq=False)
class Task:
    """A data set with its split, and the true noise of test rows where it is known."""

    name: str
    X: Floats
    y: Floats
    X_test: Floats
    y_test: Floats
    true_std: Floats | None = None

    @property
    def order(self) -> str:
        """What tells noisy test rows from quiet ones."""
        return "predicted variance" if self.true_std is None else "true noise"


@dataclass(frozen=True, eq=False)
class Kind:
    """A kind of interval: its name, its colour, and the fit of a function from X to intervals."""

    name: str
    color: str
    fit: Callable[[Task, int, float], Callable[[Floats], Floats]]


@dataclass(frozen=True, eq=False)
class Outcome:
    """What became of one kind of interval on one task."""

    kind: Kind
    predict: Callable[[Floats], Floats]
    picp: float
    nmpiw: float
    score: float
    quietest: float
    noisiest: float
    seconds: float


def demo(
    *,
    output: Annotated[
        Path, typer.Option("--output", "-o", help="Where to write the figure, a PNG file.")
    ] = Path("elmband-demo.png"),
    rows: Annotated[
        int, typer.Option(help="Training rows of the artificial data.", min=30, max=10_000_000)
    ] = 1000,
    confidence_level: Annotated[
        float, typer.Option(help="Share of targets that an interval should cover.")
    ] = 0.95,
    seed: Annotated[
        int, typer.Option(help="Seed of data, split and neurons.", min=0, max=2**32 - 1)
    ] = 0,
) -> None:
    """Compare three kinds of interval on two data sets, and draw them.

    A [bold]uniform[/bold] interval has one width everywhere, from the training error.
    A [bold]confidence[/bold] interval says where the mean lies, not where targets fall.
    A [bold]per-sample[/bold] prediction interval has a width of its own for every row.

    One data set is artificial, with known noise that varies tenfold.
    The other is the diabetes set of scikit-learn.
    """
    if not 0 < confidence_level < 1:
        raise typer.BadParameter(
            f"{confidence_level:g} does not lie between 0 and 1, as 0.95 does.",
            param_hint="'--confidence-level'",
        )
    if output.suffix.lower() != ".png":
        raise typer.BadParameter(
            f"{output} does not end in .png, the only format here.", param_hint="'--output'"
        )
    check_writable(output)
    console = Console(highlight=False)
    artificial, diabetes = artificial_task(rows, seed), diabetes_task(seed)
    results = compare(artificial, seed, confidence_level)
    console.print(table(artificial, results, confidence_level), "")
    others = compare(diabetes, seed, confidence_level)
    console.print(table(diabetes, others, confidence_level), "")
    figure = draw(artificial, results, confidence_level)
    with appearing_whole(output) as temporary, temporary.open("wb") as file:
        figure.savefig(file, format="png", dpi=120)
    console.print(f"Figure written to {output.resolve()}", markup=False, soft_wrap=True)


def artificial_task(rows: int, seed: int) -> Task:
    """Draw the artificial set and split it; its rows come in random order."""
    data = make_heteroscedastic(rows + TEST_ROWS, random_state=seed)
    return Task(
        f"Artificial data, {rows:,} training rows",
        data.X[:rows],
        data.y[:rows],
        data.X[rows:],
        data.y[rows:],
        data.std[rows:],
    )


def diabetes_task(seed: int) -> Task:
    """Load the diabetes set and split it at random."""
    X, y = load_diabetes(return_X_y=True)
    X, X_test, y, y_test = train_test_split(X, y, test_size=0.25, random_state=seed)
    name = f"Diabetes data, {len(y)} training rows"
    return Task(name, X, y, X_test, y_test)


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


def around(mean: Floats, half: Floats) -> Floats:
    """Return intervals with the given centre and half width."""
    return np.stack([mean - half, mean + half], axis=-1)


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
        title=f"{task.name}: intervals at nominal {percent(level)}",
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


def percent(share: float) -> str:
    """Return a share in percent, without needless zeros."""
    return f"{100 * share:.6g} %"


def draw(task: Task, outcomes: list[Outcome], level: float) -> "Figure":
    """Draw the artificial data with the truth, then each kind of interval over them."""
    figure = new_figure(16, 4.8)
    axes = figure.subplots(1, 1 + len(outcomes), sharex=True, sharey=True)
    draw_title(axes[0], "data and truth", f"true interval at {percent(level)}")
    for ax, outcome in zip(axes[1:], outcomes, strict=True):
        draw_outcome(ax, outcome)
    for ax in axes:
        draw_data(ax, task, level)
        ax.label_outer()
    handles, labels = axes[-1].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=len(labels), frameon=False)
    return figure


def draw_title(ax: "Axes", title: str, subtitle: str) -> None:
    """Write two lines above a panel."""
    ax.set_title(title, fontsize=12, fontweight="bold", pad=22)
    ax.text(0.5, 1.02, subtitle, fontsize=9.5, color="0.3", ha="center", transform=ax.transAxes)


def draw_data(ax: "Axes", task: Task, level: float) -> None:
    """Draw training rows, the true mean and the ends of the true interval."""
    mean, half = projection(GRID), ndtri((1 + level) / 2) * noise_std(GRID)
    x, y = task.X[:DRAWN_ROWS, 0], task.y[:DRAWN_ROWS]
    ax.scatter(x, y, s=10, color="0.35", alpha=0.6, linewidths=0, label="training rows")
    ax.plot(GRID, mean, color="black", linewidth=0.9, label="true mean")
    ends = ax.plot(GRID, around(mean, half), color="black", linewidth=0.9, dashes=(5, 3))
    ends[0].set_label("true interval")
    ax.set(xlim=DOMAIN, xticks=range(-2, 3), xlabel="x", ylabel="y")
    ax.spines[["top", "right"]].set_visible(False)


def draw_outcome(ax: "Axes", outcome: Outcome) -> None:
    """Draw one kind of interval as a band around its own mean, its coverage above."""
    interval = outcome.predict(GRID[:, np.newaxis])
    display = IntervalDisplay(GRID, None, interval.mean(axis=1), interval)
    display.plot(ax=ax, color=outcome.kind.color, legend=False)
    draw_title(
        ax,
        outcome.kind.name,
        f"covers {outcome.picp:.0%}; noisiest fifth {outcome.noisiest:.0%}, "
        f"quietest {outcome.quietest:.0%}",
    )
