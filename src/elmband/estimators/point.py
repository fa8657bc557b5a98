"""The point model: a random hidden layer with a ridge output layer."""

from collections.abc import Callable
from typing import Any, Self

from sklearn.base import BaseEstimator, MultiOutputMixin, RegressorMixin
from sklearn.utils import Tags, check_random_state
from sklearn.utils.validation import check_is_fitted, validate_data

from elmband._arrays import Array, Precision, cast, namespace, product_dtype
from elmband.estimators._validate import (
    check_alpha,
    check_chunk_size,
    check_precision,
    check_same_library,
    training_rows,
    warn_constant,
)
from elmband.hidden import Kind, LayerSpec, NeuronCounts
from elmband.mean import MeanModel, fit_mean
from elmband.output_layer import AlphaRule
from elmband.rows import DEFAULT_CHUNK_SIZE, ArrayRows, chunk_slices


class ELMRegressor(MultiOutputMixin, RegressorMixin, BaseEstimator):
    """Extreme Learning Machine: random hidden neurons, output weights by ridge regression.

    Inputs and targets are standardised inside, so units do not matter.

    Parameters
    ----------
    n_neurons : int or dict, default=200
        Number of hidden neurons of the kind `activation`, or a mix such as
        ``{"linear": 8, "sigmoid": 200}``. Kinds are "linear", "tanh", "sigmoid", "relu",
        "rbf_l1", "rbf_l2", "rbf_linf" and your own vectorised function.
    activation : str or callable, default="tanh"
        Kind of the neurons where `n_neurons` is a number.
    bias : bool, default=True
        Whether neurons have a random bias.
    density : float, default=1.0
        Share of the inputs that each neuron sees.
    weight_scale : float, default=1.0
        Standard deviation of a neuron's weighted input; larger values make the model less
        smooth (RBF neurons narrower).
    alpha : float, "loo" or "gcv", default="loo"
        L2 strength γ of the output layer: a number, or chosen for each output by exact
        leave-one-out or by generalised cross-validation.
    precision : "auto", "float32" or "float64", default="auto"
        Precision of matrix products. By default that of the data: float32 for float32 and for
        integers of at most 16 bits, else float64. Sums over rows are float64 in any case.
    chunk_size : int, default=None
        Rows worked on at a time; it changes memory and speed, not results.
    random_state : int, RandomState instance or None, default=None
        Seed of the hidden layer.

    Attributes
    ----------
    hidden_ : HiddenLayer
        The neurons, with their weights as NumPy arrays.
    coef_ : array of shape (L,) or (L, n_outputs)
        Output weights β, for standardised targets.
    alpha_ : float or array of shape (n_outputs,)
        The L2 strength used.
    n_features_in_ : int
        Number of features seen in `fit`.
    feature_names_in_ : array of shape (n_features_in_,)
        Their names, where X had string column names.

    Examples
    --------
    >>> from elmband import ELMRegressor
    >>> from elmband.datasets import make_heteroscedastic
    >>> data = make_heteroscedastic(500, random_state=0)
    >>> model = ELMRegressor(n_neurons=50, random_state=0).fit(data.X, data.y)
    >>> model.predict(data.X[:3]).shape
    (3,)
    """

    def __init__(
        self,
        n_neurons: NeuronCounts = 200,
        *,
        activation: Kind = "tanh",
        bias: bool = True,
        density: float = 1.0,
        weight_scale: float = 1.0,
        alpha: AlphaRule = "loo",
        precision: Precision = "auto",
        chunk_size: int | None = None,
        random_state: Any = None,
    ) -> None:
        self.n_neurons = n_neurons
        self.activation = activation
        self.bias = bias
        self.density = density
        self.weight_scale = weight_scale
        self.alpha = alpha
        self.precision = precision
        self.chunk_size = chunk_size
        self.random_state = random_state

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Train on rows X (n, d) and targets y (n,) or (n, m).

        A row of weight s counts like s equal rows; weights need not be whole numbers.
        """
        self._fit_mean(X, y, sample_weight)
        return self

    def predict(self, X: Any) -> Array:
        """Return the predicted mean of every row, (n,) or (n, m)."""
        X = self._new_rows(X, "predict")
        (mean,) = self._by_chunk(X, lambda _, H: (self._mean_of(H),))
        return self._shaped(mean)

    def _fit_mean(self, X: Any, y: Any, sample_weight: Any) -> MeanModel:
        rule = check_alpha(self.alpha)
        spec = self._layer_spec(self.n_neurons)
        precision = check_precision(self.precision)
        chunk_size = check_chunk_size(self.chunk_size, DEFAULT_CHUNK_SIZE)
        X, Y, s, self._single_output = training_rows(self, X, y, sample_weight)
        rows = ArrayRows(X, Y, s, chunk_size)
        self._seed = int(check_random_state(self.random_state).randint(2**31))
        mean = fit_mean(rows, spec, rule, product_dtype(X, precision), self._seed)
        warn_constant(Y, mean.targets)
        self.hidden_ = mean.hidden
        self._features, self._targets = mean.features, mean.targets
        self.coef_ = self._shaped(mean.layer.coef)
        self.alpha_ = self._shaped(mean.layer.alpha)
        return mean

    def _layer_spec(self, n_neurons: NeuronCounts) -> LayerSpec:
        return LayerSpec.parse(
            n_neurons,
            self.activation,
            bias=self.bias,
            density=self.density,
            weight_scale=self.weight_scale,
        )

    def _new_rows(self, X: Any, method: str) -> Array:
        """Check rows to predict: their features, and that their array library is that of fit."""
        check_is_fitted(self)
        X = validate_data(self, X, dtype="numeric", reset=False)
        check_same_library(self, X, self._targets.mean, method)
        return X

    def _by_chunk(
        self, X: Array, function: Callable[[Array, Array], tuple[Array, ...]]
    ) -> tuple[Array, ...]:
        """Join the arrays that `function(X, H)` returns for every chunk of rows."""
        size = check_chunk_size(self.chunk_size, DEFAULT_CHUNK_SIZE)
        chunks = (X[part, :] for part in chunk_slices(X.shape[0], size))
        results = [function(chunk, self._features.apply(chunk)) for chunk in chunks]
        return tuple(namespace(X).concat(parts, axis=0) for parts in zip(*results, strict=True))

    def _mean_of(self, H: Array) -> Array:
        """Return Hβ in the units of y, (n, m)."""
        coef = cast(self.coef_, H.dtype)
        standardised = H @ (coef[:, None] if self._single_output else coef)
        return standardised * cast(self._targets.scale, H.dtype) + cast(self._targets.mean, H.dtype)

    def _shaped(self, values: Array) -> Array:
        """Drop the axis of outputs, the last, where y had none; a single number is a float."""
        if not self._single_output:
            return values
        return float(values[0]) if values.ndim == 1 else values[..., 0]

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.array_api_support = True
        return tags
