"""A classifier that knows how sure it may be."""

import numpy as np


class Threshold:
    """Says 1 where the first column is positive, surer the further it is from zero."""

    def predict(self, X):
        return (np.asarray(X)[:, 0] > 0).astype(int)

    def confidence(self, X):
        return np.abs(np.asarray(X)[:, 0])


def noisy_rows(n_samples, seed=0):
    """Inputs (n, 1) and labels of which those near zero are often wrong."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_samples, 1))
    return X, (X[:, 0] + rng.normal(size=n_samples) / 2 > 0).astype(int)


def legend(display):
    return [text.get_text() for text in display.ax_.get_legend().get_texts()]
