"""Skin pixels: halves that do not share a photo, and rates counted row by row."""

import numpy as np
import pytest

from elmband.experiments import Settings
from elmband.experiments.skin import BY_PHOTO, SHARES, answered, measured, pixels, run
from elmband.metrics import confident_rates

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


def test_halves_are_balanced_and_share_no_photo(photos):
    by_photo = pixels(with_photos(photos), 3000, by_photo=True)
    by_row = pixels(with_photos(photos), 3000, by_photo=False)
    for train, test in (by_photo, by_row):
        assert len(train) + len(test) == 3000
        assert abs(train[:, -1].mean()) < 0.1
        assert train.shape[1] == 147 + 2
    assert not set(by_photo.train[:, -2]) & set(by_photo.test[:, -2])
    assert set(by_row.train[:, -2]) == set(by_row.test[:, -2])
    again, other = (pixels(with_photos(photos, seed=k), 3000, by_photo=False) for k in (0, 1))
    assert (again.test == by_row.test).all()
    assert (other.test != by_row.test).any()


def test_rates_are_those_counted_by_loop(photos):
    settings = with_photos(photos)
    halves = pixels(settings, 3000, by_photo=True)
    y = halves.test[:, -1]
    for rule, answers in answered(halves, settings, BY_PHOTO).items():
        found = confident_rates(y, answers.label, answers.confidence)
        rows = measured(BY_PHOTO, rule, 1, 0.0, found)
        order = np.argsort(-answers.confidence, kind="stable")
        for row, share in zip(rows, SHARES, strict=True):
            part = order[: int(np.ceil(share * len(y)))]
            label, truth = answers.label[part], y[part]
            # Rows of one confidence are answered together, which moves a rate by a row or two.
            tolerance = 3 / min((truth == 1).sum(), (truth == -1).sum(), len(part))
            assert row["tpr"] == pytest.approx(np.mean(label[truth == 1] == 1), abs=tolerance)
            assert row["fpr"] == pytest.approx(np.mean(label[truth == -1] == 1), abs=tolerance)


def test_certain_pixels_are_right_more_often(photos):
    result = run(with_photos(photos))
    rows = result.tables["skin"]
    assert len(rows) == 2 * 3 * len(SHARES)
    for row in rows:
        assert row["accuracy"] > 0.8
        if row["most_confident"] == 0.1:
            same = [r for r in rows if (r["split"], r["rule"]) == (row["split"], row["rule"])]
            assert row["fpr"] <= same[-1]["fpr"]
