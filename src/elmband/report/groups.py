"""Which group every row belongs to: by features, by labels at hand, or by another scan."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from operator import index
from typing import Any, Protocol, TypeAlias

import numpy as np

from elmband import engine
from elmband._arrays import Array, to_numpy
from elmband.report.axes import Axis
from elmband.stream import Scan

Labels: TypeAlias = np.ndarray[Any, Any]
Pair: TypeAlias = tuple[Array, Labels]
Triple: TypeAlias = tuple[Array, Labels, Labels | None]


class Groups(Protocol):
    """Labels beside rows."""

    @property
    def name(self) -> str:
        """What the groups are called."""
        ...

    def along(self, pairs: Iterator[Pair]) -> Iterator[Triple]:
        """Yield blocks X, y with the labels of their rows."""
        ...


@dataclass(frozen=True, eq=False)
class ByFeature:
    """The value of a feature names the group."""

    name: str
    place: int

    def along(self, pairs: Iterator[Pair]) -> Iterator[Triple]:
        """Take a column of every block."""
        for X, y in pairs:
            yield X, y, to_numpy(X[:, self.place])


@dataclass(frozen=True, eq=False)
class ByAxis:
    """The value of a column as people know it names the group, whatever was made of it."""

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
            yield X, y, labels


def find_groups(
    group: Any, names: Sequence[str], axes: Sequence[Axis], n_rows: int | None
) -> Groups | None:
    """Return the groups that a user means, among features and axes or besides."""
    if group is None:
        return None
    if isinstance(group, Scan):
        if group.n_features != 1 or group.has_weights:
            raise ValueError(
                f"{group!r} does not tell groups; scan a single column, as in scan(..., "
                "features='region')."
            )
        return ByScan((group.feature_names or ("group",))[0], group)
    if isinstance(group, str):
        return _by_name(group, names, axes)
    if np.ndim(group) == 0:
        place = index(group)
        if not -len(names) <= place < len(names):
            raise ValueError(f"group={place} is none of the {len(names)} features.")
        return ByFeature(names[place], place % len(names))
    labels = np.asarray(to_numpy(group))
    if labels.ndim != 1 or (n_rows is not None and len(labels) != n_rows):
        raise ValueError(
            f"group has shape {labels.shape}, expected one label for each of the rows; or name a "
            "feature."
        )
    return ByLabels(str(getattr(group, "name", None) or "group"), labels)


def _by_name(name: str, names: Sequence[str], axes: Sequence[Axis]) -> Groups:
    for axis in axes:
        if axis.name == name:
            return ByAxis(axis)
    if name in names:
        return ByFeature(name, list(names).index(name))
    close = get_close_matches(name, [*names, *(axis.name for axis in axes)], 1)
    hint = f"did you mean {close[0]!r}?" if close else "give labels of all rows instead."
    raise ValueError(f"There is no feature {name!r} to group by; {hint}")
