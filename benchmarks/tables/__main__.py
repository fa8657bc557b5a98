"""``python -m benchmarks.tables``: tables of packages through ``elmband fit`` and ``predict``.

Each table is cut 70/30 at random and written as CSV. elmband runs by its commands as they are,
LightGBM and CatBoost with conformalised quantiles in processes of their own. Results are kept, a
line for each split, and a new run does what is missing there.

    python -m pip install -e '.[parquet]' -r benchmarks/tables/requirements.txt
    python -m benchmarks.tables --folder results/tables
"""

import argparse
import json
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from benchmarks.quality.store import Store
from benchmarks.tables.data import TABLES, split
from benchmarks.tables.rival import LEVEL
from benchmarks.tables.scores import scored

# Splits of tables of fewer rows than this, and of more.
_FEW_ROWS, _MANY, _SOME = 20_000, 10, 3


def main() -> None:
    """Run what is missing, and print a table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n\n", maxsplit=1)[0])
    parser.add_argument("--folder", type=Path, default=Path("results/tables"))
    parser.add_argument("--tables", default=",".join(TABLES), help="names, with commas")
    parser.add_argument("--methods", default=",".join(METHODS), help="names, with commas")
    parser.add_argument("--splits", type=int, help="at most so many of each table")
    asked = parser.parse_args()
    store = Store(asked.folder)
    names, methods = asked.tables.split(","), asked.methods.split(",")
    for name in names:
        _run(store, name, methods, asked.splits)
    _tell(store, names, [one for one in METHODS if one in methods])


def _run(store: Store, name: str, methods: list[str], most: int | None) -> None:
    train, test = split(name, 0)
    wanted = _MANY if len(train) + len(test) < _FEW_ROWS else _SOME
    target = TABLES[name].target
    for k in range(wanted if most is None else min(wanted, most)):
        missing = [method for method in methods if k not in store.read(name, method)]
        if not missing:
            continue
        train, test = split(name, k)
        with tempfile.TemporaryDirectory() as made:
            folder = Path(made)
            train.to_csv(folder / "train.csv", index=False)
            test.to_csv(folder / "test.csv", index=False)
            for method in missing:
                answers, seconds = METHODS[method](folder, target)
                found = scored(test[target].to_numpy(dtype=float), answers)
                store.append(name, method, {"split": k, "seconds": seconds, **found})
                print(f"{name} {k} {method}: {json.dumps(found)} {seconds:.1f} s", flush=True)


def _elmband(folder: Path, target: str) -> tuple[Any, float]:
    """Fit and predict by the command line as it is; seconds are those that it tells."""
    fit = ("fit", "train.csv", "--target", target, "-o", "model.safetensors", "--json")
    predict = ("predict", "model.safetensors", "test.csv", "--level", str(LEVEL))
    told, done = (
        json.loads(_said(folder, "-m", "elmband", *command))
        for command in (fit, (*predict, "-o", "answers.csv", "--json"))
    )
    answers = pd.read_csv(folder / "answers.csv")
    return answers.to_numpy(dtype=float), told["seconds"] + done["seconds"]


def _rival(method: str) -> Callable[[Path, str], tuple[Any, float]]:
    def run(folder: Path, target: str) -> tuple[Any, float]:
        words = _said(folder, "-m", "benchmarks.tables.rival", method, str(folder), target)
        return np.load(folder / "answers.npy"), json.loads(words.splitlines()[-1])["seconds"]

    return run


def _said(folder: Path, *words: str) -> str:
    """Return what a process of Python prints."""
    here = Path.cwd() if words[1].startswith("benchmarks") else folder
    done = subprocess.run(
        [sys.executable, *words], cwd=here, capture_output=True, text=True, check=False
    )
    if done.returncode:
        raise RuntimeError(done.stderr)
    return done.stdout


METHODS: dict[str, Callable[[Path, str], tuple[Any, float]]] = {
    "elmband": _elmband,
    "lightgbm": _rival("lightgbm"),
    "catboost": _rival("catboost"),
}
"""What runs each method."""


def _tell(store: Store, names: list[str], methods: list[str]) -> None:
    """Print ratios of elmband to each rival, and what it covers."""
    rivals = [method for method in methods if method != "elmband"]
    heads = [f"{what} / {rival}" for rival in rivals for what in ("score", "RMSE", "seconds")]
    print("| table | rows | " + " | ".join(heads) + " | coverage | fifths | impossible bounds |")
    print("|---" * (len(heads) + 5) + "|")
    pooled: dict[str, list[float]] = {head: [] for head in heads}
    for name in names:
        own = store.read(name, "elmband")
        if not own:
            continue
        cells = []
        for rival in rivals:
            theirs = store.read(name, rival)
            both = sorted(own.keys() & theirs.keys())
            for key in ("score", "rmse", "seconds"):
                mine, other = (np.mean([r[k][key] for k in both]) for r in (own, theirs))
                cells.append(float(mine / other) if both else float("nan"))
        for head, value in zip(heads, cells, strict=True):
            pooled[head].append(value)
        fifths = np.mean([one["fifths"] for one in own.values()], axis=0)
        coverage = np.mean([one["coverage"] for one in own.values()])
        impossible = sum(one["impossible"] for one in own.values())
        numbers = " | ".join(f"{value:.3g}" for value in cells)
        ends = f"{fifths.min():.3f} to {fifths.max():.3f}"
        rows = next(iter(own.values()))["rows"]
        print(f"| {name} | {rows} | {numbers} | {coverage:.3f} | {ends} | {impossible} |")
    means = " | ".join(f"{np.exp(np.mean(np.log(values))):.3g}" for values in pooled.values())
    print(f"| geometric mean | | {means} | | | |")


if __name__ == "__main__":
    main()
