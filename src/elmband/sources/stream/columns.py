"""Which columns a user means by names and indices."""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from difflib import get_close_matches
from operator import index
from typing import Any, NoReturn, TypeAlias

from elmband.sources.stream.layout import FieldInfo, Key, Layout, listed
from elmband.sources.stream.selection import Selection, check_part

Ref: TypeAlias = str | int


def select(
    layout: Layout, target: Any, features: Any, weight: Any, *, raw: bool = False
) -> Selection:
    """Find the columns that a user chose by name or by index; an encoder reads `raw` ones."""
    by_role = _of_tuple if layout.form == "tuple" else _of_fields
    selection = replace(by_role(layout, target, features, weight), raw=raw)
    if not selection.features:
        raise ValueError(f"{layout.label} has no column left for features.")
    _check_once(selection)
    check_part(layout, selection)
    return selection


def _check_once(selection: Selection) -> None:
    """Refuse a column that has two roles, or one of them twice, and say which."""
    seen: dict[Key, str] = {}
    roles = zip(("a feature", "a target", "the weight"), selection.roles, strict=True)
    for role, key in ((role, key) for role, keys in roles for key in keys):
        if key in seen:
            roles_of = f"{seen[key]} both times" if seen[key] == role else f"{seen[key]} and {role}"
            raise ValueError(
                f"{selection.layout.label}: {selection.layout.column(key)} is chosen twice, as "
                f"{roles_of}; name it once."
            )
        seen[key] = role


def _of_fields(layout: Layout, target: Any, features: Any, weight: Any) -> Selection:
    goals, counts = _refs(target, "target"), _refs(weight, "weight")
    named = {ref.strip("/") for ref in goals + counts if isinstance(ref, str)}
    targets = [key for ref in goals for key in _find(layout, ref, named)]
    weights = [key for ref in counts for key in _find(layout, ref, named)]
    if len(weights) > 1:
        raise ValueError(f"weight must be one column; {weight!r} is {len(weights)} of them.")
    if features is None:
        taken = {*targets, *weights}
        chosen = [key for key in _all_keys(layout, named) if key not in taken]
    else:
        refs = _refs(features, "features")
        chosen = [key for ref in refs for key in _find(layout, ref, named)]
    return Selection(
        layout=layout,
        features=tuple(chosen),
        targets=tuple(targets),
        weight=weights[0] if weights else None,
        single_output=_is_single(layout, target, targets),
        complete=features is None,
    )


def _of_tuple(layout: Layout, target: Any, features: Any, weight: Any) -> Selection:
    if target is not None or weight is not None:
        raise ValueError(
            f"{layout.label} is a tuple (X, y) or (X, y, weight), which says itself what the "
            "target and the weights are; leave out target and weight."
        )
    X, y = layout.fields["X"], layout.fields["y"]
    columns = [_in_matrix(layout, X, ref) for ref in _refs(features, "features")]
    return Selection(
        layout=layout,
        features=tuple(_keys(X) if features is None else columns),
        targets=tuple(_keys(y)),
        weight=Key("weight", 0) if "weight" in layout.fields else None,
        single_output=y.width is None,
        complete=features is None,
    )


def named(*given: Any) -> set[str]:
    """Return all names that a user gave, whatever for."""
    names: set[str] = set()
    for refs in given:
        # An iterator can be read only once, and not here.
        several = isinstance(refs, Iterable) and not isinstance(refs, str | Iterator)
        names.update(ref for ref in (refs if several else [refs]) if isinstance(ref, str))
    return names


def fields_of(layout: Layout, *given: Any) -> set[str]:
    """Return the fields of columns that a user gave by name or by index; wrong ones are none."""
    found: set[str] = set()
    for ref in (ref for refs in given for ref in _refs(refs, "target")):
        with suppress(ValueError):
            found.update(key.field for key in _find(layout, ref, set()))
    return found


def _is_single(layout: Layout, target: Any, keys: list[Key]) -> bool:
    """Tell whether the target is one column rather than a list or a data set of them."""
    if isinstance(target, str):
        return layout.fields[keys[0].field].width is None
    return target is not None and not isinstance(target, Iterable)


def _refs(given: Any, role: str) -> list[Ref]:
    """Return the names and indices that a user gave, one by one."""
    if given is None:
        return []
    refs = [given] if isinstance(given, str) or not isinstance(given, Iterable) else list(given)
    if not refs:
        raise ValueError(f"{role} is an empty list; name one column at least.")
    return [_ref(ref, role) for ref in refs]


def _ref(ref: Any, role: str) -> Ref:
    if isinstance(ref, str):
        return str(ref)
    try:
        if not isinstance(ref, bool):
            return index(ref)
    except TypeError:
        pass
    raise ValueError(f"{role} must be a name or an index, or a list of them; got {ref!r}.")


def _keys(field: FieldInfo) -> list[Key]:
    return [Key(field.name, j) for j in range(field.columns)]


def _all_keys(layout: Layout, named: set[str]) -> list[Key]:
    """Return all columns that can be features, targets possibly among them."""
    if layout.form == "table":
        return [Key(name, 0) for name in layout.fields]
    return _keys(_matrix(layout, named))


def _find(layout: Layout, ref: Ref, named: set[str]) -> list[Key]:
    """Return the column, or the columns of a data set, that a name or an index stands for."""
    if layout.form == "table":
        if ref in layout.fields:
            return [Key(str(ref), 0)]
        names = list(layout.fields)
        return [Key(names[_position(layout, names, len(names), ref)], 0)]
    if layout.form == "store" and isinstance(ref, str):
        field = layout.fields.get(ref.strip("/"))
        return _keys(_refuse(layout, ref, list(layout.fields)) if field is None else field)
    return [_in_matrix(layout, _matrix(layout, named), ref)]


def _in_matrix(layout: Layout, field: FieldInfo, ref: Ref) -> Key:
    return Key(field.name, _position(layout, field.names or (), field.columns, ref))


def _position(layout: Layout, names: Sequence[str], count: int, ref: Ref) -> int:
    """Return the place of a column, whose index may count from the end."""
    if isinstance(ref, str):
        return names.index(ref) if ref in names else _refuse(layout, ref, names)
    if not -count <= ref < count:
        raise ValueError(f"{layout.label} has {count} columns; there is none with index {ref}.")
    return ref % count


def _refuse(layout: Layout, name: str, names: Sequence[str]) -> NoReturn:
    """Say that there is no such name, and which names there are."""
    what = "data set" if layout.form == "store" else "column"
    if name in layout.folder_keys:
        raise ValueError(
            f"{layout.label} has no {what} {name!r}, only its folder is named after it; write it "
            "into the files."
        )
    close = get_close_matches(name, names, n=3)
    if close:
        hint = f"did you mean {listed(close)}?"
    elif names:
        hint = f"it has {listed(names)}."
    else:
        hint = "its columns have no names, give an index."
    raise ValueError(f"{layout.label} has no {what} {name!r}; {hint}")


def _matrix(layout: Layout, named: set[str]) -> FieldInfo:
    """Return the only field with two dimensions, apart from those that were named."""
    fields = layout.fields.values()
    found = [field for field in fields if field.width is not None and field.name not in named]
    numeric = [field for field in found if field.dtype is not None] or found
    if len(numeric) != 1:
        raise ValueError(
            f"{layout.label} has {'several data sets' if numeric else 'no data set'} with two "
            "dimensions to take columns from; name the features, as in features='X', out of: "
            f"{', '.join(_shape(field) for field in fields) or 'nothing'}."
        )
    return numeric[0]


def _shape(field: FieldInfo) -> str:
    shape = " by ".join(str(n) for n in (field.n_rows, field.width) if n is not None)
    return f"{field.name!r} ({shape}{', ' if shape else ''}{field.kind})"
