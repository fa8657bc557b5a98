"""Which decimal point the numbers of a CSV file have."""

import re
from collections.abc import Iterable, Sequence

from elmband.sources.encode.absent import is_absent

_NUMBER = {
    mark: re.compile(rf"[+-]?\d*{re.escape(mark)}?\d+(e[+-]?\d+)?", re.IGNORECASE) for mark in ".,"
}
# Numbers whose only mark may come before three decimals or after thousands.
_DOUBTFUL = {mark: re.compile(rf"[+-]?[1-9]\d{{0,2}}({re.escape(mark)}\d{{3}})+") for mark in ".,"}
_SMALL = re.compile(r"[+-]?\d{1,3}")
# So many of them beside small whole numbers, and none with fewer decimals, come not by chance.
_FEW = 3
# What is a number by one decimal point or the other.
_POINTED = re.compile(r"'?[+-]?\d+([.,])\d+'?")


def decimal_of(label: str, rows: Iterable[Sequence[str]]) -> str:
    """Return the decimal point by which more columns become numbers.

    Where that would be a guess, as it could stand after thousands, the file is refused.
    """
    columns = [_marked(column) for column in zip(*rows, strict=False)]
    commas, points = ([c for c in columns if _is_numeric(c, mark)] for mark in ",.")
    if len(commas) <= len(points):
        grouped = [cell for column in points for cell in _thousands(column)]
        if grouped:
            raise ValueError(
                f"{label} holds numbers such as {grouped[0]}, whose point seems to come after "
                "thousands; write them without it, or say decimal='.' if it does not (--decimal .)."
            )
        return "."
    numbers = [cell for column in commas for cell in column if "," in cell]
    if all(_DOUBTFUL[","].fullmatch(cell) for cell in numbers):
        raise ValueError(
            f"{label} holds numbers such as {numbers[0]}, whose comma may come before decimals or "
            "after thousands; say which with decimal=',' or decimal='.' (--decimal)."
        )
    return ","


def _marked(column: Sequence[str]) -> list[str]:
    """Return the cells that are there of a column, none if no comma or point is in them."""
    if not any("," in cell or "." in cell for cell in column):
        return []
    return [cell.strip() for cell in column if not is_absent(cell)]


def _is_numeric(cells: Sequence[str], mark: str) -> bool:
    """Tell whether most cells are numbers with this decimal point, which one at least has."""
    pattern = _NUMBER[mark]
    if not any(mark in cell and pattern.fullmatch(cell) for cell in cells):
        return False
    return 2 * sum(pattern.fullmatch(cell) is not None for cell in cells) > len(cells)


def _thousands(cells: Sequence[str]) -> list[str]:
    """Return numbers with a point after thousands, none where they may be decimals.

    Examples
    --------
    >>> _thousands(["950", "1.234", "2.500", "12.000"]), _thousands(["950", "1.234", "2.5"])
    (['1.234', '2.500', '12.000'], [])
    """
    pointed = [cell for cell in cells if "." in cell]
    whole = [cell for cell in cells if "." not in cell]
    sure = len(pointed) >= _FEW and whole and all(_SMALL.fullmatch(cell) for cell in whole)
    return pointed if sure and all(_DOUBTFUL["."].fullmatch(cell) for cell in pointed) else []


def other_point(cell: str) -> str | None:
    """Return the point in a cell that could not be read as a number, though it is one by that.

    Examples
    --------
    >>> other_point("1,5"), other_point("'1.5'"), other_point("1,5 km")
    (',', '.', None)
    """
    found = _POINTED.fullmatch(cell)
    return found[1] if found else None
