"""Memory that tasks free and ask for again stays with the process meanwhile, and no longer."""

import json
import os
import platform
import subprocess
import sys

import pytest

from elmband.engines.cluster import allocator

COUNT = """
import json, resource
import numpy as np
from elmband.engines.cluster.allocator import keep_memory

def faults():
    before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    for _ in range(100):
        np.ones(250_000)
    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before

class Work:
    pass

found = [faults()]
work = Work()
keep_memory(work)
found.append(faults())
del work
found.append(faults())
print(json.dumps(found))
"""


@pytest.mark.slow
@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="the C library is another one")
def test_memory_is_not_asked_for_anew_during_a_pass():
    environment = os.environ | {"MALLOC_TRIM_THRESHOLD_": "65536"}
    done = subprocess.run(
        [sys.executable, "-c", COUNT], env=environment, capture_output=True, text=True, check=True
    )
    before, within, after = json.loads(done.stdout)
    # An array of 2 MB has 488 pages.
    assert before > 10_000
    assert within < 2_000
    assert after > 10_000


@pytest.fixture
def told(monkeypatch):
    """Note what the C library is told, instead of telling it."""
    found = []
    monkeypatch.setattr(allocator, "_glibc", object)
    monkeypatch.setattr(allocator, "_set", lambda *sizes: found.append(sizes))
    return found


class Work:
    """What all tasks of a pass share."""


def test_the_first_pass_sets_it_and_the_end_of_the_last_takes_it_back(told, monkeypatch):
    monkeypatch.setenv("MALLOC_TRIM_THRESHOLD_", "65536")
    one, other = Work(), Work()
    for work in (one, other, one):
        allocator.keep_memory(work)
    del work, one
    assert told == [(2**26, 2**25)]
    del other
    assert told == [(2**26, 2**25), (65536, 2**17)]


@pytest.mark.parametrize("setting", ["", "much"])
def test_a_library_that_nobody_has_told_anything_is_left_alone(told, monkeypatch, setting):
    monkeypatch.setenv("MALLOC_TRIM_THRESHOLD_", setting)
    allocator.keep_memory(Work())
    assert told == []
