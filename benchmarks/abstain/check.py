"""A quick test of the harness itself: ``python -m benchmarks.abstain.check``."""

from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
from benchmarks.abstain import plot
from benchmarks.abstain.answers import AnswerFiles, Judged
from benchmarks.abstain.data import RULES, SETS
from benchmarks.abstain.data import _cut as cut
from benchmarks.abstain.rivals import METHODS
from benchmarks.abstain.runner import Job, missing, plan
from benchmarks.abstain.scores import COVERAGES, score
from benchmarks.abstain.studies import ensembles, paired, promises
from benchmarks.abstain.summary import Summary
from benchmarks.quality.store import Store

from elmband.metrics import (
    coverage_without_false_positives,
    selective_summary,
    true_positives_at_fpr,
)


def some_answers(n: int = 4000, photos: int = 40) -> Judged:
    """Return answers of random rows, the more certain the more often right."""
    rng = np.random.default_rng(0)
    confidence = rng.random(n)
    y = rng.integers(2, size=n)
    label = np.where(rng.random(n) < 0.5 + 0.5 * confidence, y, 1 - y)
    return Judged(y, label, confidence, rng.integers(photos, size=n))


def check_no_group_is_on_both_sides() -> None:
    """Split rows that occur several times: every split another one, and always the same."""
    rng = np.random.default_rng(0)
    groups = rng.integers(100, size=1000)
    X, y = groups[:, None] * 1.0, groups % 2
    first, again, other = (cut(X, y, groups, k) for k in (0, 0, 1))
    assert not np.isin(first.train.X, first.test.X).any()
    assert len(first.train.y) + len(first.test.y) == 1000
    assert (first.test.X == again.test.X).all()
    assert set(first.test.groups) != set(other.test.groups)


def check_scores_are_those_of_the_answered_part() -> None:
    """Count by hand in the most certain tenth."""
    judged = some_answers()
    part = score(judged, 1)["parts"][COVERAGES.index(0.1)]
    first = np.argsort(-judged.confidence)[:400]
    y, label = judged.y[first], judged.label[first]
    assert part["false_positives"] == np.sum((label == 1) & (y == 0))
    assert np.isclose(part["risk"], np.mean(label != y))
    assert np.isclose(part["called"], np.mean(label == 1))


def check_found_rows_are_those_of_the_metric() -> None:
    """Compare the curve of the figure with the metric, rate by rate."""
    judged = some_answers()
    expected = [true_positives_at_fpr(*judged[:3], float(rate)) for rate in plot.RATES]
    assert np.allclose(plot.found(judged), expected)


def check_draws_of_photos_are_repeated_rows() -> None:
    """Repeat the rows of photos as often as they are drawn, and count with elmband's metrics."""
    judged = some_answers()
    draws = paired.drawn(judged.groups)[:3]
    found = paired.counts(judged, draws)
    assert (draws[0] == 1).all()
    assert (draws[1:].sum(axis=1) == 40).all()
    for b, draw in enumerate(draws):
        rows = np.repeat(np.arange(len(judged.y)), draw[judged.groups].astype(int))
        y, label, confidence, _ = (column[rows] for column in judged)
        # Copies of a row tie: an order among them keeps the number of answered rows exact.
        confidence = confidence - 1e-12 * np.arange(len(rows))
        parts = selective_summary(y, label, confidence, coverages=paired.COVERAGES)
        wrong = sum(round(part.risk * part.answered) for part in parts)
        false = sum(part.false_positives for part in parts)
        # A draw weighs rows, so that the last of them may count several times.
        most = len(parts) * draw.max() if b else 0
        assert abs(found.false_positives[b] - false) <= most
        assert abs(found.wrong[b] - wrong) <= most
    called = np.flatnonzero(judged.label == 1)
    order = called[np.argsort(-judged.confidence[called])]
    false = sum(np.sum(judged.y[order[: round(4000 * c)]] == 0) for c in paired.COVERAGES)
    assert found.false_among_called[0] == false


def check_spread_counts_photos() -> None:
    """Put three false positives into photo 5 and one into photo 7."""
    groups = np.array([5, 5, 5, 7, 1, 1, 2, 2, 3, 3] * 10)
    label = np.zeros(100, dtype=np.int64)
    label[:4] = 1
    found = paired.spread(Judged(np.zeros(100), label, np.arange(100)[::-1], groups))
    assert found == (2, 1.0)
    found = paired.spread(Judged(np.zeros(100), 1 - label, np.arange(100)[::-1], groups))
    assert found == (3, 4 / 6)


def check_shares_before_the_first_false_positive() -> None:
    """Repeat the rows of drawn photos, and use elmband's metric."""
    judged = some_answers()
    draws = paired.drawn(judged.groups)[:20]
    found = ensembles.shares_before(judged, draws)
    for share, draw in zip(found, draws, strict=True):
        rows = np.repeat(np.arange(len(judged.y)), draw[judged.groups].astype(int))
        y, label, confidence, _ = (column[rows] for column in judged)
        assert np.isclose(share, coverage_without_false_positives(y, label, confidence))
    right = judged._replace(label=judged.y)
    assert (ensembles.shares_before(right, draws) == 1).all()


def check_ensembles_are_beside_their_members() -> None:
    """Give an ensemble more than two of its three members."""
    whole, *some = (
        ensembles.Model(dict.fromkeys(ensembles.KEYS, share), np.full(3, share))
        for share in (0.3, 0.1, 0.2, 0.4)
    )
    found = ensembles.compared([whole], [some])
    assert np.isclose(found["wins"], 2 / 3)
    assert np.allclose(found["gain"], 0.3 - 0.7 / 3)
    assert found["seeds"] == [{"ensemble": 0.3, "members": [0.1, 0.2, 0.4]}]


def check_ratios_without_a_denominator() -> None:
    """Nothing over nothing is 1, anything over nothing is infinite."""
    ours, uniform = np.array([1.0, 0.0, 2.0]), np.array([2.0, 0.0, 0.0])
    assert list(paired.ratio(ours, uniform)) == [0.5, 1.0, np.inf]


def check_risk_is_the_mean_over_photos() -> None:
    """Go through the photos one by one."""
    y, label, confidence, photo = some_answers()
    rows = promises.Rows(y, label, confidence, photo)
    fpr, error = [], []
    for k in range(40):
        mine, sure = photo == k, (photo == k) & (confidence >= 0.7)
        fpr.append(np.sum(sure & (label == 1) & (y == 0)) / np.sum(mine & (y == 0)))
        error.append(np.mean(label[sure] != y[sure]))
    assert np.isclose(rows.mean_risk("max_fpr", 0.7), np.mean(fpr))
    assert np.isclose(rows.mean_risk("max_error", 0.7), np.mean(error))
    assert rows.mean_risk("max_error", 2.0) == 0


def check_divisions_keep_photos_together() -> None:
    """Find each photo in one half only, and all rows of a photo that is drawn."""
    photo = some_answers().groups
    for mask in promises.halves(photo, 3):
        assert len(np.unique(photo[mask])) == len(np.unique(photo[~mask])) == 20
        assert not np.isin(photo[mask], photo[~mask]).any()
    for rows, number in promises.draws(photo, 3):
        assert number.max() == 19
        for k in range(20):
            mine = rows[number == k]
            assert (np.sort(mine) == np.flatnonzero(photo == photo[mine[0]])).all()


def check_only_what_is_missing_runs() -> None:
    """Finished work stays; failures run if asked for; a comparison follows what it compares."""
    with TemporaryDirectory() as folder:
        store = Store(Path(folder))
        store.append("skin-200k", "elm-model", {"split": 0, "when": 5.0})
        store.append("skin-200k", "elm-model", {"split": 1, "when": 5.0, "error": "no"})
        store.append("skin-200k", "paired", {"split": 0, "of": 4.0})
        job, study = Job("skin-200k", "elm-model", (0, 1, 2)), Job("skin-200k", "paired", (0,))
        assert missing(store, retry=False)(job) == Job("skin-200k", "elm-model", (2,))
        assert missing(store, retry=True)(job) == Job("skin-200k", "elm-model", (1, 2))
        assert missing(store, retry=False)(study) == study
        store.append("skin-200k", "paired", {"split": 0, "of": 5.0})
        assert missing(store, retry=False)(study) is None


def check_seeds_are_for_seeded_methods() -> None:
    """Plan a set whose splits are seeds, and one whose splits are not."""
    jobs = plan([SETS["skin-200k"], SETS["cancer"]], list(METHODS.values()), 7)
    splits = {(job.set_name, job.name): len(job.splits) for job in jobs}
    assert splits["skin-200k", "elm-log"] == 5
    assert splits["skin-200k", "boosting"] == 1
    assert splits["cancer", "boosting"] == 10
    promised = plan([SETS["skin-photos"]], list(METHODS.values()), 7)
    assert [job.name for job in promised] == [*[*METHODS][:4], "paired", "promises"]
    assert set(RULES) == {*METHODS} & {job.name for job in promised}
    assert promised[-1].splits == (7,)


def check_answers_are_read_as_written() -> None:
    """Keep answers and read them; a summary takes the mean over finished splits only."""
    judged = some_answers()
    with TemporaryDirectory() as folder:
        files = AnswerFiles(Path(folder))
        files.write("cancer", "boosting", 3, judged)
        found = files.read("cancer", "boosting", 3)
        assert found is not None
        assert all((a == b).all() for a, b in zip(judged, found, strict=True))
        assert files.read("cancer", "boosting", 4) is None
    scores = score(judged, 1)
    records = {0: {"scores": scores}, 1: {"scores": scores | {"aurc": 0.0}}, 2: {"error": "no"}}
    summary = Summary({("cancer", "boosting"): records})
    assert np.isclose(summary.score("cancer", "boosting", "aurc"), scores["aurc"] / 2)
    assert np.isnan(summary.score("cancer", "logistic", "aurc"))


if __name__ == "__main__":
    for name, check in list(globals().items()):
        if name.startswith("check_"):
            check()
            print(f"{name.removeprefix('check_').replace('_', ' ')}: yes")
