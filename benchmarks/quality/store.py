"""Finished splits on disk: one file per set and method, one line of JSON per split.

Lines are only ever added, so a run that is stopped at any moment loses at most the split it was
working on. Where a split was run again, its last line counts.
"""

import json
import os
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

Record = dict[str, Any]
Key = tuple[str, str]


@dataclass(frozen=True)
class Store:
    """The results in ``<out>/splits``, and what the workers printed in ``<out>/logs``."""

    out: Path

    def __post_init__(self) -> None:
        for folder in (self.splits, self.logs):
            folder.mkdir(parents=True, exist_ok=True)

    @property
    def splits(self) -> Path:
        """Folder of the result files."""
        return self.out / "splits"

    @property
    def logs(self) -> Path:
        """Folder of what the workers printed."""
        return self.out / "logs"

    def log(self, set_name: str, method: str) -> Path:
        """Return the file for what the worker of a set and method prints."""
        return self.logs / f"{set_name}--{method}.log"

    def append(self, set_name: str, method: str, record: Record) -> None:
        """Add one line and wait until it is on the disk."""
        path = self.splits / f"{set_name}--{method}.jsonl"
        with path.open("ab") as file:
            file.write(b"\n" * _is_torn(path) + json.dumps(record).encode() + b"\n")
            file.flush()
            os.fsync(file.fileno())

    def read(self, set_name: str, method: str) -> dict[int, Record]:
        """Return the records of a set and method by split."""
        path = self.splits / f"{set_name}--{method}.jsonl"
        return {record["split"]: record for record in _lines(path)}

    def read_all(self) -> dict[Key, dict[int, Record]]:
        """Return all records by set and method, then by split."""
        found: dict[Key, dict[int, Record]] = defaultdict(dict)
        for path in sorted(self.splits.glob("*--*.jsonl")):
            set_name, method = path.stem.split("--")
            found[set_name, method] = self.read(set_name, method)
        return dict(found)


def _lines(path: Path) -> Iterator[Record]:
    """Yield the records of a file, without a line that was cut short by a crash."""
    if not path.exists():
        return
    for line in path.read_text(encoding="utf-8").splitlines():
        try:
            yield json.loads(line)
        except json.JSONDecodeError:
            continue


def _is_torn(path: Path) -> bool:
    """Tell whether a crash left the last line of a file without its end."""
    if not path.exists() or path.stat().st_size == 0:
        return False
    with path.open("rb") as file:
        file.seek(-1, os.SEEK_END)
        return file.read(1) != b"\n"
