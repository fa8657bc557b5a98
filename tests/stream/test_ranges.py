"""A scan cut into ranges: all rows once, in order, however they are cut."""

import pickle

import numpy as np
import pandas as pd
import pytest

from elmband import TableEncoder, scan


@pytest.fixture
def frame():
    rng = np.random.default_rng(0)
    return pd.DataFrame(rng.normal(size=(500, 3)), columns=["a", "b", "y"])


def written(frame, folder, kind):
    for k, part in enumerate((frame[:220], frame[220:221], frame[221:])):
        path = folder / f"{k}.{kind}"
        if kind == "npy":
            np.save(path, part.to_numpy())
        elif kind == "csv":
            part.to_csv(path, index=False)
        else:
            part.to_parquet(path, row_group_size=64)
    return scan(folder, target=-1 if kind == "npy" else "y")


def read(ranges, size):
    chunks = [chunk for part in ranges for chunk in part.chunks(size)]
    return tuple(np.concatenate([chunk[k] for chunk in chunks]) for k in (0, 1))


@pytest.mark.one_quick
@pytest.mark.parametrize("step", [1, 64, 100, 1000])
@pytest.mark.parametrize("kind", ["npy", "csv", "parquet"])
def test_ranges_hold_every_row_once_and_in_order(frame, tmp_path, kind, step):
    rows = written(frame, tmp_path, kind)
    ranges = rows.ranges(step)
    # Each can be sent away alone.
    X, Y = read(pickle.loads(pickle.dumps(ranges)), 30)  # noqa: S301 - our own
    np.testing.assert_array_equal(np.column_stack([X, Y]), frame.to_numpy())
    assert len(ranges) == (3 if kind == "csv" else -(-220 // step) + 1 + -(-279 // step))


def test_targets_alone_are_read_without_features(frame, tmp_path):
    text = frame.assign(y=np.where(frame["y"] > 0, "up", "down"), s=np.arange(500) % 2)
    text.to_parquet(tmp_path / "rows.parquet")
    rows = scan(tmp_path / "rows.parquet", target="y", weight="s", encoder=TableEncoder())
    X, Y = read(rows.ranges(100, features=False), 64)
    assert X.shape == (250, 0)
    assert [rows.encoder.target_levels_[int(k)] for k in Y[:, 0]] == list(text["y"][1::2])


def test_a_range_names_its_file_and_rows_and_notices_changes(frame, tmp_path):
    rows = written(frame, tmp_path, "npy")
    last = rows.ranges(200)[-1]
    assert last.label == f"{tmp_path / '2.npy'}, rows 200 to 278"
    np.save(tmp_path / "2.npy", frame.to_numpy())
    with pytest.raises(ValueError, match=r"2\.npy changed while it was being read"):
        list(last.chunks(10))


def test_what_others_cannot_read_is_refused(frame):
    for source in (frame, lambda: [frame]):
        with pytest.raises(ValueError, match="is not made of files; workers need files"):
            scan(source, target="y").ranges(10)


def test_a_folder_may_be_named_like_its_files(frame, tmp_path):
    folder = tmp_path / "rows.parquet"
    folder.mkdir()
    assert written(frame, folder, "parquet").n_rows == 500
