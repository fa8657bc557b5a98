"""The ceiling: how fast this machine multiplies matrices, with all threads of BLAS."""

import numpy as np
from benchmarks.scale.cases import CEILING_SIZE
from benchmarks.scale.watch import Watch


def matmul(dtype: str, watch: Watch) -> dict[str, float]:
    """Multiply two square matrices; a fit can hardly run at a higher rate."""
    rng = np.random.default_rng(0)
    A, B = (rng.standard_normal((CEILING_SIZE, CEILING_SIZE)).astype(dtype) for _ in range(2))
    C = np.empty_like(A)
    with watch("fit"):
        np.matmul(A, B, out=C)
    return {}
