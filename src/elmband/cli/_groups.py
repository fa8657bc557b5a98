"""Rows that belong together by a column, and are left out together."""

import shlex
from collections.abc import Sequence
from contextlib import suppress
from typing import Any

import numpy as np

from elmband.cli._files import named
from elmband.cli._group_key import group_key
from elmband.cli._status import note
from elmband.ground.arrays import Array
from elmband.sources.encode import TableEncoder

# Bytes of features that rows of groups may take in memory; a fit needs a few times as much.
_MOST = 2**30
# Rows of a group: leaving them out together takes a square matrix of this side, for every layer.
_LARGEST = 2000


def check_grouping(groups: str | None, features: list[str] | None, **others: Any) -> None:
    """Refuse what does not go together with groups."""
    if groups is None:
        return
    if groups in (features or ()):
        raise ValueError(
            f"--groups {groups} says which rows belong together and is no feature, so that new "
            "groups can be predicted; leave it out of --feature."
        )
    for option, value in others.items():
        if value:
            raise ValueError(
                f"--groups needs all rows in the memory of this process and the default model: "
                f"leave --{option} out."
            )


def check_column(groups: str, names: Sequence[str], taken: Sequence[Any], data: str) -> None:
    """Refuse groups that are none of the columns of a table, or that are its target or weight."""
    if not names:
        raise ValueError(
            f"--groups is for tables whose columns have names: Parquet, CSV or Arrow, which "
            f"{named(data)} is not."
        )
    if groups not in names:
        raise ValueError(f"--groups names {groups!r}, which is none of the columns.")
    if groups in taken:
        raise ValueError(f"--groups names {groups!r}, which is the target or the weight already.")


def groups_of(rows: Any, groups: str | None, data: str) -> Array | None:
    """Return the number of the group of every row, None without groups."""
    if groups is None:
        return None
    check_size(rows, data)
    labels: Array = rows.groups(groups)
    largest = int(np.bincount(labels).max())
    if largest > _LARGEST:
        raise ValueError(
            f"A group of {groups!r} has {largest:,} rows in {named(data)}, and time and memory "
            f"grow with the square of that: take {_LARGEST:,} rows of each group at most."
        )
    return labels


def tell_group_key(rows: Any) -> str | None:
    """Say that a column looks like the key of groups, where none were named, and return it."""
    if rows.encoder is None:
        return None
    found = None
    # Columns that are no features tell as well which rows belong together, if they can be read.
    with suppress(ValueError, NotImplementedError):
        found = group_key(rows.with_features(None, TableEncoder()))
    if found is not None:
        note(
            f"Rows with the same {found.name!r} are alike ({found.levels:,} levels in a sample); "
            f"if new rows will come with new ones, --groups {shlex.quote(found.name)} gives "
            "intervals for these."
        )
    return None if found is None else found.name


def check_size(rows: Any, data: str) -> None:
    """Refuse tables that are too large for the memory that groups need."""
    width = rows.n_features * rows.dtype.itemsize
    count = rows.n_rows
    if count is not None and count * width > _MOST:
        raise ValueError(
            f"{named(data)} has {count:,} rows of {rows.n_features:,} features, and --groups takes "
            f"at most {_MOST // width:,} of them into memory (1 GiB): take fewer groups, or fewer "
            "columns with --feature."
        )
