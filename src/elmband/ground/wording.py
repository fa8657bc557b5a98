"""Numbers in words, the same wherever they stand."""

import math


def number(value: float | None) -> str:
    """Write a number with three digits, or all before the point.

    Examples
    --------
    >>> [number(x) for x in (12345.6, 123.45, 1.5, 0.00012345, 0.0, float("nan"))]
    ['12,346', '123', '1.5', '0.000123', '0', 'unknown']
    """
    if value is None or math.isnan(value):
        return "unknown"
    if math.isinf(value):
        return "without limit" if value > 0 else "minus without limit"
    size = abs(value)
    if size != 0 and (size < 1e-4 or size >= 1e9):
        return f"{value:.3g}"
    if size >= 100:
        return f"{value:,.0f}"
    digits = 2 - math.floor(math.log10(size)) if size else 0
    text = f"{value:.{digits}f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def percent(share: float | None) -> str:
    """Write a share in percent with three digits, or more where it is nearly all.

    Examples
    --------
    >>> [percent(x) for x in (0.5, 0.9049, 0.00312, 0.9968, 0.99973, 1.0, 0.0)]
    ['50 %', '90.5 %', '0.312 %', '99.7 %', '99.97 %', '100 %', '0 %']
    """
    if share is None or math.isnan(share):
        return "unknown"
    value = 100 * share
    text = f"{value:.3g}"
    return f"{value:.2f} %" if text == "100" and value < 100 else f"{text} %"


def hundred(share: float) -> str:
    """Write how many of a hundred, in whole rows unless it is nearly none or all.

    Examples
    --------
    >>> [hundred(x) for x in (0.893, 0.9968, 0.004, 1.0)]
    ['89', '99.7', '0.4', '100']
    """
    value = 100 * share
    if value in {0, 100} or 1.5 <= value <= 98.5:
        return f"{value:.0f}"
    return f"{value:.1f}"


def out_of(share: float, n: float) -> str:
    """Write how many of a hundred, or of all rows where there are fewer.

    Examples
    --------
    >>> [out_of(share, n) for share, n in ((0.893, 1000), (0.6, 5), (1.0, 1))]
    ['89 of 100', '3 of 5', '1 of 1']
    """
    return f"{first_of(share, n)} of {min(round(n), 100)}"


def first_of(share: float, n: float) -> str:
    """Write only the first number of these two."""
    return hundred(share) if n >= 100 else f"{share * n:.0f}"


def points(share: float) -> str:
    """Write a difference of two shares.

    Examples
    --------
    >>> points(0.017), points(0.01)
    ('1.7 points', '1 point')
    """
    value = number(100 * share)
    return f"{value} point" if value == "1" else f"{value} points"


def count(n: float) -> str:
    """Write a number of rows.

    Examples
    --------
    >>> count(1234567)
    '1,234,567'
    """
    return f"{n:,.0f}"


def counted(n: float, what: str) -> str:
    """Write a number of things, in words for one or several.

    Examples
    --------
    >>> counted(1200, "row"), counted(1, "group")
    ('1,200 rows', '1 group')
    """
    return f"{n:,.10g} {what}{'' if n == 1 else 's'}"


def percent_exactly(share: float) -> str:
    """Write a share in percent, such as a confidence level, with all its digits.

    Examples
    --------
    >>> percent_exactly(0.9), percent_exactly(0.999)
    ('90 %', '99.9 %')
    """
    return f"{100 * share:.10g} %"


def percent_down(level: float) -> str:
    """Write a level in percent, with one decimal that promises no more than there is.

    Examples
    --------
    >>> percent_down(111 / 112), percent_down(19 / 20)
    ('99.1 %', '95 %')
    """
    return f"{math.floor(1000 * level + 1e-9) / 10:g} %"


def megabytes(size: float) -> str:
    """Write a number of bytes.

    Examples
    --------
    >>> megabytes(1234567)
    '1.23 MB'
    """
    return f"{size / 1e6:.2f} MB"


def span(low: float, high: float) -> str:
    """Write a range of values.

    Examples
    --------
    >>> span(1, 28), span(3, 3), span(-2, 5)
    ('1 to 28', '3', '-2 to 5')
    """
    return plain(low) if low == high else f"{plain(low)} to {plain(high)}"


def plain(value: float) -> str:
    """Write the value of a feature: with four digits, and whole numbers as they are.

    Examples
    --------
    >>> [plain(x) for x in (2001.0, 2001.25, 0.123456, 1234567.0, -3.0, 19477.04, 15600000.5)]
    ['2001', '2001.2', '0.1235', '1234567', '-3', '19477', '15600000']
    """
    if float(value).is_integer() and abs(value) < 1e9:
        return str(int(value))
    if 1e3 <= abs(value) < 1e9:
        return f"{value:.{1 if abs(value) < 1e6 else 0}f}".removesuffix(".0")
    return f"{value:.4g}"
