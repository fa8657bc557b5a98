"""Tables of pixels: what is in them, and what becomes of them when something fails."""

import io
import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from painted import all_rows, in_order, paint
from PIL import Image
from rich.console import Console

from elmband import ELMRegressor, scan
from elmband.engines import progress
from elmband_experiments.pixels import (
    bar,
    feature_names,
    pick,
    pixel_features,
    pixel_targets,
    plan,
    write_pixels,
)
from elmband_experiments.pixels.photos import Photo

WRITE = sys.modules["elmband_experiments.pixels.write"]
NAMES = ("d", "b", "a", "c")


@pytest.fixture
def folder(tmp_path):
    for name in NAMES:
        paint(tmp_path, name)
    return tmp_path


def written(folder, out="out.npy", **options):
    return write_pixels(folder / "images", folder / "masks", folder / out, **options)


def rows_of(folder, **options):
    """Return the written rows, and the summary."""
    summary = written(folder, **options)
    return np.load(folder / "out.npy"), summary


def true_rows(folder, window):
    """Return all rows that the photos stand for, each as it is in the files."""
    parts = []
    for number, name in enumerate(sorted(NAMES)):
        with Image.open(folder / "images" / f"{name}.png") as image:
            colours = np.asarray(image)
        with Image.open(folder / "masks" / f"{name}.png") as mask:
            parts.append(all_rows(colours, np.asarray(mask), window, number))
    return parts


def is_part_of(rows, whole):
    """Whether all rows are rows of the whole, none of them twice."""
    found = {row.tobytes() for row in rows}
    return len(found) == len(rows) and found <= {row.tobytes() for row in whole}


@pytest.mark.parametrize("window", [1, 3, 7])
def test_all_pixels_with_a_whole_window_are_there_once(folder, window):
    rows, summary = rows_of(folder, window=window)
    expected = np.concatenate(true_rows(folder, window))
    assert rows.dtype == np.float32
    assert summary.train.n_rows == len(rows) == 4 * (21 - window) * (25 - window)
    np.testing.assert_array_equal(in_order(rows), in_order(expected))
    assert summary.columns == (*feature_names(window), "photo", "skin")
    assert summary.train.n_white == (rows[:, -1] == 1).sum()
    assert summary.train.n_other == (rows[:, -1] == -1).sum()
    assert summary.train.photos == {0: "a.png", 1: "b.png", 2: "c.png", 3: "d.png"}


@pytest.mark.one_quick
@pytest.mark.parametrize("balance", ["natural", "balanced"])
@pytest.mark.parametrize("n_rows", [401, 2, 7])
def test_chosen_rows_are_rows_of_the_photos_and_every_photo_gives_its_share(
    folder, balance, n_rows
):
    rows, summary = rows_of(folder, n_rows=n_rows, balance=balance)
    for number, whole in enumerate(true_rows(folder, 7)):
        given = rows[rows[:, -2] == number]
        assert is_part_of(given, whole)
        assert abs(len(given) - n_rows / 4) < (1 if balance == "natural" else 2)
        assert (number in summary.train.photos) == (len(given) > 0)
    white = int((rows[:, -1] == 1).sum())
    assert (summary.train.n_rows, summary.train.n_white) == (len(rows), white)
    assert len(rows) == n_rows
    if balance == "balanced":
        assert white == n_rows // 2


def test_balance_of_all_pixels_takes_all_of_the_rarer_class(folder):
    rows, summary = rows_of(folder, balance="balanced")
    whole = np.concatenate(true_rows(folder, 7))
    white = whole[whole[:, -1] == 1]
    np.testing.assert_array_equal(in_order(rows[rows[:, -1] == 1]), in_order(white))
    assert summary.train.n_other == summary.train.n_white == len(white) < len(whole) / 2


@pytest.mark.slow
@pytest.mark.parametrize("balance", ["natural", "balanced"])
def test_every_pixel_of_a_class_has_the_same_chance(tmp_path, balance):
    _, mask = paint(tmp_path, "only", size=(6, 5))
    photo = Photo(0, tmp_path / "images" / "only.png", tmp_path / "masks" / "only.png")
    found = [plan.count(photo, 1)]
    counts = np.zeros(30)
    for seed in range(500):
        (share,) = plan.plan(found, 6, balance, seed)
        counts[pick.pick(share, 1, seed).places] += 1
    white, other = (3 / mask.sum(), 3 / (~mask).sum()) if balance == "balanced" else (0.2, 0.2)
    expected = 500 * np.where(mask.ravel(), white, other)
    # Five standard deviations of a count, at most.
    assert np.all(np.abs(counts - expected) < 5 * np.sqrt(expected))


def test_photos_come_in_order_and_classes_mixed(folder):
    rows, _ = rows_of(folder, n_rows=400, balance="balanced")
    assert np.all(np.diff(rows[:, -2]) >= 0)
    first = rows[rows[:, -2] == 0][:, -1]
    assert len(first) == 100
    # Shuffled, 50 changes of class are expected, with a deviation of 5.
    assert 25 < np.count_nonzero(np.diff(first)) < 75


def test_the_seed_decides(folder):
    first, again = (rows_of(folder, n_rows=100, random_state=5)[0] for _ in range(2))
    other, _ = rows_of(folder, n_rows=100, random_state=6)
    np.testing.assert_array_equal(first, again)
    assert not np.array_equal(first, other)


def test_neither_the_order_of_files_nor_threads_matter(folder, monkeypatch):
    before, _ = rows_of(folder, n_rows=100, balance="balanced")
    listed = Path.iterdir
    monkeypatch.setattr(Path, "iterdir", lambda path: sorted(listed(path), reverse=True))
    monkeypatch.setattr(WRITE, "in_threads", map)
    after, _ = rows_of(folder, n_rows=100, balance="balanced")
    np.testing.assert_array_equal(before, after)


@pytest.mark.parametrize("balance", ["natural", "balanced"])
def test_what_a_photo_gives_does_not_depend_on_the_others(folder, balance):
    together, _ = rows_of(folder, n_rows=400, balance=balance)
    alone, _ = rows_of(folder, n_rows=100, balance=balance, pattern="c")
    np.testing.assert_array_equal(
        np.delete(together[together[:, -2] == 2], -2, axis=1), np.delete(alone, -2, axis=1)
    )
    assert set(alone[:, -2]) == {0}


def test_blocks_do_not_change_rows(folder, monkeypatch):
    before, _ = rows_of(folder, n_rows=500)
    monkeypatch.setattr(pick, "_BLOCK_BYTES", 1)
    after, _ = rows_of(folder, n_rows=500)
    np.testing.assert_array_equal(before, after)


@pytest.mark.slow
def test_a_split_is_by_photo(folder):
    options = {"split": 0.5, "test_out": folder / "test.npy", "balance": "balanced"}
    train, summary = rows_of(folder, n_rows=301, **options)
    test = np.load(folder / "test.npy")
    assert summary.test is not None
    assert (len(train), len(test)) == (summary.train.n_rows, summary.test.n_rows) == (150, 151)
    assert (summary.train.n_white, summary.test.n_white) == (75, 75)
    numbers = set(train[:, -2]), set(test[:, -2])
    assert numbers == (set(summary.train.photos), set(summary.test.photos))
    assert {**summary.train.photos, **summary.test.photos} == dict(
        enumerate(["a.png", "b.png", "c.png", "d.png"])
    )
    assert not numbers[0] & numbers[1]
    for rows in (train, test):
        for number in set(rows[:, -2]):
            given = rows[rows[:, -2] == number]
            assert is_part_of(given, true_rows(folder, 7)[int(number)])
    again, _ = rows_of(folder, n_rows=301, **options)
    np.testing.assert_array_equal(train, again)


FORMATS = ["npy", "parquet", "h5", "csv", "csv.gz", "arrow"]


@pytest.mark.one_quick
@pytest.mark.parametrize("ending", FORMATS)
def test_scan_reads_what_was_written(folder, ending):
    rows, _ = rows_of(folder, n_rows=50, window=3)
    summary = written(folder, f"skin.{ending}", n_rows=50, window=3)
    path = folder / f"skin.{ending}"
    by_name = {"target": summary.target, "features": summary.features}
    choice = {"target": -1, "features": range(27)} if ending == "npy" else by_name
    (chunk,) = scan(path, **choice)
    np.testing.assert_array_equal(chunk.X, rows[:, :27])
    np.testing.assert_array_equal(chunk.Y[:, 0], rows[:, -1])
    photo = {"features": [-2]} if ending == "npy" else {"features": ["photo"]}
    (chunk,) = scan(path, **photo)
    np.testing.assert_array_equal(chunk.X[:, 0], rows[:, -2])


def test_a_model_learns_from_the_table(tmp_path):
    image = np.zeros((30, 30, 3), np.uint8)
    image[:, 10:20] = 200
    for name, array in (("images", image), ("masks", image)):
        (tmp_path / name).mkdir()
        Image.fromarray(array).save(tmp_path / name / "bar.png")
    summary = written(tmp_path, "bar.parquet", target="bar")
    assert (summary.train.n_white, summary.train.n_other) == (240, 336)
    rows = scan(tmp_path / "bar.parquet", target="bar", features=summary.features)
    model = ELMRegressor({"linear": 10}, alpha=1e-3, random_state=0).fit(rows)
    X = pixel_features(tmp_path / "images" / "bar.png")
    table = pd.DataFrame(X.reshape(-1, 147), columns=feature_names())
    drawn = np.sign(model.predict(table)).reshape(X.shape[:2])
    np.testing.assert_array_equal(drawn, pixel_targets(image[..., 0]))


def refused(folder, words, error=ValueError, **options):
    """Check that nothing is left behind by a refusal."""
    before = sorted(path.name for path in folder.iterdir())
    with pytest.raises(error, match=words) as caught:
        written(folder, **options)
    assert "\n" not in str(caught.value)
    assert sorted(path.name for path in folder.iterdir()) == before


def test_damaged_images_and_masks_leave_nothing_behind(folder):
    (folder / "out.npy").write_bytes(b"old")
    for kind in ("masks", "images"):
        path = folder / kind / "c.png"
        content = path.read_bytes()
        path.write_bytes(content[:-40])
        refused(folder, rf"{kind}.c\.png cannot be read as an image, it may be damaged")
        path.write_bytes(content)
    assert (folder / "out.npy").read_bytes() == b"old"
    written(folder)
    assert len(np.load(folder / "out.npy")) > 0


def test_a_mask_of_another_size(folder):
    path = folder / "masks" / "b.png"
    Image.new("1", (24, 21)).save(path)
    refused(folder, r"images.b\.png is 24 by 20 pixels, its mask .*masks.b\.png is 24 by 21; they")
    # Found only where the image is decoded, because its EXIF tag might have turned it.
    Image.new("1", (20, 24)).save(path)
    refused(folder, r"images.b\.png is 24 by 20 pixels, its mask .*masks.b\.png is 20 by 24; they")


def test_turned_images_fit_turned_masks(folder):
    image, _ = paint(folder, "e", size=(20, 30))
    mask = np.rot90(image[..., 0] >= 128, -1)
    exif = Image.Exif()
    exif[0x0112] = 6
    Image.fromarray(image).save(folder / "images" / "e.png", exif=exif)
    Image.fromarray(mask).save(folder / "masks" / "e.png")
    rows, _ = rows_of(folder, pattern="e")
    expected = all_rows(np.rot90(image, -1), mask, 7)
    np.testing.assert_array_equal(in_order(rows), in_order(expected))


def test_an_image_smaller_than_the_window(folder):
    paint(folder, "small", size=(20, 6))
    refused(folder, r"small\.png is 6 by 20 pixels, smaller than the window of 7 by 7; choose a")
    written(folder, window=5)


def test_masks_of_0_and_1(folder):
    for name in NAMES:
        path = folder / "masks" / f"{name}.png"
        with Image.open(path) as mask:
            small = np.asarray(mask).astype(np.uint8)
        Image.fromarray(small).save(path)
    refused(folder, r"^No mask has a white pixel, and .*a\.png is not black: white is 128 to 255")


def test_images_without_mask(folder):
    (folder / "masks" / "b.png").unlink()
    refused(folder, r"b\.png has no mask b\.\* in .*masks; add what is missing, or leave such")
    summary = written(folder, skip_unmatched=True)
    assert summary.skipped == ("b.png",)
    assert summary.train.photos == {0: "a.png", 1: "c.png", 2: "d.png"}


def test_a_mask_that_changes_meanwhile(folder, monkeypatch):
    def meddle(*arguments):
        Image.new("1", (24, 20)).save(folder / "masks" / "c.png")
        return plan.plan(*arguments)

    monkeypatch.setattr(WRITE, "plan", meddle)
    refused(folder, r"c\.png changed while it was being read; write the table again")


@pytest.mark.parametrize("error", [KeyboardInterrupt, MemoryError, ZeroDivisionError])
def test_after_any_failure_files_are_as_before(folder, monkeypatch, error):
    (folder / "out.npy").write_bytes(b"old")
    blocks = WRITE.blocks

    def fail(picked, window):
        yield from blocks(picked, window)
        if picked.share.counted.photo.stem == "c":
            raise error("of ours")

    monkeypatch.setattr(WRITE, "blocks", fail)
    refused(folder, "^of ours$", error, split=0.5, test_out=folder / "test.npy")
    assert (folder / "out.npy").read_bytes() == b"old"


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"n_rows": 0}, r"^n_rows is 0, expected a whole number of at least 1, or None\.$"),
        ({"n_rows": 1e6}, r"^n_rows is 1000000\.0, expected a whole number"),
        ({"n_rows": True}, r"^n_rows is True"),
        ({"n_rows": 10**9}, r"^1,000,000,000 rows were asked for, the 4 photos have 1,008 pixels"),
        (
            {"n_rows": 1, "balance": "balanced"},
            r"^1 rows were asked for, too few: every file needs",
        ),
        ({"balance": "equal"}, r"^balance is 'equal', expected \"natural\" or \"balanced\"\.$"),
        ({"window": 6}, r"^The window must be odd"),
        ({"random_state": None}, r"^random_state is None, expected a whole number of at least 0"),
        ({"random_state": -1}, r"^random_state is -1"),
        ({"split": 0.5}, r"^A split by photo needs both the share of photos and a second file"),
        ({"test_out": "b.npy"}, r"^A split by photo needs both"),
        ({"split": 1, "test_out": "b.npy"}, r"^split is 1, expected a share between 0 and 1"),
        ({"split": "half", "test_out": "b.npy"}, r"^split is 'half', expected a share"),
        ({"target": "photo"}, r"^The target column is to be called 'photo', expected a name that"),
        ({"target": "r_0_0"}, r"^The target column is to be called 'r_0_0'"),
        ({"target": ""}, r"^The target column is to be called ''"),
        ({"out": "out.xls"}, r"out\.xls ends in none of the known extensions: "),
    ],
)
def test_what_cannot_be_meant_is_one_sentence(folder, options, words):
    refused(folder, words, **options)


def test_both_files_of_a_split_must_differ_and_hold_rows(folder):
    out = folder / "images" / ".." / "out.npy"
    refused(folder, r"^Both files of the split are .*out\.npy; give", split=0.5, test_out=out)
    test = folder / "test.npy"
    refused(folder, r"^1 rows were asked for, too few", split=0.5, test_out=test, n_rows=1)


def test_files_that_cannot_be_written_are_found_before_any_work(folder, monkeypatch):
    monkeypatch.setattr(WRITE, "find_photos", pytest.fail)
    refused(folder, "nowhere does not exist; make it first", OSError, out="nowhere/out.npy")


def test_a_terminal_sees_photos_and_megabytes(folder, monkeypatch):
    monkeypatch.setattr(progress, "_PATIENCE", 0.0)
    text = io.StringIO()
    console = Console(file=text, force_terminal=True, width=120)
    monkeypatch.setattr(bar, "Console", lambda **_: console)
    written(folder)
    seen = re.sub(r"\x1b\[[\d;]*m", "", text.getvalue())
    assert re.search(r"pass 1: masks \S+ [1-4]/4 photos", seen)
    assert re.search(r"pass 2: pixels \S+ 4/4 photos \d+ MB/s", seen)
    assert "rows" not in seen


@pytest.mark.parametrize("verbose", ["auto", False])
def test_nothing_is_shown_where_nobody_looks(folder, monkeypatch, capsys, verbose):
    monkeypatch.setattr(progress, "_PATIENCE", 0.0)
    written(folder, verbose=verbose)
    assert capsys.readouterr() == ("", "")


PEAK = """
from pathlib import Path
from elmband_experiments.pixels import write_pixels

def peak():
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmHWM"))

write_pixels("images", "masks", "out.npy", n_rows=10)
before = peak()
write_pixels("images", "masks", "out.npy")
print((peak() - before) // 1024)
"""


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="only Linux tells the peak")
def test_memory_does_not_grow_with_the_rows(tmp_path):
    for k in range(3):
        paint(tmp_path, f"photo_{k}", size=(300, 400))
    command = [sys.executable, "-c", PEAK]
    result = subprocess.run(
        command, capture_output=True, text=True, check=True, cwd=tmp_path, env=os.environ
    )
    assert (tmp_path / "out.npy").stat().st_size > 190e6
    # Of 200 MB of rows, 70 MB from each photo, a group of 32 MB and blocks of 8 MB are held.
    assert int(result.stdout) < 60


@pytest.mark.parametrize("name", ["images/new.npy", "masks/new.npy", "twin.npy"])
def test_rows_are_not_written_over_photos_or_among_them(folder, name):
    os.link(folder / "images" / "a.png", folder / "twin.npy")
    before = sorted(folder.rglob("*"))
    with pytest.raises(ValueError, match="is an image or a mask, or lies among them"):
        written(folder, name)
    assert sorted(folder.rglob("*")) == before


def test_both_files_of_a_split_are_two(folder):
    (folder / "out.npy").write_text("before")
    os.link(folder / "out.npy", folder / "twin.npy")
    with pytest.raises(ValueError, match="Both files of the split are"):
        written(folder, split=0.5, test_out=folder / "twin.npy")
