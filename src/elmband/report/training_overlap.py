"""How many of the judged rows training has seen, and what that means for all other numbers."""

from typing import Any

from elmband.ground.wording import count, percent
from elmband.report.shares import Share
from elmband.sums.row_prints import SeenRows

# Fewer rows to compare say too little for a sentence.
_LEAST = 10
# A smaller share of known rows changes no number visibly.
_FEW = 0.01
# If more than this share of the rows found are also equal to each other, equal rows are common in
# the table, and new rows would be found in training as well.
_REPEATED = 0.5


def training_overlap(seen: SeenRows | None) -> dict[str, Any] | None:
    """Return the share of rows that training saw and a sentence; None where it is not known.

    Rows are compared by fingerprints of their inputs and their target. Of a model of many rows
    there are those of a part of them only, so that a part of the judged rows can be compared.
    """
    if seen is None or seen.n_compared == 0:
        return None
    every = seen.n_compared == seen.n_rows
    if seen.n_compared < _LEAST and not every and not seen.n_found:
        return None
    measured = Share.of(seen.n_found, seen.n_compared)
    return {
        "n_compared": seen.n_compared,
        "n_found": seen.n_found,
        "share": measured.share,
        "warns": seen.n_found > 0 and not _is_usual(seen),
        "sentence": _sentence(seen, measured, every=every),
    }


def _is_usual(seen: SeenRows) -> bool:
    """Tell whether equal rows are so common that finding them in training proves nothing."""
    return seen.n_repeated > _REPEATED * seen.n_found


def _sentence(seen: SeenRows, measured: Share, *, every: bool) -> str:
    if seen.n_found == 0:
        if every:
            return "Not one of these rows was in training, compared by fingerprints."
        return (
            f"Of these rows, {count(seen.n_compared)} could be compared with training by "
            "fingerprints: none of them was there."
        )
    if _is_usual(seen):
        about = "" if every else "About "
        return (
            f"{about}{percent(measured.share)} of these rows are equal to rows of training, target "
            "included (compared by fingerprints), and most of them to each other as well: such "
            "rows are frequent, so this need not mean that training has seen these."
        )
    if seen.n_found == seen.n_compared:
        return (
            f"{'All' if every else 'Nearly all or all'} of these rows were in training, compared "
            "by fingerprints: errors and coverage are flattering, and say little about new rows."
        )
    about = "" if every else "About "
    one = every and seen.n_found == 1
    many = "One" if one else f"{about}{percent(measured.share)}"
    meaning = (
        "too few to matter, unless rows were not meant to be there twice"
        if measured.share < _FEW
        else "errors and coverage are flattering"
    )
    return (
        f"{many} of these rows {'is' if one else 'are'} equal to {'a row' if one else 'rows'} of "
        f"training, target included (compared by fingerprints): {meaning}."
    )
