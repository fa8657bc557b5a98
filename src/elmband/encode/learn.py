"""From the sums over a column to what an encoder keeps of it."""

from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np

from elmband._arrays import Array
from elmband.encode.calendar import PARTS
from elmband.encode.counts import LevelSums
from elmband.encode.exact import ONE
from elmband.encode.raw import RawRows, at, only
from elmband.encode.read import read_column
from elmband.encode.rules import Rules
from elmband.encode.state import (
    DroppedColumn,
    EncodedColumn,
    EncoderState,
    LevelsColumn,
    NumberColumn,
    TimeColumn,
)
from elmband.encode.sums import ColumnSums, NothingSums, NumberSums, added, sum_column
from elmband.encode.target import TargetKinds, sum_target

# So many levels without a mark of their own are remembered by name: more of them tell what others
# are like.
_FEW = 50


class TableSums(NamedTuple):
    """Sums over all columns of a table, which may be `named`, and over its target.

    `n_rows` counts rows, whatever their weights.
    """

    columns: dict[str, ColumnSums]
    target: TargetKinds | None
    named: bool
    n_rows: int


def sum_table(rows: Iterable[RawRows], rules: Rules) -> TableSums | None:
    """Sum up all rows with a weight above zero in one pass; None if there are none."""
    total: TableSums | None = None
    for part in rows:
        keep = None if part.s is None else part.s > 0
        if keep is None or keep.any():
            total = _plus(total, part, rules, None if keep is None or keep.all() else keep)
    return total


def _plus(total: TableSums | None, part: RawRows, rules: Rules, keep: Array | None) -> TableSums:
    s = part.s if part.s is None or keep is None else part.s[keep]
    columns, n_rows = {}, 0 if total is None else total.n_rows
    for name, values in part.columns.items():
        with at(part.where, name):
            raw = read_column(values, categorical=name in rules.categorical)
            raw = raw if keep is None else only(raw, keep)
            sums, more = sum_column(raw, s), len(raw.missing)
            columns[name] = added(None if total is None else total.columns[name], sums)
    if part.target is None:
        return TableSums(columns, None, part.named, n_rows + more)
    with at(part.where, part.target_name):
        raw = part.target if keep is None else only(part.target, keep)
        met = sum_target(part.target_name, raw)
        if total is not None and total.target is not None:
            met = total.target + met
    return TableSums(columns, met, part.named, n_rows + more)


def learned(sums: TableSums, rules: Rules, parameters: dict[str, Any]) -> EncoderState:
    """Return all that is kept of a table; a table of which nothing is left is refused."""
    unknown = sorted(rules.categorical - set(sums.columns))
    if unknown:
        raise ValueError(f"categorical names {unknown[0]!r}, which is no column of the table.")
    n_rows = float(sums.n_rows)
    least = rules.least(n_rows)
    # Only ratios of weights matter: levels count in rows of mean weight.
    unit = _total(next(iter(sums.columns.values()))) / n_rows
    columns = tuple(_column(name, s, rules, least, unit) for name, s in sums.columns.items())
    _check_left(columns, n_rows)
    dtype = rules.dtype
    if dtype == "auto":
        pairs = zip(columns, sums.columns.values(), strict=True)
        dtype = "float32" if all(_is_narrow(c, s) for c, s in pairs) else "float64"
    target = None if sums.target is None else sums.target.learned()
    return EncoderState(columns, sums.named, dtype, n_rows, least, target, parameters)


def _check_left(columns: tuple[EncodedColumn, ...], n_rows: float) -> None:
    reasons = [f"{c.name!r}, {c.reason}" for c in columns if isinstance(c, DroppedColumn)]
    if len(reasons) == len(columns):
        raise ValueError(
            f"No column is left to learn from in these rows (n_samples = {n_rows:g}): "
            f"{'; '.join(reasons[:5])}{'; ...' if len(reasons) > 5 else ''}."
        )


def _is_narrow(column: EncodedColumn, sums: ColumnSums) -> bool:
    """Tell whether float32 holds the features of a column without rounding."""
    if isinstance(column, NumberColumn) and column.varies:
        return isinstance(sums, NumberSums) and sums.narrow
    return not isinstance(column, TimeColumn) or not column.parts


def _total(sums: ColumnSums) -> float:
    """Return the sum of weights."""
    return sums.n if isinstance(sums, LevelSums) else sums.n / ONE


def _column(
    name: str, sums: ColumnSums, rules: Rules, min_count: float, unit: float
) -> EncodedColumn:
    if isinstance(sums, NothingSums):
        return DroppedColumn(name, sums.kind, "it has no values")
    if isinstance(sums, LevelSums):
        return _levels(name, sums, rules, min_count, unit)
    varies, gaps = sums.low < sums.high, sums.missing > 0
    if not varies.any() and not gaps:
        return DroppedColumn(name, sums.kind, "it is constant")
    if sums.kind in {"numbers", "durations"}:
        low, high = float(sums.low[0]), float(sums.high[0])
        return NumberColumn(name, sums.kind, sums.means[0], bool(varies[0]), gaps, low, high)
    return _times(name, sums)


def _times(name: str, sums: NumberSums) -> TimeColumn:
    used = np.flatnonzero(sums.low < sums.high).tolist()
    if sums.kind == "times of day":
        used = [k for k in used if PARTS[k].startswith("hour")]
    return TimeColumn(
        name=name,
        kind=sums.kind,
        zone=sums.zone,
        parts=tuple(PARTS[k] for k in used),
        means=tuple(sums.means[k] for k in used),
        gaps=sums.missing > 0,
        low=float(sums.low[0]),
        high=float(sums.high[0]),
    )


def _levels(
    name: str, sums: LevelSums, rules: Rules, min_count: float, unit: float
) -> EncodedColumn:
    """Keep the levels with the most rows; of equal ones those that come first by name."""
    # Fractions of weights add up to a little more or less in another order.
    counts = {level: float(f"{count / unit:.12g}") for level, count in sums.counts.items()}
    frequent = [level for level, count in counts.items() if count >= min_count]
    levels = sorted(frequent, key=lambda level: (-counts[level], level))[: rules.max_levels]
    gaps, other = sums.missing > 0, sums.gone or len(levels) < len(counts)
    if not levels:
        other = False
    if len(levels) + other + gaps < (2 if levels else 1):
        few = f"none of its levels has {min_count:g} rows" if not levels else "it is constant"
        return DroppedColumn(name, "text", few)
    met = [sums.counts[level] for level in levels]
    rest = [sums.n - sums.missing - sum(met)] * other
    shares = tuple(count / sums.n for count in [*met, *rest, *[sums.missing] * gaps])
    return LevelsColumn(
        name=name,
        levels=tuple(levels),
        other=other,
        gaps=gaps,
        shares=shares,
        seen=len(counts),
        categorical=name in rules.categorical,
        rare=_rare(sums, levels) if other else (),
    )


def _rare(sums: LevelSums, levels: list[str]) -> tuple[str, ...]:
    """Return the levels without a mark of their own, none where they are many or not all known."""
    rare = sums.counts.keys() - set(levels)
    return () if sums.gone or len(rare) > _FEW else tuple(sorted(rare))
