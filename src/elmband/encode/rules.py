"""The choices of a user, checked."""

from collections.abc import Iterable
from math import ceil
from numbers import Integral, Real
from typing import Any, Literal, NamedTuple

DTYPES = ("auto", "float32", "float64")


class Rules(NamedTuple):
    """Which levels are frequent enough, and which columns are categories whatever they hold."""

    max_levels: int = 50
    min_count: float | Literal["auto"] = "auto"
    categorical: frozenset[str] = frozenset()
    dtype: str = "auto"

    def least(self, n_rows: float) -> float:
        """Return the number of rows that a level must have.

        By default that is a thousandth of the rows, 5 at least; with fewer than 50 rows it is a
        tenth of them, 2 at least.
        """
        if self.min_count != "auto":
            return self.min_count
        return float(max(2, ceil(min(5.0, n_rows / 10)), ceil(n_rows / 1000)))


def checked_rules(max_levels: Any, min_count: Any, categorical: Any, dtype: Any) -> Rules:
    """Return the rules, or refuse what cannot be one."""
    if not _is(max_levels, Integral) or max_levels < 1:
        raise ValueError(f"max_levels must be a whole number of at least 1; got {max_levels!r}.")
    if min_count != "auto" and (not _is(min_count, Real) or not min_count > 0):
        raise ValueError(f"min_count must be 'auto' or a positive number; got {min_count!r}.")
    if dtype not in DTYPES:
        raise ValueError(f"dtype must be one of {', '.join(DTYPES)}; got {dtype!r}.")
    least = "auto" if min_count == "auto" else float(min_count)
    return Rules(int(max_levels), least, frozenset(_names(categorical)), dtype)  # type: ignore[arg-type]


def _is(value: Any, kind: type) -> bool:
    return isinstance(value, kind) and not isinstance(value, bool)


def _names(categorical: Any) -> list[str]:
    if categorical is None:
        return []
    if isinstance(categorical, str) or not isinstance(categorical, Iterable):
        raise ValueError(f"categorical must be a list of names; got {categorical!r}.")
    names = list(categorical)
    if not all(isinstance(name, str) for name in names):
        raise ValueError(f"categorical must be a list of names; got {names!r}.")
    return names
