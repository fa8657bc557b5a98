"""Which levels of text have a one-hot feature of their own."""

from collections.abc import Sequence

from elmband.sources.encode.counts import LevelSums
from elmband.sources.encode.notes import WAY, ColumnNote
from elmband.sources.encode.rules import Rules
from elmband.sources.encode.state import DroppedColumn, EncodedColumn, LevelsColumn

# So many levels without a mark of their own are remembered by name: more of them tell what others
# are like.
_FEW = 50
# Levels that every column may have, and features that those of all columns may be: a tenth of the
# rows, where held-out rows gained as much as by all levels, and what a fit does in good time: on
# 20,000 rows with 600 levels, 300 features take four times as long as 50, and 400 five times.
_ALWAYS, _SHARE, _MOST = 50, 10, 300


def frequent_levels(sums: LevelSums, min_count: float, unit: float) -> list[str]:
    """Return the levels with so many rows, most frequent first; of equal ones the first by name."""
    counts = _counts(sums, unit)
    frequent = [level for level, count in counts.items() if count >= min_count]
    return sorted(frequent, key=lambda level: (-counts[level], level))


def most_levels(frequent: Sequence[int], n_rows: float) -> int:
    """Return how many levels a column may have, by the number of frequent levels of all columns.

    All of them, as long as their features are at most a tenth of the rows, and 300. Otherwise the
    columns with most levels keep fewer, all of these the same number, and any column 50.

    >>> most_levels([142, 5], 1704), most_levels([142, 5], 1000), most_levels([30, 30], 100)
    (142, 95, 50)
    """
    room = min(n_rows / _SHARE, _MOST)
    ordered = sorted(frequent)
    for place, count in enumerate(ordered):
        # What columns with fewer levels do not need is shared by all others.
        share = int(room // (len(ordered) - place))
        if count > share:
            return max(share, _ALWAYS)
        room -= count
    return max([*ordered, _ALWAYS])


def levels_column(
    name: str, sums: LevelSums, frequent: list[str], most: int, rules: Rules, least: float
) -> tuple[EncodedColumn, ColumnNote | None]:
    """Keep the most frequent levels, and tell of the others."""
    levels, seen = frequent[:most], len(sums.counts)
    gaps, other = sums.missing > 0, sums.gone or len(levels) < seen
    if not levels:
        other = False
    if len(levels) + other + gaps < (2 if levels else 1):
        few = f"none of its levels has {least:g} rows" if not levels else "it is constant"
        return DroppedColumn(name, "text", few), None
    met = [sums.counts[level] for level in levels]
    rest = [sums.n - sums.missing - sum(met)] * other
    shares = tuple(count / sums.n for count in [*met, *rest, *[sums.missing] * gaps])
    column = LevelsColumn(
        name=name,
        levels=tuple(levels),
        other=other,
        gaps=gaps,
        shares=shares,
        seen=seen,
        categorical=rules.types.get(name) == "text",
        rare=_rare(sums, levels) if other else (),
    )
    return column, _merged(column, len(frequent), least) if other else None


def _counts(sums: LevelSums, unit: float) -> dict[str, float]:
    """Return counts in rows of mean weight."""
    # Fractions of weights add up to a little more or less in another order.
    return {level: float(f"{count / unit:.12g}") for level, count in sums.counts.items()}


def _rare(sums: LevelSums, levels: list[str]) -> tuple[str, ...]:
    """Return the levels without a mark of their own, none where they are many or not all known."""
    rare = sums.counts.keys() - set(levels)
    return () if sums.gone or len(rare) > _FEW else tuple(sorted(rare))


def _merged(column: LevelsColumn, n_frequent: int, least: float) -> ColumnNote:
    """Return a note on levels that share a mark, and how many could have one of their own."""
    n, more = column.seen - len(column.levels), n_frequent - len(column.levels)
    of = f"has {n:,} of {column.seen:,} levels"
    if not more:
        told = f"{of} in fewer than {least:g} rows each, which share one mark"
        return ColumnNote(column.name, "", told)
    told = f"{of} that are rare or too many and share one mark; {WAY} gives {more:,} more their own"
    have = "level has" if more == 1 else "levels have"
    said = f"{more:,} more {have} at least {least:g} rows"
    return ColumnNote(column.name, said, told, (("max_levels", str(n_frequent)),))
