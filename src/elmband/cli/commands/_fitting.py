"""The options of ``elmband fit`` that no other command has."""

from pathlib import Path
from typing import Annotated, TypeAlias

import typer

from elmband.cli.commands._shared import CLASSES, RUNS
from elmband.sources.encode.rules import TYPES

# Parts of the help.
LAYERS = "Layers"
_COLUMNS = "Columns"
_NUMBERS = "If the target is numbers"

Features: TypeAlias = Annotated[
    list[str] | None,
    typer.Option(
        "--feature",
        help="Column to learn from; may be repeated. All others by default.",
        rich_help_panel=_COLUMNS,
    ),
]
Exclude: TypeAlias = Annotated[
    list[str] | None,
    typer.Option(help="Column to leave out; may be repeated.", rich_help_panel=_COLUMNS),
]
Weight: TypeAlias = Annotated[
    str | None,
    typer.Option(
        help="Column that says how often each row counts, in DATA and in the rows of --calibrate. "
        "Only ratios matter: a common factor changes nothing. Zero drops a row. A row is left out "
        "with all of its weight, and equal rows leave together; in a table too large for memory, "
        "which is read in chunks, copies cannot be found, and each is left out by itself.",
        metavar="COLUMN",
        rich_help_panel=_COLUMNS,
    ),
]
Groups: TypeAlias = Annotated[
    str | None,
    typer.Option(
        help="Column whose equal values say which rows belong together, such as a patient: "
        "they are left out together, so that intervals are for rows of new groups. The rows of "
        "--calibrate need it too: each group counts once there. It is no feature, and predict "
        "does not need it. Rows are taken into memory, 1 GiB of features and 2,000 rows a group "
        "at most.",
        metavar="COLUMN",
        rich_help_panel=_COLUMNS,
    ),
]
Classes: TypeAlias = Annotated[
    bool,
    typer.Option(
        "--classes",
        help="Numbers of the target are classes. Text always is.",
        rich_help_panel=CLASSES,
    ),
]
Positive: TypeAlias = Annotated[
    str | None,
    typer.Option(
        help="Classes: the class of positives; the second of two if not given.",
        metavar="CLASS",
        rich_help_panel=CLASSES,
    ),
]
Calibrate: TypeAlias = Annotated[
    str | None,
    typer.Option(
        help="Rows held out from DATA, with the same columns, which turn estimates into promises: "
        "intervals that cover at least the level asked for, or risks that are kept. 19 rows are "
        "the least for 95 %; some hundreds make intervals narrower.",
        metavar="DATA",
    ),
]
Neurons: TypeAlias = Annotated[
    str,
    typer.Option(
        help='"auto", a number, or a mix as in "linear=8,tanh=200".', rich_help_panel=LAYERS
    ),
]
LearningRounds: TypeAlias = Annotated[
    str,
    typer.Option(
        help='How often neurons learn which inputs matter: "auto", or a number; 0 leaves them '
        "blind, which is faster. With --neurons auto.",
        rich_help_panel=LAYERS,
    ),
]
MaxNeurons: TypeAlias = Annotated[
    int | None,
    typer.Option(
        help="Neurons of all layers together, at most: smaller models answer faster. With "
        "--neurons auto; 6,000 if not given.",
        min=1,
        rich_help_panel=LAYERS,
    ),
]
Published: TypeAlias = Annotated[
    bool,
    typer.Option(
        "--published",
        help="The published algorithm, with one hidden layer.",
        rich_help_panel=LAYERS,
    ),
]
Seed: TypeAlias = Annotated[
    int, typer.Option(help="Seed of the hidden layers.", min=0, rich_help_panel=LAYERS)
]
Checkpoint: TypeAlias = Annotated[
    Path | None,
    typer.Option(
        help="Folder to go on from after an interruption; it is removed once the model file "
        "is there.",
        metavar="FOLDER",
        rich_help_panel=RUNS,
    ),
]
Transform: TypeAlias = Annotated[
    str,
    typer.Option(
        "--transform",
        "--target-transform",
        help='Scale to learn the target on: "auto" (for a target that is never negative and '
        'skewed, if intervals gain 2 % by it), "none", "log", "log1p" or "logit". '
        "Predictions are means all the same.",
        metavar="NAME",
        rich_help_panel=_NUMBERS,
    ),
]
Range: TypeAlias = Annotated[
    str,
    typer.Option(
        "--target-range",
        help='What predictions and bounds cannot leave: "auto" (found in the data: never negative, '
        'or a share between 0 and 1), "none", or two ends as in "0,100" or "0,".',
        metavar="LOW,HIGH",
        rich_help_panel=_NUMBERS,
    ),
]
Symmetric: TypeAlias = Annotated[
    str,
    typer.Option(
        help='Whether errors above and below the mean are alike: "auto" (looks at rows left out), '
        '"yes", or "no", which gives each side a noise model and a multiplier of its own.',
        metavar="auto|yes|no",
        rich_help_panel=_NUMBERS,
    ),
]
Types: TypeAlias = Annotated[
    list[str] | None,
    typer.Option(
        "--types",
        help=f"What a column is, whatever it looks like: {', '.join(TYPES)}; may be repeated, or "
        "hold several with commas.",
        metavar="NAME=TYPE",
    ),
]
MaxLevels: TypeAlias = Annotated[
    str,
    typer.Option(
        "--max-levels",
        help='Levels of a column of text that have a feature each, at most: "auto" (as many as '
        "rows support), or a number.",
    ),
]
LocalLayers: TypeAlias = Annotated[
    list[str] | None,
    typer.Option(
        help='Column whose levels may have output layers of their own; may be repeated. "auto" '
        'tries all columns from 10,000 rows on, "none" tries none. With --neurons auto.',
        metavar="COLUMN",
        rich_help_panel=LAYERS,
        show_default="auto",
    ),
]
