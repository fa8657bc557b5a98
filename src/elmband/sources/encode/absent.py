"""Words that stand for a missing value where a column otherwise holds numbers."""

ABSENT_MARKS = frozenset(
    {
        "",
        "-",
        ".",
        "?",
        "n/a",
        "#n/a",
        "#n/a n/a",
        "na",
        "#na",
        "nan",
        "-nan",
        "none",
        "null",
        # As some programs write what is not a number.
        "1.#ind",
        "-1.#ind",
        "1.#qnan",
        "-1.#qnan",
    }
)
"""In small letters, without blanks around them."""


def is_absent(cell: str) -> bool:
    """Tell whether a cell stands for a missing number, whatever its case and the blanks around it.

    Examples
    --------
    >>> [is_absent(cell) for cell in ("-", " N/A ", "None", "", "-5", "nowhere")]
    [True, True, True, True, False, False]
    """
    return cell.strip().lower() in ABSENT_MARKS
