"""``elmband evaluate``: what a model is worth on rows that it has not seen."""

import json
from typing import Annotated

import typer
from rich.console import Console

from elmband import ELMSelectiveClassifier, load
from elmband.cli._files import plain
from elmband.cli._model import column, opened

EXAMPLE = "Example: [bold]elmband evaluate delay.safetensors test.parquet --target delay[/bold]"


def evaluate(
    *,
    model: Annotated[str, typer.Argument(help="Model file.", show_default=False)],
    data: Annotated[
        str,
        typer.Argument(help="Rows with known targets; - is standard input.", show_default=False),
    ],
    target: Annotated[
        str, typer.Option("--target", "-t", help="Column with the truth.", show_default=False)
    ],
    weight: Annotated[str | None, typer.Option(help="Column with weights of rows.")] = None,
    level: Annotated[
        list[float] | None, typer.Option(help="Level of intervals; may be repeated.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print figures as JSON.")] = False,
) -> None:
    """Print errors, and what intervals cover, on rows that training did not see."""
    fitted = load(model)
    columns = {"target": column(target), "weight": column(weight)}
    with opened(data, encoder=fitted.encoder_, **columns) as rows:
        if isinstance(fitted, ELMSelectiveClassifier):
            if not fitted.has_thresholds:
                fitted.choose(coverage=1.0)
            found = fitted.evaluate(rows)
            facts = found._asdict()
        else:
            found = fitted.evaluate(rows, confidence_level=level or [0.5, 0.9, 0.95])
            facts = found.to_dict()
    if as_json:
        typer.echo(json.dumps(plain(facts)))
        return
    Console(highlight=False, soft_wrap=True).print(str(found), markup=False)
