import shutil
from pathlib import Path

import pytest
from painted import paint
from PIL import Image

from elmband_experiments.pixels.photos import find_photos


@pytest.fixture
def folder(tmp_path):
    for name in ("train_b", "train_a", "test_a"):
        paint(tmp_path, name, size=(9, 9))
    return tmp_path


def found(folder, pattern="*", *, skip_unmatched=False):
    images, masks = folder / "images", folder / "masks"
    return find_photos(images, masks, pattern, skip_unmatched=skip_unmatched)


def stems(photos):
    return [photo.stem for photo in photos]


def test_photos_are_numbered_by_name_and_have_their_masks(folder):
    photos, skipped = found(folder)
    assert stems(photos) == ["test_a", "train_a", "train_b"]
    assert [photo.number for photo in photos] == [0, 1, 2]
    assert all(photo.mask == folder / "masks" / photo.image.name for photo in photos)
    assert skipped == ()


def test_the_order_in_the_folder_does_not_matter(folder, monkeypatch):
    before = found(folder)
    listed = Path.iterdir
    monkeypatch.setattr(Path, "iterdir", lambda path: sorted(listed(path), reverse=True))
    assert found(folder) == before
    monkeypatch.setattr(Path, "iterdir", lambda path: iter(sorted(listed(path))))
    assert found(folder) == before


@pytest.mark.parametrize(
    ("pattern", "expected"),
    [
        ("train_*", ["train_a", "train_b"]),
        ("*_a", ["test_a", "train_a"]),
        ("train_b.png", ["train_b"]),
    ],
)
def test_a_pattern_chooses_by_name_with_or_without_ending(folder, pattern, expected):
    assert stems(found(folder, pattern)[0]) == expected


def test_hidden_files_and_folders_do_not_count(folder):
    (folder / "images" / ".DS_Store").write_bytes(b"?")
    (folder / "images" / "more").mkdir()
    assert len(found(folder)[0]) == 3


def test_a_mask_may_have_another_ending(folder):
    with Image.open(folder / "images" / "test_a.png") as image:
        image.save(folder / "images" / "test_a.jpg")
    (folder / "images" / "test_a.png").unlink()
    photo = found(folder)[0][0]
    assert (photo.image.name, photo.mask.name) == ("test_a.jpg", "test_a.png")


def test_images_without_mask_are_an_error_unless_they_may_be_skipped(folder):
    for name in ("lost", "away"):
        shutil.copy(folder / "images" / "test_a.png", folder / "images" / f"{name}.png")
    words = r"away\.png has no mask away\.\* in .*masks, and 1 more; add what is missing, or"
    with pytest.raises(ValueError, match=words):
        found(folder)
    assert stems(found(folder, "t*")[0]) == ["test_a", "train_a", "train_b"]
    photos, skipped = found(folder, skip_unmatched=True)
    assert stems(photos) == ["test_a", "train_a", "train_b"]
    assert [photo.number for photo in photos] == [0, 1, 2]
    assert skipped == ("away.png", "lost.png")
    with pytest.raises(ValueError, match=r"No image of .*images has a mask of the same name in"):
        found(folder, "lost", skip_unmatched=True)


def test_masks_without_image_do_not_matter(folder):
    (folder / "images" / "test_a.png").unlink()
    assert stems(found(folder)[0]) == ["train_a", "train_b"]


@pytest.mark.parametrize("kind", ["images", "masks"])
def test_two_files_of_one_name(folder, kind):
    shutil.copy(folder / kind / "test_a.png", folder / kind / "test_a.bmp")
    words = r"test_a\.bmp and .*test_a\.png have one name but for the ending"
    with pytest.raises(ValueError, match=words):
        found(folder)
    assert len(found(folder, "train_*")[0]) == 2


def test_folders_that_are_none(folder):
    images, masks = folder / "images", folder / "masks"
    with pytest.raises(FileNotFoundError, match=r"nowhere does not exist; check the name"):
        find_photos(folder / "nowhere", masks, "*", skip_unmatched=False)
    with pytest.raises(FileNotFoundError, match=r"nowhere does not exist; check the name"):
        find_photos(images, folder / "nowhere", "*", skip_unmatched=True)
    with pytest.raises(NotADirectoryError, match=r"test_a\.png is a file; give the folder that"):
        find_photos(images / "test_a.png", masks, "*", skip_unmatched=False)
    (folder / "empty").mkdir()
    with pytest.raises(ValueError, match=r"empty holds no files; check the name of the folder"):
        find_photos(folder / "empty", masks, "*", skip_unmatched=False)
    with pytest.raises(ValueError, match=r"holds no image with a name like valid_\*; check folder"):
        find_photos(images, masks, "valid_*", skip_unmatched=False)
    with pytest.raises(ValueError, match=r"^Images and masks both lie in .*images; put them into"):
        find_photos(images, images / ".." / "images", "*", skip_unmatched=False)
