"""The point model: random hidden layers with ridge output layers."""

from copy import copy
from typing import Any, Self

from sklearn.utils.metaestimators import available_if

from elmband._arrays import double, epsilon, namespace
from elmband.estimators._point import PointModel
from elmband.estimators._scans import (
    check_targets,
    followed,
    refuse_beside_scan,
    scan_rows,
)
from elmband.estimators._updates import Grown, check_growing_rule, check_mergeable
from elmband.estimators._validate import (
    check_alpha,
    check_chunk_size,
    held_out_rows,
)
from elmband.mean import MeanModel
from elmband.output_layer import AlphaRule
from elmband.rows import DEFAULT_CHUNK_SIZE, ArrayRows, Rows
from elmband.stream import Scan


class ELMRegressor(PointModel):
    """Extreme Learning Machine: random hidden neurons, output weights by ridge regression.

    Inputs and targets are standardised inside, so units do not matter.

    Parameters
    ----------
    n_neurons : "auto", int or dict, default="auto"
        "auto" compares layers of several families and scales by leave-one-out, and stacks those
        that help. A number is that of hidden neurons of the kind `activation` in one layer; a
        mix such as ``{"linear": 8, "sigmoid": 200}`` names them by kind. Kinds are "linear",
        "tanh", "sigmoid", "relu", "rbf_l1", "rbf_l2", "rbf_linf" and your own vectorised
        function.
    activation : str or callable, default="tanh"
        Kind of the neurons where `n_neurons` is a number.
    bias : bool, default=True
        Whether neurons have a random bias.
    density : float, default=1.0
        Share of the inputs that each neuron sees.
    weight_scale : float, default=1.0
        Standard deviation of a neuron's weighted input; larger values make the model less
        smooth (RBF neurons narrower).
    alpha : float, "auto", "loo" or "gcv", default="auto"
        L2 strength γ of the output layer: a number, or chosen for each output by exact
        leave-one-out or by generalised cross-validation. "auto" is leave-one-out; for a single
        layer trained on a scan it is generalised cross-validation, which needs no further pass.
    n_estimators : int, default=None
        Number of layers to stack, with different random weights. By default one where
        `n_neurons` is given, and as many as help where it is "auto".
    target_transform : str or tuple, default=None
        A monotone transform of y to train on; predictions are mapped back, so that they stay in
        its range. "log" is for y > 0, "log1p" for y >= 0, "logit" for 0 < y < 1 and
        ``("logit", low, high)`` for y between other bounds, "box-cox" for y > 0 with the bend λ
        chosen for each output by maximum likelihood (far above the targets, bounds become
        infinite where λ < 0). A pair ``(function, inverse)`` of your own
        rises or falls throughout, works element by element on arrays (n, n_outputs) of the
        library in use, and takes every number back to the range. The prediction is then the
        median of y rather than its mean.
    selection : {"op-elm", "trop-elm", "loo", "cv", "validation"}, default=None
        Which neurons of a single layer to keep: those best ranked by LARS, cut by leave-one-out
        ("op-elm"), with the L2 strength chosen for each cut ("trop-elm"), or the first ones, their
        number chosen by leave-one-out, cross-validation or a validation set.
    precision : "auto", "float32" or "float64", default="auto"
        Precision of matrix products. By default that of the data: float32 for float32 and for
        integers of at most 16 bits, else float64. Sums over rows are float64 in any case.
    chunk_size : int, default=None
        Rows worked on at a time; it changes memory and speed, not results.
    random_state : int, RandomState instance or None, default=None
        Seed of the hidden layers.
    verbose : bool or "auto", default="auto"
        Whether to show progress; by default on a terminal, where work lasts over a second.

    Attributes
    ----------
    hidden_ : HiddenLayer
        The neurons of a single layer, with their weights as NumPy arrays.
    coef_ : array of shape (L,) or (L, n_outputs)
        Output weights β of a single layer, for standardised targets.
    alpha_ : float or array of shape (n_outputs,)
        The L2 strength used in a single layer.
    members_ : tuple of Member
        The layers of a stack.
    member_weights_ : array of shape (n_members, n_outputs)
        Their weights.
    target_transform_ : Transform
        The transform in use, with `forward` and `inverse` on arrays (n, n_outputs).
    n_features_in_ : int
        Number of features seen in `fit`.
    feature_names_in_ : array of shape (n_features_in_,)
        Their names, where X had string column names.

    Examples
    --------
    >>> from elmband import ELMRegressor
    >>> from elmband.datasets import make_heteroscedastic
    >>> data = make_heteroscedastic(500, random_state=0)
    >>> model = ELMRegressor(random_state=0).fit(data.X, data.y)
    >>> model.predict(data.X[:3]).shape
    (3,)
    """

    def _may_grow(self) -> bool:
        """Tell whether rows can be added, or why they cannot."""
        auto = isinstance(self.n_neurons, str)
        single = not auto and self.n_estimators in (None, 1)
        if not single or self.selection is not None or self.target_transform is not None:
            raise AttributeError(
                "partial_fit is for a single layer: give n_neurons a number or a mix, and leave "
                "n_estimators, selection and target_transform as they are."
            )
        return True

    @available_if(lambda self: self._may_grow())  # type: ignore[untyped-decorator]
    def partial_fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Add rows, arrays or a scan, to those that the model was trained on.

        The model has a single layer. The first rows decide on the scaling of inputs and targets,
        for all that follow: let them be typical. γ is a number or chosen by generalised
        cross-validation.
        """
        rule = check_alpha(self.alpha)
        check_growing_rule(rule)
        specs = self._specs()
        assert specs is not None
        with followed(self, X, None):
            if not hasattr(self, "_targets"):
                rows, _ = self._training(X, y, sample_weight, None)
                eps = epsilon(self._dtype, namespace(rows.like))
                grown = Grown.begin(rows, specs[0], self._dtype, eps, self._seed)
            elif self._grown is not None:
                rows, grown = self._more_rows(X, y, sample_weight), self._grown
            else:
                raise ValueError(
                    "fit has trained what cannot grow, with other parameters; begin with "
                    "partial_fit on a new model."
                )
            self._grown = grown.plus(rows, self._seed)
            self._grow(rows, rule)
        return self

    def _more_rows(self, X: Any, y: Any, weight: Any) -> Rows:
        """Check rows beside those that the model knows."""
        X = self._new_rows(X, "partial_fit")
        n_outputs = int(self._targets.mean.shape[0])
        if isinstance(X, Scan):
            refuse_beside_scan(y=y, sample_weight=weight)
            check_targets(self, X, n_outputs)
            return scan_rows(X, self.target_transform_, self._dtype, self.chunk_size)
        Y, s = held_out_rows(X, y, weight, n_outputs)
        size = check_chunk_size(self.chunk_size, DEFAULT_CHUNK_SIZE)
        return ArrayRows(X, Y, s, size)

    def _grow(self, rows: Rows, rule: AlphaRule) -> MeanModel:
        """Solve with the sums of all rows so far."""
        assert self._grown is not None
        mean = self._grown.mean_model(rows, rule)
        self._set_layer(mean)
        return mean

    def _no_rows(self) -> Rows:
        like = self._features.inputs.mean[None, :][:0, :]
        Y = double(self._targets.mean)[None, :][:0, :]
        return ArrayRows(like, Y)

    def untrained(self) -> Self:
        """Return a model with the same hidden layer and scalings and no rows.

        Train it by `partial_fit` on other rows, anywhere, and put both together with `merge`.
        """
        if self._grown is None:
            raise ValueError("Only a fitted single layer can be copied untrained.")
        other = copy(self)
        other._grown = self._grown._replace(sums=None, sample=None)  # noqa: SLF001
        return other


def merge(one: ELMRegressor, other: ELMRegressor) -> ELMRegressor:
    """Return the model of the rows of both, which were trained apart on the same hidden layer.

    It equals one model trained on all rows. Intervals have to be refreshed, see
    `ELMIntervalRegressor.refresh`.

    Examples
    --------
    >>> from elmband import ELMRegressor, merge
    >>> from elmband.datasets import make_heteroscedastic
    >>> data = make_heteroscedastic(500, random_state=0)
    >>> first = ELMRegressor(50, random_state=0).partial_fit(data.X[:300], data.y[:300])
    >>> second = first.untrained().partial_fit(data.X[300:], data.y[300:])
    >>> merge(first, second).predict(data.X[:3]).shape
    (3,)
    """
    check_mergeable(one, other)
    both = copy(one)
    assert one._grown is not None  # noqa: SLF001
    assert other._grown is not None  # noqa: SLF001
    both._grown = one._grown.joined(other._grown)  # noqa: SLF001
    both._grow(both._no_rows(), check_alpha(both.alpha))  # noqa: SLF001
    return both
