"""What `predict_variance` returns."""

from typing import NamedTuple

from elmband.ground.arrays import Array


class VarianceParts(NamedTuple):
    """Variance of every prediction in named parts, all in squared units of y.

    These are before calibration: `predict(X, return_std=True)` and intervals also have the
    multiplier that rows left out or held out call for. With a `target_transform` all are in
    squared units of the transformed targets, on which the model is additive; with "log", the
    square root of a small one is a relative error.

    Attributes
    ----------
    noise : array
        Predicted variance of the noise; negative values of the published model become zero.
    mean_model : array
        Variance of the predicted mean, σ_y²: large where rows were few.
    noise_model : array
        What the uncertainty of the noise model adds (σ_r² of the published model, on
        standardised y).
    total : array
        Their sum, the variance behind the prediction interval.
    noise_lower, noise_upper : array
        Bounds of the noise variance itself.
    """

    noise: Array
    mean_model: Array
    noise_model: Array
    total: Array
    noise_lower: Array
    noise_upper: Array
