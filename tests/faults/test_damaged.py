"""Tables of every format with flipped bytes and lost pieces are read or refused, never worse."""

import numpy as np
import pytest
from benchmarks.faults.damaged import _valid, damaged, hurt, sources

TIMES = 40


@pytest.mark.slow
@pytest.mark.parametrize("case", sources(), ids=lambda case: case.name)
def test_a_damaged_table_is_read_or_refused_in_a_sentence(trials, case):
    rngs = [np.random.default_rng([18, k]) for k in range(TIMES)]
    found = damaged(trials, case, rngs)
    assert {k: f for k, f in enumerate(found) if f.outcome not in {"right", "refused"}} == {}
    if not case.name.endswith("csv"):  # in text nearly every byte may be another one
        assert any(f.outcome == "refused" for f in found)


def test_damage_changes_a_file(tmp_path):
    path = tmp_path / "bytes"
    changed = 0
    for seed in range(50):
        path.write_bytes(bytes(2000))
        hurt(path, np.random.default_rng(seed))
        changed += path.read_bytes() != bytes(2000)
    assert changed > 45


@pytest.mark.parametrize(
    ("answer", "outcome"),
    [
        (b"town,mean\nRome,1\n", "right"),
        (b"town,mean\nR,2\nOslo,1\n", "right"),
        (b"town,mean\n" + b"x" * 600 + b",1\n", "wrong"),
        (b"town,mean\nRome,nan\n", "wrong"),
        (b"town,mean\n\xff,1\n", "wrong"),
        (b"town,mean\nRome\n", "wrong"),
        (b"town,mean\n" + b"Rome,1\n" * 5000, "wrong"),
    ],
)
def test_answers_with_garbage_are_told_from_others(answer, outcome):
    assert _valid(answer, b"town,mean\n" + b"Rome,1\n" * 300).outcome == outcome
