"""The page: a template filled with numbers, charts, and all that they need to be drawn."""

import math
from base64 import b64encode
from functools import cache
from hashlib import sha256
from importlib import resources
from importlib.util import find_spec
from typing import Any

from elmband.ground import wording
from elmband.report.charts import charts

_FOLDER = "page"


def require_extra() -> None:
    """Say what is missing before rows are read."""
    missing = [name for name in ("jinja2", "vl_convert") if find_spec(name) is None]
    if missing:
        raise ImportError(
            f"a report needs {' and '.join(missing)}: pip install 'elmband[report]'",
            name=missing[0],
        )


def page(content: dict[str, Any]) -> str:
    """Return the whole page.

    All text from data is escaped. Besides, the page's own policy lets no script run but the two
    that are named by their hash, and no request leave it.
    """
    from jinja2.utils import htmlsafe_json_dumps  # noqa: PLC0415 (an optional dependency)
    from vl_convert import vegalite_to_vega  # noqa: PLC0415 (likewise)

    content = finite(content)
    library, script = _library(), _file("page.js")
    template = _environment().get_template(f"{content['kind']}.html")
    text: str = template.render(
        **content,
        content_json=htmlsafe_json_dumps(content, allow_nan=False),
        # Compiled here, so that the page need not know how.
        charts_json=htmlsafe_json_dumps(
            {name: vegalite_to_vega(spec) for name, spec in charts(content).items()}
        ),
        style=_file("page.css"),
        library=library,
        script=script,
        hashes=" ".join(map(_allowed, (library, script))),
    )
    return text


def finite(value: Any) -> Any:
    """Replace NaN and infinite values by None, since JSON has no numbers for them."""
    if isinstance(value, dict):
        return {name: finite(inner) for name, inner in value.items()}
    if isinstance(value, list | tuple):
        return [finite(inner) for inner in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value


def _environment() -> Any:
    from jinja2 import Environment, PackageLoader, StrictUndefined  # noqa: PLC0415

    environment = Environment(
        loader=PackageLoader("elmband.report", _FOLDER),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    for name in ("number", "percent", "hundred", "points", "count", "plain"):
        environment.filters[name] = _shown(getattr(wording, name))
    environment.filters["first_of"] = _first_of
    environment.filters["out_of"] = lambda share, n: _first_of(share, n) + f" of {min(n, 100)}"
    return environment


def _shown(form: Any) -> Any:
    """Return a filter that writes a number, with the number itself beside it for machines."""
    from markupsafe import Markup  # noqa: PLC0415

    def write(value: float | None, otherwise: str = "unknown") -> Any:
        if value is None:
            return otherwise
        # Keep a number and its percent sign on one line.
        text = form(value).replace(" %", "\N{NO-BREAK SPACE}%")
        return Markup('<data value="{}">{}</data>').format(repr(value), text)

    return write


def _first_of(share: float, n: int) -> Any:
    """Write how many of a hundred, or of fewer rows, with the number itself beside it."""
    return _shown(lambda _: wording.first_of(share, n))(share if n >= 100 else round(share * n))


@cache
def _library() -> str:
    """Return the script that draws charts, without a `</script` that would end its tag."""
    from vl_convert import javascript_bundle  # noqa: PLC0415

    return str(javascript_bundle("window.vegaEmbed = vegaEmbed;")).replace("</script", "<\\/script")


@cache
def _file(name: str) -> str:
    return resources.files("elmband.report").joinpath(_FOLDER, name).read_text("utf-8")


def _allowed(script: str) -> str:
    """Return the name by which a policy lets a script run."""
    return f"'sha256-{b64encode(sha256(script.encode()).digest()).decode()}'"
