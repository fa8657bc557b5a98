"""``elmband info``: what is in a model file."""

from pathlib import Path
from typing import Any

from elmband import ELMSelectiveClassifier
from elmband.cli._files import STANDARD, loaded, named
from elmband.cli._layers import local_line
from elmband.cli._options import tell
from elmband.cli._promise import promise_of, promise_words
from elmband.cli._target import has_all_values, scale_words, target_facts
from elmband.ground.printable import on_one_line
from elmband.ground.wording import counted, megabytes
from elmband.uncertainty.targets import told_range

# So many names fit on a line.
_NAMED = 10
# Columns that matter most, of all.
_RELEVANT = 5
_LEAST = 0.005


def info(
    *,
    model: str,
    as_json: bool,
) -> None:
    """Do what was asked for."""
    fitted = loaded(model)
    facts = facts_of(fitted, model)
    tell(facts, _words(fitted, facts), as_json=as_json, outputs=())


def facts_of(model: Any, path: str) -> dict[str, Any]:
    """Return the facts of a model, in plain types."""
    usual = type(model)().get_params()
    facts: dict[str, Any] = {
        "file": named(path),
        "bytes": None if path == STANDARD else Path(path).stat().st_size,
        "kind": type(model).__name__,
        "target": model.target_name_,
        **_roles(model),
        "parameters": {
            name: value for name, value in model.get_params().items() if value != usual[name]
        },
        "inputs": model.n_features_in_,
    }
    names = getattr(model, "feature_names_in_", None)
    if names is not None:
        facts["features"] = [str(name) for name in names]
    if model.encoder_ is not None:
        state = model.encoder_.state_
        facts["rows"] = state.n_rows
        facts["columns"] = {column.name: column.kind for column in state.columns}
        facts["left_out"] = dict(model.encoder_.dropped_)
    if hasattr(model, "classes_"):
        facts["classes"] = model.classes_.tolist()
    elif model.fitted_.targets.single_output:
        facts |= target_facts(model)
    relevance = getattr(model, "column_relevance_", None)
    if relevance is not None:
        facts["relevance"] = relevance.to_dict()
    if model.local_layers_:
        facts["local_layers"] = [layer._asdict() for layer in model.local_layers_]
    if model.fitted_.training.n_groups is not None:
        facts["groups"] = model.fitted_.training.n_groups
    if isinstance(model, ELMSelectiveClassifier) and model.has_thresholds:
        facts["statement"] = model.statement_
    promise = promise_of(model)
    if promise is not None:
        facts["promise"] = promise
    return facts


def _roles(model: Any) -> dict[str, str]:
    """Return the columns of weights and of groups, where they have names."""
    roles = model.fitted_.training.roles
    named = {"weight": roles.weight, "groups_column": roles.groups}
    return {name: column for name, column in named.items() if column is not None}


def _words(model: Any, facts: dict[str, Any]) -> str:
    """Return the facts in lines for people."""
    size = facts["bytes"]
    lines = {
        "model": facts["kind"] + ("" if size is None else f", {megabytes(size)}"),
        "target": on_one_line(facts["target"] or ""),
        "weights": on_one_line(facts.get("weight", "")),
        "parameters": ", ".join(f"{name}={value!r}" for name, value in facts["parameters"].items()),
    }
    if model.encoder_ is None:
        lines["features"] = _names(facts)
    if "classes" in facts:
        lines["classes"] = _shortened(facts["classes"])
    lines |= _dependence(model, facts)
    if "groups" in facts:
        column = facts.get("groups_column")
        lines["groups"] = (
            f"{facts['groups']:,}{f' of {on_one_line(column)}' if column else ''}, each left out "
            "as a whole: what is said of errors is for rows of new groups"
        )
    if "statement" in facts:
        lines["statement"] = on_one_line(facts["statement"])
    elif "promise" in facts:
        lines["intervals"] = promise_words(facts["promise"])
    if facts.get("symmetric") is False:
        lines["tails"] = "each side of the mean has bounds of its own"
    if "target_range" in facts:
        lines["range"] = f"predictions and bounds stay {told_range((model.target_range_,))}"
    if "target_values" in facts:
        values = [f"{value:g}" for value in facts["target_values"]]
        lines["values"] = (
            f"bounds are among {_shortened(values)}"
            if has_all_values(model)
            else f"bounds near {' and '.join(values)}, the lowest values, are these"
        )
    if "target_transform" in facts:
        lines["scale"] = f"learned on the scale of {scale_words(model.target_transform_)}"
    width = max(map(len, lines))
    text = "\n".join(f"{name:<{width}}  {value}" for name, value in lines.items() if value)
    return text if model.encoder_ is None else f"{text}\n\n{model.encoder_.summary()}"


def _dependence(model: Any, facts: dict[str, Any]) -> dict[str, str]:
    """Return the lines that say what answers depend on."""
    lines = {}
    if "relevance" in facts:
        mean, noise = (facts["relevance"][name] for name in ("mean", "noise"))
        lines["depends on"] = _shares(mean)
        if noise is not None and model.column_relevance_.noise_varies:
            lines["noise"] = f"depends on {_shares(noise)}"
    if "local_layers" in facts:
        lines["local"] = local_line(model)
    return lines


def _shares(shares: dict[str, float]) -> str:
    """Return the columns with the largest shares."""
    first = [pair for pair in shares.items() if pair[1] >= _LEAST][:_RELEVANT]
    return ", ".join(f"{on_one_line(name)} {100 * share:.0f} %" for name, share in first)


def _names(facts: dict[str, Any]) -> str:
    if "features" not in facts:
        return f"{counted(facts['inputs'], 'column')} without names"
    return f"{facts['inputs']:,}: {_shortened(facts['features'])}"


def _shortened(names: list[Any]) -> str:
    """Return the first names of a list that may be long."""
    first = ", ".join(on_one_line(str(name)) for name in names[:_NAMED])
    more = len(names) - _NAMED
    return first if more <= 0 else f"{first} and {more:,} more"
