"""Two commands at once that write the same file leave that of one of them, whole."""

import pytest
from benchmarks.faults.cases import named
from benchmarks.faults.processes import Ended
from benchmarks.faults.together import CASES, _judged, side_by_side

DONE = Ended(0, "", "", 1.0)
REFUSED = Ended(1, "", "Error: out.csv is in use.\n", 1.0)


@pytest.mark.slow
@pytest.mark.parametrize("pair", CASES[:2], ids=lambda pair: pair[0].rpartition(" ")[2])
def test_the_file_is_that_of_one_of_them(trials, pair):
    judged = side_by_side(trials, named(*pair), 0.05)
    assert judged.outcome == "right", judged.why


@pytest.mark.parametrize(
    ("outcome", "ended", "found", "left"),
    [
        ("right", [DONE, DONE], b"two", set()),
        ("right", [DONE, REFUSED], b"one", set()),
        ("lost", [DONE, REFUSED], b"two", set()),
        ("lost", [DONE, DONE], b"onetwo", set()),
        ("wrong", [DONE, DONE], b"one", {".out.csv.12345678.partial"}),
        ("wrong", [DONE, Ended(1, "", "Error: [Errno 2]\n", 1.0)], b"one", set()),
        ("crashed", [DONE, Ended(-11, "", "", 1.0)], b"one", set()),
        ("hung", [DONE, Ended(None, "", "", 1.0)], b"one", set()),
    ],
)
def test_defects_are_told(outcome, ended, found, left):
    assert _judged(ended, found, [b"one", b"two"], left).outcome == outcome
