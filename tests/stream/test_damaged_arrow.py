"""Arrow files whose offsets, codes or text are not what they should be."""

import subprocess
import sys

import numpy as np
import pytest

from elmband import scan
from elmband.sources.encode import TableEncoder

pa = pytest.importorskip("pyarrow")
parquet = pytest.importorskip("pyarrow.parquet")

ROWS = 500
WORDS = pa.array([f"word{k % 7}" for k in range(ROWS)])
X = pa.array(np.arange(ROWS, dtype=float))


CODES = pa.array(np.arange(ROWS, dtype=np.int32) % 7)
LEVELS = pa.DictionaryArray.from_arrays(CODES, pa.array([f"word{k}" for k in range(7)]))


def changed(buffer, place, value):
    """Return the bytes of whole numbers, and the same with other values from a place on."""
    old = np.frombuffer(buffer, dtype=np.int32)
    new = old.copy()
    new[place] = value
    return WORDS, old.tobytes(), new.tobytes()


def last_too_large():
    return changed(WORDS.buffers()[1].slice(0, 4 * ROWS + 4), -1, 200_000)


def backwards():
    return changed(WORDS.buffers()[1].slice(0, 4 * ROWS + 4), ROWS // 2, -5)


def far_away():
    return changed(WORDS.buffers()[1].slice(0, 4 * ROWS + 4), slice(3, 9), 2**31 - 10)


def no_utf8():
    return WORDS, b"word3", b"w\xffrd3"


def codes_without_levels():
    _, old, new = changed(CODES.buffers()[1].slice(0, 4 * ROWS), 20, 5_000_000)
    return LEVELS, old, new


BROKEN = [last_too_large, backwards, far_away, no_utf8, codes_without_levels]


def write(path, text, old, new):
    """Write text and numbers, and then other bytes in the place of some."""
    batch = pa.record_batch([text, X, X], ["town", "x", "y"])
    make = pa.ipc.new_stream if path.suffix == ".feather" else pa.ipc.new_file
    with make(str(path), batch.schema) as file:
        file.write_batch(batch)
    content = path.read_bytes()
    assert old in content
    path.write_bytes(content.replace(old, new))
    return path


@pytest.mark.slow
@pytest.mark.parametrize("ending", ["arrow", "feather"])
@pytest.mark.parametrize("make", BROKEN)
def test_a_batch_is_looked_at_before_it_is_used(tmp_path, make, ending):
    """In a process of its own, which would otherwise crash."""
    path = write(tmp_path / f"rows.{ending}", *make())
    code = (
        "import sys; from elmband import scan; from elmband.sources.encode import TableEncoder\n"
        "try: list(scan(sys.argv[1], target='y', encoder=TableEncoder()).chunks())\n"
        "except ValueError as error: print(error)"
    )
    done = subprocess.run([sys.executable, "-c", code, path], capture_output=True, check=False)
    assert done.returncode == 0, done.stderr.decode()
    said = done.stdout.decode()
    assert said.startswith(f"{path} cannot be read as Arrow, it may be damaged or incomplete: ")
    assert said.count("\n") == 1
    what = "text that is not in UTF-8" if make is no_utf8 else "places that lie outside of it"
    assert said.endswith(f": column 'town' holds {what}.\n")


def test_numbers_beside_it_are_read(tmp_path):
    path = write(tmp_path / "rows.arrow", *no_utf8())
    rows = scan(path, target="y", features=["x"])
    assert np.concatenate([chunk.X for chunk in rows.chunks()]).ravel().tolist() == X.to_pylist()


def test_bad_text_in_parquet(tmp_path):
    path, (text, old, new) = tmp_path / "rows.parquet", no_utf8()
    parquet.write_table(pa.table([text, X, X], ["town", "x", "y"]), path, compression="none")
    path.write_bytes(path.read_bytes().replace(old, new))
    with pytest.raises(
        ValueError, match=r"cannot be read as Parquet, .* text that is not in UTF-8"
    ):
        list(scan(path, target="y", encoder=TableEncoder()).chunks())
