"""The interval model: a mean model, a noise model, and the covariances of both."""

from typing import Any, NamedTuple, Self

from elmband._arrays import Array, Precision, cast, namespace, place
from elmband.estimators._validate import Levels, check_alpha, check_choice, check_levels
from elmband.estimators.point import ELMRegressor
from elmband.hidden import FeatureMap, Kind, NeuronCounts
from elmband.mean import MeanModel, draw_hidden
from elmband.noise import SquaredNoise, Variance, positive
from elmband.output_layer import AlphaRule


class VarianceParts(NamedTuple):
    """Variance of every prediction in named parts, all in squared units of y.

    Attributes
    ----------
    noise : array
        Predicted variance of the noise, r̂², negative values replaced by zero.
    mean_model : array
        Variance of the predicted mean, σ_y²: large where rows were few.
    noise_model : array
        The correction σ_r² for the uncertainty of the noise model, taken on standardised y.
    total : array
        Their sum, the variance behind the prediction interval.
    noise_lower, noise_upper : array
        Bounds of the noise variance itself, r̂² ± zσ_r, not below zero.
    """

    noise: Array
    mean_model: Array
    noise_model: Array
    total: Array
    noise_lower: Array
    noise_upper: Array


class ELMIntervalRegressor(ELMRegressor):
    """Extreme Learning Machine whose every prediction carries its own interval.

    A first ELM predicts the mean. A second one predicts the variance of the noise from the
    squared residuals of the first. The weighted jackknife gives the variance of both
    predictions, and

        PI(x) = ŷ(x) ± z · sqrt(r̂²(x) + σ_r²(x) + σ_y²(x)).

    With ``noise="squared", calibration="gaussian"`` this is the algorithm of Akusok, Miche, Björk
    and Lendasse, "Per-sample Prediction Intervals for Extreme Learning Machines", on
    standardised targets. Standardising matters: σ_r² has the unit of y⁴, the other two of y².

    Parameters
    ----------
    n_neurons, activation, bias, density, weight_scale, alpha, precision, chunk_size, random_state
        As for `ELMRegressor`.
    noise : {"squared"}, default="squared"
        The noise model: least squares on squared residuals.
    calibration : {"gaussian"}, default="gaussian"
        Where the multiplier z comes from: the normal distribution.
    noise_neurons : int or dict, default=None
        Neurons of the noise model. By default it shares the hidden layer of the mean model,
        which is faster.
    noise_alpha : float, "loo" or "gcv", default=None
        L2 strength of the noise model; by default the same rule (or number) as `alpha`.

    Attributes
    ----------
    hidden_, coef_, alpha_, n_features_in_, feature_names_in_
        As for `ELMRegressor`.
    covariance_ : array of shape (L, L) or (n_outputs, L, L)
        Covariance Σ_y of the output weights, for standardised targets.
    noise_hidden_ : HiddenLayer
        Neurons of the noise model.
    noise_coef_, noise_alpha_, noise_covariance_
        The same for the noise model, whose targets are squared standardised residuals.

    Examples
    --------
    >>> from elmband import ELMIntervalRegressor
    >>> from elmband.datasets import make_heteroscedastic
    >>> data = make_heteroscedastic(500, random_state=0)
    >>> model = ELMIntervalRegressor(n_neurons=50, random_state=0).fit(data.X, data.y)
    >>> model.predict_interval(data.X[:3], confidence_level=0.9).shape
    (3, 2)
    >>> mean, std = model.predict(data.X[:3], return_std=True)
    """

    # With metadata routing on, a Pipeline hands these to predict without being told.
    __metadata_request__predict = {"confidence_level": True, "return_std": True}  # noqa: RUF012

    def __init__(
        self,
        n_neurons: NeuronCounts = 200,
        *,
        activation: Kind = "tanh",
        bias: bool = True,
        density: float = 1.0,
        weight_scale: float = 1.0,
        alpha: AlphaRule = "loo",
        noise: str = "squared",
        calibration: str = "gaussian",
        noise_neurons: NeuronCounts | None = None,
        noise_alpha: AlphaRule | None = None,
        precision: Precision = "auto",
        chunk_size: int | None = None,
        random_state: Any = None,
    ) -> None:
        super().__init__(
            n_neurons,
            activation=activation,
            bias=bias,
            density=density,
            weight_scale=weight_scale,
            alpha=alpha,
            precision=precision,
            chunk_size=chunk_size,
            random_state=random_state,
        )
        self.noise = noise
        self.calibration = calibration
        self.noise_neurons = noise_neurons
        self.noise_alpha = noise_alpha

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Train both models on rows X (n, d) and targets y (n,) or (n, m).

        A row of weight s counts like s equal rows; weights need not be whole numbers.
        """
        check_choice(self.noise, ("squared",), "noise")
        check_choice(self.calibration, ("gaussian",), "calibration")
        rule = self.alpha if self.noise_alpha is None else self.noise_alpha
        rule = check_alpha(rule, "alpha" if self.noise_alpha is None else "noise_alpha")
        mean = self._fit_mean(X, y, sample_weight)
        self._noise = SquaredNoise.fit(mean, self._noise_features(mean), rule)
        covariances = self._noise.mean_covariance, self._noise.noise_covariance
        if self._single_output:
            covariances = covariances[0][0, ...], covariances[1][0, ...]
        self.covariance_, self.noise_covariance_ = covariances
        self.noise_coef_ = self._shaped(self._noise.coef)
        self.noise_alpha_ = self._shaped(self._noise.alpha)
        return self

    def predict(
        self,
        X: Any,
        *,
        return_std: bool = False,
        confidence_level: Any = None,
    ) -> Any:
        """Return the predicted mean of every row, (n,) or (n, m).

        With `return_std`, return ``(mean, std)``; with a `confidence_level`, return
        ``(mean, interval)``, which a `Pipeline` can pass through.
        """
        if confidence_level is None and not return_std:
            return super().predict(X)
        if confidence_level is None:
            mean, std = self._mean_and_std(self._new_rows(X, "predict"))
            return self._shaped(mean), self._shaped(std)
        if return_std:
            raise ValueError("Ask predict for return_std or for a confidence_level, not for both.")
        levels = check_levels(confidence_level)
        mean, std = self._mean_and_std(self._new_rows(X, "predict"))
        return self._shaped(mean), self._interval(mean, std, levels)

    def predict_interval(self, X: Any, confidence_level: Any = 0.95) -> Array:
        """Return lower and upper bounds, (n, 2), or (n, m, 2) for m outputs.

        A list of k levels adds a last axis of length k.
        """
        levels = check_levels(confidence_level)
        mean, std = self._mean_and_std(self._new_rows(X, "predict_interval"))
        return self._interval(mean, std, levels)

    def predict_variance(self, X: Any, confidence_level: float = 0.95) -> VarianceParts:
        """Return the variance in named parts, each (n,) or (n, m).

        `confidence_level` is that of the bounds of the noise variance.
        """
        levels = check_levels(confidence_level)
        if not levels.single:
            raise ValueError("predict_variance takes a single confidence_level.")
        _, variance = self._mean_and_variance(self._new_rows(X, "predict_variance"))
        spread = float(levels.z[0]) * namespace(variance.noise).sqrt(variance.noise_model)
        parts = VarianceParts(
            noise=positive(variance.noise),
            mean_model=variance.mean_model,
            noise_model=variance.noise_model,
            total=variance.total,
            noise_lower=positive(variance.noise - spread),
            noise_upper=positive(variance.noise + spread),
        )
        unit = cast(self._targets.scale, spread.dtype) ** 2
        return VarianceParts(*(self._shaped(part * unit) for part in parts))

    def _mean_and_variance(self, X: Array) -> tuple[Array, Variance]:
        """Return the mean in units of y and the variance of standardised y, each (n, m)."""
        mean, *parts = self._by_chunk(
            X, lambda P, H: (self._mean_of(H), *self._noise.variance(P, H))
        )
        return mean, Variance(*parts)

    def _mean_and_std(self, X: Array) -> tuple[Array, Array]:
        """Return mean and standard deviation of every row in units of y, each (n, m)."""
        mean, variance = self._mean_and_variance(X)
        std = namespace(mean).sqrt(variance.total)
        return mean, std * cast(self._targets.scale, std.dtype)

    def _interval(self, mean: Array, std: Array, levels: Levels) -> Array:
        """Return mean ± z·std, (n, m, 2, k), without the axes that nobody asked for."""
        half = std[..., None] * place(levels.z, std)
        centre = mean[..., None]
        bounds = namespace(mean).stack([centre - half, centre + half], axis=2)
        bounds = bounds[..., 0] if levels.single else bounds
        return bounds[:, 0, ...] if self._single_output else bounds

    def _noise_features(self, mean: MeanModel) -> FeatureMap | None:
        """Draw the noise model's own hidden layer, if it shall have one."""
        if self.noise_neurons is None:
            self.noise_hidden_ = mean.hidden
            return None
        spec = self._layer_spec(self.noise_neurons)
        # Another seed: the noise model's neurons shall not repeat those of the mean model.
        self.noise_hidden_ = draw_hidden(mean.rows, mean.inputs, spec, self._seed + 1)
        features = FeatureMap(mean.inputs, self.noise_hidden_)
        return features.to(mean.rows.X, mean.rows.Y.dtype)
