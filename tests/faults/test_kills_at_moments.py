"""Commands ended by a signal at moments spread over all of their time."""

import pytest
from benchmarks.faults.cases import named
from benchmarks.faults.kills import SIGNALS

pytestmark = pytest.mark.slow

NAMES = ("predict text.parquet to parquet", "triage text.csv", "fit checkpoint")
TIMES = 6


@pytest.mark.parametrize("case", named(*NAMES), ids=lambda case: case.name.replace(" ", "-"))
def test_an_ended_command_leaves_old_or_new_files_and_can_be_run_again(trials, case):
    seconds = trials.right(case)[1].seconds
    for k in range(TIMES):
        sent = SIGNALS[k % len(SIGNALS)]
        trials.prepare(case)
        ended = trials.run(case, kill=(seconds * (k + 0.5) / TIMES, sent))
        judged = trials.judge(
            case,
            ended,
            killed=True,
            by_kill=sent == SIGNALS[0],
            again=bool(case.checkpoint) or k == 0,
        )
        assert judged.outcome == "right", f"{sent} after {k}/{TIMES}: {judged.why}"
