"""The columns that a scan reads, and whether a part has them."""

from collections.abc import Iterable
from dataclasses import dataclass, replace

import numpy as np

from elmband.sources.stream.layout import DType, FieldInfo, Key, Layout, listed, row_dtype


@dataclass(frozen=True)
class Selection:
    """The chosen columns, the same in every part.

    `complete` says that the features were not named: then every part must have these columns and
    no others. `raw` says that an encoder reads the features and a single target, which need not
    be numbers then.
    """

    layout: Layout
    features: tuple[Key, ...]
    targets: tuple[Key, ...]
    weight: Key | None
    single_output: bool
    complete: bool
    raw: bool = False

    @property
    def roles(self) -> tuple[tuple[Key, ...], ...]:
        """Features, targets and the weight."""
        return self.features, self.targets, () if self.weight is None else (self.weight,)

    @property
    def keys(self) -> tuple[Key, ...]:
        """All chosen columns."""
        return tuple(key for keys in self.roles for key in keys)

    @property
    def fields(self) -> tuple[str, ...]:
        """Names of the fields to read."""
        return tuple(dict.fromkeys(key.field for key in self.keys))

    def only(self, *, features: tuple[Key, ...] = (), targets: bool = False) -> "Selection":
        """Return the choice of these features, of the weights, and of the targets if need be."""
        goals = self.targets if targets else ()
        return replace(self, features=features, targets=goals, complete=False)

    def may_be_raw(self, name: str) -> bool:
        """Tell whether a field may hold anything but numbers: columns of tables may."""
        if not self.raw or (self.weight is not None and name == self.weight.field):
            return False
        if len(self.targets) > 1 and name in {key.field for key in self.targets}:
            return False
        form = self.layout.form
        return form == "table" or (form == "tuple" and (name == "y" or self._has_names(name)))

    def _has_names(self, field: str) -> bool:
        return self.layout.fields[field].names is not None

    def names(self, keys: Iterable[Key]) -> tuple[str, ...] | None:
        """Return the names of columns, or None where they have none."""
        names = [_name(self.layout, key) for key in keys]
        known = [name for name in names if name is not None]
        return tuple(known) if len(known) == len(names) else None


def _name(layout: Layout, key: Key) -> str | None:
    field = layout.fields[key.field]
    if field.names is not None:
        return field.names[key.column]
    return None if field.width is not None or layout.form == "tuple" else field.name


def check_part(layout: Layout, selection: Selection) -> None:
    """Refuse a part that lacks chosen columns, holds something else in them, or has more."""
    if layout.form != selection.layout.form:
        raise ValueError(
            f"{layout.label} is a {layout.form}, {selection.layout.label} is a "
            f"{selection.layout.form}; scan them apart."
        )
    for name in selection.fields:
        _check_field(layout, selection, name)
    layout.rows(selection.fields)
    lost = [key for key in layout.folder_keys if key not in layout.fields]
    if lost and selection.complete:
        raise ValueError(
            f"{layout.label} has no column {lost[0]!r}, after which its folder is named; name the "
            "columns to read without it, with features=[...], or write it into the files."
        )
    extra = sorted(set(layout.fields) - set(selection.layout.fields))
    if extra and layout.form == "tuple":
        raise ValueError(f"{layout.label} has weights, {selection.layout.label} has none.")
    if extra and layout.form == "table" and selection.complete:
        raise ValueError(
            f"{layout.label} has a column {extra[0]!r} that {selection.layout.label} has not; "
            "name the columns to read with features=[...]."
        )


def features_dtype(layout: Layout, selection: Selection) -> DType:
    """Return the dtype that holds the chosen features of a part."""
    names = dict.fromkeys(key.field for key in selection.features)
    found = (layout.fields[name].dtype for name in names)
    return row_dtype(dtype for dtype in found if dtype is not None)


def check_dtype(layout: Layout, selection: Selection, dtype: DType) -> None:
    """Refuse a part whose features `dtype` does not hold."""
    needed = features_dtype(layout, selection)
    if not np.can_cast(needed, dtype):
        raise ValueError(
            f"{layout.label} has {needed} features, {selection.layout.label} has {dtype} ones; "
            "convert all pieces to one type."
        )


def _check_field(layout: Layout, selection: Selection, name: str) -> None:
    field, first = layout.fields.get(name), selection.layout.fields[name]
    if field is None:
        raise ValueError(
            f"{layout.label} has no {selection.layout.column(Key(name, 0))}, "
            f"which {selection.layout.label} has; give files with the same columns."
        )
    if (field.width, field.names) != (first.width, first.names):
        raise ValueError(
            f"{layout.label}{name and ': '}{name} has {_width(field)}, in {selection.layout.label} "
            f"it has {_width(first)}; give files with the same columns."
        )
    if field.dtype is None and not selection.may_be_raw(name):
        column = layout.column(Key(name, field.odd))
        hint = "" if selection.raw else ", or give an encoder"
        advice = f"choose numeric columns with features=[...], or leave that column out{hint}"
        if selection.weight is not None and name == selection.weight.field:
            advice = "name a column of numbers as the weight"
        raise ValueError(
            f"{layout.label}: {column} is of type {field.kind}, not numbers; {advice}."
        )


def _width(field: FieldInfo) -> str:
    if field.names is not None:
        return f"columns {listed(list(field.names))}"
    return "one dimension" if field.width is None else f"{field.width} columns"
