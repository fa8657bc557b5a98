"""Groups of rows: by any column, by labels in memory, or by another scan."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from itertools import tee
from operator import index
from typing import Any, Protocol, TypeAlias

import numpy as np

from elmband.engines import engine
from elmband.ground.arrays import Array, Labels, to_numpy
from elmband.report.axes import Axis, NumberAxis
from elmband.report.group_levels import NO_TEXT, as_kind
from elmband.sources.encode import TableEncoder
from elmband.sources.encode.raw import Numbers, RawRows, Times, Words, at
from elmband.sources.encode.read import read_column
from elmband.sources.stream import Scan

Pair: TypeAlias = tuple[Array, Labels]
Triple: TypeAlias = tuple[Array, Labels, Labels]


class Groups(Protocol):
    """A way to give every row a label."""

    @property
    def name(self) -> str:
        """What the groups are called."""
        ...

    def along(self, pairs: Iterator[Pair]) -> Iterator[Triple]:
        """Yield blocks X, y with the labels of their rows."""
        ...


@dataclass(frozen=True, eq=False)
class ByAxis:
    """Groups by a feature, or by a column as people know it, decoded from its features."""

    axis: Axis

    @property
    def name(self) -> str:
        """That of the column."""
        return self.axis.name

    def along(self, pairs: Iterator[Pair]) -> Iterator[Triple]:
        """Look at its words or numbers."""
        for X, y in pairs:
            yield X, y, self.axis.groups(to_numpy(X))


@dataclass(frozen=True, eq=False)
class ByLabels:
    """A label for each row, in memory."""

    name: str
    labels: Labels

    def along(self, pairs: Iterator[Pair]) -> Iterator[Triple]:
        """Take as many labels as every block has rows."""
        first = 0
        for X, y in pairs:
            labels = self.labels[first : first + len(y)]
            first += len(y)
            if len(labels) < len(y):
                break
            yield X, y, labels
        if first != len(self.labels):
            raise ValueError(
                f"group has {len(self.labels)} labels, which is not one for each row; give labels "
                "of the same rows, in their order."
            )


@dataclass(frozen=True, eq=False)
class ByScan:
    """The only column of another scan of the same rows."""

    name: str
    scan: Scan

    def along(self, pairs: Iterator[Pair]) -> Iterator[Triple]:
        """Read the column beside the rows."""
        columns = (chunk.X[:, 0] for chunk in self.scan.chunks(engine.BLOCK_ROWS))
        for X, y in pairs:
            labels = next(columns, None)
            if labels is None or len(labels) != len(y):
                raise ValueError(
                    f"{self.scan!r}, the groups, has not as many rows as the data; scan the same "
                    "files for both."
                )
            yield X, y, labels.astype(np.float64)


@dataclass(frozen=True, eq=False)
class ByColumn:
    """A column of the same table, whether a feature or not, as it stands there."""

    name: str
    scan: Scan

    def along(self, pairs: Iterator[Pair]) -> Iterator[Triple]:
        """Read the column beside the rows, those that have a target."""
        parts, kept = (_labels_of(part, self.name) for part in self.scan.raw_rows()), np.empty(0)
        for X, y in pairs:
            while len(kept) < len(y):
                more = next(parts)
                kept = np.concatenate([kept, as_kind(more, kept.dtype.kind)]) if len(kept) else more
            yield X, y, kept[: len(y)]
            kept = kept[len(y) :]


def _labels_of(part: RawRows, name: str) -> Labels:
    """Return text, numbers or dates, where missing ones are `NO_TEXT`, NaN or NaT."""
    (column,) = part.columns.values()
    with at(part.where, name):
        raw = read_column(column)
    if isinstance(raw, Words):
        labels = np.array([*raw.levels, NO_TEXT])[raw.codes]
    elif isinstance(raw, Numbers | Times):
        labels = np.asarray(raw.values)
    else:
        labels = np.full(raw.n, np.nan)
    return labels if part.s is None else labels[part.s > 0]


def all_along(
    groups: Sequence[Groups], pairs: Iterator[Pair]
) -> Iterator[tuple[Array, Labels, tuple[Labels, ...]]]:
    """Yield blocks X, y with their labels in every one of several groupings."""
    if not groups:
        yield from ((X, y, ()) for X, y in pairs)
        return
    beside = [one.along(same) for one, same in zip(groups, tee(pairs, len(groups)), strict=True)]
    for triples in zip(*beside, strict=True):
        X, y, _ = triples[0]
        yield X, y, tuple(labels for *_, labels in triples)


def find_groups(
    group: Any, names: Sequence[str], axes: Sequence[Axis], n_rows: int | None, source: Any = None
) -> Groups:
    """Return the groups that a user asks for, by a column of the `source` or otherwise."""
    if isinstance(group, Scan):
        if group.n_features != 1 or group.has_weights:
            raise ValueError(
                f"{group!r} does not tell groups; scan a single column, as in scan(..., "
                "features='region')."
            )
        return ByScan((group.feature_names or ("group",))[0], group)
    if isinstance(group, str):
        known = group in names or any(axis.name == group for axis in axes)
        return _of_table(group, source, known=known) or _by_name(group, names, axes)
    if np.ndim(group) == 0:
        place = index(group)
        if not -len(names) <= place < len(names):
            raise ValueError(f"group={place} is none of the {len(names)} features.")
        return ByAxis(NumberAxis(names[place], (place % len(names),)))
    labels = np.asarray(to_numpy(group))
    if labels.ndim != 1 or (n_rows is not None and len(labels) != n_rows):
        raise ValueError(
            f"group has shape {labels.shape}, expected one label for each of the rows; or name a "
            "feature."
        )
    return ByLabels(str(getattr(group, "name", None) or "group"), _of_one_type(labels))


def _of_table(name: str, source: Any, *, known: bool) -> Groups | None:
    """Return a column of a scanned table by its name; None where only the model has such a one."""
    if not isinstance(source, Scan):
        return None
    try:
        scan = source.with_features([name], TableEncoder())
        # Looking at the first rows tells whether there is such a column.
        next(scan.raw_rows())
    except ValueError:
        if known:
            return None
        raise
    return ByColumn(name, scan)


def _of_one_type(labels: Labels) -> Labels:
    """Return labels given as objects as text, numbers or dates."""
    if labels.dtype.kind == "O":
        missing = np.array([label is None or label != label for label in labels])  # noqa: PLR0124
        some = labels[~missing]
        if len({type(label) for label in some}) > 1:
            raise ValueError("group mixes types; convert its labels to text.")
        if len(some) and isinstance(some[0], str):
            labels = np.where(missing, NO_TEXT, labels).astype(str)
        else:
            labels = np.asarray([np.nan if m else v for m, v in zip(missing, labels, strict=True)])
    if labels.dtype.kind not in "fiubUM":
        raise ValueError(f"group is of type {labels.dtype}; give text, numbers or dates.")
    return labels


def _by_name(name: str, names: Sequence[str], axes: Sequence[Axis]) -> Groups:
    features = [NumberAxis(feature, (place,)) for place, feature in enumerate(names)]
    for axis in (*axes, *features):
        if axis.name == name:
            return ByAxis(axis)
    close = get_close_matches(name, [*names, *(axis.name for axis in axes)], 1)
    hint = f"did you mean {close[0]!r}?" if close else "give labels of all rows instead."
    raise ValueError(f"There is no column {name!r} to group by; {hint}")
