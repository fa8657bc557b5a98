"""Changed model files are refused with a sentence or answer, whatever was changed in them."""

import json
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
# Lists of findings come from the same harness as the long run.
sys.path.append(str(ROOT))

pytest.importorskip("resource", reason="limits of processes as on POSIX")
from benchmarks.faults import model_files, mutations  # noqa: E402
from benchmarks.faults.counts import Counts  # noqa: E402

from models import zoo  # noqa: E402

NAMES = ("layer", "default", "published, two outputs", "text", "promise by class")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Return a folder with a few models in place of all."""
    place = tmp_path_factory.mktemp("changed")
    model_files.make_originals(place / "originals", NAMES)
    return place


@pytest.mark.slow
def test_hundreds_of_changed_files(folder):
    counts = model_files.run(300, 0, folder)
    assert counts.is_clean, (folder / "model-files-0.jsonl").read_text()
    assert counts.injected == 300
    # Changes are of both kinds: those that are found, and those that do not matter.
    assert min(counts.right, counts.refused) > 30


@pytest.mark.slow
def test_a_run_goes_on_where_it_was(folder, monkeypatch):
    """What was counted before is neither done nor counted again."""
    before = model_files.run(20, 1, folder)
    asked = []
    monkeypatch.setattr(
        model_files.Process, "outcome", lambda _, number: asked.append(number) or ("right", "")
    )
    assert model_files.run(30, 1, folder) == before + Counts(right=10)
    assert asked == list(range(20, 30))


@pytest.mark.slow
def test_the_harness_sees_processes_that_die_and_answers_that_are_wrong(folder, monkeypatch):
    """A harness that finds nothing might look at nothing."""
    dying = [sys.executable, "-c", "import os; input(); os.abort()"]
    process = model_files.Process(folder, 0)
    monkeypatch.setattr(process, "_command", dying)
    assert process.outcome(0)[0] == "crashed"
    busy = "import os, signal; input(); os.kill(os.getpid(), signal.SIGXCPU)"
    monkeypatch.setattr(process, "_command", [sys.executable, "-c", busy])
    assert process.outcome(0)[0] == "hung"
    process.end()


def test_changes_are_the_same_for_the_same_seed(tmp_path):
    path = zoo.fitted("layer").save(tmp_path / "layer.safetensors")
    original = mutations.Original.read(path)
    first = [mutations.mutant(original, str(seed)) for seed in range(100)]
    assert first == [mutations.mutant(original, str(seed)) for seed in range(100)]
    assert {one.kind for one in first} == set(mutations.KINDS)
    for one in first:
        assert one.content
    assert json.loads(json.dumps(original.header)) == original.header
