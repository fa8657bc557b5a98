"""A quick test of the harness itself: ``python -m benchmarks.quality.check``.

The truth of the artificial sets is the oracle: a method that knows it must get the coverage and
the scores that theory gives.
"""

import os
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from unittest.mock import patch

import numpy as np
import pyarrow as pa
from benchmarks.quality.data import SETS, Split
from benchmarks.quality.report import markdown
from benchmarks.quality.rivals.base import (
    Floats,
    Prediction,
    from_normal,
    from_tails,
    hold_out,
    tails,
)
from benchmarks.quality.rivals.conformal import conformalised
from benchmarks.quality.scores import LEVELS, score
from benchmarks.quality.store import Store
from benchmarks.quality.summary import Summary
from pyarrow.parquet import write_table
from scipy.special import ndtri

from elmband.datasets import projection


def truth(split: Split) -> Prediction:
    """Predict the test rows of an artificial set with normal noise by the truth itself."""
    assert split.noise is not None
    return from_normal(projection(split.X_test[:, 0]), split.noise, LEVELS)


def check_truth_scores_as_theory_says() -> None:
    """Coverage within 4 standard errors of 10 draws; the mean score is 4 s φ(z) / (1 - level)."""
    split = SETS["art-1000"].load()
    results = [(one, score(one, truth(one))) for one in map(split, range(10))]
    for key, level in (("90", 0.9), ("95", 0.95)):
        n = 10 * len(results[0][0].y_test)
        coverage = np.mean([result[f"picp{key}"] for _, result in results])
        assert abs(coverage - level) < 4 * np.sqrt(level * (1 - level) / n), coverage
        fifths = np.mean([result[f"noise_fifths{key}"] for _, result in results], axis=0)
        assert np.abs(fifths - level).max() < 4 * np.sqrt(level * (1 - level) / (n / 5)), fifths
        z = ndtri((1 + level) / 2)
        expected = 4 / (1 - level) * np.exp(-(z**2) / 2) / np.sqrt(2 * np.pi)
        found = np.mean([result[f"score{key}"] / one.noise.mean() for one, result in results])
        assert abs(found / expected - 1) < 0.02, (found, expected)


def check_quantiles_become_intervals() -> None:
    """Bounds stand in the order of the levels, and crossing ones are put in order."""
    assert np.allclose(tails(LEVELS), [0.05, 0.025, 0.5, 0.95, 0.975])
    prediction = from_tails(np.array([[-1.6, -2.0, 0.1, 1.6, 2.0], [1.6, -2.0, 0.1, -1.6, 2.0]]))
    assert prediction.interval[:, :, 0].tolist() == [[-1.6, 1.6]] * 2
    assert prediction.interval[:, :, 1].tolist() == [[-2.0, 2.0]] * 2


def nothing_known(
    X: Floats,  # noqa: ARG001 - what conformalised calls
    y: Floats,  # noqa: ARG001
    tests: list[Floats],
    levels: Sequence[float],
    seed: int,  # noqa: ARG001
) -> list[Floats]:
    """Predict that every quantile is zero."""
    return [np.zeros((len(rows), 2 * len(levels) + 1)) for rows in tests]


def check_conformalised_bounds_are_ranks_of_the_rows_held_out() -> None:
    """Of 99 absolute targets held out the 90th and 95th bound; of 7 no bound is enough."""
    y = np.random.default_rng(0).permutation(np.arange(1.0, 397.0))
    X = y[:, np.newaxis]
    prediction = conformalised(nothing_known, X, y, X[:5], LEVELS, 0)
    held_out = y[np.isin(y, hold_out(X, y, 0)[3])]
    expected = np.sort(held_out)[[89, 94]]
    assert (prediction.interval == np.stack([-expected, expected])).all()
    few = conformalised(nothing_known, X[:28], y[:28], X[:5], LEVELS, 0)
    assert np.isinf(few.interval).all()


def check_tables_become_inputs_and_a_target() -> None:
    """Take column y as the target and all others, in order and as float64, as inputs."""
    columns = {"a": np.arange(10), "y": np.arange(10) / 2, "b": np.arange(10) ** 2}
    with TemporaryDirectory() as folder:
        (Path(folder) / "tabular").mkdir()
        write_table(pa.table(columns), Path(folder) / "tabular" / "pol.parquet")
        with patch.dict(os.environ, ELMBAND_DATA=folder):
            split = SETS["tab-pol"].load()(0)
    assert split.X_train.shape == (7, 2)
    assert split.X_train.dtype == split.y_train.dtype == np.float64
    assert (split.X_test == np.column_stack([2 * split.y_test, 4 * split.y_test**2])).all()


def check_splits_are_fixed_and_disjoint() -> None:
    """Draw a split twice and get the same, draw two and get others; no row is in both parts."""
    split = SETS["art-100"].load()
    assert (split(3).y_test == split(3).y_test).all()
    assert (split(3).y_test != split(4).y_test).any()
    assert not np.isin(split(3).y_train, split(3).y_test).any()


def check_a_torn_line_loses_only_itself() -> None:
    """Break off in the middle of a line: that line is lost, later ones are read."""
    with TemporaryDirectory() as folder:
        store = Store(Path(folder))
        store.append("a", "b", {"split": 0, "x": 1})
        with (store.splits / "a--b.jsonl").open("a") as file:
            file.write('{"split": 1, "x"')
        store.append("a", "b", {"split": 2, "x": np.inf})
        assert store.read("a", "b") == {0: {"split": 0, "x": 1}, 2: {"split": 2, "x": np.inf}}


def check_ratios_use_common_splits_and_are_clipped() -> None:
    """Only splits of both methods count; one set cannot weigh more than a factor of 2."""
    records = {
        ("art-100", "elmband"): {0: {"score90": 1.0}, 1: {"score90": 99.0}},
        ("art-100", "gp"): {0: {"score90": 2.0}, 1: {"error": "no", "kind": "failed"}},
        ("art-1000", "elmband"): {0: {"score90": 9.0}},
        ("art-1000", "gp"): {0: {"score90": 1.0}},
    }
    summary = Summary(records)
    assert summary.ratio("art-100", "elmband", "gp", "score90") == 0.5
    assert np.isclose(summary.pooled_ratio("elmband", "gp", "score90"), 1.0)
    assert summary.close_to_best("elmband", "score90") == (1, 2)


def check_seconds_are_not_clipped_and_the_worst_set_is_named() -> None:
    """Ratios of 9 and 1/4 have the geometric mean 1.5; the first is the worst for elmband."""
    summary = Summary(
        {
            ("art-100", "elmband"): {0: {"seconds": 9.0}},
            ("art-100", "gp"): {0: {"seconds": 1.0}},
            ("art-1000", "elmband"): {0: {"seconds": 1.0}},
            ("art-1000", "gp"): {0: {"seconds": 4.0}},
        }
    )
    mean, worst, where = summary.time_ratio("elmband", "gp")
    assert np.isclose(mean, 1.5), mean
    assert (worst, where) == (9.0, "art-100")


def check_only_large_sets_count_as_off() -> None:
    """Coverage of 80 on 100 rows, 86 and 92 on more: 86 on average, one large set of two is off."""
    found = {"art-100": (100, 0.8), "art-1000": (1000, 0.86), "art-10000": (10000, 0.92)}
    summary = Summary(
        {(name, "gp"): {0: {"rows": n, "picp90": share}} for name, (n, share) in found.items()}
    )
    assert np.isclose(summary.coverage("gp", 90), 86)
    assert summary.sets_off("gp", 90) == (1, 2)
    assert summary.sets_off("gp", 95) == (0, 0)


def check_points_alone_have_an_rmse_and_no_intervals() -> None:
    """Leave a method without intervals out of their tables, also where it stands alone."""
    split = SETS["art-100"].load()(0)
    both = {"elmband": truth(split), "xrfm": Prediction(truth(split).mean, None)}
    spent = {"version": "1", "seconds": 1.0, "peak_mb": 1.0}
    records = {
        ("art-100", method): {0: spent | score(split, prediction)}
        for method, prediction in both.items()
    }
    summary = Summary(records)
    assert summary.ratio("art-100", "elmband", "xrfm", "rmse") == 1
    assert np.isnan(summary.pooled_ratio("elmband", "xrfm", "score90"))
    assert summary.close_to_best("xrfm", "score90") == (0, 0)
    heads = {part.splitlines()[0]: part for part in markdown(summary).split("## ")}
    assert "xrfm" in heads["RMSE, in sd of y"]
    assert "xrfm" not in heads["Interval score at 90 %, in sd of y"]
    assert "Coverage" not in markdown(Summary({("art-100", "xrfm"): records["art-100", "xrfm"]}))


if __name__ == "__main__":
    for name, check in list(globals().items()):
        if name.startswith("check_"):
            check()
            print(f"{name.removeprefix('check_').replace('_', ' ')}: yes")
