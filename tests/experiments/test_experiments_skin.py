"""Skin pixels: halves that do not share a photo, and rates counted row by row."""

import numpy as np
import pytest

from elmband.metrics import confident_rates
from elmband_experiments.paper import Settings
from elmband_experiments.paper.halves import COLUMNS, Halves, pixels, split_at_random, targets_of
from elmband_experiments.paper.skin import (
    BY_PHOTO,
    BY_ROW,
    DEFAULT,
    PER_SAMPLE,
    SAME,
    SHARES,
    UNIFORM,
    answered,
    draw,
    measured,
    of_which_class,
    thinned,
)

Image = pytest.importorskip("PIL.Image")


@pytest.fixture(scope="module")
def photos(tmp_path_factory):
    """Write photos whose skin is reddish, with a light of its own in each."""
    folder = tmp_path_factory.mktemp("photos")
    for kind in ("images", "masks"):
        (folder / kind).mkdir()
    rng = np.random.default_rng(0)
    for k in range(8):
        mask = np.zeros((40, 44), bool)
        mask[:, : rng.integers(15, 30)] = True
        colour = np.where(mask[..., None], [170, 110, 90], [100, 110, 120])
        image = np.clip(colour + rng.integers(-30, 30) + rng.normal(0, 45, (40, 44, 3)), 0, 255)
        Image.fromarray(image.astype(np.uint8)).save(folder / "images" / f"p{k}.png")
        Image.fromarray(mask).save(folder / "masks" / f"p{k}.png")
    return folder


def with_photos(photos, **changes):
    return Settings(**{"seed": 0, "quick": True, "pixels": 3000, "photos": photos, **changes})


def halves_of(settings, *, by_photo):
    with pixels(settings, 3000, by_photo=by_photo) as halves:
        return np.load(halves.train), np.load(halves.test)


def test_halves_are_balanced_and_share_no_photo(photos):
    by_photo = halves_of(with_photos(photos), by_photo=True)
    by_row = halves_of(with_photos(photos), by_photo=False)
    for train, test in (by_photo, by_row):
        assert len(train) + len(test) == 3000
        assert abs(train[:, -1].mean()) < 0.1
        assert train.shape[1] == 147 + 2
    assert not set(by_photo[0][:, -2]) & set(by_photo[1][:, -2])
    assert set(by_row[0][:, -2]) == set(by_row[1][:, -2])
    again, other = (halves_of(with_photos(photos, seed=k), by_photo=False) for k in (0, 1))
    assert (again[1] == by_row[1]).all()
    assert (other[1] != by_row[1]).any()


def test_random_halves_are_all_rows_once(tmp_path):
    rows = np.arange(7001 * COLUMNS, dtype=np.float32).reshape(7001, COLUMNS) % 9973
    rows[:, 0] = np.arange(7001)
    np.save(tmp_path / "whole.npy", rows)
    halves = Halves(tmp_path / "train.npy", tmp_path / "test.npy")
    split_at_random(tmp_path / "whole.npy", halves, 0)
    train, test = np.load(halves.train), np.load(halves.test)
    assert (len(train), len(test)) == (3500, 3501)
    both = np.concatenate([train, test])
    np.testing.assert_array_equal(both[np.argsort(both[:, 0])], rows)


def test_files_vanish_also_after_a_failure(photos, tmp_path):
    settings, seen = with_photos(photos, scratch=tmp_path), []

    def fail():
        with pixels(settings, 300, by_photo=False) as halves:
            seen.extend(sorted(path.name for path in halves.train.parent.iterdir()))
            raise RuntimeError

    with pytest.raises(RuntimeError):
        fail()
    assert seen == ["test.npy", "train.npy"]
    assert list(tmp_path.iterdir()) == []


@pytest.fixture(scope="module")
def by_photo(photos):
    """Give targets and answers of one small run."""
    settings = with_photos(photos)
    with pixels(settings, 3000, by_photo=True) as halves:
        return targets_of(halves.test), dict(answered(halves, settings, BY_PHOTO))


@pytest.mark.slow
def test_rates_are_those_counted_by_loop(by_photo):
    y, all_answers = by_photo
    assert list(all_answers) == [PER_SAMPLE, UNIFORM, SAME, DEFAULT]
    for rule, answers in all_answers.items():
        found = confident_rates(y, answers.label, answers.confidence)
        rows = measured((BY_PHOTO, rule), 1, y, answers, found)
        order = np.argsort(-answers.confidence, kind="stable")
        for row, share in zip(rows, SHARES, strict=True):
            part = order[: int(np.ceil(share * len(y)))]
            label, truth = answers.label[part], y[part]
            assert row["called_not_skin"] == np.mean(label == -1)
            if not (truth == 1).any() or not (truth == -1).any():
                continue
            # Rows of one confidence are answered together, which moves a rate by a row or two.
            tolerance = 3 / min((truth == 1).sum(), (truth == -1).sum(), len(part))
            assert row["tpr"] == pytest.approx(np.mean(label[truth == 1] == 1), abs=tolerance)
            assert row["fpr"] == pytest.approx(np.mean(label[truth == -1] == 1), abs=tolerance)


@pytest.mark.slow
def test_certain_pixels_are_right_more_often(by_photo):
    y, all_answers = by_photo
    for answers in all_answers.values():
        right = answers.label == y
        certain = answers.confidence >= np.quantile(answers.confidence, 0.9)
        assert right.mean() > 0.8
        assert right[certain].mean() > right.mean()


@pytest.mark.slow
def test_fewer_points_draw_the_same_curve(by_photo, monkeypatch):
    y, all_answers = by_photo
    answers = all_answers[UNIFORM]
    whole = confident_rates(y, answers.label, answers.confidence)
    monkeypatch.setattr("elmband_experiments.paper.skin.MOST_POINTS", 50)
    few = thinned(whole)
    assert len(few.coverage) <= 50 + len(SHARES)
    places = np.searchsorted(whole.coverage, few.coverage)
    np.testing.assert_array_equal(whole.tpr[places], few.tpr)
    np.testing.assert_array_equal(whole.fpr[places], few.fpr)
    for share in SHARES:
        first = whole.coverage[whole.coverage >= share - 1e-12][0]
        assert first in few.coverage


@pytest.mark.slow
def test_the_figure(by_photo):
    y, all_answers = by_photo
    curves = {rule: confident_rates(y, a.label, a.confidence) for rule, a in all_answers.items()}
    figure = draw({BY_ROW: curves, BY_PHOTO: curves})
    figure.canvas.draw()
    for ax in figure.axes:
        lines = [line.get_transform().transform(line.get_xydata()) for line in ax.get_lines()]
        texts = [text for text in ax.texts if text.get_text()]
        assert texts
        for text in texts:
            low, high = text.get_window_extent().get_points()
            for points in lines:
                assert not ((points > low) & (points < high)).all(axis=1).any()


def test_words_on_the_most_confident_come_from_the_numbers():
    found = [("A", 0.97), ("A", 1.0), ("B", 0.8), ("B", 0.85), ("C", 0.99), ("C", 0.995)]
    said = of_which_class([{"rule": rule, "called_not_skin": share} for rule, share in found])
    assert said.replace("\N{NO-BREAK SPACE}", " ") == (
        "Of the 1 % most confident pixels, these are called not skin: almost all, 97.0 % or more, "
        "by A; C, so that few of them could be false positives; by B 80.0 % to 85.0 %."
    )
    said = of_which_class([{"rule": "B", "called_not_skin": 0.5}])
    assert "all by" not in said
    said = of_which_class([{"rule": "B", "called_not_skin": 1.0}])
    assert said.endswith("not skin: all by B, so that few of them could be false positives.")
