"""The names of the columns that a model was told of besides its features."""

from typing import Any, NamedTuple, Self

from elmband.sources.stream import Scan


class Roles(NamedTuple):
    """Names of the target, of the weights and of the groups; None where they had none."""

    target: str | None = None
    weight: str | None = None
    groups: str | None = None

    @classmethod
    def of(cls, X: Any, y: Any = None, weight: Any = None, groups: Any = None) -> Self:
        """Look for names at a scan, or at columns of data frames; arrays have none."""
        if not isinstance(X, Scan):
            return cls(_name_of(y), _name_of(weight), _name_of(groups))
        targets = X.target_names or ()
        target = targets[0] if len(targets) == 1 else None
        return cls(target, X.weight_name, _name_of(groups))


def _name_of(column: Any) -> str | None:
    """Return the name of a column of pandas, Polars or Dask, whose arrays have keys for names."""
    is_series = any(kind.__name__ == "Series" for kind in type(column).__mro__)
    name = getattr(column, "name", None) if is_series else None
    # Polars calls columns without a name "".
    return str(name) if isinstance(name, str) and name else None
