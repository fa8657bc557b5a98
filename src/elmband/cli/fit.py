"""``elmband fit``: a table to a model."""

import math
from pathlib import Path
from time import perf_counter
from typing import Annotated, Any, Literal

import typer

from elmband import ELMIntervalRegressor, ELMSelectiveClassifier
from elmband.checkpoint import kept_until_saved
from elmband.cli._cluster import Scheduler, Workers, check_spread, seen_from, workers_of
from elmband.cli._dialect import Decimal, Delimiter, Encoding, asked_csv
from elmband.cli._files import destination, named, writable
from elmband.cli._groups import check_grouping, groups_of
from elmband.cli._learn import (
    check_apart,
    check_kept,
    check_target,
    learned,
    positive_class,
    promised,
)
from elmband.cli._local import LocalLayers, local_line, read_local
from elmband.cli._model import check_width, opened
from elmband.cli._options import (
    AsJson,
    Coverage,
    MaxError,
    MaxFpr,
    MinPrecision,
    check_inputs,
    counted,
    one_wish,
    option,
    tell,
)
from elmband.cli._outputs import check_checkpoint, check_outputs
from elmband.cli._target import (
    Range,
    Transform,
    option_words,
    read_range,
    read_transform,
    target_facts,
    target_lines,
)
from elmband.cli._types import MaxLevels, Types, check_types, encoder_for, tell_columns
from elmband.printable import on_one_line

EXAMPLE = (
    "Example: [bold]elmband fit trips.parquet --target delay -o delay.safetensors[/bold]\n\n"
    "Example: [bold]elmband fit mails.csv --target spam --max-error 0.01 -o spam.safetensors[/bold]"
)

# The default noise model needs several square matrices of this side: some seconds, and 1 GB.
_WIDEST = 4000


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
        str,
        typer.Option(
            "--output", "-o", help="Model file to write; - is standard output.", show_default=False
        ),
    ],
    features: Annotated[
        list[str] | None, typer.Option("--feature", help="Column to learn from; may be repeated.")
    ] = None,
    exclude: Annotated[
        list[str] | None, typer.Option(help="Column to leave out; may be repeated.")
    ] = None,
    types: Types = None,
    max_levels: MaxLevels = "auto",
    weight: Annotated[
        str | None,
        typer.Option(
            help="Column that says how often each row counts. Only ratios matter: a common factor "
            "changes nothing. Zero drops a row. A row is left out with all of its weight, and "
            "equal rows leave together; in a table too large for memory, which is read in chunks, "
            "copies cannot be found, and each is left out by itself."
        ),
    ] = None,
    groups: Annotated[
        str | None,
        typer.Option(
            help="Column whose equal values say which rows belong together, such as a patient: "
            "they are left out together, so that intervals are for rows of new groups. It is no "
            "feature, and predict does not need it. Rows are taken into memory, 1 GiB of features "
            "and 2,000 rows a group at most.",
            metavar="COLUMN",
        ),
    ] = None,
    classes: Annotated[
        bool, typer.Option("--classes", help="Numbers of the target are classes. Text always is.")
    ] = False,
    neurons: Annotated[
        str, typer.Option(help='"auto", a number, or a mix as in "linear=8,tanh=200".')
    ] = "auto",
    learning_rounds: Annotated[
        str,
        typer.Option(
            help='How often neurons learn which inputs matter: "auto", or a number; 0 leaves them '
            "blind, which is faster. With --neurons auto."
        ),
    ] = "auto",
    max_neurons: Annotated[
        int | None,
        typer.Option(
            help="Neurons of all layers together, at most: smaller models answer faster. With "
            "--neurons auto; 6,000 if not given.",
            min=1,
            show_default=False,
        ),
    ] = None,
    local_layers: LocalLayers = None,
    published: Annotated[
        bool, typer.Option("--published", help="The published algorithm, with one hidden layer.")
    ] = False,
    coverage: Coverage = None,
    max_error: MaxError = None,
    max_fpr: MaxFpr = None,
    min_precision: MinPrecision = None,
    positive: Annotated[
        str | None,
        typer.Option(
            help="Classes: the class of positives; the second of two if not given.",
            show_default=False,
        ),
    ] = None,
    calibrate: Annotated[
        str | None,
        typer.Option(
            help="Rows held out from DATA, which turn estimates into promises.", metavar="DATA"
        ),
    ] = None,
    target_transform: Transform = "auto",
    target_range: Range = "auto",
    delimiter: Delimiter = None,
    decimal: Decimal = None,
    encoding: Encoding = None,
    checkpoint: Annotated[
        Path | None,
        typer.Option(
            help="Folder to go on from after an interruption; it is removed once the model file "
            "is there."
        ),
    ] = None,
    workers: Workers = None,
    scheduler: Scheduler = None,
    seed: Annotated[int, typer.Option(help="Seed of the hidden layers.", min=0)] = 0,
    as_json: AsJson = False,
) -> None:
    """Train a model whose every prediction carries its own interval, and write it to a file.

    Text, categories, dates and missing values become numbers by rules that are learned and kept
    in the model. A target of text is a class: the model then answers only what it is certain of.
    Files of any size are read in chunks, in flat memory.
    """
    if calibrate is not None:
        check_inputs(data, calibrate)
        check_apart(data, calibrate)
    check_spread(data, scheduler)
    check_grouping(
        groups,
        features,
        published=published,
        checkpoint=checkpoint,
        workers=workers,
        scheduler=scheduler,
    )
    check_outputs([output], [data, calibrate])
    check_checkpoint(checkpoint, output)
    data = seen_from(data, scheduler)
    count, encoder = _neurons(neurons), encoder_for(types, max_levels)
    learning = _learning(learning_rounds, max_neurons) | read_local(local_layers)
    if learning and (published or count != "auto"):
        raise ValueError(
            f"{option(next(iter(learning)))} needs --neurons auto, and no --published."
        )
    wishes = one_wish(
        coverage=coverage, max_error=max_error, max_fpr=max_fpr, min_precision=min_precision
    )
    csv = asked_csv(delimiter, decimal, encoding)
    columns: dict[str, Any] = {
        "target": target,
        "weight": weight,
        "features": features or None,
        "exclude": exclude,
        "groups": groups,
        "widest": math.inf if published else _WIDEST,
        "csv": csv,
    }
    begun = perf_counter()
    with kept_until_saved():
        with opened(data, encoder=encoder, **columns) as rows:
            check_types(encoder, rows, named(data), target=target, weight=weight, groups=groups)
            # Text and dates give several features a column.
            check_width(rows.n_features, data, columns["widest"])
            text = check_target(rows, data, classes=classes)
            model = _made(count, published=published, classes=classes or text, wishes=wishes)
            if positive is not None:
                model.set_params(pos_label=positive_class(rows, positive))
            model.set_params(random_state=seed, **learning)
            _set_target(model, target_transform, target_range)
            tell_columns(rows, groups)
            labels = groups_of(rows, groups, data)
            with workers_of(workers, scheduler) as client, option_words(target):
                model.fit(rows, groups=labels, checkpoint=checkpoint, client=client)
            size = {"rows": rows.n_rows, "features": rows.n_features}
            size |= {} if labels is None else {"groups": int(labels.max()) + 1}
        if calibrate is not None:
            # Groups of rows held out are counted only, however large they are.
            with opened(calibrate, encoder=model.encoder_, target=target, csv=csv) as held_out:
                promised(
                    model, held_out, wishes, None if groups is None else held_out.groups(groups)
                )
        check_kept(model)
        with writable(output, ".safetensors") as path:
            model.save(path)
            nbytes = path.stat().st_size
    facts = {
        "output": output,
        "bytes": nbytes,
        "data": named(data),
        **size,
        "target": target,
        **learned(model),
        "seconds": round(perf_counter() - begun, 3),
    }
    words = [_words(facts)]
    if isinstance(model, ELMIntervalRegressor):
        facts |= target_facts(model)
        words += target_lines(model, on_one_line(target))
    if model.local_layers_:
        facts["local_layers"] = [layer._asdict() for layer in model.local_layers_]
        words.append(f"L{local_line(model)[1:]}.")
    tell(facts, "\n".join(words), as_json=as_json, outputs=(output,))


def _set_target(model: Any, transform: str, ends: str) -> None:
    """Hand what is asked of the target to a model of numbers."""
    asked = {"target_transform": read_transform(transform), "target_range": read_range(ends)}
    if isinstance(model, ELMIntervalRegressor):
        model.set_params(**asked)
        return
    for name, value in asked.items():
        if value != "auto":
            raise ValueError(f"{option(name)} is for numbers; the target is classes.")


def _words(facts: dict[str, Any]) -> str:
    """Return what was done, for people."""
    what = on_one_line(facts["target"])
    if "classes" in facts:
        what = f"{what} ({len(facts['classes'])} classes)"
    size = counted(facts["features"], "feature")
    # Workers that read files without a count of their rows keep it to themselves.
    if facts["rows"] is not None:
        size = f"{counted(facts['rows'], 'row')}, {size}"
    if "groups" in facts:
        size = f"{size}, {counted(facts['groups'], 'group')}"
    done = f"learned {what} in {facts['seconds']:.1f} s, written to {destination(facts['output'])}"
    lines = [f"{size}: {done}"]
    if facts.get("left_out"):
        lines.append(f"Columns left out: {', '.join(map(on_one_line, facts['left_out']))}")
    if "statement" in facts:
        lines.append(on_one_line(facts["statement"]))
    return "\n".join(lines)


def _made(
    count: Any, *, published: bool, classes: bool, wishes: dict[str, float]
) -> ELMIntervalRegressor | ELMSelectiveClassifier:
    if classes:
        noise: Literal["squared", "log"] = "squared" if published else "log"
        model = ELMSelectiveClassifier(count, noise=noise)
        model.set_params(**wishes)
        return model
    for asked in wishes:
        raise ValueError(f"{option(asked)} is for classes; add --classes.")
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
        raise typer.BadParameter(
            f'--neurons {text!r} is neither "auto", a number, nor a mix such as '
            '"linear=8,tanh=200".'
        ) from error


def _learning(rounds: str, most: int | None) -> dict[str, Any]:
    """Return what is asked of neurons that learn, where it is not the default."""
    asked: dict[str, Any] = {} if most is None else {"max_neurons": most}
    if rounds == "auto":
        return asked
    if not rounds.isdecimal():
        raise typer.BadParameter(
            f'--learning-rounds {rounds!r} is neither "auto" nor a whole number from 0 on.'
        )
    return {"learning_rounds": int(rounds), **asked}
