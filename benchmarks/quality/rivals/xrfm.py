"""xRFM (>= 0.4): kernel machines that learn which inputs matter; point predictions only."""

from collections.abc import Sequence

from benchmarks.quality.rivals.base import Floats, Prediction
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler
from xrfm import xRFM

VALIDATION_SHARE = 0.2
"""Share of the training rows that choose among iterations, as in the guide of xRFM."""


def point(
    X_train: Floats,
    y_train: Floats,
    X_test: Floats,
    levels: Sequence[float],  # noqa: ARG001 - the shared signature
    seed: int,
) -> Prediction:
    """Run ``xRFM()`` as it comes, on the CPU, with inputs standardised as its guide advises.

    Its kernel ridge has no intercept, so the target is standardised too.
    """
    X, X_val, y, y_val = train_test_split(
        X_train, y_train, test_size=VALIDATION_SHARE, random_state=seed
    )
    inputs, target = StandardScaler().fit(X), StandardScaler().fit(y[:, None])
    model = xRFM(device="cpu", random_state=seed, verbose=False)
    model.fit(
        inputs.transform(X),
        target.transform(y[:, None]),
        inputs.transform(X_val),
        target.transform(y_val[:, None]),
    )
    values = model.predict(inputs.transform(X_test)).reshape(-1, 1)
    return Prediction(mean=target.inverse_transform(values)[:, 0], interval=None)
