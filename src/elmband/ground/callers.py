"""Who called this package."""

from inspect import currentframe


def level_of_caller() -> int:
    """Return how far up the caller of this package is, for warnings about a line of theirs."""
    frame, level = currentframe(), 0
    while frame is not None and str(frame.f_globals.get("__name__")).startswith("elmband."):
        frame, level = frame.f_back, level + 1
    return level
