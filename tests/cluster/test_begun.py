"""A fit on workers goes on where it was when its client was killed, within a pass."""

import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from sklearn.base import clone

from elmband import scan
from elmband.engines import checkpoint
from elmband.engines.cluster import begun, files
from elmband.engines.cluster.graph import OnDask
from elmband.engines.progress import Bar

PARTITIONS, PASSES = 10, 4

# The same as the fixtures `published` and `small`, and an end after so many visits to the disk.
KILLED = """
import os, signal, sys
from distributed import Client
from elmband import ELMIntervalRegressor, scan
from elmband.engines import checkpoint
from elmband.engines.cluster import begun, files
from elmband.estimators import _scans

_scans._KEPT_ROWS, files._PARTITION_BYTES = 0, 200 * 4 * 8
begun._FIRST, begun._PATIENCE, checkpoint._PATIENCE = 2, 0, -1
save, left = checkpoint.Pass.save, int(sys.argv[4])

def last(self, sums):
    global left
    save(self, sums)
    left -= 1
    if not left:
        os.kill(os.getpid(), signal.SIGKILL)

checkpoint.Pass.save = last
model = ELMIntervalRegressor(
    30, noise="squared", calibration="gaussian", alpha=0.01, random_state=0, verbose=False
)
rows = scan(sys.argv[2], target=-1, chunk_size=100)
model.fit(rows, client=Client(sys.argv[1]), checkpoint=sys.argv[3])
"""


@pytest.fixture
def small(monkeypatch):
    """Let partitions have 200 rows, of which two are added up at a time."""
    monkeypatch.setattr(files, "_PARTITION_BYTES", 200 * 4 * 8)
    monkeypatch.setattr(begun, "_FIRST", 2)
    monkeypatch.setattr(begun, "_PATIENCE", 0)
    monkeypatch.setattr(checkpoint, "_PATIENCE", -1)


@pytest.fixture
def path(tmp_path, rows):
    np.save(tmp_path / "rows.npy", np.column_stack(rows))
    return tmp_path / "rows.npy"


@pytest.mark.usefixtures("never_fetched", "small")
def test_a_client_that_was_killed_leaves_what_its_workers_have_added_up(
    client, tmp_path, path, rows, published, assert_same, monkeypatch
):
    kept = tmp_path / "kept"
    # Four rounds and the whole of the first pass, then two rounds of the second.
    command = [sys.executable, "-c", KILLED, client.scheduler.address, path, kept, "7"]
    assert subprocess.run(command, check=False, timeout=120).returncode == -9
    asked = []
    run = OnDask.__call__
    monkeypatch.setattr(
        OnDask, "__call__", lambda self, *given: asked.append(len(given[1])) or run(self, *given)
    )
    lazy = scan(path, target=-1, chunk_size=100)
    found = clone(published).fit(lazy, client=client, checkpoint=kept)
    # Rows are counted again; six partitions were left of the second pass, and two passes more.
    assert asked == [PARTITIONS] + [2] * 3 + [2] * 5 * (PASSES - 2)
    assert not kept.exists()
    assert_same(found, clone(published).fit(*rows), rows[0])


class Ended(ThreadPoolExecutor):
    """Workers that are interrupted at the task of this number."""

    def __init__(self, number):
        super().__init__(1)
        self.left = number

    def submit(self, *given):
        self.left -= 1
        if not self.left:
            raise KeyboardInterrupt
        return super().submit(*given)


@pytest.mark.usefixtures("never_fetched", "small")
def test_what_was_begun_with_others_is_refused(tmp_path, path, published):
    kept = tmp_path / "kept"
    rows = scan(path, target=-1, chunk_size=100)
    with Ended(6) as executor, pytest.raises(KeyboardInterrupt):
        clone(published).fit(rows, client=executor, checkpoint=kept)
    # Chunks of one machine are no partitions, and other chunks are other partitions.
    with pytest.raises(ValueError, match="belongs to another fit"):
        clone(published).fit(rows, checkpoint=kept)
    others = scan(path, target=-1, chunk_size=90)
    with Ended(-1) as executor, pytest.raises(ValueError, match="belongs to another fit"):
        clone(published).fit(others, client=executor, checkpoint=kept)


@pytest.mark.usefixtures("never_fetched", "small")
def test_a_bar_begins_at_the_rows_that_are_kept(tmp_path, path, published, monkeypatch):
    kept = tmp_path / "kept"
    rows = scan(path, target=-1, chunk_size=100)
    with Ended(6) as executor, pytest.raises(KeyboardInterrupt):
        clone(published).fit(rows, client=executor, checkpoint=kept)
    seen, begin = [], Bar.begin
    monkeypatch.setattr(
        Bar, "begin", lambda self, *given: seen.append(given) or begin(self, *given)
    )
    with Ended(-1) as executor:
        clone(published).set_params(verbose=True).fit(rows, client=executor, checkpoint=kept)
    # The first four partitions, two at a time, of rows that nobody has counted yet.
    assert [given[1:] for given in seen] == [(None, 800)] + [(2000, 0)] * (PASSES - 1)


@pytest.mark.usefixtures("never_fetched")
def test_rounds_grow_until_they_take_a_while(tmp_path, monkeypatch):
    asked = []
    monkeypatch.setattr(begun, "_FIRST", 3)

    def run(partitions):
        asked.append(len(partitions))
        return begun.Counted(len(partitions), None)

    with checkpoint.Checkpoint(tmp_path / "kept", "mark", 0) as folder:
        found = begun.summed_in_rounds(run, range(1000), folder.next_pass())
    assert found.n_rows == 1000
    assert asked == [3, 24, 192, 781]
