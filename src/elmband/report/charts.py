"""Charts, as Vega-Lite specifications without data.

The page puts the rows of its own data into them. Colours are variables of its style sheet, so that
charts follow dark mode and print.
"""

from typing import Any

from elmband.report.shares import limits

Spec = dict[str, Any]

_FONT = "system-ui, -apple-system, 'Segoe UI', Roboto, 'Helvetica Neue', Arial, sans-serif"
_INK, _MUTED, _GRID = "var(--ink)", "var(--muted)", "var(--grid)"
_FIRST, _SECOND, _SOFT = "var(--first)", "var(--second)", "var(--soft)"
_BAD, _LINE = "var(--bad)", "var(--line)"
# The height of a bar with the space around it.
_STEP: Spec = {"step": 28}
_DASHED: Spec = {"strokeWidth": 1.5, "strokeDash": [4, 4]}
_DOT: Spec = {"type": "point", "filled": True, "size": 70, "opacity": 1}
_BAR: Spec = {"type": "bar", "height": {"band": 0.7}}

# Below a chart, one below the other, there is space for all words on a phone too.
_BELOW: Spec = {"orient": "bottom", "columns": 1}
# Numbers whose zeros would fill the chart, as the text beside it writes them.
_SHORT: Spec = {
    "labelExpr": "datum.value == 0 ? '0' : abs(datum.value) >= 1e9 || abs(datum.value) < 1e-4"
    " ? format(datum.value, '.3~e') : datum.label",
    "labelFlush": True,
}

_CONFIG: Spec = {
    "font": _FONT,
    "background": "transparent",
    # The page itself says what a chart shows.
    "aria": False,
    "view": {"stroke": "transparent"},
    "axis": {
        "labelColor": _MUTED,
        "titleColor": _MUTED,
        "titleFontWeight": "normal",
        "titlePadding": 10,
        "labelFontSize": 12,
        "titleFontSize": 12,
        "gridColor": _GRID,
        "domain": False,
        "ticks": False,
        "labelPadding": 8,
        "labelFlush": False,
        "labelOverlap": True,
        "labelSeparation": 4,
    },
    "legend": {
        "orient": "top",
        "title": None,
        "labelColor": _INK,
        "labelFontSize": 12,
        "symbolType": "square",
        "labelLimit": 300,
    },
}


_HELD, _RIGHT = "share of intervals that held", "share of labels that are right"


def charts(content: Spec) -> dict[str, Spec]:
    """Return the charts of a page: those of its kind, relevance, and one for each grouping."""
    intervals = content["kind"] == "intervals"
    made = _of_intervals(content) if intervals else _of_classes(content)
    if content["depends"]:
        made["depends"] = _depends(noise=content["depends"]["noise"])
    if not intervals and content["promise"]:
        made["answered"] = _along(_answered())
    for k in range(len(content["groups"])):
        rows = f"groups.{k}.rows"
        made[f"groups-{k}"] = (
            _dots(rows, "held", content["level"], _HELD)
            if intervals
            else _dots(rows, "right", content["right"]["share"], _RIGHT)
        )
    return made


def _of_intervals(content: Spec) -> dict[str, Spec]:
    people, unit = content["people"], content["unit"] or content["target"]
    start = 0 if people["start"] is None else people["start"]["at"]
    return {
        "levels": _diagonal("promise.levels", ("level", "held"), ("promised", _HELD)),
        "widths": _along(_widths(unit)),
        "held": _along(_dots("bins", "held", content["level"], _HELD)),
        "people": _people("mean error", unit, ",.3~r", start, people["error"]),
        "parts": _parts(),
    }


def _of_classes(content: Spec) -> dict[str, Spec]:
    share, start = content["right"]["share"], content["people"]["start"]["at"]
    said = ("probability said", "share that came true")
    return {
        "probability": _diagonal("probability.bins", ("said", "true"), said),
        "right": _along(_dots("bins", "right", share, _RIGHT)),
        "people": _people("wrong answers", "", ".2~%", start, 1 - share),
    }


def _spec(rows: str, height: Any, **rest: Any) -> Spec:
    """Return a chart of the rows that lie in the data of the page under this path."""
    return {
        "width": "container",
        "height": height,
        "autosize": {"type": "fit-x", "contains": "padding"},
        "data": {"name": "rows"},
        "usermeta": {"rows": rows},
        "config": _CONFIG,
        **rest,
    }


def _along(spec: Spec, *more: Spec) -> Spec:
    """Show the bins of one feature, which can be changed."""
    only = {"filter": "datum.feature === feature"}
    return {**spec, "params": [{"name": "feature", "value": 0}], "transform": [only, *more]}


def _share(field: str, title: str, **scale: Any) -> Spec:
    # The last label ends where the axis does, so that none is cut.
    axis = {"format": "%", "title": title, "tickCount": 5, "labelFlush": True}
    return {"field": field, "type": "quantitative", "axis": axis, "scale": scale}


def _places() -> Spec:
    """Return labels one below the other, in the order of the data."""
    # The page has broken labels into lines, of which none is cut.
    axis = {
        "labelLimit": 0,
        "labelColor": _INK,
        "title": None,
        "labelExpr": "split(datum.value, '\\n')",
        "labelBaseline": "middle",
    }
    return {"field": "place", "type": "nominal", "sort": None, "axis": axis}


def _layer(mark: Spec, encoding: Spec, data: Any = None, **before: Any) -> Spec:
    """Return a layer of the rows of the chart, or of `data` of its own."""
    own = {} if data is None else {"data": {"values": data}}
    return {**own, **before, "mark": mark, "encoding": encoding}


def _rule(colour: str, **more: Any) -> Spec:
    return {"type": "rule", "color": colour, **(more or _DASHED)}


def _listed(rows: str, *layers: Spec) -> Spec:
    """Draw rows one below the other, with a place also for those that have nothing to be drawn."""
    ghost = _layer({"type": "point", "opacity": 0}, {"y": _places()})
    return _spec(rows, _STEP, layer=[ghost, *layers])


def _tips(**fields: str | tuple[str, str]) -> list[Spec]:
    """Return what a pointer shows: a title for every field, or a title and a format."""
    told = []
    for field, title in fields.items():
        name, *form = [title] if isinstance(title, str) else title
        told.append({"field": field, "title": name, **({"format": form[0]} if form else {})})
    return told


_ENDS = {"low": ("at least", ".1%"), "high": ("at most", ".1%")}
_ROWS = ("rows", ",")


def _diagonal(rows: str, fields: tuple[str, str], titles: tuple[str, str]) -> Spec:
    """Draw predicted against observed shares, which are equal on the diagonal."""
    (said, held), (x_title, y_title) = fields, titles
    x, y, low = (
        _share(field, title, domain=[0, 1])
        for field, title in ((said, x_title), (held, y_title), ("low", y_title))
    )
    straight = {name: {"field": name, "type": "quantitative"} for name in ("x", "y")}
    tips = _tips(**{said: (x_title, ".1%"), held: (y_title, ".1%")}, **_ENDS)
    corners = [{"x": 0, "y": 0}, {"x": 1, "y": 1}]
    margin = {"x": x, "y": low, "y2": {"field": "high"}}
    layers = [
        _layer({"type": "line", "color": _MUTED, **_DASHED}, straight, corners),
        _layer(_rule(_FIRST, strokeWidth=2), margin),
        _layer({**_DOT, "color": _FIRST}, {"x": x, "y": y, "tooltip": tips}),
    ]
    return _spec(rows, 320, layer=layers)


def _dots(rows: str, field: str, level: float, title: str) -> Spec:
    """Draw shares with their margins, one below the other, beside a line at `level`.

    A band around it is what is tolerated: shares whose whole margin lies left of it are red.
    """
    x, low, promised = (_share(name, title, zero=False) for name in (field, "low", "level"))
    judged = {"condition": {"test": "datum.verdict === 'broken'", "value": _BAD}, "value": _FIRST}
    tips = _tips(label="where", **{field: (title, ".1%")}, **_ENDS, n=_ROWS)
    margin, band = {"x": low, "x2": {"field": "high"}}, [limits(level)]
    return _listed(
        rows,
        _layer({"type": "rect", "color": _LINE, "opacity": 0.7}, margin, band),
        _layer(_rule(_SECOND), {"x": promised}, [{"level": level}]),
        _layer({"type": "rule", "strokeWidth": 2}, {"y": _places(), **margin, "color": judged}),
        _layer(_DOT, {"y": _places(), "x": x, "color": judged, "tooltip": tips}),
    )


def _widths(unit: str) -> Spec:
    """Draw widths as bars and errors as dots on the same axis."""
    width, error = "typical width of an interval", "typical error"
    colour = {
        "type": "nominal",
        "scale": {"domain": [width, error], "range": [_SOFT, _SECOND]},
        "legend": _BELOW,
    }
    across = {"type": "quantitative", "axis": {"title": unit, "tickCount": 5, **_SHORT}}
    tips = _tips(label="where", width=(width, ",.3~r"), error=(error, ",.3~r"), n=_ROWS)
    layers = [
        _layer(
            mark,
            {
                "y": _places(),
                "x": {"field": field, **across},
                "color": {"datum": name, **colour},
                "tooltip": tips,
            },
        )
        for field, name, mark in (("width", width, _BAR), ("error", error, _DOT))
    ]
    return _listed("bins", *layers)


def _answered() -> Spec:
    """Draw the share of rows that are answered."""
    title = "share of rows that are answered"
    tips = _tips(label="where", answered=(title, ".1%"), error=("of these wrong", ".2%"), n=_ROWS)
    encoding = {"y": _places(), "x": _share("answered", title, domain=[0, 1]), "tooltip": tips}
    return _listed("bins", _layer({**_BAR, "color": _SOFT}, encoding))


def _folded(words: dict[str, str], colours: list[str], shown: int = 2) -> tuple[Any, Spec]:
    """Return what makes a row for each of two fields, or the first, and the colour of each."""
    (first, one), (_, other) = words.items()
    transform = [
        {"fold": list(words)[:shown], "as": ["part", "share"]},
        {"calculate": f"datum.part === '{first}' ? '{one}' : '{other}'", "as": "what"},
    ]
    colour = {
        "field": "what",
        "type": "nominal",
        "scale": {"domain": [one, other][:shown], "range": colours[:shown]},
        "legend": _BELOW if shown > 1 else None,
    }
    return transform, colour


def _parts() -> Spec:
    """Draw both parts of the variance, which add up to all of it."""
    words = {"noise": "noise in the data", "unknown": "too little data"}
    transform, colour = _folded(words, [_SOFT, _FIRST])
    encoding = {
        "y": _places(),
        "x": {**_share("share", "share of the uncertainty", domain=[0, 1]), "stack": "zero"},
        "color": colour,
        "order": {"field": "what", "sort": "ascending"},
        "tooltip": _tips(label="where", what="part", share=("share", ".1%")),
    }
    return _along(_listed("bins", _layer(_BAR, encoding)), *transform)


def _depends(*, noise: bool) -> Spec:
    """Draw the shares of columns in how predictions change, and those of the noise below each."""
    words = {"mean": "the prediction", "noise": "the noise"}
    transform, colour = _folded(words, [_FIRST, _SECOND], 2 if noise else 1)
    encoding = {
        "y": _places(),
        "x": _share("share", "share in how it changes", zero=True, nice=True),
        "color": colour,
        "tooltip": _tips(label="column", what="of", share=("share", ".1%")),
    }
    if noise:
        encoding["yOffset"] = {"field": "what", "type": "nominal", "sort": list(words.values())}
    height = {"step": 34 if noise else _STEP["step"], "for": "position"}
    mark = {"type": "bar"} if noise else _BAR
    return _spec("depends.rows", height, mark=mark, encoding=encoding, transform=transform)


def _people(name: str, unit: str, form: str, start: int, error: float) -> Spec:
    """Draw the error of the answered rows against their share, with a mark that can be moved.

    A line at the `error` of all rows is what answering rows at random would give.
    """
    x = _share("share", "rows answered", domain=[0, 1])
    title = f"{name}, {unit}" if unit else name
    y: Spec = {"field": "error", "type": "quantitative", "title": title}
    y["axis"] = {"format": ".2~%"} if "%" in form else _SHORT
    tips = _tips(share=("rows answered", ".1%"), error=(name, form))
    here = [{"filter": "datum.at === at"}]
    layers = [
        _layer(_rule(_MUTED), {"y": y}, [{"error": error}]),
        _layer({"type": "line", "color": _FIRST, "strokeWidth": 2.5}, {"x": x, "y": y}),
        _layer(_rule(_SECOND), {"x": x}, transform=here),
        _layer({**_DOT, "color": _SECOND, "size": 160}, {"x": x, "y": y}, transform=here),
        # Invisible points, large enough for a pointer to hit.
        _layer({**_DOT, "size": 200, "opacity": 0}, {"x": x, "y": y, "tooltip": tips}),
    ]
    return _spec("people.points", 280, params=[{"name": "at", "value": start}], layer=layers)
