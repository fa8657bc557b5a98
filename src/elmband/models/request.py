"""What a user asks of a classifier that abstains."""

from collections.abc import Mapping
from numbers import Real
from typing import Any, Literal, NamedTuple, Self, TypeAlias

Wish: TypeAlias = Literal["coverage", "max_error", "max_fpr", "min_precision"]
WISHES: tuple[Wish, ...] = ("coverage", "max_error", "max_fpr", "min_precision")
ASKED = (*WISHES, "per_class", "pos_label")
"""Parameters that say which rows to answer."""


class Request(NamedTuple):
    """What is asked for: a wish with its number, and whether each class has its own threshold.

    `positive` is the place of the positive class, None where there is none.
    """

    wish: Wish
    value: float
    per_class: bool
    positive: int | None

    @classmethod
    def of(cls, asked: Mapping[str, Any], labels: Any) -> Self | None:
        """Read the parameters `ASKED` of a model with these classes; None where nothing is."""
        positive = positive_place(asked["pos_label"], labels)
        wishes = {wish: asked[wish] for wish in WISHES if asked[wish] is not None}
        if len(wishes) > 1:
            raise ValueError(
                f"{' and '.join(wishes)} are asked for at once; ask for one of {', '.join(WISHES)}."
            )
        for wish, value in wishes.items():
            _check_share(wish, value)
            request = cls(wish, float(value), bool(asked["per_class"]), positive)
            if request.one_sided and positive is None:
                raise ValueError(f"{wish} needs pos_label, the class whose false answers do harm.")
            return request
        return None

    @property
    def one_sided(self) -> bool:
        """Whether only answers of the positive class can do harm."""
        return self.wish in ("max_fpr", "min_precision")


def positive_place(pos_label: Any, labels: Any) -> int | None:
    """Return the place of the positive class: the one named, else the second of two."""
    known = labels.tolist()
    if pos_label is None:
        return 1 if len(known) == 2 else None
    if pos_label not in known:
        names = ", ".join(map(repr, known[:10]))
        raise ValueError(f"pos_label={pos_label!r} is none of the classes {names}.")
    return int(known.index(pos_label))


def _check_share(wish: Wish, value: Any) -> None:
    numeric = isinstance(value, Real) and not isinstance(value, bool)
    if numeric and (0 < float(value) < 1 or (wish == "coverage" and float(value) == 1)):
        return
    hint = ""
    if numeric and 1 < float(value) < 100:
        hint = f" Did you mean {float(value) / 100:g}?"
    raise ValueError(f"{wish} must be a share between 0 and 1; got {value!r}.{hint}")
