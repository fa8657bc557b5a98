"""The judge of faults tells every kind of defect: without this, a table of zeros says nothing."""

import dataclasses

import pytest
from benchmarks.faults.cases import Case, cases
from benchmarks.faults.counts import OUTCOMES, Counts
from benchmarks.faults.injection import Injection, Plan
from benchmarks.faults.processes import Ended
from benchmarks.faults.report import markdown, totals
from benchmarks.faults.trial import OLD, Judged, Trials
from benchmarks.quality.store import Store

CASE = Case("copy", (), ("input",), ("one", "two"))
NEW = {"one": b"new 1", "two": b"new 2"}
SENTENCE = "Error: out could not be written: No space left on device.\n"


class Pretended(Trials):
    """Trials whose commands do as they are told."""

    def right(self, _):
        return NEW, Ended(0, "", "", 1.0)

    def run(self, _, **__):
        for name, content in self.next.items():
            (self.folder / name).write_bytes(content)
        return Ended(0, "", "", 1.0)


@pytest.fixture
def pretended(tmp_path):
    (tmp_path / "material").mkdir()
    (tmp_path / "material" / "input").write_text("rows")
    trials = Pretended(None, tmp_path / "material", tmp_path / "run")
    trials.next = NEW
    trials.prepare(CASE)
    return trials


def judged(trials, status=1, complained=SENTENCE, *, files=None, **how):
    for name, content in (files or {}).items():
        (trials.folder / name).write_bytes(content)
    ended = Ended(status, "", complained, 1.0)
    return trials.judge(CASE, ended, **({"killed": False} | how)).outcome


@pytest.mark.parametrize(
    ("outcome", "how"),
    [
        ("refused", {}),
        ("right", {"status": 0, "complained": "", "files": NEW}),
        ("right", {"status": -15, "complained": "", "killed": True}),
        ("right", {"status": -9, "complained": "", "killed": True, "by_kill": True,
                   "files": {".one.1234.partial": b"half"}}),
        ("right", {"status": -9, "complained": "", "killed": True, "by_kill": True,
                   "files": {"one": b"new 1", ".two.1234.partial": b"new 2"}}),
        ("wrong", {"status": 0, "complained": ""}),
        ("wrong", {"files": NEW}),
        ("wrong", {"files": {"one": b"new 1"}}),
        ("wrong", {"status": -9, "killed": True, "by_kill": True, "files": {"one": b"new 1"}}),
        ("wrong", {"files": {".one.1234.partial": b"half"}}),
        ("wrong", {"status": 143, "killed": True, "files": {".one.1234.partial": b"half"}}),
        ("wrong", {"complained": "Error: [Errno 28] No space\n"}),
        ("wrong", {"complained": "What?\nError: There is no room.\n"}),
        ("lost", {"files": {"one": b"new"}}),
        ("lost", {"files": {"input": b"row"}}),
        ("lost", {"status": -9, "killed": True, "by_kill": True, "files": {"one": b""}}),
        ("hung", {"status": None}),
        ("crashed", {"status": -11, "complained": ""}),
        ("crashed", {"complained": "Traceback (most recent call last):\n"}),
    ],
)  # fmt: skip
def test_every_outcome_is_told(pretended, outcome, how):
    assert judged(pretended, **how) == outcome


def test_a_lost_output_is_lost(pretended):
    (pretended.folder / "one").unlink()
    assert judged(pretended) == "lost"


def test_the_next_run_must_be_right(pretended):
    pretended.next = {"one": OLD}
    assert judged(pretended) == "wrong"


def test_results_are_kept_and_make_one_table(tmp_path):
    store = Store(tmp_path)
    for number, outcome in enumerate(OUTCOMES):
        injection = Injection("kill at a call", "predict a.csv to b", number, Judged)
        store.append(*injection.place, {"split": number, "outcome": outcome, "why": "a reason"})
    many = dataclasses.asdict(Counts(right=10, refused=2))
    store.append("model file", "flips", {"split": 0, "counts": many})
    assert totals(store)["kill at a call"].injected == 6
    text = markdown(store)
    assert "| model file | 12 | 10 | 2 | 0 | 0 | 0 | 0 |" in text
    assert "| **all** | 18 | 11 | 3 | 1 | 1 | 1 | 1 |" in text
    assert text.count("a reason") == 4
    assert not Counts.total(totals(store).values()).is_clean


def test_of_many_calls_some_are_chosen_and_the_last_always():
    assert Plan(10).chosen(4) == [1, 2, 3, 4]
    chosen = Plan(30).chosen(500)
    assert len(set(chosen)) == 30
    assert min(chosen) >= 1
    assert chosen[-15:] == list(range(486, 501))
    assert Plan(30, seed=1).chosen(500) != chosen


def test_every_command_that_writes_and_every_format_is_there():
    commands = {case.arguments[0] for case in cases()}
    assert commands >= {
        "fit",
        "predict",
        "triage",
        "evaluate",
        "report",
        "export",
        "pixels",
        "demo",
    }
    written = {name.rpartition(".")[2] for case in cases() for name in case.outputs}
    assert written >= {"csv", "parquet", "arrow", "feather", "npy", "h5", "safetensors", "onnx"}
    read = {name.rpartition(".")[2] for case in cases() for name in case.inputs}
    assert read >= {"csv", "parquet", "arrow", "feather", "npy", "h5", "zarr"}
