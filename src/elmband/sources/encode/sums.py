"""What the fit of an encoder sums up of a column of any kind: small frozen values that add up."""

from typing import TypeAlias

from elmband.ground.arrays import Array
from elmband.sources.encode.raw import Raw, Words
from elmband.sources.encode.texts import DateSums, TextSums, sum_text
from elmband.sources.encode.value_sums import (
    NothingSums,
    ValueSums,
    added_values,
    differ,
    sum_values,
)
from elmband.sources.encode.written import Place

ColumnSums: TypeAlias = ValueSums | TextSums | DateSums


def sum_column(raw: Raw, s: Array | None, place: Place) -> ColumnSums:
    """Sum up some rows of a column, each counted as often as its weight above zero says."""
    return sum_text(raw, s, place) if isinstance(raw, Words) else sum_values(raw, s)


def added(sums: ColumnSums | None, more: ColumnSums) -> ColumnSums:
    """Return the sums over the rows of both, which must be of one kind, or text that is."""
    if sums is None:
        return more
    one, other = (sums, more) if isinstance(sums, TextSums | DateSums) else (more, sums)
    if isinstance(one, TextSums | DateSums):
        if isinstance(other, NothingSums):
            return one.with_nothing(other)
        if type(one) is type(other):
            return one + other  # type: ignore[operator]
        found = None if isinstance(other, TextSums | DateSums) else one.joined(other)
        if found is None:
            raise differ(sums.kind, more.kind)
        return found
    assert not isinstance(sums, TextSums | DateSums)
    assert not isinstance(more, TextSums | DateSums)
    return added_values(sums, more)
