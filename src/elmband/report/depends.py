"""What predictions depend on, and what their noise depends on."""

from typing import Any

from elmband.ground.wording import count, percent

# Columns of the chart.
_MOST = 10
# A column with less than this share is not named in a sentence, nor are more than these.
_LEAST = 0.05
_NAMED = 3


def depends(model: Any, *, noise: bool = True) -> dict[str, Any] | None:
    """Return the shares of columns in how predictions change, None where they are not known.

    Those in how the noise changes stand beside them, where there are any and `noise` is asked for.
    """
    found = getattr(model, "column_relevance_", None)
    if found is None or not found.mean.any():
        return None
    shown = noise and found.noise is not None
    places = found.top(_MOST)
    rows = [
        {
            "label": found.names[j],
            "mean": float(found.mean[j]),
            "noise": float(found.noise[j]) if shown else None,
        }
        for j in places
    ]
    sentence = _unbroken(_sentence("The prediction", found.names, found.mean))
    varies = bool(shown and found.noise_varies)
    return {
        "rows": rows,
        "noise": shown,
        "varies": varies,
        "sentence": sentence,
        "noise_sentence": _unbroken(_of_noise(found, varies=varies)) if shown else None,
        "n_columns": len(found.names),
        "local": _local(model),
        "rest": max(1 - sum(row["mean"] for row in rows), 0.0),
    }


def _local(model: Any) -> str | None:
    """Say which columns have layers of their own for every level, and what they gained."""
    layers = [layer for layer in model.local_layers_ if layer.part == "mean"]
    if not layers:
        return None
    named = [
        f"{layer.column} ({count(layer.levels)} {layer.kind}, {percent(layer.gain)})"
        for layer in layers
    ]
    return _unbroken(
        f"Every level of {' and of '.join(named)} has an output layer of its own besides; in "
        "brackets stands by how much that lowered errors of rows left out."
    )


def _unbroken(text: str) -> str:
    """Keep numbers and their signs on one line."""
    return text.replace(" %", "\u00a0%")


def _of_noise(found: Any, *, varies: bool) -> str:
    if varies:
        return _sentence("The noise", found.names, found.noise)
    return (
        "The noise is nearly the same everywhere: it hardly changes with any of the columns, so "
        "that their shares in it say nothing."
    )


def _sentence(what: str, names: tuple[str, ...], shares: Any) -> str:
    """Name the columns with large shares."""
    order = sorted(range(len(names)), key=lambda j: -shares[j])
    first, *others = order[:_NAMED]
    most = percent(float(shares[first]))
    text = f"{what} depends most on {names[first]}, with {most} of its changes"
    named = [f"{names[j]} ({percent(float(shares[j]))})" for j in others if shares[j] >= _LEAST]
    if named:
        text += f", then on {' and '.join(named)}"
    little = sum(1 for share in shares if share < _LEAST)
    if not little:
        return f"{text}."
    if little == 1:
        return f"{text}. The other column has less than {percent(_LEAST)}."
    return f"{text}. {count(little)} columns have less than {percent(_LEAST)} each."
