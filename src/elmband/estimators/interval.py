"""The interval model: every prediction with its own interval."""

from sklearn.base import MultiOutputMixin, RegressorMixin

from elmband.estimators._intervals import IntervalModel
from elmband.estimators._spreading import SpreadIntervals


class ELMIntervalRegressor(MultiOutputMixin, RegressorMixin, SpreadIntervals, IntervalModel):
    """Extreme Learning Machine whose every prediction carries its own interval.

    A first model predicts the mean, a second one the variance of the noise, from residuals of the
    first. The weighted jackknife gives the variance of the predictions themselves, and

        PI(x) = ŷ(x) ± z · sqrt(noise(x) + σ_r²(x) + σ_y²(x)).

    By default the mean is a stack of layers chosen by leave-one-out, the noise model is linear in
    the logarithm of the variance, and z comes from residuals of training rows left out: an
    estimate that needs no held-out rows. `calibrate` replaces it by a guarantee from held-out
    rows.

    ``ELMIntervalRegressor(noise="squared", calibration="gaussian")`` is the algorithm of Akusok,
    Miche, Björk and Lendasse, "Per-sample Prediction Intervals for Extreme Learning Machines", on
    standardised targets. Standardising matters: its σ_r² has the unit of y⁴, the other two of y².

    Parameters
    ----------
    n_neurons, activation, bias, density, weight_scale, alpha, n_estimators, \
learning_rounds, max_neurons, local_layers, selection, \
target_range, precision, chunk_size, device, random_state, verbose
        As for `ELMRegressor`. With ``noise="squared"``, "auto" means 200 neurons in one layer, and
        no range is looked for.
    target_transform : "auto", None, str or tuple, default="auto"
        As for `ELMRegressor`, but "auto" chooses one: where one target a row is never negative and
        skewed, a root and a logarithm are tried on at most 1,500 rows, and the best is taken if it
        lowers the interval score of rows left out by 2 % or more. It is for rows in memory, with
        ``noise="log"`` and not with ``symmetric=False``; a scan, `partial_fit` and `merge` have
        none.
    noise : {"log", "squared"}, default="log"
        The noise model: log-variance, always positive; or least squares on squared residuals, as
        published.
    calibration : {"loo", "gaussian"}, default="loo"
        Where the multiplier z comes from: training rows left out in closed form, or the normal
        distribution, as published.
    symmetric : "auto" or bool, default="auto"
        Whether both tails of the noise are alike. If not, each has its own noise model and its
        own multiplier (``noise="log"`` only), and quantiles follow the noise past the mean. With
        "auto" they are told apart where that narrows 90 % intervals of rows left out, for all
        outputs or none; `symmetric_` tells. Where ``calibration="gaussian"`` or
        ``noise="squared"``, "auto" means alike.
    noise_neurons : int or dict, default=None
        Neurons of the noise model. By default the published model shares the hidden layer of the
        mean model (with a `selection` it has one like it); the log model takes the inputs, the
        predicted mean and 100 to 400 tanh neurons, more of them for more rows. From 300 rows on
        rows left out choose how steep they are, and which directions they look at.
    covariance : {"jackknife", "wild"}, default="jackknife"
        Published model: covariance of the output weights by the weighted jackknife, or by the
        wild bootstrap, a slower second opinion.
    mode : {"exact", "fast"}, default="exact"
        Published model: "fast" takes covariances from a sample of at least 8,192 rows and a factor
        of low rank, for about 1.7 times the time of the mean alone; `mode_error_` tells what that
        changes in widths. The log model always takes them from a sample.
    noise_alpha : float, "auto", "loo" or "gcv", default=None
        L2 strength of the noise model; by default chosen by leave-one-out, for the published
        model by the same rule (or number) as `alpha`.

    Attributes
    ----------
    feature_relevance_, column_relevance_, relevant_directions_
        As for `ELMRegressor`, of the mean and, with ``noise="log"``, of the noise apart.
    members_, member_weights_, local_layers_, target_transform_, target_range_, \
training_histograms_, n_features_in_, feature_names_in_, target_name_
        As for `ELMRegressor`.
    hidden_, coef_, alpha_ : published model
        As for a single layer of `ELMRegressor`.
    covariance_ : array of shape (L, L) or (n_outputs, L, L)
        Published model: covariance Σ_y of the output weights, for standardised targets.
    noise_hidden_, noise_coef_, noise_alpha_, noise_covariance_
        Published model: the same for the noise model.
    mode_error_ : float
        Published model: root mean square of the relative change of widths that ``mode="fast"``
        makes, estimated on sampled rows; 0 if exact. Rows whose noise is clipped to zero may
        change more.
    calibration_ : Calibration
        The multipliers in use.
    symmetric_ : bool
        Whether both tails of the noise are alike.
    target_values_ : tuple of float, None, or one for each output
        The values that bounds are among. Where targets take at most 64, as ratings do, bounds move
        to the nearest one if that makes the score of 90 % intervals of rows left out better by
        10 %: such intervals are often a single value, and cover more than they say. A least or
        greatest value of at least 2 % of the rows ends the `target_range_` then. Of other targets
        whose range ends at the least of few values, as counts that may be zero, these are the two
        lowest, if that makes the score no worse: bounds near them move there. None where
        bounds may be any number, as with ``target_range=None`` or ``target_transform=None``, and
        after `calibrate`.
    reweighted_ : bool
        Whether the mean was trained again with weights 1 / variance of the noise. That is tried
        where noise differs much between rows (``n_neurons="auto"``, ``noise="log"``), and kept if
        90 % intervals of rows left out get better by 2 %.

    Examples
    --------
    >>> from elmband import ELMIntervalRegressor
    >>> from elmband.datasets import make_heteroscedastic
    >>> data = make_heteroscedastic(500, random_state=0)
    >>> model = ELMIntervalRegressor(random_state=0).fit(data.X, data.y)
    >>> model.predict_interval(data.X[:3], confidence_level=0.9).shape
    (3, 2)
    >>> mean, std = model.predict(data.X[:3], return_std=True)
    >>> model.predict_quantiles(data.X[:3], quantiles=[0.05, 0.5, 0.95]).shape
    (3, 3)
    """

    # With metadata routing on, a Pipeline hands these to predict without being told.
    __metadata_request__predict = {"confidence_level": True, "return_std": True}  # noqa: RUF012
