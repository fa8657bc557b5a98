"""scikit-learn's ridge regression on hidden outputs that are computed first and kept."""

import numpy as np
from benchmarks.scale.cases import ALPHA
from benchmarks.scale.data import Rows
from benchmarks.scale.rivals.layer import batches, draw, hidden, rmse
from benchmarks.scale.watch import Watch
from benchmarks.scale.work import NEURONS
from sklearn.linear_model import Ridge


def train(rows: Rows, watch: Watch) -> dict[str, float]:
    """Compute H (n, 347), part of the fit and also timed as "features"; then solve.

    The solver is the normal equations, as in elmband. Without intercept, as in the other rivals:
    centring would copy H once more.
    """
    X, y = rows
    layer = draw(X.dtype)
    model = Ridge(alpha=ALPHA, solver="cholesky", fit_intercept=False, copy_X=False)
    with watch("fit"):
        with watch("features"):
            H = np.empty((len(y), NEURONS), X.dtype)
            for part in batches(len(y)):
                H[part] = hidden(X[part], *layer)
        model.fit(H, y)
    del H
    predicted = np.empty_like(y)
    with watch("predict"):
        for part in batches(len(y)):
            predicted[part] = model.predict(hidden(X[part], *layer))
    return {"rmse": rmse(y, predicted)}
