"""Commands ended by a signal: at a random moment, and just before each of their calls on files."""

import signal
import time
from collections.abc import Iterator
from functools import partial

from benchmarks.faults.cases import Case, cases
from benchmarks.faults.injection import Injection, Plan
from benchmarks.faults.processes import Ended, await_end, start
from benchmarks.faults.shim import Fault
from benchmarks.faults.trial import Judged, Trials

SIGNALS = (signal.SIGKILL, signal.SIGTERM, signal.SIGINT)
_IMPORTING = 4.0
"""Seconds in which a command that was just started imports its libraries."""


def at_moments(trials: Trials, plan: Plan) -> Iterator[Injection]:
    """End every command at random moments."""
    for case in cases():
        for number in plan.numbers():
            run = partial(_at_moment, trials, plan, case, number)
            yield Injection("kill at a moment", case.name, number, run)


def _at_moment(trials: Trials, plan: Plan, case: Case, number: int) -> Judged:
    rng = plan.rng("moment", case.name, number)
    seconds = trials.right(case)[1].seconds
    sent = SIGNALS[number % 3]
    trials.prepare(case)
    ended = trials.run(case, kill=(float(rng.uniform(0, 1.05 * seconds)), sent))
    return trials.judge(case, ended, killed=True, by_kill=sent == signal.SIGKILL)


def at_calls(trials: Trials, plan: Plan) -> Iterator[Injection]:
    """End every command just before its n-th call on files."""
    for case in cases():
        for call in plan.chosen(trials.calls(case)):
            sent = SIGNALS[(call + plan.seed) % 3]
            run = partial(at_call, trials, case, call, sent)
            yield Injection("kill at a call", case.name, 3 * call + (call + plan.seed) % 3, run)


def at_call(trials: Trials, case: Case, call: int, sent: int, *, again: bool = True) -> Judged:
    """End a command just before its n-th call on files."""
    trials.prepare(case)
    ended = trials.run(case, fault=Fault(str(trials.folder), nth=call, signal=sent))
    silent = sent == signal.SIGKILL
    return trials.judge(case, ended, killed=True, by_kill=silent, again=again)


def at_starts(trials: Trials, plan: Plan) -> Iterator[Injection]:
    """End a command while it imports its libraries, in a process of its own."""
    case = next(case for case in cases() if case.name == "triage text.csv")
    for number in plan.numbers():
        run = partial(_at_start, trials, plan, case, number)
        yield Injection("kill at the start", case.name, number, run)


def _at_start(trials: Trials, plan: Plan, case: Case, number: int) -> Judged:
    trials.right(case)
    trials.prepare(case)
    delay = float(plan.rng("start", case.name, number).uniform(0, _IMPORTING))
    sent = SIGNALS[number % 3]
    ended = started(trials, case, delay, sent)
    return trials.judge(case, ended, killed=True, by_kill=sent == signal.SIGKILL)


def started(trials: Trials, case: Case, delay: float, sent: int) -> Ended:
    """Start a command from nothing, and send a signal after some seconds."""
    process, begun = start(case.arguments, trials.folder), time.perf_counter()
    time.sleep(delay)
    process.send_signal(sent)
    return await_end(process, begun)
