import json
import re
import subprocess
import sys

import numpy as np
import pytest
from PIL import Image

from elmband import scan
from elmband.cli import main
from elmband_experiments.pixels import write_pixels

WRITE = sys.modules["elmband_experiments.pixels.write"]


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    """A folder to work in, with four photos and their masks, one half of each white."""
    rng = np.random.default_rng(0)
    for kind in ("images", "masks"):
        (tmp_path / kind).mkdir()
    for name in ("test_1", "train_1", "train_2", "train_3"):
        image = rng.integers(0, 256, (16, 16, 3), dtype=np.uint8)
        Image.fromarray(image).save(tmp_path / "images" / f"{name}.jpg")
        Image.fromarray(np.indices((16, 16))[0] < 8).save(tmp_path / "masks" / f"{name}.png")
    monkeypatch.chdir(tmp_path)
    for name in ("FORCE_COLOR", "GITHUB_ACTIONS", "PY_COLORS", "TTY_COMPATIBLE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("COLUMNS", "80")
    return tmp_path


@pytest.fixture
def pixels(monkeypatch, capsys):
    """Run the command here: its exit status, and what it printed."""

    def run(*arguments):
        command = ["elmband", "pixels", "images", "masks", *map(str, arguments)]
        monkeypatch.setattr(sys, "argv", command)
        with pytest.raises(SystemExit) as exit_:
            main()
        printed = capsys.readouterr()
        return exit_.value.code, printed.out, printed.err

    return run


def outputs(folder):
    return sorted(path.name for path in folder.iterdir() if path.is_file())


def test_the_table_is_that_of_the_function(pixels):
    options = ("--rows", 60, "--balance", "balanced", "--pattern", "train_*", "--seed", 3)
    code, out, err = pixels("-o", "skin.npy", *options)
    assert (code, err) == (0, "")
    assert out.splitlines() == [
        "skin.npy: 60 rows from 3 photos, 30 with skin 1 and 30 with -1",
        "Columns: 147 features r_-3_-3 to b_3_3, photo, skin",
    ]
    write_pixels(
        "images",
        "masks",
        "same.npy",
        n_rows=60,
        balance="balanced",
        pattern="train_*",
        random_state=3,
    )
    np.testing.assert_array_equal(np.load("skin.npy"), np.load("same.npy"))


def test_json_tells_what_a_program_needs_to_read_the_file(pixels):
    options = ("--rows", 50, "--window", 3, "--target", "arm", "--json")
    code, out, err = pixels("-o", "arm.parquet", *options)
    assert (code, err) == (0, "")
    told = json.loads(out)
    (file,) = told["files"]
    names = ["test_1.jpg", "train_1.jpg", "train_2.jpg", "train_3.jpg"]
    assert (file["file"], file["rows"], file["n_photos"]) == ("arm.parquet", 50, 4)
    assert file["photos"] == {str(k): name for k, name in enumerate(names)}
    rows = scan(file["file"], target=told["target"], features=told["features"])
    assert (rows.n_features, rows.target_names) == (27, ("arm",))
    (chunk,) = rows
    assert file["classes"] == {"1": (chunk.Y == 1).sum(), "-1": (chunk.Y == -1).sum()}
    assert told["skipped"] == []


def test_a_split_writes_two_files(pixels, folder):
    code, out, _ = pixels("-o", "train.npy", "--split", 0.75, "--test-out", "test.npy")
    assert code == 0
    assert "train.npy: 300 rows from 3 photos, 150 with" in out
    assert "test.npy: 100 rows from 1 photo, 50 with" in out
    assert outputs(folder) == ["test.npy", "train.npy"]
    assert (len(np.load("train.npy")), len(np.load("test.npy"))) == (300, 100)


def test_skipped_images_are_named(pixels, folder):
    (folder / "masks" / "train_2.png").unlink()
    code, out, err = pixels("-o", "skin.npy")
    assert (code, out) == (1, "")
    assert re.fullmatch(
        r"Error: images.train_2\.jpg has no mask train_2\.\* in masks; add what is missing, or "
        r"leave such images out with skip_unmatched=True \(--skip-unmatched\)\.\n",
        err,
    )
    code, out, err = pixels("-o", "skin.npy", "--skip-unmatched")
    assert (code, err) == (0, "")
    assert "300 rows from 3 photos" in out
    assert out.endswith("Left out, without a mask: 1 image: train_2.jpg\n")
    assert json.loads(pixels("-o", "a.npy", "--skip-unmatched", "--json")[1])["skipped"] == [
        "train_2.jpg"
    ]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["-o", "skin.xls"], r"skin\.xls ends in none of the known extensions: \.arrow, "),
        (["-o", "nowhere/skin.npy"], r"The output folder nowhere does not exist; make it first"),
        (["-o", "a.npy", "--rows", "999"], r"999 rows were asked for, the 4 photos have 400"),
        (
            ["-o", "a.npy", "--window", "6"],
            r"The window must be odd and at least 1, as 7 is; got",
        ),
        (["-o", "a.npy", "--window", "17"], r"images.test_1\.jpg is 16 by 16 pixels, smaller than"),
        (["-o", "a.npy", "--pattern", "x*"], r"images holds no image with a name like x\*; check"),
        (["-o", "a.npy", "--split", "0.5"], r"A split by photo needs both the share of photos and"),
        (
            ["-o", "a.npy", "--split", "7", "--test-out", "b.npy"],
            r"split is 7\.0, expected a",
        ),
        (
            ["-o", "a.npy", "--target", "photo"],
            r"The target column is to be called 'photo'",
        ),
    ],
)
def test_mistakes_are_one_sentence_and_exit_1(pixels, folder, arguments, words):
    code, out, err = pixels(*arguments)
    assert (code, out) == (1, "")
    assert re.match(f"Error: {words}", err)
    assert err.count("\n") == 1
    assert outputs(folder) == []


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ([], "--output"),
        (["-o", "a.npy", "--rows", "0"], "--rows"),
        (["-o", "a.npy", "--balance", "equal"], "--balance"),
        (["-o", "a.npy", "--seed", "-1"], "--seed"),
        (["-o", "a.npy", "--split", "half"], "--split"),
    ],
)
def test_wrong_usage_is_exit_2(pixels, folder, arguments, words):
    code, out, err = pixels(*arguments)
    assert (code, out) == (2, "")
    assert words in err
    assert "Traceback" not in err
    assert outputs(folder) == []


def test_damaged_vast_and_missing_things_have_no_traceback(pixels, folder, monkeypatch):
    (folder / "skin.npy").write_bytes(b"old")
    path = folder / "images" / "train_3.jpg"
    content = path.read_bytes()
    path.write_bytes(content[:300])
    code, _, err = pixels("-o", "skin.npy")
    assert code == 1
    assert re.match(
        r"Error: images.train_3\.jpg cannot be read as an image, it may be damaged", err
    )
    path.write_bytes(content)
    with monkeypatch.context() as patch:
        patch.setattr(Image, "MAX_IMAGE_PIXELS", 200)
        code, _, err = pixels("-o", "skin.npy")
    assert code == 1
    assert re.match(r"Error: images.test_1\.jpg has more than the 200 pixels that Pillow", err)
    with monkeypatch.context() as patch:
        patch.setitem(sys.modules, "PIL", None)
        code, _, err = pixels("-o", "skin.npy")
    assert err == ("Error: Reading images needs Pillow, which is missing: pip install pillow\n")
    assert (folder / "skin.npy").read_bytes() == b"old"
    assert outputs(folder) == ["skin.npy"]
    assert pixels("-o", "skin.npy")[0] == 0
    assert len(np.load("skin.npy")) == 400


def test_ctrl_c_leaves_nothing(pixels, folder, monkeypatch):
    def interrupt(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(WRITE, "blocks", interrupt)
    code, out, err = pixels("-o", "skin.npy")
    assert (code, out, err) == (130, "", "")
    assert outputs(folder) == []


@pytest.mark.slow
def test_help_names_every_option_and_gives_an_example(folder):
    result = subprocess.run(
        [sys.executable, "-m", "elmband", "pixels", "--help"],
        cwd=folder,
        capture_output=True,
        encoding="utf-8",
        check=True,
    )
    words = " ".join(re.sub(r"[│╭╮╰╯─]", " ", result.stdout).split())
    for option in (
        *("--output", "-o", "--rows", "--balance", "--pattern", "--split", "--test-out"),
        *("--window", "--target", "--skip-unmatched", "--seed", "--json"),
    ):
        assert option in words
    assert "Example: elmband pixels images masks -o train.parquet --rows 2000000" in words
    assert result.stderr == ""
