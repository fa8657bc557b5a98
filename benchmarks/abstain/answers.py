"""Answers of test rows, kept as files: figures and comparisons need every row."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]


class Judged(NamedTuple):
    """Test rows of a split: true labels, called ones, how certain these are, and groups."""

    y: Array
    label: Array
    confidence: Array
    groups: Array


@dataclass(frozen=True)
class AnswerFiles:
    """The files ``<out>/answers/<set>--<method>--<split>.npz``."""

    out: Path

    def path(self, set_name: str, method: str, split: int) -> Path:
        """Return the file of a split."""
        return self.out / "answers" / f"{set_name}--{method}--{split}.npz"

    def write(self, set_name: str, method: str, split: int, judged: Judged) -> None:
        """Keep the answers of a split; a file that is not whole is never found."""
        path = self.path(set_name, method, split)
        path.parent.mkdir(parents=True, exist_ok=True)
        small = {"y": np.int16, "label": np.int16, "groups": np.int32}
        arrays = {k: v.astype(small.get(k, np.float64)) for k, v in judged._asdict().items()}
        begun = path.with_suffix(".begun.npz")
        np.savez(begun, **arrays)
        begun.replace(path)

    def read(self, set_name: str, method: str, split: int) -> Judged | None:
        """Return the answers of a split, or None where there are none."""
        path = self.path(set_name, method, split)
        if not path.exists():
            return None
        with np.load(path) as file:
            return Judged(**file)
