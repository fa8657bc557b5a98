"""``elmband fit``: what it can be asked for."""

from typing import Annotated

import typer

from elmband.cli.commands._fitting import (
    Calibrate,
    Checkpoint,
    Classes,
    Exclude,
    Features,
    Groups,
    LearningRounds,
    LocalLayers,
    MaxLevels,
    MaxNeurons,
    Neurons,
    Positive,
    Published,
    Range,
    Seed,
    Symmetric,
    Transform,
    Types,
    Weight,
)
from elmband.cli.commands._shared import (
    AsJson,
    Coverage,
    Decimal,
    Delimiter,
    DropMissing,
    Encoding,
    MaxError,
    MaxFpr,
    MinPrecision,
    Scheduler,
    Workers,
)

EXAMPLE = (
    "Example: [bold]elmband fit trips.parquet --target delay -o delay.safetensors[/bold]\n\n"
    "Example: [bold]elmband fit mails.csv --target spam --max-error 0.01 -o spam.safetensors[/bold]"
)


def fit(
    *,
    data: Annotated[
        str,
        typer.Argument(
            help="Table to learn from: Parquet, CSV, Arrow, HDF5, npy, Zarr; - is standard input."
        ),
    ],
    target: Annotated[str, typer.Option("--target", "-t", help="Column to predict.")],
    output: Annotated[
        str,
        typer.Option("--output", "-o", help="Model file to write; - is standard output."),
    ],
    calibrate: Calibrate = None,
    drop_missing_targets: DropMissing = False,
    features: Features = None,
    exclude: Exclude = None,
    types: Types = None,
    max_levels: MaxLevels = "auto",
    weight: Weight = None,
    groups: Groups = None,
    transform: Transform = "auto",
    target_range: Range = "auto",
    symmetric: Symmetric = "auto",
    classes: Classes = False,
    coverage: Coverage = None,
    max_error: MaxError = None,
    max_fpr: MaxFpr = None,
    min_precision: MinPrecision = None,
    positive: Positive = None,
    neurons: Neurons = "auto",
    learning_rounds: LearningRounds = "auto",
    max_neurons: MaxNeurons = None,
    local_layers: LocalLayers = None,
    published: Published = False,
    delimiter: Delimiter = None,
    decimal: Decimal = None,
    encoding: Encoding = None,
    seed: Seed = 0,
    checkpoint: Checkpoint = None,
    workers: Workers = None,
    scheduler: Scheduler = None,
    as_json: AsJson = False,
) -> None:
    """Train a model whose every prediction carries its own interval, and write it to a file.

    Text, categories, dates and missing values become numbers by rules that are learned and kept
    in the model, beside the name of the target. A target of text is a class: the model then
    answers only what it is certain of. Files of any size are read in chunks, in flat memory.
    """
