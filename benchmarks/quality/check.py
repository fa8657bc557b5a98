"""A quick test of the harness itself: ``python -m benchmarks.quality.check``.

The truth of the artificial sets is the oracle: a method that knows it must get the coverage and
the scores that theory gives.
"""

from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
from benchmarks.quality.data import SETS, Split
from benchmarks.quality.rivals.base import Prediction, from_normal, from_tails, tails
from benchmarks.quality.scores import LEVELS, score
from benchmarks.quality.store import Store
from benchmarks.quality.summary import Summary
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


if __name__ == "__main__":
    for name, check in list(globals().items()):
        if name.startswith("check_"):
            check()
            print(f"{name.removeprefix('check_').replace('_', ' ')}: yes")
