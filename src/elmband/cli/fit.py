"""``elmband fit``: a table to a model."""

import json
from pathlib import Path
from time import perf_counter
from typing import Annotated, Any, Literal

import typer
from rich.console import Console

from elmband import ELMIntervalRegressor, ELMSelectiveClassifier
from elmband.cli._files import named, plain
from elmband.cli._model import column, opened
from elmband.files import check_writable

EXAMPLE = (
    "Example: [bold]elmband fit trips.parquet --target delay -o delay.safetensors[/bold]\n\n"
    "Example: [bold]elmband fit mails.csv --target spam --max-error 0.01 -o spam.safetensors[/bold]"
)


def fit(
    *,
    data: Annotated[
        str,
        typer.Argument(
            help="Table to learn from: Parquet, CSV, Arrow, HDF5, npy, Zarr; - is standard input.",
            show_default=False,
        ),
    ],
    target: Annotated[
        str, typer.Option("--target", "-t", help="Column to predict.", show_default=False)
    ],
    output: Annotated[
        Path, typer.Option("--output", "-o", help="Model file to write.", show_default=False)
    ],
    features: Annotated[
        list[str] | None, typer.Option("--feature", help="Column to learn from; may be repeated.")
    ] = None,
    exclude: Annotated[
        list[str] | None, typer.Option(help="Column to leave out; may be repeated.")
    ] = None,
    weight: Annotated[
        str | None, typer.Option(help="Column that says how often each row counts.")
    ] = None,
    classes: Annotated[
        bool, typer.Option("--classes", help="Numbers of the target are classes. Text always is.")
    ] = False,
    neurons: Annotated[
        str, typer.Option(help='"auto", a number, or a mix as in "linear=8,tanh=200".')
    ] = "auto",
    published: Annotated[
        bool, typer.Option("--published", help="The published algorithm, with one hidden layer.")
    ] = False,
    coverage: Annotated[
        float | None, typer.Option(help="Classes: share of rows to answer.")
    ] = None,
    max_error: Annotated[
        float | None, typer.Option(help="Classes: largest share of wrong answers.")
    ] = None,
    max_fpr: Annotated[
        float | None, typer.Option(help="Classes: largest share of negatives answered as positive.")
    ] = None,
    min_precision: Annotated[
        float | None, typer.Option(help="Classes: least share of answered positives that are.")
    ] = None,
    checkpoint: Annotated[
        Path | None, typer.Option(help="Folder to go on from after an interruption.")
    ] = None,
    seed: Annotated[int, typer.Option(help="Seed of the hidden layers.", min=0)] = 0,
    as_json: Annotated[bool, typer.Option("--json", help="Print what was done as JSON.")] = False,
) -> None:
    """Train a model whose every prediction carries its own interval, and write it to a file.

    Text, categories, dates and missing values become numbers by rules that are learned and kept
    in the model. A target of text is a class: the model then answers only what it is certain of.
    Files of any size are read in chunks, in flat memory.
    """
    check_writable(output)
    wishes = {
        "coverage": coverage,
        "max_error": max_error,
        "max_fpr": max_fpr,
        "min_precision": min_precision,
    }
    columns = {
        "target": column(target),
        "weight": column(weight),
        "features": [column(name) for name in features] if features else None,
    }
    with opened(data, exclude=exclude, **columns) as rows:
        encoder = rows.encoder
        _ = rows.n_features
        text = encoder is not None and encoder.target_levels_ is not None
        model = _made(neurons, published=published, classes=classes or text, wishes=wishes)
        model.set_params(random_state=seed)
        begun = perf_counter()
        model.fit(rows, checkpoint=checkpoint)
        seconds = perf_counter() - begun
        facts = {
            "model": str(output),
            "data": named(data),
            "rows": rows.n_rows,
            "features": rows.n_features,
            "target": target,
            "kind": "classes" if classes or text else "numbers",
            "seconds": round(seconds, 3),
        }
    model.save(output)
    if as_json:
        typer.echo(json.dumps(plain(facts)))
        return
    console = Console(highlight=False, soft_wrap=True)
    console.print(
        f"{facts['rows']:,} rows, {facts['features']} features: trained in {seconds:.1f} s, "
        f"written to {output}",
        markup=False,
    )
    if isinstance(model, ELMSelectiveClassifier) and any(wishes.values()):
        console.print(model.statement_, markup=False)


def _made(
    neurons: str, *, published: bool, classes: bool, wishes: dict[str, float | None]
) -> ELMIntervalRegressor | ELMSelectiveClassifier:
    count = _neurons(neurons)
    if classes:
        noise: Literal["squared", "log"] = "squared" if published else "log"
        model = ELMSelectiveClassifier(count, noise=noise)
        model.set_params(**wishes)
        return model
    if any(value is not None for value in wishes.values()):
        asked = next(name for name, value in wishes.items() if value is not None)
        raise ValueError(f"--{asked.replace('_', '-')} is for classes; add --classes.")
    if published:
        return ELMIntervalRegressor(count, noise="squared", calibration="gaussian")
    return ELMIntervalRegressor(count)


def _neurons(text: str) -> Any:
    """Read "auto", a number, or a mix of kinds."""
    if text == "auto":
        return text
    try:
        if "=" not in text:
            return int(text)
        return {kind: int(count) for kind, count in (part.split("=") for part in text.split(","))}
    except ValueError as error:
        raise ValueError(
            f'--neurons {text!r} is neither "auto", a number, nor a mix such as '
            '"linear=8,tanh=200".'
        ) from error
