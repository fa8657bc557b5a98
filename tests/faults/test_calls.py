"""The n-th write, rename, sync or open fails, for every n, or the process is ended before it."""

import signal

import pytest
from benchmarks.faults.calls import fail_at
from benchmarks.faults.cases import named
from benchmarks.faults.kills import SIGNALS, at_call

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("needs_shim")]

PREDICT, PREDICT_H5, TRIAGE, FIT, KEPT = named(
    "predict text.csv to csv",
    "predict plain.npy to h5",
    "triage text.arrow",
    "fit plain.npy",
    "fit checkpoint",
)


def every_call(trials, case, most=20):
    """Number all calls of a command; of very many, some and the last, which give names."""
    calls = trials.calls(case)
    assert calls >= 6, "the calls of this command are not seen"
    step = -(-calls // most)
    return sorted({*range(1, calls + 1, step), *range(max(1, calls - 5), calls + 1)})


@pytest.mark.parametrize(
    "case", [PREDICT, PREDICT_H5, TRIAGE, FIT], ids=lambda case: case.name.replace(" ", "-")
)
def test_a_call_that_fails_is_told_in_a_sentence_and_loses_nothing(trials, case):
    # Another run after every sixth tells whether anything stands in its way.
    found = {
        call: fail_at(trials, case, call, call % 2, again=call % 6 == 0)
        for call in every_call(trials, case)
    }
    assert {call: f for call, f in found.items() if f.outcome not in {"refused", "right"}} == {}
    # A file without a name that cannot be made is made with one, and a folder that cannot be synced
    # is left to the system; all others must be noticed, or they would be right by luck.
    tolerated = 4
    assert sum(f.outcome == "refused" for f in found.values()) >= len(found) - tolerated


@pytest.mark.parametrize(
    ("case", "most"), [(TRIAGE, 14), (KEPT, 6)], ids=["triage", "fit-checkpoint"]
)
def test_a_command_ended_at_any_call_leaves_old_or_new_files(trials, case, most):
    for k, call in enumerate(every_call(trials, case, most)):
        judged = at_call(
            trials, case, call, SIGNALS[k % 3], again=k % (2 if case == KEPT else 4) == 0
        )
        assert judged.outcome == "right", f"{SIGNALS[k % 3]} at call {call}: {judged.why}"


@pytest.mark.parametrize("sent", [signal.SIGTERM, signal.SIGINT])
def test_two_files_are_one_result_whenever_a_signal_comes(trials, sent):
    calls = trials.calls(TRIAGE)
    for call in range(calls - 5, calls + 1):
        judged = at_call(trials, TRIAGE, call, sent, again=False)
        assert judged.outcome == "right", f"call {call} of {calls}: {judged.why}"
