"""Three million flights through the command line, beside LightGBM with conformalised quantiles.

The table is cut 80/20 at random. elmband fits and predicts by its commands as they are, LightGBM in
a process of its own with two threads: hour, weekday, day of the year, distance and both airports as
categories, 300 trees of 63 leaves for either bound and for the mean, bounds conformalised on a
quarter of the training rows. It takes some minutes.

    python -m pip install -e '.[parquet]' lightgbm
    ELMBAND_DATA=/folder/with/the/data python -m benchmarks.flights --folder results/flights
"""

import argparse
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
from benchmarks.memory import PEAK

LEVEL, TARGET, LOWEST, HIGHEST = 0.9, "delay", -60, 300
TREES, LEAVES, THREADS = 300, 63, 2
HOURS, AIRPORTS = range(6, 23), 30
MEASURES = ("rmse", "score", "coverage", "fit s", "predict s", "peak MB")


def main() -> None:
    """Run both, and print a table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n\n", maxsplit=1)[0])
    parser.add_argument("--folder", type=Path, default=Path("results/flights"))
    parser.add_argument("--rival", action="store_true", help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.rival:
        rival(asked.folder)
        return
    asked.folder.mkdir(parents=True, exist_ok=True)
    if not (asked.folder / "test.parquet").exists():
        cut(asked.folder)
    found = {"elmband": measured(asked.folder, ours), "LightGBM": measured(asked.folder, theirs)}
    print("| method | " + " | ".join(MEASURES) + " | hours | airports |")
    print("|---" * (len(MEASURES) + 3) + "|")
    for name, values in found.items():
        numbers = " | ".join(f"{values[key]:.4g}" for key in MEASURES)
        ranges = " | ".join(f"{min(v):.3f} to {max(v):.3f}" for v in values["by"])
        print(f"| {name} | {numbers} | {ranges} |")


def cut(folder: Path) -> None:
    """Write the rows to train on and those to judge by."""
    import pyarrow as pa  # noqa: PLC0415 - only where there is something to cut
    from pyarrow import parquet  # noqa: PLC0415

    path = Path(os.environ["ELMBAND_DATA"]) / "flights" / "flights-3m.parquet"
    table = parquet.read_table(path)
    place = table.schema.get_field_index(TARGET)
    delay = np.clip(table[TARGET].to_numpy(), LOWEST, HIGHEST).astype(float)
    table = table.set_column(place, TARGET, pa.array(delay))
    train = np.random.default_rng(0).random(table.num_rows) < 0.8
    for name, here in (("train", train), ("test", ~train)):
        rows = table.filter(pa.array(here))
        parquet.write_table(rows, folder / f"{name}.parquet", row_group_size=200_000)


def measured(folder: Path, run: Any) -> dict[str, Any]:
    """Run a method and score its bounds, by hour and by airport too."""
    from pyarrow import parquet  # noqa: PLC0415

    costs = run(folder)
    test = parquet.read_table(folder / "test.parquet")
    answers = parquet.read_table(folder / "answers.parquet")
    y = test[TARGET].to_numpy()
    mean, low, high = (answers[answers.column_names[k]].to_numpy() for k in range(3))
    covered = (low <= y) & (y <= high)
    missed = np.maximum(low - y, 0) + np.maximum(y - high, 0)
    hour = test["date"].to_numpy().astype("M8[h]").astype(int) % 24
    names, origin, counts = np.unique(
        np.array(test["origin"].to_pylist()), return_inverse=True, return_counts=True
    )
    largest = np.argsort(-counts)[: min(AIRPORTS, len(names))]
    return {
        "rmse": float(np.sqrt(np.mean((y - mean) ** 2))),
        "score": float(np.mean(high - low + 2 / (1 - LEVEL) * missed)),
        "coverage": float(covered.mean()),
        "by": [
            [float(covered[hour == h].mean()) for h in HOURS],
            [float(covered[origin == k].mean()) for k in largest],
        ],
        **costs,
    }


def ours(folder: Path) -> dict[str, float]:
    """Fit and predict by the command line as it is."""
    fit = "fit train.parquet --target delay -o model.safetensors"
    predict = f"predict model.safetensors test.parquet --level {LEVEL} -o answers.parquet"
    timed = [_process(folder, [sys.executable, "-c", PEAK, *c.split()]) for c in (fit, predict)]
    peak = max(int(text.split()[-1]) * 1024 / 1e6 for _, text in timed)
    return {"fit s": timed[0][0], "predict s": timed[1][0], "peak MB": peak}


def theirs(folder: Path) -> dict[str, float]:
    """Fit and predict with LightGBM, which tells its own times."""
    command = [sys.executable, "-m", "benchmarks.flights", "--rival", "--folder", "."]
    _, text = _process(folder, command)
    return dict(zip(("fit s", "predict s", "peak MB"), map(float, text.split()[-3:]), strict=True))


def _process(folder: Path, command: list[str]) -> tuple[float, str]:
    """Run a process, and return its seconds and what it said on standard error."""
    begun = time.perf_counter()
    root = str(Path(__file__).resolve().parent.parent)
    environment = os.environ | {"PYTHONPATH": root}
    done = subprocess.run(
        command, cwd=folder, capture_output=True, text=True, check=False, env=environment
    )
    if done.returncode:
        raise RuntimeError(done.stderr)
    return time.perf_counter() - begun, done.stderr


def rival(folder: Path) -> None:
    """Fit LightGBM, write its answers, and tell seconds of both and the peak memory."""
    import lightgbm  # noqa: PLC0415 - the other process needs none of these
    import pyarrow as pa  # noqa: PLC0415
    from pyarrow import parquet  # noqa: PLC0415

    begun = time.perf_counter()
    train, test = (parquet.read_table(folder / f"{name}.parquet") for name in ("train", "test"))
    names = [np.unique(np.array(train[column].to_pylist())) for column in ("origin", "destination")]
    X, y = _features(train, names), train[TARGET].to_numpy()
    proper = np.random.default_rng(1).random(len(y)) < 0.75

    def fit(rows: Any, **options: Any) -> Any:
        data = lightgbm.Dataset(X[rows], y[rows], categorical_feature=[4, 5])
        options |= {"num_leaves": LEAVES, "num_threads": THREADS, "verbose": -1}
        return lightgbm.train(options, data, TREES)

    low, high = (
        fit(proper, objective="quantile", alpha=q) for q in ((1 - LEVEL) / 2, (1 + LEVEL) / 2)
    )
    mean = fit(slice(None))
    held_out = X[~proper]
    scores = np.maximum(low.predict(held_out) - y[~proper], y[~proper] - high.predict(held_out))
    shift = np.quantile(scores, LEVEL)
    fitted = time.perf_counter()
    new = _features(test, names)
    columns = {"mean": mean.predict(new), "low": low.predict(new) - shift}
    columns["high"] = high.predict(new) + shift
    parquet.write_table(pa.table(columns), folder / "answers.parquet")
    lines = Path("/proc/self/status").read_text().splitlines()
    peak = next(int(line.split()[1]) for line in lines if line.startswith("VmHWM")) * 1024 / 1e6
    print(fitted - begun, time.perf_counter() - fitted, peak, file=sys.stderr)


def _features(table: Any, names: list[Any]) -> Any:
    dates = table["date"].to_numpy()
    days = dates.astype("M8[D]")
    columns = [
        (dates - days) / np.timedelta64(1, "h"),
        (days.astype(int) + 3) % 7,
        (days - dates.astype("M8[Y]")).astype(int),
        table["distance"].to_numpy(),
    ]
    for column, known in zip(("origin", "destination"), names, strict=True):
        columns.append(np.searchsorted(known, np.array(table[column].to_pylist())))
    return np.column_stack(columns)


if __name__ == "__main__":
    main()
