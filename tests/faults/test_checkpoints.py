"""Fits that go on from a changed checkpoint end in the same model, or say that it was changed."""

import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
sys.path.append(str(ROOT))

pytest.importorskip("resource", reason="limits of processes as on POSIX")
from benchmarks.faults import checkpoints  # noqa: E402


@pytest.mark.slow
def test_many_changed_checkpoints(tmp_path):
    counts = checkpoints.run(108, 1, tmp_path)
    assert counts.is_clean, (tmp_path / "checkpoints-1.jsonl").read_text()
    assert counts.injected == 108
    # Changes are of both kinds: those that are found, and those that do not matter.
    assert min(counts.right, counts.refused) > 10
