"""Rows of a real data set, with what is known of them."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

Columns: TypeAlias = dict[str, NDArray[np.float64]]
"""Columns of a table by their names, all of one length."""


@dataclass(frozen=True, eq=False, repr=False)
class RealData:
    """Rows of a real data set.

    Attributes
    ----------
    X : ndarray of shape (n_samples, n_features)
        Inputs.
    y : ndarray of shape (n_samples,)
        Targets.
    feature_names : tuple of str
        Names of the columns of `X`.
    target_name : str
        What `y` is.
    DESCR : str
        What the rows are, who measured them, where they come from and what is known of the
        licence.
    path : Path
        The file that was read.
    """

    X: NDArray[np.float64]
    y: NDArray[np.float64]
    feature_names: tuple[str, ...]
    target_name: str
    DESCR: str
    path: Path

    def __repr__(self) -> str:
        rows, features = self.X.shape
        many = f"{features} features" if features > 1 else "1 feature"
        return f"RealData({rows:,} rows, {many}, target: {self.target_name}; {self.path.name})"


def chosen(
    columns: Columns, features: tuple[str, ...], target: str
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return features as a matrix and the target as a vector.

    Examples
    --------
    >>> X, y = chosen({"a": np.ones(2), "b": np.zeros(2)}, ("a",), "b")
    >>> X.shape, y.shape
    ((2, 1), (2,))
    """
    X = np.column_stack([columns[name] for name in features])
    return X, np.ascontiguousarray(columns[target])


def checked(columns: Columns, names: tuple[str, ...], n_rows: int, path: Path) -> Columns:
    """Return the named columns, and refuse a file that is not the one expected."""
    for name in names:
        if name not in columns:
            raise ValueError(
                f"{path} has no column {name}, it has {_listed(columns)}; is it another file?"
            )
    kept = {name: np.asarray(columns[name], dtype=np.float64) for name in names}
    found = len(kept[names[0]])
    if found != n_rows:
        raise ValueError(
            f"{path} has {found:,} rows, the public file has {n_rows:,}; is it another file?"
        )
    if any(np.isnan(column).any() for column in kept.values()):
        raise ValueError(f"{path} holds values that are not numbers; mend the file.")
    return kept


def _listed(columns: Any) -> str:
    names = list(columns)
    return ", ".join(names[:12]) + (", ..." if len(names) > 12 else "")
