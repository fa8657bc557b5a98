"""A process with one method, or one study, and one set.

``python -m benchmarks.abstain.worker OUT SET METHOD 0,1`` appends a record for each split to the
store of OUT as soon as it is finished. A process of its own keeps the libraries from disturbing
each other, and a crash takes nothing else down.
"""

import os
import sys
import time
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

from benchmarks.abstain.answers import AnswerFiles, Judged
from benchmarks.abstain.data import RULES, SETS, Splitter, thinned
from benchmarks.abstain.rivals import METHODS
from benchmarks.abstain.scores import score
from benchmarks.abstain.studies import ensembles, newest, paired, promises, times
from benchmarks.quality.store import Record, Store
from benchmarks.quality.worker import sentence
from benchmarks.scale.watch import Watch

WARM_UP_ROWS = 400


def main(out: Path, set_name: str, name: str, splits: list[int]) -> None:
    """Do the splits one after the other."""
    store = Store(out)
    todo: Callable[[int], Record] | None = None
    for k in splits:
        record: Record = {"split": k, "when": time.time()}
        try:
            todo = todo or (_method if name in METHODS else _study)(store, set_name, name)
            record |= todo(k)
        except Exception as error:  # noqa: BLE001 - any failure of a rival is a result
            traceback.print_exc()
            record |= {"error": sentence(error), "kind": "failed"}
        store.append(set_name, name, record)


def _method(store: Store, set_name: str, name: str) -> Callable[[int], Record]:
    """Return the function from the number of a split to its record."""
    one, method = SETS[set_name], METHODS[name]
    answer, split_of = method.load(), one.load(store.out / "data")
    files = AnswerFiles(store.out)
    # Imports and threads that start late are nobody's time.
    answer(thinned(split_of(0), WARM_UP_ROWS), 0, Watch())

    def todo(k: int) -> Record:
        split, watch = split_of(k), Watch()
        answers = answer(split, k, watch)
        judged = Judged(split.test.y, *answers, split.test.groups)
        files.write(set_name, name, k, judged)
        return {
            "version": method.version(),
            "load_average": os.getloadavg()[0],
            "n_train": len(split.train.y),
            "seconds": watch.seconds,
            "cpu_seconds": watch.cpu_seconds,
            "scores": score(judged, one.positive),
        }

    return todo


def _study(store: Store, set_name: str, name: str) -> Callable[[int], Record]:
    load: Callable[[], Splitter] = lambda: SETS[set_name].load(store.out / "data")  # noqa: E731

    def todo(number: int) -> Record:
        if name == "paired":
            found = paired.study(AnswerFiles(store.out), set_name)
            return found | {"of": newest(store, set_name, RULES)}
        if name == "ensembles":
            return ensembles.study(load()(0))
        if name == "promises":
            return promises.study(load()(0), number)
        return times.study(load()(0)) | {"load_average": os.getloadavg()[0]}

    def versioned(number: int) -> dict[str, Any]:
        return {"version": METHODS["elmband"].version()} | todo(number)

    return versioned


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2], sys.argv[3], [int(k) for k in sys.argv[4].split(",")])
