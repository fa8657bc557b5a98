"""The choices of a user, checked."""

from collections.abc import Collection, Iterable, Mapping
from difflib import get_close_matches
from math import ceil
from numbers import Integral, Real
from types import MappingProxyType
from typing import Any, Literal, NamedTuple

DTYPES = ("auto", "float32", "float64")
ORDERS = ("dmy", "mdy", "ymd")
"""Orders of day, month and year that a user can name."""

TYPES = ("number", "text", "date", *(f"date:{order}" for order in ORDERS), "ignore")
"""What a user may say that a column is."""

_NONE: Mapping[str, str] = MappingProxyType({})


class Rules(NamedTuple):
    """Which levels are frequent enough, and what columns are whatever they look like."""

    max_levels: int | Literal["auto"] = "auto"
    min_count: float | Literal["auto"] = "auto"
    types: Mapping[str, str] = _NONE
    dtype: str = "auto"
    categorical: frozenset[str] = frozenset()

    def least(self, n_rows: float) -> float:
        """Return the number of rows that a level must have.

        By default that is a thousandth of the rows, 5 at least; with fewer than 50 rows it is a
        tenth of them, 2 at least.
        """
        if self.min_count != "auto":
            return self.min_count
        return float(max(2, ceil(min(5.0, n_rows / 10)), ceil(n_rows / 1000)))

    def date_order(self, name: str) -> str | None:
        """Return the order of day, month and year in a column of dates, None if it is no such."""
        kind, _, order = self.types.get(name, "").partition(":")
        return order if kind == "date" else None

    def check_names(self, names: Collection[str]) -> None:
        """Refuse choices for columns that are not there."""
        for name in self.types:
            if name not in names:
                close = get_close_matches(name, names, n=3)
                hint = f"; did you mean {' or '.join(map(repr, close))}?" if close else "."
                given = "categorical" if name in self.categorical else "types"
                raise ValueError(f"{given} names {name!r}, which is no column to learn from{hint}")


def checked_rules(
    max_levels: Any, min_count: Any, categorical: Any, dtype: Any, types: Any = None
) -> Rules:
    """Return the rules, or refuse what cannot be one."""
    if max_levels != "auto" and (not _is(max_levels, Integral) or max_levels < 1):
        raise ValueError(
            f"max_levels must be a whole number of at least 1, or 'auto'; got {max_levels!r}."
        )
    if min_count != "auto" and (not _is(min_count, Real) or not min_count > 0):
        raise ValueError(f"min_count must be 'auto' or a positive number; got {min_count!r}.")
    if dtype not in DTYPES:
        raise ValueError(f"dtype must be one of {', '.join(DTYPES)}; got {dtype!r}.")
    names = _names(categorical)
    return Rules(
        max_levels if max_levels == "auto" else int(max_levels),
        "auto" if min_count == "auto" else float(min_count),
        _types(names, types),
        dtype,
        frozenset(names),
    )


def _is(value: Any, kind: type) -> bool:
    return isinstance(value, kind) and not isinstance(value, bool)


def _types(categorical: list[str], types: Any) -> dict[str, str]:
    """Return what columns are, those that are categories being text."""
    if types is not None and not isinstance(types, Mapping):
        raise ValueError(
            f"types must be a mapping from names of columns to what they are, such as "
            f"{{'zip': 'text'}}; got {types!r}."
        )
    chosen = dict(types or {})
    for name, kind in chosen.items():
        if not isinstance(name, str):
            raise ValueError(f"types must be a mapping from names of columns; got {name!r}.")
        if kind not in TYPES:
            raise ValueError(f"types says {kind!r} of {name!r}; it may be {', '.join(TYPES)}.")
        if name in categorical:
            raise ValueError(f"Both categorical and types name {name!r}; leave it to one of them.")
    return chosen | dict.fromkeys(categorical, "text")


def _names(categorical: Any) -> list[str]:
    if categorical is None:
        return []
    if isinstance(categorical, str) or not isinstance(categorical, Iterable):
        raise ValueError(f"categorical must be a list of names; got {categorical!r}.")
    names = list(categorical)
    if not all(isinstance(name, str) for name in names):
        raise ValueError(f"categorical must be a list of names; got {names!r}.")
    return names
