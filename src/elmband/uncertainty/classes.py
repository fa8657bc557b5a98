"""Classes as numbers: +1 for the class of a row, -1 for the others, and the way back."""

from collections.abc import Mapping
from dataclasses import dataclass
from numbers import Real
from typing import Any, Literal, Self, TypeAlias

import numpy as np

from elmband.ground.arrays import Array, namespace, place, to_numpy
from elmband.sums.moments import Chunk, Moments

ClassWeight: TypeAlias = Mapping[Any, float] | Literal["balanced"] | None

Labels: TypeAlias = np.ndarray[Any, Any]

# A column with more distinct values than this is taken for a number, not for classes.
_MOST_CLASSES = 1000


@dataclass(frozen=True, eq=False)
class LabelCounts(Moments):
    """How many rows have each label, by weight; the labels are sorted."""

    labels: Labels
    counts: np.ndarray[Any, np.dtype[np.float64]]

    @classmethod
    def of(cls, labels: Labels, s: Any = None) -> Self:
        """Count the labels of one chunk."""
        known, owner = np.unique(labels, return_inverse=True)
        if len(known) > _MOST_CLASSES:
            raise ValueError(
                f"The target has more than {_MOST_CLASSES} distinct values: these are numbers "
                "rather than classes; use a regressor."
            )
        return cls(known, np.bincount(owner.reshape(-1), s, len(known)).astype(np.float64))

    def __add__(self, other: Self) -> Self:
        labels = np.concatenate([self.labels, other.labels])
        return self.of(labels, np.concatenate([self.counts, other.counts]))


@dataclass(frozen=True, eq=False)
class Classes:
    """The classes of a problem in their order, and the weight of a row of each, or None.

    Two classes are learned by one output, +1 for the second; more by an output for each. With
    `multilabel` targets are columns of 0 and 1, one for each of the `labels`, which are numbers of
    columns.
    """

    labels: Labels
    weights: np.ndarray[Any, np.dtype[np.float64]] | None = None
    multilabel: bool = False

    @classmethod
    def counted(cls, found: LabelCounts, class_weight: ClassWeight) -> Self:
        """Take the classes that were met with a weight above zero, and weigh them."""
        met = found.counts > 0
        labels, counts = found.labels[met], found.counts[met]
        if len(labels) < 2:
            raise ValueError(
                "y has rows of one class only; a classifier needs two classes at least."
            )
        labels = _whole(labels)
        return cls(labels, _weights(class_weight, labels, counts))

    @classmethod
    def named(cls, labels: Labels, class_weight: ClassWeight) -> Self:
        """Take classes that rows may or may not have."""
        if len(labels) < 2:
            raise ValueError("classes names one class only; a classifier needs two at least.")
        labels = _whole(labels)
        return cls(labels, _weights(class_weight, labels, np.ones(len(labels))))

    @property
    def single_output(self) -> bool:
        """Whether one output is enough."""
        return len(self.labels) == 2 and not self.multilabel

    def positions(self, y: Labels) -> np.ndarray[Any, np.dtype[np.int64]]:
        """Return the place of every label among the classes, (n,)."""
        if _is_text(y) == _is_text(self.labels):
            places = np.minimum(np.searchsorted(self.labels, y), len(self.labels) - 1)
            unknown = np.flatnonzero(self.labels[places] != y)
        else:
            places = unknown = np.arange(len(y))
        if len(unknown):
            raise ValueError(
                f"y holds the label {y[unknown[:1]].tolist()[0]!r}, which is none of the classes "
                f"of the model: {', '.join(map(repr, self.labels.tolist()[:10]))}."
            )
        return places

    def codes(self, y: Labels) -> np.ndarray[Any, np.dtype[np.float64]]:
        """Return +1 and -1 for labels: (n,) for two classes, else (n, number of classes)."""
        if self.multilabel:
            return _signs(np.asarray(y))
        places = self.positions(y)
        if self.single_output:
            return (2 * places - 1).astype(np.float64)
        codes = np.full((len(places), len(self.labels)), -1.0)
        codes[np.arange(len(places)), places] = 1.0
        return codes

    def row_weights(self, y: Labels, weight: Any) -> Any:
        """Return weights of rows times weights of their classes; None where all are one."""
        if self.weights is None:
            return weight
        weights = self.weights[self.positions(y)]
        if weight is None:
            return weights
        given = np.asarray(to_numpy(weight), dtype=np.float64)
        # What does not fit is refused with the other checks of weights.
        fits = given.shape in ((), weights.shape) and bool((given >= 0).all())
        return weights * given if fits else weight

    def prepare(self, chunk: Chunk) -> Chunk:
        """Return rows of a scan with codes for targets, and weights of their classes."""
        y = to_numpy(chunk.Y)
        if self.multilabel:
            return chunk._replace(Y=self.codes(y))
        codes = self.codes(y[:, 0])
        s = self.row_weights(y[:, 0], chunk.s)
        codes = codes.reshape(len(y), -1)
        return Chunk(chunk.X, codes, s)

    def decided(self, decision: Array) -> Any:
        """Return the labels of decisions (n,) or (n, k), in their library if it can hold them."""
        xp = namespace(decision)
        if self.multilabel:
            return xp.astype(decision > 0, xp.int64)
        if self.single_output:
            places = xp.astype(decision > 0, xp.int64)
        else:
            places = xp.argmax(decision, axis=1)
        if isinstance(decision, np.ndarray) or _is_text(self.labels):
            return self.labels[to_numpy(places)]
        return xp.take(place(self.labels, decision, _held(xp, self.labels)), places)


def _is_text(labels: Labels) -> bool:
    return labels.dtype.kind not in "iufb"


def _held(xp: Any, labels: Labels) -> Any:
    return {"f": xp.float64, "b": xp.bool}.get(labels.dtype.kind, xp.int64)


def _whole(labels: Labels) -> Labels:
    """Return floats as the whole numbers that they are: files often hold these so."""
    if labels.dtype.kind != "f":
        return labels
    fractions = labels[labels != np.rint(labels)]
    if len(fractions):
        raise ValueError(
            f"The target holds {fractions[0]:g}, which is no class: classes are whole numbers or "
            "text; for other numbers use a regressor."
        )
    return labels.astype(np.int64) if np.abs(labels).max() < 2**53 else labels


def _signs(y: Labels) -> np.ndarray[Any, np.dtype[np.float64]]:
    """Return +1 for 1 and -1 for 0, in columns of several labels."""
    wrong = np.argwhere((y != 0) & (y != 1))
    if len(wrong):
        row, column = wrong[0]
        raise ValueError(
            f"Columns of several labels hold 0 and 1; column {column} of y holds "
            f"{y[row, column].item()!r}."
        )
    return np.where(y == 1, 1.0, -1.0)


def _weights(
    class_weight: ClassWeight, labels: Labels, counts: np.ndarray[Any, np.dtype[np.float64]]
) -> np.ndarray[Any, np.dtype[np.float64]] | None:
    """Return the weight of each class, or None where all are one."""
    if class_weight is None:
        return None
    if isinstance(class_weight, str) and class_weight == "balanced":
        return np.asarray(counts.sum() / (len(counts) * counts))
    if not isinstance(class_weight, Mapping):
        raise ValueError(
            "class_weight must be None, 'balanced' or a dictionary from class to weight; "
            f"got {class_weight!r}."
        )
    weights = np.ones(len(labels))
    known = labels.tolist()
    for label, weight in class_weight.items():
        if label not in known:
            raise ValueError(f"class_weight names the class {label!r}, which y does not have.")
        if not isinstance(weight, Real) or not 0 < float(weight) < np.inf:
            raise ValueError(
                f"class_weight must be a positive number; it is {weight!r} for the class {label!r}."
            )
        weights[known.index(label)] = float(weight)
    return weights
