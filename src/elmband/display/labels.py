"""Labels of groups: of rows in memory, or by a column of a scan."""

from collections.abc import Callable, Iterator
from difflib import get_close_matches
from typing import Any

import numpy as np
from numpy.typing import NDArray

from elmband.ground.arrays import Labels, to_numpy
from elmband.sources.encode.state import LevelsColumn
from elmband.sources.stream import Scan

# More curves than this cannot be told apart.
MOST_GROUPS = 10


def labels_beside(groups: Any, n_rows: int) -> Labels:
    """Return one label for each row of arrays."""
    if isinstance(groups, str):
        raise ValueError(
            f"groups={groups!r} is for a scan: beside arrays, give a label for each row"
        )
    labels = np.asarray(to_numpy(groups))
    if labels.shape != (n_rows,):
        raise ValueError(f"groups has shape {labels.shape}, expected ({n_rows},): a label per row")
    return labels


def labels_of_scan(rows: Scan, groups: Any) -> Callable[[Labels], Labels]:
    """Return a function from features (n, d) to labels (n,), for a feature or a column of text."""
    if not isinstance(groups, str):
        raise ValueError(
            f"groups must be the name of a feature of the scan; got {type(groups).__name__}"
        )
    names = list(rows.feature_names or ())
    if groups in names:
        place = names.index(groups)
        return lambda X: np.asarray(X[:, place])
    texts = _texts(rows)
    if groups in texts:
        return texts[groups]
    close = get_close_matches(groups, [*texts, *names], 1)
    hint = f"did you mean {close[0]!r}?" if close else "name one of its features"
    raise ValueError(f"{rows!r} has no feature {groups!r} to group by: {hint}")


def each_group(labels: Labels, weight: Any = None) -> Iterator[tuple[Any, NDArray[np.bool_]]]:
    """Yield every label, in order, with a mark for its rows; those without weight are no group."""
    used = slice(None) if weight is None else np.asarray(weight) > 0
    try:
        names = np.unique(labels[used])
        missing = bool(np.not_equal(names, names).any())
    except TypeError:  # None, pd.NA and labels of several types do not sort
        missing = True
    if missing:
        raise ValueError("groups holds missing labels or mixes types: fill or convert them")
    check_few(len(names))
    for name in names:
        yield name.item() if isinstance(name, np.generic) else name, labels == name


def check_few(count: int) -> None:
    """Refuse more groups than a picture can show."""
    if count > MOST_GROUPS:
        raise ValueError(
            f"groups has more than {MOST_GROUPS} labels, whose curves could not be told apart: put "
            "some of them together"
        )


def _texts(rows: Scan) -> dict[str, Callable[[Labels], Labels]]:
    """Return functions from one-hot marks to the words of a column, by its name."""
    found: dict[str, Callable[[Labels], Labels]] = {}
    encoder, start = rows.encoder, 0
    for column in () if encoder is None else encoder.state_.used:
        stop = start + len(column.endings)
        if isinstance(column, LevelsColumn):
            found[column.name] = _words(slice(start, stop), column)
        start = stop
    return found


def _words(place: slice, column: LevelsColumn) -> Callable[[Labels], Labels]:
    names = np.array([ending.removeprefix("=") for ending in column.endings] + ["not missing"])
    # New levels have no mark set, or shares of all.
    names[-1] = "unseen" if column.levels else "not missing"

    def words(X: Labels) -> Labels:
        marks = X[:, place]
        return names[np.where(marks.max(axis=1) == 1, marks.argmax(axis=1), len(names) - 1)]

    return words
