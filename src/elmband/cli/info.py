"""``elmband info``: what is in a model file."""

import json
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console

from elmband import ELMSelectiveClassifier, load
from elmband.cli._files import plain

EXAMPLE = "Example: [bold]elmband info delay.safetensors[/bold]"


def info(
    *,
    model: Annotated[Path, typer.Argument(help="Model file.", show_default=False)],
    as_json: Annotated[bool, typer.Option("--json", help="Print facts as JSON.")] = False,
) -> None:
    """Tell what a model was trained on, what it is made of, and what it promises."""
    facts = facts_of(load(model), model)
    if as_json:
        typer.echo(json.dumps(plain(facts)))
        return
    console = Console(highlight=False, soft_wrap=True)
    width = max(map(len, facts))
    for name, value in facts.items():
        text = ", ".join(map(str, value)) if isinstance(value, list) else str(value)
        console.print(f"{name:<{width}}  {text}", markup=False)


def facts_of(model: Any, path: Path) -> dict[str, Any]:
    """Return the facts of a model, in plain types."""
    facts = {
        "file": str(path),
        "bytes": path.stat().st_size,
        "kind": type(model).__name__,
        "parameters": {
            name: value
            for name, value in model.get_params().items()
            if value != type(model)().get_params()[name]
        },
        "inputs": model.n_features_in_,
    }
    names = getattr(model, "feature_names_in_", None)
    if names is not None:
        facts["features"] = [str(name) for name in names]
    if model.encoder_ is not None:
        facts["left out"] = [f"{name} ({why})" for name, why in model.encoder_.dropped_.items()]
    if hasattr(model, "classes_"):
        facts["classes"] = model.classes_.tolist()
    if isinstance(model, ELMSelectiveClassifier) and model.has_thresholds:
        facts["statement"] = model.statement_
    return facts
