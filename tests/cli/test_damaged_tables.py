"""Tables of which some bytes are others get one sentence, or are read; nothing crashes."""

import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
from running import ENVIRONMENT

pytestmark = pytest.mark.slow

# Reads many tables one after the other: most of a command is the import of its libraries.
READER = """
import sys
from elmband.cli import app
from elmband.cli._status import ending
for path in sys.argv[3:]:
    print("begin", path, file=sys.stderr, flush=True)
    try:
        with ending():
            app(["predict", sys.argv[1], path, "--keep-all", "-o", path + sys.argv[2]])
    except SystemExit as end:
        print("end", end.code, file=sys.stderr, flush=True)
"""
PER_FORMAT = 40


def hurt(content, rng):
    """Return a file with other bytes, most of them where formats say what lies where."""
    found = bytearray(content)
    for _ in range(int(rng.integers(1, 5))):
        far = min(len(found), 600) if rng.random() < 0.5 else len(found)
        place = int(rng.integers(far)) - (far if rng.random() < 0.5 else 0)
        found[place] = int(rng.integers(256))
    return bytes(found[: rng.integers(1, len(found))] if rng.random() < 0.1 else found)


@pytest.mark.parametrize("ending", ["parquet", "arrow", "feather", "csv"])
def test_each_is_read_or_told_of_in_one_sentence(folder, tmp_path, ending):
    table = pd.read_parquet(folder / "patients.parquet").head(100)
    path = tmp_path / f"rows.{ending}"
    if ending == "csv":
        table.to_csv(path, index=False)
    elif ending == "parquet":
        table.to_parquet(path, compression=None)
    else:
        table.to_feather(path, compression="uncompressed" if ending == "arrow" else "lz4")
    content, rng, paths = path.read_bytes(), np.random.default_rng(0), []
    for k in range(PER_FORMAT):
        paths.append(tmp_path / f"{k}.{ending}")
        paths[-1].write_bytes(hurt(content, rng))
    command = [sys.executable, "-c", READER, folder / "patients.safetensors", ".out.csv", *paths]
    done = subprocess.run([*map(str, command)], capture_output=True, check=False, env=ENVIRONMENT)
    told = done.stderr.decode()
    assert done.returncode == 0, told[-2000:]
    parts = told.split("begin ")[1:]
    assert len(parts) == PER_FORMAT
    for path, part in zip(paths, parts, strict=True):
        lines = [line for line in part.splitlines()[1:] if not line.startswith("Note: ")]
        out = path.with_name(path.name + ".out.csv")
        if lines == ["end 0"]:
            assert out.stat().st_size < 20 * len(content)
        else:
            assert len(lines) == 2, part
            assert lines[0].startswith("Error: ")
            # A value that became infinite is told of by its rows.
            assert str(path) in lines[0] or lines[0].startswith("Error: X, rows ")
            assert lines[1] == "end 1"
            assert not out.exists()
