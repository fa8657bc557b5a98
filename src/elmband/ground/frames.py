"""Results as a table of the library that the rows came in: pandas, Polars, Arrow and others."""

from collections.abc import Mapping
from typing import Any

import narwhals.stable.v2 as nw

from elmband.ground.arrays import to_numpy


def framed(columns: Mapping[str, Any], like: Any) -> Any:
    """Return columns as a table of the library of `like`; a pandas index is kept."""
    frame = nw.from_native(like, pass_through=True, eager_only=True)
    if not isinstance(frame, nw.DataFrame):
        raise ValueError(
            f"as_frame=True answers in the table library of X, which is a {type(like).__name__}; "
            "give a pandas, Polars or Arrow table."
        )
    values = {name: to_numpy(column) for name, column in columns.items()}
    made = nw.from_dict(values, backend=frame.implementation).to_native()
    index = nw.maybe_get_index(frame)
    if index is not None:
        made.index = index
    return made
