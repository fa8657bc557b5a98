"""Groups of partitions are as equal as can be, and nobody packs them to tell them apart."""

import numpy as np
import pytest

from elmband.engines.cluster.graph import pass_graph
from elmband.engines.cluster.work import Work, evenly

tokenize = pytest.importorskip("dask.base").tokenize


@pytest.mark.parametrize("n", [0, 1, 31, 32, 33, 98, 1000])
def test_groups_differ_by_one_at_most(n):
    groups = evenly(range(n), 32)
    lengths = [len(group) for group in groups]
    assert len(groups) == max(min(n, 32), 1)
    assert max(lengths) - min(lengths) <= 1
    assert [item for group in groups for item in group] == list(range(n))


class Heavy:
    """What nobody should pack but to send it."""

    label = "rows"

    def __reduce__(self):
        raise AssertionError("it was packed")


def test_a_pass_has_a_name_without_being_packed():
    work = Work(Heavy(), Heavy(), None, np.float64, 4096)
    one, other = (tokenize(pass_graph(work, [Heavy()] * 3, "sums", 2)[0]) for _ in range(2))
    assert one != other
