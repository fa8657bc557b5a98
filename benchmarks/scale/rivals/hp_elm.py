"""HP-ELM 1.0.10 from PyPI, in an environment of its own: see ``hpelm.txt``.

``ELM`` works on arrays in memory, with SciPy's ``syrk`` and the threads of BLAS; ``HPELM`` of the
same package does so with HDF5 files. Options: ``precision`` as the data, ``norm`` is the L2
strength, ``batch`` as the case says (1000 is the default of HP-ELM, 10000 was about its fastest),
and ``train(X, y, "r")`` is plain regression without structure selection. It gets the same weights
as the other rivals; its sigmoid is 1 / (1 + exp(XW + b)), the mirror image of ours.
"""

import numpy as np
from benchmarks.scale.cases import ALPHA
from benchmarks.scale.data import Rows
from benchmarks.scale.rivals.layer import batches, draw, rmse
from benchmarks.scale.watch import Watch
from benchmarks.scale.work import FEATURES, SIGMOIDS
from hpelm import ELM


def train(rows: Rows, watch: Watch, batch: int) -> dict[str, float]:
    """Train one ELM, which gives a point prediction and no interval."""
    X, y = rows
    precision = "single" if X.dtype == np.float32 else "double"
    W, b = draw(X.dtype)
    with watch("fit"):
        model = ELM(FEATURES, 1, batch=batch, precision=precision, norm=ALPHA)
        model.add_neurons(FEATURES, "lin")
        model.add_neurons(SIGMOIDS, "sigm", -W, -b)
        model.train(X, y[:, np.newaxis], "r")
    predicted = np.empty_like(y)
    with watch("predict"):
        # Its predict makes the hidden outputs of all rows at once, which may not fit in memory.
        for part in batches(len(y)):
            predicted[part] = model.predict(X[part])[:, 0]
    return {"rmse": rmse(y, predicted)}
