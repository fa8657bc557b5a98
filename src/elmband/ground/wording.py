"""Numbers as sentences hold them."""


def percent(share: float) -> str:
    """Write a share in percent, with three digits."""
    return f"{100 * share:.3g} %"


def count(n: float, units: str) -> str:
    """Write a number of rows or groups."""
    return f"{n:,.10g} {units if n != 1 else units[:-1]}"
