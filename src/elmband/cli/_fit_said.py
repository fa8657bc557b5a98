"""What ``elmband fit`` tells of a model, as values and in words."""

from typing import Any

from elmband import ELMIntervalRegressor
from elmband.cli._files import destination
from elmband.cli._labelled import dropped, dropped_line, used_rows
from elmband.cli._layers import local_line
from elmband.cli._learn import learned
from elmband.cli._target import target_facts, target_lines
from elmband.ground.printable import on_one_line
from elmband.ground.wording import counted


def size_facts(rows: Any, labels: Any, *, drop_missing: bool) -> dict[str, Any]:
    """Return how much was learned from, without rows that had no target."""
    facts: dict[str, Any] = {"rows": used_rows(rows), "features": rows.n_features}
    if labels is not None:
        facts["groups"] = int(labels.max()) + 1
    if drop_missing:
        facts["dropped_rows"] = dropped(rows)
    return facts


def model_facts(model: Any) -> dict[str, Any]:
    """Return what a model has learned, in plain types."""
    facts = learned(model)
    if isinstance(model, ELMIntervalRegressor):
        facts |= target_facts(model)
    if model.local_layers_:
        facts["local_layers"] = [layer._asdict() for layer in model.local_layers_]
    return facts


def fit_words(model: Any, facts: dict[str, Any]) -> list[str]:
    """Return what was done, for people, in lines."""
    target = on_one_line(facts["target"])
    lines = [_first(target, facts)]
    if "dropped_rows" in facts:
        lines.append(dropped_line(facts["dropped_rows"]))
    if facts.get("left_out"):
        # Commas at the end of all lines make a column without a name.
        names = (on_one_line(name) or repr(name) for name in facts["left_out"])
        lines.append(f"Columns left out: {', '.join(names)}")
    if "statement" in facts:
        lines.append(on_one_line(facts["statement"]))
    if isinstance(model, ELMIntervalRegressor):
        lines += target_lines(model, target)
    if model.local_layers_:
        lines.append(f"L{local_line(model)[1:]}.")
    return lines


def _first(target: str, facts: dict[str, Any]) -> str:
    what = f"{target} ({len(facts['classes'])} classes)" if "classes" in facts else target
    size = counted(facts["features"], "feature")
    # Workers that read files without a count of their rows keep it to themselves.
    if facts["rows"] is not None:
        size = f"{counted(facts['rows'], 'row')}, {size}"
    if "groups" in facts:
        size = f"{size}, {counted(facts['groups'], 'group')}"
    done = f"learned {what} in {facts['seconds']:.1f} s, written to {destination(facts['output'])}"
    return f"{size}: {done}"
